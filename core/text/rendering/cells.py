"""Cells of a table that a spreadsheet would take for a formula, made harmless and read back.

Must not do: change any other cell.
"""

from __future__ import annotations

import re

# More apostrophes may stand before the sign: with one more or one less of them, every text has its own cell.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def escape_formula(cell: str) -> str:
    """A cell as a spreadsheet may open it: an apostrophe stands before what would begin a formula.

    Args:
        cell: any text.

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
