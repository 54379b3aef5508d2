"""An import that was interrupted: the next start finishes it as if nothing had happened, or takes it back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig, differences, error_of, facts, rig_at, talk

from core.config.options import Options
from core.errors import Code
from core.types.values import OWNER_ACTOR

BATCH = 6
LONG = "".join(f"Sentence {n} of the long letter. " for n in range(900))
ROWS: list[dict[str, Any]] = [
    *talk(9, "first"),
    {"text": LONG, "session": "first", "author": "user"},
    *facts(4),
    *[{**row, "ref": f"twin{n}", "session": "twins"} for n, row in enumerate(facts(4))],
    {"text": "In the attic", "space": "Attic"},
    {"text": "", "ref": "nothing"},
    *talk(8, "second"),
]


def outcome(rig: Rig) -> dict[str, Any]:
    """Everything an import leaves, without what is born at random."""
    (imported,) = rig.rows("SELECT state, position, total, summary, format, label FROM imports WHERE state = 'done'")
    return {
        "memories": rig.rows(
            "SELECT m.text, m.kind, m.status, m.role, m.author, m.position, m.part_index, m.occurred_at, m.ref, "
            "m.trust, m.corroboration, s.name, c.title, (SELECT text FROM memories h WHERE h.id = m.part_of) "
            "FROM memories m JOIN spaces s ON s.id = m.space_id LEFT JOIN conversations c ON c.id = m.conversation_id "
            "ORDER BY m.n"
        ),
        "sources": rig.rows(
            "SELECT m.text, s.lineage FROM memory_sources s JOIN memories m ON m.id = s.memory_id ORDER BY m.n, 2"
        ),
        "fingerprints": sorted(row[0] for row in rig.rows("SELECT identity FROM fingerprints")),
        "vectors": rig.rows("SELECT n, vector FROM embeddings ORDER BY n"),
        "terms": rig.dump()["terms"],
        "import": (*imported[:3], json.loads(imported[3]), *imported[4:]),
        "steps": rig.rows("SELECT verb, is_open, undone_by FROM undo_steps"),
    }


@contextmanager
def rig_of(folder: Path, **more: Any) -> Iterator[Rig]:
    with rig_at(folder, **more) as rig:
        if more.get("is_open", True):
            rig.opened.options = Options(import_batch=BATCH)
        yield rig


def interrupt(rig: Rig, path: Path, position: int) -> None:
    """Lock the vault when so many records are stored; what is in the queue by then is stored too."""
    writing = rig.opened.search.import_writer.store_batch

    def batch(tx: Any, run: Any, items: Any, at: int, *rest: Any) -> None:
        writing(tx, run, items, at, *rest)
        if at >= position:
            tx.after_commit(rig.opened.storage.closing.set)

    object.__setattr__(rig.opened.search.import_writer, "store_batch", batch)
    error = error_of(rig.engine.imports.run(path, None, None, OWNER_ACTOR))
    assert error.code is Code.VAULT_LOCKED
    rig.lock()


def running(rig: Rig) -> list[int]:
    return [row[0] for row in rig.rows("SELECT position FROM imports WHERE state = 'running'")]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with rig_of(tmp_path_factory.mktemp("whole")) as rig:
        assert rig.bring(ROWS).stored == 9 + 1 + 4 + 1 + 8
        return outcome(rig)


@pytest.mark.slow
@pytest.mark.parametrize("position", range(1, 28, 3))
def test_a_resumed_import_is_like_one_that_was_not_interrupted(
    tmp_path: Path, uninterrupted: dict[str, Any], position: int
) -> None:
    with rig_of(tmp_path) as rig:
        path = rig.write_rows(ROWS)
        interrupt(rig, path, position)
        rig.unlock()
        assert rig.engine.imports.count_interrupted() == 1
        (reached,) = running(rig)
        assert position <= reached < position + 2 * BATCH
        assert rig.value("SELECT count(*) FROM undo_steps WHERE is_open = 1") == 1

        assert rig.engine.imports.finish_interrupted().result(30) == 1

        assert outcome(rig) == uninterrupted
        assert rig.engine.imports.count_interrupted() == 0
        assert rig.verify()["status"] == "ok"
        rig.undo()
        assert rig.texts(None) == []


@pytest.mark.slow
def test_one_that_is_interrupted_again_and_again_comes_to_its_end(
    tmp_path: Path, uninterrupted: dict[str, Any]
) -> None:
    with rig_of(tmp_path) as rig:
        interrupt(rig, rig.write_rows(ROWS), 1)
        for position in (8, 14, 20):
            rig.unlock()
            rig.opened.options = Options(import_batch=BATCH)
            writing = rig.opened.search.import_writer.store_batch

            def batch(
                tx: Any, run: Any, items: Any, at: int, *rest: Any, stop: int = position, go: Any = writing
            ) -> None:
                go(tx, run, items, at, *rest)
                if at >= stop:
                    tx.after_commit(rig.opened.storage.closing.set)

            object.__setattr__(rig.opened.search.import_writer, "store_batch", batch)
            rig.engine.imports.finish_interrupted().exception(30)
            rig.lock()
        rig.unlock()
        rig.engine.imports.finish_interrupted().result(30)
        assert outcome(rig) == uninterrupted


def test_the_engine_finishes_it_by_itself(tmp_path: Path, uninterrupted: dict[str, Any]) -> None:
    with rig_of(tmp_path) as rig:
        interrupt(rig, rig.write_rows(ROWS), 8)
    with rig_at(tmp_path, background=True) as rig:
        rig.settle()
        assert outcome(rig) == uninterrupted


@pytest.mark.slow
@pytest.mark.parametrize("how", ["gone", "changed", "folder", "other bytes"])
def test_one_whose_file_is_not_what_it_was_is_taken_back(tmp_path: Path, how: str) -> None:
    with rig_of(tmp_path) as rig:
        rig.store("Mine")
        before = rig.dump()
        path = rig.write_rows(ROWS)
        interrupt(rig, path, 7)
        path.rename(tmp_path / "elsewhere.jsonl")
        if how == "changed":
            rig.write_rows(ROWS[:-1])
        elif how == "folder":
            path.mkdir()
        elif how == "other bytes":
            path.write_bytes(b"\0\1\2\3" * 50)
        rig.unlock()
        assert rig.engine.imports.finish_interrupted().result(30) == 1
        assert differences(before, rig.dump()) == {}
        assert (running(rig), rig.rows("SELECT state FROM imports")) == ([], [("undone",)])
        assert rig.verify()["status"] == "ok"
        assert rig.bring(tmp_path / "elsewhere.jsonl").stored == 23


def test_one_bad_file_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    with rig_of(tmp_path) as rig:
        gone = rig.write_rows(talk(30, "gone"), "gone.jsonl")
        interrupt(rig, gone, 5)
        gone.unlink()
        rig.unlock()
        rig.opened.options = Options(import_batch=BATCH)
        interrupt(rig, rig.write_rows(talk(30, "here"), "here.jsonl"), 5)
        rig.unlock()
        assert len(running(rig)) == 2
        assert rig.engine.imports.finish_interrupted().result(30) == 2
        assert rig.rows("SELECT label, state FROM imports ORDER BY rowid") == [
            ("gone.jsonl", "undone"),
            ("here.jsonl", "done"),
        ]
        assert rig.texts() == [row["text"] for row in talk(30, "here")]


def test_nothing_to_finish(tmp_path: Path) -> None:
    with rig_of(tmp_path) as rig:
        rig.bring(talk(3))
        assert rig.engine.imports.finish_interrupted().result(10) == 0
        assert rig.engine.imports.count_interrupted() == 0


@pytest.mark.slow
def test_a_running_import_cannot_be_undone(tmp_path: Path) -> None:
    with rig_of(tmp_path) as rig:
        interrupt(rig, rig.write_rows(ROWS), 5)
        rig.unlock()
        ((import_id, step),) = rig.rows("SELECT id, step_id FROM imports")
        assert error_of(rig.engine.imports.undo_import(import_id)).code is Code.NOT_FOUND
        assert error_of(rig.engine.memories.undo_step(step, OWNER_ACTOR)).code is Code.BUSY
        assert error_of(rig.engine.memories.undo_step(None, OWNER_ACTOR)).code is Code.NOT_FOUND
        rig.engine.imports.finish_interrupted().result(30)
        rig.unimport(import_id)
        assert rig.texts(None) == []
