"""The icons: each one draws, in the colour asked for, at every ratio; and none is named that is not there."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files

import pytest
from arch_tree import parsed, python_files
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import QApplication

from ui.theme import theme as module
from ui.theme.theme import RATIOS, SIZES, Icons
from ui.theme.tokens import Tokens, load_tokens

ICONS = files("resources") / "icons"
NAMES = frozenset(file.name[:-4] for file in ICONS.iterdir() if file.name.endswith(".svg"))
LINES = re.compile(r"- `([\w-]+\.svg)` ([0-9a-f]{64})")
# What pages are known to need; more may lie there.
WANTED = """
    landmark waypoints share-2 library list history notebook settings-2 search lock lock-open pin pin-off pencil trash-2
    move undo-2 redo-2 plus x check chevron-left chevron-right chevron-up chevron-down ellipsis info triangle-alert
    circle-alert circle-check file folder folder-search upload download import eye eye-off key-round shield-check copy
    external-link link message-square clock calendar tag layers filter arrow-up-down columns-3 zoom-in zoom-out
    maximize move-right moon sun monitor keyboard circle-help user users bot database hard-drive sparkles git-merge
    palette command scan-search timer power square circle triangle diamond hexagon scale arrow-left-right activity
    telescope sliders-horizontal house
"""


class Switch:
    """A provider of tokens with a theme to change."""

    def __init__(self) -> None:
        self.name = "light"

    def __call__(self) -> Tokens:
        return load_tokens()[self.name]


@pytest.fixture
def switch(qapp: QApplication) -> Switch:
    return Switch()


@pytest.fixture
def icons(switch: Switch) -> Icons:
    return Icons(switch, lambda: 2.0)


def colours(pixmap: QPixmap) -> set[str]:
    """The colours of the pixels that are fully covered."""
    image = pixmap.toImage()
    places = [(x, y) for x in range(image.width()) for y in range(image.height())]
    found = [image.pixelColor(x, y) for x, y in places]
    return {colour.name().upper() for colour in found if colour.alpha() == 255}


def covered(pixmap: QPixmap) -> int:
    """How many pixels are drawn on."""
    image = pixmap.toImage()
    return sum(image.pixelColor(x, y).alpha() > 0 for x in range(image.width()) for y in range(image.height()))


def literals(node: ast.expr) -> list[str]:
    """The strings an argument can be: itself, or the branches of a conditional."""
    if isinstance(node, ast.IfExp):
        return literals(node.body) + literals(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def parameters(node: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """What can be called in a module, with the names of its positional parameters (fields of a dataclass are)."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef):
            yield inner.name, [argument.arg for argument in inner.args.args if argument.arg != "self"]
        elif isinstance(inner, ast.ClassDef):
            makers = [child for child in inner.body if isinstance(child, ast.FunctionDef) and child.name == "__init__"]
            rows = [child.target.id for child in inner.body
                    if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name)]  # fmt: skip
            yield inner.name, [argument.arg for argument in makers[0].args.args[1:]] if makers else rows


def places(trees: Iterable[ast.AST]) -> dict[str, int]:
    """Which argument of what is the name of an icon."""
    known: dict[str, set[int | None]] = {}
    for tree in trees:
        for name, names in parameters(tree):
            known.setdefault(name, set()).add(names.index("icon") if "icon" in names else None)
    # A name that several things bear with other parameters tells nothing: `say` of one class takes no icon.
    sure = {name: next(iter(at)) for name, at in known.items() if len(at) == 1}
    return {"icon": 0, "pixmap": 0} | {name: at for name, at in sure.items() if at is not None}


def named(tree: ast.AST, where: Mapping[str, int]) -> set[str]:
    """Names of icons in `icon("...")`, and wherever else a parameter called `icon` is given a string."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        asked = node.args[where[called] : where[called] + 1] if called in where else []
        asked = [*asked, *(keyword.value for keyword in node.keywords if keyword.arg == "icon")]
        found.update(name for argument in asked for name in literals(argument) if name)
    return found


@pytest.mark.slow
def test_every_icon_the_window_names_is_there() -> None:
    trees = {path.name: parsed(path) for path in python_files("ui")}
    where = places(trees.values())
    missing = {name: lost for name, tree in trees.items() if (lost := named(tree, where) - NAMES)}
    assert not missing


def test_the_search_for_names_finds_them() -> None:
    made = """
def tool(theme, icon, name): ...
class Empty:
    def __init__(self, theme, icon): ...
class Page:
    title: str
    icon: str
a.icon("x"); icons.pixmap("plus" if b else "minus", 16, c); button(icon="lost"); f("y"); a.icon(n); button(icon="")
tool(t, "pin", "Pin"); Empty(t, "star"); Page("Palace", "landmark")
"""
    tree = ast.parse(made)
    assert named(tree, places([tree])) == {"x", "plus", "minus", "lost", "pin", "star", "landmark"}


def test_what_pages_need_is_there() -> None:
    assert set(WANTED.split()) <= NAMES


def test_provenance_names_every_icon() -> None:
    told = dict(LINES.findall((ICONS / "PROVENANCE.md").read_text("utf-8")))
    lying = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in ICONS.iterdir() if f.name.endswith(".svg")}
    assert told == lying
    licence = (ICONS / "LICENSE").read_text("utf-8")
    assert "ISC License" in licence
    assert "The MIT License" in licence


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_icon_draws(icons: Icons, name: str) -> None:
    assert covered(icons.pixmap(name, 24, "#0E6F68")) > 20


@pytest.mark.parametrize("colour", ["#0E6F68", "#F2857B", "#000000"])
def test_it_has_the_colour_asked_for(icons: Icons, colour: str) -> None:
    assert colours(icons.pixmap("square", 24, colour, 2.0)) == {colour}


@pytest.mark.parametrize(("dpr", "side"), [(1.0, 20), (1.5, 30), (2.0, 40)])
def test_a_picture_for_a_finer_screen(icons: Icons, dpr: float, side: int) -> None:
    pixmap = icons.pixmap("pin", 20, "#000000", dpr)
    assert (pixmap.width(), pixmap.devicePixelRatio()) == (side, dpr)
    assert pixmap.deviceIndependentSize().toSize() == QSize(20, 20)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ratio", RATIOS)
def test_an_icon_is_sharp_at_its_sizes(icons: Icons, size: int, ratio: int) -> None:
    shown = icons.icon("square", "accent").pixmap(QSize(size, size), float(ratio))
    assert shown.width() == size * ratio
    assert shown.toImage() == icons.pixmap("square", size, load_tokens()["light"].accent, ratio).toImage()


def test_no_pictures_are_drawn_for_finer_screens_than_there_are(switch: Switch) -> None:
    ratio = 1.0
    made = Icons(switch, lambda: ratio)
    assert made.icon("square").pixmap(QSize(24, 24), 2.0).width() == 24
    ratio = 1.5
    assert made.icon("square").pixmap(QSize(24, 24), 2.0).width() == 48, "a finer screen was plugged in"


def test_a_role_gives_its_colour_and_a_disabled_control_the_faint_one(icons: Icons) -> None:
    tokens = load_tokens()["light"]
    size = QSize(24, 24)
    assert colours(icons.icon("square").pixmap(size, 2.0)) == {tokens.muted}
    assert colours(icons.icon("square", "kind_rule").pixmap(size, 2.0)) == {tokens.kinds["rule"]}  # type: ignore[index]
    assert colours(icons.icon("square").pixmap(size, 2.0, QIcon.Mode.Disabled)) == {tokens.faint}


def test_it_follows_the_theme_and_keeps_what_it_drew(icons: Icons, switch: Switch) -> None:
    light = icons.icon("lock", "ink")
    assert icons.icon("lock", "ink").cacheKey() == light.cacheKey()
    switch.name = "dark"
    dark = icons.icon("lock", "ink")
    assert dark.cacheKey() != light.cacheKey()
    switch.name = "light"
    assert icons.icon("lock", "ink").cacheKey() == light.cacheKey()


def test_it_does_not_keep_without_end(icons: Icons, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PIXMAPS", 3)
    first = icons.pixmap("x", 16, "#000000").cacheKey()
    assert icons.pixmap("x", 16, "#000000").cacheKey() == first
    for size in range(17, 20):
        icons.pixmap("x", size, "#000000")
    assert icons.pixmap("x", 16, "#000000").cacheKey() != first


@pytest.mark.parametrize("name", ["unicorn", "", "../icons/x", "x.svg", "LICENSE"])
def test_a_missing_icon_is_named(icons: Icons, name: str) -> None:
    with pytest.raises(KeyError, match=re.escape(repr(name))):
        icons.icon(name)
    with pytest.raises(KeyError, match=re.escape(repr(name))):
        icons.pixmap(name, 16, "#000000")


def test_an_unknown_role_is_named(icons: Icons) -> None:
    with pytest.raises(KeyError, match="purple"):
        icons.icon("x", "purple")


@pytest.mark.parametrize(("size", "colour", "dpr"), [(0, "#000000", 1.0), (16, "nothing", 1.0), (16, "#000000", 0.0)])
def test_what_cannot_be_drawn_is_refused(icons: Icons, size: int, colour: str, dpr: float) -> None:
    with pytest.raises(ValueError, match="positive size and a colour"):
        icons.pixmap("x", size, colour, dpr)


def test_pixels_are_clear_round_the_icon(icons: Icons) -> None:
    assert icons.pixmap("circle", 24, "#000000").toImage().pixelColor(0, 0) == QColor(0, 0, 0, 0)
