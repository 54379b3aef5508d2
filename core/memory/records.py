"""What a procedure has beside its text: its steps and the words that call it up, read from the text by rules.

They are written with the text and made anew with it; counts and what somebody gave stay. Must not do: count an
outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.memory.draft import Draft, to_json
from core.text.metadata import extract_cues, extract_steps
from core.types.values import Kind, Memory
from core.vault.database.tx import Tx

TABLE = "procedures"


def read_record(text: str) -> dict[str, object]:
    """What a procedure's text says of itself.

    Args:
        text: of the procedure; of a split one the first part.

    Returns:
        The columns `steps` and `trigger_cues`.
    """
    return {"steps": to_json(list(extract_steps(text))), "trigger_cues": " ".join(extract_cues(text))}


def write_records(tx: Tx, drafts: Iterable[Draft]) -> None:
    """Write the records of new procedures.

    Args:
        drafts: new memories of any kind; of a split text the head has the record.
    """
    for draft in drafts:
        if draft.kind is Kind.PROCEDURE and not draft.part_index:
            tx.insert(TABLE, {"memory_id": draft.id, **read_record(draft.text)})


def rewrite_records(tx: Tx, memories: Iterable[Memory]) -> None:
    """Make the records of procedures anew whose text may be another now; one without a record gets none.

    Args:
        memories: as they stand now.
    """
    for memory in memories:
        if memory.kind is Kind.PROCEDURE:
            tx.update(TABLE, {"memory_id": memory.id}, read_record(memory.text))


def remove_records(tx: Tx, labels: Sequence[int]) -> None:
    """Remove the records of memories about to vanish; one with outcomes stays, and so keeps its memory.

    Args:
        labels: labels of memories.
    """
    for label in labels:
        unused = tx.value(
            "SELECT p.memory_id FROM memories m JOIN procedures p ON p.memory_id = m.id "
            "WHERE m.n = ? AND p.successes + p.failures = 0",
            (label,),
        )
        if unused is not None:
            tx.delete(TABLE, {"memory_id": unused})
