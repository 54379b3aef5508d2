"""Proposals that settle themselves: turned down before, overtaken by what is said meanwhile, or said in the same words.

What the person turned down is not asked again, whoever proposes it, and nobody learns that it was. A proposal of the
same words in the same space is answered like any other: its proposer has its own memory named again; another client's
is kept and archived with its question closed, where the person finds it. A client that was refused stays refused in
all its channels and sessions. What waits and is overtaken was never let in, so it leaves as no version. Must not do:
judge a text that differs in a letter, an episode, which is said each time anew (design section 4), or what somebody
may write without asking; let what waits corroborate anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.belief.review.actions import HELD
from core.intake.transaction.sources import KINDS_BY_TEXT, has_parts, standing_twin
from core.intake.transitions.review_items import close_conflict, close_moot
from core.intake.transitions.transitions import Transitions
from core.memory.draft import Draft, content_hash, to_json
from core.types.values import Kind, Status
from core.vault.database.rows import Rows
from core.vault.memory_sql import OVERTAKEN, REFUSED

SAID_MEANWHILE = "said_meanwhile"
"""Note of a question that closed itself so: a key of `closed` in resources/help/review.json."""

_KINDS = to_json([kind.value for kind in KINDS_BY_TEXT])
# What comes with a claim of its own says more than its words: that is for the person to see.
_WAITING = """
    SELECT w.id FROM memories m JOIN memories w ON w.content_hash = m.content_hash
    WHERE m.id = :id AND m.status = 'active' AND m.kind IN (SELECT value FROM json_each(:kinds))
      AND w.id <> m.id AND +w.status = 'quarantined' AND +w.space_id = m.space_id AND +w.kind = m.kind
      AND +w.scope_session = m.scope_session AND coalesce(w.part_index, 0) = 0 AND w.status_reason IS NOT :held
      AND NOT EXISTS (SELECT 1 FROM evidence e
                      WHERE e.memory_id = w.id AND e.method = 'given')
    ORDER BY w.n
"""


def close_overtaken(transitions: Transitions, waiting_id: str, by_id: str) -> bool:
    """What waits for the person and was never let in leaves, where something else is said: it was no version.

    Trigger: a client's proposal is at odds with what the person says next. Why: as a version that is over it would
    have been true for a while, in every answer about the past and to every client. Outcome: it is in the archive.

    Args:
        waiting_id: what the candidate would take the place of.
        by_id: the candidate.

    Returns:
        Whether it was so; what the person held back had stood, and has its place in history.
    """
    row = transitions.tx.row("memories", {"id": waiting_id})
    if row is None or row["status"] != Status.QUARANTINED or row["status_reason"] == HELD:
        return False
    transitions.archive(waiting_id, OVERTAKEN)
    transitions.log("ADD", by_id, waiting_id)
    return True


def close_twins(transitions: Transitions, memory_id: str) -> None:
    """Archive what waits in the same words as a memory that stands, and close what was asked about it.

    Trigger: one client proposed what another, or the person, said before it was decided. Why: accepting it would be
    refused, since the words stand already. Outcome: the question is moot, also for who proposed it.

    Args:
        memory_id: the memory that was judged; nothing is done where it does not stand.
    """
    found = transitions.tx.all(_WAITING, {"id": memory_id, "kinds": _KINDS, "held": HELD})
    if not found:
        return
    parts = transitions.tx.all(
        "SELECT text FROM memories WHERE id = ? OR part_of = ? ORDER BY part_index", (memory_id, memory_id)
    )
    texts = [str(row[0]) for row in parts]
    gone = [str(row[0]) for row in found if has_parts(transitions.tx, str(row[0]), texts)]
    for one in gone:
        transitions.archive(one, OVERTAKEN)
    close_moot(transitions.tx, gone, SAID_MEANWHILE)


TURNED_DOWN, REJECTED_BEFORE = REFUSED
_MOOT = "moot"
_REFUSED = (
    "SELECT id, client_id IS :client AND scope_session = :limit, status_reason FROM memories "
    "WHERE content_hash = :hash AND space_id = :space AND kind = :kind "
    "AND (scope_session = :limit OR client_id = :client) AND coalesce(part_index, 0) = 0 "
    "AND status = 'archived' AND status_reason IN (:refused, :before) ORDER BY n DESC"
)


@dataclass(frozen=True, slots=True)
class EarlierRefusal:
    """A text that the person turned down.

    Attributes:
        own: the memory that the asking client had brought with it, to the same channel; None where only others did.
    """

    own: str | None


def find_refusal(
    rows: Rows, texts: Sequence[str], kind: Kind, space_id: str, client_id: str | None, scope_session: str = ""
) -> EarlierRefusal | None:
    """Whether the person turned these words down, and goes by that still.

    Args:
        texts: the text in its parts.
        kind: what it is.
        space_id: where.
        client_id: who proposes it now.
        scope_session: the session or channel it is limited to, or "".

    Returns:
        What is known; None where it was not turned down, or that was undone, or the same stands by now.
    """
    if kind not in KINDS_BY_TEXT:
        return None
    asked = {
        "hash": content_hash(texts[0]),
        "space": space_id,
        "kind": kind.value,
        "limit": scope_session,
        "client": client_id,
        "refused": TURNED_DOWN,
        "before": REJECTED_BEFORE,
    }
    found = [row for row in rows.all(_REFUSED, asked) if has_parts(rows, str(row[0]), texts)]
    if not any(row[2] == TURNED_DOWN for row in found):
        return None
    if standing_twin(rows, texts, kind, space_id, scope_session) is not None:
        return None
    return EarlierRefusal(next((str(row[0]) for row in found if row[1]), None))


def archive_refused(transitions: Transitions, draft: Draft, texts: Sequence[str], item_id: str) -> bool:
    """Archive a proposal that was just written where the person had turned the same down.

    Args:
        draft: the proposal; it waits.
        texts: its parts.
        item_id: its question, which is open.

    Returns:
        Whether it was; its question is closed then.
    """
    limit = draft.scope_session
    if find_refusal(transitions.tx, texts, draft.kind, draft.space_id, draft.client_id, limit) is None:
        return False
    transitions.archive(draft.id, REJECTED_BEFORE)
    return close_conflict(transitions.tx, item_id, _MOOT, None, REJECTED_BEFORE)
