"""The dialog before a change to many memories: its form, what it would do, one button that says so.

Must not do: change anything; a form only makes a `Revision`, and the dialog tells what was agreed to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QAction, QPainter, QResizeEvent
from PySide6.QtWidgets import QComboBox, QDialog, QLineEdit, QSlider, QWidget

from core.types.values import GLOBAL_SPACE, SecurityTier, Status
from core.types.views import Facets, Revision, RevisionPreview
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.lists.list_view import AfterRemoval, ListView
from ui.lists.row_spec import RowSpec, RowState
from ui.strings import format_count, library_strings, window_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import (
    FlowLayout,
    make_buddy_label,
    make_button,
    make_column,
    make_hairline,
    make_label,
    make_row,
    make_timer,
    set_style_property,
)
from ui.widgets.labels import STATUS_WORDS, count_memories, name_space, read_space_name
from ui.widgets.plaintext import one_line

_OFFERED_TAGS = 12


@dataclass(frozen=True, slots=True)
class PlainChange:
    """A change that needs no form.

    Attributes:
        id: its words stand in `library.json` under it.
        revision: the change.
        is_dangerous: whether its button looks so.
    """

    id: str
    revision: Revision
    is_dangerous: bool = False

    @property
    def verb(self) -> str:
        """In the imperative: `Pin`."""
        return str(library_strings()["changes"][self.id]["verb"])

    @property
    def done(self) -> str:
        """What was done: `pinned`."""
        return str(library_strings()["changes"][self.id]["done"])

    @property
    def note(self) -> str:
        """What it means, one sentence."""
        return str(library_strings()["changes"][self.id]["note"])


PLAIN_CHANGES: Mapping[str, PlainChange] = {
    change.id: change
    for change in (
        PlainChange("pin", Revision(pinned=True)),
        PlainChange("unpin", Revision(pinned=False)),
        PlainChange("protect", Revision(tier=SecurityTier.SENSITIVE)),
        PlainChange("unprotect", Revision(tier=SecurityTier.CLEARTEXT)),
        PlainChange("archive", Revision(status=Status.ARCHIVED)),
        PlainChange("restore", Revision(status=Status.ACTIVE)),
        PlainChange("forget", Revision(status=Status.DELETED), is_dangerous=True),
    )
}


class RevisionForm(QWidget):
    """What is asked.

    Attributes:
        verb: in the imperative: `Move`.
        is_dangerous: whether its button looks so.

    Signals:
        changed: something else was entered.
    """

    changed = Signal()
    verb = ""
    is_dangerous = False

    def make_revision(self) -> Revision | None:
        """What was entered; None while that is nothing."""
        raise NotImplementedError  # each kind says it

    def describe_done(self) -> str:
        """What was done, behind `12 memories`: `moved to work`."""
        raise NotImplementedError  # each kind says it

    def describe_value(self, value: str) -> str:
        """A value of the preview as the person reads it."""
        return one_line(value, 120) or str(library_strings()["preview"]["none"])


class PlainForm(RevisionForm):
    """A change that only has to be agreed to."""

    def __init__(self, change: PlainChange) -> None:
        super().__init__()
        self._change = change
        self.verb, self.is_dangerous = change.verb, change.is_dangerous
        make_column(self, make_label(change.note, "muted", wrap=True))

    def make_revision(self) -> Revision | None:
        """The change itself."""
        return self._change.revision

    def describe_done(self) -> str:
        """What was done."""
        return self._change.done

    def describe_value(self, value: str) -> str:
        """Statuses by their names."""
        return STATUS_WORDS[Status(value)] if value in set(Status) else super().describe_value(value)


class FlowBox(QWidget):
    """As high as the lines of its flow; a dialog does not ask for a height by the width."""

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep room for all lines."""
        super().resizeEvent(event)
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(layout.heightForWidth(self.width()))


class TagForm(RevisionForm):
    """Tags to add and to take away."""

    def __init__(self, facets: Facets | None) -> None:
        super().__init__()
        self.verb = library_strings()["tags"]["verb"]
        strings = library_strings()["tags"]
        self.add = _make_line_edit(strings["add_name"], strings["hint"])
        self.remove = _make_line_edit(strings["remove_name"], strings["hint"])
        layout = make_column(self, make_buddy_label(strings["add"], self.add), self.add, gap=6)
        often = [] if facets is None else list(facets.tags)[:_OFFERED_TAGS]
        if often:
            chips = FlowBox()
            flow = FlowLayout(chips, gap=6)
            for tag in often:
                button = make_button(one_line(tag, 30), self._make_tag_adder(tag), kind="chip")
                button.setAccessibleName(strings["add_tag"].format(tag=one_line(tag, 30)))
                flow.addWidget(button)
            layout.addWidget(chips)
        layout.addSpacing(6)
        layout.addWidget(make_buddy_label(strings["remove"], self.remove))
        layout.addWidget(self.remove)
        for field in (self.add, self.remove):
            field.textChanged.connect(self.changed)

    def _make_tag_adder(self, tag: str) -> Callable[[], None]:
        return lambda: self._add_tag(tag)

    def _add_tag(self, tag: str) -> None:
        tags = _parse_tags(self.add)
        if tag not in tags:
            self.add.setText(", ".join((*tags, tag)))
        self.add.setFocus()

    def make_revision(self) -> Revision | None:
        """The tags."""
        add, remove = _parse_tags(self.add), _parse_tags(self.remove)
        return Revision(add_tags=add, remove_tags=remove) if add or remove else None

    def describe_done(self) -> str:
        """What was done."""
        return str(library_strings()["tags"]["done" if _parse_tags(self.add) else "done_remove"])


class MoveForm(RevisionForm):
    """The space they move to."""

    def __init__(self, context: Context, facets: Facets | None) -> None:
        super().__init__()
        self.verb = library_strings()["move"]["verb"]
        strings = library_strings()["move"]
        self._known = () if facets is None else tuple(facets.spaces)
        self.space = QComboBox()
        self.space.setEditable(True)
        self.space.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.space.setAccessibleName(strings["space"])
        self.space.addItems([name if name != GLOBAL_SPACE else name_space(name) for name in self._known])
        self.space.setCurrentIndex(-1)
        field = self.space.lineEdit()
        if field is not None:
            field.setPlaceholderText(strings["hint"])
            field.setFrame(False)
            arrow = QAction(context.theme.icon("chevron-down", "muted"), strings["list"], field)
            arrow.triggered.connect(self.space.showPopup)
            field.addAction(arrow, QLineEdit.ActionPosition.TrailingPosition)
        self._note = make_label(strings["note"], "small", wrap=True)
        make_column(self, make_buddy_label(strings["label"], self.space), self.space, self._note, gap=6)
        self.space.currentTextChanged.connect(self._on_space_changed)
        self.setFocusProxy(self.space)

    def _on_space_changed(self, _text: str) -> None:
        strings = library_strings()["move"]
        name = self._chosen_space
        is_new = bool(name) and name not in self._known
        self._note.setText(strings["note_new"] if is_new else strings["note"])
        self.changed.emit()

    @property
    def _chosen_space(self) -> str:
        return read_space_name(self.space.currentText().strip())

    def make_revision(self) -> Revision | None:
        """The move."""
        return Revision(space=self._chosen_space) if self._chosen_space else None

    def describe_done(self) -> str:
        """What was done."""
        return str(library_strings()["move"]["done"]).format(space=one_line(self._chosen_space, 40))


class ImportanceForm(RevisionForm):
    """How important they are."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.verb = library_strings()["importance"]["verb"]
        strings = library_strings()["importance"]
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, 20)
        self.slider.setPageStep(4)
        self.slider.setValue(10)
        self.slider.setMinimumHeight(context.theme.px(20))
        self.slider.setAccessibleName(strings["slider"])
        self._figure = make_label("", "strong")
        self._figure.setMinimumWidth(context.theme.px(32))
        self._figure.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.slider.valueChanged.connect(self._on_slider_moved)
        layout = make_column(self, make_buddy_label(strings["label"], self.slider), gap=6)
        layout.addLayout(make_row(self.slider, self._figure, gap=12))
        layout.addLayout(make_row(make_label(strings["least"], "small"), None, make_label(strings["most"], "small")))
        self.setFocusProxy(self.slider)
        self._on_slider_moved(self.slider.value())

    def _on_slider_moved(self, value: int) -> None:
        self._figure.setText(f"{value / 20:.2f}")
        self.changed.emit()

    def make_revision(self) -> Revision | None:
        """The importance."""
        return Revision(importance=self.slider.value() / 20)

    def describe_done(self) -> str:
        """What was done."""
        return str(library_strings()["importance"]["done"]).format(value=self.slider.value() / 20)

    def describe_value(self, value: str) -> str:
        """Two digits."""
        return f"{float(value):.2f}"


def _make_line_edit(name: str, hint: str) -> QLineEdit:
    field = QLineEdit()
    field.setAccessibleName(name)
    field.setPlaceholderText(hint)
    return field


def _parse_tags(field: QLineEdit) -> tuple[str, ...]:
    parts: Sequence[str] = [part.strip() for part in field.text().split(",")]
    return tuple(dict.fromkeys(part for part in parts if part))


_PAUSE_MS = 200


@dataclass(frozen=True, slots=True)
class RevisionExample:
    """What would change about one memory.

    Attributes:
        id: the memory.
        head: its beginning.
        before: what it has now.
        after: what it would have.
    """

    id: str
    head: str
    before: str
    after: str


class RevisionExampleRows(RowSpec[RevisionExample]):
    """How examples look: a memory's beginning, and under it what changes."""

    def row_key(self, row: RevisionExample) -> str:
        """The memory."""
        return row.id

    def accessible_text(self, row: RevisionExample) -> str:
        """All of it."""
        return str(library_strings()["preview"]["example"]).format(
            head=one_line(row.head, 120), before=row.before, after=row.after
        )

    def tool_tip(self, _row: RevisionExample) -> str:
        """No tooltip."""
        return ""

    def row_height(self, _row: RevisionExample, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(sizes().row_two)

    def paint_background(self, _painter: QPainter, _rect: QRect, _row: RevisionExample, _state: RowState) -> None:
        """Nothing: they cannot be chosen."""

    def draw_row(self, painter: QPainter, rect: QRect, row: RevisionExample, _state: RowState) -> None:
        """Its two lines."""
        inner = rect.adjusted(12, 5, -12, -5)
        half = inner.height() // 2
        upper = QRect(inner.x(), inner.y(), inner.width(), half)
        self.draw_text(painter, upper, one_line(row.head, 160), "ink", self.theme.font("body"))
        self.draw_text(
            painter, upper.translated(0, half), format_example_change(row), "muted", self.theme.font("small")
        )


def format_example_change(example: RevisionExample) -> str:
    """`home → garden`."""
    return f"{example.before}  →  {example.after}"


class RevisionDialog(QDialog):
    """Asks, shows what would happen, and is told to do it.

    Signals:
        agreed: the form; the person pressed the button.
    """

    agreed = Signal(object)

    def __init__(self, context: Context, ids: Sequence[str], form: RevisionForm, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(context.theme.px(sizes().dialog_wide))
        self._context, self._ids, self.form = context, tuple(ids), form
        self._summary = make_label("", wrap=True)
        self._refusals = make_label("", "warning", wrap=True)
        self._refusals.hide()
        self._list = ListView(
            RevisionExampleRows(context.theme), library_strings()["preview"]["list"], keep=AfterRemoval.NONE
        )
        self._list.setSelectionMode(ListView.SelectionMode.NoSelection)
        self._list.setObjectName("framed")
        self._list.hide()  # until there is something to show; then it stays, so that nothing jumps
        self._list.setMinimumHeight(context.theme.px(sizes().row_two * 4) + 10)
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(form.verb, self._on_agree_clicked, kind="danger" if form.is_dangerous else "primary")
        self.act.setDefault(True)
        layout = make_column(self, make_label(title, "title"), form, make_hairline(), margins=24, gap=12)
        layout.addWidget(self._summary)
        layout.addWidget(self._refusals)
        layout.addWidget(self._list, 1)
        layout.addLayout(make_row(None, self.cancel, self.act))
        self._pause = make_timer(self, self._request_preview, _PAUSE_MS)
        form.changed.connect(self._on_form_changed)
        self._on_form_changed()
        self._request_preview()
        if form.focusPolicy() == Qt.FocusPolicy.NoFocus and form.focusProxy() is None:
            self.act.setFocus()

    @property
    def summary(self) -> str:
        """What would happen, in words."""
        refused = self._refusals.text() if not self._refusals.isHidden() else ""
        return f"{self._summary.text()} {refused}".strip()

    def list_examples(self) -> list[tuple[str, str]]:
        """Beginnings of memories, and what changes about them."""
        return [(one_line(one.head, 160), format_example_change(one)) for one in self._list.lines.list_rows()]

    def _on_form_changed(self) -> None:
        self.act.setEnabled(False)
        self._pause.start()

    def _request_preview(self) -> None:
        self._pause.stop()
        revision = self.form.make_revision()
        if revision is None:
            self._show_preview(RevisionPreview(0, 0), library_strings()["preview"]["waiting"])
            return
        library = self._context.bridge.engine.library
        self._context.tasks.run(
            make_query(library_strings()["tasks"]["preview"], lambda: library.preview_revision(self._ids, revision))
            .within(self, "preview")
            .success(self._show_preview)
            .failure(self._show_failure)
        )

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._show_preview(RevisionPreview(0, 0), problem.sentence if problem is not None else "")
        set_style_property(self._summary, "role", "danger")

    def _show_preview(self, preview: RevisionPreview, instead: str = "") -> None:
        set_style_property(self._summary, "role", "body")
        self._summary.setText(instead or _summarize_preview(preview))
        strings = library_strings()
        refused = [
            strings["preview"]["refused"].format(memories=count_memories(count), reason=reason)
            for reason, count in preview.refused.items()
        ]
        self._refusals.setText("\n".join(refused))
        self._refusals.setVisible(bool(refused))
        words = self.form.describe_value
        self._list.show_lines(
            [RevisionExample(one, text, words(before), words(after)) for one, text, before, after in preview.examples]
        )
        if preview.examples:
            self._list.show()
        title = strings["changes"]["title"].format(verb=self.form.verb, memories=count_memories(preview.changes))
        self.act.setText(title if preview.changes else self.form.verb)
        self.act.setAccessibleName(self.act.text())
        self.act.setEnabled(bool(preview.changes))
        if self.sizeHint().height() > self.height():
            self.adjustSize()

    def _on_agree_clicked(self) -> None:
        self.agreed.emit(self.form)
        self.accept()


def _summarize_preview(preview: RevisionPreview) -> str:
    strings = library_strings()["preview"]
    if not preview.changes:
        return str(strings["nothing"] if not preview.unchanged else strings["already"])
    more = len(preview.examples) < preview.changes
    sentence = str(strings["some" if more else "all"]).format(memories=count_memories(preview.changes))
    if preview.unchanged:
        sentence = f"{format_count(strings['unchanged'], preview.unchanged)} {sentence}"
    return sentence
