"""The sentences of the conflict desk, made of templates in `resources/help/review.json`.

Values and subjects go in as they are: plain text that somebody else wrote, cut to a line. Must not do: decide
anything, or take a sentence from a memory for one of Loci's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from core.config.help_strings import format_count, read_help_strings
from core.text.times import format_time
from core.types.values import Action, Precision, When

LINE = 80
"""Characters of somebody's words in one line at most."""
_VALUE = 60


review_strings: Callable[[], Mapping[str, Any]] = partial(read_help_strings, "review")
"""The templates of `resources/help/review.json`."""


@dataclass(frozen=True, slots=True)
class ItemTopic:
    """What a review item is about, as its claims name it.

    Attributes:
        subject: as written; "" where no claim was read.
        predicate: a name of the vocabulary; "" where no claim was read.
        existing: the value that stands; `incoming` the newcomer's; "" where unknown.
        stated: what both values are given of, in the texts' own words; "" where claims name it.
    """

    subject: str = ""
    predicate: str = ""
    existing: str = ""
    incoming: str = ""
    stated: str = ""

    @property
    def is_person(self) -> bool:
        """Whether the subject is the person."""
        return " ".join(self.subject.casefold().split()) in review_strings()["persons"]

    def said_by(self, speaker: str) -> ItemTopic:
        """The topic where somebody else than the owner speaks: what they say of themselves is about them.

        Args:
            speaker: their name; "" for the owner.
        """
        return replace(self, subject=speaker) if speaker and self.is_person else self


def describe_item_line(text: str, most: int = LINE) -> str:
    """Somebody's words on one line.

    Args:
        most: characters at most.

    Returns:
        The beginning, blanks joined, `…` at the end where something was left out.
    """
    flat = " ".join(text[: most * 4].split())
    return flat if len(flat) <= most and len(text) <= most * 4 else flat[: most - 1].rstrip() + "…"


def format_title(kind: str, topic: ItemTopic, text: str) -> str:
    """The title of a review item in the queue.

    Args:
        topic: what its claims name.
        text: the newcomer's text, for what has no claims.

    Returns:
        One line.
    """
    if topic.predicate and kind in ("contradiction", "classification", "stale", "approval"):
        return _format_topic(topic, "title")
    return describe_item_line(text) or str(review_strings()["kinds"][kind]["title"])


def format_merge_title(one: tuple[str, str], other: tuple[str, str]) -> str:
    """The title of a review item about two names that may be the same.

    Args:
        one: name and space; `other` likewise.
    """
    strings = review_strings()["kinds"]["entity_merge"]
    named = (describe_item_line(name) for name, _ in (one, other))
    if one[0].casefold() == other[0].casefold():
        named = (_name_in_space(str(strings["in_space"]), *name) for name in (one, other))
    first, second = (describe_item_line(name, _VALUE) for name in named)
    return str(strings["row"]).format(one=first, other=second)


def format_merge_question(one: tuple[str, str], other: tuple[str, str]) -> str:
    """The question whether two names are the same, with both names in it.

    Args:
        one: name and space; `other` likewise.

    Returns:
        One sentence; the spaces stand in it where the names are spelled alike.
    """
    strings = review_strings()["kinds"]["entity_merge"]
    form = str(strings["quoted_in_space" if one[0].casefold() == other[0].casefold() else "quoted"])
    first, second = (_name_in_space(form, *name) for name in (one, other))
    return str(strings["named"]).format(one=first, other=second)


def answer_words(kind: str, actions: Sequence[Action]) -> tuple[str, ...]:
    """What a person types to decide a review item: words that fit its question.

    Args:
        actions: the decisions it takes.

    Returns:
        A word for each, in the same order; a decision that has no word of its own for this kind keeps its name.
    """
    words = review_strings()["kinds"][kind].get("answers", {})
    return tuple(str(words.get(action.value, action.value)) for action in actions)


def _name_in_space(form: str, name: str, space: str) -> str:
    return form.format(name=describe_item_line(name, _VALUE), space=describe_item_line(space, _VALUE))


def format_question(kind: str, topic: ItemTopic) -> str:
    """The question that a review item puts to the person.

    Args:
        topic: what its claims name.

    Returns:
        One sentence.
    """
    is_odd = bool(topic.existing and topic.incoming) and topic.existing.casefold() != topic.incoming.casefold()
    if is_odd and kind in ("contradiction", "classification") and (topic.predicate or topic.stated):
        stated = topic.stated or _format_topic(topic, "question").removesuffix("?")
        old_value, new_value = (describe_item_line(value, _VALUE) for value in (topic.existing, topic.incoming))
        return str(review_strings()["worded"]["question"]).format(stated=stated, have=old_value, came=new_value)
    if topic.predicate and kind in ("contradiction", "approval"):
        return _format_topic(topic, "question")
    return str(review_strings()["kinds"][kind]["question"])


def _format_topic(topic: ItemTopic, what: str) -> str:
    known = review_strings()["predicates"]
    template = known.get(topic.predicate) or known["default"]
    form = template[f"{what}_you"] if topic.is_person else template[what]
    return str(form).format(subject=describe_item_line(topic.subject), predicate=topic.predicate.replace("_", " "))


def describe_item_note(kind: str, recalled: int, client: str | None, *, later: bool) -> str:
    """The line under a review item's title; no memory text.

    Args:
        recalled: how often either memory was given to somebody.
        client: the name of the client that brought it.
        later: it was put off.

    Returns:
        Parts with a middle dot between.
    """
    wording = review_strings()["notes"]
    parts = [str(review_strings()["kinds"][kind]["note"])]
    if client is not None:
        parts.append(wording["by_client"].format(client=describe_item_line(client, 40)))
    if recalled:
        parts.append(format_count(wording["recalled"], recalled))
    if later:
        parts.append(wording["later"])
    return " · ".join(parts)


def format_reason(key: str, kind: str) -> str:
    """The sentence that says why a review item is asked about (`resources/help/review.json`).

    Args:
        key: a key of the reasons; anything else is answered by the kind's own sentence.

    Returns:
        One sentence.
    """
    found = review_strings()["reasons"].get(key)
    return str(review_strings()["kinds"][kind]["note"]) + "." if found is None else str(found)


def format_further_reason(key: str, **values: object) -> str:
    """The sentence of a further reason why a review item is asked about.

    Args:
        key: a key of `format_further_reason`.
        **values: what its template names.

    Returns:
        One sentence.
    """
    return str(review_strings()["also"][key]).format(**values)


def describe_relation_label(label: str, probability: float) -> str:
    """How likely one relation is, in words.

    Args:
        label: a word of `core.types.belief.Label`.
        probability: 0 to 1.

    Returns:
        One sentence; "" for an unknown label.
    """
    template = review_strings()["labels"].get(label)
    return "" if template is None else str(template).format(percent=round(100 * probability))


def describe_closing(note_key: str | None, resolution: str | None) -> str:
    """Why a review item is closed.

    Args:
        note_key: a key of `closed` in the templates; None where somebody decided it.

    Returns:
        One sentence.
    """
    wording = review_strings()["closed"]
    if note_key is not None:
        return str(wording.get(note_key, wording["other"]))
    return str(wording["decided"]) if resolution is not None else str(wording["other"])


def describe_result(action: Action, kind: str, topic: ItemTopic, *, paired: bool, date: str = "") -> str:
    """What a decision on a review item would lead to.

    Args:
        topic: what its claims name.
        paired: whether two memories are concerned.
        date: for decisions with dates.

    Returns:
        One sentence.
    """
    special = review_strings()["special"].get(kind, {}).get(action.value)
    if special is not None:
        return str(special)
    forms = review_strings()["suggestions"][action.value]
    if not paired:
        return str(forms["one"])
    # What only denies the other names the same value: a sentence made of both would say nothing.
    apart = topic.existing.casefold() != topic.incoming.casefold()
    form = "values" if topic.existing and topic.incoming and apart else "pair"
    return str(forms[form]).format(
        have=describe_item_line(topic.existing, _VALUE),
        came=describe_item_line(topic.incoming, _VALUE),
        date=date or "then",
    )


def describe_classifier(by: str, confidence: float | None) -> str:
    """Which classifier weighed a pair, and how sure it is.

    Args:
        by: `rules`, `builtin` or `model`.
        confidence: 0 to 1; None where nothing was weighed.

    Returns:
        One sentence, or "".
    """
    template = review_strings()["by"].get(by, "")
    return "" if confidence is None else str(template).format(percent=round(100 * confidence))


def format_day(ms: int) -> str:
    """A day as the pages write it.

    Args:
        ms: epoch ms.

    Returns:
        Such as `18 Nov 2026`, in UTC; "" for a moment that no calendar knows.
    """
    written = format_time(When(ms, Precision.DAY))
    if not written:
        return ""
    year, month, number = written.rsplit("-", 2)
    return f"{int(number)} {review_strings()['months'][int(month) - 1]} {year}"
