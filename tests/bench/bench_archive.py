"""How fast a vault is exported into an encrypted archive and imported from one, and how much memory that takes.
How long it takes to erase one memory of it with its certificate is told as well.

    nice .venv/bin/python tests/bench/bench_archive.py [--n 100000]

The vault is filled with synthetic messages and facts with their sources (`resources/bench`). Figures are of the
processor and of the wall clock; megabytes are those of the archive's content before it is compressed. Vectors, which
are made behind an import, are not counted.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from archive_rig import PASSPHRASE, export_all, import_all, other_rig, preview  # noqa: E402
from engine_rig import Rig, rig_at  # noqa: E402

from app.bench.synthetic import SyntheticWriter  # noqa: E402
from core.archive.container import open_archive, read_chunks  # noqa: E402
from core.archive.records import RecordReader  # noqa: E402
from core.engine.imports import restore  # noqa: E402
from core.intake.transaction.sources import Lineage, add_source  # noqa: E402
from core.memory.write import Draft, insert_memories  # noqa: E402
from core.types.memory import ErasureRequest, ErasureSubject  # noqa: E402
from core.types.values import Kind, Role, Source, Status  # noqa: E402
from core.vault.database.tx import Tx  # noqa: E402

_AT_ONCE = 2000


def fill(rig: Rig, texts: Sequence[str]) -> None:
    """Put memories into a vault, two messages to a fact."""

    def write(tx: Tx, some: Sequence[str]) -> None:
        drafts = [
            Draft(
                id=rig.opened.storage.make_id(),
                text=text,
                kind=Kind.FACT if nr % 3 == 0 else Kind.EPISODE,
                status=Status.ACTIVE,
                space_id="home",
                source=Source.USER_EXPLICIT,
                role=Role.USER,
                lineage="owner",
                recorded_at=tx.now_ms,
                trust=1.0,
                last_confirmed_at=tx.now_ms,
                read_at=tx.now_ms,
            )
            for nr, text in enumerate(some)
        ]
        insert_memories(tx, drafts)
        for draft in drafts:
            if draft.kind is Kind.FACT:
                add_source(tx, draft.id, Lineage("owner"), draft.source)

    for at in range(0, len(texts), _AT_ONCE):
        some = texts[at : at + _AT_ONCE]
        # A busy machine may take longer than a test waits.
        rig.opened.storage.queue.submit_verb(lambda tx: write(tx, some)).result(3600)  # noqa: B023 - waited for


def content_bytes(path: Path) -> int:
    """Bytes of an archive's content, expanded; counted from its rows as they are written."""
    total = 0
    with path.open("rb") as file:
        header, keys = open_archive(file, PASSPHRASE)
        for batch in RecordReader(read_chunks(file, header, keys)).read_batches(_AT_ONCE):
            total += sum(len(str(value)) + 3 for row in batch.rows for value in row)
    return total


@contextmanager
def timed(name: str, megabytes: float, memories: int) -> Iterator[None]:
    """Print what the inside took."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rate = f"{megabytes / cpu:5.1f} MB/s of the processor" if megabytes else ""
    speed = f"{memories / cpu:8,.0f} memories/s"
    print(f"{name:<8} {cpu:7.1f} s processor, {wall:7.1f} s, {speed}, {rate} peak {peak:,.0f} MB", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    count = parser.parse_args(arguments).n
    texts = list(
        dict.fromkeys(f"{message.text} ({nr})" for nr, message in enumerate(SyntheticWriter(1).write_messages(count)))
    )
    with tempfile.TemporaryDirectory() as name, rig_at(Path(name)) as rig, patch.object(restore, "_follow_up"):
        folder = Path(name)
        fill(rig, texts)
        path = folder / "all.loci"
        with timed("export", 0, len(texts)):
            export_all(rig, path)
        size = content_bytes(path) / 1e6
        print(f"{len(texts):,} memories, {size:,.1f} MB of content, {path.stat().st_size / 1e6:,.1f} MB of archive")
        with timed("export", size, len(texts)):
            export_all(rig, path)
        named = ErasureRequest(ErasureSubject.MEMORY, (str(rig.value("SELECT id FROM memories ORDER BY n DESC")),))
        with timed("erase", 0, 1):
            rig.engine.erasures.erase(named).result(3600)
        with other_rig(folder / "other") as other:
            with timed("preview", size, len(texts)):
                preview(other, path)
            with timed("import", size, len(texts)):
                report = import_all(other, path)
            with timed("again", size, len(texts)):
                import_all(other, path)
            with timed("undo", 0, len(texts)):
                other.engine.imports.undo_import(str(report.import_id)).result(3600)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
