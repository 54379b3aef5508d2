"""What an assistant's export holds, as records: turns, documents that were given to it, and what it noted by itself.

Whose words they are decides how far they are trusted: the person's own count as theirs, everything else an assistant's
export tells as inference, a document as one. Must not do: know any format, or change a text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from core.importers.conversation import drop_empty
from core.importers.records import Record
from core.types.values import Kind, Role, Source, Status

_NOBODY = "source"


def complete_turn(record: Record, assistant: str, replaced: int = 0) -> Record:
    """Give a turn its speaker.

    Args:
        record: the turn, with its role.
        assistant: the name under which the assistant speaks.
        replaced: how many lone surrogates were replaced in its text.
    """
    is_person = record.role is Role.USER
    return replace(
        record,
        source=Source.USER_IMPLICIT if is_person else Source.INFERENCE,
        author=assistant if record.role is Role.ASSISTANT else None,
        flags=_sort_flags(record.flags, replaced),
        extra=drop_empty(record.extra),
    )


def complete_document(record: Record, replaced: int = 0) -> Record:
    """Make a document of what was given to an assistant: an attachment, a project's instructions.

    Args:
        record: its text and where it lay.
        replaced: how many lone surrogates were replaced in its text.
    """
    return replace(
        record,
        role=Role.SOURCE,
        source=Source.DOCUMENT,
        author=_NOBODY,
        flags=_sort_flags(record.flags, replaced),
        extra=drop_empty(record.extra),
    )


def complete_proposal(record: Record, assistant: str, replaced: int = 0) -> Record:
    """Make a proposal of what an assistant noted about the person: it waits until the person takes it.

    Args:
        record: the note, with its role.
        assistant: the name under which the assistant speaks.
        replaced: how many lone surrogates were replaced in its text.
    """
    proposal = replace(record, kind=Kind.FACT, status=Status.QUARANTINED)
    return complete_turn(proposal, assistant, replaced)


def _sort_flags(flags: Iterable[str], replaced: int) -> tuple[str, ...]:
    return tuple(sorted({*flags, "surrogates_replaced"} if replaced else set(flags)))
