"""The command line names what a proposal contradicts, and as which question it waits when it was accepted."""

from __future__ import annotations

import pytest

from app.cli.output import Output
from app.cli.review import _print_list as conflicts_told
from app.cli.review import _print_resolution as decision_told


def test_what_stands_against_a_proposal_is_named_before_and_after(capsys: pytest.CaptureFixture[str]) -> None:
    came = {
        "id": "m1", "text": "It is in Flensburg.", "status": "quarantined", "trust": 0.5, "access_count": 0,
        "source": "inference", "client": "Plug", "author": None, "occurred_at": None, "created_at": None,
    }  # fmt: skip
    item = {
        "id": "c" * 36, "kind": "proposal", "state": "open", "question": "Should this be remembered?", "existing": None,
        "incoming": came, "reason": "Proposed. It contradicts what you have.", "suggestion": None,
        "actions": ["supersede", "reject"], "against": {**came, "id": "m0", "text": "It is in Kappeln."},
    }  # fmt: skip
    out = Output(as_json=False)
    conflicts_told(out, {"conflicts": [item]})
    decided = {"step": "s", "label": "Accept", "active": [], "retired": ["m1"], "closed": [], "asked": ["d" * 36]}
    decision_told(out, decided, {"m1": "It is in Flensburg."})
    told = capsys.readouterr().out
    assert "    you have: It is in Kappeln.\n" in told
    assert "    waiting:  It is in Flensburg.\n" in told
    assert "Where one waits alone:" in told
    assert (
        "  ? It contradicts the current memory, so it waits as another question: `loci conflicts` shows both, "
        "as dddddddd." in told
    )
