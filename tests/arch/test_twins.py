"""Two records of `core` that declare the same fields are one record under two names.

Remedy for a breach: one of them becomes the base of the other, or holds it (`RecallRequest` is a `RecallQuery` with a
scope). A field that is inherited counts only where it is declared. The pairs below remain, each with its reason: the
list only ever gets shorter, and an entry that is no longer needed fails.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from arch_tree import ROOT, name_of, parsed, python_files

SHARED_FIELDS = 8
# The forms of a memory on its way in and at rest share its fields by nature; they are looked at by themselves.
MEMORY_FORMS = frozenset({"Draft", "Memory", "MemoryContent"})

_FORM = "both hold values of a memory: one as a list shows it, the other for a write"
TWINS_ALLOWED: dict[frozenset[str], str] = {
    frozenset({"Entry", "Method"}): "one is declared with functions and models, the other is read from protocol.json",
    frozenset(
        {"ReviewRow", "WaitingItem"}
    ): "one is shown with its wording, the other is a row of ids of the whole queue",
    frozenset({"QueueEntry", "WaitingItem"}): "a tuple that sorts by its first fields, so their order differs",
    frozenset({"ClaimDraft", "ClaimSeen"}): "one is read from a text, the other from rows: its moments are numbers",
    frozenset({"DisclosureRecord", "_Entry"}): "one holds what is written, the other what is worked out when it is",
    frozenset({"ClientCard", "ClientRecord"}): "one is shown and holds no token, the server checks by the other",
    frozenset({"MemoryRow", "RevisedMemory"}): _FORM,
    frozenset({"Loci", "MemoryRow"}): "one holds arrays of many memories, the other the values of one",
    frozenset({"MemoryRow", "StoreRequest"}): _FORM,
}


def _is_record(node: ast.ClassDef) -> bool:
    words = (*map(ast.unparse, node.decorator_list), *map(ast.unparse, node.bases))
    return any(word.startswith("dataclass") or word == "NamedTuple" for word in words)


def records(root: Path = ROOT) -> Iterator[tuple[str, frozenset[str]]]:
    """Each dataclass and named tuple at the top of a module of `core`, as `path:Name`, with the fields it declares."""
    for path in python_files("core", root=root):
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and _is_record(node):
                lines = (line.target for line in node.body if isinstance(line, ast.AnnAssign))
                yield (
                    f"{name_of(path, root)}:{node.name}",
                    frozenset(line.id for line in lines if isinstance(line, ast.Name)),
                )


def twins(root: Path = ROOT) -> dict[frozenset[str], int]:
    """Pairs of names that share so many fields, and how many; no pair with a form of a memory."""
    found: dict[frozenset[str], int] = {}
    for (one, fields), (other, others) in combinations(records(root), 2):
        pair = frozenset({one.rpartition(":")[2], other.rpartition(":")[2]})
        if len(fields & others) >= SHARED_FIELDS and not pair & MEMORY_FORMS:
            found[pair] = max(found.get(pair, 0), len(fields & others))
    return found


def test_no_two_records_declare_the_same_fields() -> None:
    assert not {" = ".join(sorted(pair)): n for pair, n in twins().items() if pair not in TWINS_ALLOWED}


def test_the_allowed_twins_are_still_there() -> None:
    assert not [sorted(pair) for pair in TWINS_ALLOWED.keys() - twins().keys()], "take these out of TWINS_ALLOWED"


def test_the_check_sees_a_planted_twin(tmp_path: Path) -> None:
    fields = "".join(f"    field_{at}: int\n" for at in range(SHARED_FIELDS))
    planted = (
        "@dataclass\nclass One:\n{0}class Two(NamedTuple):\n{0}class Plain:\n{0}@dataclass\nclass Less:\n    a: int"
    )
    path = tmp_path / "core" / "both.py"
    path.parent.mkdir(parents=True)
    path.write_text(planted.format(fields), encoding="utf-8")
    assert twins(tmp_path) == {frozenset({"One", "Two"}): SHARED_FIELDS}
