"""What a check of the vault found, in words: one sentence, and a line for every check.

Must not do: run the check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QLabel, QVBoxLayout, QWidget

from ui.theme.theme import Theme
from ui.widgets.basics import Elided, make_button, make_column, make_hairline, make_label, make_row
from ui.widgets.labels import count_of

_NAMES: Mapping[str, str] = {
    "journal": "The newest changes",
    "cipher": "The encryption of every page",
    "integrity": "The database",
    "foreign_keys": "Links within the vault",
    "search": "The index of words",
    "counts": "Counts",
    "audit": "The audit chain",
    "head": "The state last seen on this computer",
    "index": "The index of meanings",
}
_OUTCOMES: Mapping[str, tuple[str, str, str]] = {
    "ok": ("circle-check", "success", "In order"),
    "failed": ("circle-x", "danger", "Damaged"),
    "not_checked": ("minus", "muted", "Not checked"),
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
class Verdict:
    """What was found.

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


def summarize_checks(report: Mapping[str, Any]) -> Verdict:
    """Put a report into words.

    Args:
        report: `{status, checks}`, as `engine.vault.verify` gives it.
    """
    lines = tuple(_make_check_line(name, check) for name, check in report["checks"].items())
    failed = sum(line.outcome == "failed" for line in lines)
    skipped = sum(line.outcome == "not_checked" for line in lines)
    if failed:
        sentence = (
            f"{count_of(failed, 'check')} of {len(lines)} failed. Nothing was repaired: restore a backup made before."
        )
        return Verdict("danger", "Something is damaged", sentence, lines)
    if skipped:
        sentence = f"{count_of(skipped, 'check')} of {len(lines)} could not be made now. Try again in a moment."
        return Verdict("warning", "Nothing is damaged, as far as could be checked", sentence, lines)
    return Verdict("success", "Everything is in order", f"All {len(lines)} checks passed.", lines)


def chain_sentence(report: Mapping[str, Any]) -> str:
    """What was found of the audit alone, in one sentence.

    Args:
        report: as for `summarize_checks`.
    """
    found = report["checks"].get("audit", {"status": "not_checked", "note": ""})
    match found["status"]:
        case "ok":
            rows = "1 row" if found["note"] == "1 rows" else found["note"]
            return f"The chain holds: {rows}, none changed, none missing."
        case "failed":
            return f"The chain is broken: {found['note']}. Somebody or something changed the audit."
        case _:
            return "The chain could not be checked now. Try again in a moment."


def _make_check_line(name: str, check: Mapping[str, str]) -> CheckLine:
    word = _OUTCOMES[check["status"]][2]
    return CheckLine(_NAMES.get(name, name.replace("_", " ").capitalize()), check["status"], word, check["note"])


class VerdictDialog(QDialog):
    """Shows a verdict with all its lines."""

    def __init__(self, theme: Theme, verdict: Verdict, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Check of the vault")
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
        self.close_button = make_button("Close", self.accept, kind="primary")
        layout.addLayout(make_row(None, self.close_button))


def _add_verdict_line(theme: Theme, layout: QVBoxLayout, line: CheckLine) -> None:
    icon, token, _ = _OUTCOMES[line.outcome]
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
