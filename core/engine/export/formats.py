"""How exported memories are written as one text: JSON lines, JSON, Markdown, CSV, or what mem0 and its kin read.

The command line writes to standard output what an engine that runs has handed out, so this loads nothing of the
engine. Must not do: change a text.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import Code, EnvironmentFaultError, UserError
from core.text.screening.fences import escape_formula
from core.types.requests import EXPORT_ENDINGS

_COLUMNS = (
    "text", "time", "author", "session", "ref", "kind", "category", "importance", "tags", "source", "space", "status",
)  # fmt: skip

OBSIDIAN = "obsidian"
"""The one format that is no text: a zip file of notes (`core.engine.export.notes`)."""
_OWN_FIELDS = ("kind", "space", "source", "status", "author", "category", "importance", "session")

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ExportedMemory:
    """One memory of an export, whole.

    Attributes:
        id: of its first part.
        fields: what is known of it; what is unknown is missing.
    """

    id: str
    fields: Fields


def check_format(format_name: str) -> None:
    """Refuse a format that is none.

    Raises:
        UserError: INVALID_INPUT.
    """
    if format_name not in EXPORT_ENDINGS:
        raise UserError(Code.INVALID_INPUT, f"Memories are exported as {', '.join(EXPORT_ENDINGS)}.")


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


def render_export(found: Sequence[ExportedMemory], format_name: str) -> str:
    """What a file of an export holds.

    Args:
        format_name: one that `check_format` lets pass, and not `obsidian`.
    """
    return _WRITERS[format_name](found)


def _render_jsonl(found: Sequence[ExportedMemory]) -> str:
    return "".join(json.dumps(one.fields, ensure_ascii=False) + "\n" for one in found)


def _render_json(found: Sequence[ExportedMemory]) -> str:
    return json.dumps([one.fields for one in found], ensure_ascii=False, indent=1) + "\n"


def _render_csv(found: Sequence[ExportedMemory]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for one in found:
        tags = ", ".join(one.fields.get("tags", ()))
        writer.writerow(
            [escape_formula(str(tags if name == "tags" else one.fields.get(name, ""))) for name in _COLUMNS]
        )
    return out.getvalue()


def _render_markdown(found: Sequence[ExportedMemory]) -> str:
    return "# Memories\n" + "".join(_render_section(one.fields) for one in found)


def _render_section(fields: Mapping[str, Any]) -> str:
    heading = " · ".join(str(fields[name]) for name in ("time", "author", "kind", "space") if name in fields)
    named = [f"{name}: {fields[name]}" for name in ("category", "importance", "source", "status") if name in fields]
    tags = [f"tags: {', '.join(fields['tags'])}"] if "tags" in fields else []
    return f"\n## {heading}\n\n{fields['text']}\n\n*{' · '.join([*named, *tags])}*\n"


def _render_mem0(found: Sequence[ExportedMemory]) -> str:
    """A list under `results`, as mem0's `get_all` gives it: a text, whose it is, when, and the rest as metadata."""
    return json.dumps({"results": [_mem0_item(one) for one in found]}, ensure_ascii=False, indent=1) + "\n"


def _mem0_item(one: ExportedMemory) -> Fields:
    fields = one.fields
    item: Fields = {"id": one.id, "memory": fields["text"], "user_id": "owner"}
    item |= {name: fields[key] for name, key in (("created_at", "time"), ("categories", "tags")) if key in fields}
    return item | {"metadata": {name: fields[name] for name in _OWN_FIELDS if name in fields}}


_WRITERS: Mapping[str, Callable[[Sequence[ExportedMemory]], str]] = {
    "jsonl": _render_jsonl,
    "json": _render_json,
    "markdown": _render_markdown,
    "csv": _render_csv,
    "mem0": _render_mem0,
}
