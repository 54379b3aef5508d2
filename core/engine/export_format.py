"""How exported memories are written: JSON lines, JSON, Markdown or CSV.

The command line writes to standard output what an engine that runs has handed out, so this loads nothing of the
engine. Must not do: change a text.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import Code, EnvironmentFaultError, UserError
from core.text.screening.fences import escape_formula

_COLUMNS = (
    "text", "time", "author", "session", "ref", "kind", "category", "importance", "tags", "source", "space", "status",
)  # fmt: skip

Fields = dict[str, Any]


def check_format(format_name: str) -> None:
    """Refuse a format that is none.

    Raises:
        UserError: INVALID_INPUT.
    """
    if format_name not in _WRITERS:
        raise UserError(Code.INVALID_INPUT, f"Memories are exported as {', '.join(_WRITERS)}.")


def check_destination(to: Path, home: Path) -> None:
    """Refuse a place for an export within Loci's own folder.

    Args:
        home: of the vault.

    Raises:
        UserError: INVALID_INPUT.
    """
    if to.resolve().is_relative_to(home.resolve()):
        raise UserError(Code.INVALID_INPUT, "That folder is Loci's own; choose another place for the export.")


def export_fault(error: EnvironmentFaultError) -> EnvironmentFaultError:
    """Why a file of an export was not written, in the words of somebody who exports."""
    if error.code is Code.DISK_FULL:
        return EnvironmentFaultError(Code.DISK_FULL, "The disk is full; make room and export again.")
    return EnvironmentFaultError(error.code, "The file cannot be written there; choose another place.")


def render_export(found: Sequence[Fields], format_name: str) -> str:
    """What a file of an export holds.

    Args:
        found: of `exported`.
        format_name: one that `check_format` lets pass.
    """
    return _WRITERS[format_name](found)


def _render_jsonl(found: Sequence[Fields]) -> str:
    return "".join(json.dumps(fields, ensure_ascii=False) + "\n" for fields in found)


def _render_json(found: Sequence[Fields]) -> str:
    return json.dumps(list(found), ensure_ascii=False, indent=1) + "\n"


def _render_csv(found: Sequence[Fields]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for fields in found:
        tags = ", ".join(fields.get("tags", ()))
        writer.writerow([escape_formula(str(tags if name == "tags" else fields.get(name, ""))) for name in _COLUMNS])
    return out.getvalue()


def _render_markdown(found: Sequence[Fields]) -> str:
    return "# Memories\n" + "".join(_render_section(fields) for fields in found)


def _render_section(fields: Mapping[str, Any]) -> str:
    heading = " · ".join(str(fields[name]) for name in ("time", "author", "kind", "space") if name in fields)
    named = [f"{name}: {fields[name]}" for name in ("category", "importance", "source", "status") if name in fields]
    tags = [f"tags: {', '.join(fields['tags'])}"] if "tags" in fields else []
    return f"\n## {heading}\n\n{fields['text']}\n\n*{' · '.join([*named, *tags])}*\n"


_WRITERS: Mapping[str, Callable[[Sequence[Fields]], str]] = {
    "jsonl": _render_jsonl,
    "json": _render_json,
    "markdown": _render_markdown,
    "csv": _render_csv,
}
