"""Records a second of each importer beside the embedder's texts: python tests/bench/bench_importers.py [--mb 8].

Each fixture is made large in its own fashion: more elements in its longest JSON list, the same text again, or more
files. Not a test: it prints a table and asserts nothing.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from bench_embed import machine, rate

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from importer_checks import FIXTURES  # noqa: E402
from row_checker import cases_of  # noqa: E402

from core.embed.embedder import MiniLmEmbedder  # noqa: E402
from core.importers.detect import detect_format  # noqa: E402
from core.importers.extension.kit import make_bundle  # noqa: E402
from core.importers.input.source import Bundle, open_bundle  # noqa: E402
from core.importers.records import Record  # noqa: E402

# One file is one note or one part of a message: there are more of them, not longer ones.
BY_FILE = frozenset({"keep", "joplin", "opencode", "html", "notion", "markdown"})
WHOLE = frozenset({"docx"})
MOST_S = 20.0
_ESCAPE = re.compile(rb"\\x([0-9A-Fa-f]{2})")
_ROOT = re.compile(rb"(.*?<en-export[^>]*>)(.*)(</en-export>.*)", re.DOTALL)


def grow_json(value: Any, times: int) -> Any:
    """The value with the elements of its longest list that many times over."""
    found: list[Any] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list) and len(one) > len(found):
            found = one
        if isinstance(one, list | dict):
            waiting += one if isinstance(one, list) else one.values()
    found += found[:] * (times - 1)
    return value


def grow_database(raw: bytes, times: int) -> bytes:
    """A database of Cursor's with its conversations that many times over."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.deserialize(raw[:18] + b"\x01\x01" + raw[20:])
        rows = made.execute("SELECT key, value FROM cursorDiskKV").fetchall()
        for number in range(1, times):
            new = [(key.replace(":c-", f":{number}c-"), value) for key, value in rows]
            made.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", new)
        made.commit()
        return bytes(made.serialize())


def grow_pdf(raw: bytes, times: int) -> bytes:
    """A document with its pages that many times over, 2,000 at most."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(raw)))
    pages = list(writer.pages)
    for _ in range(min(times, 2_000 // len(pages)) - 1):
        for page in pages:
            writer.add_page(page)
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def grow_file(data: bytes, times: int) -> bytes:
    """One file, in its own fashion."""
    if data.startswith(b"SQLite"):
        return grow_database(data, times)
    if data.startswith(b"%PDF"):
        return grow_pdf(data, times)
    if (found := _ROOT.match(data)) is not None:
        return found[1] + found[2] * times + found[3]
    try:
        value = json.loads(_ESCAPE.sub(rb"\\u00\1", data))  # Telegram writes escapes that JSON does not have
        return json.dumps(grow_json(value, times), ensure_ascii=False).encode()
    except ValueError:
        return (data if data.endswith(b"\n") else data + b"\n") * times


def grow_bundle(path: Path, form: str, size: int) -> Bundle:
    """A fixture made about as large as that, in bytes."""
    with open_bundle(path) as bundle:
        files = {}
        for file in bundle.files:
            with file.open() as stream:
                files[file.name] = stream.read()
        kind = bundle.kind
    times = max(1, size // max(1, sum(map(len, files.values()))))
    if form in WHOLE:
        return make_bundle(files, kind)
    if form in BY_FILE:
        times = min(times, 3_000 // len(files) + 1)
        more = {
            f"{number:06d}/{name.replace('_0', f'_{number}-0')}": data
            for number in range(times)
            for name, data in files.items()
        }
        return make_bundle(more, "folder" if kind == "file" else kind)
    return make_bundle({name: grow_file(data, times) for name, data in files.items()}, kind)


def measure(read: Callable[[], Any]) -> tuple[int, int, float]:
    """Records, their characters, and seconds."""
    records, characters, start = 0, 0, time.perf_counter()
    for item in read():
        if isinstance(item, Record):
            records, characters = records + 1, characters + len(item.text)
        if time.perf_counter() - start > MOST_S:
            break
    return records, characters, time.perf_counter() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=float, default=8, help="megabytes of each input")
    parser.add_argument("--only", default="", help="one format")
    given = parser.parse_args()
    print(machine())
    texts = [row["text"] for row in json.loads((ROOT / "tests/fixtures/embed_reference.json").read_text("utf-8"))] * 40
    embedder = MiniLmEmbedder(threads=2)
    embedder.embed(texts[:50])
    own = rate(texts, embedder.embed)
    print(f"{'the embedder':<16} {own:>10,.0f} texts a second")
    print(f"{'format':<16} {'records':>9} {'seconds':>8} {'a second':>10} {'MB/s':>7}  times the embedder")
    folders = sorted(path.parent.name for path in FIXTURES.glob("*/expected.json"))
    seen: set[str] = set()
    for folder in folders:
        for name in cases_of(folder):
            path = FIXTURES / folder / "input" / name
            with open_bundle(path) as bundle:
                importer = detect_format(bundle)
            if importer.format in {*seen, "mixed"} or (given.only and importer.format != given.only):
                continue
            seen.add(importer.format)
            large = grow_bundle(path, importer.format, int(given.mb * 1e6))
            records, _, seconds = measure(partial(importer.read, large))
            size = sum(file.size for file in large.files) / 1e6
            a_second = records / seconds
            print(
                f"{importer.format:<16} {records:>9,} {seconds:>8.2f} {a_second:>10,.0f} {size / seconds:>7.1f}  "
                f"{a_second / own:>6.1f}"
            )


if __name__ == "__main__":
    main()
