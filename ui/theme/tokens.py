"""The look as frozen values: `resources/themes/tokens.json`, read, checked and typed.

Must not choose between light and dark, and must not know Qt: a colour is `#RRGGBB`, or `#AARRGGBB` where it is
translucent (shadow and overlay), which `QColor` and style sheets both read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, get_args

from core.types.values import Kind

ThemeName = Literal["light", "dark"]
FontRole = Literal["body", "strong", "small", "caption", "label", "section", "title", "quote", "number", "mono"]
FamilyName = Literal["text", "display", "fixed"]

TRUST_STEPS = 5
TINTS = 8
"""Hues of rooms."""

_SOLID = re.compile(r"#[0-9A-F]{6}")
_TRANSLUCENT = re.compile(r"#[0-9A-F]{8}")
_MAY_BE_TRANSLUCENT = frozenset({"shadow", "overlay"})


@dataclass(frozen=True, slots=True)
class TypeStyle:
    """How one role of text is set.

    Attributes:
        family: Inter, Inter Display, or the system's fixed font.
        size: in px at 100 %.
        weight: 400 to 700.
        line: height of a line in sizes.
        tracking: extra space between letters, in sizes (em).
        capitals: shown in capitals; the text itself stays as it is written.
        tabular: figures of equal width, for columns.
    """

    family: FamilyName
    size: int
    weight: int
    line: float
    tracking: float = 0.0
    capitals: bool = False
    tabular: bool = False


@dataclass(frozen=True, slots=True)
class Spacing:
    """Distances in px on a grid of 4, with half steps between."""

    hair: int
    xs: int
    snug: int
    s: int
    close: int
    m: int
    side: int
    l: int  # noqa: E741  a size of clothes, read as spacing.l
    loose: int
    xl: int
    xxl: int


@dataclass(frozen=True, slots=True)
class Radii:
    """Corner radii in px; `pill` is larger than any half height."""

    card: int
    control: int
    tag: int
    pill: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """Heights of controls and rows, widths of rail, list, inspector and dialogs, icons and lines, in px at 100 %.

    Attributes:
        row_two: a row of two lines.
        list_pad: room at both sides of a line's words.
        page_wide: from this width on a page's list is not narrow; below `page_narrow` it is alone.
        column: running text, which is hard to read in longer lines.
        plot: the drawing of a plot; `plot_large` also the least height of its table.
        tick: the box that is ticked, as the style sheet draws it.
    """

    control: int
    field: int
    chip: int
    row: int
    row_two: int
    rail: int
    list: int
    list_narrow: int
    list_pad: int
    page_wide: int
    page_narrow: int
    column: int
    dialog: int
    dialog_middle: int
    dialog_wide: int
    inspector: int
    top_bar: int
    status_bar: int
    plot_small: int
    plot: int
    plot_large: int
    icon: int
    icon_large: int
    tick: int
    line: int
    focus_ring: int


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of one theme that have a name of their own.

    Attributes:
        background: behind everything; `surface` is a card or panel on it, `raised` a field or menu on that.
        hover: a row or button under the pointer; `pressed` while it is held; `selection` when it is chosen.
        line: hairlines, decoration only. `outline` is the border of a control and can be seen by itself.
        ink: text; `muted` is second text and icons; `faint` is decoration and never text.
        accent_soft: behind accented text, as `danger_soft` and `warning_soft` are behind theirs.
        on_accent: text on a filled button, as `on_danger` and `on_warning` are.
        focus: the ring of the control that has the keyboard.
        shadow: translucent, as `overlay` (over the page, behind a dialog) is.
    """

    background: str
    surface: str
    raised: str
    hover: str
    pressed: str
    selection: str
    line: str
    outline: str
    ink: str
    muted: str
    faint: str
    accent: str
    accent_hover: str
    accent_soft: str
    on_accent: str
    danger: str
    danger_hover: str
    danger_soft: str
    on_danger: str
    warning: str
    warning_soft: str
    on_warning: str
    success: str
    focus: str
    tooltip: str
    on_tooltip: str
    shadow: str
    overlay: str


@dataclass(frozen=True, slots=True)
class Tokens(Colours):
    """One theme: its colours, and the type and measures that both themes share.

    Attributes:
        name: of the theme.
        kinds: the colour of each kind; its shape always is beside it.
        trust: colours of trust from 0 to 1, `TRUST_STEPS` equal steps, ever farther from the background.
        tints: lines and emblems of rooms, by hue; `tint_softs` the ground within.
        type: how each role of text is set, by `FontRole`.
        by_name: every colour under the name that `colours` gives it.
    """

    name: ThemeName
    kinds: Mapping[Kind, str]
    trust: tuple[str, ...]
    tints: tuple[str, ...]
    tint_softs: tuple[str, ...]
    type: Mapping[str, TypeStyle]
    spacing: Spacing
    radii: Radii
    sizes: Sizes
    by_name: Mapping[str, str] = field(repr=False)

    def trust_colour(self, trust: float) -> str:
        """The step of the ramp a trust falls on.

        Args:
            trust: 0 to 1; beyond is taken as the nearer end.

        Returns:
            A colour of `trust`.
        """
        return self.trust[min(max(int(trust * TRUST_STEPS), 0), TRUST_STEPS - 1)]

    def colours(self) -> Mapping[str, str]:
        """Every colour by name, for style sheets and the contrast table.

        Returns:
            The named colours, `kind_fact` and its like, `trust_0` (least) to `trust_4`, `tint_0` and `tint_soft_0` and
            their like.
        """
        return self.by_name

    def colour(self, role: str) -> str:
        """A colour by its name.

        Args:
            role: a name of `colours`.

        Raises:
            KeyError: no such colour.
        """
        return self.by_name[role]


def _read_tokens() -> dict[str, Any]:
    """The token file as it is."""
    data: dict[str, Any] = json.loads((files("resources") / "themes" / "tokens.json").read_text("utf-8"))
    return data


def _check_colour(name: str, value: str) -> None:
    """Raise ValueError with the token's name for what is not a colour."""
    pattern = _TRANSLUCENT if name in _MAY_BE_TRANSLUCENT else _SOLID
    if not pattern.fullmatch(value):
        raise ValueError(f"token {name} is not a colour")


def _parse_type_styles(data: Mapping[str, Any]) -> Mapping[str, TypeStyle]:
    """The type scale; every role and no other."""
    roles: tuple[FontRole, ...] = get_args(FontRole)
    if set(data) != set(roles):
        raise ValueError(f"the type scale must hold {sorted(roles)}")
    return MappingProxyType({role: TypeStyle(**data[role]) for role in roles})


def _parse_theme(name: ThemeName, data: Mapping[str, Any]) -> Tokens:
    """One theme out of the whole file."""
    colours = dict(data["themes"][name])
    kinds = {Kind(kind): colour for kind, colour in colours.pop("kinds").items()}
    trust, tints, softs = (tuple(colours.pop(scale)) for scale in ("trust", "tints", "tint_softs"))
    if set(kinds) != set(Kind) or len(trust) != TRUST_STEPS:
        raise ValueError(f"theme {name} needs a colour for every kind and {TRUST_STEPS} for trust")
    if len(tints) != TINTS or len(softs) != TINTS:
        raise ValueError(f"theme {name} needs {TINTS} tints, each with a soft one")
    by_name = colours | {f"kind_{kind}": colour for kind, colour in kinds.items()}
    for scale, found in (("trust", trust), ("tint", tints), ("tint_soft", softs)):
        by_name |= {f"{scale}_{step}": colour for step, colour in enumerate(found)}
    for role, colour in by_name.items():
        _check_colour(role, colour)
    return Tokens(
        **colours,
        name=name,
        kinds=MappingProxyType(kinds),
        trust=trust,
        tints=tints,
        tint_softs=softs,
        type=_parse_type_styles(data["type"]),
        spacing=Spacing(**data["spacing"]),
        radii=Radii(**data["radii"]),
        sizes=Sizes(**data["sizes"]),
        by_name=MappingProxyType(by_name),
    )


@cache
def load_tokens() -> Mapping[str, Tokens]:
    """Both themes, read once.

    Returns:
        `light` and `dark`.

    Raises:
        ValueError: a colour is malformed, or the file is incomplete.
        TypeError: a token is missing or unknown.
    """
    data = _read_tokens()
    names: tuple[ThemeName, ...] = get_args(ThemeName)
    return MappingProxyType({name: _parse_theme(name, data) for name in names})


def spacing() -> Spacing:
    """Distances; both themes share them."""
    return load_tokens()["light"].spacing


def radii() -> Radii:
    """Corner radii; both themes share them."""
    return load_tokens()["light"].radii


def sizes() -> Sizes:
    """Sizes of controls, panes, icons and lines; both themes share them."""
    return load_tokens()["light"].sizes
