"""Measures of the window are tokens of the theme: the count of pixel constants beside them only falls."""

from __future__ import annotations

import ast
import re
from dataclasses import asdict
from pathlib import Path

from arch_tree import ROOT, name_of, parsed, python_files, walk

from ui.theme.tokens import spacing

NAMED = re.compile(
    r"(^|_)(PAD|GAP|MARGIN|EDGE|ICON|ROUND|RADIUS|WIDTH|HEIGHT|WIDE|HIGH|NARROW|LOW|ROW|BAR|LINE|LIST|TOP|FOOT|SIDE|"
    r"BESIDE|UPRIGHT|SHAPE|DOT|TICK|PX)($|_)"
)
MOST_CONSTANTS = 137
"""Module-level pixel constants of ui. Lower it when one becomes a token or goes."""
MOST_OFF_SCALE = 3
"""Gaps and margins handed to a layout that are no step of the theme's scale."""


def _pairs(node: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.AnnAssign):
        return [] if node.value is None else [(node.target, node.value)]
    if not isinstance(node, ast.Assign):
        return []
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in {int, float}


def _in_px(tree: ast.AST) -> set[str]:
    """The names that are handed to `px`, alone or within a sum."""
    return {
        name.id
        for call in walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) == "px"
        for argument in call.args
        for name in walk(argument)
        if isinstance(name, ast.Name)
    }


def pixel_constants(path: Path) -> list[str]:
    """The module-level numbers of a file that are pixels by their name or their use."""
    tree = parsed(path)
    assert isinstance(tree, ast.Module)
    scaled = _in_px(tree)
    return [
        f"{name_of(path)}:{target.id}"
        for node in tree.body
        for target, value in _pairs(node)
        if isinstance(target, ast.Name)
        and _is_number(value)
        and not target.id.endswith("_MS")
        and (target.id in scaled or NAMED.search(target.id))
    ]


def off_scale(path: Path) -> list[str]:
    """The gaps and margins of a file's layouts, written as numbers, that are no step of the scale."""
    steps = {0, 1, *asdict(spacing()).values()}
    return [
        f"{name_of(path)}:{call.lineno}: {keyword.arg}={ast.unparse(keyword.value)}"
        for call in walk(parsed(path))
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg in {"gap", "margins"}
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value not in steps
    ]


def test_pixel_constants_only_fall() -> None:
    found = [one for path in python_files("ui") for one in pixel_constants(path)]
    assert len(found) <= MOST_CONSTANTS, f"use `spacing()`, `sizes()` or `radii()` of ui.theme.tokens: {found}"


def test_gaps_are_steps_of_the_scale() -> None:
    found = [one for path in python_files("ui") for one in off_scale(path)]
    assert len(found) <= MOST_OFF_SCALE, f"use a step of `spacing` in resources/themes/tokens.json: {found}"


def test_the_count_sees_a_pixel_constant() -> None:
    assert any(one.endswith(":_SCORE") for one in pixel_constants(ROOT / "ui" / "pages" / "recall" / "answers.py"))
