"""Which of its questions Loci lets an assistant put (E4.5.5, C18): two in a session, each once in it and once a week.

A question speaks only of memories that the asker may see and that stand; what was answered since, put off or decided
is left out, whether a run has closed it or not. Must not do: open or close a question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

from core.config.lifecycle import LifecycleOptions
from core.lifecycle.questions.gaps import find_questions
from core.memory.draft import to_json
from core.text.screening.egress import is_text_withheld
from core.text.screening.fences import escape_fenced
from core.text.screening.injection import ALLOWED
from core.types.recall import Clarifying
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

A_SESSION = 2
"""Questions in one session at most."""
WEEK_MS = 7 * 86_400_000
_LOOKED_AT, _AT_ONCE = 40, 4
_READ, _SEEN_AT_ONCE = 2_000, 400
"""Open questions that are read at most, and of how many at a time it is asked whether the asker may see them."""
_ASKED = "SELECT count(DISTINCT gap_id) FROM gap_asks WHERE session = ? AND client_id IS ?"
_OPEN = (
    "SELECT g.id, g.memory_id, g.other_id FROM gaps g JOIN memories m ON m.id = g.memory_id "
    "LEFT JOIN memories o ON o.id = g.other_id WHERE g.state = 'open' "
    "AND (:spaces IS NULL OR m.space_id IN (SELECT value FROM json_each(:spaces))) "
    "AND m.scope_session IN ('', :session) "
    "AND coalesce(o.scope_session IN ('', :session), 1) "
    # A session may bear any name, also that of what limits a memory to a channel.
    "AND m.scope_channel = '' AND coalesce(o.scope_channel = '', 1) "
    "AND NOT EXISTS (SELECT 1 FROM gap_asks a WHERE a.gap_id = g.id AND (a.at > :week "
    "OR (a.session = :session AND a.client_id IS :client))) "
    "AND NOT EXISTS (SELECT 1 FROM conflicts c WHERE c.fingerprint = g.fingerprint "
    "AND (c.state = 'resolved' OR (c.state = 'open' AND c.later_until > :now))) "
    "ORDER BY g.kind <> 'contradiction', g.kind <> 'stale', g.opened_at, g.id LIMIT :most"
)
_SIDES = (
    "SELECT g.id, g.fingerprint, g.memory_id, m.text, m.flags, o.text, o.flags FROM json_each(?) w "
    "JOIN gaps g ON g.id = w.value JOIN memories m ON m.id = g.memory_id LEFT JOIN memories o ON o.id = g.other_id "
    "ORDER BY w.key"
)
Seen = Callable[[Collection[str]], frozenset[str]]


def select_questions(
    rows: Rows,
    options: LifecycleOptions,
    seen: Seen,
    client_id: str | None,
    session: str,
    now_ms: int,
    space_ids: Collection[str] | None = None,
) -> tuple[Clarifying, ...]:
    """The questions that may be put now.

    Args:
        options: `stale_days` and `stale_uses`.
        seen: which of these memories the asker may see and asks about; a question quotes none but such.
        client_id: the asker; None for the owner.
        session: its session; "" for none, which gets no questions.
        space_ids: the only spaces that it sees and asks about; None for all. What lies elsewhere is not read at all,
            so that it keeps nothing back, however much of it there is.

    Returns:
        None to two, contradictions first; each one line that is fenced as data.
    """
    left = A_SESSION - int(rows.value(_ASKED, (session, client_id))) if session else 0
    if left <= 0:
        return ()
    bounds = {"session": session, "client": client_id, "week": now_ms - WEEK_MS, "now": now_ms, "most": _READ}
    bounds["spaces"] = None if space_ids is None else to_json(sorted(space_ids))
    found = rows.all(_SIDES, (to_json(_of_what_is_seen(rows.all(_OPEN, bounds), seen)),))
    found = [row for row in found if _may_be_told(row[3:])]
    told: list[Clarifying] = []
    for at in range(0, len(found), _AT_ONCE):
        some = found[at : at + _AT_ONCE]
        live = {one.name: one for one in find_questions(rows, options, now_ms, [str(row[2]) for row in some])}
        names = [(str(row[0]), live[bytes(row[1])], row[3:]) for row in some if bytes(row[1]) in live]
        told += [
            Clarifying(gap_id, escape_fenced(one.sentence))
            for gap_id, one, sides in names
            if _let_through(sides) or not is_text_withheld(one.sentence)
        ]
        if len(told) >= left:
            break
    return tuple(told[:left])


def _of_what_is_seen(open_ones: Sequence[Sequence[Any]], seen: Seen) -> list[str]:
    """The first questions that speak only of what the asker may see; the others are looked at only until enough are."""
    told_of: list[str] = []
    for at in range(0, len(open_ones), _SEEN_AT_ONCE):
        some = [
            (str(gap), {str(one) for one in about if one is not None})
            for gap, *about in open_ones[at : at + _SEEN_AT_ONCE]
        ]
        known = seen({one for _, about in some for one in about})
        told_of += [gap for gap, about in some if known >= about]
        if len(told_of) >= _LOOKED_AT:
            break
    return told_of[:_LOOKED_AT]


def _may_be_told(sides: Sequence[Any]) -> bool:
    """Whether neither memory reads like an instruction (E10.14.3): a question quotes what a context leaves out."""
    return not any(
        text is not None and is_text_withheld(str(text), json.loads(flags))
        for text, flags in zip(sides[::2], sides[1::2], strict=True)
    )


def _let_through(sides: Sequence[Any]) -> bool:
    """Whether the person read and let through every memory the question is about."""
    return all(flags is None or ALLOWED in json.loads(flags) for flags in sides[1::2])


def note_asked(tx: Tx, gap_ids: Sequence[str], client_id: str | None, session: str) -> None:
    """Note that questions were handed out.

    Args:
        tx: the transaction; a journal, nothing that is undone.
        gap_ids: which.
        client_id: to whom; None for the owner.
        session: in which session.
    """
    recorder, tx.recorder = tx.recorder, None
    try:
        for gap_id in gap_ids:
            row = {"gap_id": gap_id, "client_id": client_id, "session": session, "at": tx.now_ms}
            tx.insert("gap_asks", row)
    finally:
        tx.recorder = recorder
