"""The snapshot: whole and ours, or not used; never a crash, never in the clear."""

from __future__ import annotations

import json
import os
import random
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.errors import Code, EnvironmentFaultError
from core.index import hnsw, snapshot
from core.index.base import VectorIndex
from core.index.flat import FlatIndex
from core.index.hnsw import HnswIndex
from core.index.snapshot import Identity, SnapshotRefusal, SnapshotRefused, read_snapshot, write_snapshot

DIMS = 32
OURS = Identity(vault_id="ab" * 16, model="model-1", dims=DIMS)
Make = Callable[..., NDArray[np.float32]]


@pytest.fixture(params=["flat", "hnsw", "hnsw-pickled"])
def index(request: pytest.FixtureRequest, clustered: Make, monkeypatch: pytest.MonkeyPatch) -> VectorIndex:
    if request.param == "hnsw-pickled":
        for module in (hnsw, snapshot):
            monkeypatch.setattr(module, "memory_files_work", lambda: False)
    made: VectorIndex = FlatIndex(DIMS) if request.param == "flat" else HnswIndex(DIMS)
    made.add(np.arange(400) * 3, clustered(400))
    made.remove(np.arange(0, 300, 3))
    if isinstance(made, HnswIndex):
        made.stage(np.arange(5000, 5040), clustered(40, seed=9))
        made.remove(np.array([5000]))
    made.revision = 17
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.snap"


def read(path: Path, sealer: Any, identity: Identity = OURS, **more: Any) -> VectorIndex | SnapshotRefused:
    return read_snapshot(path, identity, sealer, **{"newest": 17, **more})


def refusal(path: Path, sealer: Any, identity: Identity = OURS, **more: Any) -> SnapshotRefusal:
    answer = read(path, sealer, identity, **more)
    assert isinstance(answer, SnapshotRefused)
    return answer.reason


def test_comes_back_as_it_was(index: VectorIndex, path: Path, sealer: Any, clustered: Make) -> None:
    size = write_snapshot(path, index, OURS, "", sealer)
    assert size == path.stat().st_size
    back = read(path, sealer)
    assert not isinstance(back, SnapshotRefused)
    assert (back.backend, back.count, back.revision) == (index.backend, index.count, 17)
    assert back.labels().tolist() == index.labels().tolist()
    for query in clustered(30, seed=4):
        one, other = index.search(query, 10), back.search(query, 10)
        assert one.labels.tolist() == other.labels.tolist()
        assert np.array_equal(one.cosines, other.cosines)


@pytest.mark.slow
def test_lives_on_after_coming_back(index: VectorIndex, path: Path, sealer: Any, clustered: Make) -> None:
    write_snapshot(path, index, OURS, "", sealer)
    back = read(path, sealer)
    assert not isinstance(back, SnapshotRefused)
    rows = clustered(1500, seed=7)
    back.remove(np.arange(300, 600, 3))
    back.add(np.arange(9000, 10500), rows)
    assert back.count == index.count - 100 + 1500
    assert [int(back.search(row, 1).labels[0]) for row in rows[::100]] == list(range(9000, 10500, 100))
    if isinstance(back, HnswIndex):
        assert back._graph.ef == 100


def test_an_empty_index_comes_back(path: Path, sealer: Any) -> None:
    for made in (FlatIndex(DIMS), HnswIndex(DIMS)):
        write_snapshot(path, made, OURS, "", sealer)
        back = read(path, sealer)
        assert not isinstance(back, SnapshotRefused)
        assert back.count == 0


def test_the_file_is_private_and_holds_no_vector(index: VectorIndex, path: Path, sealer: Any) -> None:
    write_snapshot(path, index, OURS, "", sealer)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == ["index.snap"]
    raw = path.read_bytes()
    labels, rows = index.fetch(index.labels())
    for dtype in ("<f2", "<f4"):
        assert all(row[:8].astype(dtype).tobytes() not in raw for row in rows[:50])
    assert labels[:4].astype("<i8").tobytes() not in raw


def test_every_cut_is_refused(index: VectorIndex, path: Path, sealer: Any) -> None:
    write_snapshot(path, index, OURS, "", sealer)
    whole = path.read_bytes()
    cuts = {*range(0, 600, 7), *random.Random(1).sample(range(len(whole)), 60), len(whole) - 1}
    for cut in sorted(cuts):
        path.write_bytes(whole[:cut])
        assert refusal(path, sealer) is SnapshotRefusal.DAMAGED


def test_every_cut_at_a_frame_is_refused(index: VectorIndex, path: Path, sealer: Any) -> None:
    write_snapshot(path, index, OURS, "", sealer)
    whole = path.read_bytes()
    at = 12 + struct.unpack("<I", whole[8:12])[0]
    borders = [at]
    while at < len(whole):
        at += 4 + struct.unpack("<I", whole[at : at + 4])[0]
        borders.append(at)
    assert len(borders) >= 4
    for border in borders[:-1]:
        path.write_bytes(whole[:border])
        assert refusal(path, sealer) is SnapshotRefusal.DAMAGED
    first, second = (whole[borders[i] : borders[i + 1]] for i in (0, 1))
    path.write_bytes(whole[: borders[0]] + second + first + whole[borders[2] :])
    assert refusal(path, sealer) is SnapshotRefusal.DAMAGED
    path.write_bytes(whole + whole[borders[-2] :])
    assert refusal(path, sealer) is SnapshotRefusal.DAMAGED


def test_200_flipped_bits_are_refused(index: VectorIndex, path: Path, sealer: Any) -> None:
    write_snapshot(path, index, OURS, "", sealer)
    whole = path.read_bytes()
    dice = random.Random(2)
    for place in [*range(0, 500, 10), *(dice.randrange(len(whole)) for _ in range(150))]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << dice.randrange(8)
        path.write_bytes(damaged)
        assert isinstance(read(path, sealer, anchor_at=lambda _: ""), SnapshotRefused)


def test_frames_of_another_snapshot_do_not_fit(index: VectorIndex, path: Path, sealer: Any) -> None:
    """Same vault, same index, same revision: still another snapshot."""
    write_snapshot(path, index, OURS, "", sealer)
    one = path.read_bytes()
    write_snapshot(path, index, OURS, "", sealer)
    other = path.read_bytes()
    body = 12 + struct.unpack("<I", one[8:12])[0]
    path.write_bytes(one[:body] + other[body:])
    assert refusal(path, sealer) is SnapshotRefusal.DAMAGED


def test_foreign_snapshots_are_refused(index: VectorIndex, path: Path, sealer: Any, other_sealer: Any) -> None:
    write_snapshot(path, index, OURS, "", sealer)
    assert refusal(path, sealer, Identity("cd" * 16, "model-1", DIMS)) is SnapshotRefusal.OTHER_VAULT
    assert refusal(path, sealer, Identity(OURS.vault_id, "model-2", DIMS)) is SnapshotRefusal.OTHER_MODEL
    assert refusal(path, sealer, Identity(OURS.vault_id, "model-1", 384)) is SnapshotRefusal.OTHER_MODEL
    assert refusal(path, other_sealer) is SnapshotRefusal.DAMAGED


def test_a_header_that_claims_to_be_ours_does_not_help(index: VectorIndex, path: Path, sealer: Any) -> None:
    write_snapshot(path, index, Identity("cd" * 16, "model-1", DIMS), "", sealer)
    path.write_bytes(path.read_bytes().replace(b"cd" * 16, b"ab" * 16))
    assert refusal(path, sealer) is SnapshotRefusal.DAMAGED


def test_revisions(index: VectorIndex, path: Path, sealer: Any) -> None:
    write_snapshot(path, index, OURS, "hash-at-17", sealer)
    assert refusal(path, sealer, newest=16) is SnapshotRefusal.OTHER_HISTORY
    assert isinstance(read(path, sealer, newest=99), (FlatIndex, HnswIndex))
    assert isinstance(read(path, sealer, anchor_at=lambda at: f"hash-at-{at}"), (FlatIndex, HnswIndex))
    assert refusal(path, sealer, newest=99, anchor_at=lambda _: "another") is SnapshotRefusal.OTHER_HISTORY
    assert refusal(path, sealer, newest=99, anchor_at=lambda _: None) is SnapshotRefusal.OTHER_HISTORY


def test_another_graph_format_is_refused(
    clustered: Make, path: Path, sealer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = HnswIndex(DIMS)
    made.add(np.arange(10), clustered(10))
    write_snapshot(path, made, OURS, "", sealer)
    monkeypatch.setattr(snapshot, "graph_format", lambda **_: "hnswlib-9")
    assert refusal(path, sealer, newest=99) is SnapshotRefusal.OTHER_FORMAT


def test_absent_and_unreadable(path: Path, sealer: Any, tmp_path: Path) -> None:
    assert refusal(path, sealer) is SnapshotRefusal.ABSENT
    path.mkdir()
    assert refusal(path, sealer) is SnapshotRefusal.UNREADABLE
    os.mkfifo(tmp_path / "fifo")
    assert refusal(tmp_path / "fifo", sealer) is SnapshotRefusal.UNREADABLE
    (tmp_path / "real").write_bytes(b"LOCIIDX1")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert refusal(tmp_path / "link", sealer) is SnapshotRefusal.UNREADABLE
    assert refusal(tmp_path / "real", sealer) is SnapshotRefusal.DAMAGED


def forged(**changes: Any) -> bytes:
    header = {
        "vault_id": OURS.vault_id, "model": "model-1", "dims": DIMS, "revision": 1, "anchor": "", "backend": "flat",
        "rows": 0, "live": 0, "linked": 0, "graph_format": "none", "graph_bytes": 0, "salt": "",
    }  # fmt: skip
    raw = json.dumps({**header, **changes}).encode()
    return b"LOCIIDX1" + struct.pack("<I", len(raw)) + raw + struct.pack("<I", 40) + b"x" * 40


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"rows": 10**12},
        {"rows": 2**31 - 1},
        {"rows": -1},
        {"rows": "many"},
        {"rows": True},
        {"linked": 5},
        {"live": 3},
        {"graph_bytes": 10**15},
        {"extra": 1},
        {"anchor": None},
        {"salt": ["x"]},
    ],
)
def test_forged_headers_cost_nothing(path: Path, sealer: Any, changes: dict[str, Any]) -> None:
    path.write_bytes(forged(**changes))
    assert refusal(path, sealer) is SnapshotRefusal.DAMAGED


@pytest.mark.parametrize("raw", [b"", b"LOCIIDX1", b"LOCIIDX1\xff\xff\xff\xff{", b"LOCIIDX1\x02\0\0\0[]", b"\0" * 500])
def test_garbage_is_refused(path: Path, sealer: Any, raw: bytes) -> None:
    path.write_bytes(raw)
    assert refusal(path, sealer) is SnapshotRefusal.DAMAGED


def test_a_sealed_header_that_lies_about_its_rows_is_refused(
    clustered: Make, path: Path, sealer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not forged but wrong: the graph library still only gets what the header, the rows and the graph agree on."""
    made = HnswIndex(DIMS)
    made.add(np.arange(60), clustered(60))
    real = made.dump()
    assert real.graph is not None
    real.graph.close()
    for change in ({"linked": 20}, {"graph_size": real.graph_size - 8}, {"row_labels": np.full(60, -1)}):
        fields = {name: getattr(real, name) for name in real.__slots__} | change
        fields["graph"], _ = hnsw.save_graph(made._graph, memory_file=hnsw.memory_files_work())
        monkeypatch.setattr(made, "dump", lambda fields=fields: type(real)(**fields))
        write_snapshot(path, made, OURS, "", sealer)
        answer = read(path, sealer, newest=99)
        if "row_labels" in change:
            assert isinstance(answer, HnswIndex)
            assert answer.count == 0
            assert answer.search(clustered(1)[0], 5).labels.size == 0
        else:
            assert answer == SnapshotRefused(SnapshotRefusal.DAMAGED)


def test_a_failed_write_leaves_the_old_one(
    index: VectorIndex, path: Path, sealer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_snapshot(path, index, OURS, "", sealer)
    before = path.read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentFaultError) as caught:
        write_snapshot(path, index, OURS, "", sealer)
    assert caught.value.code is Code.DISK_FULL
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["index.snap"]


def test_too_little_memory_is_told(clustered: Make, monkeypatch: pytest.MonkeyPatch, path: Path, sealer: Any) -> None:
    """hnswlib raises nothing when a save fails; only the size tells."""
    made = HnswIndex(DIMS)
    made.add(np.arange(60), clustered(60))

    class Short:
        """A graph whose save wrote half."""

        def save_index(self, path: str) -> None:
            Path(path).write_bytes(b"half")

        def index_file_size(self) -> int:
            return 1000

    monkeypatch.setattr(made, "_graph", Short())
    with pytest.raises(EnvironmentFaultError) as caught:
        write_snapshot(path, made, OURS, "", sealer)
    assert caught.value.code is Code.MEMORY_PRESSURE
    assert not path.exists()
