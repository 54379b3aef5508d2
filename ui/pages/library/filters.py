"""The search of the library as terms: chips, menus, order and columns; and what is there when nothing is listed.

The text of the line is the one truth: chips and menus write into it. Must not do: look anything up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QPushButton, QVBoxLayout, QWidget

from core.types.values import Kind, Source, Status
from core.types.views import Facets
from ui.context import Context
from ui.pages.library.model import COLUMNS, TEXT, describe_sort
from ui.pages.library.table import LibraryTable
from ui.strings import command_strings, library_strings, window_strings
from ui.theme.theme import Theme
from ui.widgets.basics import (
    FlowLayout,
    MenuChip,
    follow_icon,
    make_button,
    make_row,
    make_timer,
    make_tool_button,
    remove_chip,
    set_style_property,
)
from ui.widgets.labels import KIND_PLURALS, SOURCE_WORDS, STATUS_WORDS, name_space, to_local
from ui.widgets.plaintext import escape_tooltip, one_line
from ui.widgets.states import EmptyState

_NATURAL = ("occurred", "recorded", "trust", "importance", "strength", "accessed", "text", "kind", "status", "space")
_RISING = frozenset({"text", "kind", "status", "space"})


class LibraryListControls(QWidget):
    """A chip for the order, a button for the columns."""

    def __init__(self, theme: Theme, table: LibraryTable) -> None:
        super().__init__()
        strings = library_strings()["columns_menu"]
        self._columns, self._header = table.columns, table.horizontalHeader()
        self.order = MenuChip(theme, library_strings()["order"]["title"], {}, "")
        for menu in self.order.findChildren(QMenu):  # the chip is turned round to have its arrow at the right
            menu.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._menu = QMenu(self)
        self._menu.setAccessibleName(strings["title"])
        self._menu.aboutToShow.connect(self.fill_menu)
        self.button = make_tool_button(theme, "columns-3", strings["title"])
        self.button.setMenu(self._menu)
        self.button.setPopupMode(self.button.ToolButtonPopupMode.InstantPopup)
        make_row(self.order, self.button, parent=self)
        self._is_narrow = True
        # Later: the menu's own line may be telling that it was chosen, and offering others deletes it.
        self._later = make_timer(self, self._show_order)
        self._columns.sorted.connect(self._later.start)
        self._header.customContextMenuRequested.connect(self._open_header_menu)
        self.order.chosen.connect(self._on_order_chosen)
        self._show_order()

    @property
    def menu(self) -> QMenu:
        """The menu of columns."""
        return self._menu

    def _on_order_chosen(self, value: str) -> None:
        self._columns.set_order(value[:-1], falls=value.endswith("-"))

    def _show_order(self) -> None:
        orders = [(sort, sort not in _RISING) for sort in _NATURAL]
        current = (self._columns.sort, self._columns.falls)
        if current not in orders:
            orders.insert(0, current)
        choices = {_format_sort(sort, falls): describe_sort(sort, falls=falls) for sort, falls in orders}
        self.order.set_choices(choices, _format_sort(*current))
        self._describe_order_button()

    def make_narrow(self, *, is_narrow: bool) -> None:
        """Say less where there is little room; what is not said is in the menu and the tooltip."""
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            self.order.show_choice(self.order.current)
            self._describe_order_button()

    def _describe_order_button(self) -> None:
        self.order.setToolTip("" if not self._is_narrow else self.order.accessibleName())
        if self._is_narrow:
            self.order.setText(library_strings()["order"]["title"])

    def _open_header_menu(self, at: QPoint) -> None:
        self._menu.popup(self._header.mapToGlobal(at))

    def fill_menu(self) -> None:
        """Offer the columns as they are now."""
        self._menu.clear()
        for one in COLUMNS:
            if one.id == TEXT:
                continue
            action = self._menu.addAction(one.title or one.words)
            action.setCheckable(True)
            action.setChecked(one.id in self._columns.visible_ids)
            action.triggered.connect(lambda checked=False, name=one.id: self._show_column(name, is_shown=checked))
        self._menu.addSeparator()
        fitting = self._menu.addAction(library_strings()["columns_menu"]["fit"])
        fitting.setCheckable(True)
        fitting.setChecked(not self._columns.is_own)
        fitting.triggered.connect(lambda: self._columns.show_columns(None))

    def _show_column(self, name: str, *, is_shown: bool) -> None:
        shown = self._columns.visible_ids
        self._columns.show_columns(shown | {name} if is_shown else shown - {name})


def _format_sort(sort: str, falls: bool) -> str:
    return f"{sort}{'-' if falls else '+'}"


def make_empty_state(context: Context, query: LibraryQuery, facets: Facets) -> EmptyState:
    """What is in the place of an empty list, with a way out.

    Args:
        query: what was searched for.
        facets: what there is in all.
    """
    strings = library_strings()["empty"]
    theme, desk = context.theme, context.desk
    if not facets.statuses:
        return EmptyState(
            theme,
            "library",
            strings["title"],
            strings["sentence"],
            (window_strings()["buttons"]["import"], lambda: desk.import_paths.emit([])),
            (command_strings()["commands"]["file.new"]["title"], lambda: context.commands.run("file.new")),
        )
    chips = query.make_chips()
    actions = []
    if query.words:
        words = query.words
        actions.append((strings["by_meaning"], lambda: desk.go.emit("recall", f"ask:{words}")))
    if chips:
        last = chips[-1]
        actions.append((strings["remove"].format(term=one_line(last.words, 24)), lambda: query.set_text(last.without)))
    if not query.has_status:
        actions.append((strings["everything"], lambda: query.add_term("status", "all")))
    title = strings["no_match"] if chips else strings["no_active"]
    sentence = strings["no_match_sentence"] if chips else strings["no_active_sentence"]
    state = EmptyState(theme, "search", title, sentence)
    layout = state.layout()
    if isinstance(layout, QVBoxLayout):
        # Below each other: side by side they would keep the page from getting narrow.
        for name, run in actions:
            layout.insertWidget(layout.count() - 1, make_button(name, run), 0, Qt.AlignmentFlag.AlignHCenter)
    return state


_MOST_TAGS = 24
_MOST_YEARS = 8
_CHIP_CHARACTERS = 48
_WORDS = frozenset({"word", "phrase"})
_NO_KEY = frozenset({"word", "phrase", "unread"})


@dataclass(frozen=True, slots=True)
class TermChip:
    """One term of a search.

    Attributes:
        words: what it asks for.
        without: the search without it.
        problem: why it was not understood; "" where it was.
        start: where it begins in the line; `end` is behind it.
    """

    words: str
    without: str
    problem: str
    start: int
    end: int


class LibraryQuery(QObject):
    """The search as it is.

    Attributes:
        text: in the search syntax.

    Signals:
        changed: the text is another one.
    """

    changed = Signal()

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._library = context.bridge.engine.library
        self.text = ""

    def set_text(self, text: str) -> None:
        """Search for something else."""
        text = text.strip()
        if text != self.text:
            self.text = text
            self.changed.emit()

    def make_chips(self) -> tuple[TermChip, ...]:
        """Its terms."""
        return tuple(
            TermChip(
                _describe_term(term.key, term.values, negated=term.negated),
                self._library.without_term(self.text, term),
                term.problem,
                term.start,
                term.end,
            )
            for term in self._library.parse_search(self.text).terms
        )

    @property
    def words(self) -> str:
        """What is searched for but no filter: words and phrases, as they were typed."""
        terms = self._library.parse_search(self.text).terms
        return " ".join(term.values[0] for term in terms if term.key in _WORDS and term.values and not term.negated)

    @property
    def is_understood(self) -> bool:
        """Whether all of it can be read."""
        return not self._library.parse_search(self.text).problems

    @property
    def has_status(self) -> bool:
        """Whether it says where memories shall be."""
        return self._library.parse_search(self.text).has_status

    def has_value(self, key: str, value: str, *, negated: bool = False) -> bool:
        """Whether it asks for a value of a filter, or leaves it out."""
        terms = self._library.parse_search(self.text).terms
        return any(term.key == key and value in term.values and term.negated is negated for term in terms)

    def has_key(self, *keys: str) -> bool:
        """Whether it uses one of some filters."""
        return any(term.key in keys for term in self._library.parse_search(self.text).terms)

    def add_term(self, key: str, value: str, *, negated: bool = False) -> None:
        """Add a condition, or one that must not hold."""
        self.set_text(self._library.with_term(self.text, key, value, negated=negated))

    def toggle_term(self, key: str, value: str, *, negated: bool = False) -> None:
        """Add a condition, or take it away where it is."""
        for term in self._library.parse_search(self.text).terms:
            if term.key == key and value in term.values and term.negated is negated:
                self.set_text(self._library.without_term(self.text, term, value))
                return
        self.add_term(key, value, negated=negated)


def _describe_term(key: str, values: Sequence[str], *, negated: bool) -> str:
    strings = library_strings()["terms"]
    either = strings["either"].join(values)
    if key == "phrase":
        either = strings["phrase"].format(words=either)
    elif key in strings["keys"]:
        either = strings["keys"][key].format(words=either)
    elif key not in _NO_KEY:
        either = f"{key}: {either}".replace(">=", "≥ ").replace("<=", "≤ ")
    return one_line(strings["not"].format(words=either) if negated else either, _CHIP_CHARACTERS)


class TermChips(QWidget):
    """The terms of the search, each with a cross."""

    def __init__(self, theme: Theme, query: LibraryQuery) -> None:
        super().__init__()
        self._theme, self._query = theme, query
        self._flow = FlowLayout(self, gap=6)
        self.setAccessibleName(library_strings()["terms"]["title"])
        query.changed.connect(self.show_terms)
        self.show_terms()

    def show_terms(self) -> None:
        """Show the terms as they are."""
        strings = library_strings()["terms"]
        had_focus = self.isAncestorOf(self.focusWidget()) if self.focusWidget() is not None else False
        self._remove_chips()
        chips = self._query.make_chips()
        for chip in chips:
            made = remove_chip(self._theme, chip.words, self._make_remover(chip.without))
            made.setAccessibleName(strings["remove"].format(term=chip.words))
            # A tooltip may be taken for markup, and what is typed may be anything.
            made.setToolTip(escape_tooltip(chip.problem) or strings["remove_hint"])
            made.setProperty("tone", "danger" if chip.problem else "accent")
            self._flow.addWidget(made)
        if len(chips) > 1:
            everything = make_button(strings["clear"], self._clear_query, kind="chip")
            everything.setProperty("tone", "quiet")
            self._flow.addWidget(everything)
        self.setVisible(bool(chips))
        self.updateGeometry()
        if had_focus and chips:
            self._flow.itemAt(0).widget().setFocus()  # type: ignore[union-attr]  # the row of filters is never empty

    def _remove_chips(self) -> None:
        # They stay this widget's children until Qt deletes them: one of them may be telling of its click just now,
        # and a widget without a parent would die with its last reference, in the middle of it.
        while self._flow.count():
            item = self._flow.takeAt(0)
            widget = None if item is None else item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    def chip_buttons(self) -> list[QPushButton]:
        """The chips that are shown."""
        widgets = [item.widget() for item in map(self._flow.itemAt, range(self._flow.count())) if item is not None]
        return [widget for widget in widgets if isinstance(widget, QPushButton)]

    def _make_remover(self, without: str) -> Callable[[], None]:
        return lambda: self._query.set_text(without)

    def _clear_query(self) -> None:
        self._query.set_text("")


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """A line of a filter menu.

    Attributes:
        key: of the filter; "" for a heading.
        value: as it is typed.
        words: as the person reads it.
        count: how many there are; -1 where it is not counted.
        negated: whether it leaves out what has the value.
    """

    key: str
    value: str
    words: str
    count: int = -1
    negated: bool = False


class FilterChip(QPushButton):
    """A chip that opens a menu of values; more than one may hold."""

    def __init__(self, theme: Theme, title: str, keys: Sequence[str], query: LibraryQuery) -> None:
        super().__init__(title)
        strings = library_strings()["filters"]
        self.setProperty("kind", "chip")
        self.setAutoDefault(False)
        self.setAccessibleName(strings["name"].format(title=title.lower()))
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        follow_icon(theme, self, "chevron-down", "muted")
        self._title, self._keys, self._query = title, keys, query
        self._choices: Sequence[FilterChoice] = ()
        self._others: Sequence[FilterChip] = ()
        self._menu = QMenu(title, self)
        self._menu.setAccessibleName(strings["menu"].format(title=title))
        self._menu.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.setMenu(self._menu)
        query.changed.connect(self._show_used)

    def set_choices(self, choices: Sequence[FilterChoice]) -> None:
        """Offer these values from now on."""
        self._choices = choices

    @property
    def choices_menu(self) -> QMenu:
        """Its menu."""
        return self._menu

    @property
    def has_choices(self) -> bool:
        """Whether there is anything to choose from."""
        return bool(self._choices)

    def set_submenus(self, chips: Sequence[FilterChip]) -> None:
        """Open the menus of other chips."""
        self._others = tuple(chips)

    def _fill_menu(self) -> None:
        self._menu.clear()
        for chip in self._others:
            self._menu.addMenu(chip.choices_menu)
        for choice in self._choices:
            words = choice.words.replace("&", "&&")
            if not choice.key:
                self._menu.addSection(words) if choice.words else self._menu.addSeparator()
                continue
            # What is behind a tab is set to the right, as keys are.
            action = self._menu.addAction(words if choice.count < 0 else f"{words}\t{choice.count:,}")
            action.setCheckable(True)
            action.setChecked(self._query.has_value(choice.key, choice.value, negated=choice.negated))
            action.triggered.connect(
                lambda _=False, one=choice: self._query.toggle_term(one.key, one.value, negated=one.negated)
            )

    def _show_used(self) -> None:
        is_used = self._query.has_key(*self._keys)
        if is_used != bool(self.property("used")):
            set_style_property(self, "used", is_used)


class LibraryFilterBar(QWidget):
    """The filter menus."""

    def __init__(self, context: Context, query: LibraryQuery) -> None:
        super().__init__()
        strings = library_strings()["filters"]
        self.setAccessibleName(strings["title"])
        self._clock = context.clock
        flow = FlowLayout(self, gap=6)
        titles: Mapping[str, tuple[str, ...]] = {
            "kind": ("kind",),
            "status": ("status",),
            "space": ("space",),
            "source": ("source",),
            "client": ("client",),
            "time": ("on", "before", "after", "recorded"),
            "trust": ("trust",),
            "tags": ("tag",),
            "more": ("is", "has", "tier", "importance", "strength"),
        }
        self.chips = {
            name: FilterChip(context.theme, strings["titles"][name], keys, query) for name, keys in titles.items()
        }
        # Where there is little room, one chip leads to all menus.
        self.together = FilterChip(
            context.theme, strings["together"], [key for keys in titles.values() for key in keys], query
        )
        self._is_narrow = True
        for chip in (self.together, *self.chips.values()):
            flow.addWidget(chip)
        self._show_chips()

    def make_narrow(self, *, is_narrow: bool) -> None:
        """Stand in one chip, or in one for each filter."""
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            self._show_chips()

    def _show_chips(self) -> None:
        self.together.setVisible(self._is_narrow)
        for chip in self.chips.values():
            chip.setVisible(chip.has_choices and not self._is_narrow)
        self.together.set_submenus([chip for chip in self.chips.values() if chip.has_choices])
        self.updateGeometry()

    def show_facets(self, facets: Facets) -> None:
        """Offer what there is, with how much of it."""
        kinds = {kind.value: words for kind, words in KIND_PLURALS.items()}
        statuses = {status.value: words for status, words in STATUS_WORDS.items()}
        sources = {source.value: words for source, words in SOURCE_WORDS.items()}
        strings = library_strings()["filters"]
        offers: Mapping[str, Sequence[FilterChoice]] = {
            "kind": _filter_choices("kind", facets.kinds, kinds, [kind.value for kind in Kind]),
            "status": [
                *_filter_choices("status", facets.statuses, statuses, [status.value for status in Status]),
                FilterChoice("", "", ""),
                FilterChoice("status", "all", library_strings()["filters"]["all_statuses"]),
            ],
            "space": _filter_choices(
                "space", facets.spaces, {name: name_space(name, _CHIP_CHARACTERS) for name in facets.spaces}
            ),
            "source": _filter_choices("source", facets.sources, sources, [source.value for source in Source]),
            "client": _filter_choices("client", facets.clients),
            "time": time_choices(facets, self._clock.now_ms()),
            "trust": _name_choices(_TRUST, strings["trust"]),
            "tags": _filter_choices("tag", dict(list(facets.tags.items())[:_MOST_TAGS])),
            "more": _name_choices(_MORE, strings["more"]),
        }
        for name, choices in offers.items():
            self.chips[name].set_choices(choices)
        self._show_chips()


def _filter_choices(
    key: str, counts: Mapping[str, int], words: Mapping[str, str] | None = None, order: Iterable[str] = ()
) -> list[FilterChoice]:
    wanted = list(order) or list(counts)
    titles = words or {}
    return [
        FilterChoice(key, value, titles.get(value) or one_line(value, _CHIP_CHARACTERS), counts[value])
        for value in wanted
        if counts.get(value)
    ]


_TRUST = (("trust", ">=0.7", "high"), ("trust", "0.4..0.7", "medium"), ("trust", "<0.4", "low"))
_SPACER = ("", "", "")
_MORE = (
    ("is", "pinned", "pinned"),
    ("is", "edited", "edited"),
    ("is", "placed", "placed"),
    ("is", "split", "split"),
    ("-is", "smalltalk", "no_small_talk"),
    _SPACER,
    ("has", "time", "time"),
    ("has", "conversation", "conversation"),
    ("has", "claims", "claims"),
    _SPACER,
    ("tier", "sensitive,confidential", "sensitive"),
    ("tier", "confidential", "confidential"),
    _SPACER,
    ("importance", ">=0.8", "important"),
    ("strength", "<0.2", "fading"),
)


def _name_choices(lines: Iterable[tuple[str, str, str]], words: Mapping[str, str]) -> list[FilterChoice]:
    """Lines of a menu with their words.

    Args:
        lines: filter, with a minus before it where its value is left out; value; the key of its words.
        words: by key.
    """
    return [
        FilterChoice(key.removeprefix("-"), value, words[name] if name else "", negated=key.startswith("-"))
        for key, value, name in lines
    ]


def time_choices(facets: Facets, now_ms: int) -> list[FilterChoice]:
    """What the menu of times offers.

    Args:
        facets: for the earliest and the latest time.

    Returns:
        Some stretches that end today, then the years there is something of.
    """
    strings = library_strings()["times"]
    if facets.earliest is None or facets.latest is None:
        return []
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date()  # the days of a search are days in UTC
    week, month = today - timedelta(6), today - timedelta(29)
    offers = [
        FilterChoice("on", f"{today}..", strings["today"]),
        FilterChoice("on", f"{week}..", strings["week"]),
        FilterChoice("on", f"{month}..", strings["month"]),
        FilterChoice("", "", ""),
        FilterChoice("recorded", f"{today}..", strings["recorded_today"]),
        FilterChoice("recorded", f"{week}..", strings["recorded_week"]),
        FilterChoice("", "", ""),
    ]
    last = min(to_local(facets.latest).year, today.year + 1)
    first = max(to_local(facets.earliest).year, last - _MOST_YEARS)
    years = [
        FilterChoice("on", f"{year:04d}", strings["year"].format(year=year)) for year in range(last, first - 1, -1)
    ]
    before = (
        []
        if to_local(facets.earliest).year >= first
        else [FilterChoice("before", f"{first:04d}", strings["before"].format(year=first))]
    )
    return [*offers, *years, *before]
