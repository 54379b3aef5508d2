"""Which memories are kept from clients because of their state, as SQL conditions that the queries of every room share.

Spaces and channels are no part of this: they depend on the asker (`core.recall.query.scope`). Must not do: ask the
vault.
"""

from __future__ import annotations

CLEARTEXT = "cleartext"
UNSEALED = f"m.security_tier = '{CLEARTEXT}'"
"""Whether `m` may be handed to a client at all: the other tiers are the person's alone."""

REFUSED = ("rejected", "rejected_before")
"""Reasons of what was archived because the person decided against it."""
OVERTAKEN = "overtaken"
"""Reason of what was archived because something else was said while it waited for the person."""
_NEVER_LET_IN = (*REFUSED, OVERTAKEN, "unanswered")
_LISTED = "', '".join(_NEVER_LET_IN)


def is_undecided(status: str, reason: str | None) -> bool:
    """`undecided_sql` of one row.

    Args:
        status: of the memory.
        reason: its `status_reason`.
    """
    return status == "quarantined" or (status == "archived" and reason in _NEVER_LET_IN)


def undecided_sql(alias: str = "m") -> str:
    """Whether nobody let a memory in: it waits for the person, or was refused or overtaken.

    Args:
        alias: of `memories` in the query.

    Returns:
        A condition that is 0 or 1.
    """
    return (
        f"({alias}.status = 'quarantined' OR ({alias}.status = 'archived' "
        f"AND coalesce({alias}.status_reason, '') IN ('{_LISTED}')))"
    )


def let_in_sql(alias: str = "m") -> str:
    """Whether `:asker` may know of a memory, as far as its being decided on goes: what waits is its author's alone.

    Trigger: one client proposed something in a space that another reads too. Why: else any assistant would be talked
    to by any other, before the person said a word. Outcome: there is no such memory but for who brought it.

    Args:
        alias: of `memories` in the query.

    Returns:
        A condition with `:asker`: the client's id; NULL for who decides such matters.
    """
    return f"(:asker IS NULL OR {alias}.client_id IS :asker OR NOT {undecided_sql(alias)})"
