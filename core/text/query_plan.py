"""Understands a question before it is searched for: its time, its intent, its names, how much its words count.

Six intents, each scored by its cues; signals of the question shift the weight of the keyword list (E40, X45; E35.3, X5,
X6). The cues, signals and weights are data (`resources/query/intent.json`, `weight.json`). The same question, moment
and zone give the same plan. Must not do: any I/O but reading its own rules once, any call of a model, any look into a
vault but by `known`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from functools import cache
from importlib.resources import files
from math import prod

from core.text.terms import fold_case, fold_width, stop_words
from core.text.time_parts import time_vocabulary
from core.text.time_range import MAX_CHARS, find_time_range
from core.types.recall import PlanChange, QueryPlan, TimeRange
from core.types.values import Intent

Known = Callable[[str], tuple[str, ...]]
"""Gives other names of the entity that a folded name stands for; empty where there is none."""
MOST = 16
"""Names, and identifiers, that are taken from one question at most."""
MOST_ASKED = 64
"""Runs of words that `known` is asked about at most."""
RUN_WORDS = 3
_IDENTIFIER = re.compile(
    r"""
      (?P<url>(?:https?|ftp|file|git|ssh)://[^\s<>")\]]+)
    | (?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    | (?P<path>(?<![\w/])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@+-]+)+[/\\]?|(?<![\w/])[\w.@+-]+(?:[/\\][\w.@+-]+)+\.\w+)
    | (?P<code>(?<!\w)(?:[\w-]+\(\)|[\w-]*_[\w-]+|[a-z]+(?:[A-Z][a-z0-9]+)+|--?[a-z][\w-]+(?==|\s|$))(?!\w))
    | (?P<dotted>(?<![\w.])[A-Za-z_][\w-]*(?:(?:\.|::|\#)[\w-]+)+)
    | (?P<version>(?<![\w.])v?\d+(?:\.\d+)+(?:-[\w.]+)?(?![\w]))
    | (?P<mixed>(?<![\w.])(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w]+(?:-[\w]+)*(?!\w))
    | (?P<number>(?<![\w.,])\#?\d{2,}(?:[ .-]\d{2,})*(?!\w))
    """,
    re.VERBOSE,
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)|'?\d+s", re.IGNORECASE)
_QUOTED = re.compile(
    r"\"([^\"]{1,200})\"|“([^”]{1,200})”|«([^»]{1,200})»|„([^“”]{1,200})[“”]|(?<!\w)'([^']{1,200})'(?!\w)"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*\.?|\d+")
_SENTENCE = re.compile(r"(?:^|[.!?:…]\s+)[\s\"'“‘(\[]*$")
_POSSESSIVE = re.compile(r"['’]s?$|['’]$")
_Found = tuple[int, int, str]  # begin, exclusive end, as typed
SHORT_WORDS, LONG_WORDS = 8, 12
_DROPPED = re.compile(r"['’‘ʼ]")
_GAPS = re.compile(r"[\W_]+")
_OWNED = re.compile(r"\w['’]s \w+(?: \w+)?\W*$")


@dataclass(frozen=True, slots=True)
class QuestionNames:
    """What a question names.

    Attributes:
        entities: names as typed, in the question's order.
        aliases: name to other names of the same entity.
        identifiers: terms that look like code, as typed.
    """

    entities: tuple[str, ...]
    aliases: dict[str, tuple[str, ...]]
    identifiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WeightRules:
    """The rules of `resources/query/weight.json`.

    Attributes:
        factual: signal to the pattern that fires it; each adds `up`.
        conceptual: the same; each takes `down` away.
        up: added for a factual signal.
        down: taken away for a conceptual one.
        low: the least weight; `high` is the greatest.
        few: words at most of a factual question; `many`, above it a conceptual one.
        margin: how far the best intent has to lead to decide instead.
        names: what each signal is called for people.
    """

    factual: Mapping[str, re.Pattern[str]]
    conceptual: Mapping[str, re.Pattern[str]]
    up: float
    down: float
    low: float
    high: float
    few: int
    many: int
    margin: float
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class IntentCues:
    """The rules of `resources/query/intent.json`.

    Attributes:
        courtesies: what is taken off the beginning.
        cues: intent to pattern and weight; above 0 it speaks for the intent, below 0 it takes a share away.
        features: name of a feature to intent to weight.
        damping: what an intent's score is multiplied by; lookup is what is left where nothing else speaks.
        order: which intent wins where two have the same.
        shifts: what each intent adds to the text weight.
        several: what a question has that wants more than one thing.
    """

    courtesies: re.Pattern[str]
    cues: Mapping[Intent, tuple[tuple[re.Pattern[str], float], ...]]
    features: Mapping[str, Mapping[Intent, float]]
    damping: Mapping[Intent, float]
    order: tuple[Intent, ...]
    shifts: Mapping[Intent, float]
    several: tuple[re.Pattern[str], ...]


def find_question_names(query: str, known: Known | None = None, without: tuple[int, int] = (0, 0)) -> QuestionNames:
    """Find names and identifiers.

    A run of capitalised words is a name; the first word of a sentence only if it is no common word. Words in quotation
    marks are a name. Any other run of up to three words is a name only if `known` knows it.

    Args:
        known: other names of a folded name; asked for each name found, and for up to `MOST_ASKED` other runs.
        without: where a phrase of time stands, begin and exclusive end; nothing in it is a name.

    Returns:
        Names without possessive endings.
    """
    codes = [found for found in _find_identifiers(query) if not _is_overlapping(found, [without])]
    quoted = [found for found in _find_quoted_names(query) if not _is_overlapping(found, codes)]
    taken = [without, *((start, end) for start, end, _ in (*codes, *quoted))]
    words = [word for word in _tokenize_words(query) if not _is_overlapping((word.start, word.end), taken)]
    found: dict[str, tuple[int, str]] = {}
    for start, end, name in (*quoted, *_find_capitalised_names(query, words)):
        if (key := _fold_name(name)) and start < end:
            found.setdefault(key, (start, name))
    aliases: dict[str, tuple[str, ...]] = {}
    if known is not None:
        _look_up_names(words, known, found, aliases)
    names = tuple(name for _, name in sorted(found.values()))[:MOST]
    identifiers = tuple(dict.fromkeys(code for _, _, code in codes))[:MOST]
    return QuestionNames(names, {name: aliases[name] for name in names if aliases.get(name)}, identifiers)


@cache
def weight_rules() -> WeightRules:
    """The rules, read and compiled once."""
    data = json.loads((files("resources") / "query" / "weight.json").read_text("utf-8"))
    factual, conceptual = (
        {name: re.compile(one) for name, one in data[side].items()} for side in ("factual", "conceptual")
    )
    numbers = {name: data[name] for name in ("up", "down", "low", "high", "few", "many", "margin", "names")}
    return WeightRules(factual, conceptual, **numbers)


def text_weight(query: str, base: float, scores: Mapping[Intent, float]) -> tuple[float, tuple[str, ...]]:
    """The weight of words for a question.

    clamp(base + up * F - down * C), where F and C count the factual and the conceptual signals (E35.3). Where one
    intent leads by `margin` or more, its shift stands in the place of the conceptual signals (X6, which lets the intent
    decide alone; but a path in a question is looked for by its letters whatever is asked of it).

    Args:
        base: the configured weight, 0 to 1.
        scores: what speaks for each intent.

    Returns:
        The weight between `low` and `high`, and what moved it: names of signals, or `intent_` and the intent.
    """
    rules = weight_rules()
    intent, margin = best_intent(scores)
    # A margin from sums of chances is never exact: 0.1 is reached where the sixth digit says so.
    factual, conceptual = weight_signals(query)
    if margin >= rules.margin - 1e-9:
        shift = intent_cues().shifts[intent]
        return _clamp_weight(base + rules.up * len(factual) + shift, rules), (*factual, f"intent_{intent.value}")
    weight = base + rules.up * len(factual) - rules.down * len(conceptual)
    return _clamp_weight(weight, rules), (*factual, *conceptual)


def weight_signals(query: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The factual and the conceptual signals of a question, in the order of the rules.

    Args:
        query: any text; case and marks at its end do not matter (X5).
    """
    rules = weight_rules()
    plain = query.lower().strip().rstrip(".!?…").rstrip()
    words = len(plain.split())
    factual = [name for name, pattern in rules.factual.items() if pattern.search(plain)]
    conceptual = [name for name, pattern in rules.conceptual.items() if pattern.search(plain)]
    if 0 < words <= rules.few:
        factual.append("few_words")
    if words > rules.many:
        conceptual.append("many_words")
    return tuple(factual), tuple(conceptual)


@cache
def intent_cues() -> IntentCues:
    """The rules, read and compiled once."""
    data = json.loads((files("resources") / "query" / "intent.json").read_text("utf-8"))
    words = data["words"]
    cues = {
        Intent(name): tuple((re.compile(_fill_pattern(pattern, words)), weight) for pattern, weight in rules)
        for name, rules in data["cues"].items()
    }
    features = {
        name: {Intent(intent): weight for intent, weight in weights.items()}
        for name, weights in data["features"].items()
    }
    shifts, damping = ({Intent(name): value for name, value in data[key].items()} for key in ("shifts", "damping"))
    order = tuple(Intent(name) for name in data["order"])
    several = tuple(re.compile(pattern) for pattern in data["several"])
    return IntentCues(re.compile(data["courtesies"]), cues, features, damping, order, shifts, several)


def intent_scores(query: str, *, has_time: bool) -> dict[Intent, float]:
    """What speaks for each intent.

    Each cue that is found speaks with its weight w; together they give (1 - product of (1 - w)) times the product of
    (1 - |w|) of the cues that speak against it (E40.2 with the weights of X45).

    Args:
        has_time: whether it names days.

    Returns:
        All six, 0 to 1, in the order in which they win ties.
    """
    rules = intent_cues()
    plain = normalize_question(query)
    found = question_traits(query, plain, has_time=has_time)
    scores = {}
    for intent in rules.order:
        weights = [weight for pattern, weight in rules.cues[intent] if pattern.search(plain)]
        weights += [rules.features[name].get(intent, 0.0) for name in found]
        left = prod(1 - weight for weight in weights if weight > 0)
        kept = prod(1 + weight for weight in weights if weight < 0) * rules.damping.get(intent, 1.0)
        scores[intent] = round((1 - left) * kept, 6)
    return scores


def best_intent(scores: Mapping[Intent, float]) -> tuple[Intent, float]:
    """The intent with the highest score, and its margin over the next.

    Args:
        scores: from `intent_scores`.

    Returns:
        The intent, by the fixed order where two have the same (X45), lookup where nothing speaks for any; the margin,
        0 to 1.
    """
    order = intent_cues().order
    ranked = sorted(order, key=lambda intent: (-scores.get(intent, 0.0), order.index(intent)))
    first, second = scores.get(ranked[0], 0.0), scores.get(ranked[1], 0.0)
    return (ranked[0], first - second) if first > 0 else (Intent.LOOKUP, 0.0)


def asks_for_several(query: str, intent: Intent) -> bool:
    """Whether a question wants more than one thing: a list, a number of things, an overview, a comparison.

    Args:
        intent: what kind of answer it asks for.
    """
    if intent in (Intent.EXPLORATORY, Intent.COMPARATIVE):
        return True
    plain = normalize_question(query)
    return any(pattern.search(plain) for pattern in intent_cues().several)


def normalize_question(query: str) -> str:
    """The question as the patterns see it: small letters, words one blank apart, courtesies off."""
    words = _GAPS.sub(" ", _DROPPED.sub("", query.lower())).strip()
    return intent_cues().courtesies.sub("", words)


def question_traits(query: str, plain: str, *, has_time: bool) -> tuple[str, ...]:
    """Traits of a question beside its cues: `time`, `bare`, `short`, `long`, `owned`.

    Args:
        query: as typed.
        plain: from `normalize_question`.
        has_time: whether it names days.
    """
    words = plain.split()
    traits = {
        "time": has_time,
        "bare": bool(words) and len(words) <= SHORT_WORDS and not _is_asking(words),
        "short": 0 < len(words) <= SHORT_WORDS,
        "long": len(words) > LONG_WORDS,
        "owned": bool(_OWNED.search(query.lower())) and len(words) <= SHORT_WORDS,
    }
    return tuple(name for name, holds in traits.items() if holds)


def understand_question(
    query: str,
    now_ms: int,
    zone: tzinfo,
    known: Callable[[str], tuple[str, ...]] | None = None,
    change: PlanChange | None = None,
    base_text_weight: float = 0.5,
) -> QueryPlan:
    """Understand a question.

    Args:
        query: any text; its first 1,024 characters are read.
        zone: the local zone; days are its days.
        known: gives other names of a folded name of the question; empty where there is none.
        change: what the caller decides instead of the rules.
        base_text_weight: the configured weight of words, 0 to 1.

    Returns:
        The plan. What the caller gave stands in it as given and is named in `given`; a text weight given is taken as
        it is, without the bounds of E35.3 (X6).
    """
    head = query[:MAX_CHARS]
    change = change or PlanChange()
    found = find_time_range(head, now_ms, zone)
    time, given = _planned_time(found, change)
    scores = intent_scores(head, has_time=time is not None)
    intent, _ = best_intent(scores)
    weight, signals = text_weight(head, base_text_weight, scores if change.intent is None else {change.intent: 1.0})
    if change.intent is not None:
        intent = change.intent
        given = ("intent", *given)
    if change.text_weight is not None:
        weight, signals, given = change.text_weight, (), (*given, "text_weight")
    place = (time.start, time.end) if time is not None and time is found else (0, 0)
    names = find_question_names(head, known, place)
    return QueryPlan(
        intent=intent,
        intent_scores={one.value: scores[one] for one in Intent},
        time=time,
        entities=names.entities,
        aliases=names.aliases,
        identifiers=names.identifiers,
        text_weight=weight,
        text_signals=signals,
        given=given,
    )


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    first: bool


def _is_overlapping(place: tuple[int, int] | _Found, others: Iterable[tuple[int, int] | _Found]) -> bool:
    return any(place[0] < other[1] and other[0] < place[1] for other in others)


def _find_identifiers(query: str) -> Iterator[_Found]:
    for match in _IDENTIFIER.finditer(query):
        text = match.group().rstrip(".,;:!?")
        if match.lastgroup == "mixed" and _ORDINAL.fullmatch(text):
            continue
        if text:
            yield match.start(), match.start() + len(text), text


def _find_quoted_names(query: str) -> Iterator[_Found]:
    for match in _QUOTED.finditer(query):
        name = next((part for part in match.groups() if part), "").strip()
        if name:
            yield match.start(), match.end(), name


def _tokenize_words(query: str) -> list[_Word]:
    words = []
    for match in _WORD.finditer(query):
        text = match.group()
        # "Dr." keeps its full stop, the last word of a sentence does not.
        text = text if text.lower() in _load_query_words("titles") else text.rstrip(".")
        before = query[max(0, match.start() - 4) : match.start()]
        is_first = bool(_SENTENCE.search(before)) if match.start() > 3 else not query[: match.start()].strip("\"'“‘([ ")
        words.append(_Word(text, match.start(), match.start() + len(text), is_first))
    return words


@cache
def _load_query_words(name: str) -> frozenset[str]:
    """A word list of `resources/query/names.json`."""
    data = json.loads((files("resources") / "query" / "names.json").read_text("utf-8"))
    lines = data[name]
    return frozenset((lines if isinstance(lines, str) else " ".join(lines)).split())


def _find_capitalised_names(query: str, words: list[_Word]) -> Iterator[_Found]:
    if words and all(word.text.isupper() for word in words) and len(words) > 2:
        return  # shouted: capitals tell nothing
    run: list[_Word] = []
    for word in words:
        if run and not _is_joined(query, run[-1], word):
            yield from _close_name_run(query, run)
            run = []
        if (
            _is_question_name(word, has_run=bool(run))
            or (run and word.text in _load_query_words("links"))
            or (run and word.text.isdigit())
        ):
            run.append(word)
        elif run:
            yield from _close_name_run(query, run)
            run = []
    yield from _close_name_run(query, run)


def _is_joined(query: str, left: _Word, right: _Word) -> bool:
    """Whether only a blank or a dash lies between, and the left one does not own the right one."""
    between = query[left.end : right.start]
    return between in (" ", "-", "  ") and not _POSSESSIVE.search(left.text)


def _is_question_name(word: _Word, *, has_run: bool) -> bool:
    text = _POSSESSIVE.sub("", word.text)
    if not text[:1].isupper():
        return False
    folded = fold_case(fold_width(text))
    joined = folded.replace("'", "")
    if joined in stop_words() or joined in _load_query_words("not_names") or _is_calendar(folded):
        return False
    if word.first:
        return not text.isupper() and joined not in _common_openers() if len(text) > 1 else False
    return has_run or len(text) > 1


def _is_calendar(folded: str) -> bool:
    words = time_vocabulary()
    return folded in words.weekdays or (folded in words.months and folded not in words.sets["names_of_people"])


@cache
def _common_openers() -> frozenset[str]:
    """Words that are no name at the beginning of a sentence."""
    lines = (files("resources") / "text" / "stopwords_names.txt").read_text("utf-8").splitlines()
    found = {fold_case(word).replace("'", "") for line in lines if not line.startswith("#") for word in line.split()}
    return _load_query_words("openers") | found


def _close_name_run(query: str, run: list[_Word]) -> Iterator[_Found]:
    while run and run[-1].text in _load_query_words("links"):
        run = run[:-1]
    if run:
        start, end = run[0].start, run[-1].end
        yield start, end, _POSSESSIVE.sub("", query[start:end])


def _fold_name(name: str) -> str:
    return fold_case(fold_width(name)).strip()


def _look_up_names(
    words: list[_Word], known: Known, found: dict[str, tuple[int, str]], aliases: dict[str, tuple[str, ...]]
) -> None:
    for key, (_, name) in tuple(found.items()):
        aliases[name] = _without_name(known(key), name)
    taken: set[int] = set()
    for run in _name_like_runs(words):
        name = " ".join(_POSSESSIVE.sub("", word.text) for word in run)
        key = _fold_name(name)
        places = {word.start for word in run}
        if key in found or places & taken or any(key in other.split() for other in found):
            continue
        if others := known(key):
            taken |= places
            found[key] = (run[0].start, name)
            aliases[name] = _without_name(others, name)


def _name_like_runs(words: list[_Word]) -> Iterable[list[_Word]]:
    """Runs of up to three words, the longest first, that do not begin or end with a function word."""
    asked = 0
    for size in range(RUN_WORDS, 0, -1):
        for at in range(len(words) - size + 1):
            run = words[at : at + size]
            edges = (_fold_name(_POSSESSIVE.sub("", run[0].text)), _fold_name(_POSSESSIVE.sub("", run[-1].text)))
            if any(edge.replace("'", "") in stop_words() for edge in edges) or asked == MOST_ASKED:
                continue
            asked += 1
            yield run


def _without_name(others: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(other for other in others if _fold_name(other) != _fold_name(name))


def _clamp_weight(weight: float, rules: WeightRules) -> float:
    return round(min(rules.high, max(rules.low, weight)), 6)


def _fill_pattern(pattern: str, words: Mapping[str, str]) -> str:
    for name, choice in words.items():
        pattern = pattern.replace("{" + name + "}", choice)
    return pattern


def _is_asking(words: list[str]) -> bool:
    """Whether it is more than names of things: a question word, a verb of asking or a helping verb."""
    return any(word in _asking_words() for word in words)


@cache
def _asking_words() -> frozenset[str]:
    kept = {"of", "the", "a", "an", "my", "our", "his", "her", "their", "for", "in", "on", "at", "to", "with", "and"}
    return stop_words() - kept | {"whats", "whos", "hows", "wheres", "tell", "show", "give", "list"}


def _planned_time(found: TimeRange | None, change: PlanChange) -> tuple[TimeRange | None, tuple[str, ...]]:
    if change.no_time:
        return None, ("time",)
    if change.time is not None:
        return change.time, ("time",)
    return found, ()
