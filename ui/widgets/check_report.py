"""What a check of the vault found, in words: one sentence, and a line for every check.

Must not do: run the check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QLabel, QVBoxLayout, QWidget

from ui.strings import check_strings, format_count, window_strings
from ui.theme.theme import Theme
from ui.widgets.basics import Elided, make_button, make_column, make_hairline, make_label, make_row

_OUTCOMES: Mapping[str, tuple[str, str]] = {
    "ok": ("circle-check", "success"),
    "failed": ("circle-x", "danger"),
    "not_checked": ("minus", "muted"),
}
_WIDTH = 480


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One check of the list, with its mark and sentence.

    Attributes:
        title: what was looked at.
        outcome: `ok`, `failed` or `not_checked`.
        word: says it.
        note: counts and code words; "" for none.
    """

    title: str
    outcome: str
    word: str
    note: str


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """What a check of the vault found, in words.

    Attributes:
        tone: `success`, `warning` or `danger`.
        title: in few words.
        sentence: with what to do.
        lines: one a check, in the order in which they were made.
    """

    tone: str
    title: str
    sentence: str
    lines: tuple[CheckLine, ...]


def summarize_checks(report: Mapping[str, Any]) -> CheckSummary:
    """Put the report of a check of the vault (`verify`) into a title, a sentence and a line for each check.

    Args:
        report: `{status, checks}`, as `engine.vault.verify` gives it.
    """
    lines = tuple(_make_check_line(name, check) for name, check in report["checks"].items())
    failed = sum(line.outcome == "failed" for line in lines)
    skipped = sum(line.outcome == "not_checked" for line in lines)
    strings = check_strings()
    if failed:
        sentence = format_count(strings["failed"]["text"], failed, checks=len(lines))
        return CheckSummary("danger", strings["failed"]["title"], sentence, lines)
    if skipped:
        sentence = format_count(strings["not_checked"]["text"], skipped, checks=len(lines))
        return CheckSummary("warning", strings["not_checked"]["title"], sentence, lines)
    return CheckSummary("success", strings["ok"]["title"], strings["ok"]["text"].format(count=len(lines)), lines)


def chain_sentence(report: Mapping[str, Any]) -> str:
    """What was found of the audit alone, in one sentence.

    Args:
        report: as for `summarize_checks`.
    """
    found = report["checks"].get("audit", {"status": "not_checked", "note": ""})
    strings = check_strings()["chain"]
    match found["status"]:
        case "ok":
            rows = strings["one_row"] if found["note"] == "1 rows" else found["note"]
            return str(strings["ok"].format(rows=rows))
        case "failed":
            return str(strings["failed"].format(note=found["note"]))
        case _:
            return str(strings["not_checked"])


def _make_check_line(name: str, check: Mapping[str, str]) -> CheckLine:
    strings = check_strings()
    title = str(strings["checks"].get(name) or name.replace("_", " ").capitalize())
    return CheckLine(title, check["status"], str(strings["outcomes"][check["status"]]), check["note"])


class CheckReportDialog(QDialog):
    """Shows what a check of the vault found, with a line for each check."""

    def __init__(self, theme: Theme, verdict: CheckSummary, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(check_strings()["title"])
        self.setAccessibleName(f"{verdict.title}. {verdict.sentence}")
        self.setMinimumWidth(theme.px(_WIDTH))
        layout = make_column(self, margins=24, gap=8)
        icon = {"success": "circle-check", "danger": "circle-x"}.get(verdict.tone, "circle-alert")
        layout.addLayout(
            make_row(_make_sign(theme, icon, verdict.tone, 20), make_label(verdict.title, "title"), None, gap=10)
        )
        layout.addWidget(make_label(verdict.sentence, "muted", wrap=True))
        layout.addSpacing(8)
        for line in verdict.lines:
            layout.addWidget(make_hairline())
            _add_verdict_line(theme, layout, line)
        layout.addSpacing(8)
        self.close_button = make_button(window_strings()["buttons"]["close"], self.accept, kind="primary")
        layout.addLayout(make_row(None, self.close_button))


def _add_verdict_line(theme: Theme, layout: QVBoxLayout, line: CheckLine) -> None:
    icon, token = _OUTCOMES[line.outcome]
    word = make_label(line.word, "danger" if line.outcome == "failed" else "small")
    note = Elided(line.note, "small")
    note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    made = make_row(_make_sign(theme, icon, token, 16), make_label(line.title), note, word, gap=10)
    made.setStretch(2, 1)
    layout.addLayout(made)


def _make_sign(theme: Theme, icon: str, token: str, size: int) -> QLabel:
    sign = QLabel()
    side = theme.px(size)
    sign.setPixmap(theme.icon(icon, token).pixmap(QSize(side, side)))
    sign.setFixedSize(side, side)
    return sign
