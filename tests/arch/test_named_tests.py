"""The page that names a test for every behaviour of the lifecycle names no test that is not there."""

from __future__ import annotations

import ast
import re
from functools import cache

from arch_tree import ROOT, parsed, walk

PAGE = ROOT / "docs" / "lifecycle-tests.md"
ROW = re.compile(r"^\| (?P<what>[^|]+) \| `(?P<file>[\w/]+\.py)::(?P<test>test_\w+)` \|$")
LEAST = 100


@cache
def named_in(file: str) -> frozenset[str]:
    path = ROOT / "tests" / file
    assert path.is_file(), f"no file {file}"
    return frozenset(node.name for node in walk(parsed(path)) if isinstance(node, ast.FunctionDef))


def test_every_test_that_the_page_names_exists() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| behaviour")]
    found = [ROW.match(line) for line in rows]
    assert len(found) >= LEAST
    broken = [line for line, match in zip(rows, found, strict=True) if match is None]
    assert not broken, f"these rows name no test: {broken}"
    gone = [match["test"] for match in found if match and match["test"] not in named_in(match["file"])]
    assert not gone, f"these tests are not there any more: {gone}"


def test_no_behaviour_is_named_twice_under_one_heading() -> None:
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        names = [match["what"] for line in part.splitlines() if (match := ROW.match(line))]
        assert names
        assert len(names) == len(set(names)), part.splitlines()[0]
