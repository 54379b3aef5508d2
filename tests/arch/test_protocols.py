"""A protocol with one implementation is a detour: it stands only where the implementation lies in a room above.

What only names a callable (`__call__`) is a type of a function and is not counted.
"""

from __future__ import annotations

import ast
from functools import cache

from arch_tree import parsed, python_files, walk

# Protocol to why its one implementation cannot be named there.
ONE_IMPLEMENTATION: dict[str, str] = {
    "PalaceContext": "core.engine arranges the palace; core.lifecycle lies below it",
    "ConnectionHost": "the server makes the dispatcher, which asks it back",
    "EmbeddingLoader": "core.engine reads the vault; core.index knows nothing of it",
    "Keyring": "the tests and a machine without a keyring put another in its place",
    "MigrationHost": "core.engine swaps the index; core.lifecycle lies below it",
    "TextEditing": "the inspector's panel does not know its parts",
}
MOST = 7


def is_stored(node: ast.AST) -> bool:
    """Whether a name or an attribute is assigned there."""
    return isinstance(getattr(node, "ctx", None), ast.Store)


def members(node: ast.ClassDef) -> frozenset[str]:
    """Methods, properties and declared fields of a class, those of instances among them."""
    found = {child.name for child in node.body if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)}
    fields = [child for child in node.body if isinstance(child, ast.Assign | ast.AnnAssign)]
    found |= {name.id for child in fields for name in walk(child) if is_stored(name) and isinstance(name, ast.Name)}
    found |= {child.attr for child in walk(node) if isinstance(child, ast.Attribute) and is_stored(child)}
    return frozenset(found)


@cache
def classes() -> tuple[tuple[str, bool, frozenset[str], tuple[str, ...]], ...]:
    """Name, whether it is a protocol, members and bases of every class of the product."""
    return tuple(
        (
            node.name,
            "Protocol" in "".join(map(ast.unparse, node.bases)),
            members(node),
            tuple(map(ast.unparse, node.bases)),
        )
        for path in python_files("app", "core", "ui")
        for node in walk(parsed(path))
        if isinstance(node, ast.ClassDef)
    )


def implementations() -> dict[str, int]:
    """How many classes have all members of each protocol that is no callable."""
    by_name = {name: found for name, _, found, _ in classes()}
    whole = [
        found.union(*(by_name.get(base, frozenset()) for base in bases))
        for _, is_protocol, found, bases in classes()
        if not is_protocol
    ]
    return {
        name: sum(wanted <= found for found in whole)
        for name, is_protocol, wanted, _ in classes()
        if is_protocol and "__call__" not in wanted
    }


def test_a_protocol_has_two_implementations_or_a_reason() -> None:
    single = {name for name, n in implementations().items() if n < 2}
    assert single == set(ONE_IMPLEMENTATION)
    assert len(single) <= MOST


def test_the_count_sees_implementations() -> None:
    found = implementations()
    assert found["Clock"] >= 2
    assert "Extract" not in found
