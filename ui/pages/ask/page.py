"""The Ask page: questions to a local model about what is remembered, each answer with the memories it rests on.

Without a model the answer is the memories themselves. Must not do: know another page, keep a word unasked, or show a
model's words as anything but text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QWidget

from core.events import Changed
from core.types.belief import ModelServerState
from core.types.sessions import AskOffer
from ui.bridge import make_query
from ui.context import CLOSER, Context, PageSpec, WindowPage
from ui.pages.ask.column import TurnColumn
from ui.pages.ask.conversation import AskConversation, AskTurn, KeptConversation
from ui.pages.ask.question import AskQuestionBar, describe_offline
from ui.pages.ask.sources import SourcePanel
from ui.pages.ask.turn import describe_turn_end
from ui.strings import ask_strings, format_count
from ui.undo import offer_undo
from ui.widgets.basics import make_button, make_column, make_hairline, make_label, make_row, make_timer
from ui.widgets.labels import name_space
from ui.widgets.states import FOOT, Banner

ASK = "ask:"
_WHOLE = 100
_SHOW_MS = 40
_SPACE_NAME = 40  # characters
_PAGES = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}

_TELLING = frozenset({ModelServerState.FAILING, ModelServerState.OFF})
"""States whose sentence is short and says what is wrong, not what to install."""


class OfflineNotice(QWidget):
    """Says that no model answers: first what one gets instead, then, to who asks, how a model is got."""

    def __init__(self, check: Callable[[], None]) -> None:
        """Make it.

        Args:
            check: looks again whether a model answers.
        """
        super().__init__()
        self._check, self._explains, self._sentence = check, False, ""
        self._banner: Banner | None = None
        self._column = make_column(self)

    def show_offer(self, offer: AskOffer) -> None:
        """Say how the models are; nothing where one answers."""
        self._sentence = describe_offline(offer)
        self._show_banner(is_open=self._explains or offer.server in _TELLING)

    def _explain_models(self) -> None:
        self._explains = True
        self._show_banner(is_open=True)

    def _show_banner(self, *, is_open: bool) -> None:
        if self._banner is not None:
            self._banner.deleteLater()
            self._banner = None
        self.setVisible(bool(self._sentence))
        if not self._sentence:
            return
        acts, short = ask_strings()["acts"], ask_strings()["offline"]["short"]
        if is_open:
            self._banner = Banner(self._sentence, "plain", acts["check"], self._check)
        else:
            self._banner = Banner(short, "plain", acts["how"], self._explain_models)
        self._column.addWidget(self._banner)


class AskPage(WindowPage):
    """The Ask page.

    Attributes:
        conversation: the turns. `column`: how they are shown. `panel`: the sources beside them.
        bar: where a question is typed; its `chips` say who answers, and what may be used.
        offer: what there is to choose from; None until that is known.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        acts, theme = ask_strings()["acts"], context.theme
        self.conversation = AskConversation(context, self)
        self.offer: AskOffer | None = None
        self._is_reading = False
        self._pending: str | None = None
        self.column, self.bar, self.panel = TurnColumn(context), AskQuestionBar(theme), SourcePanel(theme)
        self.keep = make_button(acts["keep"], self.conversation.keep, theme=theme, icon="save", hint=acts["keep_hint"])
        self.clear = make_button(acts["clear"], self.clear_turns, kind="ghost", theme=theme, icon="plus")
        self.search_field = self.bar.field
        self.offline = OfflineNotice(self.read_offer)
        self._shown_soon = make_timer(self, self._show_newest, _SHOW_MS)
        self._build_layout()
        self._connect_conversation()
        self._fit_width()

    def _build_layout(self) -> None:
        layout = make_column(self, gap=10)
        layout.setContentsMargins(24, 16, 24, 12)
        header = make_row(make_label(ask_strings()["title"], "title"), None, self.clear, self.keep, gap=8)
        header.addStrut(self.context.theme.px(self.context.theme.tokens.sizes.control))
        layout.addLayout(header)
        layout.addWidget(self.offline)
        foot, main, line = QWidget(), QWidget(), make_hairline()
        make_row(None, self.bar, None, parent=foot, gap=0).setStretch(1, _WHOLE)
        line.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
        make_column(main, self.column, line, foot, gap=10).setStretch(0, 1)
        row = make_row(main, self.panel, gap=24)
        row.setStretch(0, 1)
        layout.addLayout(row, 1)

    def _connect_conversation(self) -> None:
        talk = self.conversation
        talk.begun.connect(self._on_begun)
        talk.moved.connect(self._on_moved)
        talk.ended.connect(self._on_ended)
        talk.server_lost.connect(self.read_offer)
        talk.kept.connect(self._on_kept)
        talk.checked.connect(self._enable_acts)
        self.bar.asked.connect(self.ask)
        self.bar.stop_asked.connect(talk.stop)
        self.bar.chips.changed.connect(self._place_turns)
        self.column.question_chosen.connect(self.ask)
        self.column.retry_asked.connect(self.retry)
        self.column.looked_at.connect(lambda _: self._show_sources())
        for part in (self.column.memory_asked, self.panel.opened):
            part.connect(self._open_memory)
        self.column.why_asked.connect(partial(_explain_source, self.context))
        self.panel.why_asked.connect(
            lambda memory_id: _explain_source(self.context, self.column.current_turn, memory_id)
        )
        self.context.theme.changed.connect(self._fit_width)
        for keys, run in ((QKeySequence(Qt.Key.Key_Escape), talk.stop), (QKeySequence("Ctrl+R"), self.retry)):
            shortcut = QShortcut(keys, self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(run)

    # ---- the page's life

    def activate(self, target: str = "") -> None:
        """Show the page and look which models there are.

        Args:
            target: `ask:` with a question; "" for none.
        """
        self.is_stale = False
        if target.startswith(ASK):
            self._pending = target.removeprefix(ASK)
        if self.conversation.open_turn is None:
            self.read_offer()
        self.bar.field.setFocus()

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        is_waiting = self._is_reading or self._pending is not None or self._shown_soon.isActive()
        return not is_waiting and self.conversation.open_turn is None

    def handle_change(self, change: Changed) -> None:
        """An undo may take back what was kept."""
        super().handle_change(change)
        if change.verb == "undo":
            self.conversation.check_kept()

    # ---- who answers

    def read_offer(self) -> None:
        """Look which models can answer now."""
        self._is_reading = True
        conversations = self.context.bridge.engine.conversations
        task = make_query(ask_strings()["tasks"]["offer"], conversations.read_offer).within(self, "offer")
        self.context.tasks.run(task.success(self._show_offer).failure(self._on_no_offer))

    def _on_no_offer(self, _error: BaseException) -> None:
        self._is_reading = False
        self._pending = None

    def _show_offer(self, offer: AskOffer) -> None:
        self._is_reading, self.offer = False, offer
        self.bar.chips.show_offer(offer)
        self._place_turns()
        self.offline.show_offer(offer)
        pending, self._pending = self._pending, None
        if pending is not None:
            self.ask(pending)

    # ---- asking

    def ask(self, question: str) -> None:
        """Ask a question; one that is asked before the models are known waits for them."""
        if self.offer is None:
            self._pending = question
            return
        self.conversation.ask(question, self.bar.chips.allowed)

    def retry(self) -> None:
        """Answer the last question once more."""
        self.conversation.retry(self.bar.chips.allowed)

    def clear_turns(self) -> None:
        """Begin a new conversation."""
        self.conversation.clear()
        self.column.clear_turns()
        self.bar.show_open(is_open=False)
        self._place_turns()
        self._show_sources()
        self.bar.field.setFocus()

    def _on_begun(self, turn: AskTurn) -> None:
        self.bar.show_open(is_open=True)
        self.column.begin_turn(turn)
        self._place_turns()

    def _on_moved(self, _turn: AskTurn) -> None:
        """Pieces that come close together are shown together."""
        if not self._shown_soon.isActive():
            self._shown_soon.start()

    def _on_ended(self, turn: AskTurn) -> None:
        self._shown_soon.stop()
        self._show_newest()
        self._place_turns()
        if self.bar.stop.hasFocus():
            self.bar.field.setFocus()
        self.bar.show_open(is_open=False)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, describe_turn_end(turn)))

    # ---- what is shown

    def _show_newest(self) -> None:
        self.column.show_newest()
        self._show_sources()

    def _show_sources(self) -> None:
        turn = self.column.current_turn
        self.panel.show_sources(None if turn is None else turn.prepared, () if turn is None else turn.cited)

    def _place_turns(self) -> None:
        has_model, turns = bool(self.bar.chips.allowed.model), self.conversation.turns
        is_narrow = self.width() < self.context.theme.px(self.context.theme.tokens.sizes.page_wide)
        self.column.place_turns(has_model=has_model, is_narrow=is_narrow)
        # Where the memories are the answer they are in it, and need no place beside it.
        has_sources = bool(turns) and (has_model or any(turn.query.model for turn in turns))
        self.panel.setVisible(has_sources and not is_narrow)
        self._enable_acts()

    def _enable_acts(self) -> None:
        self.clear.setEnabled(bool(self.conversation.turns))
        self.keep.setEnabled(self.conversation.is_keepable)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The sources are beside the conversation where there is room for both."""
        super().resizeEvent(event)
        self._fit_width()

    def _fit_width(self) -> None:
        theme = self.context.theme
        self.panel.setFixedWidth(theme.px(theme.tokens.sizes.list))
        self.bar.setMaximumWidth(theme.px(theme.tokens.sizes.column))
        self._place_turns()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """The keys that turn pages scroll the conversation, wherever the keyboard is."""
        step = _PAGES.get(Qt.Key(event.key()), 0)
        if step:
            self.column.scroll_pages(step)
        else:
            super().keyPressEvent(event)

    # ---- what can be done

    def _open_memory(self, memory_id: str) -> None:
        if memory_id:
            self.context.selection.reselect(memory_id, CLOSER)

    def _on_kept(self, kept: KeptConversation) -> None:
        strings = ask_strings()["kept"]
        captured, sealed = kept.captured, kept.sealed
        sentence = format_count(strings["done"], captured.episodes) if captured.episodes else str(strings["nothing"])
        sentence = f"{sentence} {format_count(strings['sealed'], sealed)}" if sealed else sentence
        if kept.elsewhere:
            space = name_space(kept.space, _SPACE_NAME)
            sentence = f"{sentence} {format_count(strings['elsewhere'], kept.elsewhere, space=space)}"
        if captured.ids and captured.step_id:
            offer_undo(self.context, sentence, captured.step_id)
        else:
            self.context.desk.show_message(sentence)
        self._enable_acts()


def _explain_source(context: Context, turn: AskTurn | None, memory_id: str) -> None:
    """The laboratory shows why a memory was found; it is asked the same words."""
    if turn is not None and turn.prepared is not None:
        words = " ".join(turn.prepared.searched.split())
        context.desk.go.emit("recall", f"found:{memory_id} {words}")


ASK_PAGE = PageSpec("ask", ask_strings, "message-square", AskPage, on_request=True, has_search=True)
