"""The part that shows the versions of a memory, newest first, and what differs from one to the next.

Must not do: compare texts that are too long to be compared at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from core.types.memory import Chain, VersionHeld
from core.types.values import Memory, Source, Status
from core.types.views import MemoryRow, Revision, RevisionReport
from ui.context import Context, Inspected, Part, PartSpec
from ui.inspector.actions import SAME_ALREADY, why_not_edit
from ui.inspector.belief.belief_words import held_told
from ui.inspector.memory_link import flush
from ui.inspector.origin.version_axis import ChainAxis, Legend
from ui.inspector.text.text_view import ADDED, PLAIN, REMOVED, Run, TextView, runs_of
from ui.strings import belief_strings
from ui.tasks import query, write
from ui.undo import offer_undo
from ui.widgets.basics import FlowLayout, button, clear, column, hairline, label
from ui.widgets.plaintext import one_line
from ui.widgets.words import count_of, date_of

COMPARED = 4_000
"""Characters of both texts together up to which they are compared word by word."""
_SHOWN = 6
_FOLD = 6
_ORIGIN = "inspector"
_WORDS = re.compile(r"\s+|\w+(?:[.,:'’\-]\w+)*|[^\w\s]")
_AWAY = {Status.DELETED: "Forgotten", Status.ARCHIVED: "Archived"}


def differences(old: str, new: str) -> list[Run]:
    """What differs between two versions, word by word.

    Args:
        old: the earlier text.
        new: the later one.

    Returns:
        Runs of the later text with what went in its place; the later text struck by nothing where both are too long
        to compare.
    """
    if len(old) + len(new) > COMPARED:
        return runs_of(new)
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    made: list[Run] = []
    # autojunk keeps this quick for texts that repeat a few words without end
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=True).get_opcodes():
        if tag == "equal":
            made.extend(runs_of("".join(after[j1:j2]), PLAIN))
            continue
        made.extend(runs_of("".join(before[i1:i2]), REMOVED))
        if tag == "replace":
            made.append(Run(" ", ""))
        made.extend(runs_of("".join(after[j1:j2]), ADDED))
    return made


def who(memory: Memory, clients: Mapping[str, str]) -> str:
    """Who made a version, in words: `you`, a client's name, `an import`.

    Args:
        memory: the version.
        clients: memory id to the name of the client that brought it.
    """
    if memory.client_id is not None:
        return one_line(clients.get(memory.id, ""), 30) or "a client"
    if memory.import_id is not None:
        return "an import"
    return "you" if memory.source in {Source.USER_EXPLICIT, Source.USER_IMPLICIT} else "Loci"


def span(memory: Memory) -> str:
    """Since when or until when a version stands: `current, since 3 Nov 2026`, `until 3 Nov 2026`."""
    if memory.retired_at is None:
        return f"current, since {date_of(memory.recorded_at)}"
    return f"until {date_of(memory.retired_at)}"


class HistoryPart(Part):
    """Versions, newest first."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._versions: tuple[Memory, ...] = ()
        self._memory: Memory | None = None
        self._most = _SHOWN
        self._held: Mapping[str, VersionHeld] = {}
        self._inner = column(gap=10)
        self.axis = ChainAxis(context.theme)
        self._legend = Legend(context.theme)
        self._over = label("", "small", wrap=True)
        layout = column(self, label("History", "label"), self.axis, self._over, self._legend, gap=8)
        layout.addLayout(self._inner)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show it.

        Args:
            inspected: what.

        Returns:
            Whether it has more than one version, or does not stand.
        """
        memory = inspected.memory
        if self._memory is None or memory.chain_id != self._memory.chain_id:
            self._most = _SHOWN
        self._memory, self._versions = memory, tuple(reversed(inspected.history))
        self._show_axis(inspected.belief.chain)
        self._show({})
        if any(version.client_id for version in self._versions):
            ids = [version.id for version in self._versions[: self._most]]
            library = self.context.bridge.engine.library
            task = query("Reading the history", lambda: library.rows(ids)).within(self, "rows")
            self.context.tasks.run(task.success(self._name_clients))
        return len(self._versions) > 1 or memory.status in _AWAY

    def _show_axis(self, chain: Chain) -> None:
        self._held = {version.memory_id: version for version in chain.versions}
        has = self.axis.show_chain(chain, "" if self._memory is None else self._memory.id)
        over = sum(version.ever_held for version in chain.versions) - len(self.axis.drawn)
        self._over.setText(belief_strings()["versions"]["more"].format(count=over))
        self._over.setVisible(has and over > 0)
        self.axis.setVisible(has)
        self._legend.setVisible(has)
        self._legend.show_lines(has_gaps=bool(chain.gaps))

    def _name_clients(self, rows: Sequence[MemoryRow]) -> None:
        self._show({shown.id: shown.client or "" for shown in rows})

    def _show(self, clients: Mapping[str, str]) -> None:
        memory = self._memory
        clear(self._inner)
        if memory is None:
            return
        if memory.status in _AWAY:
            self._inner.addWidget(self._away(memory))
        if len(self._versions) > 1:
            for number, version in enumerate(self._versions[: self._most]):
                if number:
                    self._inner.addWidget(hairline())
                self._inner.addWidget(self._version(number, version, clients))
        hidden = len(self._versions) - self._most
        if hidden > 0:
            words = f"Show {count_of(hidden, 'older version')}"
            self._inner.addWidget(button(words, self._more, kind="link"), 0, Qt.AlignmentFlag.AlignLeft)

    def _more(self) -> None:
        self._most = len(self._versions)
        self._show({})

    def _away(self, memory: Memory) -> QWidget:
        made = QWidget()
        since = f" since {date_of(memory.retired_at)}" if memory.retired_at is not None else ""
        words = label(f"{_AWAY[memory.status]}{since}. It can be brought back.", wrap=True)
        layout = column(made, words)
        restore = button("Bring back", self._restore, kind="link")
        layout.addLayout(flush(restore, None))
        return made

    def _restore(self) -> None:
        self.context.commands.run("memory.restore")

    def _version(self, number: int, version: Memory, clients: Mapping[str, str]) -> QWidget:
        made = QWidget()
        is_first = number == len(self._versions) - 1
        did = "first told by" if is_first else "changed by"
        head = label(f"Version {version.version}", "strong")
        when = label(f"{span(version)} · {did} {who(version, clients)}", "small", wrap=True)
        if is_first:
            runs = runs_of(version.text, PLAIN if version.retired_at is None else REMOVED)
        else:
            runs = differences(self._versions[number + 1].text, version.text)
        view = TextView(self.context.theme, f"Version {version.version}, differences marked")
        view.show_runs(runs, "body", _FOLD)
        layout = column(made, head, when, gap=2)
        held = self._held.get(version.id)
        if held is not None:
            layout.addWidget(label(held_told(held), "small", wrap=True))
        layout.addSpacing(4)
        layout.addWidget(view)
        links = self._links(version)
        if links:
            layout.addSpacing(4)
            layout.addWidget(_beside(links))
        return made

    def _links(self, version: Memory) -> list[QWidget]:
        made: list[QWidget] = []
        shown, newest = self._memory, self._versions[0]
        if shown is not None and version.id != shown.id:
            made.append(button("Look at it", self._looker(version.id), kind="link"))
        can_take = newest.status is Status.ACTIVE and not why_not_edit(newest)
        if can_take and version.id != newest.id and version.text != newest.text:
            hint = "Makes a new version with the words of this one"
            made.append(button("Use these words again", self._taker(newest.id, version.text), kind="link", hint=hint))
        return made

    def _looker(self, memory_id: str) -> Callable[[], None]:
        return lambda: self.context.selection.select(memory_id, _ORIGIN)

    def _taker(self, memory_id: str, text: str) -> Callable[[], None]:
        library = self.context.bridge.engine.library
        task = write("Changing a text", lambda: library.revise((memory_id,), Revision(text=text)))
        told = task.within(self, "again").success(self._taken)

        def take() -> None:
            self.context.tasks.run(told)

        return take

    def _taken(self, report: RevisionReport) -> None:
        if report.step_id is None:
            self.context.desk.say(" ".join(report.refused) or SAME_ALREADY)
            return
        offer_undo(self.context, "These words stand again.", report.step_id)
        self.context.selection.select(report.ids[0], _ORIGIN)


def _beside(links: Sequence[QWidget]) -> QWidget:
    """Links beside each other, or below where there is no room."""
    made = QWidget()
    flow = FlowLayout(made, gap=10)
    for link in links:
        flow.addWidget(link)
    return made


HISTORY = PartSpec("history", 50, HistoryPart)
