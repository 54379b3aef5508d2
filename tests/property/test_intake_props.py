"""Whatever is done, taking all of it back leads to where it began; and what is stored comes back byte for byte."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig, differences, facts, rig_at, talk
from example_counts import count_examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import Code, LociError
from core.intake.transaction.admission import PART_BYTES, cut_text
from core.types.replies import UndoReport
from core.types.requests import ListRequest
from core.types.values import OWNER_ACTOR, Kind

TEXTS = ("tea", "bees", "The shelf holds jar number 1", "long " * 2000)
SPACES = (None, "Work", "Attic")
CLAIM = {"subject": "Ada", "predicate": "lives_in", "value": "Graz"}
EXPORTS: tuple[list[dict[str, Any]], ...] = (
    [*talk(5, "chat"), *facts(3)],
    [*talk(8, "chat"), {**facts(1, 2)[0], "ref": "other"}],
    [{**row, "space": "Attic"} for row in (*talk(2, "up"), *facts(2, 1))],
    [{"text": "tea", "kind": "fact", "claim": CLAIM}, {"text": "tea", "kind": "rule"}],
)
FIRST_STEPS = 2
"""The pairings with which every life begins; they are not taken back."""
UNEXPECTED = frozenset({Code.BUG, Code.VAULT_DAMAGED, Code.BUSY, Code.VAULT_LOCKED})


class Life:
    """Does things to a vault at random."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.clients = [rig.client("Writer", "read", "write", "space:home"), rig.client("Shy")]
        self.names = itertools.count()
        self.undone: list[str] = []
        self.was_left = False

    def do(self, verb: str, a: int, b: int) -> None:
        """One verb; a refusal that may happen is no failure."""
        try:
            getattr(self, verb)(a, b)
        except LociError as error:
            if error.code in UNEXPECTED:
                raise

    def store(self, a: int, b: int) -> None:
        kind = (Kind.FACT, Kind.EPISODE, Kind.RULE)[b % 3]
        self.rig.store(TEXTS[a % 4], kind=kind, space=SPACES[b % 3])

    def claim(self, a: int, b: int) -> None:
        self.rig.store(TEXTS[a % 4], claim={**CLAIM, "value": f"town {b}"})

    def client_store(self, a: int, b: int) -> None:
        self.rig.store(TEXTS[a % 4], self.clients[0], space=("home", None)[b % 2], session=str(b % 3))

    def propose(self, a: int, _: int) -> None:
        self.rig.store(TEXTS[a % 4], self.clients[1])

    def forget(self, a: int, _: int) -> None:
        ids = [row[0] for row in self.rig.rows("SELECT id FROM memories WHERE status <> 'deleted' ORDER BY n")]
        if ids:
            self.rig.forget(ids[a % len(ids)])

    def bring(self, a: int, b: int) -> None:
        self.rig.bring(EXPORTS[a % 4], (None, "Work")[b % 2], name=f"{a % 4}.jsonl")

    def unimport(self, a: int, _: int) -> None:
        ids = [row[0] for row in self.rig.rows("SELECT id FROM imports WHERE state = 'done' ORDER BY rowid")]
        if ids:
            self.note(self.rig.unimport(ids[a % len(ids)]))

    def pair(self, a: int, _: int) -> None:
        self.rig.client(f"client {next(self.names)}", "read", f"space:{SPACES[1 + a % 2]}")

    def revoke(self, a: int, _: int) -> None:
        names = [
            client.name for client in self.rig.engine.clients.list().result(10) if client.name.startswith("client")
        ]
        if names:
            self.rig.engine.clients.revoke(names[a % len(names)]).result(10)

    def ask(self, a: int, _: int) -> None:
        self.rig.recall(TEXTS[a % 4])

    def undo(self, _: int, __: int) -> None:
        if standing_steps(self.rig) <= FIRST_STEPS:
            return
        self.note(self.rig.engine.memories.undo_step(None, OWNER_ACTOR).result(30))

    def undo_any(self, a: int, _: int) -> None:
        steps = [row[0] for row in self.rig.rows("SELECT id FROM undo_steps WHERE undone_by IS NULL ORDER BY rowid")]
        if steps[FIRST_STEPS:]:
            self.note(self.rig.undo(steps[FIRST_STEPS + a % len(steps[FIRST_STEPS:])]))

    def redo(self, a: int, _: int) -> None:
        if self.undone:
            self.note(self.rig.undo(self.undone[a % len(self.undone)]))

    def note(self, report: UndoReport) -> None:
        self.undone.append(report.undo_step_id)
        # Taken back out of turn, what was forgotten or revoked since is left for the person to decide.
        now = [row["now"] or {} for row in report.left]
        self.was_left |= any(row.get("status") == "deleted" or row.get("revoked_at") for row in now)


_OF_TOKENS = (2, 6, 8)  # token, paired_at, paused_at
VERBS = [name for name in vars(Life) if not name.startswith("_") and name not in {"do", "note"}]
CALLS = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 11), st.integers(0, 5)), max_size=14)
QUICK = settings(
    max_examples=count_examples(12), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


@contextmanager
def fresh_rig(folder: Path) -> Iterator[Rig]:
    with tempfile.TemporaryDirectory(dir=folder) as name, rig_at(Path(name)) as rig:
        yield rig


def standing_steps(rig: Rig) -> int:
    return int(rig.value("SELECT count(*) FROM undo_steps WHERE undone_by IS NULL AND undoes_id IS NULL"))


def take_all_back(rig: Rig) -> None:
    """Undo the newest step that stands, again and again."""
    while standing_steps(rig) > FIRST_STEPS:
        rig.engine.memories.undo_step(None, OWNER_ACTOR).result(30)


def without_import_spaces(dump: dict[str, Any]) -> dict[str, Any]:
    """An import's row stays in the journal, and the space it went to with it; no token comes back into force."""
    spaces = [row for row in dump["spaces"] if row[1] != "Work"]
    clients = [tuple(value for place, value in enumerate(row) if place not in _OF_TOKENS) for row in dump["clients"]]
    return {**dump, "spaces": spaces, "clients": clients}


@pytest.mark.slow
@QUICK
@given(calls=CALLS)
def test_taking_everything_back_leads_to_the_start(tmp_path: Path, calls: list[tuple[str, int, int]]) -> None:
    with fresh_rig(tmp_path) as rig:
        life = Life(rig)
        before = rig.dump()
        for verb, a, b in calls:
            life.do(verb, a, b)
        take_all_back(rig)
        rig.settle()
        assert rig.verify()["status"] == "ok"
        if life.was_left:
            return
        assert differences(without_import_spaces(before), without_import_spaces(rig.dump())) == {}
        assert rig.opened.search.index.status().done == rig.value("SELECT count(*) FROM embeddings") == 0


@pytest.mark.slow
@QUICK
@given(calls=CALLS, verb=st.sampled_from(VERBS), a=st.integers(0, 11), b=st.integers(0, 5))
def test_every_verb_and_its_undo_leave_the_vault_as_it_was(
    tmp_path: Path, calls: list[tuple[str, int, int]], verb: str, a: int, b: int
) -> None:
    with fresh_rig(tmp_path) as rig:
        life = Life(rig)
        for call in calls:
            life.do(*call)
        rig.settle()
        before = without_import_spaces(rig.dump())
        steps = rig.value("SELECT count(*) FROM undo_steps")
        life.do(verb, a, b)
        for (step,) in rig.rows("SELECT id FROM undo_steps ORDER BY rowid LIMIT -1 OFFSET ?", steps):
            rig.undo(step)
        rig.settle()
        assert differences(before, without_import_spaces(rig.dump())) == {}
        assert rig.verify()["status"] == "ok"


@settings(max_examples=count_examples(150))
@given(st.text(max_size=300), st.integers(1, 120))
def test_parts_join_to_the_text_whatever_it_is(text: str, times: int) -> None:
    whole = text * times
    parts = cut_text(whole)
    assert "".join(parts) == whole
    assert all(len(part.encode("utf-8", "surrogatepass")) <= PART_BYTES for part in parts)


STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=200).filter(
    lambda text: bool(text.strip())
)


@pytest.mark.slow
@settings(
    max_examples=count_examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(text=STORABLE)
def test_what_is_stored_comes_back_byte_for_byte(rig: Rig, text: str) -> None:
    reply = rig.store(text, kind=Kind.EPISODE)
    if not (reply.deduplicated or reply.merged):  # a claim that is given counts, whatever the words around it
        assert rig.get(reply.memory_id).text == text
    page = rig.engine.memories.list(ListRequest(text=text, limit=None), OWNER_ACTOR).result(10)
    assert reply.memory_id in {memory.id for memory in page.items}


@pytest.mark.slow
@settings(
    max_examples=count_examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    more=st.fixed_dictionaries(
        {},
        optional={
            "importance": st.floats() | st.none(),
            "space": st.text(max_size=140) | st.none(),
            "session": st.text(max_size=20),
            "category": st.text(max_size=20),
            "tags": st.lists(st.text(max_size=9), max_size=3).map(tuple),
            "ref": st.text(max_size=20),
            "author": st.text(max_size=20),
            "request_id": st.text(max_size=10),
            "claim": st.dictionaries(
                st.sampled_from(["subject", "predicate", "value", "valid_from", "valid_to", "qualifiers", "x"]),
                st.text(max_size=9) | st.integers() | st.none() | st.dictionaries(st.text(max_size=3), st.floats()),
            )
            | st.builds(lambda value, begin: {**CLAIM, "value": value, "valid_from": begin}, st.text(), st.integers()),
        },
    ),
    text=st.text(max_size=40),
)
def test_a_request_is_stored_or_refused_in_words(rig: Rig, text: str, more: dict[str, Any]) -> None:
    try:
        reply = rig.store(text, **more)
    except LociError as error:
        if error.code is not Code.INVALID_INPUT:
            raise
        return
    if not (reply.deduplicated or reply.merged):  # a claim that is given counts, whatever the words around it
        assert rig.get(reply.memory_id).text == text
