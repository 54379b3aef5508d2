"""Whether two names are one: the command line names both, and takes the answers that fit beside the general ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from app.cli.output import Output
from app.cli.review import _check_asks_about_names
from app.cli.review import _print_list as conflicts_told
from core.errors import Code, LociError

KIT: dict[str, Any] = {
    "id": "m1", "text": "Kit mends bicycles.", "status": "active", "trust": 0.5, "access_count": 0,
    "source": "document", "client": None, "author": None, "occurred_at": None, "created_at": None,
}  # fmt: skip
NAMES: dict[str, Any] = {
    "id": "00000000-0000-7000-8000-aaaaaaaa1111", "kind": "entity_merge", "state": "open",
    "question": "Are “Kit” and “Katrin” the same?", "names": ["Kit", "Katrin"], "existing": KIT,
    "incoming": {**KIT, "id": "m2", "text": "Katrin is my sister."}, "reason": "Two names look like one person.",
    "suggestion": None, "actions": ["supersede", "reject", "skip"], "answers": ["same", "different", "skip"],
}  # fmt: skip
OTHER: dict[str, Any] = {
    key: value
    for key, value in {**NAMES, "id": "00000000-0000-7000-8000-bbbbbbbb2222", "kind": "classification"}.items()
    if key not in ("names", "answers")
}


class Desk:
    """A session whose desk holds both items."""

    def call(self, verb: str, params: Mapping[str, Any], progress: object = None) -> dict[str, Any]:
        """The desk."""
        del progress, params
        assert verb == "conflicts"
        return {"conflicts": [NAMES, OTHER]}

    def older_copy(self) -> dict[str, Any] | None:
        """It is the newest."""
        return None

    def close(self) -> None:
        """Nothing to close."""


def told(capsys: pytest.CaptureFixture[str], *items: dict[str, Any]) -> list[str]:
    """The lines of a list."""
    conflicts_told(Output(as_json=False), {"conflicts": list(items)})
    return capsys.readouterr().out.splitlines()


def test_both_names_are_in_the_question_and_the_answers_fit_it(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, NAMES)
    assert lines[0].startswith(" 1. Are “Kit” and “Katrin” the same?  [Same or different?]")
    assert "    first:    Kit mends bicycles." in lines
    assert "    second:   Katrin is my sister." in lines
    assert "    Answers:   same, different, skip" in lines
    at = lines.index("Same or different:")
    assert lines[at + 1 : at + 4] == [
        "    same             merge them: they are the same",
        "    different        keep them separate, and do not ask again",
        "    skip             decide later",
    ]


def test_one_memory_that_has_both_names_is_shown_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert "    both in:  Katrin is my sister." in told(capsys, {**NAMES, "existing": None})


def test_what_was_answered_is_told_in_the_same_words(capsys: pytest.CaptureFixture[str]) -> None:
    closed = {**NAMES, "state": "resolved", "actions": [], "answers": [], "closed": "You decided it."}
    lines = told(capsys, {**closed, "resolution": "reject"})
    assert "    Closed: You decided it. (different: they were kept separate)" in lines


def test_same_and_different_answer_no_other_question() -> None:
    _check_asks_about_names(Desk(), "aaaa1111")
    _check_asks_about_names(Desk(), str(NAMES["id"]))
    for item_id in ("bbbb2222", "00000000", "cccc3333"):
        with pytest.raises(LociError) as caught:
            _check_asks_about_names(Desk(), item_id)
        assert caught.value.code is Code.INVALID_INPUT
