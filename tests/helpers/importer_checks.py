"""Reads an import fixture and holds what came against every field that expected.json gives for it."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from core.importers.detect import detect_format
from core.importers.input.source import Bundle, SourceFile, open_bundle
from core.importers.records import Importer, Item, Record, SkippedPart, UnreadablePart

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "imports"
EXPECTED: Mapping[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
# Fields told about the fixture or its author's intent, and those that a test of the one format checks itself.
TOLD = {
    "id",
    "path",
    "detected_format",
    "outcome",
    "counts",
    "notes",
    "expect",
    "why",
    "max_seconds",
    "time_tolerance_s",
}
FORMATS = {
    "obsidian-vault": "obsidian",
    "notes-folder": "markdown",
    "plain-text": "text",
    "generic-jsonl": "jsonl",
    "generic-csv": "csv",
}


def fixture(fixture_id: str) -> Mapping[str, Any]:
    return next(f for f in EXPECTED["fixtures"] if f["id"] == fixture_id)


def path_of(fixture_id: str) -> Path:
    return FIXTURES / str(fixture(fixture_id)["path"])


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def ms_of(iso: str) -> int:
    return round(datetime.fromisoformat(iso).timestamp() * 1000)


def memory_bundle(files: Mapping[str, bytes | str], kind: str = "file") -> Bundle:
    """A bundle that never touches the disk."""

    def opener(data: bytes) -> Callable[[], io.BytesIO]:
        return lambda: io.BytesIO(data)

    made = [(name, data.encode() if isinstance(data, str) else data) for name, data in sorted(files.items())]
    sources = tuple(SourceFile(name, len(data), None, opener(data)) for name, data in made)
    return Bundle(made[0][0] if made else "nothing", kind, sources, (), "0")


def items_of(importer: Importer, files: Mapping[str, bytes | str], kind: str = "file") -> list[Item]:
    return list(importer.read(memory_bundle(files, kind)))


def records(items: list[Item]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def troubles(items: list[Item]) -> list[UnreadablePart]:
    return [item for item in items if isinstance(item, UnreadablePart)]


def reasons(items: list[Item]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for item in items:
        if isinstance(item, SkippedPart):
            found[item.reason] += item.count
        elif isinstance(item, UnreadablePart):
            found[item.reason] += 1
    return dict(found)


def zip_bytes(files: Mapping[str, bytes | str]) -> bytes:
    """An archive; of one date, so that two processes that name tests by it name them alike."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def check_fixture(
    importer: Importer, fixture_id: str, path: Path | None = None, *, beyond: tuple[str, ...] = ()
) -> list[Item]:
    """Read a fixture and check every field that all formats share.

    Args:
        importer: of the fixture's format.
        fixture_id: its id in expected.json.
        path: a copy to read instead.
        beyond: fields that the calling test checks itself; any other field unknown here fails.
    """
    want = fixture(fixture_id)
    with open_bundle(path or path_of(fixture_id)) as bundle:
        assert importer.detects(bundle)
        assert detect_format(bundle).format == importer.format
        assert importer.format == FORMATS.get(want["detected_format"], want["detected_format"])
        items = list(importer.read(bundle))
        again = list(importer.read(bundle))
        left_out = [SkippedPart(reason, name) for reason, name in bundle.skipped]
    assert again == items
    found = records(items)
    assert len({record.identity for record in found}) == len(found)
    assert (want["outcome"] == "stored_with_errors") == bool(troubles(items))
    json.dumps([dict(record.extra) for record in found])
    handled = {
        "earliest",
        "latest",
        "skipped",
        "must_find",
        "must_not_store",
        "must_occur_once",
        "exact_texts",
        "long_texts",
    }
    assert set(want) - TOLD - handled - set(beyond) == set()
    assert reasons([*items, *left_out]) == {row["reason"]: row["count"] for row in want.get("skipped", ())}
    _check_times(found, want)
    _check_texts(found, want)
    return items


def _check_times(found: list[Record], want: Mapping[str, Any]) -> None:
    times = [record.occurred.ms for record in found if record.occurred]
    if "earliest" not in want:
        assert times == []
        return
    tolerance_ms = 1000 * want.get("time_tolerance_s", EXPECTED["time_tolerance_s"])
    assert abs(min(times) - ms_of(want["earliest"])) <= tolerance_ms
    assert abs(max(times) - ms_of(want["latest"])) <= tolerance_ms


def _check_texts(found: list[Record], want: Mapping[str, Any]) -> None:
    texts = [record.text for record in found]
    for phrase in want.get("must_find", ()):
        assert any(phrase in text for text in texts), phrase
    for phrase in want.get("must_occur_once", ()):
        assert sum(text.count(phrase) for text in texts) == 1, phrase
    everything = json.dumps([[r.text, r.author, r.tags, dict(r.extra)] for r in found], ensure_ascii=False)
    for phrase in want.get("must_not_store", ()):
        assert phrase not in everything, phrase
    digests = {sha(text): text for text in texts}
    for row in (*want.get("exact_texts", ()), *want.get("long_texts", ())):
        text = digests[row["sha256"]]
        assert len(text) == row["chars"]
        assert row.get("utf8_bytes", len(text.encode())) == len(text.encode())
        assert row.get("text", text) == text


def at(items: list[Item], number: int) -> Record:
    """The record of that line or record number."""
    return next(item for item in items if isinstance(item, Record) and _number(item.where) == number)


def _number(where: str) -> int:
    return int(where.rpartition(":")[2].removeprefix("record "))


def check_row_times(items: list[Item], fixture_id: str, key: str) -> None:
    """`row_times`: what is written in each row and what it means."""
    rows = fixture(fixture_id)["row_times"]
    assert len(rows) == len(records(items))
    for row in rows:
        record = at(items, row[key])
        assert (record.occurred.ms if record.occurred else None) == (ms_of(row["means"]) if row["means"] else None)
        assert record.extra.get("time_written") == (row["written"] or None)
