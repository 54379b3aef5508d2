"""Whatever happens to a watched folder, and whenever Loci dies, the vault ends as a fresh import of the folder says."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig, rig_at
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from watch_rig import WrittenFolder, look, watch

from core.errors import Code, EnvironmentFaultError
from core.intake.watch import arrivals
from core.types.folders.watch import GoneChoice
from core.types.values import OWNER_ACTOR

NAMES = ("a.md", "b.md", "deep/c.md", "deep/d.md", "e.txt")
TEXTS = ("One.", "Two.", "Three.", "Four.", "Long words. " * 900, "", "Links to [[a]].")
SESSIONS = ("x.jsonl", "p/y.jsonl")

_write = st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(TEXTS))
_delete = st.tuples(st.just("delete"), st.sampled_from(NAMES))
_rename = st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES))
_other = st.tuples(st.sampled_from(["look", "look", "kill", "restart"]))
HISTORIES = st.lists(_write | _write | _delete | _rename | _other, min_size=1, max_size=14)
GROWTHS = st.lists(
    st.tuples(st.sampled_from(["say", "say", "look", "kill", "restart"]), st.sampled_from(SESSIONS)), max_size=12
)


def standing(rig: Rig) -> Counter[tuple[str, ...]]:
    """What stands, each text whole, with where it is from."""
    rows = rig.rows(
        "SELECT coalesce(m.part_of, m.id), m.text, json_extract(m.origin, '$.where'), "
        "coalesce(json_extract(m.extra, '$.path'), ''), m.status FROM memories m WHERE m.status = 'active' "
        "ORDER BY coalesce(m.part_of, m.id), m.part_index"
    )
    whole: dict[str, list[str]] = {}
    told: dict[str, tuple[str, ...]] = {}
    for head, text, *rest in rows:
        whole.setdefault(head, []).append(text)
        told[head] = tuple(rest)
    return Counter(("".join(texts), *told[head]) for head, texts in whole.items())


def fresh_import(folder: Path, base: Path) -> Counter[tuple[str, ...]]:
    """What an import of the folder into a new vault says."""
    with rig_at(base) as rig:
        if any(path.is_file() and path.stat().st_size for path in folder.rglob("*")):
            rig.engine.imports.run(folder, None, None, OWNER_ACTOR).result(60)
        return standing(rig)


def die_at(rig: Rig, moment: int) -> None:
    """Look, and die within a transaction, before its commit."""
    written = arrivals.ArrivalWriter._note_records
    calls = iter(range(1_000))

    def fail(self: arrivals.ArrivalWriter, change: Any) -> None:
        written(self, change)
        if next(calls) == moment:
            raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(arrivals.ArrivalWriter, "_note_records", fail)
        with suppress(EnvironmentFaultError):
            look(rig)
    restart(rig)


def restart(rig: Rig) -> None:
    """Lock and open again: nothing that was in memory is left."""
    rig.lock()
    rig.unlock()
    rig.opened.use_options(rig.opened.options.model_copy(update={"import_batch": 3}))


def act(rig: Rig, folder: WrittenFolder, step: tuple[str, ...], at: int) -> None:
    """Carry out one step of a history."""
    if step[0] == "write":
        folder.write(step[1], step[2])
    elif step[0] == "delete":
        (folder.root / step[1]).unlink(missing_ok=True)
    elif step[0] == "rename" and (folder.root / step[1]).exists():
        (folder.root / step[2]).parent.mkdir(exist_ok=True)
        (folder.root / step[1]).rename(folder.root / step[2])
    elif step[0] == "look":
        look(rig)
    elif step[0] == "kill":
        die_at(rig, at % 3)
    elif step[0] == "restart":
        restart(rig)


@given(HISTORIES)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_notes_end_as_a_fresh_import(history: list[tuple[str, ...]]) -> None:
    with tempfile.TemporaryDirectory() as name, rig_at(Path(name) / "watched") as rig:
        folder = WrittenFolder(Path(name) / "notes")
        folder.root.mkdir()
        folder.write("README.md", "A folder of notes.")
        rig.opened.use_options(rig.opened.options.model_copy(update={"import_batch": 3}))
        watched = watch(rig, folder.root, "markdown")
        for at, step in enumerate(history):
            act(rig, folder, step, at)
        look(rig)
        if rig.engine.watches.read_log(watched.id).result(30)[1]:
            rig.engine.watches.decide_gone(watched.id, GoneChoice.ARCHIVE).result(30)
        assert look(rig).asked == 0
        assert standing(rig) == fresh_import(folder.root, Path(name) / "fresh")
        assert rig.verify()["status"] == "ok"


@given(GROWTHS)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_transcripts_end_as_a_fresh_import(history: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as name, rig_at(Path(name) / "watched") as rig:
        folder = WrittenFolder(Path(name) / "projects")
        folder.root.mkdir()
        rig.opened.use_options(rig.opened.options.model_copy(update={"import_batch": 3}))
        watch(rig, folder.root, "claude-code")
        said = Counter[str]()
        for at, (what, session) in enumerate(history):
            if what == "say":
                said[session] += 1
                turns = [("user", f"Turn {said[session]}.{n} of {session}.") for n in range(2)]
                folder.append_turns(session, turns, session)
            else:
                act(rig, folder, (what,), at)
        look(rig)
        assert standing(rig) == fresh_import(folder.root, Path(name) / "fresh")
        assert rig.verify()["status"] == "ok"
