"""What a local model read leaves with the memory it was read in: nobody has to take it back first.

Must not do: touch what rules read or somebody gave.
"""

from __future__ import annotations

from core.vault.database.tx import Tx


def forget_reading(tx: Tx, memory_id: str) -> None:
    """Remove the claims that a local model alone read in a memory, and the questions it raised by them.

    Args:
        tx: the transaction of an undo that takes the memory away; each row is recorded in its step.
        memory_id: the memory.
    """
    items = tx.all(
        "SELECT id FROM conflicts WHERE (incoming_id = :id OR existing_id = :id) AND state = 'open' "
        "AND json_extract(detail, '$.opened_by') = 'reading' ORDER BY id",
        {"id": memory_id},
    )
    for (item_id,) in items:
        tx.delete("conflicts", {"id": item_id})
    read = tx.all(
        "SELECT id, claim_id FROM evidence WHERE memory_id = ? AND method = 'model' ORDER BY id", (memory_id,)
    )
    for evidence_id, _ in read:
        tx.delete("evidence", {"id": evidence_id})
    for claim_id in dict.fromkeys(claim_id for _, claim_id in read):
        if tx.one("SELECT 1 FROM evidence WHERE claim_id = ?", (claim_id,)) is None:
            tx.delete("claims", {"id": claim_id})
