"""What a client asked for, as the desk shows it: who, what, and why in its own words.

Must not do: decide, or show a client's words unmarked.
"""

from __future__ import annotations

from core.belief.desk_words import line, words
from core.types.reviews import Asked
from core.vault.rows import Rows

REASON_CHARACTERS = 512
"""A reason is shown whole: it has no more (bytes) when it comes."""
_ASKED = (
    "SELECT a.verb, k.name, a.reason, a.asked_at FROM approvals a JOIN clients k ON k.id = a.client_id "
    "WHERE a.conflict_id = ?"
)


def asked_of(rows: Rows, item_id: str) -> Asked | None:
    """What a client asked for with an item.

    Args:
        rows: a vault snapshot.
        item_id: the item.

    Returns:
        It; None where no client asked.
    """
    row = rows.one(_ASKED, (item_id,))
    return None if row is None else Asked(str(row[0]), str(row[1]), str(row[2] or ""), int(row[3]))


def asked_question(asked: Asked) -> str:
    """The matter as a question.

    Args:
        asked: what was asked.

    Returns:
        One sentence.
    """
    return str(words()["asked"][asked.wish])


def asked_sentence(asked: Asked) -> str:
    """Who asks, and why: quoted, on one line, without signs that steer a terminal.

    Args:
        asked: what was asked.

    Returns:
        One sentence.
    """
    said = words()["asked"]
    client, reason = _plain(asked.client, 64), _plain(asked.reason, REASON_CHARACTERS)
    return str(said["why" if reason else "who"]).format(client=client, reason=reason)


def _plain(told: str, most: int) -> str:
    return line("".join(sign if sign.isprintable() else " " for sign in told), most)
