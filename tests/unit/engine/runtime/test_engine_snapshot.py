"""The index across a lock: its snapshot is used when it fits and refused when it does not, with equal answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engine_rig import MARKER, Rig, WordEmbedder, facts, rig_at, talk

from core.engine import startup
from core.engine.runtime import search as vector_loader
from core.index.base import Labels
from core.index.snapshot import MAGIC

QUESTIONS = ("garden number7", "kitchen number12", "jar number 3", "nothing of the kind")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        rig.bring([*talk(60), *facts(20)])
        yield rig


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many vectors were read from the vault at each warming."""
    counts: list[int] = []
    reading = vector_loader.VaultVectorLoader.vectors

    def vectors(self: vector_loader.VaultVectorLoader, labels: Labels) -> object:
        counts.append(len(labels))
        return reading(self, labels)

    monkeypatch.setattr(vector_loader.VaultVectorLoader, "vectors", vectors)
    return counts


def answers(rig: Rig) -> list[list[tuple[str, float]]]:
    """Texts and relevance; what was just written is held a little more exactly than what was read from the vault."""
    rig.settle()  # the index is loaded by then
    found = [rig.recall(question, mode=mode) for question in QUESTIONS for mode in ("semantic", "hybrid")]
    return [[(item.memory.text, round(item.signals.relevance, 3)) for item in result.items] for result in found]


def refusal(rig: Rig) -> object:
    index = rig.engine.vault.read_status().result(10).values["index"]
    assert (index["state"], index["loaded"]) == ("ready", index["total"])
    return index["snapshot_refused"]


@pytest.mark.slow
def test_the_snapshot_written_on_closing_is_used_on_opening(rig: Rig, loaded: list[int]) -> None:
    before = answers(rig)
    rig.lock()
    assert rig.home.snapshot.read_bytes()[: len(MAGIC)] == MAGIC
    assert rig.home.snapshot.stat().st_mode & 0o777 == 0o600
    rig.unlock()
    assert answers(rig) == before
    assert (refusal(rig), loaded) == (None, [])


@pytest.mark.slow
def test_only_what_came_since_is_read_again(rig: Rig, loaded: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    rig.lock()
    rig.unlock()
    rig.bring(talk(7, "later"), name="later.jsonl")
    forgotten = rig.value("SELECT id FROM memories WHERE position = 2 LIMIT 1")
    rig.forget(forgotten)
    before = answers(rig)
    with monkeypatch.context() as patch:
        patch.setattr(startup, "_save_snapshot", lambda *_: None)  # as after a kill: the old snapshot is still there
        rig.lock()
    rig.unlock()
    assert answers(rig) == before
    assert (refusal(rig), loaded) == (None, [7])


@pytest.mark.slow
def test_a_purged_vector_is_not_in_it_any_more(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.store("Quinces in the cellar")
    rig.lock()
    rig.unlock()
    rig.undo()
    with monkeypatch.context() as patch:
        patch.setattr(startup, "_save_snapshot", lambda *_: None)
        rig.lock()
    rig.unlock()
    assert rig.found("Quinces in the cellar", mode="semantic", limit=1) != ["Quinces in the cellar"]
    rig.settle()
    assert rig.opened.search.index.status().done == rig.value("SELECT count(*) FROM embeddings")


def flipped(at: float) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(len(content) * at)] ^= 1
        path.write_bytes(content)

    return damage


def cut(to: float) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, int(path.stat().st_size * to))


def become_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, tuple[Callable[[Path], object], set[str]]] = {
    "absent": (lambda path: path.unlink(), {"absent"}),
    "empty": (lambda path: path.write_bytes(b""), {"damaged", "other_format", "unreadable"}),
    "a directory": (become_directory, {"unreadable", "damaged"}),
    "random": (lambda path: path.write_bytes(os.urandom(5000)), {"damaged", "other_format"}),
    "flipped in the head": (
        flipped(0.0002),
        {"damaged", "other_format", "other_vault", "other_model", "other_history"},
    ),
    "flipped in the middle": (flipped(0.5), {"damaged"}),
    "flipped at the end": (flipped(0.9999), {"damaged"}),
    "cut in half": (cut(0.5), {"damaged"}),
    "cut at the end": (cut(0.999), {"damaged"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.expected_logs("closing: the step snapshot failed")  # where a directory has its name
def test_a_damaged_snapshot_is_refused_and_nothing_is_lost(rig: Rig, name: str) -> None:
    before = answers(rig)
    rig.lock()
    damage, reasons = DAMAGES[name]
    damage(rig.home.snapshot)
    rig.unlock()
    assert answers(rig) == before
    assert refusal(rig) in reasons
    assert rig.verify()["checks"]["index"]["status"] == "ok"


@pytest.mark.slow
def test_a_snapshot_of_another_history_is_refused(rig: Rig) -> None:
    rig.lock()
    older = rig.home.snapshot.read_bytes()
    rig.unlock()
    rig.store("Something new")
    before = answers(rig)
    rig.lock()
    rig.home.snapshot.write_bytes(older)
    rig.unlock()
    assert answers(rig) == before
    assert refusal(rig) == "other_history"


@pytest.mark.slow
def test_another_model_is_told_apart_and_everything_is_embedded_anew(rig: Rig, tmp_path: Path) -> None:
    class Other(WordEmbedder):
        name, version = "others", "others-2"

    before = answers(rig)
    rig.engine.close()
    with rig_at(tmp_path, embedder=Other(), background=True) as other:
        other.settle()
        assert answers(other) == before
        assert other.rows("SELECT vector_space, count(*) FROM embeddings GROUP BY 1 ORDER BY 1") == [
            ("others", 80),
            ("words", 80),
        ]


def test_an_empty_vault_writes_none(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.lock()
        assert not rig.home.snapshot.exists()
        rig.unlock()
        assert rig.recall("anything").items == ()


def test_no_word_of_a_memory_is_in_it(rig: Rig) -> None:
    rig.store(MARKER)
    rig.lock()
    assert MARKER.encode() not in rig.home.snapshot.read_bytes()
