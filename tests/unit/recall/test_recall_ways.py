"""What a recall asks of its candidates begins at them, whatever else waits or lies in the vault: in one of years some
thousand questions are open, and each was looked at for each recall."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import Rig, rig_at

from core.recall import candidates as side_lists
from core.recall import ranking as succession
from core.recall.scope import IN_REVIEW

QUESTIONS = {
    "in review": f"SELECT m.n FROM memories m WHERE m.n IN (SELECT value FROM json_each(:here)) AND {IN_REVIEW}",  # noqa: S608
    "what took its place": succession._FIRST_PARTS,
    "names": side_lists._NAMED,
    "who has a name": side_lists._NAMING.format(visible="+m.status = 'active'"),
    "links": side_lists._LINKS.format(visible="+m.status = 'active'"),
}
WALKS = ("ix_conflicts_open", "ix_memories_reach", "ix_memories_status")


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with rig_at(tmp_path_factory.mktemp("ways")) as made:
        made.store("The boat is moored in Kappeln.")
        yield made


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_begins_at_what_is_at_hand(rig: Rig, name: str) -> None:
    params = {"here": "[]", "over": "[]", "review": "[]", "name": "x", "most": 40}
    plan = rig.opened.storage.vault.read(lambda rows: rows.all("EXPLAIN QUERY PLAN " + QUESTIONS[name], params))
    steps = [str(row[3]) for row in plan]
    assert steps
    scans = [step for step in steps if step.startswith("SCAN") and "json_each" not in step]
    assert [*scans, *(step for step in steps if any(walk in step for walk in WALKS))] == []
