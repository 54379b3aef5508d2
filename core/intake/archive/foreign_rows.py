"""Rows of another vault's archive as they may stand here: bounded, screened, and nobody's word but that vault's.

Whoever made the archive may be somebody else, and its numbers are what its maker wrote. So nothing of it is trusted
above 0.5, now and whenever trust is reckoned anew (its memories belong to a revoked client with that ceiling); what
reads like an instruction waits for the person; counters, pins and rules of reviewing stay behind. Must not do: write.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import UserError
from core.intake.transaction.admission import PART_BYTES, check_memory_text, check_space_name, is_plain_label
from core.intake.transitions.injection_hold import REASON
from core.score.decay import RATES, STANDARD
from core.text.screening.injection import ALLOWED, FLAG, ScreenedText, screen_text
from core.types.values import GLOBAL_SPACE, HOME_SPACE, is_id
from core.vault.database.rows import to_json

CEILING = 0.5
"""Seed E10.24.3: confidence = min(value, 0.5)."""

_MOST_LABEL = 1_000
_MOST_EXTRA = 16 * 1024
_LABELS = ("category", "author", "session", "scope_session", "scope_channel", "ref", "lineage", "chain_id")
_WORDS = ("subject", "predicate", "value")

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ForeignOrigin:
    """What rows of one foreign archive get here.

    Attributes:
        vault: the other vault's id, hexadecimal.
        client_id: stands for that vault.
        import_id: of this import.
        space_id: where goes what would stand in `home`, or in `GLOBAL`, which every client reads.
    """

    vault: str
    client_id: str
    import_id: str
    space_id: str

    @property
    def lineage(self) -> str:
        """All of an archive is one source."""
        return f"archive:{self.vault}"


def adapt_foreign_row(table: str, row: Fields, origin: ForeignOrigin, now_ms: int) -> Fields | None:
    """A row as it may stand here.

    Args:
        row: of the archive, with all columns of its table.

    Returns:
        The row; None where it may not.
    """
    if "id" in row and not (isinstance(row["id"], str) and (is_id(row["id"]) or table == "spaces")):
        return None
    if isinstance(row.get("space_id"), str) and row["space_id"] in (HOME_SPACE, GLOBAL_SPACE):
        row = {**row, "space_id": origin.space_id}
    adapt = _ADAPTED.get(table)
    return row if adapt is None else adapt(row, origin, now_ms)


def screen_foreign_memory(row: Mapping[str, Any]) -> ScreenedText:
    """Whether a memory reads like an instruction; known at once the second time."""
    return screen_text(row["text"], stranger=True)


def _adapt_memory(row: Fields, origin: ForeignOrigin, now_ms: int) -> Fields | None:
    if row["status"] == "deleted" or not _is_storable(row):
        return None
    seen = screen_foreign_memory(row)
    flags = [flag for flag in _texts_in(row["flags"]) if flag not in (ALLOWED, FLAG)]
    waits = seen.waits and row["status"] == "active"
    return {
        **row,
        "status": "quarantined" if waits else row["status"],
        "status_reason": REASON if waits else row["status_reason"],
        "flags": to_json([*flags, *seen.flags]),
        "tags": to_json(_texts_in(row["tags"])),
        "client_id": origin.client_id,
        "import_id": origin.import_id,
        "lineage": origin.lineage,
        "origin": to_json({"by": "import", "format": "archive", "vault": origin.vault}),
        "extra": row["extra"] if _is_small_object(row["extra"]) else "{}",
        "recorded_at": min(row["recorded_at"], now_ms),
        "last_confirmed_at": min(row["last_confirmed_at"], now_ms),
        "trust": min(float(row["trust"]), CEILING),
        "confidence": min(float(row["confidence"]), CEILING),
        "corroboration": 1,
        "reinforcements": 0,
        "disputes": 0,
        "permanence": row["permanence"] if row["permanence"] in RATES else STANDARD,
        "strength": 1.0,
        "access_count": 0,
        "last_accessed_at": None,
        "pinned": 0,
        "read_at": None,  # its claims are read and compared here, as of anything that comes from outside
    }


def _is_storable(row: Mapping[str, Any]) -> bool:
    times = (row["recorded_at"], row["last_confirmed_at"])
    numbers = (row["trust"], row["confidence"])
    try:
        check_memory_text(row["text"], PART_BYTES)
    except (UserError, AttributeError, TypeError):
        return False
    return (
        all(row[name] is None or _is_label(row[name]) for name in _LABELS)
        and all(type(at) is int for at in times)
        and all(type(one) in (int, float) for one in numbers)
    )


def _is_label(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _MOST_LABEL and is_plain_label(value)


def _texts_in(value: object) -> list[str]:
    """The short texts of a JSON list, at most 64; what else is in it is passed over."""
    try:
        found = json.loads(value) if isinstance(value, str) and len(value) <= _MOST_EXTRA else []
    except (ValueError, RecursionError):
        return []
    return [one for one in found if _is_label(one)][:64] if isinstance(found, list) else []


def _is_small_object(value: object) -> bool:
    try:
        return isinstance(value, str) and len(value) <= _MOST_EXTRA and isinstance(json.loads(value), dict)
    except (ValueError, RecursionError):
        return False


def _adapt_claim(row: Fields, _origin: ForeignOrigin, _now_ms: int) -> Fields | None:
    words = {name: row[name] for name in _WORDS}
    if not all(_is_label(word) for word in words.values()) or screen_text("", words, stranger=True).flags:
        return None
    stood = row["state"] in ("asserted", "disputed")
    # Entities stay behind: they are made anew of the texts. Whether the claim stands here is asked of its memories.
    return {
        **row,
        "subject_entity_id": None,
        "object_entity_id": None,
        "state": "draft" if stood else row["state"],
        "confidence": CEILING,
        "qualifiers": row["qualifiers"] if _is_small_object(row["qualifiers"]) else "{}",
    }


def _adapt_evidence(row: Fields, origin: ForeignOrigin, _now_ms: int) -> Fields | None:
    if not isinstance(row["quote"], str) or len(row["quote"]) > PART_BYTES:
        return None
    return {**row, "lineage": origin.lineage}


def _adapt_space(row: Fields, _origin: ForeignOrigin, _now_ms: int) -> Fields | None:
    try:
        check_space_name(row["name"])
    except (UserError, TypeError):
        return None
    return {**row, "client_id": None}


def _adapt_conversation(row: Fields, origin: ForeignOrigin, _now_ms: int) -> Fields | None:
    if not _is_label(row["identity"]) or not (row["title"] is None or _is_label(row["title"])):
        return None
    extra = row["extra"] if _is_small_object(row["extra"]) else "{}"
    return {**row, "client_id": None, "import_id": origin.import_id, "extra": extra}


def _adapt_edge(row: Fields, _origin: ForeignOrigin, _now_ms: int) -> Fields | None:
    return {**row, "made_by": "import"}


def _adapt_content(row: Fields, _origin: ForeignOrigin, _now_ms: int) -> Fields | None:
    # Its small picture is left out: it would be drawn, and nobody here made it.
    return {**row, "thumbnail": None}


def _adapt_file(row: Fields, _origin: ForeignOrigin, now_ms: int) -> Fields | None:
    labels = (row["name"], row["media_type"])
    caption = row["caption"]
    is_plain = isinstance(caption, str) and len(caption) <= PART_BYTES and is_plain_label(caption)
    if not is_plain or type(row["attached_at"]) is not int or not all(_is_label(one) for one in labels):
        return None
    return {**row, "attached_at": min(row["attached_at"], now_ms)}


def _adapt_view(row: Fields, _origin: ForeignOrigin, _now_ms: int) -> Fields | None:
    return row if isinstance(row["text"], str) and is_plain_label(row["text"]) and _has_regions(row) else None


def _has_regions(row: Fields) -> bool:
    """Whether every region lies in the text; the page alone may be unknown."""
    try:
        regions = json.loads(row["regions"])
        return isinstance(regions, list) and all(
            isinstance(one, list)
            and len(one) == 5
            and all(type(number) is int and number >= 0 for number in one[1:])
            and (one[0] is None or type(one[0]) is int)
            and one[1] <= one[2] <= len(row["text"])
            for one in regions
        )
    except (ValueError, TypeError, RecursionError):
        return False


_ADAPTED: Mapping[str, Callable[[Fields, ForeignOrigin, int], Fields | None]] = {
    "memories": _adapt_memory,
    "claims": _adapt_claim,
    "evidence": _adapt_evidence,
    "spaces": _adapt_space,
    "conversations": _adapt_conversation,
    "edges": _adapt_edge,
    "stored_files": _adapt_content,
    "files": _adapt_file,
    "file_views": _adapt_view,
}
