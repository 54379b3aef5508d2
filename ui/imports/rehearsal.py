"""The second step of an import: what is in the exports, before anything is stored.

Must not do: import; interpret a title as anything but plain text.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QStackedWidget,
    QWidget,
)

from core.types.values import HOME_SPACE
from ui.context import Context
from ui.imports.content import Content
from ui.imports.sources import UNDERSTOOD, Source
from ui.widgets.basics import Elided, MenuChip, button, column, label, row
from ui.widgets.plaintext import tip
from ui.widgets.words import FORMAT_WORDS, count_of

_EDITED_MS = 700
_UNKNOWN = "E6002"


class RefusedExport(QWidget):
    """A source that cannot be read, and what can be done.

    Signals:
        formed: a format the person names.
        leave: choose something else.
    """

    formed = Signal(str)
    leave = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._title = Elided("", "section", Qt.TextElideMode.ElideMiddle)
        self._sentence = label("", wrap=True)
        self._form = MenuChip(context.theme, "Read it as", FORMAT_WORDS, "")
        self._form.chosen.connect(self.formed)
        self._hint = label(UNDERSTOOD, "muted", wrap=True)
        self.other = button("Choose something else", self.leave.emit)
        layout = column(self, self._title, self._sentence, self._hint, gap=12)
        layout.addLayout(row(self.other, self._form, None))
        layout.addStretch(1)

    def show_source(self, source: Source) -> None:
        """Say why it cannot be read."""
        problem = source.problem
        if problem is None:
            return
        is_unknown = problem.code == _UNKNOWN and source.form is None
        self._title.say(source.name)
        self._sentence.setText(
            "This is in no format Loci knows. If you know better, say what it is." if is_unknown else problem.sentence
        )
        self._form.setVisible(problem.code == _UNKNOWN)
        self._form.show_choice(source.form or "")
        if not source.form:
            self._form.setText("Read it as …")


class Waiting(QWidget):
    """A source that is being read."""

    def __init__(self) -> None:
        super().__init__()
        self._sentence = Elided("", "muted", Qt.TextElideMode.ElideMiddle)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.count = label("", "small")
        self.count.setAlignment(Qt.AlignmentFlag.AlignCenter)
        bar = QProgressBar()
        bar.setRange(0, 0)
        bar.setTextVisible(False)
        bar.setFixedWidth(240)
        bar.setAccessibleName("Reading the export")
        layout = column(self, gap=12)
        layout.addStretch(2)
        layout.addWidget(self._sentence)
        layout.addLayout(row(None, bar, None))
        layout.addWidget(self.count)
        layout.addStretch(3)

    def show_source(self, source: Source) -> None:
        """Say what is read."""
        self._sentence.say(f"Reading “{source.name}” …")
        self.count.setText("Nothing is stored yet.")


class Rehearse(QWidget):
    """The step.

    Signals:
        changed: what is chosen is different now.
        spaced: the name of the space to import into.
        formed: a source, and the format it shall be read as.
        leave: choose something else.
    """

    changed = Signal()
    spaced = Signal(str)
    formed = Signal(object, str)
    leave = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._sources: list[Source] = []
        self.list = QListWidget()
        self.list.setAccessibleName("Exports")
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFixedWidth(context.theme.px(160))
        self.list.currentRowChanged.connect(self._show_current)
        self.content = Content(context)
        self.content.chosen.connect(self._chose)
        self.waiting = Waiting()
        self.refused = RefusedExport(context)
        self.refused.formed.connect(self._form)
        self.refused.leave.connect(self.leave)
        self._stack = QStackedWidget()
        for page in (self.waiting, self.content, self.refused):
            self._stack.addWidget(page)
        line = row(self.list, self._stack, gap=24)
        line.setStretch(1, 1)
        self.space = QComboBox()
        self.space.setEditable(True)
        self.space.setAccessibleName("Import into")
        self.space.setToolTip("The space it goes to, a wing of the palace; entries that name their own go there.")
        self.space.setMinimumWidth(context.theme.px(160))
        self._typed = QTimer(self)
        self._typed.setSingleShot(True)
        self._typed.timeout.connect(self._spaced)
        self._space = HOME_SPACE
        self.offer_spaces(())
        self.space.editTextChanged.connect(lambda _: self._typed.start(_EDITED_MS))
        self._total = label("", "muted")
        layout = column(self, gap=12)
        layout.addLayout(line, 1)
        layout.addLayout(row(label("Import into", "muted"), self.space, None, self._total))

    # ---- sources

    def show_sources(self, sources: Sequence[Source]) -> None:
        """Show other sources; the first one that can be read is looked at."""
        self._sources = list(sources)
        self.list.blockSignals(True)  # noqa: FBT003 - Qt's own
        self.list.clear()
        for source in self._sources:
            item = QListWidgetItem(source.name)
            item.setToolTip(tip(source.name))
            item.setSizeHint(QSize(0, self._context.theme.px(48)))
            self.list.addItem(item)
        self.list.blockSignals(False)  # noqa: FBT003 - Qt's own
        self.list.setVisible(len(self._sources) > 1)
        self.list.setCurrentRow(0)
        self._show_current(0)
        self._name_all()

    def show_source(self, source: Source) -> None:
        """A source is read now, or was refused."""
        if source is self.current:
            self._show_current(self.list.currentRow())
        self._name_all()

    def show_count(self, done: int) -> None:
        """How far the reading is."""
        self.waiting.count.setText(f"{count_of(done, 'entry', 'entries')} so far. Nothing is stored yet.")

    @property
    def current(self) -> Source | None:
        """The source that is looked at."""
        at = self.list.currentRow()
        return self._sources[at] if 0 <= at < len(self._sources) else None

    def _show_current(self, _row: int) -> None:
        source = self.current
        if source is None:
            return
        if source.problem is not None:
            self.refused.show_source(source)
            self._stack.setCurrentWidget(self.refused)
        elif source.report is not None:
            self.content.show_source(source)
            self._stack.setCurrentWidget(self.content)
        else:
            self.waiting.show_source(source)
            self._stack.setCurrentWidget(self.waiting)

    def _name_all(self) -> None:
        for at, source in enumerate(self._sources):
            if source.problem is not None:
                state = "cannot be imported"
            elif source.report is None:
                state = "not read yet"
            else:
                state = f"{source.new:,} new" if source.new else "nothing new"
            self.list.item(at).setText(f"{source.name}\n{state}")
        many = len(self._sources) > 1
        self._total.setText(f"{sum(s.new for s in self._sources):,} new in all" if many else "")

    def _chose(self) -> None:
        self._name_all()
        self.changed.emit()

    def _form(self, form: str) -> None:
        if self.current is not None:
            self.formed.emit(self.current, form)

    # ---- the space

    def offer_spaces(self, names: Sequence[str]) -> None:
        """Offer the spaces there are.

        Args:
            names: of the spaces.
        """
        self.space.blockSignals(True)  # noqa: FBT003 - Qt's own
        self.space.clear()
        self.space.addItems(sorted({HOME_SPACE, *names}, key=lambda name: (name != HOME_SPACE, name.casefold())))
        self.space.setCurrentText(self._space)
        self.space.blockSignals(False)  # noqa: FBT003 - Qt's own

    def _spaced(self) -> None:
        name = self.space.currentText().strip()
        if name and name != self._space:
            self._space = name
            self.spaced.emit(name)

    def settle_space(self) -> str:
        """The space as it stands in the field now.

        Returns:
            Its name; the usual one where the field is empty.
        """
        self._typed.stop()
        return self.space.currentText().strip() or HOME_SPACE
