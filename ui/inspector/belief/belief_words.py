"""How a memory is believed, in words: the terms of its trust, its claims, when its versions held, what rests on it.

The sentences are `resources/help/belief.json`. Must not do: decide anything, or show text that is not made visible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.types.memory import Belief, ClaimHeld, EvidenceSeen, Opposed, TrustInputs, TrustStep, VersionHeld, Voice
from core.types.reviews import ClaimSeen
from core.types.values import Precision, When
from ui.strings import belief_strings, format_count
from ui.widgets.plaintext import one_line
from ui.widgets.words import SOURCE_WORDS, date_of, said_at, said_or_noted

MINUS = "\u2212"
_NOTHING = 0.005
_NAME, _VALUE = 40, 120


def score(value: float) -> str:
    """A score as it is written everywhere: `0.85`."""
    return f"{value:.2f}"


def signed(value: float) -> str:
    """A change with its sign, in figures that line up: `+0.10`, `−0.06`, `0.00`."""
    if abs(value) < _NOTHING:
        return score(0.0)
    return f"{'+' if value > 0 else MINUS}{abs(value):.2f}"


# ---- trust


@dataclass(frozen=True, slots=True)
class TermTold:
    """A term of the trust as it is drawn.

    Attributes:
        name: its key; `title` is its name in the table.
        sentence: the numbers that made it.
        figure: what it does, with its sign; the first term and the trust itself have none.
        why: how such a term is made, for its tooltip.
        before: the sum before it; `after` the one behind it.
        is_idle: whether it changes nothing.
    """

    name: str
    title: str
    sentence: str
    figure: str
    why: str
    before: float
    after: float
    is_idle: bool


def level(trust: float) -> str:
    """How far that is, in words: `Well trusted`.

    Args:
        trust: 0 to 1.
    """
    return str(next(step["says"] for step in belief_strings()["level"] if trust >= step["from"] or step["from"] == 0))


def terms_told(belief: Belief) -> tuple[TermTold, ...]:
    """The waterfall, term by term; the trust itself is not among them.

    Args:
        belief: of the memory.
    """
    return tuple(_term(step, belief.inputs) for step in belief.steps)


def _term(step: TrustStep, inputs: TrustInputs) -> TermTold:
    is_first = step.name == "source"
    return TermTold(
        name=step.name,
        title=belief_strings()["terms"][step.name],
        sentence=_made_by(step, inputs),
        figure=score(step.change) if is_first else signed(step.change),
        why=belief_strings()["why"][step.name],
        before=0.0 if is_first else step.before,
        after=step.total,
        is_idle=not is_first and abs(step.change) < _NOTHING,
    )


def _made_by(step: TrustStep, inputs: TrustInputs) -> str:
    said = belief_strings()["steps"]
    match step.name:
        case "source":
            return str(belief_strings()["sources"][inputs.source.value])
        case "corroboration":
            forms = said["corroboration"]
            return str(forms["none"] if inputs.sources < 2 else forms["many"].format(count=inputs.sources))
        case "feedback":
            return _feedback(said["feedback"], inputs.reinforcements, inputs.disputes)
        case "age":
            return _age(said["age"], inputs)
        case "bounds":
            return str(said["bounds"]["over" if step.change < 0 else "under"])
        case "ancestors":
            return format_count(said["ancestors"], inputs.ancestors, value=score(inputs.lowest or 0.0))
    name = one_line(inputs.client or "", _NAME)
    form = said["ceiling"] if name else said["ceiling_nobody"]
    return str(form).format(name=name, value=score(inputs.ceiling or step.total))


def _feedback(forms: Mapping[str, Any], confirmed: int, disputed: int) -> str:
    if confirmed and disputed:
        return str(forms["both"]).format_map({"for": confirmed, "against": disputed})
    if confirmed:
        return format_count(forms["for"], confirmed)
    return format_count(forms["against"], disputed) if disputed else str(forms["none"])


def _age(forms: Mapping[str, Any], inputs: TrustInputs) -> str:
    if inputs.age_days is None:
        return str(forms["none"])
    chosen = forms["confirmed" if inputs.confirmed else "said"]
    return str(chosen["zero"]) if inputs.age_days == 0 else format_count(chosen, inputs.age_days)


def voice_told(voice: Voice) -> str:
    """Who said that it is right or wrong, when, and why: `You disputed it on 3 Nov 2026: “…”`.

    Args:
        voice: of the memory.
    """
    forms = belief_strings()["voices"][voice.verdict]
    name = one_line(voice.client or "", _NAME)
    said = str(forms["other"]).format(name=name) if voice.client is not None else str(forms["you"])
    reason = f": “{one_line(voice.reason, _VALUE)}”" if voice.reason else "."
    return f"{said} on {date_of(voice.at)}{reason}"


# ---- claims


def state_told(claim: ClaimHeld) -> str:
    """How a claim stands, in a few words: `Holds · 94 % sure · 2 sources · from 3 Mar 2026`.

    Args:
        claim: the claim with what speaks for and against it.
    """
    said, seen = belief_strings()["claims"], claim.seen
    state = str(belief_strings()["states"][seen.state])
    if claim.replaced_by is not None and seen.state == "superseded":
        state = f"{state} · {said['replaced'].format(value=one_line(claim.replaced_by, _NAME))}"
    parts = [state, str(said["sure"]).format(percent=round(100 * seen.confidence))]
    parts.append(format_count(said["sources"], max(1, seen.sources)))
    if seen.against:
        parts.append(format_count(said["against"], seen.against))
    parts.append(_validity(seen))
    condition = seen.qualifiers.get("when")
    if isinstance(condition, str) and condition:
        parts.append(str(said["when"]).format(value=one_line(condition, _NAME)))
    if "kept" in seen.qualifiers:
        parts.append(str(said["kept"]))
    return " · ".join(part for part in parts if part)


def _validity(claim: ClaimSeen) -> str:
    said = belief_strings()["claims"]
    begin = None if claim.valid_from is None else date_of(claim.valid_from)
    end = None if claim.valid_to is None else date_of(claim.valid_to)
    return _span(said, begin, end)


def _span(forms: Mapping[str, str], begin: str | None, end: str | None) -> str:
    if begin is not None and end is not None:
        return forms["between"].format_map({"from": begin, "to": end})
    if begin is not None:
        return forms["from"].format(date=begin)
    return forms["until"].format(date=end) if end is not None else ""


def quote_told(quote: EvidenceSeen, memory_id: str) -> str:
    """Where a quote stands: `In this text`, or `A document · 3 Mar 2026 · trust 0.60`.

    Args:
        quote: of a claim.
        memory_id: the memory that is looked at.
    """
    if quote.memory_id == memory_id:
        return str(belief_strings()["claims"]["here"])
    name = one_line(quote.client or "", _NAME) or SOURCE_WORDS[quote.source]
    return f"{name} · {said_or_noted(quote.occurred, quote.recorded_at)} · trust {score(quote.trust)}"


def opposed_told(item: Opposed) -> str:
    """What kind of matter is open: `Two memories disagree`."""
    return str(belief_strings()["opposed"].get(item.kind, belief_strings()["opposed"]["contradiction"]))


# ---- versions


def day_of(ms: int, precision: Precision = Precision.DAY) -> str:
    """A moment as a day, or as exactly as it is known where that is less."""
    coarse = precision in (Precision.YEAR, Precision.MONTH)
    return said_at(When(ms, precision)) if coarse else date_of(ms)


def held_told(version: VersionHeld) -> str:
    """When a version held, and since when Loci knew: `Held 3 Mar 2025 to 12 Dec 2025 · learned 4 Mar 2025`.

    Args:
        version: of a chain.
    """
    said = belief_strings()["versions"]
    if not version.ever_held:
        return f"{said['waits']} · {said['learned_on'].format(date=date_of(version.recorded_at))}"
    begin = day_of(version.begin, version.precision)
    ends = "" if version.end is None else date_of(version.end)
    if version.begin_by == "recorded" and not ends:
        learned = str(said["learned_on"]).format(date=begin)
        return learned[:1].upper() + learned[1:]
    when = _span(said, begin, ends or None)
    return f"{when} · {said['learned_on'].format(date=date_of(version.recorded_at))}"
