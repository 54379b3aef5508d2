"""The echo guard of conversations: what Loci handed out is no part of what was said (design section 4).

Contexts that come back inside a message are cut out of it; a message of nothing else is no message. What an assistant
or a tool repeats word for word is not kept again. What the person says is always kept. Must not do: judge a paraphrase;
the store path does.
"""

from __future__ import annotations

from core.intake.transaction.echo_guard import was_handed
from core.memory.draft import content_hash
from core.vault.database.rows import Rows

_OPEN, _CLOSE = "<memory ", "</memory>"


def outside(text: str, frame: frozenset[str]) -> str:
    """A message without the contexts in it.

    Args:
        text: the message.
        frame: the lines that stand around the memories of a context.

    Returns:
        The text itself where there is no context in it; else what is left, "" where nothing is.
    """
    parts, at = [], 0
    while (start := text.find(_OPEN, at)) >= 0 and (end := text.find(_CLOSE, start)) >= 0:
        parts.append(text[at:start])
        at = end + len(_CLOSE)
    if not at and not any(line in text for line in frame if line.startswith("# ")):
        return text
    parts.append(text[at:])
    lines = "".join(parts).split("\n")
    return "\n".join(line for line in lines if line.strip() not in frame).strip()


def is_echo(rows: Rows, client_id: str | None, text: str, waiting: frozenset[str]) -> bool:
    """Whether a text is, word for word, one that a client was given.

    Args:
        rows: the transaction.
        client_id: the client; None for the owner, who is never an echo.
        text: the text.
        waiting: memories that were given to it and are not written down yet.

    Returns:
        Whether it came from Loci.
    """
    if client_id is None:
        return False
    same = rows.all("SELECT id FROM memories WHERE content_hash = ? ORDER BY n LIMIT 64", (content_hash(text),))
    return any(was_handed(rows, client_id, str(row[0]), waiting) for row in same)
