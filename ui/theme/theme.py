"""The look of the whole window: light or dark, text size, fonts, icons; applied to the application at once.

Must not be used before a QGuiApplication exists. Must not do: know a widget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib.resources import files
from string import Template
from typing import Final, Literal

from PySide6.QtCore import QByteArray, QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QPainter, QPalette, QPixmap, QShowEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget

from ui.theme.tokens import Colours, FontRole, Tokens, load_tokens

SIZES = (16, 20, 24)
"""Sizes an icon is drawn in, in px; Qt takes the nearest."""
RATIOS = (1, 2)
"""Device pixels per px it is drawn for."""
MAX_PIXMAPS = 1024
"""Pixmaps kept; beyond, all are dropped and drawn anew as they are asked for."""


class Icons:
    """Draws icons once per colour and keeps them.

    Args:
        tokens: gives the tokens of the current theme. After a change of theme, ask for the icons again.
        finest: gives the device pixels per px of the finest screen there is.
    """

    def __init__(self, tokens: Callable[[], Tokens], finest: Callable[[], float]) -> None:
        self._tokens, self._finest = tokens, finest
        self._outlines: dict[str, bytes] = {}
        self._icons: dict[tuple[str, str, str, int], QIcon] = {}
        self._pixmaps: dict[tuple[str, int, str, float], QPixmap] = {}

    def icon(self, name: str, role: str = "muted") -> QIcon:
        """An icon in a colour of the theme; `faint` while its control is disabled.

        Args:
            name: of a file in `resources/icons`, without its ending.
            role: as in `Tokens.colour`.

        Returns:
            The icon; the same one for the same name and colours.

        Raises:
            KeyError: no such icon, or no such colour.
        """
        tokens = self._tokens()
        colour = tokens.colour(role)
        # Nobody plugs in a finer screen as a rule; who does gets finer icons from the next one that is asked for.
        finest = max(1, math.ceil(self._finest()))
        key = (name, colour, tokens.faint, finest)
        if key not in self._icons:
            made = QIcon()
            for mode, tint in ((QIcon.Mode.Normal, colour), (QIcon.Mode.Disabled, tokens.faint)):
                for size in SIZES:
                    for ratio in (ratio for ratio in RATIOS if ratio <= finest):
                        made.addPixmap(self.pixmap(name, size, tint, ratio), mode)
            self._icons[key] = made
        return self._icons[key]

    def pixmap(self, name: str, size: int, colour: str, dpr: float = 1.0) -> QPixmap:
        """An icon as a picture, for painters.

        Args:
            name: of a file in `resources/icons` or its folder `emblems`, without its ending.
            size: width and height in px, before the device's ratio.
            colour: `#RRGGBB`, from the tokens.
            dpr: device pixels per px.

        Returns:
            A picture with a clear background; do not paint on it, it is kept for the next caller.

        Raises:
            KeyError: no such icon.
            ValueError: the colour is none, or the size or ratio is not positive.
        """
        key = (name, size, colour, dpr)
        if key not in self._pixmaps:
            if len(self._pixmaps) >= MAX_PIXMAPS:
                self._pixmaps.clear()
            self._pixmaps[key] = self._render_pixmap(name, size, colour, dpr)
        return self._pixmaps[key]

    def _render_pixmap(self, name: str, size: int, colour: str, dpr: float) -> QPixmap:
        """One picture, not kept."""
        if size <= 0 or dpr <= 0 or not QColor.isValidColorName(colour):
            raise ValueError("an icon needs a positive size and a colour")
        # QtSvg draws currentColor in black.
        tinted = self._read_outline(name).replace(b"currentColor", colour.encode("ascii"))
        side = round(size * dpr)
        pixmap = QPixmap(QSize(side, side))
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        try:
            QSvgRenderer(QByteArray(tinted)).render(painter, QRectF(0, 0, side, side))
        finally:
            painter.end()
        pixmap.setDevicePixelRatio(dpr)
        return pixmap

    def _read_outline(self, name: str) -> bytes:
        """The icon's file, read once."""
        if name not in self._outlines:
            folder = files("resources") / "icons"
            found = [file for file in (folder / f"{name}.svg", folder / "emblems" / f"{name}.svg") if file.is_file()]
            if "/" in name or "\\" in name or not found:
                raise KeyError(name)
            self._outlines[name] = found[0].read_bytes()
        return self._outlines[name]


def find_finest_ratio() -> float:
    """Device pixels per px of the finest screen."""
    return max((screen.devicePixelRatio() for screen in QGuiApplication.screens()), default=1.0)


TEXT_FAMILY = "Inter"
DISPLAY_FAMILY = "Inter Display"
MIN_SCALE = 100
MAX_SCALE = 200
"""Text scale in per cent."""

_REGISTERED = "lociFontsRegistered"


@dataclass(frozen=True, slots=True)
class Families:
    """The names of the registered families.

    Attributes:
        text: for nearly everything.
        display: for titles and quoted memories.
    """

    text: str
    display: str


def load_fonts() -> Families:
    """Register the vendored faces with the application; a second call finds them there.

    Whole static faces only: two subsets of one weight replace each other in Qt, and of a variable font Qt takes the
    weight from nobody's wish but the axis'.

    Returns:
        The names of the families.

    Raises:
        RuntimeError: there is no application yet, or Qt refused a face.
    """
    app = QGuiApplication.instance()
    if app is None:
        raise RuntimeError("fonts need a QGuiApplication")
    # The mark lives and dies with the application, as the registered fonts do.
    if not app.property(_REGISTERED):
        found: set[str] = set()
        faces = sorted(file.name for file in (files("resources") / "fonts").iterdir() if file.name.endswith(".ttf"))
        for face in faces:
            data = QByteArray((files("resources") / "fonts" / face).read_bytes())
            number = QFontDatabase.addApplicationFontFromData(data)
            if number < 0:
                raise RuntimeError(f"Qt refused the font {face}")
            found.update(QFontDatabase.applicationFontFamilies(number))
        if not found >= {TEXT_FAMILY, DISPLAY_FAMILY}:
            raise RuntimeError("the vendored fonts do not hold both families")
        app.setProperty(_REGISTERED, TEXT_FAMILY)
    return Families(TEXT_FAMILY, DISPLAY_FAMILY)


def make_font(role: str, scale: int = MIN_SCALE) -> QFont:
    """The font of a role of text, from the type scale of the tokens.

    Args:
        role: a `FontRole`. `number` has tabular figures; `mono` is the system's fixed font, for ids and paths.
        scale: text scale, 100 to 200 %.

    Returns:
        A new font, the caller's own.

    Raises:
        KeyError: no such role.
        ValueError: the scale is out of range.
    """
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise ValueError(f"the text scale must be {MIN_SCALE} to {MAX_SCALE} %")
    style = load_tokens()["light"].type[role]
    if style.family == "fixed":
        made = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    else:
        made = QFont(DISPLAY_FAMILY if style.family == "display" else TEXT_FAMILY)
    made.setPixelSize(scale_length(style.size, scale))
    made.setWeight(QFont.Weight(style.weight))
    if style.tracking:
        # Not percentages: Qt takes those of each letter's own width.
        made.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, style.tracking * made.pixelSize())
    if style.capitals:
        made.setCapitalization(QFont.Capitalization.AllUppercase)
    return make_tabular(made) if style.tabular else made


def make_tabular(plain: QFont) -> QFont:
    """A font with figures of equal width, for columns of numbers.

    Args:
        plain: any font of this module.

    Returns:
        A new font; the given one is left alone.
    """
    font = QFont(plain)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def scale_length(size: int, scale: int) -> int:
    """A length in px at a text scale.

    Args:
        size: px at 100 %.
        scale: in per cent.

    Returns:
        Whole px, half rounded up.
    """
    return (size * scale + 50) // 100


LIGHT: Final = "light"
DARK: Final = "dark"
SYSTEM: Final = "system"
_ANY_ROOM = "landmark"


class SystemLook(QObject):
    """What the system wants: tests emit it, the application listens to Qt.

    Signals:
        changed: the wish is another one.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hints = QGuiApplication.styleHints()
        self._hints.colorSchemeChanged.connect(self._on_scheme_changed)

    def _on_scheme_changed(self) -> None:
        self.changed.emit()

    @property
    def is_dark(self) -> bool:
        """Whether the system asks for a dark theme; light where it does not say."""
        return bool(self._hints.colorScheme() == Qt.ColorScheme.Dark)


class Theme(QObject):
    """The theme in force.

    Attributes:
        tokens: its colours, sizes and spacing.
        scale: text size in percent, 100 to 200.
        reduced_motion: whether nothing may move by itself.

    Signals:
        changed: it looks different now; what paints by itself paints anew.
    """

    changed = Signal()

    def __init__(self, application: QApplication, system: SystemLook | None = None) -> None:
        super().__init__(application)
        self._application = application
        self._system = system or SystemLook(self)
        self._all = load_tokens()
        self._families = load_fonts()
        self.mode, self.scale, self.reduced_motion = SYSTEM, 100, False
        self._styled_scale = 0
        self._fonts: dict[tuple[FontRole, int], QFont] = {}
        self.tokens: Tokens = self._all[self.wanted]
        self._icons = Icons(lambda: self.tokens, find_finest_ratio)
        self._system.changed.connect(self._on_system_theme_changed)
        style = QStyleFactory.create("Fusion")
        if style is not None:
            application.setStyle(style)
        self._template = Template((files("resources") / "themes" / "window.qss").read_text(encoding="utf-8"))

    @property
    def wanted(self) -> Literal["light", "dark"]:
        """`light` or `dark`."""
        if self.mode == SYSTEM:
            return DARK if self._system.is_dark else LIGHT
        return DARK if self.mode == DARK else LIGHT

    @property
    def is_dark(self) -> bool:
        """Whether the dark theme is in force."""
        return self.tokens.name == DARK

    def apply_theme(self, mode: str, scale: int, *, reduced_motion: bool = False) -> None:
        """Put a theme in force.

        Args:
            mode: `light`, `dark` or `system`.
            scale: text size in percent.
            reduced_motion: whether nothing may move by itself.
        """
        self.mode, self.scale, self.reduced_motion = mode, scale, reduced_motion
        self.tokens = self._all[self.wanted]
        self._apply_to_application()

    def _on_system_theme_changed(self) -> None:
        if self.mode == SYSTEM and self.tokens is not self._all[self.wanted]:
            self.tokens = self._all[self.wanted]
            self._apply_to_application()

    def _apply_to_application(self) -> None:
        sheet = self.style_sheet()
        self._application.setFont(self.font("body"))
        self._application.setPalette(self._make_palette())
        if sheet != self._application.styleSheet():
            # Measured with every page made, 2,500 widgets: one sheet replaced by another restyles each widget with all
            # that it inherits, for 6 seconds; without a sheet in between it takes half a one, and a twentieth where
            # only what is seen is restyled.
            with self._leave_unstyled(self._hidden_widgets() if self.scale == self._styled_scale else []):
                self._application.setStyleSheet("")
                self._application.setStyleSheet(sheet)
        self._styled_scale = self.scale
        self.changed.emit()

    def _hidden_widgets(self) -> list[QWidget]:
        """What nobody sees now: pages that were left, parts that are folded away, dialogs that were closed."""
        own = Qt.WidgetAttribute.WA_SetStyle
        return [one for one in self._application.allWidgets() if not one.isVisible() and not one.testAttribute(own)]

    @contextmanager
    def _leave_unstyled(self, widgets: Sequence[QWidget]) -> Iterator[None]:
        """Keep a sheet of other colours from widgets until they are shown."""
        for widget in widgets:
            widget.setAttribute(Qt.WidgetAttribute.WA_WState_Polished, on=False)
            widget.setAttribute(Qt.WidgetAttribute.WA_SetStyle, on=True)
        yield
        for widget in widgets:
            widget.setAttribute(Qt.WidgetAttribute.WA_SetStyle, on=False)
        if widgets:
            self._application.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Style what is shown and was not seen when the colours changed."""
        if (
            isinstance(event, QShowEvent)
            and isinstance(watched, QWidget)
            and not watched.testAttribute(Qt.WidgetAttribute.WA_WState_Polished)
        ):
            self._application.sendEvent(watched, QEvent(QEvent.Type.Polish))
        return False

    def style_sheet(self) -> str:
        """The style sheet of the theme in force."""
        values = {field.name: str(getattr(self.tokens, field.name)) for field in fields(Colours)}
        values |= {f"px{size}": f"{self.px(size)}px" for size in range(1, 81)}
        for name in ("tick", "chevron"):  # a style sheet takes a picture from a file only, and does not colour it
            values[name] = f"{files('resources') / 'themes'}/{name}-{self.tokens.name}.svg".replace("\\", "/")
        values["text"] = self._families.text
        values["display"] = self._families.display
        return self._template.substitute(values)

    def px(self, size: float) -> int:
        """A length that grows with the text.

        Args:
            size: pixels at 100 %.

        Returns:
            Pixels at the text size in force.
        """
        return round(size * self.scale / 100)

    def font(self, role: FontRole) -> QFont:
        """The font of a role of text; the caller's own."""
        key = (role, self.scale)
        if key not in self._fonts:
            self._fonts[key] = make_font(role, self.scale)
        return QFont(self._fonts[key])

    def colour(self, name: str) -> QColor:
        """A colour by its token's name, such as `ink`, `kind.fact`, `trust.0`.

        Raises:
            KeyError: there is no such token.
        """
        return QColor(self.tokens.colour(name))

    def icon(self, name: str, role: str = "muted") -> QIcon:
        """An icon in a token's colour."""
        return self._icons.icon(name, role)

    def emblem(self, name: str, size: int, role: str, ratio: float = 1.0) -> QPixmap:
        """An icon as a picture of any size, for painters; the emblem of any room where there is none of that name.

        Args:
            name: of an icon; a vault may name one of another version.
            size: px, whole.
            role: a colour's name.
            ratio: device pixels per px.
        """
        colour = self.tokens.colour(role)
        try:
            return self._icons.pixmap(name, size, colour, ratio)
        except KeyError:
            return self._icons.pixmap(_ANY_ROOM, size, colour, ratio)

    def _make_palette(self) -> QPalette:
        palette = QPalette()
        roles = {
            QPalette.ColorRole.Window: "background",
            QPalette.ColorRole.Base: "surface",
            QPalette.ColorRole.AlternateBase: "raised",
            QPalette.ColorRole.Button: "surface",
            QPalette.ColorRole.WindowText: "ink",
            QPalette.ColorRole.Text: "ink",
            QPalette.ColorRole.ButtonText: "ink",
            QPalette.ColorRole.PlaceholderText: "muted",
            QPalette.ColorRole.Highlight: "accent",
            QPalette.ColorRole.HighlightedText: "on_accent",
            QPalette.ColorRole.Link: "accent",
            QPalette.ColorRole.ToolTipBase: "surface",
            QPalette.ColorRole.ToolTipText: "ink",
            QPalette.ColorRole.Mid: "line",
        }
        for role, name in roles.items():
            palette.setColor(role, self.colour(name))
        for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.colour("muted"))
        return palette
