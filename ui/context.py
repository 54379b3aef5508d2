"""What every page and section of the inspector is given, and how they are registered.

Must not do: know a single page or section.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from core.events import Changed
from core.types.clients import PairingQuestion, PairingTurn
from core.types.clock import Clock
from core.types.memory import Belief
from core.types.replies import MemoryDetail, WaitingKind
from core.types.values import Kind, Memory
from ui.bridge import Bridge, TaskRunner
from ui.prefs import Prefs
from ui.strings import Strings
from ui.theme.theme import Theme
from ui.widgets.basics import make_timer

USUAL_PLACES: Final = Path("~")
"""In `Desk.import_paths`: look for exports where they usually lie. Nothing that is dropped or chosen is called so."""

RUNS_SEEN: Final = "journal.looked"
"""The state that says up to when, in epoch ms, the person has seen what runs by themselves did."""

CLOSER: Final = "closer"
"""The origin of a selection that wants the inspector open: somebody asked to look closer at one memory."""

_DELIBERATE = frozenset({Qt.FocusReason.MouseFocusReason, Qt.FocusReason.ShortcutFocusReason})
"""Tab is none of them: what has the keyboard and vanishes leaves it to the next as if Tab were pressed."""
_WINDOWS_OWN = frozenset(
    {Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason, Qt.FocusReason.MenuBarFocusReason}
)
"""The window was left or came back, or a menu was opened: where the person had put the keyboard says nothing new."""


class Selection(QObject):
    """The memory that is looked at; pages set it, the inspector follows.

    Attributes:
        current: id of the memory; "" for none.
        summary: makes what is shown while no memory is looked at, such as the summary of a room; None for nothing.

    Signals:
        changed: (memory id or "", who set it); with "" also where another summary is to be seen.
    """

    changed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.current = ""
        self.summary: Callable[[], QWidget] | None = None

    def show_summary(self, make: Callable[[], QWidget] | None, origin: str) -> None:
        """Show something while no memory is looked at.

        Args:
            make: makes it, when it is to be seen; None for nothing.
            origin: as for `select`.
        """
        if make is not self.summary:
            self.summary = make
            if not self.current:
                self.changed.emit("", origin)

    def select(self, memory_id: str, origin: str) -> None:
        """Look at a memory.

        Args:
            memory_id: "" for none.
            origin: the page's id, so that it can ignore its own echo.
        """
        if memory_id != self.current:
            self.current = memory_id
            self.changed.emit(memory_id, origin)

    def reselect(self, memory_id: str, origin: str) -> None:
        """Look at a memory that may be looked at already, because it changed."""
        self.current = memory_id
        self.changed.emit(memory_id, origin)


@dataclass(frozen=True, slots=True)
class Command:
    """Something the person can ask for by menu, shortcut or command palette.

    Attributes:
        id: unique, such as `edit.undo`.
        title: in the imperative: `Lock the palace`.
        run: does it.
        menu: `file`, `edit`, `view`, `go`, `help`, or "" for the command palette alone.
        shortcut: the keys; None for none.
        icon: name of an icon; "" for none.
        needs_vault: whether it makes sense only while the vault is open.
        words: more words by which the palette finds it.
        needs_inspector: whether it acts on what the inspector shows; without one its keys are the focused widget's.
        more_shortcuts: other keys for the same, as they are on keyboards of other layouts.
    """

    id: str
    title: str
    run: Callable[[], None]
    menu: str = ""
    shortcut: QKeySequence.StandardKey | str | None = None
    icon: str = ""
    needs_vault: bool = True
    words: str = ""
    needs_inspector: bool = False
    more_shortcuts: tuple[str, ...] = ()


class Commands(QObject):
    """All commands, in the order they were added.

    Signals:
        changed: a command was added or renamed.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: dict[str, Command] = {}

    def add(self, command: Command) -> None:
        """Add one, or put it in the place of the one with the same id."""
        self._all[command.id] = command
        self.changed.emit()

    def list_commands(self) -> tuple[Command, ...]:
        """All of them."""
        return tuple(self._all.values())

    def run(self, command_id: str) -> None:
        """Carry one out.

        Raises:
            KeyError: there is no such command.
        """
        self._all[command_id].run()


class Desk(QObject):
    """What pages ask of the shell without knowing it.

    Signals:
        go: show a page (its id) with a target the page understands, "" for none.
        message_asked: a sentence for the person, the title of an action with it ("" for none), what it does, whether
            it stays.
        import_paths: files and folders that were dropped or chosen; empty to ask, `USUAL_PLACES` alone to look around.
        attach_paths: files that were dropped or chosen to be attached; empty to ask.
        search: put a search into the library.
        seal: seal memories, by their ids; () to look at those that are sealed.
        sealed_copies: show the backups from before memories were sealed.
        looked: what a page counts was looked at: the counts are asked anew.
        message_over: a sentence that stays is over: nobody has to close it.

    Attributes:
        question: what was asked last, in the search field or on a page; "" before, and once the vault is locked.
        is_searching: whether the person put the keyboard into a search field; where it only fell there, since what had
            it vanished, they did not.
    """

    go = Signal(str, str)
    message_asked = Signal(str, str, object, bool)
    import_paths = Signal(list)
    attach_paths = Signal(list)
    search = Signal(str)
    seal = Signal(tuple)
    sealed_copies = Signal()
    looked = Signal()
    message_over = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.question = ""
        self.is_searching = False

    def follow_keyboard(self, event: QEvent) -> None:
        """Hear of an event of a search field."""
        if event.type() in {QEvent.Type.MouseButtonPress, QEvent.Type.KeyPress}:  # it may have had the keyboard before
            self.is_searching = True
        elif isinstance(event, QFocusEvent) and event.reason() not in _WINDOWS_OWN:
            self.is_searching = event.gotFocus() and event.reason() in _DELIBERATE

    def show_message(
        self, sentence: str, action: str = "", run: Callable[[], None] | None = None, *, stays: bool = False
    ) -> None:
        """Tell the person something, for some seconds.

        Args:
            sentence: one sentence; no memory text.
            action: the title of what can be done about it, such as `Undo`.
            stays: whether it waits until the person closes it.
        """
        self.message_asked.emit(sentence, action, run, stays)


class PairingPort(Protocol):
    """The open socket, as far as the window pairs assistants through it. Every call is quick and never raises."""

    def open_pairing(
        self, name: str | None, grants: tuple[str, ...] | None, limit: int | str | None = None
    ) -> PairingTurn:
        """Open pairing; an earlier code is dead from now on.

        Args:
            name: the name the client must get, whose remembered no is forgotten; None to take its own.
            grants: the most it can get; None for what it asks for.
            limit: searches a minute; None for the default.

        Returns:
            What is waited for: the code, the question, the end.
        """
        ...

    def answer_question(self, request_id: str, allow: bool, grants: tuple[str, ...] | None = None) -> Future[bool]:
        """Say yes or no to a question.

        Args:
            grants: with a yes, what of the question's grants it gets, and the spaces the person added; None for all of
                the question's.

        Returns:
            False where nobody waits for it any more.
        """
        ...

    def cancel_pairing(self) -> Future[None]:
        """The code is dead; an open question counts as not answered."""
        ...


class PairingState(QObject):
    """Pairing as the whole window sees it: how it is done, and who waits for an answer.

    Signals:
        changed: an assistant asks, or was answered.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.port: PairingPort | None = None
        self.question: PairingQuestion | None = None

    def set_question(self, question: PairingQuestion | None) -> None:
        """Note who waits for an answer; None for nobody."""
        self.question = question
        self.changed.emit()


@dataclass(frozen=True, slots=True)
class Context:
    """The parts every page and section of the inspector works with."""

    bridge: Bridge
    tasks: TaskRunner
    theme: Theme
    selection: Selection
    commands: Commands
    prefs: Prefs
    desk: Desk
    clock: Clock
    pairing: PairingState = field(default_factory=PairingState)


class WindowPage(QWidget):
    """One page of the window.

    A page is made when it is first shown and lives until the vault is locked.

    Attributes:
        search_field: its own search field, where its `PageSpec` says that it has one.
        is_empty: whether there is nothing on it that could be inspected.

    Signals:
        emptied: `is_empty` is another now.
    """

    emptied = Signal()
    search_field: QLineEdit | QPlainTextEdit | None = None
    is_empty = False

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.is_stale = True

    def activate(self, target: str = "") -> None:
        """It is shown now: read what is stale, take the keyboard.

        Args:
            target: what the page should show, as `Desk.go` was given.
        """

    def deactivate(self) -> None:
        """Another page is shown."""

    def note_empty(self, is_empty: bool) -> None:
        """Something can be inspected on it now, or nothing any more."""
        if is_empty is not self.is_empty:
            self.is_empty = is_empty
            self.emptied.emit()

    def takes_search(self) -> bool:
        """Whether a wish to search is for its own field, although the window's is there too."""
        return False

    def focus_search(self) -> None:
        """Put the keyboard into its own search field; what is in it is chosen, so that typing replaces it."""
        if self.search_field is not None:
            self.search_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.search_field.selectAll()
            self.context.desk.is_searching = True

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show; pictures wait for that."""
        return True

    def handle_change(self, change: Changed) -> None:
        """Something in the vault is different; a page that is not shown only notes that it is stale.

        Args:
            change: what; a page may ignore its own echo, or verbs that do not concern it.
        """
        self.is_stale = self.is_stale or bool(change.verb)


class RefreshingPage(WindowPage):
    """A page that reads again after a change, at most a few times a second, and only while it is shown.

    Attributes:
        refresh_ms: how long after a change it reads again; what changes until then is read with it.
    """

    refresh_ms = 400

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._is_shown = False
        self._refresh = make_timer(self, self.reload_stale, self.refresh_ms)

    def activate(self, target: str = "") -> None:
        """It is shown: from now on it reads again after a change."""
        super().activate(target)
        self._is_shown = True

    def deactivate(self) -> None:
        """Another page is shown: what changed and was not read again yet is stale."""
        super().deactivate()
        self._is_shown = False
        self.is_stale = self.is_stale or self._refresh.isActive()
        self._refresh.stop()

    def handle_change(self, change: Changed) -> None:
        """Read again in a moment, where it is shown."""
        super().handle_change(change)
        if self._is_shown and not self._refresh.isActive():
            self._refresh.start()

    def reload_stale(self) -> None:
        """Read what a change may have made stale."""
        raise NotImplementedError  # each page says it


@dataclass(frozen=True, slots=True)
class PageSpec:
    """How a page is registered.

    Attributes:
        id: a page name of `loci shot`.
        strings: the sentences of its file; `rail` of them names it.
        icon: name of an icon.
        make: makes it.
        inspects: whether the inspector can be beside it.
        on_request: whether the inspector is there only once somebody asks for it; such a page needs the room.
        badge: what waits there for the person and is counted beside it; None for a page where nothing waits.
        has_search: whether it has a search field of its own; then the one above the pages is not there.
        has_choice: whether what is looked at on it is its own; a page on request has its own anyway. The others share.
    """

    id: str
    strings: Strings
    icon: str
    make: Callable[[Context], WindowPage]
    inspects: bool = True
    on_request: bool = False
    badge: WaitingKind | None = None
    has_search: bool = False
    has_choice: bool = False

    @property
    def title(self) -> str:
        """As the rail shows it."""
        return str(self.strings()["rail"]["title"])

    @property
    def words(self) -> str:
        """More words by which the command palette finds it."""
        return str(self.strings()["rail"]["words"])

    @property
    def counts(self) -> str:
        """What its badge counts, in a word, for those who hear it; "" for a page where nothing waits."""
        return str(self.strings()["rail"].get("counts", ""))


@dataclass(frozen=True, slots=True)
class Inspected:
    """What the inspector shows.

    Attributes:
        detail: the memory with its provenance, edges and claims.
        history: all versions, oldest first.
        belief: what its trust is made of, its claims, what is against it, what rests on it.
    """

    detail: MemoryDetail
    history: tuple[Memory, ...]
    belief: Belief

    @property
    def memory(self) -> Memory:
        """The memory itself."""
        return self.detail.memory


@dataclass(frozen=True, slots=True)
class Pointed:
    """Places of the text that stand out, because somebody looks at what rests on them.

    Attributes:
        places: code points, end exclusive.
        against: places that speak against it.
        reveals: whether they shall be brought into sight; else they are only marked.
    """

    places: tuple[tuple[int, int], ...] = ()
    against: tuple[tuple[int, int], ...] = ()
    reveals: bool = False


class InspectorSection(QWidget):
    """One section of the inspector.

    Signals:
        pointed: a `Pointed`; the inspector hands it to every section.
    """

    pointed = Signal(object)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            Whether there is anything to show; a section with nothing to say is hidden.
        """
        raise NotImplementedError  # each kind says it

    def reload(self) -> None:
        """Something changed and this section is shown: read again what it reads by itself."""

    def mark_places(self, pointed: Pointed) -> None:
        """Mark places of the text, where this section shows it.

        Args:
            pointed: which; none of them takes the marks away.
        """


@dataclass(frozen=True, slots=True)
class InspectorSectionSpec:
    """How a section of the inspector is registered.

    Attributes:
        id: unique.
        order: small ones are above.
        make: makes it.
        kinds: kinds of memories it is for.
    """

    id: str
    order: int
    make: Callable[[Context], InspectorSection]
    kinds: frozenset[Kind] = field(default_factory=lambda: frozenset(Kind))
