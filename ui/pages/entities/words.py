"""The Entities page in words (`resources/help/entities_page.json`), and its lines.

Must not do: ask the engine, or show a text that is not made visible.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.types.entities import EntityCard, EntityLine, EntityView, Joined, MergePreview, Place, Told
from core.types.reviews import ClaimSeen
from ui.pages.entities.lines import EntityRow
from ui.strings import entities_strings
from ui.widgets.plaintext import one_line
from ui.widgets.words import claim_told, count_of, date_of, said_or_noted

_NAME = 80
_SHARED = "GLOBAL"
_OTHERS, _ENDING, _VALUE = 3, 5, 60


def type_word(kind: str) -> str:
    """A type as it is called: `Person`."""
    return str(entities_strings()["types"][kind]["word"])


def entity_line(one: EntityLine) -> EntityRow:
    """A line of the list: the name, what it is, how often it is mentioned."""
    others = [one_line(name, _NAME) for name in one.others[:_OTHERS]]
    called = f" · also {', '.join(others)}" if others else ""
    where = "" if one.space == _SHARED else f" · {one_line(one.space, _NAME)}"  # one name may stand in several
    look = entities_strings()["types"][one.type]
    named = count_of(one.mentions, "memory", "memories") if one.mentions else ""
    return EntityRow(
        one.id, look["icon"], look["role"], one_line(one.name, _NAME), f"{look['word']}{where}{called}", named
    )


def place_line(one: Place) -> EntityRow:
    """A memory that mentions it."""
    over = "" if one.status in ("active", "disputed") else f" · {one.status}"
    over += "" if one.end else f" · {entities_strings()['in_properties']}"
    head, name = _with_name(one)
    return EntityRow(
        one.memory_id, "quote", "muted", head, f"{said_or_noted(one.occurred, one.recorded_at)}{over}", "", name
    )


def _with_name(one: Place) -> tuple[str, tuple[int, int]]:
    """The text as it is shown, and where the name is in it: each part is made visible by itself."""
    before, name, after = one.text[: one.start], one.text[one.start : one.end], one.text[one.end :]
    lead = one_line(before) + (" " if before[-1:].isspace() else "")
    told = one_line(name)
    behind = (" " if after[:1].isspace() else "") + one_line(after)
    return f"{lead}{told}{behind}", (len(lead), len(lead) + len(told))


def alike_words(card: EntityCard, found: Sequence[EntityLine]) -> str:
    """Which others may be the same, in a sentence."""
    said = entities_strings()["alike"]
    told = []
    for one in found:
        is_same = card.name.casefold() == one.name.casefold()
        form = said["same" if is_same else "near"]
        name, space = one_line(one.name, _NAME), one_line(one.space, _NAME)
        told.append(str(form).format(name=name, space=space, count=one.mentions))
    return str(said["told"]).format(others=str(said["and"]).join(told))


def unread_words(view: EntityView) -> str:
    """Why nothing is said about it."""
    form = entities_strings()["no_claims"] if view.mentions else entities_strings()["no_claims_unnamed"]
    return str(form).format(name=one_line(view.card.name, _NAME))


def claim_line(one: Told) -> EntityRow:
    """A claim about it."""
    plain = (False, one.polarity, one.state, one.confidence, (), 0, 0, None, None)
    said = claim_told(ClaimSeen(one.claim_id, one.subject, one.predicate, one.value, *plain))
    state = str(entities_strings()["states"].get(one.state, one.state))
    icon, role = ("circle-check", "success") if one.state == "asserted" else ("circle-help", "muted")
    return EntityRow(one.memory_id, icon, role, said, state, f"{round(100 * one.confidence)} %")


def subtitle(card: EntityCard, mentions: int) -> str:
    """What it is, in one line."""
    named = f"in {count_of(mentions, 'memory', 'memories')}" if mentions else "in no memory"
    made = entities_strings()["made_by"][card.made_by]
    return f"{type_word(card.type)} · {named} · {one_line(card.space, _NAME)} · {made}"


def joined_words(one: Joined) -> str:
    """What was merged into it, and when."""
    at = "" if one.at is None else f" · {date_of(one.at)}"
    old = "" if one.step_id else f" · {entities_strings()['too_old']}"
    return f"{one_line(one.name, _NAME)}{at}{old}"


def preview_lines(seen: MergePreview) -> list[str]:
    """What a merge would do, a sentence each."""
    if seen.refusal:
        return [seen.refusal]
    keep, other = one_line(seen.keep.name, _NAME), one_line(seen.other.name, _NAME)
    spaces = {"space": one_line(seen.keep.space, _NAME), "other_space": one_line(seen.other.space, _NAME)}
    lifted = str(entities_strings()["merge"]["lifted"]).format(name=keep, other=other, **spaces)
    lines = [
        lifted if seen.lifted else f"{other} leads to {keep} from then on.",
        f"What comes over: {count_of(seen.mentions, 'memory', 'memories')}, {count_of(seen.claims, 'claim')}.",
    ]
    if seen.names:
        lines.append(f"Other names it gets: {', '.join(one_line(name, _NAME) for name in seen.names[:8])}.")
    if seen.ending:
        lines.append(str(entities_strings()["merge"]["ends"]))
        for lost, won in seen.ending[:_ENDING]:
            lines.append(f"“{one_line(won.value, _VALUE)}” stays, “{one_line(lost.value, _VALUE)}” ends.")
    if seen.widened:
        lines.append(str(entities_strings()["merge"]["widened"]))
    return lines
