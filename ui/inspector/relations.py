"""The sections on how a memory relates to others: what it names, supports, contradicts, replaces; what rests on it.

And with what it may belong together: a note, which asks for nothing and is never counted.

Must not do: show an edge without the memory at its other end, or hold anything back; the dialog lists it first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from core.types.lifecycle import Inferred
from core.types.memory import OpenConflict, Rests
from core.types.reviews import Decision, DecisionReply
from core.types.values import OWNER_ACTOR, STANDING, Action, Kind, Memory, Status
from core.types.views import MemoryRow
from ui.bridge import make_query, make_write
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec
from ui.inspector.dialogs import HoldDialog
from ui.inspector.shared_widgets import make_flush_row
from ui.strings import belief_strings, format_count, inspector_strings, window_strings
from ui.undo import offer_undo
from ui.widgets.basics import FlowLayout, clear_layout, make_button, make_column, make_label
from ui.widgets.labels import KIND_WORDS, STATUS_WORDS, date_of
from ui.widgets.memory_line import MemoryLine
from ui.widgets.plaintext import one_line

_MOST, _NAME, _HEAD = 16, 32, 160
_DONE = {Action.KEEP_BOTH: "linked", Action.SUPERSEDE: "was_replaced", Action.SKIP: "dismissed"}
_TECHNOLOGY = "technology"
_ICONS = {
    "person": "user",
    "organization": "users",
    "place": "landmark",
    "project": "folder",
    _TECHNOLOGY: "settings-2",
    "file": "file",
    "service": "database",
}


def named_entities(inferred: Inferred) -> tuple[tuple[str, str], ...]:
    """Whom and what a memory names, each once, in the order of its text: type and name."""
    found = {one.name.casefold(): (one.type, one.name) for one in inferred.entities}
    for name in inferred.technologies:
        found.setdefault(name.casefold(), (_TECHNOLOGY, name))
    return tuple(found.values())


class MentionsSection(InspectorSection):
    """Chips, and a way to have the text read at once."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._memory_id = ""
        self._shown: tuple[tuple[str, str], ...] = ()
        self.chips = QWidget()
        self._flow = FlowLayout(self.chips, gap=6)
        self.sentence = make_label("", "small", wrap=True)
        self.link = make_button(inspector_strings()["names"]["read_now"], self._extract_names, kind="link")
        layout = make_column(
            self, make_label(inspector_strings()["names"]["title"], "label"), self.chips, self.sentence, gap=8
        )
        layout.addLayout(make_flush_row(self.link, None))

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            Whether it is current: only then is it read.
        """
        memory = inspected.memory
        if memory.status not in STANDING:
            return False
        if memory.id != self._memory_id:
            self._memory_id = memory.id
            self._show_chips(())
            self._show_sentence("", "")
        self._request_names()
        return True

    def reload(self) -> None:
        """Something changed: read it as it is now."""
        self._request_names()

    def _request_names(self) -> None:
        memories, memory_id = self.context.bridge.engine.memories, self._memory_id
        task = make_query(inspector_strings()["tasks"]["names"], lambda: memories.list_inferred(memory_id)).within(
            self, "names"
        )
        self.context.tasks.run(task.success(self._show_names).failure(self._show_failure))

    def _extract_names(self) -> None:
        memories, memory_id = self.context.bridge.engine.memories, self._memory_id

        def start_extraction() -> Future[Inferred | None]:
            return memories.read_anew(memory_id)

        task = make_write(inspector_strings()["tasks"]["names"], start_extraction).within(self, "names")
        self.context.tasks.run(task.success(self._show_extracted).failure(self._show_failure))

    def _show_extracted(self, inferred: Inferred | None) -> None:
        if inferred is None:  # it was read this moment: nothing is kept of it on purpose
            self._show_chips(())
            self._show_sentence(inspector_strings()["names"]["withheld"], "")
        else:
            self._show_names(inferred)

    def _show_names(self, inferred: Inferred | None) -> None:
        strings = inspector_strings()["names"]
        if inferred is None:
            self._show_chips(())
            self._show_sentence(strings["unread"], strings["read_now"])
            return
        found = named_entities(inferred)
        self._show_chips(found)
        by = strings["by"].get(inferred.made_by, strings["by"]["rules"]).format(when=date_of(inferred.at))
        more = [format_count(strings["more"], len(found) - _MOST)] if len(found) > _MOST else []
        self._show_sentence("\n".join([*more, *([] if found else [strings["none"]]), f"{by}."]), strings["read_again"])

    def _show_chips(self, found: Sequence[tuple[str, str]]) -> None:
        if tuple(found) != self._shown:
            self._shown = tuple(found)
            clear_layout(self._flow)
            for kind, name in found[:_MOST]:
                self._flow.addWidget(self._make_chip(kind, name))
        self.chips.setVisible(bool(found))
        self.chips.updateGeometry()

    def _make_chip(self, kind: str, name: str) -> QPushButton:
        strings = inspector_strings()["names"]
        shown = one_line(name, _NAME)
        type_told = strings["types"].get(kind, strings["types"]["other"])
        search = strings["search"].format(name=one_line(name))
        button = make_button(
            shown, self._make_searcher(name), kind="chip", hint=f"{type_told}. {search}", theme=self.context.theme,
            icon=_ICONS.get(kind, "tag"),
        )  # fmt: skip
        button.setAccessibleName(f"{type_told} {shown}")
        button.setAccessibleDescription(search)
        return button

    def _make_searcher(self, name: str) -> Callable[[], None]:
        """Words are found in any form; a name with other signs in it is searched for as it is."""
        as_words = all(word.isalnum() for word in name.split())
        library, desk = self.context.bridge.engine.library, self.context.desk
        return lambda: desk.search.emit(" ".join(name.split()) if as_words else library.with_term("", "phrase", name))

    def _show_sentence(self, sentence: str, link: str) -> None:
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))
        self.link.setVisible(bool(link))
        self.link.setText(link)
        self.link.setAccessibleName(link)

    def _show_failure(self, _error: BaseException) -> None:
        self._show_chips(())
        self._show_sentence(inspector_strings()["names"]["failed"], inspector_strings()["names"]["read_now"])


MENTIONS = InspectorSectionSpec("mentions", 25, MentionsSection)


_FALLING_AT_ONCE = 6
_HOLDABLE = frozenset({Status.ACTIVE, Status.DISPUTED, Status.CONSOLIDATED})


def describe_dependents(rests: Rests) -> tuple[str, ...]:
    """What rests on a memory, one sentence for each sort."""
    strings = belief_strings()["rests"]
    digests = sum(kind is Kind.DIGEST for _, kind in rests.derived)
    counts = (
        ("digests", digests),
        ("derived", len(rests.derived) - digests),
        ("rules", len(rests.rules)),
        ("alone", rests.alone),
    )
    parts = [format_count(strings[name], count) for name, count in counts if count]
    parts += [format_count(strings["given"], count, name=one_line(name, 40)) for name, count in rests.given]
    if rests.recalled and not rests.given:
        parts.append(format_count(strings["recalled"], rests.recalled))
    return tuple(parts)


class DependentsSection(InspectorSection):
    """What rests on it, and what was made of it as lines that lead there."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._memory: Memory | None = None
        self._client: str | None = None
        self._ids: tuple[str, ...] = ()
        self._most = _FALLING_AT_ONCE
        self.sentences = make_label("", wrap=True)
        self._lines = make_column(gap=2)
        self.hold = make_button(belief_strings()["rests"]["hold"], self._ask_hold, kind="link")
        layout = make_column(self, make_label(inspector_strings()["derived"], "label"), self.sentences, gap=8)
        layout.addLayout(self._lines)
        layout.addLayout(make_flush_row(self.hold, None))

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            Whether anything rests on it, or it could be held back.
        """
        memory, rests = inspected.memory, inspected.belief.rests
        if self._memory is None or self._memory.id != memory.id:
            self._most = _FALLING_AT_ONCE
            clear_layout(self._lines)
        self._memory, self._client = memory, inspected.belief.inputs.client
        sentences = describe_dependents(rests)
        self.sentences.setText("\n".join(f"{one}." for one in sentences) or belief_strings()["rests"]["nothing"])
        self._ids = (*(made for made, _ in rests.derived), *rests.rules)
        can_hold = memory.status in _HOLDABLE
        self.hold.setVisible(can_hold)
        if self._ids:
            self._request_rows()
        else:
            clear_layout(self._lines)
        return bool(sentences) or can_hold

    def _request_rows(self) -> None:
        library, wanted = self.context.bridge.engine.library, self._ids[: self._most]
        task = make_query(inspector_strings()["tasks"]["derived"], lambda: library.read_rows(wanted)).within(
            self, "rows"
        )
        self.context.tasks.run(task.success(self._show_rows))

    def _show_rows(self, rows: Sequence[MemoryRow]) -> None:
        clear_layout(self._lines)
        for shown in rows:
            above = KIND_WORDS[shown.kind]
            if shown.status is not Status.ACTIVE:
                above = f"{above} · {STATUS_WORDS[shown.status].lower()}"
            self._lines.addWidget(MemoryLine(self.context.theme, shown, above, self._select_memory))
        hidden = len(self._ids) - self._most
        if hidden > 0:
            more = make_button(
                window_strings()["buttons"]["show_more"].format(count=min(hidden, _FALLING_AT_ONCE)),
                self._show_more,
                kind="link",
            )
            self._lines.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)

    def _show_more(self) -> None:
        self._most += _FALLING_AT_ONCE
        self._request_rows()

    def _select_memory(self, memory_id: str) -> None:
        self.context.selection.select(memory_id, _ORIGIN)

    def _ask_hold(self) -> None:
        if self._memory is not None:
            dialog = HoldDialog(self.context, self._memory, self._client, self)
            dialog.held.connect(self._on_memories_held)
            dialog.open()

    def _on_memories_held(self, count: int, step_id: str) -> None:
        offer_undo(self.context, format_count(belief_strings()["hold"]["done"], count), step_id)


DEPENDENTS = InspectorSectionSpec("rests", 45, DependentsSection)


_STEP = 12
_ORIGIN = "inspector"


def group_relations(inspected: Inspected) -> dict[str, tuple[str, ...]]:
    """The relations in words, each with the ids at the other end; what it was made of first, parts last."""
    strings, found = inspector_strings()["relations"], dict[str, list[str]]()
    types: Mapping[str, Mapping[str, str]] = strings["types"]
    for edge in inspected.detail.edges:
        words = types.get(str(edge["type"]), {}).get(str(edge["direction"]), strings["other"])
        ids = found.setdefault(words, [])
        if edge["other"] not in ids:
            ids.append(str(edge["other"]))
    headings = [heading for both in types.values() for heading in (both["out"], both["in"])]
    first = types["contradicts"]["out"]
    order = sorted(found, key=lambda words: (words != first, headings.index(words)))
    rests = inspected.belief.rests
    made = {strings["made_of"]: rests.made_of} if rests.made_of else {}
    made |= {words: tuple(found[words]) for words in order}
    if len(inspected.detail.parts) > 1:
        made[strings["parts"]] = inspected.detail.parts
    return made


class RelationsSection(InspectorSection):
    """Relations and parts, as lines that lead to them."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._groups: dict[str, tuple[str, ...]] = {}
        self._memory_id = ""
        self._most = _STEP
        self._inner = make_column(gap=2)
        layout = make_column(self, make_label(inspector_strings()["relations"]["title"], "label"), gap=8)
        layout.addLayout(self._inner)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            Whether it has relations or parts.
        """
        if inspected.memory.id != self._memory_id:
            self._memory_id, self._most = inspected.memory.id, _STEP
            clear_layout(self._inner)
        self._groups = group_relations(inspected)
        if self._groups:
            self._request_rows()
        return bool(self._groups)

    def _request_rows(self) -> None:
        ids = list(dict.fromkeys(memory_id for group in self._groups.values() for memory_id in group[: self._most]))
        library = self.context.bridge.engine.library
        task = make_query(inspector_strings()["tasks"]["relations"], lambda: library.read_rows(ids)).within(
            self, "rows"
        )
        self.context.tasks.run(task.success(self._show_rows))

    def _show_rows(self, found: Sequence[MemoryRow]) -> None:
        rows = {shown.id: shown for shown in found}
        clear_layout(self._inner)
        for words, ids in self._groups.items():
            self._inner.addWidget(_make_relation_heading(words, len(ids)))
            for number, memory_id in enumerate(ids[: self._most], 1):
                if memory_id in rows:
                    self._inner.addWidget(self._make_line(words, number, rows[memory_id]))
        hidden = sum(max(0, len(ids) - self._most) for ids in self._groups.values())
        if hidden:
            more = make_button(
                window_strings()["buttons"]["show_more"].format(count=min(hidden, _STEP)), self._show_more, kind="link"
            )
            self._inner.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)

    def _make_line(self, words: str, number: int, shown: MemoryRow) -> MemoryLine:
        is_part = words == inspector_strings()["relations"]["parts"]
        above = inspector_strings()["relations"]["part"].format(number=number) if is_part else KIND_WORDS[shown.kind]
        if shown.status is not Status.ACTIVE:
            above = f"{above} · {STATUS_WORDS[shown.status].lower()}"
        is_current = shown.id == self._memory_id
        return MemoryLine(self.context.theme, shown, above, self._select_memory, is_current=is_current)

    def _show_more(self) -> None:
        self._most += _STEP
        self._request_rows()

    def _select_memory(self, memory_id: str) -> None:
        self.context.selection.select(memory_id, _ORIGIN)


def _make_relation_heading(words: str, number: int) -> QWidget:
    return make_label(f"{words} · {number}" if number > 1 else words, "strong", wrap=True)


RELATIONS = InspectorSectionSpec("relations", 40, RelationsSection)


class NoteBox(QFrame):
    """One memory that this one may belong together with, and what can be done about it."""

    def __init__(self, item: OpenConflict, look: Callable[[str], None], decide: Callable[[str, Action], None]) -> None:
        """Make it.

        Args:
            look: called with the other's id.
            decide: called with the note's id and what is decided.
        """
        super().__init__()
        self.setObjectName("banner")
        self.setProperty("tone", "plain")
        strings = belief_strings()["opposed"]
        other, excerpt = item.other, "" if item.other is None else one_line(item.other.text, _HEAD)
        layout = make_column(self, make_label(excerpt, wrap=True), gap=8, margins=12)
        links = QWidget()
        flow = FlowLayout(links, gap=4)
        replaces = strings["replace" if item.is_newcomer else "replaced"]
        for words, action in (
            (strings["link"], Action.KEEP_BOTH),
            (replaces, Action.SUPERSEDE),
            (strings["dismiss"], Action.SKIP),
        ):
            flow.addWidget(make_button(words, partial(decide, item.item_id, action), kind="ghost"))
        if other is not None:
            flow.addWidget(make_button(strings["look"], lambda: look(other.id), kind="ghost"))
        layout.addWidget(links)
        self.setAccessibleName(f"{strings['note']}: {excerpt}")


class NotesSection(InspectorSection):
    """What a memory may belong together with."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._drawn: tuple[object, ...] = ()
        self._inner = make_column(gap=8)
        layout = make_column(self, make_label(belief_strings()["opposed"]["note"], "label"), gap=8)
        layout.addLayout(self._inner)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            Whether anything is noted about it.
        """
        notes = inspected.belief.notes
        drawn = (inspected.memory.id, notes)
        if drawn != self._drawn:
            self._drawn = drawn
            clear_layout(self._inner)
            for item in notes:
                self._inner.addWidget(NoteBox(item, self._select_memory, self._decide_review_item))
        return bool(notes)

    def _decide_review_item(self, item_id: str, action: Action) -> None:
        conflicts = self.context.bridge.engine.conflicts
        task = make_write(
            inspector_strings()["tasks"]["decide"], lambda: conflicts.resolve(item_id, Decision(action), OWNER_ACTOR)
        )

        def show_decided(done: DecisionReply) -> None:
            if done.step_id is not None:
                offer_undo(self.context, str(belief_strings()["opposed"][_DONE[action]]), done.step_id)

        self.context.tasks.run(task.success(show_decided))

    def _select_memory(self, memory_id: str) -> None:
        self.context.selection.select(memory_id, _ORIGIN)


NOTES = InspectorSectionSpec("notes", 39, NotesSection)
