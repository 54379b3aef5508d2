"""The Entities page in words (`resources/help/entities_page.json`), and its lists of lines.

Must not do: ask the engine, interpret a text, or show one that is not made visible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextLayout
from PySide6.QtWidgets import QFrame

from core.types.entities import (
    EntityCard,
    EntityLine,
    EntityList,
    EntityMention,
    EntityPart,
    EntityStatement,
    Joined,
    KnownStatement,
    KnownTopic,
    MergePreview,
)
from core.types.reviews import ClaimSeen
from ui.lists.list_view import AfterRemoval, ListView
from ui.lists.row_spec import MIDDLE, RIGHT, Heading, RowSpec, RowState
from ui.strings import entities_strings, format_count
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing
from ui.widgets.labels import count_memories, date_of, describe_claim, format_said_or_noted, name_space
from ui.widgets.plaintext import one_line, utf16_length

_CUT = "… "


@dataclass(frozen=True, slots=True)
class EntityRow:
    """One line of a list on the Entities page.

    Attributes:
        id: what it represents; "" where nothing is behind it.
        icon: name of an icon; `role` the token of its colour.
        title: its first line; `detail` the one under it.
        right: what is at its end.
        name: from where to where in `title` a name is: it alone is emphasised; None where all of it is a name.
    """

    id: str
    icon: str
    role: str
    title: str
    detail: str
    right: str
    name: tuple[int, int] | None = None


class EntityRows(RowSpec[EntityRow]):
    """How the lines look."""

    fade = "surface"
    tells_repeats = True

    def row_key(self, row: EntityRow) -> str:
        """The row's id."""
        return row.id

    def accessible_text(self, row: EntityRow) -> str:
        """All of it."""
        return ", ".join(part for part in (row.title, row.detail, row.right) if part)

    def tool_tip(self, _row: EntityRow) -> str:
        """No tooltip."""
        return ""

    def row_height(self, _row: EntityRow, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(sizes().row_two)

    def paint_background(self, painter: QPainter, rect: QRect, row: EntityRow, state: RowState) -> None:
        """A rounded field between hairlines."""
        pad = self.theme.px(spacing().xs)
        painter.fillRect(rect.adjusted(2 * pad, rect.height() - 1, -2 * pad, 0), self.theme.colour("line"))
        super().paint_background(painter, rect.adjusted(pad, 0, -pad, 0), row, state)

    def draw_row(self, painter: QPainter, rect: QRect, row: EntityRow, _state: RowState) -> None:
        """Its icon, its two lines, and the figure at the right."""
        theme = self.theme
        pad, side = theme.px(spacing().m), theme.px(sizes().icon)
        theme.icon(row.icon, row.role).paint(painter, rect.left() + pad, rect.center().y() - side // 2, side, side)
        inner = rect.adjusted(2 * pad + side, theme.px(4), -pad, -theme.px(5))
        small = theme.font("small")
        taken = QFontMetrics(small).horizontalAdvance(row.right)
        half = inner.height() // 2
        upper = QRect(inner.left(), inner.top(), inner.width(), half)
        lower = QRect(inner.left(), inner.top() + half, inner.width(), inner.height() - half)
        self.draw_text(painter, upper, row.right, "muted", small, RIGHT | MIDDLE)
        upper.setRight(upper.right() - taken - (theme.px(10) if row.right else 0))
        self._draw_title(painter, upper, row)
        self.draw_text(painter, lower, row.detail, "muted", small)

    def _draw_title(self, painter: QPainter, rect: QRect, row: EntityRow) -> None:
        plain, strong = self.theme.font("body"), self.theme.font("body")
        if row.name is None:
            strong.setWeight(QFont.Weight.Medium)
            self.draw_text(painter, rect, row.title, "ink", strong)
            return
        strong.setWeight(QFont.Weight.DemiBold)
        metrics, called = QFontMetrics(plain), row.title[slice(*row.name)]
        room = rect.width() - max(0, QFontMetrics(strong).horizontalAdvance(called) - metrics.horizontalAdvance(called))
        text, (start, end) = cut_before_name(row.title, row.name, room, metrics.horizontalAdvance)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        layout, name = QTextLayout(shown, plain), QTextLayout.FormatRange()
        name.start, name.length = utf16_length(shown[:start]), utf16_length(shown[start:end])
        name.format.setFontWeight(QFont.Weight.DemiBold)
        layout.setFormats([name])
        layout.beginLayout()
        line = layout.createLine()
        layout.endLayout()
        painter.setPen(self.theme.colour("ink"))
        layout.draw(painter, QPointF(rect.left(), rect.top() + (rect.height() - line.height()) / 2))


def cut_before_name(
    text: str, name: tuple[int, int], room: int, wide: Callable[[str], int]
) -> tuple[str, tuple[int, int]]:
    """A line from so far before its name on that the name has room.

    Args:
        name: from where to where the name is in it.
        room: how wide a line may be.
        wide: how wide a text is.

    Returns:
        The line, begun later where it has to be, and where the name is then.
    """
    start, end = name
    at = 0
    while at < start and wide(_CUT + text[at:end] + _CUT if at else text[:end] + _CUT) > room:
        blank = text.find(" ", at, start)
        at = start if blank < 0 else blank + 1
    if not at:
        return text, name
    shift = len(_CUT) - at
    return _CUT + text[at:], (start + shift, end + shift)


def entity_list(theme: Theme, name: str) -> ListView:
    """A list of lines on a card.

    Args:
        name: for those who do not see it.
    """
    view = make_known_list(theme, name)
    view.setUniformItemSizes(True)
    view.clicked.connect(lambda _: view.looked_at_id.emit(view.current.id))
    return view


def make_known_list(theme: Theme, name: str) -> ListView:
    """A list of statements under headings of topics, on a card.

    Args:
        name: for those who do not see it.
    """
    view = ListView(EntityRows(theme), name, keep=AfterRemoval.NONE)
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setObjectName("card")
    # Room around the lines, alike on all sides: their grounds are round as the card is.
    view.setViewportMargins(1, spacing().xs, 1, spacing().xs)
    return view


def fit_height(shown: ListView, most: int) -> None:
    """Be as high as the lines are, and no higher than some of them.

    Args:
        most: lines that are seen at once, at most.
    """
    lines = min(most, max(1, shown.lines.rowCount()))
    frame = shown.viewportMargins()
    shown.setFixedHeight(lines * shown.sizeHintForRow(0) + frame.top() + frame.bottom())


def limit_height(shown: ListView) -> None:
    """Be no higher than all lines are; what is left belongs to others."""
    lines = max(1, shown.lines.rowCount())
    frame = shown.viewportMargins()
    room = 2 * (shown.frameWidth() + spacing().xs + 1)  # of the card around them
    shown.setMaximumHeight(lines * shown.sizeHintForRow(0) + frame.top() + frame.bottom() + room)


_NAME = 80
_SHARED = "GLOBAL"
_OTHERS, _ENDING, _VALUE = 3, 5, 60


def entity_type_name(kind: str) -> str:
    """A type as it is called: `Person`."""
    return str(entities_strings()["types"][kind]["word"])


def entity_row(one: EntityLine) -> EntityRow:
    """A line of the list: the name, what it is, how often it is mentioned."""
    strings, others = entities_strings(), [one_line(name, _NAME) for name in one.others[:_OTHERS]]
    called = f" · {strings['row_also'].format(names=', '.join(others))}" if others else ""
    spaces = [one_line(space, _NAME) for space in (one.space, *one.also_in) if space != _SHARED]
    where = f" · {', '.join(spaces)}" if spaces else ""
    look = strings["types"][one.type]
    named = count_memories(one.mentions) if one.mentions else ""
    return EntityRow(
        one.id, look["icon"], look["role"], one_line(one.name, _NAME), f"{look['word']}{where}{called}", named
    )


def mention_row(one: EntityMention) -> EntityRow:
    """A memory that mentions it."""
    over = "" if one.status in ("active", "disputed") else f" · {one.status}"
    over += "" if one.end else f" · {entities_strings()['in_properties']}"
    text, name = _mark_name_in_text(one)
    return EntityRow(
        one.memory_id, "quote", "muted", text, f"{format_said_or_noted(one.occurred, one.recorded_at)}{over}", "", name
    )


def utterance_row(one: EntityMention) -> EntityRow:
    """A memory in which it speaks."""
    over = "" if one.status in ("active", "disputed") else f" · {one.status}"
    when = f"{format_said_or_noted(one.occurred, one.recorded_at)}{over}"
    return EntityRow(one.memory_id, "message-square", "muted", one_line(one.text), when, "")


def topic_rows(topics: Sequence[KnownTopic]) -> list[EntityRow | Heading]:
    """What is known, each topic under its heading."""
    named = entities_strings()["known"]["topics"]
    lines: list[EntityRow | Heading] = []
    for topic in topics:
        lines.append(Heading(str(named.get(topic.type, topic.type)), count=len(topic.statements)))
        lines += (statement_row(one) for one in topic.statements)
    return lines


def statement_row(one: KnownStatement) -> EntityRow:
    """A statement: what it says, when it was said and by whom."""
    state = str(entities_strings()["known"]["states"][one.state])
    icon, role = ("history", "muted") if one.state == "outdated" else ("circle-help", "warning")
    if one.state == "holds":
        icon, role = "circle-check", "success"
    return EntityRow(one.memory_id, icon, role, one_line(one.text), describe_sayer(one), state)


def describe_sayer(one: KnownStatement) -> str:
    """When and by whom a statement was said: `8 May 2023 · Mara · 2 memories`."""
    who = entities_strings()["known"]["you"] if one.is_owners else one_line(one.speaker, _NAME)
    more = count_memories(one.sources) if one.sources > 1 else ""
    return " · ".join(part for part in (format_said_or_noted(one.occurred, one.recorded_at), who, more) if part)


def format_quote(one: KnownStatement) -> str:
    """The exact words behind a statement."""
    return f"“{one_line(one.quote)}”"


def describe_reading(found: EntityList) -> str:
    """How far names are looked for; "" where all are read."""
    if not found.unread:
        return ""
    done = max(0, found.readable - found.unread)
    return str(entities_strings()["reading"]).format(done=f"{done:,}", all=f"{found.readable:,}")


def _mark_name_in_text(one: EntityMention) -> tuple[str, tuple[int, int]]:
    """The text as it is shown, and where the name is in it: each part is made visible by itself."""
    before, name, after = one.text[: one.start], one.text[one.start : one.end], one.text[one.end :]
    lead = one_line(before) + (" " if before[-1:].isspace() else "")
    visible_name = one_line(name)
    behind = (" " if after[:1].isspace() else "") + one_line(after)
    return f"{lead}{visible_name}{behind}", (len(lead), len(lead) + len(visible_name))


def describe_duplicates(card: EntityCard, lines: Sequence[EntityLine]) -> str:
    """Which others may be the same, in a sentence."""
    strings = entities_strings()["alike"]
    others = []
    for one in lines:
        is_same = card.name.casefold() == one.name.casefold()
        form = strings["same" if is_same else "near"]
        name, space = one_line(one.name, _NAME), name_space(one.space, _NAME)
        others.append(str(form).format(name=name, space=space, count=one.mentions))
    return str(strings["told"]).format(others=str(strings["and"]).join(others))


def entity_claim_row(one: EntityStatement) -> EntityRow:
    """A claim about it."""
    plain = (False, one.polarity, one.state, one.confidence, (), 0, 0, None, None)
    sentence = describe_claim(ClaimSeen(one.claim_id, one.subject, one.predicate, one.value, *plain))
    state = str(entities_strings()["states"].get(one.state, one.state))
    icon, role = ("circle-check", "success") if one.state == "asserted" else ("circle-help", "muted")
    return EntityRow(one.memory_id, icon, role, sentence, state, f"{round(100 * one.confidence)} %")


def describe_subtitle(card: EntityCard, mentions: int, spoken_count: int = 0, parts: Sequence[EntityPart] = ()) -> str:
    """What it is, in one line.

    Args:
        parts: what each space has of it, where several have it.
    """
    strings = entities_strings()["named"]
    named = strings["in"].format(memories=count_memories(mentions)) if mentions else strings["none"]
    if spoken_count:
        form = strings["both" if mentions else "speaks"]
        named = form.format(memories=count_memories(spoken_count), count=mentions)
    made = entities_strings()["made_by"][card.made_by]
    spaces = ", ".join(name_space(space, _NAME) for space in ([part.space for part in parts] or [card.space]))
    return f"{entity_type_name(card.type)} · {named} · {spaces} · {made}"


def describe_part(part: EntityPart) -> str:
    """What one space has of an entity: `Jo in home: 12 memories`."""
    form = str(entities_strings()["parts"]["line"])
    return form.format(
        name=one_line(part.name, _NAME), space=name_space(part.space, _NAME), memories=count_memories(part.mentions)
    )


def describe_merged_entity(one: Joined) -> str:
    """What was merged into it, and when."""
    at = "" if one.at is None else f" · {date_of(one.at)}"
    old = "" if one.step_id else f" · {entities_strings()['too_old']}"
    return f"{one_line(one.name, _NAME)}{at}{old}"


def merge_preview_rows(seen: MergePreview) -> list[str]:
    """What a merge would do, a sentence each."""
    if seen.refusal:
        return [seen.refusal]
    keep, other = one_line(seen.keep.name, _NAME), one_line(seen.other.name, _NAME)
    spaces = {"space": name_space(seen.keep.space, _NAME), "other_space": name_space(seen.other.space, _NAME)}
    strings = entities_strings()["merge"]
    lifted = strings["lifted"].format(name=keep, other=other, **spaces)
    lines = [
        lifted if seen.lifted else strings["renamed"].format(other=other, name=keep),
        strings["moved"].format(
            memories=count_memories(seen.mentions), claims=format_count(strings["claims"], seen.claims)
        ),
    ]
    if seen.names:
        lines.append(strings["names_added"].format(names=", ".join(one_line(name, _NAME) for name in seen.names[:8])))
    if seen.ending:
        lines.append(strings["ends"])
        for lost, won in seen.ending[:_ENDING]:
            lines.append(
                strings["claim_ends"].format(won=one_line(won.value, _VALUE), lost=one_line(lost.value, _VALUE))
            )
    if seen.widened:
        lines.append(strings["widened"])
    return lines
