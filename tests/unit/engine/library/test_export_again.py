"""What is exported as JSON lines and imported into another vault is exported there as the same lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from archive_rig import other_rig
from engine_rig import Rig, rig_at, talk

from core.types.values import Kind
from core.types.views import FindRequest


def exported(rig: Rig, to: Path) -> list[dict[str, Any]]:
    """The lines of an export of everything."""
    ids = rig.engine.library.find_memories(FindRequest("status:all", descending=False)).result(30).ids
    rig.engine.library.export_memories(ids, to, "jsonl").result(30)
    return [json.loads(line) for line in to.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_json_lines_come_back_without_loss(tmp_path: Path) -> None:
    claim = {"subject": "Ada", "predicate": "lives_in", "value": "Lisbon", "exclusive": True}
    with rig_at(tmp_path) as old, other_rig(tmp_path / "new") as new:
        old.bring(talk(5))
        old.store("Ada lives in Lisbon.", kind=Kind.FACT, claim=claim, importance=0.9, tags=("people", "places"))
        old.store('Grüße aus 東京 🦉,\n\twith "quotes" and\r\nlines.', kind=Kind.EPISODE, space="travels", ref="r-1")
        old.store(" ".join(f"Sentence number {n}." for n in range(900)), kind=Kind.EPISODE)
        old.store("Never deploy on a Friday.", kind=Kind.RULE, category="work")
        lines = exported(old, tmp_path / "old.jsonl")
        new.bring(tmp_path / "old.jsonl")
        again = exported(new, tmp_path / "new.jsonl")
    assert sorted(map(compared, again)) == sorted(map(compared, lines))


def compared(line: dict[str, Any]) -> str:
    """A line as it comes back: a file cannot say that the person said it in so many words (docs/imports.md)."""
    times = {name: str(line[name]).replace("+00:00", "Z") for name in ("time",) if name in line}
    return json.dumps({**line, **times, "source": line["source"].replace("user_explicit", "user_implicit")})
