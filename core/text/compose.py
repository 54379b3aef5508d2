"""What of a memory is indexed and what is embedded: pure compositions, so that every path writes the same.

Measured with a prototype of the hybrid on the development conversations (session / turn recall@10): neither name nor
date 93.9 / 77.9, the author's name in both 94.7 / 81.2, and the date among the terms too 95.1 / 83.4. Must not do:
analyse words (`core.text.terms` does) or touch a stored text.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

from core.text.terms import index_terms
from core.types.values import Precision, Role, When

# Classes of speakers, not names: before a text they would only make all texts alike.
_NOBODY = frozenset(role.value for role in Role) | {"system", "human", "you", "unknown"}
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
MAX_QUERY_CHARS = 2_000


def embedding_text(text: str, *, author: str | None = None) -> str:
    """What the embedder gets: who said it, then the text.

    Args:
        text: the memory's text.
        author: whose words they are; a role instead of a name is left out.

    Returns:
        `{author}: {text}`, or the text alone.
    """
    name = _name(author)
    return f"{name}: {text}" if name else text


def lexical_text(
    text: str,
    *,
    author: str | None = None,
    role: Role | None = None,
    title: str | None = None,
    tags: Sequence[str] = (),
    occurred: When | None = None,
) -> str:
    """What the lexical index gets, to be analysed by `core.text.terms.index_terms`.

    Args:
        text: the memory's text.
        author: whose words they are.
        role: their class; the title stands for the author of a note or document.
        title: of the conversation, note or document. Only that of a note or document is indexed: a conversation's would
            stand in each of its messages.
        tags: the memory's tags.
        occurred: when it was said or happened, as exactly as known: day, month and year are words to search by.

    Returns:
        One text.
    """
    parts = [_name(author), text, *tags]
    if title and role is Role.SOURCE:
        parts.append(title)
    if occurred is not None:
        parts.append(_date_words(occurred))
    return " ".join(part for part in parts if part)


def memory_terms(
    text: str,
    *,
    author: str | None = None,
    role: Role | None = None,
    title: str | None = None,
    tags: Sequence[str] = (),
    occurred: When | None = None,
) -> str:
    """The terms of a memory for `memory_fts.terms`.

    Args:
        text: as `lexical_text`, like the rest.
        author: see there.
        role: see there.
        title: see there.
        tags: see there.
        occurred: see there.

    Returns:
        Terms joined by single spaces.
    """
    return index_terms(lexical_text(text, author=author, role=role, title=title, tags=tags, occurred=occurred))


def query_text(query: str) -> str:
    """What the embedder gets of a query: the model reads 256 tokens, so a longer text only costs time.

    Args:
        query: as it was asked, of any length.

    Returns:
        Its first `MAX_QUERY_CHARS` characters, lone surrogates replaced.
    """
    return query[:MAX_QUERY_CHARS].encode("utf-8", "replace").decode("utf-8")


def _name(author: str | None) -> str:
    name = (author or "").strip()
    return "" if name.casefold() in _NOBODY else name


def _date_words(when: When) -> str:
    zone = UTC if when.offset_min is None else timezone(timedelta(minutes=when.offset_min))
    try:
        at = datetime.fromtimestamp(when.ms / 1000, zone)
    except (OverflowError, ValueError, OSError):  # outside the years 1 to 9999
        return ""
    if when.precision is Precision.YEAR:
        return str(at.year)
    month = f"{_MONTHS[at.month - 1]} {at.year}"
    return month if when.precision is Precision.MONTH else f"{at.day} {month}"
