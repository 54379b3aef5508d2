"""What the talks of one import tell each other: the pronoun of who speaks, and what somebody is after already."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, rig_at
from spoken_lines import read_as_told

from core.lifecycle.job_support.job_context import TalkReader
from core.talk.statements import distill_conversation
from core.types.values import OWNER_ACTOR, Kind

LOOKING = "I've been looking into counseling and mental health as a career."
AGAIN = "I'm looking into counseling and mental health jobs."


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    talk = TalkReader("told-1", lambda turns: distill_conversation(turns, read_as_told))
    with rig_at(tmp_path, talk=talk) as found:
        yield found


def _tell(rig: Rig, name: str, *sessions: tuple[tuple[str, str], ...]) -> None:
    rows = [
        {"text": text, "author": who, "session": f"{name}{at}", "ref": f"{name}{at}:{n}", "time": "2025-03-03"}
        for at, lines in enumerate(sessions)
        for n, (who, text) in enumerate(lines)
    ]
    file = rig.folder / f"{name}.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    report = rig.engine.imports.run(file, None, None, OWNER_ACTOR).result(60)
    assert report.import_id is not None
    rig.engine.statements.run(report.import_id).result(60)


BOAT = (("Mara", "I sold my boat in Leith."), ("Joss", "Good for you."))
MUM = (("Joss", "How are the twins?"), ("Mara", "Being a mum is loud."))


def test_what_one_talk_tells_of_a_speaker_counts_in_another_of_its_import(rig: Rig) -> None:
    _tell(rig, "a", BOAT, MUM)
    assert "Mara sold her boat in Leith." in rig.texts(kind=Kind.FACT)


def test_another_import_tells_nothing_of_a_speaker_of_the_same_name(rig: Rig) -> None:
    _tell(rig, "a", MUM)
    _tell(rig, "b", BOAT)
    assert "Mara sold their boat in Leith." in rig.texts(kind=Kind.FACT)


def test_what_somebody_is_after_is_one_statement_of_two_talks(rig: Rig) -> None:
    _tell(rig, "a", (("Mara", LOOKING), ("Joss", "Good.")), (("Mara", AGAIN), ("Joss", "Good.")))
    assert [text for text in rig.texts(kind=Kind.FACT) if "counseling" in text] == [
        "Mara has been looking into counseling and mental health as a career."
    ]
    assert (
        rig.value("SELECT count(*) FROM statements s JOIN memories m ON m.id = s.memory_id WHERE m.kind = 'fact'") == 2
    )
