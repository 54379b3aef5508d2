"""A memory of another store as a record: a fact that some assistant inferred, at the time the store tells.

Must not do: know any format, or grant such a memory the trust of a person's own word.
"""

from __future__ import annotations

from dataclasses import replace

from core.importers.input.streams import mended_count
from core.importers.records import Record
from core.text.times import parse_time
from core.types.values import Kind, Source


def complete_fact(record: Record, written: object = None) -> Record:
    """Give a memory what all stores' memories share.

    Args:
        record: its text, and what the store tells of it.
        written: when it was made, as the store wrote it, where that is not yet read; one that cannot be is flagged.
    """
    occurred = record.occurred or parse_time(written)
    flags = set(record.flags)
    if mended_count(record.text):
        flags.add("surrogates_replaced")
    if occurred is None and written not in (None, ""):
        flags.add("time_unreadable")
    return replace(
        record,
        text=str(record.text),
        kind=Kind.FACT,
        source=Source.INFERENCE,
        occurred=occurred,
        flags=tuple(sorted(flags)),
    )
