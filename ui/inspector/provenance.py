"""The sections that say where a memory comes from, showing the place itself, and to which assistants it was given.

Must not do: guess; what is not known is not said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QWidget

from core.types.recall import DeliveryCount
from core.types.replies import MemoryDetail
from core.types.values import OWNER_ACTOR, PERSON_SOURCES, Memory, Role, Source, Status
from core.types.views import MemoryRow
from ui.bridge import make_query
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec
from ui.inspector.shared_widgets import DisclosureToggle, make_flush_row
from ui.strings import inspector_strings, recall_strings
from ui.widgets.basics import Elided, clear_layout, make_button, make_column, make_label, make_tool_button
from ui.widgets.labels import (
    FORMAT_WORDS,
    ROLE_WORDS,
    SOURCE_WORDS,
    date_of,
    format_said_at,
    format_said_or_noted,
    name_edited,
    name_with_client,
    time_of,
)
from ui.widgets.memory_line import MemoryLine
from ui.widgets.plaintext import one_line

_NAME = 60


@cache
def _disclosure_strings() -> Mapping[str, Any]:
    found: Mapping[str, Any] = recall_strings()["given"]
    return found


def describe_disclosures(given: DeliveryCount) -> str:
    """How often and to whom, such as "Given 14 times, last to Claude Code on 3 Nov 2026".

    Returns:
        One or two sentences.
    """
    strings = _disclosure_strings()
    own_assistant = strings["yours_one"] if given.yours == 1 else strings["yours"].format(count=f"{given.yours:,}")
    parts = [own_assistant] if given.yours else []
    if not given.count:
        return " ".join([strings["never"], *parts])
    if given.last_at is None or not given.to:
        return " ".join([strings["nobody"].format(count=f"{given.count:,}"), *parts])
    form = strings["once" if given.count == 1 else "many"]
    sentence = form.format(count=f"{given.count:,}", who=one_line(given.to, _NAME), when=date_of(given.last_at))
    return " ".join([sentence, *parts])


class DisclosuresSection(InspectorSection):
    """The section that says in a sentence how often the memory was given to assistants."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.sentence = make_label("", "muted", wrap=True)
        make_column(self, make_label(_disclosure_strings()["title"], "label"), self.sentence, gap=6)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            True.
        """
        memory_id = inspected.memory.id
        laboratory = self.context.bridge.engine.recall_trials
        task = make_query(
            inspector_strings()["tasks"]["disclosures"], lambda: laboratory.count_disclosures(memory_id)
        ).within(self, "given")
        self.context.tasks.run(task.success(self._show_disclosures).failure(lambda _: self.sentence.setText("")))
        return True

    def _show_disclosures(self, given: DeliveryCount) -> None:
        self.sentence.setText(describe_disclosures(given))


DISCLOSURES = InspectorSectionSpec("given", 47, DisclosuresSection)


NOTES = frozenset({"obsidian", "markdown", "text"})
_LINE = re.compile(r"(?P<file>.*?):(?P<a>\d{1,9})(?::(?P<b>\d{1,9}))?", re.ASCII | re.DOTALL)
_NAMED = re.compile(r"(?P<file>.*?):(?P<what>(?:record|item) \d{1,9})", re.ASCII | re.DOTALL)
_SOURCES_SHOWN = 6
_ORIGIN = "inspector"


def describe_origin(detail: MemoryDetail) -> str:
    """Where a memory comes from, as a person would say it.

    Args:
        detail: the memory and what is known of it.

    Returns:
        One sentence; names in it are made visible and cut.
    """
    strings = inspector_strings()["provenance"]
    memory, origin = detail.memory, detail.origin
    by, when = origin.get("by"), format_said_at(memory.occurred)
    is_day = when[:1].isdigit() and not when.isdigit()
    at = strings["on" if is_day else "in"].format(when=when) if when else ""
    title = str(detail.conversation.get("title") or "")
    within = strings["within_untitled"] if detail.conversation else ""
    if title:
        within = strings["within"].format(title=one_line(title, 60))
    if "edited" in origin:
        return str(strings["edited"]).format(date=date_of(memory.recorded_at), within=within)
    if by == "import" and origin.get("format") in NOTES and not detail.conversation:
        return str(strings["note_written" if at else "note"]).format(file=_file_name(origin), when=at)
    if origin.get("job") == "distill":
        who = one_line(memory.author or "", 40)
        is_own = not who or memory.role is Role.USER
        return str(strings["made_own" if is_own else "made"]).format(author=who, when=at)
    if by == "client":
        return _describe_writing_client(detail, at, within)
    if by == "file":
        name = one_line(str(origin.get("name") or ""), 80)
        return str(strings["file"]).format(file=name, date=date_of(memory.recorded_at))
    if by == "owner":
        return str(strings["noted"]).format(date=date_of(memory.recorded_at))
    return f"{_describe_sayer(memory)}{at}{within}."


def _describe_writing_client(detail: MemoryDetail, at: str, within: str) -> str:
    strings = inspector_strings()["provenance"]
    memory = detail.memory
    client = (
        one_line(next((str(s["client"]) for s in detail.sources if s.get("client")), ""), 40) or strings["an_assistant"]
    )
    when = at or strings["on"].format(when=date_of(memory.recorded_at))
    if memory.source is Source.USER_EXPLICIT:  # only with the grant to speak for the person
        return str(strings["told"]).format(client=client, when=when, within=within)
    if memory.source is Source.USER_IMPLICIT:
        return str(strings["reported"]).format(client=client, when=when, within=within)
    return str(strings["written"]).format(client=client, when=when, within=within)


def _describe_sayer(memory: Memory) -> str:
    strings = inspector_strings()["provenance"]
    author = one_line(memory.author or "", 40)
    is_persons = memory.source in PERSON_SOURCES and memory.role is not Role.ASSISTANT and not author
    if memory.role is Role.USER or is_persons:
        return str(strings["you_said" if memory.conversation_id else "you_noted"])
    if memory.role is Role.TOOL or memory.source is Source.TOOL_OUTPUT:
        return str(strings["tool"])
    if memory.source is Source.DOCUMENT:
        return str(strings["says"]).format(author=author or strings["document"])
    who = author or strings["an_assistant" if memory.source is Source.INFERENCE else "somebody"]
    return str(strings["said" if memory.conversation_id else "noted_it"]).format(author=who)


def _file_name(origin: Mapping[str, Any]) -> str:
    return one_line(str(origin.get("where") or origin.get("file") or ""), 80)


def describe_file_place(origin: Mapping[str, Any]) -> str:
    """The place in a file in words: `diary.jsonl, line 6`; "" where it came from no file.

    Args:
        origin: of a memory.
    """
    strings = inspector_strings()["provenance"]
    where = str(origin.get("where") or "")
    found = _LINE.fullmatch(where)
    if found is not None:
        form = strings["message" if found["b"] else "line"]
        numbers = form.format(conversation=found["a"], message=found["b"], line=found["a"])
        return f"{one_line(found['file'], 80)}, {numbers}"
    named = _NAMED.fullmatch(where)
    return f"{one_line(named['file'], 80)}, {named['what']}" if named is not None else one_line(where, 100)


def describe_import(detail: MemoryDetail) -> str:
    """By what import it came: `Claude export · chats.json, conversation 5, message 4 · imported 30 Jun 2026`."""
    origin, memory = detail.origin, detail.memory
    form = str(origin.get("format") or "")
    parts = [FORMAT_WORDS.get(form, one_line(form, 30)), "" if form in NOTES else describe_file_place(origin)]
    parts.append(inspector_strings()["provenance"]["imported"].format(date=date_of(memory.recorded_at)))
    return " · ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class _Message:
    """A message of the conversation."""

    position: int
    id: str


class ConversationContext(QWidget):
    """The conversation round a message; it grows at both ends."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        strings = inspector_strings()["conversation"]
        self._context = context
        self._conversation, self._memory_id = "", ""
        self._messages: list[_Message] = []
        self._rows: dict[str, MemoryRow] = {}
        self._grown = [True, True]
        self.earlier = make_button(
            strings["earlier"], self._load_earlier, kind="link", theme=context.theme, icon="chevron-up"
        )
        self.later = make_button(
            strings["later"], self._load_later, kind="link", theme=context.theme, icon="chevron-down"
        )
        self.whole = make_button(strings["whole"], self._search_conversation, kind="link")
        for link in (self.earlier, self.later):
            link.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self._lines = make_column(gap=2)
        layout = make_column(self, gap=4)
        layout.addLayout(make_flush_row(self.earlier, None))
        layout.addLayout(self._lines)
        layout.addLayout(make_flush_row(self.later, None, self.whole))
        self.earlier.hide()
        self.later.hide()

    def show_round(self, detail: MemoryDetail) -> None:
        """Show what was said round a memory; what was read before of the same conversation stays.

        Args:
            detail: of a memory that belongs to a conversation.
        """
        conversation = str(detail.conversation["id"])
        memory = detail.memory
        known = {message.id for message in self._messages}
        if conversation != self._conversation or memory.id not in known:
            self._messages, self._rows, self._grown = [], {}, [True, True]
        self._conversation, self._memory_id = conversation, memory.id
        self._add_messages(detail)

    def forget_conversation(self) -> None:
        """Let go of all of it."""
        self._conversation, self._memory_id, self._messages, self._rows = "", "", [], {}
        clear_layout(self._lines)

    def _add_messages(self, detail: MemoryDetail) -> None:
        neighbours = [_Message(int(one["position"] or 0), str(one["id"])) for one in detail.conversation["neighbours"]]
        own = _Message(detail.memory.position or 0, detail.memory.id)
        known = {message.id for message in self._messages}
        new = [message for message in (*neighbours, own) if message.id not in known]
        if known:
            first, last = self._messages[0].position, self._messages[-1].position
            if own.position == first:
                self._grown[0] = any(message.position < first for message in new)
            if own.position == last:
                self._grown[1] = any(message.position > last for message in new)
        self._messages = sorted([*self._messages, *new], key=lambda message: message.position)
        missing = [message.id for message in self._messages if message.id not in self._rows or message in new]
        library = self._context.bridge.engine.library
        task = make_query(inspector_strings()["tasks"]["conversation"], lambda: library.read_rows(missing)).within(
            self, "rows"
        )
        self._context.tasks.run(task.success(self._show_messages))

    def _show_messages(self, found: Sequence[MemoryRow]) -> None:
        self._rows |= {shown.id: shown for shown in found}
        clear_layout(self._lines)
        for message in self._messages:
            shown = self._rows.get(message.id)
            is_current = message.id == self._memory_id
            # An older version is placed where its newer one is; two of the same words would only confuse.
            if shown is not None and (is_current or shown.status is not Status.SUPERSEDED):
                line = MemoryLine(
                    self._context.theme, shown, _describe_speaker(shown), self._select_memory, is_current=is_current
                )
                self._lines.addWidget(line)
        self.earlier.setVisible(self._grown[0] and bool(self._messages) and self._messages[0].position > 0)
        self.later.setVisible(self._grown[1])

    def _select_memory(self, memory_id: str) -> None:
        self._context.selection.select(memory_id, _ORIGIN)

    def _load_earlier(self) -> None:
        self._request_messages(self._messages[0].id if self._messages else "")

    def _load_later(self) -> None:
        self._request_messages(self._messages[-1].id if self._messages else "")

    def _request_messages(self, memory_id: str) -> None:
        memories = self._context.bridge.engine.memories
        task = make_query(
            inspector_strings()["tasks"]["conversation"], lambda: memories.show(memory_id, OWNER_ACTOR)
        ).within(self, "grow")
        self._context.tasks.run(task.success(self._on_messages_read))

    def _on_messages_read(self, detail: MemoryDetail) -> None:
        if detail.conversation.get("id") == self._conversation:
            self._add_messages(detail)

    def _search_conversation(self) -> None:
        library = self._context.bridge.engine.library
        self._context.desk.search.emit(library.with_term("", "conversation", self._conversation))


def _describe_speaker(shown: MemoryRow) -> str:
    named = shown.author if shown.role is not Role.USER else None
    name = one_line(named or "", 30) or ROLE_WORDS[shown.role]
    name = name_with_client(
        inspector_strings()["conversation"]["you"] if shown.role is Role.USER else name, shown.client
    )
    name = name_edited(name) if shown.is_edited else name
    left = inspector_strings()["conversation"]["status"].get(shown.status.value, "")
    return f"{name} · {format_said_or_noted(shown.occurred, shown.recorded_at)}{left}"


class ProvenanceDetails(QWidget):
    """The exact values, to be read and copied."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)

    def show_values(self, detail: MemoryDetail) -> None:
        """Show the values as lines."""
        clear_layout(self._grid)
        for number, (name, value, is_code) in enumerate(_detail_values(detail)):
            self._grid.addWidget(make_label(name, "small"), number, 0, Qt.AlignmentFlag.AlignLeft)
            shown = Elided(one_line(value, 300), "mono" if is_code else "body", Qt.TextElideMode.ElideMiddle)
            shown.setAccessibleName(f"{name}: {shown.whole}")
            self._grid.addWidget(shown, number, 1)
            if is_code:
                copy = make_tool_button(
                    self._context.theme,
                    "copy",
                    inspector_strings()["provenance"]["copy"].format(name=name),
                    self._make_copier(value),
                    size=14,
                )
                self._grid.addWidget(copy, number, 2)

    @staticmethod
    def _make_copier(value: str) -> Callable[[], None]:
        return lambda: QGuiApplication.clipboard().setText(value)


def _detail_values(detail: MemoryDetail) -> list[tuple[str, str, bool]]:
    strings = inspector_strings()["provenance"]
    memory, origin = detail.memory, detail.origin
    client = next((str(s["client"]) for s in detail.sources if s.get("client")), "")
    found = [
        (strings["values"]["said"], format_said_or_noted(memory.occurred, memory.recorded_at), False),
        (strings["values"]["recorded"], time_of(memory.recorded_at), False),
        (strings["values"]["source"], SOURCE_WORDS[memory.source], False),
        (
            strings["values"]["author"],
            name_with_client(memory.author or ROLE_WORDS[memory.role], client or None),
            False,
        ),
        (strings["values"]["client"], client, False),
        (strings["values"]["file"], str(origin.get("file") or ""), False),
        (strings["values"]["session"], memory.session or "", True),
        (strings["values"]["reference"], memory.ref or "", True),
        (strings["values"]["import"], memory.import_id or "", True),
        (strings["values"]["id"], memory.id, True),
    ]
    return [(name, value, is_code) for name, value, is_code in found if value]


class ProvenanceSection(InspectorSection):
    """Where it comes from."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        strings = inspector_strings()["conversation"]
        self._inspected: Inspected | None = None
        self.sentence = make_label("", wrap=True)
        self.way = make_label("", "small", wrap=True)
        self.sources = make_label("", "small", wrap=True)
        self.round = ConversationContext(context)
        self.place = DisclosureToggle(context.theme, strings["show"], strings["hide"], self.round)
        self.place.button.clicked.connect(self._on_place_opened)
        self.values = ProvenanceDetails(context)
        self.details = DisclosureToggle(
            context.theme,
            inspector_strings()["provenance"]["details"],
            inspector_strings()["provenance"]["details"],
            self.values,
        )
        make_column(
            self,
            make_label(inspector_strings()["provenance"]["title"], "label"),
            self.sentence,
            self.way,
            self.sources,
            self.place,
            self.details,
        )

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            True.
        """
        detail = inspected.detail
        self._inspected = inspected
        self.sentence.setText(describe_origin(detail))
        self.way.setText(describe_import(detail))
        self.way.setVisible(detail.origin.get("by") == "import")
        words = _describe_sources(detail)
        self.sources.setText(words)
        self.sources.setVisible(bool(words))
        has_place = bool(detail.conversation)
        self.place.setVisible(has_place)
        if not has_place:
            self.place.show_inside(is_shown=False)
            self.round.forget_conversation()
        elif self.place.is_open:
            self.round.show_round(detail)
        self.values.show_values(detail)
        return True

    def _on_place_opened(self) -> None:
        if self.place.is_open and self._inspected is not None:
            self.round.show_round(self._inspected.detail)


def _describe_sources(detail: MemoryDetail) -> str:
    """`2 independent sources say so: …`; "" for one."""
    if len(detail.sources) < 2:
        return ""
    strings, names = inspector_strings()["provenance"], list[str]()
    for source in detail.sources[:_SOURCES_SHOWN]:
        lineage = str(source["lineage"]).removeprefix("import:").partition(":")[2]
        name = one_line(str(source.get("client") or "") or lineage, 40)
        shown = name or SOURCE_WORDS[Source(source["source"])]
        names.append(strings["source"].format(name=shown, date=date_of(source["at"])))
    more = len(detail.sources) - len(names)
    form = str(strings["sources_more" if more > 0 else "sources"])
    return form.format(count=len(detail.sources), names=", ".join(names), more=more)


PROVENANCE = InspectorSectionSpec("provenance", 20, ProvenanceSection)
