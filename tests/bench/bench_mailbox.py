"""Reading a mailbox of gigabytes: speed, and whether memory stays where it is.

    nice .venv/bin/python tests/bench/bench_mailbox.py [--gigabytes 4] [--store] [--folder DIR]

A mailbox is written in the form of an mbox: letters of some kilobytes, one in eight with an attachment, one in a
thousand with a large one. It is rehearsed as the window does; with `--store` it is imported, too, by an embedder that
takes no time. Printed is the most memory that the process ever had, at each tenth. It ends with 1 where that is more
than 600 MB.
"""

from __future__ import annotations

import argparse
import base64
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from engine_rig import rig_at  # noqa: E402

from app.bench.machine import describe_machine  # noqa: E402
from app.bench.synthetic import SyntheticWriter  # noqa: E402
from core.engine.runtime.progress import Counted  # noqa: E402
from core.types.replies import ImportReport  # noqa: E402
from core.types.values import OWNER_ACTOR  # noqa: E402

MOST_MB = 600
_LETTERS = 2_000
_DAY_S = 86_400


def peak_mb() -> float:
    """The most memory this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def write_letters(size: int) -> Iterator[bytes]:
    """Letters of a mailbox of so many bytes."""
    dice, done = random.Random(1), 0
    texts = [message.text for message in SyntheticWriter(1).write_messages(_LETTERS)]
    number = 0
    while done < size:
        number += 1
        words = "\n".join(dice.choices(texts, k=dice.randrange(4, 60)))
        attached = 6_000_000 if number % 1_000 == 0 else dice.randrange(20_000, 900_000) if number % 8 == 0 else 0
        letter = _make_letter(number, f"{words} ({number})", dice.randbytes(attached))
        done += len(letter)
        yield letter


def _make_letter(number: int, words: str, attached: bytes) -> bytes:
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(1_300_000_000 + number * _DAY_S // 20))
    head = (
        f"From writer@example.org Thu Jan  1 00:00:00 2015\nFrom: Writer {number % 90} <w{number % 90}@example.org>\n"
        f"To: reader@example.net\nSubject: Letter {number}\nMessage-ID: <{number}@example.org>\nDate: {date}\n"
    )
    if not attached:
        return f"{head}Content-Type: text/plain; charset=utf-8\n\n{words}\n\n".encode()
    return (
        f'{head}Content-Type: multipart/mixed; boundary="edge"\n\n--edge\n'
        f"Content-Type: text/plain; charset=utf-8\n\n{words}\n--edge\nContent-Type: application/pdf; "
        'name="paper.pdf"\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename="paper.pdf"\n\n'
    ).encode() + base64.encodebytes(attached) + b"\n--edge--\n\n"  # fmt: skip


def print_growth(name: str, letters: int) -> Counted:
    """What prints the memory at each tenth of so many letters."""
    told = [0]

    def tell(done: int, _total: int | None) -> None:
        tenth = done * 10 // letters
        if tenth > told[0]:
            told[0] = tenth
            print(f"  {name}, {done:,} letters: {peak_mb():,.0f} MB", flush=True)

    return tell


def main(arguments: Sequence[str]) -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--folder", type=Path, help="where the mailbox is written, in a folder that goes again")
    given = parser.parse_args(arguments)
    print(describe_machine())
    with tempfile.TemporaryDirectory(dir=given.folder) as name, rig_at(Path(name)) as rig:
        path, letters = Path(name) / "All mail.mbox", 0
        with path.open("wb") as file:
            for letter in write_letters(int(given.gigabytes * 1e9)):
                file.write(letter)
                letters += 1
        size = path.stat().st_size
        print(f"{letters:,} letters, {size / 1e9:.2f} GB; {peak_mb():,.0f} MB before")
        imports = rig.engine.imports
        steps: dict[str, Callable[[Counted], Future[ImportReport]]] = {
            "rehearse": lambda tell: imports.rehearse(path, None, OWNER_ACTOR, None, tell)
        }
        if given.store:
            steps["run"] = lambda tell: imports.run(path, None, None, OWNER_ACTOR, tell)
        for step, start in steps.items():
            wall, cpu = time.perf_counter(), time.process_time()
            stored = start(print_growth(step, letters)).result(36_000).stored
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            rate = f"{size / 1e6 / cpu:.1f} MB and {letters / cpu:,.0f} letters a second of the processor"
            print(f"{step}: {stored:,} new, {wall:,.0f} s, {cpu:,.0f} s processor, {rate}, {peak_mb():,.0f} MB")
    return int(peak_mb() > MOST_MB)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
