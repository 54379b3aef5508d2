"""Texts made harmless for whoever reads them next: a memory between tags (E10.14.2), a cell in a spreadsheet.

Between tags a text is one line, nothing hidden, nothing that could be a tag. It lessens what a hostile text can do to
an assistant that reads it; it cannot take its words away. Must not do: judge a text, shorten it, or change a stored
one.
"""

from __future__ import annotations

import re

# More apostrophes may stand before the sign: with one more or one less of them, every text has its own cell.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_BREAKS = re.compile("[ \t]*[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+\\s*|\t")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufff9-\uffff]")
_PLANE_ENDS = re.compile(
    "[" + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17)) + "]"
)
# Signs without a face of their own: joiners, fillers, marks of direction, private use, tags that spell words unseen.
_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010fffd]"
)
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"})
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_UNSENT = re.compile("[\ud800-\udfff\0]")
_BRACKETS = str.maketrans("[]", "()")
# Chat templates mark turns in square brackets too, an instruction's begin and end for one.
_TEMPLATE_MARK = re.compile(r"\[(?=\s*/?\s*[A-Z][A-Z_ ]*\s*/?\s*\])")
_SHOWN = "\ufffd"


def escape_formula(cell: str) -> str:
    """A cell as a spreadsheet may open it: an apostrophe stands before what would begin a formula.

    Returns:
        The cell; `unescape_formula` gives exactly the text again.
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unescape_formula(cell: str) -> str:
    """The text of a cell that `escape_formula` made; every other cell as it is.

    Args:
        cell: as it stands in the table.
    """
    return cell[1:] if _GUARDED.match(cell) else cell


def escape_fenced(text: str) -> str:
    """A text as it may stand in an element or an attribute.

    Returns:
        One line of XML character data: breaks and tabs are a blank, control characters U+FFFD, hidden ones are gone;
            the bracket that opens a mark of a chat template is a character reference.
    """
    flat = _BREAKS.sub(" ", text).strip()
    if not flat.isascii() or not flat.isprintable():
        flat = _HIDDEN.sub("", _PLANE_ENDS.sub(_SHOWN, _CONTROL.sub(_SHOWN, flat)))
    return escape_template_marks(flat.translate(_ESCAPES))


def escape_fences(text: str) -> str:
    """Write a text so that it holds no mark of a fence or of a chat template.

    Returns:
        The text with `&`, `<`, `>` and bracketed marks as character references.
    """
    return escape_template_marks(_UNSENT.sub("\ufffd", text).translate(_MARKUP))


def escape_template_marks(text: str) -> str:
    """A text in which no bracket opens a mark of a chat template: `&#91;` stands for it."""
    return _TEMPLATE_MARK.sub("&#91;", text)


def escape_label(text: str) -> str:
    """A text as it may stand between square brackets.

    Returns:
        As `escape_fenced`, with round brackets for square ones.
    """
    return escape_fenced(text.translate(_BRACKETS))
