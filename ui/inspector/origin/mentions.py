"""The part that shows whom and what a memory names, as chips: pressing one searches for it.

Must not do: read a name; the engine did, or does when the person asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from PySide6.QtWidgets import QPushButton, QWidget

from core.types.lifecycle import Inferred
from core.types.values import Status
from ui.context import Context, Inspected, Part, PartSpec
from ui.inspector.memory_link import flush
from ui.inspector.refresh import Refresh
from ui.strings import format_count, inspector_strings
from ui.tasks import query, write
from ui.widgets.basics import FlowLayout, button, clear, column, label
from ui.widgets.plaintext import one_line
from ui.widgets.words import date_of

_MOST, _NAME = 16, 32
_STANDS = frozenset({Status.ACTIVE, Status.DISPUTED})
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


def named(inferred: Inferred) -> tuple[tuple[str, str], ...]:
    """Whom and what a memory names, each once, in the order of its text: type and name.

    Args:
        inferred: from the engine.
    """
    found = {one.name.casefold(): (one.type, one.name) for one in inferred.entities}
    for name in inferred.technologies:
        found.setdefault(name.casefold(), (_TECHNOLOGY, name))
    return tuple(found.values())


class MentionsPart(Part):
    """Chips, and a way to have the text read at once."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._memory_id = ""
        self._shown: tuple[tuple[str, str], ...] = ()
        self.chips = QWidget()
        self._flow = FlowLayout(self.chips, gap=6)
        self.sentence = label("", "small", wrap=True)
        self.link = button(inspector_strings()["names"]["read_now"], self._read_anew, kind="link")
        layout = column(self, label(inspector_strings()["names"]["title"], "label"), self.chips, self.sentence, gap=8)
        layout.addLayout(flush(self.link, None))
        self._again = Refresh(self, self._read)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show it.

        Args:
            inspected: what.

        Returns:
            Whether it stands: only then is it read.
        """
        memory = inspected.memory
        if memory.status not in _STANDS:
            return False
        if memory.id != self._memory_id:
            self._memory_id = memory.id
            self._show_chips(())
            self._say("", "")
        self._read()
        return True

    def _read(self) -> None:
        memories, memory_id = self.context.bridge.engine.memories, self._memory_id
        asked = query("Reading what it names", lambda: memories.inferred(memory_id)).within(self, "names")
        self.context.tasks.run(asked.success(self._show).failure(self._fail))

    def _read_anew(self) -> None:
        memories, memory_id = self.context.bridge.engine.memories, self._memory_id

        def begin() -> Future[Inferred | None]:
            return memories.read_anew(memory_id)

        asked = write("Reading what it names", begin).within(self, "names")
        self.context.tasks.run(asked.success(self._show_anew).failure(self._fail))

    def _show_anew(self, inferred: Inferred | None) -> None:
        if inferred is None:  # it was read this moment: nothing is kept of it on purpose
            self._show_chips(())
            self._say(inspector_strings()["names"]["withheld"], "")
        else:
            self._show(inferred)

    def _show(self, inferred: Inferred | None) -> None:
        words = inspector_strings()["names"]
        if inferred is None:
            self._show_chips(())
            self._say(words["unread"], words["read_now"])
            return
        found = named(inferred)
        self._show_chips(found)
        by = words["by"].get(inferred.made_by, words["by"]["rules"]).format(when=date_of(inferred.at))
        more = [format_count(words["more"], len(found) - _MOST)] if len(found) > _MOST else []
        self._say("\n".join([*more, *([] if found else [words["none"]]), f"{by}."]), words["read_again"])

    def _show_chips(self, found: Sequence[tuple[str, str]]) -> None:
        if tuple(found) != self._shown:
            self._shown = tuple(found)
            clear(self._flow)
            for kind, name in found[:_MOST]:
                self._flow.addWidget(self._chip(kind, name))
        self.chips.setVisible(bool(found))
        self.chips.updateGeometry()

    def _chip(self, kind: str, name: str) -> QPushButton:
        words = inspector_strings()["names"]
        shown = one_line(name, _NAME)
        type_told = words["types"].get(kind, words["types"]["other"])
        search = words["search"].format(name=one_line(name))
        made = button(
            shown, self._searcher(name), kind="chip", hint=f"{type_told}. {search}", theme=self.context.theme,
            icon=_ICONS.get(kind, "tag"),
        )  # fmt: skip
        made.setAccessibleName(f"{type_told} {shown}")
        made.setAccessibleDescription(search)
        return made

    def _searcher(self, name: str) -> Callable[[], None]:
        """Words are found in any form; a name with other signs in it is searched for as it stands."""
        as_words = all(word.isalnum() for word in name.split())
        library, desk = self.context.bridge.engine.library, self.context.desk
        return lambda: desk.search.emit(" ".join(name.split()) if as_words else library.with_term("", "phrase", name))

    def _say(self, sentence: str, link: str) -> None:
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))
        self.link.setVisible(bool(link))
        self.link.setText(link)
        self.link.setAccessibleName(link)

    def _fail(self, _error: BaseException) -> None:
        self._show_chips(())
        self._say(inspector_strings()["names"]["failed"], inspector_strings()["names"]["read_now"])


MENTIONS = PartSpec("mentions", 25, MentionsPart)
