"""Labels, buttons with their keys, chips, cards, hairlines; and the layout that goes on in the next line.

Must not do: know what a key is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QDir, QEvent, QObject, QPoint, QRect, QSize, QStandardPaths, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ui.strings import window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing
from ui.widgets.plaintext import escape_tooltip


def plain_key(event: QKeyEvent) -> int:
    """The key that was pressed; 0 where Shift, Ctrl or the like is held with it."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return event.key() if modifiers == Qt.KeyboardModifier.NoModifier else 0


def accept_own_key(event: QEvent, wants: Callable[[QKeyEvent], bool]) -> bool:
    """Take a key that is this widget's own, although it may be a shortcut of the window too.

    A shortcut of the window goes first, and the widget would never hear of the key, unless it accepts the event that
    asks for it. For use in `event()`.

    Args:
        wants: whether a key is the widget's own.

    Returns:
        Whether it was taken; then `event()` returns True.
    """
    if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and wants(event):
        event.accept()
        return True
    return False


def find_usual_folder() -> str:
    """Where a person's files usually lie: what was downloaded, else home; not where the program was started."""
    kinds = QStandardPaths.StandardLocation
    found = (QStandardPaths.writableLocation(kind) for kind in (kinds.DownloadLocation, kinds.HomeLocation))
    return next((folder for folder in found if folder and QDir(folder).exists()), QDir.homePath())


class KeyButton(QPushButton):
    """A button that shows its key.

    Attributes:
        title: what it does, as it is shown.
    """

    def __init__(
        self,
        theme: Theme,
        title: str,
        key: str,
        run: Callable[[], None],
        kind: str = "plain",
        *,
        is_tight: bool = False,
    ) -> None:
        """Make it.

        Args:
            key: as it is on the keyboard; "" for none.
            kind: plain, primary or danger.
            is_tight: whether it is where there is little room.
        """
        super().__init__()
        self.setProperty("kind", kind)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.title, self._theme, self._key, self._is_tight = "", theme, key, is_tight
        self._words = QLabel()
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        parts = [self._words, make_keycap(key)] if key else [self._words]
        self._box = make_row(*parts, parent=self)
        for part in parts:
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.clicked.connect(lambda: run())
        self.set_title(title)
        self._update_margins()
        theme.changed.connect(self._update_margins)

    def set_title(self, title: str) -> None:
        """Say what it does."""
        self.title = title
        self._words.setText(title)
        self.setAccessibleName(title.removesuffix(" …"))
        self.setAccessibleDescription(window_strings()["key"].format(key=self._key) if self._key else "")
        self.updateGeometry()

    def _update_margins(self) -> None:
        px = self._theme.px
        left = (7 if self._key else 9) if self._is_tight else 12
        right = left if not self._key else 6 if self._is_tight else 8
        self._box.setContentsMargins(px(left), 0, px(right), 0)
        self._box.setSpacing(px(4 if self._is_tight else 8))
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as its words and its key."""
        return QSize(self._box.sizeHint().width() + 2, self._theme.px(sizes().control))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Nothing of it is cut off."""
        return self.sizeHint()


UNBOUND = 16_777_215
"""Qt's word for no limit of a width or height."""


class FlowLayout(QLayout):
    """Lines of widgets, left to right."""

    def __init__(self, parent: QWidget | None = None, gap: int = 8) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self._heights: dict[int, int] = {}  # by width, until something in it changes: Qt asks again and again
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802 - Qt's name
        """Add one; called by `addWidget`."""
        self._items.append(item)
        self._heights.clear()

    def count(self) -> int:
        """How many there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """One of them."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """Take an item out of the layout."""
        self._heights.clear()
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 - Qt's name
        """It takes no more room than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        """Its height follows its width."""
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """The height the lines take."""
        if width not in self._heights:
            self._heights[width] = self._arrange_items(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def invalidate(self) -> None:
        """Something in it has another size."""
        self._heights.clear()
        super().invalidate()

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802 - Qt's name
        """Put the widgets in their places."""
        super().setGeometry(rect)
        self._arrange_items(rect, move=True)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """The widest widget in one line."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for the widest widget."""
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        return size

    def _arrange_items(self, rect: QRect, *, move: bool) -> int:
        x, y, line = rect.x(), rect.y(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            hint = item.sizeHint()
            if x + hint.width() > rect.right() + 1 and line:
                x, y, line = rect.x(), y + line + self._gap, 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), hint))
            x += hint.width() + self._gap
            line = max(line, hint.height())
        return y + line - rect.y()


def add_hidden_children(parent: QWidget, *widgets: QWidget) -> None:
    """Give widgets that are in no layout yet a parent, hidden.

    Trigger: a widget that is shown only sometimes. Why: without a parent it is a window of its own, and one that is
    connected to its maker is never freed. Outcome: it is deleted with its parent.
    """
    for widget in widgets:
        widget.setParent(parent)
        widget.hide()


def clear_layout(layout: QLayout) -> None:
    """Take everything out of a layout and let go of it."""
    while layout.count():
        item = layout.takeAt(0)
        widget = None if item is None else item.widget()
        if widget is not None:
            widget.hide()
            widget.setParent(None)
            # Trigger: without a parent it is Python's. Why: a button cleared by its own click would be freed within it.
            # Outcome: the timer keeps it until the click is over.
            QTimer.singleShot(0, widget.deleteLater)


def remove_chip(theme: Theme, text: str, remove: Callable[[], None]) -> QPushButton:
    """A filter that is set; pressing it takes it away.

    Args:
        text: what it filters by, such as `kind: fact`.
        remove: takes it away.
    """
    strings = window_strings()["filter"]
    button = make_button(text, remove, kind="chip", hint=strings["remove"].format(text=text))
    button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    button.setAccessibleName(strings["remove"].format(text=text))
    follow_icon(theme, button, "x", "muted")
    return button


class MenuChip(QPushButton):
    """A chip that says what is chosen and opens a menu of choices.

    Signals:
        chosen: the value that was chosen.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, title: str, choices: Mapping[str, str], current: str) -> None:
        """Make it.

        Args:
            title: what is chosen, such as `Colour`.
            choices: value to words.
            current: the value that is chosen.
        """
        super().__init__()
        self.setProperty("kind", "chip")
        self.setAutoDefault(False)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        follow_icon(theme, self, "chevron-down", "muted")
        self._title, self._choices, self.current = title, dict(choices), current
        self._menu = QMenu(self)
        self._menu.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # the chip's own only puts its arrow on the right
        self.setMenu(self._menu)
        self.set_choices(choices, current)

    def set_choices(self, choices: Mapping[str, str], current: str) -> None:
        """Offer other choices."""
        self._choices = dict(choices)
        self._menu.clear()
        for value, words in self._choices.items():
            action = self._menu.addAction(words.replace("&", "&&"))
            action.setCheckable(True)
            action.setData(value)
            action.triggered.connect(lambda _checked=False, value=value: self._on_choice(value))
        self.show_choice(current)

    def show_choice(self, value: str) -> None:
        """Show a value as the chosen one, without telling anybody."""
        self.current = value
        words = self._choices.get(value, value)
        self.setText(f"{self._title}: {words}".replace("&", "&&"))
        self.setAccessibleName(f"{self._title}: {words}")
        for action in self._menu.actions():
            action.setChecked(action.data() == value)

    def _on_choice(self, value: str) -> None:
        self.show_choice(value)
        self.chosen.emit(value)


class Segments(QWidget):
    """One of few, all visible.

    Signals:
        chosen: the value that was chosen.
    """

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str]], current: str, name: str, *, wraps: bool = False) -> None:
        """Make it.

        Args:
            choices: value and words, in order.
            current: the value that is chosen.
            name: what is chosen, for those who do not see it.
            wraps: whether they may be in several lines; they are too many for a narrow page.
        """
        super().__init__()
        self.setAccessibleName(name)
        layout: QLayout = FlowLayout(self, gap=6) if wraps else make_row(parent=self, gap=6)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._buttons: dict[str, QPushButton] = {}
        for value, words in choices:
            button = make_button(words, kind="chip")
            button.setCheckable(True)
            button.setChecked(value == current)
            button.clicked.connect(lambda _checked=False, value=value: self.chosen.emit(value))
            self._group.addButton(button)
            layout.addWidget(button)
            self._buttons[value] = button
        if isinstance(layout, QHBoxLayout):
            layout.addStretch(1)

    @property
    def current(self) -> str:
        """The value that is chosen."""
        return next((value for value, made in self._buttons.items() if made.isChecked()), "")

    def show_choice(self, value: str) -> None:
        """Show a value as the chosen one, without telling anybody."""
        self._buttons[value].setChecked(True)

    def explain_choice(self, value: str, hint: str) -> None:
        """Say in a tooltip what a choice means."""
        self._buttons[value].setToolTip(escape_tooltip(hint))

    def name_choice(self, value: str, words: str) -> None:
        """Say a choice in other words, such as with a new count."""
        self._buttons[value].setText(words)

    def words_of(self, value: str) -> str:
        """What a choice says."""
        return self._buttons[value].text()


def make_label(text: str = "", role: str = "body", *, wrap: bool = False) -> QLabel:
    """Plain text in a role of the style sheet; never interpreted.

    Args:
        role: title, hero, section, strong, label, muted, small, quote, danger, warning, success, accent or body.
        wrap: whether it may take several lines.
    """
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text.upper() if role == "label" else text)
    label.setProperty("role", role)
    label.setWordWrap(wrap)
    if wrap:
        label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    if role in {"title", "hero", "section"}:
        label.setAccessibleDescription("heading")
    return label


def make_buddy_label(text: str, field: QWidget) -> QLabel:
    """The name of a field, before it or above it: a screen reader says it with the field."""
    label = make_label(text, "strong")
    label.setBuddy(field)
    return label


class Elided(QLabel):
    """One line of plain text that ends in an ellipsis where there is no room; the tooltip says it all."""

    def __init__(
        self, text: str = "", role: str = "body", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setMinimumWidth(24)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._mode, self._whole, self._hint = mode, "", ""
        self.set_text(text)

    def set_text(self, text: str) -> None:
        """Show another text."""
        self._whole = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self._elide_text()

    def set_hint(self, hint: str) -> None:
        """Say more about the text in the tooltip and to those who hear it.

        Args:
            hint: sentences; "" for nothing more.
        """
        self._hint = hint
        self.setAccessibleDescription(hint)
        self._elide_text()

    @property
    def whole(self) -> str:
        """All of it."""
        return self._whole

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as the whole text."""
        hint = super().sizeHint()
        return QSize(self.fontMetrics().horizontalAdvance(self._whole) + 2, hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Cut anew."""
        super().resizeEvent(event)
        self._elide_text()

    def _elide_text(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, self._mode, max(self.width(), 24))
        if shown != self.text():
            self.setText(shown)
        parts = (self._whole if shown != self._whole else "", self._hint)
        self.setToolTip(escape_tooltip("\n".join(part for part in parts if part)))


def make_button(
    text: str,
    run: Callable[[], None] | None = None,
    *,
    kind: str = "plain",
    hint: str = "",
    theme: Theme | None = None,
    icon: str = "",
) -> QPushButton:
    """A push button.

    Args:
        text: what it does, in the imperative.
        kind: primary, plain, danger, link, ghost or chip.
        theme: for its icon.
        icon: name of an icon.
    """
    # Qt leaves hardly a gap between icon and text, and a style sheet cannot set one: a thin space in front does.
    button = QPushButton(("\u2009" if icon else "") + text.replace("&", "&&"))
    button.setProperty("kind", kind)
    button.setAccessibleName(text)
    button.setToolTip(escape_tooltip(hint))
    button.setAutoDefault(True)  # Return presses the one that has the keyboard, in a dialog and out of it
    button.setDefault(kind == "primary")
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setSizePolicy(
        QSizePolicy.Policy.Fixed if kind == "link" else QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed
    )
    if theme is not None and icon:
        role = {"primary": "on_accent", "danger": "danger", "link": "accent"}.get(kind, "muted")
        follow_icon(theme, button, icon, role)
    if run is not None:
        button.clicked.connect(lambda: run())
    return button


def make_tool_button(
    theme: Theme, icon: str, name: str, run: Callable[[], None] | None = None, *, size: int = 18
) -> QToolButton:
    """A small button of an icon alone; its name is its tooltip and what a screen reader says.

    Args:
        theme: for the icon's colour.
        size: pixels of the icon's side.
    """
    button = QToolButton()
    button.setAccessibleName(name)
    button.setToolTip(name)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setIconSize(QSize(theme.px(size), theme.px(size)))
    follow_icon(theme, button, icon, "muted")
    if run is not None:
        button.clicked.connect(lambda: run())
    return button


def follow_icon(theme: Theme, target: QPushButton | QToolButton, icon: str, role: str) -> None:
    """Give a button an icon that follows the theme.

    Args:
        icon: name of an icon.
        role: the token of its colour.
    """
    _Follower(theme, target, icon, role)


class _Follower(QObject):
    """Paints a button's icon anew when the theme changes; goes with its button."""

    def __init__(self, theme: Theme, target: QPushButton | QToolButton, icon: str, role: str) -> None:
        super().__init__(target)
        self._theme, self._target, self._icon, self._role = theme, target, icon, role
        self._paint_icon()
        theme.changed.connect(self._paint_icon)

    def _paint_icon(self) -> None:
        if isinstance(self._target, QPushButton):  # as large beside large text as beside small
            side = self._theme.px(sizes().icon)
            self._target.setIconSize(QSize(side, side))
        self._target.setIcon(self._theme.icon(self._icon, self._role))


class FieldIcon(QLabel):
    """An icon at the beginning of a field; unlike that of an action of Qt's it is as large as the text wants."""

    def __init__(self, theme: Theme, field: QLineEdit, icon: str) -> None:
        """Put it into a field.

        Args:
            icon: name of an icon.
        """
        super().__init__(field)
        self._theme, self._field, self._icon = theme, field, icon
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        field.installEventFilter(self)
        theme.changed.connect(self._restyle_icon)
        self._restyle_icon()

    def _restyle_icon(self) -> None:
        side = self._theme.px(sizes().icon)
        self.setPixmap(self._theme.emblem(self._icon, side, "muted", self.devicePixelRatioF()))
        self.setFixedSize(side, side)
        self._field.setTextMargins(side + self._theme.px(spacing().s), 0, 0, 0)
        self._place_icon()

    def _place_icon(self) -> None:
        self.move(self._theme.px(_FIELD_INSET), (self._field.height() - self.height()) // 2)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """It stays in the middle of the field's height."""
        if event.type() == QEvent.Type.Resize:
            self._place_icon()
        return super().eventFilter(watched, event)


_FIELD_INSET = 10
"""Pixels at 100 % that a field leaves free at its sides, as the style sheet says."""


def make_keycap(keys: str | QKeySequence) -> QLabel:
    """A key as it is on the keyboard, for hints beside actions."""
    shown = keys if isinstance(keys, str) else keys.toString(QKeySequence.SequenceFormat.NativeText)
    label = QLabel(shown)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setObjectName("keycap")
    label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return label


def make_hairline() -> QFrame:
    """A line between two parts."""
    frame = QFrame()
    frame.setObjectName("hairline")
    frame.setFixedHeight(1)
    return frame


def make_card(name: str = "card", margins: int = 16, gap: int = 8) -> tuple[QFrame, QVBoxLayout]:
    """A surface with round corners, and the column inside it.

    Args:
        name: `card` or `panel`.
        margins: pixels inside its border.
        gap: pixels between its rows.
    """
    frame = QFrame()
    frame.setObjectName(name)
    return frame, make_column(frame, margins=margins, gap=gap)


def wrap_in_card(lines: QWidget) -> QFrame:
    """A card with a list in it."""
    frame = QFrame()
    frame.setObjectName("card")
    make_column(frame, lines).setContentsMargins(1, 6, 1, 8)
    return frame


def make_column(parent: QWidget | None = None, *widgets: QWidget, margins: int = 0, gap: int = 8) -> QVBoxLayout:
    """Widgets below each other."""
    made = QVBoxLayout() if parent is None else QVBoxLayout(parent)
    _fill_layout(made, widgets, margins, gap)
    return made


def make_row(*widgets: QWidget | None, margins: int = 0, gap: int = 8, parent: QWidget | None = None) -> QHBoxLayout:
    """Widgets beside each other; None is a spring."""
    made = QHBoxLayout() if parent is None else QHBoxLayout(parent)
    _fill_layout(made, widgets, margins, gap)
    return made


def _fill_layout(layout: QBoxLayout, widgets: tuple[QWidget | None, ...], margins: int, gap: int) -> None:
    layout.setContentsMargins(margins, margins, margins, margins)
    layout.setSpacing(gap)
    for widget in widgets:
        if widget is None:
            layout.addStretch(1)
        else:
            layout.addWidget(widget)


class ScrolledColumn(QWidget):
    """What is in a scroll area, as high as it is at the width there is."""

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Qt would take the height that wrapped text has in the narrowest column, and leave that much empty."""
        return QSize(super().minimumSizeHint().width(), 0)


class Stack(QStackedWidget):
    """Several widgets of which one is shown, and that one alone says how small it may be.

    Qt asks all of them: a page that was left would widen the window of every other.
    """

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(lambda _: self.updateGeometry())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """That of the widget that is shown."""
        shown = self.currentWidget()
        return super().minimumSizeHint() if shown is None else shown.minimumSizeHint().expandedTo(shown.minimumSize())

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        """Whether the widget that is shown wraps."""
        shown = self.currentWidget()
        return shown is not None and shown.hasHeightForWidth()

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """That of the widget that is shown."""
        shown = self.currentWidget()
        return -1 if shown is None else shown.heightForWidth(width)


def make_scroll_area(inner: QWidget) -> QScrollArea:
    """A widget that scrolls upwards and downwards only."""
    area = QScrollArea()
    area.setWidget(inner)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return area


def make_timer(parent: QObject, run: Callable[[], object], pause_ms: int = 0) -> QTimer:
    """A timer that runs something once, a while after it was last started.

    Args:
        pause_ms: how long after; 0 where each start says it.
    """
    made = QTimer(parent)
    made.setSingleShot(True)
    made.setInterval(pause_ms)
    made.timeout.connect(run)
    return made


def set_style_property(widget: QWidget, name: str, value: object) -> None:
    """Set a property the style sheet asks for, and let it look again."""
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()


def is_submit_key(event: QEvent) -> bool:
    """Whether Ctrl+Enter was pressed, which submits a text of several lines."""
    if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
        return False
    has_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
    return has_control and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}


def place_below(popup: QWidget, theme: Theme, top: int, width: int, height: int) -> None:
    """Give a widget the room below a line of its parent, in the middle and as far as there is any.

    Args:
        top: pixels from the upper edge of the parent.
        width: at 100 %, at most; `height` likewise.
    """
    host = popup.parentWidget()
    if host is not None:
        wide = min(theme.px(width), host.width() - 32)
        high = min(theme.px(height), host.height() - top - 16)
        popup.setGeometry((host.width() - wide) // 2, top, wide, high)
