"""The one way an importer says that a file as a whole cannot be taken. No I/O.

Must not do: put text of the file, or more of its path than the last component, into a message.
"""

from __future__ import annotations

from core.errors import Code, UserError

_NAME_LIMIT = 120


def printable_name(name: str) -> str:
    """The last component of a path as it may stand in a message.

    Args:
        name: a path inside or outside a bundle.

    Returns:
        At most 120 characters, every character that does not print replaced by `?`.
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2] or name
    clean = "".join(character if character.isprintable() else "?" for character in last)
    return clean if len(clean) <= _NAME_LIMIT else clean[: _NAME_LIMIT - 1] + "…"


def refuse_file(name: str, trouble: str) -> UserError:
    """An IMPORT_REFUSED error in one sentence.

    Args:
        name: the file's name; only its last component is shown.
        trouble: what is wrong, as the end of a sentence without its full stop ("is not valid JSON").

    Returns:
        The error, to be raised.
    """
    return UserError(Code.IMPORT_REFUSED, f"“{printable_name(name)}” {trouble}; nothing was imported.")
