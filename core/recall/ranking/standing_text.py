"""The sentences of a memory that still stand: what recall hands out of a text of which a claim is over.

The stored text stays whole; a memory that is looked at by its id shows all of it. Must not do: change a row, or decide
what is over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.intake.claims.structural_match import sentence_at
from core.types.values import Memory, Status
from core.vault.database.rows import Rows

Spans = Sequence[tuple[int, int]]

# Claims of which nothing stands: replaced, and not said anew by anybody.
_SPANS = (
    "SELECT e.memory_id, e.start_at, e.end_at, c.state = 'superseded' AND NOT EXISTS (SELECT 1 FROM claims s "
    "WHERE s.space_id = c.space_id AND s.claim_key = c.claim_key AND s.state IN ('asserted', 'disputed')) "
    "FROM json_each(?) w JOIN evidence e ON e.memory_id = w.value AND e.stance = 'supporting' "
    "JOIN claims c ON c.id = e.claim_id WHERE c.state <> 'retracted' ORDER BY 1, 2, 3"
)


def trim_ended_sentences(rows: Rows, memories: Iterable[Memory]) -> dict[str, Memory]:
    """Memories without the sentences of which all claims are over.

    Args:
        memories: any; only of active ones something is left out.

    Returns:
        Id to memory, for those alone of which a sentence is left out. Never an empty text.
    """
    active = {one.id: one for one in memories if one.status is Status.ACTIVE}
    spans: dict[str, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {}
    for memory_id, start, end, over in rows.all(_SPANS, (json.dumps(list(active)),)):
        spans.setdefault(memory_id, ([], []))[bool(over)].append((start, end))
    found: dict[str, Memory] = {}
    for memory_id, (standing, over) in spans.items():
        memory = active[memory_id]
        text = drop_sentences(memory.text, over, standing)
        if text != memory.text:
            found[memory_id] = replace(memory, text=text)
    return found


def drop_sentences(text: str, over: Spans, standing: Spans) -> str:
    """A text without its sentences that are over.

    Args:
        over: where it says what is over, code points, ends exclusive.
        standing: where it says what stands; a sentence that has any of it stays.

    Returns:
        What is left; the whole text where nothing else would be.
    """
    gone = {sentence_at(text, start, end) for start, end in over}
    gone = {one for one in gone if all(end <= one[0] or one[1] <= start for start, end in standing)}
    if not gone:
        return text
    kept, at = [], 0
    for start, end in sorted(gone):
        kept.append(text[at:start])
        at = max(at, end)
    left = "".join([*kept, text[at:]]).strip()
    return left or text
