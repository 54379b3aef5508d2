"""The look of the whole window: light or dark, text size, fonts, icons; applied to the application at once.

Must not do: know a widget.
"""

from __future__ import annotations

from dataclasses import fields
from importlib.resources import files
from string import Template
from typing import Final, Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from ui.theme import fonts
from ui.theme.icons import Icons
from ui.theme.tokens import Colours, FontRole, Tokens, load_tokens

LIGHT: Final = "light"
DARK: Final = "dark"
SYSTEM: Final = "system"


class SystemLook(QObject):
    """What the system wants: tests emit it, the application listens to Qt.

    Signals:
        changed: the wish is another one.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hints = QGuiApplication.styleHints()
        self._hints.colorSchemeChanged.connect(self._changed)

    def _changed(self) -> None:
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
        self._families = fonts.load_fonts()
        self.mode, self.scale, self.reduced_motion = SYSTEM, 100, False
        self.tokens: Tokens = self._all[self.wanted]
        self._icons = Icons(lambda: self.tokens)
        self._system.changed.connect(self._system_changed)
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

    def use(self, mode: str, scale: int, *, reduced_motion: bool = False) -> None:
        """Put a theme in force.

        Args:
            mode: `light`, `dark` or `system`.
            scale: text size in percent.
            reduced_motion: whether nothing may move by itself.
        """
        self.mode, self.scale, self.reduced_motion = mode, scale, reduced_motion
        self.tokens = self._all[self.wanted]
        self._apply()

    def _system_changed(self) -> None:
        if self.mode == SYSTEM and self.tokens is not self._all[self.wanted]:
            self.tokens = self._all[self.wanted]
            self._apply()

    def _apply(self) -> None:
        self._application.setFont(self.font("body"))
        self._application.setPalette(self._palette())
        self._application.setStyleSheet(self.style_sheet())
        self.changed.emit()

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
        """The font of a role of text."""
        return fonts.font(role, self.scale)

    def colour(self, name: str) -> QColor:
        """A colour by its token's name, such as `ink`, `kind.fact`, `trust.0`.

        Raises:
            KeyError: there is no such token.
        """
        return QColor(self.tokens.colour(name))

    def icon(self, name: str, role: str = "muted") -> QIcon:
        """An icon in a token's colour."""
        return self._icons.icon(name, role)

    def _palette(self) -> QPalette:
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
            QPalette.ColorRole.ToolTipBase: "ink",
            QPalette.ColorRole.ToolTipText: "background",
            QPalette.ColorRole.Mid: "line",
        }
        for role, name in roles.items():
            palette.setColor(role, self.colour(name))
        for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.colour("muted"))
        return palette
