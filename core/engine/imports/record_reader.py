"""Records of an importer as the vault takes them in: with their parts, their vectors and what of them is usable.

Must not do: read a file, or write.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.importers.records.records import Record
from core.intake.store.import_batch import Incoming, usable_claim, usable_space, usable_validity
from core.types.values import When


def incoming(
    records: Sequence[Record], parts: Sequence[tuple[str, ...]], vectors: NDArray[np.float32] | None
) -> list[Incoming]:
    """The records of a batch with their vectors.

    Args:
        records: as the importer read them.
        parts: the texts of each.
        vectors: unit rows, one a text in that order; None where the embedder was away.

    Returns:
        What the vault takes in.
    """
    items: list[Incoming] = []
    at = 0
    for record, texts in zip(records, parts, strict=True):
        own = None if vectors is None else vectors[at : at + len(texts)]
        items.append(_incoming(record, texts, own))
        at += len(texts)
    return items


def _times(record: Record, texts: Sequence[str]) -> tuple[When | None, ...]:
    """When each part of a record was said."""
    times: list[When | None] = []
    at, occurred, left = 0, record.occurred, list(record.sections)
    for text in texts:
        while left and left[0].start <= at:
            occurred = left.pop(0).occurred
        times.append(occurred)
        at += len(text)
    return tuple(times)


def _incoming(record: Record, texts: tuple[str, ...], vectors: NDArray[np.float32] | None) -> Incoming:
    conversation = record.conversation
    space = usable_space(record.space)
    valid_from, valid_to = usable_validity(record.valid_from, record.valid_to)
    marks = {
        "space_unusable": space != record.space,
        "validity_unusable": (valid_from, valid_to) != (record.valid_from, record.valid_to),
    }
    return Incoming(
        identity=record.identity,
        texts=texts,
        vectors=vectors,
        where=record.where,
        kind=record.kind,
        role=record.role,
        source=record.source,
        status=record.status,
        author=record.author,
        conversation=None
        if conversation is None
        else (conversation.key, conversation.title, conversation.started, conversation.extra),
        position=record.position,
        occurred=record.occurred,
        times=_times(record, texts),
        category=record.category,
        importance=record.importance,
        tags=record.tags,
        space=space,
        session=record.session,
        ref=record.ref,
        claim=usable_claim(record.claim),
        valid_from=valid_from,
        valid_to=valid_to,
        flags=(*record.flags, *(mark for mark, stands in marks.items() if stands)),
        extra=record.extra,
    )
