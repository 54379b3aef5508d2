"""Who is never archived by a run, each by its own key (design section 6; E37.3)."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from belief_rig import item, source, voice
from decay_rig import DAY_MS, put
from engine_rig import START_MS, Rig

from core.lifecycle.sweep import _BACK, PROTECTIONS, find_protections

LATER = START_MS + 400 * DAY_MS


def keys(rig: Rig, *heads: str, now: int = START_MS) -> dict[str, tuple[str, ...]]:
    return rig.opened.storage.vault.read(lambda rows: find_protections(rows, heads, now))


@pytest.mark.parametrize(
    ("key", "columns"),
    [
        ("pinned", {"pinned": 1}),
        ("own_word", {"source": "user_explicit"}),
        ("important", {"importance": 0.7}),
        ("moving", {"arousal": 0.5}),
        ("future", {"valid_from": START_MS + 1}),
        ("future", {"valid_to": START_MS + 1}),
        ("future", {"occurred_at": START_MS + 1}),
        ("future", {"dates": ["2001-01-01", "2030-02-03"]}),
        ("future", {"dates": ["2030"]}),
        ("spared", {"spared": (START_MS, START_MS + 1)}),
    ],
)
def test_each_protection_has_its_key(rig: Rig, key: str, columns: dict[str, Any]) -> None:
    put(rig, "m", **columns)
    assert keys(rig, "m") == {"m": (key,)}


@pytest.mark.parametrize(
    "columns",
    [
        {"importance": 0.69, "arousal": 0.49, "valid_to": START_MS, "occurred_at": START_MS - 1},
        {"source": "user_implicit", "role": "user"},
        {"dates": ["2023-11-14", "2023", "soon", 2_030, None, {"day": "2030-01-01"}]},
        {"spared": (1, START_MS)},
    ],
)
def test_what_comes_close_is_not_protected(rig: Rig, columns: dict[str, Any]) -> None:
    put(rig, "m", **columns)
    assert keys(rig, "m", "nobody") == {}


def test_the_persons_word_counts_wherever_it_came(rig: Rig) -> None:
    helper = rig.client("helper", "write")
    for name in ("passing", "confirmed", "brought", "theirs", "typed"):
        put(rig, name, client_id=helper.client_id)
    source(rig, "passing", "owner")
    voice(rig, "confirmed", "confirm", START_MS)
    rig.write(lambda tx: tx.insert("memory_sources", {
        "memory_id": "brought", "lineage": "owner", "source": "user_explicit", "at": START_MS,
    }))  # fmt: skip
    rig.write(lambda tx: tx.update("memories", {"id": "typed"}, {"source": "user_explicit"}))
    found = keys(rig, "passing", "confirmed", "brought", "theirs", "typed")
    assert found == dict.fromkeys(("confirmed", "brought", "typed"), ("own_word",))


def test_both_sides_of_an_open_question_wait(rig: Rig) -> None:
    for name in ("asked", "beside", "settled"):
        put(rig, name)
    item(rig, "asked", "beside")
    closed = item(rig, "settled")
    rig.write(lambda tx: tx.update("conflicts", {"id": closed}, {"state": "resolved", "resolution": "keep"}))
    assert keys(rig, "asked", "beside", "settled") == {"asked": ("in_review",), "beside": ("in_review",)}


def test_an_imported_record_is_kept_and_an_imported_fact_is_not(rig: Rig) -> None:
    rig.bring([{"text": "a line of talk", "kind": "episode"}, {"text": "a note of a store", "kind": "fact"}])
    ids: dict[str, str] = dict(rig.rows("SELECT kind, id FROM memories"))
    assert keys(rig, *ids.values(), now=LATER) == {ids["episode"]: ("verbatim",)}


def test_one_part_protects_the_whole_text(rig: Rig) -> None:
    put(rig, "head", importance=0.9)
    put(rig, "tail", part_of="head", part_index=1, pinned=1)
    assert keys(rig, "head") == {"head": ("pinned", "important")}


def test_many_are_read_in_several_queries(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.lifecycle.sweep._AT_ONCE", 2)
    names = [put(rig, f"m{number}", pinned=number % 2) for number in range(7)]
    assert keys(rig, *names, *names) == dict.fromkeys(names[1::2], ("pinned",))


def test_every_key_has_its_sentence() -> None:
    words = json.loads((files("resources") / "help" / "lifecycle.json").read_text(encoding="utf-8"))
    assert all(words[key].endswith(".") for key in PROTECTIONS)


def test_what_was_taken_back_is_found_by_its_steps_not_among_the_rows_of_all(rig: Rig) -> None:
    found = rig.opened.storage.vault.read(lambda rows: rows.all(f"EXPLAIN QUERY PLAN {_BACK}"))
    steps = [str(row[3]) for row in found]
    assert steps[0].startswith("SEARCH s USING INDEX ix_undo_undone")
    assert not [step for step in steps if step.startswith("SCAN r")]
