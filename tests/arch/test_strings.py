"""The sentences of the window live in `resources/help`: the code of `ui` holds none.

A literal of two or more words that begins with a capital letter is a sentence, a template of one too. Docstrings, log
lines, the messages of errors, names of Qt's objects and properties, and annotations are none.

Remedy for a breach: a key in the file of its page, read where it is shown (`ui/strings.py`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from arch_tree import children, dotted, name_of, parsed, python_files

NO_SENTENCES = frozenset({"Inter Display", "Mmm 0000"})
"""A family of type, and the widest text of a tick."""
_SENTENCE = re.compile(r"[“‘(]*[A-Z][\w'’-]*\W*\s\W*[\w{]")
_FILLED = "{}"
_UNSEEN_CALLS = re.compile(r"(^|\.)(_?log(ger)?\.\w+|setObjectName|setProperty|set_style_property|property|findChild)$")


def _literal(node: ast.expr) -> str | None:
    """The text of a literal or a template, its expressions as `{}`; None for another expression."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_FILLED if (text := _literal(part)) is None else text for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_unseen(node: ast.AST) -> bool:
    """Whether nobody reads the literals below a node: docstrings, log lines, errors, names of objects."""
    if isinstance(node, ast.Expr):
        return _literal(node.value) is not None
    return isinstance(node, ast.Raise) or (
        isinstance(node, ast.Call) and _UNSEEN_CALLS.search(dotted(node.func)) is not None
    )


def sentences(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of every sentence below a node."""
    hidden = {id(getattr(node, name, None)) for name in ("annotation", "returns")}
    for child in children(node):
        if id(child) in hidden or _is_unseen(child):
            continue
        text = _literal(child) if isinstance(child, ast.expr) else None
        if text is not None and text not in NO_SENTENCES and _SENTENCE.match(text):
            yield child.lineno, text  # type: ignore[attr-defined]  # an expression has a line
        # Of a template only what is filled in is looked at again: the rest is part of its text.
        parts = [part for part in children(child) if isinstance(part, ast.FormattedValue)]
        for below in parts if isinstance(child, ast.JoinedStr) else [child]:
            yield from sentences(below)


def test_the_window_holds_no_sentence() -> None:
    files = python_files("ui")
    assert files
    found = [f"{name_of(path)}:{line}: {text}" for path in files for line, text in sentences(parsed(path))]
    assert not found, f"a key in resources/help, read by ui/strings.py: {found}"


@pytest.mark.parametrize(
    "code",
    [
        'show("Nothing to change.")',
        'show(f"Moved to {place}.")',
        'show(f"Show {count}")',
        'KINDS = {1: "Held back"}',
        'def show(title="Try again"): pass',
        "show(f\"{place}{ 'Try again' }\")",
        'show("“Try again”")',
    ],
)
def test_a_sentence_is_found(code: str) -> None:
    assert len(list(sentences(ast.parse(code)))) == 1


@pytest.mark.parametrize(
    "code",
    [
        '"""What it does."""',
        'def show():\n    """What it does."""',
        'log.info("Read %s rows", count)',
        'raise BugError("No such page")',
        'card.setObjectName("Big card")',
        'shown: "Mapping[str, int]"',
        'show("Ctrl+Return")',
        'show("muted text")',
        'show(strings["title"])',
        'show(f"{name}: {value}")',
    ],
)
def test_what_nobody_reads_is_none(code: str) -> None:
    assert not list(sentences(ast.parse(code)))
