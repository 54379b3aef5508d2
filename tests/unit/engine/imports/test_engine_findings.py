"""What the engine says was found in an import."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, rig_at
from talk_rig import TALK, plain_reader

from core.types.lifecycle import JobType
from core.types.replies import ImportFindings
from core.types.views import FindRequest


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        rig.opened.talk = plain_reader()
        yield rig


def findings(rig: Rig, *import_ids: str) -> ImportFindings:
    return rig.engine.imports.read_findings(import_ids).result(30)


def test_what_was_found_grows_with_what_is_read(rig: Rig) -> None:
    rig.store("Ivo lives in Porto.")  # of no import: not found in one
    rows = [{"text": text, "author": who, "session": "s1"} for who, text in TALK]
    import_id = rig.bring(rows).import_id
    assert import_id is not None
    first = findings(rig, import_id)
    assert (first.unread, first.readable, first.names, first.statements) == (len(TALK), len(TALK), {}, 0)
    rig.engine.jobs.run(JobType.ENRICH).result(60)
    named = findings(rig, import_id)
    assert named.unread == 0
    assert set(named.by_type) == set(named.names)
    assert {who for who, _ in TALK} <= set(named.names["person"])
    assert "Ivo" not in named.names["person"]
    assert "Porto" not in named.names.get("place", ())
    made = rig.engine.statements.run(import_id).result(60)
    after = findings(rig, import_id)
    assert after.statements == len({one.id for one in made.statements})
    assert after.statements
    assert after.small_talk == len(made.small_talk)
    told = rig.engine.library.find_memories(FindRequest(f"import:{import_id} kind:fact")).result(30)
    assert set(told.ids) == {one.id for one in made.statements}
    assert rig.engine.library.find_memories(FindRequest("import:nothing kind:fact")).result(30).ids == ()
    assert findings(rig) == ImportFindings({}, {}, 0, 0, 0, 0, 0, 0)


def test_a_replaced_memory_is_a_change_of_the_import_that_replaced_it(rig: Rig) -> None:
    older = rig.store("My landlord is Ben.")
    rig.bring([{"text": "Something else entirely.", "kind": "fact", "ref": "a"}], "GLOBAL")
    import_id = str(rig.value("SELECT id FROM imports"))
    newer = str(rig.value("SELECT id FROM memories WHERE import_id IS NOT NULL"))
    assert findings(rig, import_id).changes == 0
    replaced = {"status": "superseded", "superseded_by_id": newer}
    rig.write(lambda tx: tx.update("memories", {"id": older.memory_id}, replaced))
    assert findings(rig, import_id).changes == 1


def test_names_of_an_import_are_read_within_seconds_though_names_were_read_a_moment_ago(tmp_path: Path) -> None:
    """A run of names that has just ended, and a heartbeat that is far away, keep nobody waiting."""
    with rig_at(tmp_path, background=True) as rig:
        rig.engine.jobs.run(JobType.ENRICH).result(60)
        rows = [{"text": text, "author": who, "session": "s1"} for who, text in TALK]
        import_id = str(rig.bring(rows).import_id)
        for _ in range(200):
            if not findings(rig, import_id).unread:
                break
            rig.opened.storage.closing.wait(0.1)
        assert findings(rig, import_id).unread == 0
        assert findings(rig, import_id).names["person"]


def test_what_keeps_names_from_being_read_is_told(rig: Rig) -> None:
    import_id = str(rig.bring([{"text": "My sister Ines lives in Porto.", "ref": "a"}]).import_id)
    assert findings(rig, import_id).waits == ""
    job = {"id": "j", "state": "running", "actor": "owner", "created_at": 1, "type": "distill"}
    rig.write(lambda tx: tx.run("INSERT INTO jobs (id, type, state, actor, created_at) "
                                "VALUES (:id, :type, :state, :actor, :created_at)", job))  # fmt: skip
    assert findings(rig, import_id).waits == "turn"
    rig.write(lambda tx: tx.run("UPDATE jobs SET type = 'enrich'"))
    assert findings(rig, import_id).waits == ""
    rig.write(lambda tx: tx.run("DELETE FROM jobs"))
    rig.engine.settings.set_option("lifecycle_on", value=False).result(30)
    assert findings(rig, import_id).waits == "paused"
