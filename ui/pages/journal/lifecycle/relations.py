"""The tab of proposed relations: pairs that replay found alike; drawn or declined one by one, each undone alone.

Must not do: know another tab, or propose anything itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QSizePolicy, QWidget

from core.types.memory import ProposedLink
from ui.bridge import make_query, make_write, problem_of
from ui.context import CLOSER, Context
from ui.lists.row_spec import wrap_text
from ui.pages.journal.labels import format_day
from ui.pages.journal.rows import EntryActionBar, JournalEntry, entry_list
from ui.strings import journal_strings
from ui.theme.theme import Theme
from ui.undo import offer_undo
from ui.widgets.basics import make_column, make_label, wrap_in_card
from ui.widgets.labels import capitalize_first, describe_reason, name_space
from ui.widgets.plaintext import one_line
from ui.widgets.states import FOOT, EmptyState, States

ORIGIN = "journal"
MOST = 1_000
"""Read at once: the engine gives no more."""
PAGE_ROWS = 100
"""Listed at once; the others as somebody scrolls."""
_REASON = "may_belong"
_ACTS = ("accept", "decline", "open", "other")
_TEXT, _WHOLE, _SPACE = 300, 900, 40
_LOW, _BESIDE, _LINES = 480, 620, 4
Pair = tuple[str, str]


def link_memory_ids(link: ProposedLink) -> Pair:
    """What a proposal is known by."""
    return link.from_id, link.to_id


def link_entry(link: ProposedLink, now_ms: int) -> JournalEntry:
    """A line of the list."""
    strings = journal_strings()["relations"]
    when = strings["proposed"].format(when=format_day(link.at, now_ms))
    return JournalEntry(
        id=f"{link.from_id}:{link.to_id}",
        title=one_line(link.from_text, _TEXT),
        second=one_line(link.to_text, _TEXT),
        note=" · ".join(part for part in (name_space(link.space, _SPACE), when) if part),
        icon="link",
        aside=f"{link.cosine:.2f}",
        aside_note=strings["measure"],
        value=link,
    )


class PairText(QWidget):
    """One text of a pair, in a few lines."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self.text = theme, ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        theme.changed.connect(self.updateGeometry)

    def show_text(self, text: str) -> None:
        """Show another text.

        Args:
            text: hostile; what cannot be seen in it is shown as a mark.
        """
        self.text = one_line(text, _WHOLE)
        self.setAccessibleName(self.text)
        self.updateGeometry()
        self.update()

    def _line_height(self) -> int:
        return QFontMetrics(self._theme.font("body")).height() + 3

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """So many lines."""
        return QSize(200, self._line_height() * _LINES)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """One line: a window may be made low, and the panel goes then."""
        return QSize(80, self._line_height())

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the text."""
        painter, font = QPainter(self), self._theme.font("body")
        painter.setFont(font)
        painter.setPen(self._theme.colour("ink"))
        at = QRect(0, 0, self.width(), self._line_height())
        for line in wrap_text(self.text, font, self.width(), _LINES):
            painter.drawText(at, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, line)
            at.translate(0, self._line_height())
        painter.end()


class PairPanel(QFrame):
    """The chosen pair: both texts beside each other, and why.

    Attributes:
        texts: the two.
    """

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("card")
        strings = journal_strings()["relations"]
        self.setAccessibleName(strings["panel"])
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._theme = context.theme
        self.texts = (PairText(context.theme), PairText(context.theme))
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setContentsMargins(0, 0, 0, 0)
        self._both.setSpacing(context.theme.px(24))
        for title, text in zip((strings["one"], strings["other"]), self.texts, strict=True):
            part = QWidget()
            make_column(part, make_label(title, "label"), text, gap=4)
            self._both.addWidget(part, 1)
        self.why = make_label("", "muted", wrap=True)
        layout = make_column(self, margins=16, gap=10)
        layout.addLayout(self._both)
        layout.addWidget(self.why)
        self.hide()

    def show_link(self, link: ProposedLink) -> None:
        """Show a pair."""
        for widget, text in zip(self.texts, (link.from_text, link.to_text), strict=True):
            widget.show_text(text)
        form = journal_strings()["relations"]["why"]
        self.why.setText(form.format(reason=describe_reason(_REASON), likeness=f"{link.cosine:.2f}"))
        self.show()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Beside each other where there is room."""
        super().resizeEvent(event)
        is_wide = self.width() >= self._theme.px(_BESIDE)
        way = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        if self._both.direction() != way:
            self._both.setDirection(way)


class RelationsTab(QWidget):
    """What replay proposes.

    Signals:
        counted: how many wait.
    """

    counted = Signal(int)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        strings = journal_strings()["relations"]
        self.links: tuple[ProposedLink, ...] = ()
        self._decided: set[Pair] = set()
        self._written: set[Pair] = set()
        self._is_read = self._wants_focus = False
        self._listed = PAGE_ROWS
        self.list = entry_list(context.theme, strings["list"], _ACTS)
        self.lead = make_label(strings["lead"], "muted", wrap=True)
        self.panel = PairPanel(context)
        self.acts = EntryActionBar(context.theme, _ACTS)
        self.acts.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
        inside = QWidget()
        make_column(inside, self.lead, wrap_in_card(self.list), self.panel, self.acts, gap=10).setStretch(1, 1)
        self.states = States(context.theme, inside, strings["reading"])
        make_column(self, self.states)
        self.list.lines.more.connect(self._show_more)
        self.list.looked_at.connect(self._on_entry_chosen)
        self.list.picked.connect(self._update_actions)
        self.list.asked.connect(self.run_action)
        self.acts.asked.connect(self.run_action)

    # ---- reading

    def activate(self) -> None:
        """It is shown."""
        self._wants_focus = True
        self.reload()

    def reload(self) -> None:
        """Read what is proposed now."""
        if not self._is_read:
            self.states.show_loading()
        jobs = self.context.bridge.engine.jobs
        task = make_query(journal_strings()["relations"]["reading"], lambda: jobs.list_proposed_links(MOST)).within(
            self, "links"
        )
        self.context.tasks.run(
            task.success(partial(self._show_links, frozenset(self._written))).failure(self._show_failure)
        )

    @property
    def is_settled(self) -> bool:
        """Whether it was read."""
        return self._is_read

    def _show_failure(self, error: BaseException) -> None:
        self.states.show_failure(error, self.reload, self.context.desk.show_message if self._is_read else None)

    # ---- showing

    def _show_links(self, known: frozenset[Pair], links: Sequence[ProposedLink]) -> None:
        """Show what was read; of what was written before it was asked for, the engine knows better."""
        self._is_read, self.links = True, tuple(links)
        self._decided -= known
        self._written -= known
        self._list_undecided()
        if self._wants_focus:
            self.list.setFocus()
        self._wants_focus = False

    def _list_undecided(self) -> None:
        """List those that nobody has decided."""
        self.links = tuple(link for link in self.links if link_memory_ids(link) not in self._decided)
        self.counted.emit(len(self.links))
        if not self.links:
            strings = journal_strings()["relations"]
            self.states.show_empty(EmptyState(self.context.theme, "link", strings["nothing_title"], strings["nothing"]))
            self.list.show_lines([])
            return
        now = self.context.clock.now_ms()
        shown = [link_entry(link, now) for link in self.links[: self._listed]]
        self.list.show_lines(shown, has_more=len(self.links) > self._listed)
        self.states.show_content()
        self._update_actions()

    def _show_more(self) -> None:
        first, self._listed = self._listed, self._listed + PAGE_ROWS
        now = self.context.clock.now_ms()
        more = [link_entry(link, now) for link in self.links[first : self._listed]]
        self.list.lines.append_lines(more, has_more=len(self.links) > self._listed)

    @property
    def is_low(self) -> bool:
        """Whether the list needs the room that the panel would take."""
        return self.height() < self.context.theme.px(_LOW)

    def _update_actions(self) -> None:
        chosen = next(iter(self.list.chosen), None)
        self.list.offered = frozenset(_ACTS) if chosen is not None else frozenset()
        self.acts.enable_actions(self.list.offered)
        if chosen is None or self.is_low:
            self.panel.hide()
        else:
            self.panel.show_link(chosen.value)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is low, the list has the room."""
        super().resizeEvent(event)
        self.lead.setVisible(not self.is_low)
        self._update_actions()

    # ---- deciding

    def _on_entry_chosen(self, entry: JournalEntry | None) -> None:
        if entry is not None:
            self.context.selection.select(entry.value.from_id, ORIGIN)

    def run_action(self, name: str) -> None:
        """Do something with the chosen pair.

        Args:
            name: `accept`, `decline`, `open` for the first memory, or `other` for the second.
        """
        chosen = next(iter(self.list.chosen), None)
        if chosen is None:
            return
        link: ProposedLink = chosen.value
        if name in {"open", "other"}:
            self.context.selection.reselect(link.from_id if name == "open" else link.to_id, CLOSER)
        else:
            self.decide_link(link, accept=name == "accept")

    def decide_link(self, link: ProposedLink, *, accept: bool) -> None:
        """Draw a relation, or never propose it again; its line goes at once, so that the next key is for the next one.

        Args:
            accept: whether it is drawn.
        """
        jobs = self.context.bridge.engine.jobs
        decision = partial(jobs.decide_link, link.from_id, link.to_id, accept=accept)
        task = make_write(journal_strings()["tasks"]["relation"], decision).within(self)
        self.context.tasks.run(
            task.success(partial(self._on_relation_decided, link, accept)).failure(
                partial(self._on_decision_failed, link)
            )
        )
        self._decided.add(link_memory_ids(link))
        self._list_undecided()

    def _on_relation_decided(self, link: ProposedLink, accept: bool, step_id: str) -> None:
        strings = journal_strings()["relations"]
        self._written.add(link_memory_ids(link))
        offer_undo(self.context, strings["accepted" if accept else "declined"], step_id)
        self.reload()

    def _on_decision_failed(self, link: ProposedLink, error: BaseException) -> None:
        """It could not be decided: it is in the list again."""
        self._decided.discard(link_memory_ids(link))
        self.reload()
        problem = problem_of(error)
        if problem is not None:
            self.context.desk.show_message(capitalize_first(problem.sentence))
