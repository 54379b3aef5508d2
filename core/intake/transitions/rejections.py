"""What the person turned down is not asked again, whoever proposes it, and nobody learns that it was.

A proposal of the same words in the same space is answered like any other: whoever proposed it there before has its own
memory named again; of another it is kept, and goes to the archive with its question closed, where the person finds it.
To who was refused it stays refused in all its channels and sessions: it names them itself. Others speak for others
there. Must not do: judge a text that differs in a letter, an episode, which is said each time anew (design section 4),
or what somebody may write without asking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.intake.transaction.sources import KINDS_BY_TEXT, has_parts, standing_twin
from core.intake.transitions.review_items import close_conflict
from core.intake.transitions.transitions import Acts
from core.memory.draft import Draft, content_hash
from core.types.values import Kind
from core.vault.database.rows import Rows
from core.vault.visibility import REFUSED

TURNED_DOWN, REJECTED_BEFORE = REFUSED
_MOOT = "moot"
_REFUSED = (
    "SELECT id, client_id IS :client AND scope_session = :limit, status_reason FROM memories "
    "WHERE content_hash = :hash AND space_id = :space AND kind = :kind "
    "AND (scope_session = :limit OR client_id = :client) AND coalesce(part_index, 0) = 0 "
    "AND status = 'archived' AND status_reason IN (:refused, :before) ORDER BY n DESC"
)


@dataclass(frozen=True, slots=True)
class Refused:
    """A text that the person turned down.

    Attributes:
        own: the memory that the asking client had brought with it, to the same channel; None where only others did.
    """

    own: str | None


def refused_before(
    rows: Rows, texts: Sequence[str], kind: Kind, space_id: str, client_id: str | None, scope_session: str = ""
) -> Refused | None:
    """Whether the person turned these words down, and goes by that still.

    Args:
        rows: a vault snapshot or a transaction.
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
    return Refused(next((str(row[0]) for row in found if row[1]), None))


def put_aside(acts: Acts, draft: Draft, texts: Sequence[str], item_id: str) -> bool:
    """Archive a proposal that was just written where the person had turned the same down.

    Args:
        acts: the steps of the running verb.
        draft: the proposal; it waits.
        texts: its parts.
        item_id: its question, which is open.

    Returns:
        Whether it was; its question is closed then.
    """
    limit = draft.scope_session
    if refused_before(acts.tx, texts, draft.kind, draft.space_id, draft.client_id, limit) is None:
        return False
    acts.archive(draft.id, REJECTED_BEFORE)
    return close_conflict(acts.tx, item_id, _MOOT, None, REJECTED_BEFORE)
