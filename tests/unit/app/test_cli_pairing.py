"""What the terminal asks before it pairs somebody: who, by which code, what it may, and what it sees."""

from __future__ import annotations

from typing import Any

from app.cli.pairing import question_lines
from core.config.grantwords import cannot, former, sees_own, sentence

ASKED: dict[str, Any] = {
    "name": "desk",
    "client": "Desk\\u001b",
    "grants": ["read", "curate", "space:work", "all_spaces"],
    "asked_by": "",
    "code_end": "WXYZ",
    "former": False,
}


def test_all_that_the_window_says_stands_at_the_terminal() -> None:
    lines = question_lines(ASKED)
    assert lines[0] == "desk wants to connect."
    assert "Desk\\u001b" in lines[1]
    assert "unknown" in lines[1]
    assert "WXYZ" in lines[2]
    may, sees = lines.index("It may:"), lines.index("It sees:")
    assert lines[may + 1 : sees] == [f"  - {sentence('read')}", f"  - {sentence('curate')}"]
    assert lines[sees + 1 :] == [
        f"  - {sentence('space:work')}",
        f"  - {sentence('all_spaces')}",
        f"  - {sees_own()}",
        cannot(),
    ]
    assert former() not in lines


def test_a_name_that_comes_back_is_told_of() -> None:
    assert former() in question_lines({**ASKED, "former": True})
