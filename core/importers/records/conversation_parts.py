"""Small shared steps of the importers of conversations: typed access to loose JSON, ids from content, places.

Must not do: know any format.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import mended_count
from core.importers.records.records import SkippedPart

_NUMBERED = re.compile(r"(?:^|/)[^/]+\.json$", re.IGNORECASE)


def as_text(value: object) -> str | None:
    """A string as it is; None for anything else.

    Args:
        value: any parsed value.
    """
    return str(value) if isinstance(value, str) else None


def as_mapping(value: object) -> Mapping[str, Any]:
    """An object as it is; an empty one for anything else.

    Args:
        value: any parsed value.
    """
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """A list as it is; an empty one for anything else.

    Args:
        value: any parsed value.
    """
    return value if isinstance(value, list) else []


def drop_empty(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts without those that say nothing (null, false, empty).

    Args:
        facts: candidate facts.
    """
    return {name: value for name, value in facts.items() if value not in (None, False, "", [], {}, 0)}


def content_id(*parts: str) -> str:
    """A short id made of content, for what has none.

    Args:
        parts: texts that make it up, in order.

    Returns:
        32 hexadecimal digits.
    """
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:32]


def join_texts(parts: Iterable[str], separator: str = "\n\n") -> tuple[str, int]:
    """Join the texts of one message.

    Args:
        parts: its texts; empty ones are left out.
        separator: what stands between them.

    Returns:
        The text, and how many lone surrogates were replaced in it.
    """
    kept = [part for part in parts if part]
    return separator.join(kept), sum(mended_count(part) for part in kept)


def bundle_skips(bundle: Bundle) -> Iterable[SkippedPart]:
    """What the bundle itself left out.

    Args:
        bundle: any bundle.
    """
    return (SkippedPart(reason, name) for reason, name in bundle.skipped)


def json_files(bundle: Bundle, stems: tuple[str, ...]) -> list[SourceFile]:
    """Files worth looking into: the single file, else those whose own name begins with one of the stems.

    Args:
        bundle: any bundle.
        stems: beginnings of file names, lower case; one that ends in `/` names the folder the file lies in.
    """
    if bundle.kind == "file":
        return list(bundle.files)
    return [file for file in bundle.files if _NUMBERED.search(file.name) and _starts(file, stems)]


def _starts(file: SourceFile, stems: tuple[str, ...]) -> bool:
    path = file.path
    own, folder = path.name.lower(), path.parent.name.lower() + "/"
    if "__MACOSX" in path.parts:
        return False
    return any(folder == stem if stem.endswith("/") else own.startswith(stem) for stem in stems)
