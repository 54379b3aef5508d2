"""The Recall page in words: lists, stages, what sank a memory, how a question was understood.

The sentences are `resources/help/recall_page.json`. Must not do: show text that is not made visible, or decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache

from core.types.recall import Comparison, LabItem, ProbeOutcome, QueryPlan, TimeRange, TracedCandidate
from core.types.values import Status
from ui.strings import recall_strings
from ui.widgets.labels import STATUS_WORDS, describe_source
from ui.widgets.plaintext import one_line

_NAME = 40
_QUESTION = 48
_FEW = 3


def format_ordinal(place: int) -> str:
    """`1st`, `2nd`, `11th`.

    Args:
        place: from 1.
    """
    if place % 100 in {11, 12, 13}:
        return f"{place:,}th"
    return f"{place:,}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th') }"


# ---- the question


def format_question_day(iso: str) -> str:
    """An ISO date as a person writes it; as it came where it is none."""
    try:
        day = date.fromisoformat(iso)
    except ValueError:
        return one_line(iso, _NAME)
    return f"{day.day} {day:%b} {day.year}"


def describe_question_time(time: TimeRange) -> str:
    """The days a question speaks of: `3 May 2026`, `1 May 2026 to 31 May 2026`."""
    first, last = format_question_day(time.first_day), format_question_day(time.last_day)
    span = str(recall_strings()["chips"]["span"]).format(first=first, last=last)
    return first if first == last else span


def join_question_names(plan: QueryPlan) -> str:
    """The names in a question, a few of them."""
    if not plan.entities:
        return str(recall_strings()["chips"]["names_none"])
    shown = [one_line(name, _NAME) for name in plan.entities[:_FEW]]
    left = len(plan.entities) - _FEW
    more = [recall_strings()["chips"]["names_more"].format(count=left)] if left > 0 else []
    return str(recall_strings()["chips"]["names"]).format(names=", ".join([*shown, *more]))


def describe_name_aliases(plan: QueryPlan) -> str:
    """What the names are, and by what else they are known."""
    strings = recall_strings()["chips"]
    others = [one_line(alias, _NAME) for aliases in plan.aliases.values() for alias in aliases]
    also = [strings["aliases_hint"].format(aliases=", ".join(others[:12]))] if others else []
    return " ".join([strings["names_hint"], *also])


def shorten_question(query: str) -> str:
    """A saved question where there is little room."""
    return one_line(query, _QUESTION)


# ---- where a memory was


def list_title(name: str) -> str:
    """A list in words; its own name where it is a new one."""
    known = recall_strings()["lists"].get(name)
    return str(known["title"]) if known else name


def best_places(lists: Mapping[str, tuple[int, float]]) -> dict[str, int]:
    """The best place for each way to be found.

    Args:
        lists: list to (rank, raw score).

    Returns:
        Way to place, the usual ways first; lists that only add others up are left out.
    """
    best: dict[str, int] = {}
    for name, (rank, _) in lists.items():
        known = recall_strings()["lists"].get(name)
        way = str(known["short"]) if known else name
        if way:
            best[way] = min(rank, best.get(way, rank))
    order = {way: at for at, way in enumerate(recall_strings()["order"])}
    return dict(sorted(best.items(), key=lambda pair: (order.get(pair[0], len(order)), pair[0])))


def describe_reason(item: LabItem) -> str:
    """Why it was found, in a few words: the plainest of its reasons; its places where it has none."""
    return item.why[0].removesuffix(".") if item.why else describe_places(item.lists)


def describe_places(lists: Mapping[str, tuple[int, float]]) -> str:
    """`words 1st, meaning 3rd`; "" where it was in no list."""
    return ", ".join(f"{way} {format_ordinal(place)}" for way, place in best_places(lists).items())


def describe_status(status: Status) -> str:
    """How a memory is where it is not simply active."""
    return "" if status is Status.ACTIVE else STATUS_WORDS[status].lower()


def describe_answer_item(item: LabItem) -> str:
    """The line under an answer's text."""
    parts = (
        describe_status(item.memory.status),
        describe_source(item.memory, item.client),
        describe_reason(item),
    )
    return " · ".join(part for part in parts if part)


# ---- what was dropped


def dropped_wording(dropped: str) -> Mapping[str, str]:
    """What a drop is called: `stage`, `short`, `long`."""
    known: Mapping[str, Mapping[str, str]] = recall_strings()["dropped"]
    return known.get(dropped, known["unknown"])


def stage_of_drop(dropped: str) -> str:
    """The stage of the funnel at which it happened."""
    return dropped_wording(dropped)["stage"]


def stage_title(stage: str) -> str:
    """A stage of the funnel in words."""
    return str(recall_strings()["stages"][stage]["title"])


def describe_near_miss(dropped: str, lists: Mapping[str, tuple[int, float]]) -> str:
    """What sank a near miss, with the weakest of its places: `too weak an answer, meaning 58th, no shared rare word`.

    Args:
        dropped: the stage, as in `core.types.recall`.
        lists: where it was.
    """
    strings = recall_strings()["weakest"]
    found = best_places(lists)
    more = []
    if dropped in {"below_bar", "below_floor", "beyond_limit"}:
        more += [
            strings["place"].format(list=way, place=format_ordinal(place))
            for way, place in found.items()
            if place > _FEW
        ]
        more += [strings["words"]] if "words" not in found else []
        more += [strings["meaning"]] if "meaning" not in found else []
    return ", ".join([dropped_wording(dropped)["short"], *more[:2]])


def explain_missing(candidate: TracedCandidate | None, status: Status) -> list[str]:
    """Why a memory did not come, or that it did.

    Args:
        candidate: what the trace knows of it; None where it was no candidate.
        status: its state.
    """
    strings = recall_strings()["why_not"]
    if candidate is None:
        away = dropped_wording(status.value)["long"]
        never = [strings["never"]]
        return never if status is Status.ACTIVE else [*never, strings["not_standing"].format(reason=away)]
    if candidate.dropped is None and candidate.place is not None:
        return [strings["here"].format(place=format_ordinal(candidate.place))]
    dropped = dropped_wording(candidate.dropped or "unknown")
    sentences = [strings["stage"].format(stage=stage_title(dropped["stage"])), dropped["long"]]
    found = describe_places(candidate.lists)
    return [*sentences, strings["found"].format(lists=found)] if found else sentences


# ---- what is tuned


@cache
def _knob_titles() -> Mapping[str, tuple[str, bool]]:
    """Option to what its slider is called, and whether the slider shows the other share, `1 - value`."""
    made: dict[str, tuple[str, bool]] = {}
    for knob in recall_strings()["knobs"]:
        for intent, kind in recall_strings()["intents"].items():
            name = knob["name"].format(intent=intent)
            title = knob["title"] if name == knob["name"] else f"{knob['title']} ({kind.lower()})"
            made[name] = (title, bool(knob.get("turned")))
    return made


def describe_weight_change(name: str, title: str, pair: tuple[object, object]) -> str:
    """A change of an option, by the name and in the direction of its slider: `Relevance 0.95 → 0.5`.

    Args:
        title: what it is called where it has no slider.
        pair: the values before and after.
    """
    called, is_turned = _knob_titles().get(name, (title, False))
    before, after = (_format_knob_value(value, is_turned=is_turned) for value in pair)
    return str(recall_strings()["history"]["change"].format(title=called, before=before, after=after))


def _format_knob_value(value: object, *, is_turned: bool) -> str:
    if isinstance(value, bool):
        return str(recall_strings()["switch"]["on" if value else "off"])
    if not isinstance(value, int | float):
        return str(value)
    return f"{round(1 - value, 4) if is_turned else value:g}"


# ---- saved questions


def describe_losses(comparison: Comparison) -> list[tuple[str, str]]:
    """What a change would make worse.

    Args:
        comparison: now and as it would be.

    Returns:
        (sentence, the question), the worst first.
    """
    before = {one.probe_id: one for one in comparison.now.outcomes}
    after = {one.probe_id: one for one in comparison.would_be.outcomes}
    found: list[tuple[int, str, str]] = []
    for probe in comparison.probes:
        was, would = before.get(probe.id), after.get(probe.id)
        if was is None or would is None:
            continue
        loss = _measure_loss(probe.kind, was, would)
        if loss is not None:
            sentence = loss[1].format(
                query=shorten_question(probe.query),
                before=format_ordinal(was.place or 0),
                after=format_ordinal(would.place or 0),
            )
            found.append((loss[0], sentence, probe.query))
    return [(sentence, query) for _, sentence, query in sorted(found, key=lambda one: -one[0])]


def _measure_loss(kind: str, was: ProbeOutcome, would: ProbeOutcome) -> tuple[int, str] | None:
    """How bad it is, and the sentence; None where it is no worse."""
    strings = recall_strings()["tuner"]
    if kind == "positive":
        if was.place is None or was.place == would.place:
            return None
        if would.place is None:
            return (1_000, strings["drops"])
        return (would.place - was.place, strings["falls"]) if would.place > was.place else None
    if was.passed and not would.passed:
        return (2_000, strings["speaks" if kind == "negative" else "stales"])
    return None


def count_gains(comparison: Comparison) -> int:
    """How many saved questions a change would make better."""
    before = {one.probe_id: one for one in comparison.now.outcomes}
    return sum(_is_better(before[one.probe_id], one) for one in comparison.would_be.outcomes if one.probe_id in before)


def _is_better(was: ProbeOutcome, would: ProbeOutcome) -> bool:
    if would.passed != was.passed:
        return would.passed
    return would.passed and was.place is not None and would.place is not None and would.place < was.place


def join_parts(parts: Iterable[str]) -> str:
    """Parts of a line, the empty ones left out."""
    return " · ".join(part for part in parts if part)
