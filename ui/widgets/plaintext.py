"""Hostile text made visible: what has no shape of its own, or turns the order of others, is shown as a mark.

In a line, in a tooltip, and for reading in a field as tall as the text, from which the original is copied and in which
places may be marked. Memory text
is never interpreted: no markup, no links, no escape codes. Must not do: change what is stored, or keep the keyboard or
the wheel from what lies around the field.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from PySide6.QtCore import QEvent, QMimeData, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import QSizePolicy, QTextEdit

from ui.bridge import mark_spans
from ui.strings import label_strings
from ui.theme.theme import Theme
from ui.theme.tokens import FontRole

MOST = 20_000
"""Characters of one memory that `MarkedText` shows; what lies behind is in the inspector."""

Place = tuple[int, int]

# What has no shape of its own: every code point with the property Default_Ignorable_Code_Point (Unicode 15.1,
# DerivedCoreProperties), control and format characters, line separators, surrogates, private use, noncharacters, and
# blanks that pass for nothing. Left out are the format characters that are seen (Arabic, Syriac and Kaithi signs over
# numbers) and the spaces that are as wide as one.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\U000f0000-\U0010ffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 15))
    + "]"
)
# Where a hidden character belongs to ordinary writing: it has a meaning there, and is there once.
_EMOJI = "©®‼⁉™ℹ↔-↙↩↪⌚⌛⌨⏏⏩-⏳⏸-⏺Ⓜ▪▫▶◀◻-◾☀-➿⤴⤵⬅-⬇⬛⬜⭐⭕〰〽㊗㊙\U0001f004\U0001f0cf\U0001f170-\U0001faff"
_FACE = f"[{_EMOJI}]"
_WHOLE_FACE = re.compile(f"{_FACE}\ufe0f?\u200d(?={_FACE})")
_VARIANT = re.compile(f"{_FACE}[\ufe0e\ufe0f]|[0-9#*]\ufe0f(?=\u20e3)")
_FLAG_TAGS = tuple(
    "".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f" for name in ("gbeng", "gbsct", "gbwls")
)
_FLAG = "\U0001f3f4"
_FLAG_LENGTH = 6
# Scripts whose letters change their shape next to one another, or at a joiner.
_JOINING = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1a20-\u1aaf\u1b00-\u1bff\ua840-\ua87f\ua8e0-\ua8ff"
    "\ua980-\ua9df\uaa60-\uaa7f\ufb50-\ufdff\ufe70-\ufefe\U00010ac0-\U00010aff\U00010d00-\U00010d3f"
    "\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
_VIRAMA = 9
# What is above a note's words: properties between two lines of dashes, and the signs of a heading.
_CITATION = re.compile("\ue200[^\ue201]{0,300}(?:\ue201|$)")  # how an assistant names a source
_PRIVATE = re.compile("[\ue000-\uf8ff]+")
_HEADING_MARK = re.compile(r"^#{1,6}[ \t]+(?=\S)", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w*_~])(\*{1,3}|__|~~)(?=\S)([^*~\n]+?)(?<=\S)\1(?![\w*_~])")
_LEAST_SHOWN = 12
"""Characters below which words beside a sentence tell nothing."""
_FRONT_MATTER = re.compile(r"\A---\n.{0,2000}?\n---\s+(?:#{1,6} )?|\A#{1,6} (?=\S)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A run of a text.

    Attributes:
        text: what to show: the characters themselves, or `U+202E` for a mark.
        name: what the mark represents, in words; "" for ordinary text.
        start: offset of the run in the original, in characters.
    """

    text: str
    name: str
    start: int

    @property
    def is_mark(self) -> bool:
        """Whether it represents a character that cannot be seen."""
        return bool(self.name)


def split_marks(text: str) -> Iterator[TextPiece]:
    r"""Cut a text into runs that can be seen and marks for what cannot.

    Yields:
        The runs in order; a `\r\n` is a line end, not a mark.
    """
    start, end = 0, len(text)
    for found in _HIDDEN.finditer(text):
        at = found.start()
        if _is_written(text, at):
            continue
        if at > start:
            yield TextPiece(text[start:at], "", start)
        yield TextPiece(f"U+{ord(text[at]):04X}", _name_character(text[at]), at)
        start = at + 1
    if end > start:
        yield TextPiece(text[start:end], "", start)


def _is_written(text: str, at: int) -> bool:
    """Whether what has no shape does its work here: a line's end, an emoji's variant or parts, joined letters."""
    character = text[at]
    if character == "\r":
        return text[at + 1 : at + 2] == "\n"
    if character in "\ufe0e\ufe0f":
        return at > 0 and _VARIANT.match(text, at - 1) is not None
    if character == "\u200d":
        return _is_joiner_needed(text, at) or _completes_face(text, at)
    if character == "\u200c":
        return _is_joiner_needed(text, at)
    return "\U000e0020" <= character <= "\U000e007f" and _is_flag(text, at)


def _is_joiner_needed(text: str, at: int) -> bool:
    """A joiner is between two letters of scripts that join, or makes a consonant with its virama a half form."""
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if not _is_joining(before):
        return False
    return _is_joining(after) or (text[at] == "\u200d" and unicodedata.combining(before) == _VIRAMA)


def _is_joining(character: str) -> bool:
    return _JOINING.match(character) is not None and unicodedata.category(character)[0] in "LM"


def _completes_face(text: str, at: int) -> bool:
    return any(
        low >= 0 and (found := _WHOLE_FACE.match(text, low)) is not None and found.end() == at + 1
        for low in (at - 1, at - 2)
    )


def _is_flag(text: str, at: int) -> bool:
    """The tags of the flags of England, Scotland and Wales; other tags can carry any hidden text."""
    low = text.rfind(_FLAG, max(0, at - _FLAG_LENGTH), at)
    return low >= 0 and text.startswith(_FLAG_TAGS, low + 1) and at <= low + _FLAG_LENGTH


def _name_character(character: str) -> str:
    strings = label_strings()["characters"]
    known = strings["names"].get(f"U+{ord(character):04X}") or unicodedata.name(character, "").lower()
    return str(known or strings["categories"].get(unicodedata.category(character), strings["control"]))


def one_line(text: str, most: int = 300) -> str:
    """A text as one line for a list: marks visible, line ends as spaces, a note's front matter left out.

    Args:
        most: characters at most; an ellipsis represents the rest.
    """
    text = _FRONT_MATTER.sub("", text, count=1)
    shown = "".join(f"‹{piece.text}›" if piece.is_mark else piece.text for piece in split_marks(text[: most * 2]))
    line = " ".join(shown.split())
    return line if len(line) <= most and len(text) <= most * 2 else line[: most - 1].rstrip() + "…"


def plain_line(text: str, most: int = 300) -> str:
    """A text as one line among pictures: as `one_line`, without the marks of Markdown and of programs in it.

    Args:
        most: characters at most; an ellipsis represents the rest.
    """
    text = _PRIVATE.sub("", _CITATION.sub("", _FRONT_MATTER.sub("", text, count=1)))
    return one_line(_EMPHASIS.sub(r"\2", _HEADING_MARK.sub("", text)), most)


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A text as one line, with the sentence in it that answers.

    Attributes:
        text: what is shown.
        marked: where that sentence stands in it, code points, end exclusive; (0, 0) for none.
    """

    text: str
    marked: Place = (0, 0)


def passage_line(text: str, sentence: Place | None, most: int = 300, visible: int | None = None) -> MarkedLine:
    """A text as `plain_line` shows it; of a long one what surrounds a sentence of it.

    Args:
        sentence: where it stands in the text, code points, end exclusive; None for none.
        most: characters at most; an ellipsis represents what is left out, at either end.
        visible: characters that are in sight for certain; None for all of them.
    """
    sight = most if visible is None else visible
    said = "" if sentence is None or len(text) <= sight else plain_line(text[slice(*sentence)], most)
    if sentence is None or not said:
        return MarkedLine(plain_line(text, most))
    start, end = sentence
    rest, room = text[end:].strip(), max(0, sight - len(said))
    before = _end_of_line(text[:start], max(room // 2, room - len(rest) - 3))  # two blanks and an ellipsis
    head = f"{before} " if before else ""
    room = most - len(head) - len(said) - 1
    after = "" if not rest else plain_line(rest, room) if room >= _LEAST_SHOWN else "…"
    return MarkedLine(f"{head}{said} {after}".rstrip(), (len(head), len(head) + len(said)))


def _end_of_line(text: str, room: int) -> str:
    """The last words of a text as one line, behind an ellipsis; all of it where there is room."""
    text = _FRONT_MATTER.sub("", text, count=1).strip()
    near = text[-4 * room - _LEAST_SHOWN :]
    line = plain_line(near, 64 * len(near) + 1)  # the name of a mark is longer than its sign
    if len(line) <= room and len(near) == len(text):
        return line
    words = line[len(line) - room :].partition(" ")[2] if room >= _LEAST_SHOWN else ""
    return f"… {words}".rstrip()


def has_marks(text: str) -> bool:
    """Whether a text holds anything that cannot be seen, apart from an assistant's codes of its sources."""
    codes = {at for start, end in mark_spans(text) for at in range(start, end)} if "\ue200" in text else set()
    return any(piece.is_mark and piece.start not in codes for piece in split_marks(text))


def escape_tooltip(text: str) -> str:
    """A text as a tooltip that shows it as it is: Qt takes what looks like markup for markup."""
    return f"<span>{html.escape(text)}</span>" if GuiQt.mightBeRichText(text) else text


def utf16_length(text: str) -> int:
    """How long a text is where Qt counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


# ---- for reading


class DisplayedPart(Protocol):
    """Characters that are shown alike."""

    @property
    def displayed_text(self) -> str:
        """What is in the view."""

    @property
    def original(self) -> str:
        """What it represents."""


def original_of(parts: Sequence[DisplayedPart], start: int, end: int) -> str:
    """What a selection represents.

    Args:
        parts: those of the view.
        start: where it begins, in UTF-16 units of what is shown.
        end: behind its last unit.

    Returns:
        The original characters; a mark that is touched is taken whole, and what is not shown with what is beside it.
    """
    found, at = [], 0
    for part in parts:
        shown = part.displayed_text.encode("utf-16-le", "surrogatepass")
        length = len(shown) // 2
        low, high = max(start, at) - at, min(end, at + length) - at
        if not length and start <= at <= end and start < end:
            found.append(part.original)
        elif low < high:
            same = part.displayed_text == part.original
            found.append(shown[low * 2 : high * 2].decode("utf-16-le", "replace") if same else part.original)
        at += length
    return "".join(found)


class FittedText(QTextEdit):
    """Text as tall as it needs to be, or as its fold allows.

    Attributes:
        line_percent: the height of a line.
        most_borders: marks that get a border; the others have their colours only.
        own_keys: what it does itself while it has the keyboard.

    Signals:
        fitted: its height was worked out anew.
    """

    line_percent: ClassVar[int]
    most_borders: ClassVar[int]
    own_keys: ClassVar[tuple[QKeySequence.StandardKey, ...]] = (QKeySequence.StandardKey.Copy,)
    fitted = Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        """Make it.

        Args:
            name: what it shows, for those who do not see it.
        """
        super().__init__()
        self.setObjectName("reading")
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        for policy in (self.setVerticalScrollBarPolicy, self.setHorizontalScrollBarPolicy):
            policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)
        self._theme = theme
        self._most = 0
        self._borders: list[tuple[int, int]] = []
        self.document().documentLayout().documentSizeChanged.connect(self._fit_height)
        theme.changed.connect(self._write_text)

    def fold_after(self, most_lines: int) -> None:
        """Fold after so many lines; 0 for never."""
        self._most = most_lines
        self._fit_height()

    @property
    def is_folded(self) -> bool:
        """Whether some of the text is out of sight."""
        return self._most > 0 and self.is_longer_than(self._most)

    def is_longer_than(self, lines: int) -> bool:
        """Whether the whole text has more lines than that."""
        return self._height_of(lines) < self._height_of(0)

    def selected_text(self) -> str:
        """What is selected, as it came; a mark that is touched is taken whole."""
        cursor = self.textCursor()
        return original_of(self.parts, cursor.selectionStart(), cursor.selectionEnd())

    # ---- what a kind of it says

    @property
    def parts(self) -> Sequence[DisplayedPart]:
        """What it shows."""
        raise NotImplementedError  # each kind says it; Qt's metaclass goes with no abstract class

    def _write_text(self) -> None:
        """Show it all anew."""
        raise NotImplementedError  # each kind says it; Qt's metaclass goes with no abstract class

    def _replace_parts(self, parts: Iterable[tuple[str, QTextCharFormat, bool]], keep: int = 0) -> None:
        """Replace the content of the view.

        Args:
            parts: what is shown, how, and whether it is a mark.
            keep: UTF-16 units at the beginning that stay as they are.
        """
        self._borders, at = [border for border in self._borders if sum(border) <= keep], keep
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        cursor.setPosition(keep)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        block = QTextBlockFormat()
        block.setLineHeight(self.line_percent, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        cursor.setBlockFormat(block)
        for shown, look, is_mark in parts:
            cursor.insertText(shown, look)
            length = utf16_length(shown)
            if is_mark and len(self._borders) < self.most_borders:
                self._borders.append((at, length))
            at += length
        cursor.endEditBlock()
        if not keep:
            self.moveCursor(QTextCursor.MoveOperation.Start)

    def _format_mark(self, made: QTextCharFormat, name: str) -> None:
        """Let a format be that of a mark."""
        made.setFont(self._theme.font("caption"))
        made.setForeground(self._theme.colour("warning"))
        made.setBackground(self._theme.colour("warning_soft"))
        made.setToolTip(name)

    # ---- its height

    def _height_of(self, most_lines: int) -> int:
        """Pixels of the first lines; of all for 0."""
        layout = self.document().documentLayout()
        block, left = self.document().begin(), most_lines
        while most_lines and block.isValid():
            lines = block.layout()
            if lines.lineCount() >= left:
                top = layout.blockBoundingRect(block).top()
                return math.ceil(top + lines.lineAt(left - 1).rect().bottom())
            left -= lines.lineCount()
            block = block.next()
        return math.ceil(layout.documentSize().height())

    def _fit_height(self) -> None:
        height = min(self._height_of(0), self._height_of(self._most)) + 2
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)
        self.fitted.emit()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As tall as what is shown."""
        return QSize(200, self.minimumHeight())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """It may be narrow."""
        return QSize(40, self.minimumHeight())

    # ---- Qt's events

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Wrap at the width there is: what is laid out may have been resized again by its new height meanwhile."""
        super().resizeEvent(event)
        wide = self.viewport().width()
        if self.document().pageSize().width() != wide:
            self.document().setPageSize(QSizeF(wide, -1))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """What was written while it was hidden, as by a change of theme, was measured before it was laid out."""
        super().showEvent(event)
        self._fit_height()

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802 - Qt's name
        """What is copied or dragged is the original."""
        data = QMimeData()
        data.setText(self.selected_text())
        return data

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw a border round each mark that is visible."""
        super().paintEvent(event)
        if not self._borders:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._theme.colour("warning"))
        for start, length in self._borders:
            first, last = self._cursor_rect(start), self._cursor_rect(start + length)
            if first.top() == last.top() and first.intersects(QRectF(self.viewport().rect())):
                wide = last.left() - first.left() + 1
                painter.drawRoundedRect(QRectF(first.left() - 0.5, first.top() + 0.5, wide, first.height() - 1), 3, 3)
        painter.end()

    def _cursor_rect(self, position: int) -> QRectF:
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        return QRectF(self.cursorRect(cursor))

    def event(self, event: QEvent) -> bool:
        """Other keys belong to what lies around it: nothing can be written here."""
        is_key = event.type() == QEvent.Type.ShortcutOverride
        if is_key and isinstance(event, QKeyEvent) and not any(event.matches(key) for key in self.own_keys):
            event.ignore()
            return False
        return super().event(event)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """What lies around it scrolls, not the text."""
        event.ignore()


@dataclass(frozen=True, slots=True)
class Stretch:
    """Characters that are drawn alike.

    Attributes:
        displayed_text: what is in the view; original: what it represents.
        is_odd: it is at odds with the other text.
        name: what a mark represents; "" where it is none.
    """

    displayed_text: str
    original: str
    is_odd: bool = False
    name: str = ""


def split_stretches(text: str, marks: Sequence[Place], unseen: Sequence[Place] = ()) -> Iterator[Stretch]:
    """Cut a text at its marks and at what cannot be seen.

    Args:
        marks: places at odds, code points, end exclusive; places outside the text are passed over.
        unseen: places that are left out of what is shown, where nothing of them is at odds.

    Yields:
        The stretches; their originals together are the text.
    """
    odd = list(_normalize_marks(marks, len(text)))
    left_out = [place for place in unseen if not any(start < place[1] and place[0] < end for start, end in odd)]
    at = 0
    for start, end in sorted([*odd, *left_out]):
        yield from _cut_marks(text[at:start], is_odd=False)
        if (start, end) in left_out:
            yield Stretch("", text[start:end])
        else:
            yield from _cut_marks(text[start:end], is_odd=True)
        at = end
    yield from _cut_marks(text[at:], is_odd=False)


def _normalize_marks(marks: Sequence[Place], length: int) -> Iterator[Place]:
    """Places in order, inside the text, none over another."""
    at = 0
    for start, end in sorted(marks):
        low, high = max(start, at), min(end, length)
        if low < high:
            yield low, high
            at = high


def _cut_marks(text: str, *, is_odd: bool) -> Iterator[Stretch]:
    for piece in split_marks(text):
        if piece.is_mark:
            yield Stretch(piece.text, text[piece.start], is_odd, piece.name)
        else:
            for number, part in enumerate(piece.text.split("\r\n")):
                if number:
                    yield Stretch("\n", "\r\n", is_odd)
                if part:
                    yield Stretch(part, part, is_odd)


class MarkedText(FittedText):
    """A memory's text with the words at odds marked."""

    line_percent = 124
    most_borders = 200

    def __init__(self, theme: Theme, name: str, tone: str) -> None:
        """Make it.

        Args:
            name: what it shows, for those who do not see it.
            tone: `accent` or `warning`: the colour of what is at odds.
        """
        super().__init__(theme, name)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self._tone = tone
        self._stretches: tuple[Stretch, ...] = ()
        self._role: FontRole = "body"

    @property
    def parts(self) -> tuple[Stretch, ...]:
        """What it shows."""
        return self._stretches

    def show_text(
        self, text: str, marks: Sequence[Place], role: FontRole, most_lines: int = 0, *, as_stored: bool = True
    ) -> None:
        """Show a text.

        Args:
            text: plain, hostile or not; the beginning of it where it is very long.
            marks: places at odds, code points, end exclusive.
            most_lines: fold after so many lines; 0 for never.
            as_stored: with the marks of Markdown and of programs too.
        """
        shown = text[:MOST]
        self._stretches = tuple(split_stretches(shown, marks, () if as_stored else mark_spans(shown)))
        self._role, self._most = role, most_lines
        self._write_text()

    def _write_text(self) -> None:
        self._replace_parts((part.displayed_text, self._format_of(part), bool(part.name)) for part in self._stretches)
        self._fit_height()

    def _format_of(self, part: Stretch) -> QTextCharFormat:
        made, theme = QTextCharFormat(), self._theme
        made.setFont(theme.font(self._role))
        made.setForeground(theme.colour("ink"))
        if part.is_odd:
            made.setBackground(theme.colour(f"{self._tone}_soft"))
            made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
            made.setUnderlineColor(theme.colour(self._tone))
        if part.name:
            self._format_mark(made, part.name)
        return made
