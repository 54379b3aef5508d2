"""Holds what an import of a fixture gives, item by item, against the rows of `expected.json` in the fixture's folder.

`PYTHONPATH=.:tests/helpers python tests/helpers/row_checker.py FOLDER` prints what an import gives now, to be read
before it is kept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from importer_checks import FIXTURES, reasons, records

from core.importers.detect import detect_format
from core.importers.dry_run import dry_run_import, import_items
from core.importers.input.source import open_bundle
from core.importers.records import Item, Record
from core.text.times import format_time


def cases_of(folder: str) -> list[str]:
    """What lies in a fixture's `input`, each imported by itself."""
    return sorted(path.name for path in (FIXTURES / folder / "input").iterdir())


def read_case(folder: str, name: str) -> tuple[str, list[Item]]:
    """The format that is found for one input, and its items; the rehearsal must count the same."""
    with open_bundle(FIXTURES / folder / "input" / name) as bundle:
        importer = detect_format(bundle)
        items = list(import_items(bundle, importer))
        assert list(import_items(bundle, importer)) == items
        assert dry_run_import(bundle, importer).records == len(records(items))
    return importer.format, items


def row_of(record: Record) -> dict[str, Any]:
    """A record as a row: what is empty is left out."""
    row = {
        "text": record.text,
        "where": record.where,
        "role": record.role.value,
        "source": record.source.value,
        "kind": record.kind.value,
        "status": record.status.value,
        "author": record.author,
        "time": format_time(record.occurred) if record.occurred else None,
        "conversation": record.conversation.title if record.conversation else None,
        "position": record.position,
        "ref": record.ref,
        "tags": list(record.tags),
        "flags": list(record.flags),
        "extra": dict(record.extra),
    }
    usual = {"source": "document", "kind": "episode", "status": "active"}
    return {name: value for name, value in row.items() if value not in (None, [], {}) and usual.get(name) != value}


def told_of(folder: str, name: str) -> dict[str, Any]:
    """Everything `expected.json` holds for one input."""
    form, items = read_case(folder, name)
    return {"format": form, "rows": [row_of(one) for one in records(items)], "left_out": reasons(items)}


def check_rows(folder: str, name: str) -> None:
    """Compare one input with `expected.json`."""
    expected: Mapping[str, Any] = json.loads((FIXTURES / folder / "expected.json").read_text("utf-8"))
    told = told_of(folder, name)
    want = expected[name]
    assert told["format"] == want["format"]
    assert [row["text"] for row in told["rows"]] == [row["text"] for row in want["rows"]]
    assert told == want
    identities = [record.identity for record in records(read_case(folder, name)[1])]
    assert len(set(identities)) == len(identities)


if __name__ == "__main__":
    chosen = sys.argv[1]
    everything = {name: told_of(chosen, name) for name in cases_of(chosen)}
    json.dump(everything, sys.stdout, ensure_ascii=False, indent=1)
    print()
