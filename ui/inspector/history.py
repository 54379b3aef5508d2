"""The section that shows the versions of a memory: how one differs from the next, and when each held and was believed.

On the axis of time the current one is filled, the others are outlined; a time of which nothing is known is
hatched. Must not do: work out when a version held, or compare texts that are too long to be compared at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.types.memory import Chain, VersionHeld
from core.types.values import PERSON_SOURCES, Memory, Status
from core.types.views import MemoryRow, Revision, RevisionReport
from ui.bridge import make_query, make_write
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec
from ui.inspector.actions import explain_no_edit
from ui.inspector.shared_widgets import make_flush_row
from ui.inspector.text_view import ADDED, PLAIN, REMOVED, TextRun, TextView, mark_runs
from ui.inspector.trust import describe_validity, format_claim_day
from ui.strings import belief_strings, format_count, inspector_strings, window_strings
from ui.theme.theme import Theme
from ui.undo import offer_undo
from ui.widgets.basics import FlowLayout, clear_layout, make_button, make_column, make_hairline, make_label
from ui.widgets.labels import date_of
from ui.widgets.plaintext import one_line

SHOWN = 6
"""Versions that are drawn; of more the latest."""
_ROW, _LABELS, _BAR, _THIN = 38, 18, 9, 2
_FOOT, _TIP = 20, 5.0
_LEAST = 4.0
_HATCHED = 0


class ChainAxis(QWidget):
    """Versions below each other, the latest above, on one axis."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._chain: Chain | None = None
        self._looked_at = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_chain(self, chain: Chain, looked_at: str) -> bool:
        """Draw the versions on the axis.

        Returns:
            Whether there is anything to be seen: two versions that held, at least.
        """
        self._chain, self._looked_at = chain, looked_at
        believed = [version for version in chain.versions if version.ever_held]
        sentences = [f"{self._version_name(version)}: {describe_validity(version)}" for version in self.drawn]
        gap = belief_strings()["versions"]["gap_told"]
        sentences += [gap.format_map({"from": date_of(one.begin), "to": date_of(one.end)}) for one in chain.gaps]
        self.setAccessibleName("; ".join(sentences))
        self.setToolTip("")
        self.updateGeometry()
        self.update()
        return len(believed) > 1

    @property
    def drawn(self) -> tuple[VersionHeld, ...]:
        """The versions that are drawn, from above."""
        if self._chain is None:
            return ()
        believed = [version for version in self._chain.versions if version.ever_held]
        return tuple(reversed(believed[-SHOWN:]))

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """A row for each version, and the axis below."""
        return QSize(120, self._theme.px(_ROW * len(self.drawn) + _FOOT))

    # ---- measures

    def axis_ends(self) -> tuple[int, int]:
        """The ends of the axis, epoch ms."""
        if self._chain is None or not self.drawn:
            return 0, 1
        begins = [min(version.begin, version.recorded_at) for version in self.drawn]
        ends = [version.end or version.begin for version in self.drawn]
        first, last = min(begins), max([self._chain.now, *ends])
        return first, max(last, first + 1)

    def axis_x(self, ms: int) -> float:
        """Where a moment lies, pixels from the left."""
        first, last = self.axis_ends()
        return 1 + (self.width() - 2) * min(1.0, max(0.0, (ms - first) / (last - first)))

    def bar_of(self, version: VersionHeld) -> QRectF:
        """The bar of the time in which a version held."""
        top = self._theme.px(_ROW * self.drawn.index(version) + _LABELS)
        left = self.axis_x(version.begin)
        right = float(self.width() - 1) if version.end is None else self.axis_x(version.end)
        right = max(right, left + _LEAST)
        if right > self.width() - 1:
            left, right = self.width() - 1 - max(_LEAST, right - left), float(self.width() - 1)
        return QRectF(left, top, right - left, self._theme.px(_BAR))

    # ---- drawing

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the gaps, the rows and the axis."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_gaps(painter)
        for version in self.drawn:
            self._draw_words(painter, version)
            self._draw_bar(painter, version)
        self._draw_axis(painter)
        painter.end()

    def _draw_gaps(self, painter: QPainter) -> None:
        if self._chain is None:
            return
        for gap in self._chain.gaps:
            before = next((version for version in self.drawn if version.end == gap.begin), None)
            if before is not None:
                bar = self.bar_of(before)
                rect = QRectF(bar.right(), bar.top(), self.axis_x(gap.end) - bar.right(), bar.height())
                draw_gap(painter, self._theme, rect)

    def _version_name(self, version: VersionHeld) -> str:
        number = inspector_strings()["history"]["version"].format(number=version.version)
        return f"{number} · {one_line(version.value, 60)}" if version.value else number

    def _draw_words(self, painter: QPainter, version: VersionHeld) -> None:
        theme, strings = self._theme, belief_strings()["versions"]
        rect = QRectF(0, theme.px(_ROW * self.drawn.index(version)), self.width(), theme.px(_LABELS - 2))
        name = strings["current"] if version.is_current else ""
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.colour("accent"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, name)
        room = rect.width() - painter.fontMetrics().horizontalAdvance(name) - theme.px(8 if name else 0)
        is_this = version.memory_id == self._looked_at
        painter.setFont(theme.font("small"))
        if is_this:
            bold = theme.font("small")
            bold.setWeight(bold.Weight.DemiBold)
            painter.setFont(bold)
        painter.setPen(theme.colour("ink" if is_this else "muted"))
        shown = painter.fontMetrics().elidedText(self._version_name(version), Qt.TextElideMode.ElideRight, int(room))
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)

    def _draw_bar(self, painter: QPainter, version: VersionHeld) -> None:
        theme, bar = self._theme, self.bar_of(version)
        path = _open_bar_path(bar) if version.end is None else _closed_bar_path(bar)
        tone = theme.colour("accent" if version.is_current else "outline")
        painter.fillPath(path, tone if version.is_current else theme.colour("surface"))
        painter.setPen(QPen(tone, 1.2))
        painter.drawPath(path)
        below = bar.bottom() + theme.px(3)
        until = self.axis_x(version.retired_at) if version.retired_at is not None else float(self.width() - 1)
        begin = min(self.axis_x(version.recorded_at), self.width() - 1 - _LEAST)
        rect = QRectF(begin, below, max(until - begin, _LEAST), theme.px(_THIN))
        painter.fillRect(rect, theme.colour("muted"))

    def _draw_axis(self, painter: QPainter) -> None:
        theme, (first, last) = self._theme, self.axis_ends()
        top = theme.px(_ROW * len(self.drawn))
        painter.setPen(QPen(theme.colour("line"), 1))
        painter.drawLine(QPointF(0, top), QPointF(self.width(), top))
        rect = QRectF(0, top + theme.px(2), self.width(), theme.px(_FOOT - 2))
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.colour("muted"))
        is_now = self._chain is not None and last == self._chain.now
        end = belief_strings()["versions"]["now"] if is_now else format_claim_day(last)
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, format_claim_day(first))
        painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop, end)


def draw_gap(painter: QPainter, theme: Theme, rect: QRectF) -> None:
    """Draw a time of which nothing is known: hatched, with no line round it."""
    painter.fillRect(rect, QBrush(theme.colour("outline"), Qt.BrushStyle.BDiagPattern))


class HistoryLegend(QWidget):
    """What the bars represent: thick, thin, and hatched where something is missing."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._lines: tuple[tuple[str, int], ...] = ()
        self.show_lines(has_gaps=False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """A line for each."""
        return QSize(120, self._theme.px(17 * len(self._lines)))

    def show_lines(self, *, has_gaps: bool) -> None:
        """Say what is above.

        Args:
            has_gaps: whether a time is missing there.
        """
        strings = belief_strings()["versions"]
        lines = ((strings["valid"], _BAR), (strings["learned"], _THIN), (strings["gap"], _HATCHED))
        self._lines = lines if has_gaps else lines[:2]
        self.setAccessibleName(". ".join(name for name, _ in self._lines))
        self.updateGeometry()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the samples with their words."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._theme
        painter.setFont(theme.font("caption"))
        for nr, (text, high) in enumerate(self._lines):
            middle = theme.px(8 + 17 * nr)
            tall = theme.px(_THIN if high == _THIN else _BAR)
            sample = QRectF(1, middle - tall / 2, theme.px(22), tall)
            painter.setPen(QPen(theme.colour("outline"), 1.2))
            if high == _BAR:
                painter.drawPath(_closed_bar_path(sample))
            elif high == _THIN:
                painter.fillRect(sample, theme.colour("muted"))
            else:
                draw_gap(painter, theme, sample)
            painter.setPen(theme.colour("muted"))
            rect = QRectF(theme.px(30), middle - theme.px(8), self.width() - theme.px(30), theme.px(16))
            painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()


def _closed_bar_path(bar: QRectF) -> QPainterPath:
    path = QPainterPath()
    path.addRoundedRect(bar, 2, 2)
    return path


def _open_bar_path(bar: QRectF) -> QPainterPath:
    """A bar that goes on: it ends in a tip."""
    tip = min(_TIP, bar.width() / 2)
    path = QPainterPath(bar.topLeft())
    for corner in (
        QPointF(bar.right() - tip, bar.top()),
        QPointF(bar.right(), bar.center().y()),
        QPointF(bar.right() - tip, bar.bottom()),
        bar.bottomLeft(),
    ):
        path.lineTo(corner)
    path.closeSubpath()
    return path


COMPARED = 4_000
"""Characters of both texts together up to which they are compared word by word."""
_SHOWN = 6
_FOLD = 6
_ORIGIN = "inspector"
_WORDS = re.compile(r"\s+|\w+(?:[.,:'’\-]\w+)*|[^\w\s]")
_AWAY = frozenset({Status.DELETED, Status.ARCHIVED})


def compare_words(old: str, new: str) -> list[TextRun]:
    """What differs between two versions, word by word.

    Args:
        old: the earlier text.
        new: the later one.

    Returns:
        Runs of the later text with what went in its place; the later text struck by nothing where both are too long
        to compare.
    """
    if len(old) + len(new) > COMPARED:
        return mark_runs(new)
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    made: list[TextRun] = []
    # autojunk keeps this quick for texts that repeat a few words without end
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=True).get_opcodes():
        if tag == "equal":
            made.extend(mark_runs("".join(after[j1:j2]), PLAIN))
            continue
        made.extend(mark_runs("".join(before[i1:i2]), REMOVED))
        if tag == "replace":
            made.append(TextRun(" ", ""))
        made.extend(mark_runs("".join(after[j1:j2]), ADDED))
    return made


def describe_author(memory: Memory, clients: Mapping[str, str]) -> str:
    """Who made a version, in words: `you`, a client's name, `an import`.

    Args:
        clients: memory id to the name of the client that brought it.
    """
    strings = inspector_strings()["history"]["authors"]
    if memory.client_id is not None:
        return one_line(clients.get(memory.id, ""), 30) or str(strings["client"])
    if memory.import_id is not None:
        return str(strings["import"])
    return str(strings["you" if memory.source in PERSON_SOURCES else "loci"])


def describe_version_status(memory: Memory) -> str:
    """Since when or until when a version is current: `current, since 3 Nov 2026`, `until 3 Nov 2026`."""
    strings = inspector_strings()["history"]
    if memory.retired_at is None:
        return str(strings["since"]).format(date=date_of(memory.recorded_at))
    return str(strings["until"]).format(date=date_of(memory.retired_at))


class HistorySection(InspectorSection):
    """Versions, newest first."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._versions: tuple[Memory, ...] = ()
        self._memory: Memory | None = None
        self._most = _SHOWN
        self._validity_by_id: Mapping[str, VersionHeld] = {}
        self._inner = make_column(gap=10)
        self.axis = ChainAxis(context.theme)
        self._legend = HistoryLegend(context.theme)
        self._over = make_label("", "small", wrap=True)
        layout = make_column(
            self,
            make_label(inspector_strings()["history"]["title"], "label"),
            self.axis,
            self._over,
            self._legend,
            gap=8,
        )
        layout.addLayout(self._inner)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            Whether it has more than one version, or is not current.
        """
        memory = inspected.memory
        if self._memory is None or memory.chain_id != self._memory.chain_id:
            self._most = _SHOWN
        self._memory, self._versions = memory, tuple(reversed(inspected.history))
        self._show_axis(inspected.belief.chain)
        self._show_history({})
        if any(version.client_id for version in self._versions):
            ids = [version.id for version in self._versions[: self._most]]
            library = self.context.bridge.engine.library
            task = make_query(inspector_strings()["tasks"]["history"], lambda: library.read_rows(ids)).within(
                self, "rows"
            )
            self.context.tasks.run(task.success(self._name_clients))
        return len(self._versions) > 1 or memory.status in _AWAY

    def _show_axis(self, chain: Chain) -> None:
        self._validity_by_id = {version.memory_id: version for version in chain.versions}
        has = self.axis.show_chain(chain, "" if self._memory is None else self._memory.id)
        over = sum(version.ever_held for version in chain.versions) - len(self.axis.drawn)
        self._over.setText(belief_strings()["versions"]["more"].format(count=over))
        self._over.setVisible(has and over > 0)
        self.axis.setVisible(has)
        self._legend.setVisible(has)
        self._legend.show_lines(has_gaps=bool(chain.gaps))

    def _name_clients(self, rows: Sequence[MemoryRow]) -> None:
        self._show_history({shown.id: shown.client or "" for shown in rows})

    def _show_history(self, clients: Mapping[str, str]) -> None:
        memory = self._memory
        clear_layout(self._inner)
        if memory is None:
            return
        if memory.status in _AWAY:
            self._inner.addWidget(self._make_restore_note(memory))
        if len(self._versions) > 1:
            for number, version in enumerate(self._versions[: self._most]):
                if number:
                    self._inner.addWidget(make_hairline())
                self._inner.addWidget(self._make_version(number, version, clients))
        hidden = len(self._versions) - self._most
        if hidden > 0:
            words = format_count(inspector_strings()["history"]["older"], hidden)
            self._inner.addWidget(make_button(words, self._show_all, kind="link"), 0, Qt.AlignmentFlag.AlignLeft)

    def _show_all(self) -> None:
        self._most = len(self._versions)
        self._show_history({})

    def _make_restore_note(self, memory: Memory) -> QWidget:
        widget = QWidget()
        forms = inspector_strings()["history"]["away"][memory.status.value]
        date = None if memory.retired_at is None else date_of(memory.retired_at)
        words = forms["plain"] if date is None else forms["since"].format(date=date)
        layout = make_column(widget, make_label(words, wrap=True))
        restore = make_button(inspector_strings()["verbs"]["restore"]["short"], self._restore_memory, kind="link")
        layout.addLayout(make_flush_row(restore, None))
        return widget

    def _restore_memory(self) -> None:
        self.context.commands.run("memory.restore")

    def _make_version(self, number: int, version: Memory, clients: Mapping[str, str]) -> QWidget:
        strings = inspector_strings()["history"]
        widget = QWidget()
        is_first = number == len(self._versions) - 1
        title = make_label(strings["version"].format(number=version.version), "strong")
        form, author = strings["added" if is_first else "changed"], describe_author(version, clients)
        when = make_label(form.format(status=describe_version_status(version), author=author), "small", wrap=True)
        if is_first:
            runs = mark_runs(version.text, PLAIN if version.retired_at is None else REMOVED)
        else:
            runs = compare_words(self._versions[number + 1].text, version.text)
        view = TextView(self.context.theme, strings["text"].format(number=version.version))
        view.show_runs(runs, "body", _FOLD)
        layout = make_column(widget, title, when, gap=2)
        validity = self._validity_by_id.get(version.id)
        if validity is not None:
            layout.addWidget(make_label(describe_validity(validity), "small", wrap=True))
        layout.addSpacing(4)
        layout.addWidget(view)
        links = self._make_links(version)
        if links:
            layout.addSpacing(4)
            layout.addWidget(_make_link_row(links))
        return widget

    def _make_links(self, version: Memory) -> list[QWidget]:
        strings = inspector_strings()["history"]
        made: list[QWidget] = []
        shown, newest = self._memory, self._versions[0]
        if shown is not None and version.id != shown.id:
            made.append(make_button(window_strings()["buttons"]["show"], self._make_selector(version.id), kind="link"))
        can_take = newest.status is Status.ACTIVE and not explain_no_edit(newest)
        if can_take and version.id != newest.id and version.text != newest.text:
            hint = strings["restore_hint"]
            made.append(
                make_button(
                    strings["restore"], self._make_text_restorer(newest.id, version.text), kind="link", hint=hint
                )
            )
        return made

    def _make_selector(self, memory_id: str) -> Callable[[], None]:
        return lambda: self.context.selection.select(memory_id, _ORIGIN)

    def _make_text_restorer(self, memory_id: str, text: str) -> Callable[[], None]:
        library = self.context.bridge.engine.library
        task = make_write(
            inspector_strings()["tasks"]["text"], lambda: library.revise_memories((memory_id,), Revision(text=text))
        )
        restoring = task.within(self, "again").success(self._on_version_restored)

        def restore_text() -> None:
            self.context.tasks.run(restoring)

        return restore_text

    def _on_version_restored(self, report: RevisionReport) -> None:
        if report.step_id is None:
            self.context.desk.show_message(" ".join(report.refused) or inspector_strings()["no_change"])
            return
        offer_undo(self.context, inspector_strings()["history"]["restored"], report.step_id)
        self.context.selection.select(report.ids[0], _ORIGIN)


def _make_link_row(links: Sequence[QWidget]) -> QWidget:
    """Links beside each other, or below where there is no room."""
    widget = QWidget()
    flow = FlowLayout(widget, gap=10)
    for link in links:
        flow.addWidget(link)
    return widget


HISTORY = InspectorSectionSpec("history", 50, HistorySection)
