"""What the page asks before it acts: the names of an entity, and which other one is the same.

Must not do: write; a dialog only says what was entered.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QDialog, QLineEdit, QPlainTextEdit, QWidget

from core.types.entities import EntityCard, EntityChange, EntityLine, EntityList, EntityQuery, MergePreview
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.pages.entities.labels import entity_list, entity_row, entity_type_name, merge_preview_rows
from ui.strings import entities_strings, window_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import make_button, make_column, make_label, make_row
from ui.widgets.labels import name_space
from ui.widgets.plaintext import one_line

_LIST = 140
_LONGEST = 80


class ChangeDialog(QDialog):
    """Name, other names and type.

    Signals:
        agreed: an `EntityChange`.
    """

    agreed = Signal(object)

    def __init__(self, context: Context, card: EntityCard, parent: QWidget, spaces: Sequence[str] = ()) -> None:
        """Make it.

        Args:
            spaces: names of all spaces that have it, where several do.
        """
        super().__init__(parent)
        strings = entities_strings()["change"]
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["title"])
        self.setMinimumWidth(context.theme.px(sizes().dialog_middle))
        self.name = QLineEdit(card.name)
        self.name.setMaxLength(_LONGEST)
        self.name.setAccessibleName(strings["name"])
        self.others = QPlainTextEdit("\n".join(card.aliases))
        self.others.setAccessibleName(strings["others"])
        self.others.setTabChangesFocus(True)
        self.others.setFixedHeight(context.theme.px(96))
        self.type = QComboBox()
        self.type.setAccessibleName(strings["type"])
        for kind in entities_strings()["types"]:
            self.type.addItem(entity_type_name(kind), kind)
        self.type.setCurrentIndex(self.type.findData(card.type))
        self.act = make_button(strings["act"], self._on_agree_clicked, kind="primary")
        layout = make_column(
            self, make_label(strings["title"], "title"), make_label(strings["sentence"], "muted", wrap=True), margins=24
        )
        layout.setSpacing(10)
        if spaces:
            named = ", ".join(name_space(space, _LONGEST) for space in spaces)
            layout.addWidget(make_label(strings["spread"].format(spaces=named), "muted", wrap=True))
        for title, field in (
            (strings["name"], self.name),
            (strings["others"], self.others),
            (strings["type"], self.type),
        ):
            layout.addWidget(make_label(title, "strong"))
            layout.addWidget(field)
        layout.addLayout(make_row(None, make_button(window_strings()["buttons"]["cancel"], self.reject), self.act))
        self.name.textChanged.connect(lambda text: self.act.setEnabled(bool(text.strip())))

    def _on_agree_clicked(self) -> None:
        others = tuple(line.strip() for line in self.others.toPlainText().splitlines() if line.strip())
        self.agreed.emit(EntityChange(self.name.text().strip(), others, type=str(self.type.currentData())))
        self.accept()


class EntityMergeDialog(QDialog):
    """Which other one is the same; what would happen is shown before.

    Signals:
        agreed: the `MergePreview` that was seen.
    """

    agreed = Signal(object)

    def __init__(self, context: Context, card: EntityCard, parent: QWidget, wanted: str = "") -> None:
        """Make it.

        Args:
            card: the entity that would lead to the other.
            wanted: id of the one that is looked at first; "" for none.
        """
        super().__init__(parent)
        strings = entities_strings()["merge"]
        self.context, self._card, self._wanted = context, card, wanted
        self.seen: MergePreview | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["title"])
        self.setMinimumWidth(context.theme.px(sizes().dialog_middle))
        self.search = QLineEdit()
        self.search.setPlaceholderText(entities_strings()["search"])
        self.search.setAccessibleName(entities_strings()["search"])
        self.list = entity_list(context.theme, strings["pick"])
        self.list.setMinimumHeight(context.theme.px(_LIST))
        self.sentence = make_label(strings["choose"], "muted", wrap=True)
        self.act = make_button(strings["act"], self._on_agree_clicked, kind="primary")
        self.act.setEnabled(False)
        title = f"{strings['title']}: {one_line(card.name, _LONGEST)}"
        layout = make_column(
            self, make_label(title, "title"), make_label(strings["sentence"], "muted", wrap=True), margins=24
        )
        layout.setSpacing(10)
        layout.addWidget(make_label(strings["pick"], "strong"))
        layout.addWidget(self.search)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.sentence)
        layout.addLayout(make_row(None, make_button(window_strings()["buttons"]["cancel"], self.reject), self.act))
        self.search.textChanged.connect(lambda _: self._request_names())
        self.list.looked_at_id.connect(self._request_preview)
        self._request_names()

    def _request_names(self) -> None:
        entities, wanted = self.context.bridge.engine.entities, EntityQuery(self.search.text())
        task = make_query(entities_strings()["tasks"]["names"], lambda: entities.list_entities(wanted)).within(
            self, "list"
        )
        self.context.tasks.run(task.success(self._show_names).failure(self._show_failure))

    def _show_names(self, found: EntityList) -> None:
        wanted = self._wanted if self.list.current is None else ""
        self.list.show_lines([entity_row(one) for one in self._order_others(found.lines)], wanted=wanted)

    def _order_others(self, lines: Sequence[EntityLine]) -> list[EntityLine]:
        """Likely ones first: the one that was asked for, those of the same type, then the rest, each in its order."""
        others = [one for one in lines if one.id != self._card.id]
        return sorted(others, key=lambda one: (one.id != self._wanted, one.type != self._card.type))

    def _request_preview(self, entity_id: str) -> None:
        if self.seen is not None and self.seen.keep.id == entity_id:
            return
        self.seen = None
        self.act.setEnabled(False)
        entities, other = self.context.bridge.engine.entities, self._card.id
        task = make_query(
            entities_strings()["tasks"]["preview"], lambda: entities.merge_preview(entity_id, other)
        ).within(self, "preview")
        self.context.tasks.run(task.success(self._show_preview).failure(self._show_failure))

    def _show_preview(self, seen: MergePreview) -> None:
        self.seen = seen
        self._show_text("\n".join(merge_preview_rows(seen)))
        self.act.setEnabled(not seen.refusal)

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self._show_text(problem.sentence)

    def _show_text(self, text: str) -> None:
        self.sentence.setText(text)
        # A dialog does not ask wrapped text how high it is.
        self.sentence.setMinimumHeight(self.sentence.heightForWidth(self.sentence.width()))

    def _on_agree_clicked(self) -> None:
        if self.seen is not None:
            self.agreed.emit(self.seen)
            self.accept()
