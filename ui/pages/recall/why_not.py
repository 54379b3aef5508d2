"""Why a memory did not come: named by its words or its id, told at which stage of the question it was dropped.

Must not do: guess; what the trace of the answer does not know is said to be unknown, with what would help.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import QDialog, QFrame, QLineEdit, QListWidget, QListWidgetItem, QWidget

from core.types.recall import LabAnswer, Trace, TracedCandidate
from core.types.values import Kind, Status
from core.types.views import FindRequest, FindResult, MemoryRow
from ui.bridge import make_query
from ui.context import Context
from ui.pages.recall.labels import describe_places, explain_missing, shorten_question
from ui.strings import recall_strings, window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.widgets.basics import make_button, make_column, make_label, make_row, make_timer, set_style_property
from ui.widgets.labels import KIND_WORDS, format_said_or_noted, name_space
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import KIND_TOKENS, kind_pixmap

_WORD = re.compile(r"[^\W_]+")
_STEM = 4
"""Letters from which on a word counts as another form of one that begins with it."""
_WORDS, _LONG = 4, 40


def find_shared_words(essence: str, text: str) -> list[str]:
    """The words of a question that a text has, in one form or another.

    Args:
        essence: the question without the words that tell nothing.
        text: of a memory, or its beginning.

    Returns:
        As they are in the question, each once.
    """
    known = {word.casefold() for word in _WORD.findall(text)}
    found = {
        word.casefold(): word
        for word in _WORD.findall(essence)
        if any(_are_words_alike(word.casefold(), one) for one in known)
    }
    return list(found.values())


def _are_words_alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= _STEM and long.startswith(short))


def describe_absence(memory: MemoryRow, essence: str, trace: Trace) -> list[str]:
    """Why a memory may be no candidate, and what to do.

    Args:
        essence: the question without the words that tell nothing.
        trace: of the answer, which does not know the memory.
    """
    strings = recall_strings()["why_not"]
    count, scope = len(trace.candidates), trace.stages.get("in_scope", 0)
    first, *more = explain_missing(None, memory.status)
    if sum(one.rank is not None for one in trace.candidates) < scope:
        first = strings["unkept"].format(kept=f"{count:,}", count=f"{scope:,}")
    if memory.status is not Status.ACTIVE:
        return [first, *more]
    found = [f"“{one_line(word, _LONG)}”" for word in find_shared_words(essence, memory.head)[:_WORDS]]
    if found:
        sentence = strings["shares"].format(words=", ".join(found))
    else:
        sentence = strings["shares_none_cut" if memory.is_cut else "shares_none"]
    return [first, sentence, strings["nearness"], strings["help"]]


_ID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_PAUSE_MS = 200
_SHOWN = 8
_WIDTH, _HEIGHT = 600, 520


class WhyNotDialog(QDialog):
    """A field, the memories that fit, the verdict about one.

    Signals:
        should: the id of a memory that should have been in the answer.
        closer: the id of one to look at.
    """

    should = Signal(str)
    closer = Signal(str)

    def __init__(self, context: Context, answer: LabAnswer, question: str, parent: QWidget) -> None:
        """Make it.

        Args:
            answer: the answer it is about.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        strings = recall_strings()["why_not"]
        self._context, self._answer = context, answer
        self._named, self._question = "", question
        self._pause = make_timer(self, self._search_memory, _PAUSE_MS)
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.resize(context.theme.px(_WIDTH), context.theme.px(_HEIGHT))
        self.field = QLineEdit()
        self.field.setAccessibleName(strings["field"])
        self.field.setPlaceholderText(strings["field"])
        self.field.textChanged.connect(lambda _: self._pause.start())
        self.field.returnPressed.connect(self._show_current_verdict)
        self.list = QListWidget()
        self.list.setObjectName("framed")
        self.list.setAccessibleName(strings["list"])
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(lambda item: self.show_memory(item.data(Qt.ItemDataRole.UserRole)))
        self.list.itemActivated.connect(lambda item: self.show_memory(item.data(Qt.ItemDataRole.UserRole)))
        self._none = make_label("", "warning", wrap=True)
        self._none.hide()
        self._card = QFrame()
        self._card.setObjectName("panel")
        self._text = make_label("", "strong", wrap=True)
        self._about = make_label("", "small")
        self._verdict = make_label("", wrap=True)
        self._numbers = make_label("", "muted", wrap=True)
        self.should_button = make_button(strings["should"], lambda: self.should.emit(self._named))
        self.closer_button = make_button(strings["closer"], self._open_memory, kind="link")
        self.closer_button.setProperty("flush", "true")
        self.close_button = make_button(window_strings()["buttons"]["close"], self.reject)
        for part in (self.should_button, self.closer_button, self.close_button):
            part.setAutoDefault(False)
        self._build_layout(shorten_question(question))
        self.field.setFocus()

    def _build_layout(self, question: str) -> None:
        strings = recall_strings()["why_not"]
        header = make_column(None, make_label(strings["title"], "title"), gap=4)
        header.addWidget(make_label(strings["question"].format(query=question), "strong", wrap=True))
        header.addWidget(make_label(strings["sentence"], "muted", wrap=True))
        card = make_column(self._card, self._text, self._about, self._verdict, self._numbers, margins=16, gap=6)
        card.addLayout(make_row(self.should_button, self.closer_button, None, gap=12))
        self._card.hide()
        layout = make_column(self, margins=24, gap=12)
        layout.addLayout(header)
        layout.addWidget(self.field)
        layout.addWidget(self._none)
        layout.addWidget(self.list, 1)
        layout.addWidget(self._card)
        layout.addLayout(make_row(None, self.close_button))

    @property
    def sentence(self) -> str:
        """What is said about the memory that was named."""
        return self._verdict.text() if not self._card.isHidden() else ""

    # ---- naming

    def _search_memory(self) -> None:
        typed = self.field.text().strip()
        self._card.hide()  # what was said before is about another memory
        found = _ID.search(typed)
        if found is not None:
            self.show_memory(found.group().lower())
        elif typed:
            library = self._context.bridge.engine.library
            wanted = FindRequest(library.remove_stop_words(typed))
            task = make_query(recall_strings()["tasks"]["search"], lambda: library.find_memories(wanted)).within(
                self, "find"
            )
            self._context.tasks.run(task.success(self._on_memories_found).failure(lambda _: self._show_matches(())))
        else:
            self._show_matches(())
            self._show_not_found("")

    def _on_memories_found(self, found: FindResult) -> None:
        ids = found.ids[:_SHOWN]
        library = self._context.bridge.engine.library
        task = make_query(recall_strings()["tasks"]["search"], lambda: library.read_rows(ids)).within(self, "find")
        self._context.tasks.run(task.success(self._show_matches).failure(lambda _: self._show_matches(())))

    def _show_matches(self, rows: Sequence[MemoryRow]) -> None:
        self.list.clear()
        self._show_not_found("" if rows else "none")
        theme = self._context.theme
        side = theme.px(16)
        self.list.setIconSize(QSize(side, side))
        for memory in rows:
            item = QListWidgetItem(f"{one_line(memory.head, 110)}\n{_describe_memory(memory)}", self.list)
            item.setIcon(_kind_icon(theme, memory.kind))
            item.setData(Qt.ItemDataRole.UserRole, memory.id)
            item.setSizeHint(QSize(100, theme.px(sizes().row_two)))
        self.list.setCurrentRow(0 if rows else -1)

    def _show_not_found(self, which: str) -> None:
        """Say that nothing has the words or the id; "" for that there is nothing to say."""
        self._none.setText(recall_strings()["why_not"][which] if which else "")
        self._none.setVisible(bool(which))

    def _show_current_verdict(self) -> None:
        if self._pause.isActive():
            self._pause.stop()
            self._search_memory()
        item = self.list.currentItem()
        if item is not None:
            self.show_memory(item.data(Qt.ItemDataRole.UserRole))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Down goes from the field into the list."""
        if event.key() == Qt.Key.Key_Down and self.field.hasFocus() and self.list.count():
            self.list.setFocus()
        else:
            super().keyPressEvent(event)

    # ---- the verdict

    def show_memory(self, memory_id: str) -> None:
        """Say what became of a memory."""
        library = self._context.bridge.engine.library
        task = make_query(recall_strings()["tasks"]["memory"], lambda: library.read_rows((memory_id,))).within(
            self, "row"
        )
        self._context.tasks.run(task.success(self._show_verdict).failure(lambda _: self._show_verdict(())))

    def _show_verdict(self, rows: Sequence[MemoryRow]) -> None:
        self._show_not_found("" if rows else "none_id")
        self._card.setVisible(bool(rows))
        if not rows:
            return
        strings, memory, trace = recall_strings()["why_not"], rows[0], self._answer.trace
        self._named = memory.id
        candidate = next((one for one in trace.candidates if one.id == memory.id), None)
        self._text.setText(one_line(memory.head, 240))
        self._about.setText(_describe_memory(memory))
        self._verdict.setText(" ".join(self._verdict_sentences(candidate, memory)))
        is_here = candidate is not None and candidate.place is not None
        set_style_property(self._verdict, "role", "success" if is_here else "warning")
        numbers = ""
        if candidate is not None and not is_here:
            numbers = strings["evidence"].format(
                evidence=f"{candidate.evidence:.2f}", best=f"{trace.best:.2f}", bar=f"{trace.bar:.2f}"
            )
        self._numbers.setText(numbers)
        self._numbers.setVisible(bool(numbers))
        self.should_button.setVisible(not is_here)
        places = "" if candidate is None else describe_places(candidate.lists)
        self._card.setAccessibleName(f"{self._verdict.text()} {places}")

    def _verdict_sentences(self, candidate: TracedCandidate | None, memory: MemoryRow) -> list[str]:
        if candidate is not None:
            return explain_missing(candidate, memory.status)
        essence = self._context.bridge.engine.library.remove_stop_words(self._question)
        return describe_absence(memory, essence, self._answer.trace)

    def _open_memory(self) -> None:
        self.closer.emit(self._named)
        self.accept()


def _kind_icon(theme: Theme, kind: Kind) -> QIcon:
    """A kind's shape that keeps its colour where its line is chosen."""
    picture = kind_pixmap(kind, theme.px(16), theme.colour(KIND_TOKENS[kind]), 2)
    made = QIcon(picture)
    made.addPixmap(picture, QIcon.Mode.Selected)
    return made


def _describe_memory(memory: MemoryRow) -> str:
    when = format_said_or_noted(memory.occurred, memory.recorded_at)
    return f"{KIND_WORDS[memory.kind]} · {when} · {name_space(memory.space)}"
