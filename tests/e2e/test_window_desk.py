"""The conflict desk in the real window, by keyboard alone: arrows, a letter, undo, two at once, a corrected text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cli_rig import PASSPHRASE, Palace, Shell
from window_process import DRIVER, Driven, on, screen

CORRECTED = "Looked at twice, and written down by hand."
PAIRS = {
    "lives_in": ("I live in Graz.", "Graz", "The letter says Vienna.", "Vienna"),
    "works_at": ("I work at the mill.", "mill", "The badge says the brewery.", "brewery"),
    "born_on": ("I was born on 3 May 1984.", "3 May 1984", "The form says 5 March 1984.", "5 March 1984"),
    "phone_is": ("My number is 01632 960111.", "01632 960111", "The list has 01632 960222.", "01632 960222"),
    "email_is": ("Write to ada@hill.example.", "ada@hill.example", "The card: ada@dale.example.", "ada@dale.example"),
    "partner_is": ("Robin and I are a pair.", "Robin", "The invitation names Quill.", "Quill"),
}


def disagree(shell: Shell) -> None:
    """Six things the person said, and a document against each."""
    for predicate, (mine, have, theirs, came) in PAIRS.items():
        for text, value, more in ((mine, have, ()), (theirs, came, ("--source", "document"))):
            claim = {"subject": "user", "predicate": predicate, "value": value, "exclusive": True}
            shell.json("remember", text, "--claim", json.dumps(claim), *more)


def told(out: str, name: str) -> list[str]:
    """What the scenario says under a name."""
    return [line.removeprefix(f"{name}: ") for line in out.splitlines() if line.startswith(f"{name}: ")]


def standing(shell: Shell, item: dict[str, Any]) -> tuple[str, str]:
    """How the two memories of an item stand: what was there, what arrived."""
    have, came = (shell.json("show", item[side]["id"])["status"] for side in ("existing", "incoming"))
    return str(have), str(came)


def asked_of(question: str) -> str:
    """What a question asks, without the values it names: once two texts are one, there are no two values left."""
    return question.rstrip("?").partition(":")[0]


@pytest.mark.timeout(240)
def test_six_questions_are_settled_by_keyboard_alone(palace: Palace) -> None:
    with palace.shell() as shell:
        disagree(shell)
        assert len(shell.json("conflicts")["conflicts"]) == len(PAIRS)
    driver = DRIVER.with_name("desk_driver.py")
    with (
        screen() as display,
        Driven("desk", palace, on(palace, display), PASSPHRASE, CORRECTED, driver=driver) as window,
    ):
        result = window.ended()
    assert result.code == 0, result.out + result.err
    with palace.shell() as shell:
        items = shell.json("conflicts", "--all")["conflicts"]
        by_question = {asked_of(item["question"]): item for item in items}
        assert len(by_question) == len(PAIRS)
        states = [item["state"] for item in items]
        assert (states.count("open"), states.count("resolved")) == (2, 4)
        (taken,) = map(asked_of, told(result.out, "supersede"))
        assert standing(shell, by_question[taken]) == ("superseded", "active")
        (merged,) = map(asked_of, told(result.out, "merge"))
        assert by_question[merged]["state"] == "resolved"
        texts = [item["text"] for item in shell.json("list", "--limit", "100")["items"]]
        assert texts.count(CORRECTED) == 1
        # Both of the two that were chosen were turned down, in one step; what was taken back is as it was before.
        assert len(told(result.out, "chosen")) == 2
        others = [item for question, item in by_question.items() if question not in (taken, merged)]
        turned = [item for item in others if item["state"] == "resolved"]
        assert [standing(shell, item) for item in turned] == [("active", "archived")] * 2
        assert [standing(shell, i) for i in others if i["state"] == "open"] == [("active", "quarantined")] * 2
        assert told(result.out, "keep_both") == told(result.out, "undone")
        shell.json("undo")
        assert CORRECTED not in [item["text"] for item in shell.json("list", "--limit", "100")["items"]]
        shell.json("undo")
        again = shell.json("conflicts")["conflicts"]
    assert len(again) == 5
