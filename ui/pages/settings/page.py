"""The settings page: every option of the window and of the vault, generated from their models; keys; about; defaults.

Must not do: know a single option.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from core.config.option_rows import option_rows, replace_option
from core.config.options import Options
from core.config.window import WindowOptions
from core.errors import LociError
from core.events import Changed
from core.types.replies import OptionRow, OptionsReset
from ui.bridge import make_query, make_write, problem_of
from ui.context import Command, Context, PageSpec, WindowPage
from ui.pages.settings.backups import BackupsSection
from ui.pages.settings.devices import DevicesSection
from ui.pages.settings.keys import ActionLine, VaultSection
from ui.pages.settings.meaning import MeaningSection, section_strings
from ui.pages.settings.rows import OptionLine, SettingsSection, describe_option_value
from ui.pages.settings.watched_folders import WatchedSection
from ui.prefs import Prefs
from ui.strings import format_count, settings_strings, undo_strings, window_strings
from ui.theme.theme import Theme
from ui.undo import undo_step
from ui.widgets.basics import (
    UNBOUND,
    ScrolledColumn,
    make_button,
    make_column,
    make_label,
    make_row,
    make_scroll_area,
    make_timer,
)
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState, States


class ResetDialog(QDialog):
    """Asks before everything has its default again.

    Signals:
        agreed: the person pressed the button.
    """

    agreed = Signal()

    def __init__(self, context: Context, changed: Sequence[OptionRow], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        strings = settings_strings()["reset"]
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.setFixedWidth(context.theme.px(440))
        layout = make_column(self, make_label(strings["title"], "title"), margins=24, gap=12)
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(format_count(strings["act"], len(changed)), self._on_agree_clicked, kind="primary")
        if changed:
            layout.addWidget(make_label(strings["hint"], "muted", wrap=True))
        else:
            layout.addWidget(make_label(strings["nothing"], "muted", wrap=True))
            self.act.hide()
        for one in changed:
            was, will = describe_option_value(one, one.value), describe_option_value(one, one.default)
            layout.addWidget(make_label(strings["change"].format(title=one.title, was=was, will=will), wrap=True))
        layout.addSpacing(4)
        layout.addLayout(make_row(None, self.cancel, self.act))

    def _on_agree_clicked(self) -> None:
        self.agreed.emit()
        self.accept()


class SettingsReset(QObject):
    """Carries it out.

    Signals:
        options_read: the vault's options as they are now.
    """

    options_read = Signal(object)

    def __init__(self, context: Context, page: QWidget, rows: Callable[[], Sequence[OptionRow]]) -> None:
        """Make it.

        Args:
            context: what the page was given.
            page: dialogs are before it.
            rows: all options as they are shown.
        """
        super().__init__(page)
        self.context, self._page, self._rows = context, page, rows

    def ask_reset(self) -> None:
        """Ask whether everything shall have its default."""
        dialog = ResetDialog(self.context, [row for row in self._rows() if row.is_changed], self._page)
        dialog.agreed.connect(self.reset_all)
        dialog.open()

    def reset_all(self) -> None:
        """Give everything its default; it can be undone as a whole."""
        before = self.context.prefs.options
        in_vault = any(row.is_changed and row.name not in WindowOptions.model_fields for row in self._rows())
        self.context.prefs.change_options(lambda _: WindowOptions())
        if not in_vault:
            self._show_done(before, None)
            return
        settings = self.context.bridge.engine.settings
        task = make_write(settings_strings()["reset"]["task"], settings.reset_all).within(self)
        self.context.tasks.run(task.success(lambda reset: self._on_options_reset(before, reset)))

    def _on_options_reset(self, before: WindowOptions, reset: OptionsReset) -> None:
        self.options_read.emit(reset.rows)
        self._show_done(before, reset.step_id)

    def _show_done(self, before: WindowOptions, step_id: str | None) -> None:
        context = self.context
        done, undo = settings_strings()["reset"]["done"], undo_strings()["undo"]
        context.desk.show_message(done, undo, lambda: undo_reset(context, before, step_id))


def undo_reset(context: Context, before: WindowOptions, step_id: str | None) -> None:
    """Take a reset of everything back.

    Args:
        context: what the page was given; nothing else is held, so it works when the page is gone.
        before: the window's options as they were.
        step_id: the step that reset those of the vault; None where none was changed.
    """
    context.prefs.change_options(lambda _: before)
    if step_id is not None:
        undo_step(context, step_id)


@dataclass(frozen=True, slots=True)
class LicensedPart:
    """Something that comes from elsewhere.

    Attributes:
        name: of its words in `settings.json`.
        path: of its licence in `resources`.
    """

    name: str
    path: tuple[str, ...]

    @property
    def title(self) -> str:
        """What it is."""
        return str(settings_strings()["loci"]["parts"][self.name]["title"])

    @property
    def description(self) -> str:
        """By whom, under which licence."""
        return str(settings_strings()["loci"]["parts"][self.name]["text"])


PARTS: Sequence[LicensedPart] = (
    LicensedPart("typeface", ("fonts", "LICENSE")),
    LicensedPart("icons", ("icons", "LICENSE")),
    LicensedPart("model", ("model", "minilm", "LICENSE")),
)


class LicenceDialog(QDialog):
    """The words of a licence."""

    def __init__(self, theme: Theme, part: LicensedPart, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        title = settings_strings()["loci"]["licence"].format(title=part.title.lower())
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.resize(theme.px(620), theme.px(480))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(title)
        self.text.setPlainText(files("resources").joinpath(*part.path).read_text(encoding="utf-8"))
        layout = make_column(self, make_label(title, "title"), self.text, margins=24, gap=12)
        layout.addLayout(make_row(None, make_button(window_strings()["buttons"]["close"], self.accept, kind="primary")))


class AboutSection(SettingsSection):
    """What Loci is."""

    def __init__(self, context: Context) -> None:
        strings = settings_strings()["loci"]
        super().__init__(strings["title"])
        self.context = context
        self.add_line(ActionLine(context, strings["version"].format(version=_load_loci_version()), strings["free"]))
        self.add_line(
            ActionLine(context, strings["network"]["title"], strings["network"]["text"], strings["network"]["words"])
        )
        for part in PARTS:
            line = ActionLine(context, part.title, part.description, strings["licence_words"])
            shown = line.add_button(strings["read_licence"], self._make_opener(part))
            shown.setAccessibleName(strings["read_licence_of"].format(title=part.title))
            self.add_line(line)

    def _make_opener(self, part: LicensedPart) -> Callable[[], None]:
        return lambda: LicenceDialog(self.context.theme, part, self).open()


def _load_loci_version() -> str:
    try:
        return version("loci-palace")
    except PackageNotFoundError:
        return ""


_LIST, _WIDEST, _NARROW, _NARROW_LINES = 184, 720, 640, 540
_LINES_AT_ONCE = 3
_REFRESH_MS = 200
WIPE = ":wipe"
"""A target of the page that opens the dialog of removing everything."""
_ADVANCED, _SHOWN = "settings.advanced", "shown"
_SETTINGS_VERBS = frozenset({"settings", "undo"})
_SYNC_VERB = "sync"
_MODEL_VERBS = frozenset({"settings", "undo", "embedder", "migrate"})


def _make_advanced_switch(prefs: Prefs) -> QPushButton:
    """A switch of what only experts need; it stays as it was left."""
    strings = settings_strings()["page"]
    made = make_button(strings["advanced"], kind="chip", hint=strings["advanced_hint"])
    made.setCheckable(True)
    made.setChecked(prefs.read_text(_ADVANCED) == _SHOWN)
    made.toggled.connect(lambda is_on: prefs.store_value(_ADVANCED, _SHOWN if is_on else ""))
    return made


class SettingsPage(WindowPage):
    """The Settings page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.lines: dict[str, OptionLine] = {}
        self._unbuilt: dict[str, OptionRow] = {}
        self._window_names = frozenset(WindowOptions.model_fields)
        self._is_shown = self._is_told = self._is_read = False
        self._target = ""
        self.sections: list[SettingsSection] = []
        self.meaning: MeaningSection | None = None
        self.watched = WatchedSection(context)
        self.devices = DevicesSection(context)
        self.vault = VaultSection(context)
        self.backups = BackupsSection(context)
        for part in (self.devices, self.vault):
            part.wiping.connect(partial(open_wipe, context, self))
        self.about = AboutSection(context)
        self.search = QLineEdit()
        self.search.setObjectName("search")
        strings = settings_strings()["page"]
        self.search.setPlaceholderText(strings["search"])
        self.search.setAccessibleName(strings["search"])
        self.search.setClearButtonEnabled(True)
        self._glass = self.search.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)
        self.resetting = SettingsReset(context, self, lambda: [line.row for line in self.lines.values()])
        self.resetting.options_read.connect(self._show_rows)
        self.reset_all = make_button(strings["reset_all"], self.resetting.ask_reset)
        self.advanced = _make_advanced_switch(context.prefs)
        self.groups = QListWidget()
        self.groups.setObjectName("groups")
        self.groups.setAccessibleName(strings["groups"])
        self.groups.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._inner = ScrolledColumn()
        self._column = make_column(self._inner, gap=24)
        self._column.setContentsMargins(0, 0, 8, 24)
        self.area = make_scroll_area(self._inner)
        self.states = States(context.theme, self.area, strings["reading"])
        self._refresh = make_timer(self, self.reload, _REFRESH_MS)
        self._slices = QTimer(self)  # with no interval: a turn of the event loop each
        self._slices.timeout.connect(self._build_next_group)
        self._build_layout()
        self._connect_signals()
        _list_groups(self, own=(self.watched, self.vault, self.about))
        self._show_rows(option_rows(WindowOptions, context.prefs.options))
        self._restyle_page()

    def _build_layout(self) -> None:
        layout = make_column(self, gap=12)
        layout.setContentsMargins(24, 16, 16, 0)
        header = make_row(
            make_label(settings_strings()["rail"]["title"], "title"), None, self.advanced, self.reset_all, gap=10
        )
        header.setContentsMargins(0, 0, 8, 0)
        layout.addLayout(header)
        self._side = QWidget()
        make_column(self._side, self.search, self.groups, gap=12)
        self._body = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._body.setSpacing(24)
        self._body.addWidget(self._side)
        self._body.addWidget(self.states, 1)
        layout.addLayout(self._body, 1)

    def _connect_signals(self) -> None:
        self.search.textChanged.connect(self._filter_sections)
        self.advanced.toggled.connect(lambda _: self._filter_sections(self.search.text()))
        self.groups.itemClicked.connect(self._scroll_to)
        self.groups.itemActivated.connect(self._scroll_to)
        self.area.verticalScrollBar().valueChanged.connect(self._select_visible_group)
        self.context.prefs.changed.connect(self._on_window_option_changed)
        self.context.theme.changed.connect(self._restyle_page)

    def _restyle_page(self) -> None:
        theme = self.context.theme
        self._inner.setMaximumWidth(theme.px(_WIDEST))
        side = theme.px(16)
        self._glass.setIcon(QIcon(theme.icon("search", "muted").pixmap(side, side)))
        for at in range(self.groups.count()):
            self.groups.item(at).setSizeHint(QSize(theme.px(_LIST) - 8, theme.px(theme.tokens.sizes.control)))
        self._arrange_side()

    # ---- the page's life

    def activate(self, target: str = "") -> None:
        """Show the page and read what it needs.

        Args:
            target: the title of a group to go to, else words to search for.
        """
        self._is_shown = True
        self._slices.start()
        if self.is_stale or not self._is_read:
            self.reload()
        self.vault.reload()
        self.backups.reload()
        self.watched.activate()
        self.devices.reload()
        if self.meaning is not None:
            self.meaning.activate()
        self._target = target
        if self._is_read:
            self._show_target()
        self.search.setFocus()

    def _show_target(self) -> None:
        """Scroll to the target group, else search for it."""
        target, self._target = self._target.casefold(), ""
        if target == WIPE:
            target = self.vault.title.casefold()
            open_wipe(self.context, self)
        line = find_line(self, target)
        section = next((one for one in self.sections if one.title.casefold() == target or line in one.lines), None)
        if section is not None:
            self.search.clear()
            self._scroll_to(self.groups.item(_row_of(self.groups, section)))
            if line is not None and line.button is not None:
                line.button.click()
        elif target:
            self.search.setText(target)

    def deactivate(self) -> None:
        """Another page is shown: what was being typed holds now, and nothing runs here any more."""
        self._is_shown = False
        self._refresh.stop()
        self._slices.stop()
        self.watched.deactivate()
        if self.meaning is not None:
            self.meaning.deactivate()
        for line in self.lines.values():
            line.control.submit_pending()

    def is_settled(self) -> bool:
        """Whether the vault's options were read."""
        return self._is_read and not self._unbuilt and not self._refresh.isActive()

    def handle_change(self, change: Changed) -> None:
        """An option may have changed elsewhere, or by an undo."""
        if change.verb in _MODEL_VERBS and self.meaning is not None and self._is_shown:
            self.meaning.reload()
        if change.verb == _SYNC_VERB and self._is_shown:
            self.devices.reload()
        if change.verb in _SETTINGS_VERBS:
            super().handle_change(change)
            if self._is_shown:
                self._refresh.start()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is narrow, the headings are enough."""
        super().resizeEvent(event)
        self._arrange_side()

    def _arrange_side(self) -> None:
        is_narrow, ways = self.width() < self.context.theme.px(_NARROW), QBoxLayout.Direction
        self.groups.setHidden(is_narrow)
        self._side.setMinimumWidth(0 if is_narrow else self.context.theme.px(_LIST))
        self._side.setMaximumWidth(UNBOUND if is_narrow else self.context.theme.px(_LIST))
        self._body.setDirection(ways.TopToBottom if is_narrow else ways.LeftToRight)
        self._body.setSpacing(12 if is_narrow else 24)
        room = self.width() - (0 if is_narrow else self._side.maximumWidth() + 24)
        for section in self.sections:
            section.set_narrow(is_narrow=room < self.context.theme.px(_NARROW_LINES))

    # ---- reading

    def reload(self) -> None:
        """Read the options."""
        self.is_stale = False
        if not self._is_read:
            self.states.show_loading()
        settings = self.context.bridge.engine.settings
        task = make_query(settings_strings()["page"]["reading_task"], settings.read_rows).within(self, "rows")
        self.context.tasks.run(task.success(self._on_rows_read).failure(lambda error: _show_read_failure(self, error)))

    def _on_rows_read(self, rows: Sequence[OptionRow]) -> None:
        self._is_told = True
        self._show_rows(rows)
        self._filter_sections(self.search.text())

    def _show_rows(self, rows: Sequence[OptionRow]) -> None:
        for option in rows:
            if option.name in self.lines:
                self.lines[option.name].show_option(option)
            else:
                self._unbuilt[option.name] = option
        if self._is_shown:
            self._slices.start()

    def _build_next_group(self) -> None:
        """Make a few lines of one group; then the page is whole. All in one turn would hold up the window."""
        if self._unbuilt:
            group = next(iter(self._unbuilt.values())).group
            for option in [one for one in self._unbuilt.values() if one.group == group][:_LINES_AT_ONCE]:
                self._add_option(self._unbuilt.pop(option.name))
            self.states.show_content()  # laid out now, few by few: all at once would take too long
            return
        if self._is_told and self.meaning is None:
            self.meaning = MeaningSection(self.context)
            self._add_section(self.meaning)
            self.meaning.activate()
            return
        ended = [one for one in (self.watched, self.vault, self.about) if one not in self.sections]
        if self._is_told and ended:
            self._add_section(ended[0])
            return
        self._slices.stop()
        if self._is_told and not self._is_read:
            self._finish_build()

    def _finish_build(self) -> None:
        self._is_read = True
        self._column.addStretch(1)
        self._restyle_page()
        self._filter_sections(self.search.text())
        QTimer.singleShot(0, self, self._show_target)  # once the new sections have their places

    def _add_option(self, option: OptionRow) -> None:
        section = next((one for one in self.sections if one.title == option.group), None)
        if section is None:
            # How often stands beside what is exchanged or backed up.
            known = {one.title: one for one in (self.devices, self.backups)}
            section = known.get(option.group) or SettingsSection(option.group)
            self._add_section(section)
        line = OptionLine(self.context.theme, option)
        if line.is_advanced and not self.advanced.isChecked():
            line.hide()  # laying out what nobody sees would take most of the time
        line.wanted.connect(self._set_option)
        line.reset.connect(self._reset_option)
        self.lines[option.name] = line
        section.add_line(line)

    def _add_section(self, section: SettingsSection) -> None:
        self.sections.append(section)
        self._column.addWidget(section)

    # ---- finding

    def _filter_sections(self, typed: str) -> None:
        found = 0
        for section in self.sections:
            count = section.filter_lines(typed, with_advanced=self.advanced.isChecked() or bool(typed.strip()))
            self.groups.item(_row_of(self.groups, section)).setHidden(not count)
            found += count
        if not self._is_read:
            return
        strings = settings_strings()["page"]
        if found:
            self.states.show_content()
        else:
            sentence = strings["no_match"].format(typed=one_line(typed, 40))
            self.states.show_empty(
                EmptyState(
                    self.context.theme,
                    "search",
                    strings["no_match_title"],
                    sentence,
                    (strings["show_all"], self.search.clear),
                )
            )

    def _scroll_to(self, item: QListWidgetItem) -> None:
        section = next((one for one in self.sections if one.title == item.text()), None)
        self.groups.setCurrentItem(item)
        if not self._is_read:
            self._target = item.text()  # it has its place once the page is whole
        if section is None:
            return
        if section.isHidden():
            self.advanced.setChecked(True)
        self.area.verticalScrollBar().setValue(section.y())
        self.groups.setCurrentItem(item)

    def _select_visible_group(self, value: int) -> None:
        """The list shows which group one looks at."""
        if self._target:
            return  # it goes there once the page is whole
        bar = self.area.verticalScrollBar()
        places = {_row_of(self.groups, one): one.y() for one in self.sections if one.isVisibleTo(self._inner)}
        shown = sorted(places)
        passed = [at for at in shown if places[at] <= value + self.context.theme.px(40)]
        if shown and not (value == bar.maximum() and self.groups.currentRow() > max(passed, default=0)):
            self.groups.setCurrentRow(max(passed, default=shown[0]))

    # ---- changing

    def _set_option(self, name: str, value: object) -> None:
        if name in self._window_names:
            self._set_window_option(name, value)
            return
        settings = self.context.bridge.engine.settings
        task = make_write(settings_strings()["option"]["changing"], lambda: settings.set_option(name, value)).within(
            self, f"set {name}"
        )
        self.context.tasks.run(
            task.success(lambda row: self._show_rows((row,))).failure(
                lambda error: _show_refusal(self.lines[name], error)
            )
        )

    def _set_window_option(self, name: str, value: object) -> None:
        try:
            self.context.prefs.change_options(lambda options: replace_option(options, name, value))
        except LociError as error:
            self.lines[name].show_refusal(error.sentence)

    def _on_window_option_changed(self, _name: str) -> None:
        self._show_rows(option_rows(WindowOptions, self.context.prefs.options))

    def _reset_option(self, name: str) -> None:
        if name in self._window_names:
            self._set_window_option(name, self.lines[name].row.default)
            return
        settings = self.context.bridge.engine.settings
        task = make_write(settings_strings()["option"]["resetting"], lambda: settings.reset_options(name)).within(
            self, f"set {name}"
        )
        self.context.tasks.run(
            task.success(self._show_rows).failure(lambda error: _show_refusal(self.lines[name], error))
        )


def _list_groups(page: SettingsPage, own: Sequence[SettingsSection]) -> None:
    """Fill the side list, which is whole from the first: what is built later keeps its place."""
    rows = (*option_rows(WindowOptions, page.context.prefs.options), *option_rows(Options, Options()))
    usual = {row.group for row in rows if page.advanced.isChecked() or not row.is_advanced}
    last = [str(section_strings()["title"]), *(one.title for one in own)]
    for title in dict.fromkeys((*(row.group for row in rows), *last)):
        item = QListWidgetItem(title)
        page.groups.addItem(item)
        item.setHidden(title not in usual and title not in last and title != page.devices.title)
    page.groups.setCurrentRow(0)


def _row_of(groups: QListWidget, section: SettingsSection) -> int:
    """Where a section stands in the side list."""
    return next(at for at in range(groups.count()) if groups.item(at).text() == section.title)


def find_line(page: SettingsPage, target: str) -> ActionLine | None:
    """The line whose button a command of the palette presses: `vault:backup`; None for any other target."""
    owner, _, name = target.partition(":")
    section = {"vault": page.vault, "devices": page.devices, "backups": page.backups}.get(owner)
    return getattr(section, name, None)


def _show_read_failure(page: SettingsPage, error: BaseException) -> None:
    """Say instead of the options why they cannot be read."""
    problem = problem_of(error)
    if problem is not None:
        page.states.show_trouble(problem, page.reload)


def _show_refusal(line: OptionLine, error: BaseException) -> None:
    """Say beside an option why it stays as it was."""
    problem = problem_of(error)
    if problem is not None:
        line.show_refusal(problem.sentence)


def open_wipe(context: Context, part: QWidget) -> None:
    """Open the dialog that removes everything from this computer.

    Args:
        part: of the window, before which it stands: the page goes with the vault.
    """
    from ui.pages.settings.wipe import WipeDialog  # hardly anybody asks for it

    WipeDialog(context, part.window()).open()


def settings_commands(context: Context) -> tuple[Command, ...]:
    """What the command palette offers of the settings, wherever the person is."""
    strings, go = settings_strings()["vault"]["wipe"], context.desk.go.emit
    lines = settings_strings()["commands"].items()
    return (
        *(
            Command(f"settings.{target}", told["title"], partial(go, "settings", target), words=told["words"])
            for target, told in lines
        ),
        Command("settings.wipe", strings["command"], lambda: go("settings", WIPE), words=strings["words"]),
    )


SETTINGS = PageSpec("settings", settings_strings, "settings-2", SettingsPage, inspects=False)
