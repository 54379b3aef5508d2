"""What is to be imported, and the words for what was found in it. Pure but for the file of reasons and the local zone.

Must not do: ask the engine; show text of an export other than titles, as plain text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QDir

from core.types.replies import ConversationPlan, ImportReport
from ui.tasks import Problem
from ui.widgets.plaintext import one_line
from ui.widgets.words import FORMAT_WORDS, count_of, date_of, memories

WITHOUT_TITLE = "Untitled conversation"
OUTSIDE_WORDS = "Entries outside conversations"
UNDERSTOOD = (
    "Loci understands exports of ChatGPT and Claude, sessions of Claude Code and Codex, Obsidian and Markdown notes, "
    "text files, tables (CSV), JSON lines, and the memories of mem0, OpenMemory and MCP."
)


@dataclass(slots=True)
class Source:
    """A file or folder on its way in.

    Attributes:
        path: where it lies.
        form: the format the person named; None to detect it.
        report: what the rehearsal found; None before.
        problem: why it cannot be read; None where it can.
        only: keys of the conversations that are chosen; None for all.
    """

    path: Path
    form: str | None = None
    report: ImportReport | None = None
    problem: Problem | None = None
    only: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """The last part of its path, as one line."""
        return one_line(self.path.name or str(self.path), 120)

    @property
    def new(self) -> int:
        """How many memories what is chosen would bring."""
        if self.report is None:
            return 0
        if self.only is None:
            return self.report.stored
        return sum(row.new for row in self.report.plan if row.key in self.only)


def folder_of(path: Path) -> str:
    """The folder something lies in, as a person knows it: `~/Downloads`.

    Args:
        path: absolute.
    """
    home = Path(QDir.homePath())
    folder = path.parent
    return f"~/{folder.relative_to(home).as_posix()}".rstrip("/.") if folder.is_relative_to(home) else str(folder)


def format_words(name: str) -> str:
    """A format in words."""
    return FORMAT_WORDS.get(name, name)


def title_of(row: ConversationPlan) -> str:
    """The title of a conversation as one line of plain text."""
    if not row.key:
        return OUTSIDE_WORDS
    return one_line(row.title, 200) or WITHOUT_TITLE


def span_of(earliest: int | None, latest: int | None) -> str:
    """Two moments as days: `8 Mar 2025 – 21 Oct 2025`, one where they are the same; "" where none is known.

    Args:
        earliest: epoch ms.
        latest: epoch ms.
    """
    if earliest is None or latest is None:
        return ""
    first, last = date_of(earliest), date_of(latest)
    return first if first == last else f"{first} – {last}"


def span_of_report(report: ImportReport) -> str:
    """From the first day to the last of what a report tells."""
    return span_of(_ms(report.earliest), _ms(report.latest))


def _ms(moment: str | None) -> int | None:
    return None if moment is None else round(datetime.fromisoformat(moment).timestamp() * 1000)


def summary_of(report: ImportReport) -> str:
    """What a rehearsal found, in one sentence.

    Args:
        report: of the rehearsal.
    """
    said = format_words(report.format)
    total = sum(report.messages.values())
    parts = []
    if report.conversations:
        parts.append(count_of(report.conversations, "conversation"))
    if total:
        parts.append(count_of(total, "message" if report.conversations else "entry", _many(report)))
    when = span_of_report(report)
    holds = f": {' with '.join(parts)}" if parts else ""
    return f"{said}{holds}{', ' + when if when else ''}."


def _many(report: ImportReport) -> str:
    return "messages" if report.conversations else "entries"


def known_of(report: ImportReport) -> int:
    """How many entries of it the vault has already."""
    return report.skipped.get("known", 0) + report.skipped.get("duplicate_text", 0)


def brought(reports: Sequence[ImportReport]) -> str:
    """What imports stored, as a sentence.

    Args:
        reports: of the imports.
    """
    stored = sum(report.stored for report in reports)
    if not stored:
        return "Nothing new: all of it was in your palace already."
    return f"{memories(stored)} came into your palace."


def since(seconds: float) -> str:
    """A stretch of time in rough words: `20 seconds`, `3 minutes`, `2 hours`.

    Args:
        seconds: how long.
    """
    if seconds < 90:
        return count_of(max(1, round(seconds)) if seconds < 10 else round(seconds / 5) * 5, "second")
    if seconds < 5400:
        return count_of(round(seconds / 60), "minute")
    return count_of(round(seconds / 3600), "hour")
