"""A memory on its way in: what it says, as an importer reads it, and as the row that is about to be written.

Each field is declared once. Must not do: derive anything, or read the vault.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.score.decay import STANDARD
from core.types.clients import channel_in
from core.types.values import Kind, Role, Source, Status, When


def content_hash(text: str) -> bytes:
    """SHA-256 of the exact text; an index over equal texts, not an identity of episodes.

    Args:
        text: any text without lone surrogates.

    Returns:
        32 bytes.
    """
    return hashlib.sha256(text.encode("utf-8")).digest()


def to_json(value: object) -> str:
    """Compact JSON for a checked column."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContent:
    """What a memory says, whose words it is and when it holds: the part that an import and a row have in common.

    Attributes:
        text: exactly as it came; never normalised.
        position: place within the conversation, from 0; None outside conversations.
        occurred: when it was said or happened; None where unknown.
        flags: content-free marks: surrogates_replaced, front_matter_broken, encoding_guessed, time_unreadable …
        extra: facts without a column (title, links, aliases, relation triples, original time text …); JSON-able.
    """

    text: str
    kind: Kind
    status: Status
    source: Source
    role: Role
    author: str | None = None
    position: int | None = None
    occurred: When | None = None
    category: str = "general"
    tags: tuple[str, ...] = ()
    session: str | None = None
    ref: str | None = None
    valid_from: When | None = None
    valid_to: When | None = None
    flags: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMemory(MemoryContent):
    """A memory as an importer reads it and the store path takes it.

    Attributes:
        identity: stable across exports; the same identity is never stored twice (`chatgpt:<conversation>:<message>`).
            Where the source has no ids it is made of path or content hash and an ordinal among equals.
        where: for errors and provenance: file name inside the bundle and line or record number; never text.
        importance: 0 to 1; None where the source does not tell.
        space: a space's name; None for the import's own.
        claim: a claim the row itself gives, in the shape of the command line's `--claim`.
    """

    identity: str
    where: str
    importance: float | None = None
    space: str | None = None
    claim: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(MemoryContent):
    """One row to be.

    Attributes:
        id: UUIDv7.
        lineage: the independent source this text comes from (design section 4).
        origin: where from: file, line, conversation, message; JSON-able.
        trust: 0 to 1 by `core.score.trust`.
        scope_session: what it is limited to, by `core.types.clients.limit_of`: the row's channel is read from it, so
            that what is derived from a memory of a channel cannot leave it.
        chain_id: the first version's id; None for a first version.
        read_at: when its claims were read, epoch ms; None where that is still to be done.
        permanence: how long it lasts, one of `core.score.decay.RATES`.
    """

    id: str
    space_id: str
    lineage: str
    recorded_at: int
    trust: float
    last_confirmed_at: int
    client_id: str | None = None
    importance: float = 0.5
    scope_session: str = ""
    conversation_id: str | None = None
    import_id: str | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    part_of: str | None = None
    part_index: int | None = None
    status_reason: str | None = None
    chain_id: str | None = None
    read_at: int | None = None
    permanence: str = STANDARD

    def to_row(self, n: int) -> dict[str, object]:
        """The row of the `memories` table.

        Args:
            n: the label for the lexical and the vector index.

        Returns:
            Column names and values.
        """
        row: dict[str, object] = {
            "n": n,
            "id": self.id,
            "kind": self.kind.value,
            "status": self.status.value,
            "status_reason": self.status_reason,
            "text": self.text,
            "content_hash": content_hash(self.text),
            "category": self.category,
            "importance": float(self.importance),
            "tags": to_json(list(self.tags)),
            "space_id": self.space_id,
            "client_id": self.client_id,
            "source": self.source.value,
            "role": self.role.value,
            "author": self.author,
            "session": self.session,
            "scope_session": self.scope_session,
            "scope_channel": channel_in(self.scope_session),
            "conversation_id": self.conversation_id,
            "position": self.position,
            "ref": self.ref,
            "import_id": self.import_id,
            "origin": to_json(dict(self.origin)),
            "lineage": self.lineage,
            "part_of": self.part_of,
            "part_index": self.part_index,
            "flags": to_json(list(self.flags)),
            "extra": to_json(dict(self.extra)),
            "recorded_at": self.recorded_at,
            "trust": self.trust,
            "confidence": self.trust,
            "last_confirmed_at": self.last_confirmed_at,
            "chain_id": self.chain_id or self.id,
            "read_at": self.read_at,
            "permanence": self.permanence,
        }
        row.update(_times("occurred", self.occurred, offset=True))
        row.update(_times("valid_from", self.valid_from))
        row.update(_times("valid_to", self.valid_to))
        return row


def _times(name: str, when: When | None, *, offset: bool = False) -> dict[str, object]:
    column = f"{name}_at" if offset else name
    values: dict[str, object] = {
        column: None if when is None else when.ms,
        f"{name}_prec": None if when is None else when.precision.value,
    }
    if offset:
        values[f"{name}_offset"] = None if when is None else when.offset_min
    return values
