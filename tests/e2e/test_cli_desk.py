"""The conflict desk on the command line: what it lists, how it is decided, what it says, what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cli_rig import Palace, Shell
from contract_shapes import check_item, check_shown, is_id, is_time

GRAZ, VIENNA = "I live in Graz.", "The letter says: lives in Vienna."
ACTIONS = ("supersede", "reject", "keep_both", "keep_both_dated", "merge", "scope_split", "dispute_both", "skip")


def claim(value: str) -> str:
    return json.dumps({"subject": "user", "predicate": "lives_in", "value": value, "exclusive": True})


def disagree(shell: Shell) -> tuple[str, str, str]:
    """The owner's word, and a document against it: ids of both and of the conflict."""
    first = shell.json("remember", GRAZ, "--claim", claim("Graz"))
    second = shell.json("remember", VIENNA, "--claim", claim("Vienna"), "--source", "document")
    assert second["operation"] == "QUARANTINE"
    return str(first["memory_id"]), str(second["memory_id"]), str(second["conflict"])


def check_conflict(item: dict[str, Any]) -> None:
    assert {"id", "kind", "existing", "incoming", "reason", "suggestion"} <= set(item)
    assert is_id(item["id"])
    assert item["reason"].endswith(".")
    assert item["suggestion"] is None or item["suggestion"] in ACTIONS
    assert set(item["actions"]) <= set(ACTIONS)
    assert is_time(item["opened_at"])
    check_item(item["incoming"])
    if item["existing"] is not None:
        check_item(item["existing"])


def test_conflicts_are_listed_in_json_and_in_words(palace: Palace) -> None:
    with palace.shell() as shell:
        assert shell.json("conflicts") == {"conflicts": []}
        assert shell.run("conflicts").out == "Nothing to decide.\n"
        have, came, item = disagree(shell)
        (found,) = shell.json("conflicts")["conflicts"]
        check_conflict(found)
        assert (found["id"], found["existing"]["id"], found["incoming"]["id"]) == (item, have, came)
        assert (found["kind"], found["state"]) == ("contradiction", "open")
        told = shell.run("conflicts").out
    assert "Where do you live: Graz or Vienna?" in told
    assert GRAZ in told
    assert VIENNA in told
    assert told.endswith("1 to decide. `loci resolve ID ACTION` decides one.\n")


def test_a_decision_is_made_undone_and_listed_with_all(palace: Palace) -> None:
    with palace.shell() as shell:
        have, came, item = disagree(shell)
        done = shell.json("resolve", item, "supersede")
        assert (done["active"], done["retired"], done["label"]) == ([came], [have], "Take the new one")
        assert shell.json("conflicts")["conflicts"] == []
        (closed,) = shell.json("conflicts", "--all")["conflicts"]
        check_conflict(closed)
        assert (closed["state"], closed["closed"], closed["actions"]) == ("resolved", "You decided it.", [])
        assert closed["resolution"] == "supersede"
        assert "Closed: You decided it. (supersede: the new one was taken)" in shell.run("conflicts", "--all").out
        assert [one["id"] for one in shell.json("list")["items"]] == [came]
        assert shell.json("undo")["label"] == "Take the new one"
        assert [one["id"] for one in shell.json("conflicts")["conflicts"]] == [item]
        told = shell.run("resolve", item, "reject").out
    assert told.splitlines() == [
        "Keep the existing memory. `loci undo` undoes it.",
        f"  active:     “{GRAZ}”  {have}",
        f"  not active: “{VIENNA}”  {came}",
    ]


def test_the_beginning_or_the_end_of_an_id_is_enough(palace: Palace) -> None:
    with palace.shell() as shell:
        _, came, item = disagree(shell)
        told = shell.run("conflicts").out
        assert item[-8:] in told
        assert item not in told
        assert shell.json("resolve", item[:13], "reject")["retired"] == [came]
        shell.run("undo")
        assert shell.json("resolve", item[-8:].upper(), "reject")["retired"] == [came]
        refused = shell.run("resolve", "ffffffff-ffff", "reject")
        short = shell.run("resolve", item[-7:], "reject")
    assert (refused.code, short.code) == (1, 2)
    assert "E2005" in refused.err
    assert "E4005: Give at least 8 characters of the conflict's id" in short.err


def test_what_was_turned_down_is_not_said_to_wait(palace: Palace) -> None:
    with palace.shell() as shell:
        *_, item = disagree(shell)
        shell.json("resolve", item, "reject")
        told = shell.run("remember", VIENNA, "--claim", claim("Vienna"), "--source", "document").out
        assert told.startswith("Rejected before: archived and not asked again.")
        assert shell.run("conflicts").out == "Nothing to decide.\n"


def test_the_actions_are_explained(palace: Palace) -> None:
    told = palace.run("resolve", "--help").out
    assert [line.split()[0] for line in told.splitlines() if line.startswith("    ")] == list(ACTIONS)


@pytest.mark.parametrize(
    ("more", "active"),
    [
        (("keep_both",), 2),
        (("keep_both_dated", "--from", "2026-11-18", "--to", "2027-01"), 2),
        (("merge", "--text", "I live in Graz and in Vienna."), 1),
        (("scope_split", "--when", "in winter"), 2),
        (("dispute_both",), 0),
        (("skip",), 1),
    ],
)
def test_every_action_takes_its_options(palace: Palace, more: tuple[str, ...], active: int) -> None:
    with palace.shell() as shell:
        *_, item = disagree(shell)
        done = shell.json("resolve", item, *more)
        assert done["action"] == more[0]
        assert (done["step"] is None) == (more[0] == "skip")
        assert shell.json("list")["total"] == active


@pytest.mark.parametrize(
    "more",
    [
        ("burn",),
        ("merge",),
        ("scope_split",),
        ("reject", "--text", "x"),
        ("reject", "--when", "x"),
        ("keep_both", "--from", "2026"),
        (),
    ],
)
def test_wrong_usage_is_told_before_a_vault_is_opened(palace: Palace, more: tuple[str, ...]) -> None:
    refused = palace.run("resolve", "0192f3c4-0000-7000-8000-000000000000", *more)
    assert refused.code == 2
    assert refused.out == ""


def test_a_condition_is_seen_on_the_memory(palace: Palace) -> None:
    with palace.shell() as shell:
        have, came, item = disagree(shell)
        shell.json("resolve", item, "scope_split", "--when", "in winter")
        new, old = shell.json("show", came), shell.json("show", have)
        check_shown(new)
        assert (new["true_when"], old["true_unless"]) == ("in winter", "in winter")
        assert [told["state"] for told in new["claims"]] == ["asserted"]
        assert new["claims"][0]["evidence"][0]["quote"]
        assert [told["term"] for told in new["trust_terms"]][-1] == "trust"


def test_verdicts_on_one_memory(palace: Palace) -> None:
    with palace.shell() as shell:
        one = str(shell.json("remember", GRAZ)["memory_id"])
        disputed = shell.json("dispute", one, "--reason", "I moved")
        assert (disputed["id"], disputed["status"]) == (one, "disputed")
        assert shell.json("list")["total"] == 0
        confirmed = shell.json("confirm", one)
        assert confirmed["status"] == "active"
        assert confirmed["trust"] > 0.9
        assert shell.run("reinforce", one).out.startswith("Reinforced. It is active, trust ")
        refused = shell.run("confirm", "0192f3c4-0000-7000-8000-000000000000")
    assert refused.code == 1
    assert "E2005" in refused.err
