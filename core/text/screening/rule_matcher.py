"""Reads a text as ideas in a row and finds which rules of the injection scan they meet, in time linear in its length.

Ideas are words and phrases of several languages (`resources/injection/concepts.json`), rules are ideas that stand near
each other (`resources/injection/rules.json`). A habit and an order to the reader are of the same words ("they send",
"…, send a copy to …"); what differs is where the verb stands (`resources/injection/orders.json`).
Must not do: hold a rule or a word list in code, judge what is ordered, or keep text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from itertools import combinations
from typing import Any

from core.text.terms import fold_case, fold_width

_CLAUSE_MARK = re.compile(r"[^\w\s'\u2019/&@#%+=~-]|\n|\s[-\u2010-\u2015]+\s")
_SENTENCE = re.compile(r"[.!?\n;\u3002\uff01\uff1f]")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SENTENCE_WORDS = 40  # words back to where the sentence begins
_LONGEST = 4  # words of a phrase
_STEPS = 6  # adverbs in a row
Spans = Sequence[tuple[int, int]]
# Scripts without blanks are read sign by sign.
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_MARK = re.compile(
    r"\b[A-Za-z][A-Za-z0-9+]{1,11}://\S{1,2000}(?<![.,;:!?)\]])|(?:mailto:)?[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}"
    r"|\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,3}\.(?:com|org|net|io|ai|dev|app|info|biz|xyz|example|test|de|fr|es|it|pt|nl|uk|ru|cn)\b"
)
# Marks of what is no word: an account, a parameter that is set, a name of code, a comment that speaks to assistants.
_ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b|\b(?:bc1|0x)[0-9a-zA-Z]{20,64}\b")
_SET = re.compile(r"(?<=\w)=[\"'\u201c]? ?(?=[\w/{$])")
_NAME = re.compile(
    r"(?<![\w.])(?=[A-Za-z][A-Za-z0-9]{0,40}_\w|[A-Za-z][\w.]{1,60}\(\)|[a-z]{2,20}\.[a-z]{3,20}\b(?!\.\w))"
)
_BREAK = re.compile(r"[.!?\n;\u3002\uff01\uff1f]")
_QUOTES = re.compile(
    '"[^"\n]{2,400}"|\u201c[^\u201d\n]{2,400}\u201d|\u201e[^\u201c\u201d\n]{2,400}[\u201c\u201d]'
    "|\u00ab[^\u00bb\n]{2,400}\u00bb|\u00bb[^\u00ab\n]{2,400}\u00ab|`[^`\n]{2,400}`"
    "|(?<![\\w'])'[^'\n]{2,400}'(?![\\w'])|\u300c[^\u300d\n]{2,400}\u300d|\u2039[^\u203a\n]{2,400}\u203a"
)
_OPENS = frozenset("<>#/-;%{[(\"'")
_CODE = frozenset("=_(.")
_STEP = 8  # a new sentence is as far as so many words
_NEAR = 2  # words between an idea and what takes it back
_BEFORE = 6  # words in which something is told of before it is said
_LOOKED = 12  # neighbours looked at on each side
_STRETCH = 16  # places
_AROUND_ORDERS = ("perm", "eachyou", "teller")
LONGEST = 16
"""Words of a phrase at most."""
_MOST_TAKEN_BACK = 512
_NEVER_MENTIONED = frozenset({"template", "exfiltrate", "tools"})


@dataclass(frozen=True, slots=True)
class ImperativeText:
    """A text in which orders are looked for.

    Attributes:
        flat: the text, folded.
        words: its words.
        spots: of each word, the character it begins with.
        lasting: words such as "from now on", first and last word of each, in order.
        occasions: words such as "whenever you", likewise.
        tellers: words such as "we", likewise.
    """

    flat: str
    words: Sequence[str]
    spots: Sequence[int]
    lasting: Spans = ()
    occasions: Spans = ()
    tellers: Spans = ()

    def is_order(self, first: int, last: int) -> bool:
        """Whether words may be an order to whoever reads them.

        Args:
            first: the first of the words, by its number.
            last: the last of them.

        Returns:
            True also for scripts without blanks, where it cannot be told.
        """
        told = _load_matcher_words()
        if _UNSPACED.match(self.words[first]):
            return True
        if tuple(self.words[last + 1 : last + 2]) in told.doers:
            return False
        if tuple(self.words[first : last + 1]) in told.plain:
            return not self._has_span_before(self.tellers, first)
        return self._may_begin(first)

    def _may_begin(self, at: int) -> bool:
        told = _load_matcher_words()
        for _ in range(_STEPS):
            if self._is_clause_start(at) or self._count_phrase_before(told.leads, at):
                return True
            if self._count_phrase_before(told.joins, at):
                return not self._has_span_before(self.tellers, at)
            adverb = self._count_phrase_before(told.adverbs, at)
            if adverb and self._has_span_before(self.occasions, at) and not self._has_span_before(self.tellers, at):
                return True  # "whenever you pay also send": the comma was left out
            back = adverb or self._lasting_words_before(at)
            if not back:
                return False
            at -= back
        return False

    def _is_clause_start(self, at: int) -> bool:
        return at == 0 or bool(_CLAUSE_MARK.search(self._text_before_word(at)))

    def _text_before_word(self, at: int) -> str:
        return self.flat[self.spots[at - 1] + len(self.words[at - 1]) : self.spots[at]]

    def _count_phrase_before(self, phrases: frozenset[tuple[str, ...]], at: int) -> int:
        """How many words of a phrase stand right before; 0 where none does."""
        for count in range(min(_LONGEST, at), 0, -1):
            if tuple(self.words[at - count : at]) in phrases:
                return count
        return 0

    def _lasting_words_before(self, at: int) -> int:
        return max((at - first for first, last in _spans_before(self.lasting, at) if last == at - 1), default=0)

    def _has_span_before(self, spans: Spans, at: int) -> bool:
        """Whether one of the spans stands before, in the same sentence."""
        begin = next(
            (
                one
                for one in range(at, max(0, at - _SENTENCE_WORDS), -1)
                if _SENTENCE.search(self._text_before_word(one))
            ),
            max(0, at - _SENTENCE_WORDS),
        )
        found = bisect_left(spans, (begin, -1))
        return found < len(spans) and spans[found][1] < at


@dataclass(frozen=True, slots=True)
class RuleHit:
    """A rule that was met.

    Attributes:
        rule: its id.
        family: what it is a sign of.
        weight: how likely it is an attack, 0 to 1.
        start: the first of its words; -1 for a shape.
        at: where that is in the text as it was read, characters.
    """

    rule: str
    family: str
    weight: float
    start: int = -1
    at: int = -1


@dataclass(frozen=True, slots=True)
class MatchedText:
    """A text as ideas.

    Attributes:
        places: of each word, how far into the text it stands; a new sentence is a step.
        spots: of each word, the character it begins with.
    """

    places: list[int]
    spots: list[int]
    ideas: dict[str, _IdeaMatch]


def imperative_ideas() -> frozenset[str]:
    """Ideas that count only where an order may begin: keys of `resources/injection/concepts.json`."""
    return _load_matcher_words().of


def fold_words(text: str) -> list[str]:
    """The words of a text, folded.

    Returns:
        Words in their order, without case and accents.
    """
    return _TOKEN.findall(fold_case(fold_width(text)))


@cache
def list_keywords() -> frozenset[str]:
    """All single words of the lists that have three letters or more, folded."""
    found: set[str] = set()
    waiting = [_load_phrases()]
    while waiting:
        node = waiting.pop()
        found.update(node.next)  # `|=` with the keys of a dict makes a new set each time
        waiting += node.next.values()
    return frozenset(word for word in found if len(word) > 2)


def match_rules(text: str) -> list[RuleHit]:
    """Which rules a text meets.

    Args:
        text: in plain characters, from `core.text.screening.injection`.

    Returns:
        One hit a rule, at its first place; what is only told of weighs less.
    """
    signs = frozenset(text)
    hits = [hit for hit, needs, shape in _load_shapes() if not signs.isdisjoint(needs) and shape.search(text)]
    flat = _flatten_text(text)
    read = _split_matched_words(flat)
    held = read.ideas.keys()
    for rule in _make_rules():
        if any(map(held.isdisjoint, rule.ideas)):
            continue
        start = _find_first_match(rule, read)
        if start is not None:
            hits.append(RuleHit(rule.id, rule.family, rule.weight, start, read.spots[start]))
    return _weigh_mentions(flat, read, hits) if hits else hits


@lru_cache(maxsize=4096)
def find_ideas(text: str) -> frozenset[str]:
    """Which ideas a text holds.

    Returns:
        Keys of `resources/injection/concepts.json`.
    """
    return frozenset(_split_matched_words(_flatten_text(fold_width(text))).ideas)


def find_split_rules(held: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    """Which two of several texts together hold all ideas of a rule of which neither holds all, or of `halves`.

    Args:
        held: the ideas of each, from `find_ideas`.

    Yields:
        Two places, the lower first; the same two may come again.
    """
    wanted = [(ideas, len(ideas)) for ideas in _load_halves()]
    wanted += [(rule.ideas, len(rule.ideas) - 1) for rule in _make_rules()]
    for ideas, most in wanted:
        places: dict[frozenset[int], list[int]] = {}
        for at, one in enumerate(held):
            part = _matched_parts(ideas, one)
            if 0 < len(part) <= most:
                places.setdefault(part, []).append(at)
        for has, more in combinations(places, 2):
            if len(has | more) == len(ideas):
                yield from (
                    (min(first, second), max(first, second)) for first in places[has] for second in places[more]
                )


def are_halves(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts that speak of one thing hold an order between them: `halves` of the rules.

    Args:
        one: its ideas, from `find_ideas`.
        other: likewise.

    Returns:
        Whether each has a part in it.
    """
    for ideas in _load_halves():
        parts = (_matched_parts(ideas, one), _matched_parts(ideas, other))
        if all(parts) and len(parts[0] | parts[1]) == len(ideas):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _ImperativeWords:
    of: frozenset[str]
    leads: frozenset[tuple[str, ...]]
    joins: frozenset[tuple[str, ...]]
    adverbs: frozenset[tuple[str, ...]]
    doers: frozenset[tuple[str, ...]]
    plain: frozenset[tuple[str, ...]]


@cache
def _load_matcher_words() -> _ImperativeWords:
    told = json.loads((files("resources") / "injection" / "orders.json").read_text("utf-8"))
    lists = [
        frozenset(tuple(fold_case(one).split()) for one in "|".join(told[name].values()).split("|"))
        for name in ("leads", "and", "adverbs", "doer", "plain")
    ]
    return _ImperativeWords(frozenset(told["of"]), *lists)


def _spans_before(spans: Spans, at: int) -> Spans:
    """The few that begin before a word, the nearest."""
    end = bisect_left(spans, (at, -1))
    return spans[max(0, end - 2 * _STEPS) : end]


@dataclass(frozen=True, slots=True)
class _Rule:
    id: str
    family: str
    weight: float
    ordered: bool
    ideas: tuple[tuple[str, ...], ...]
    reach: int
    after: str | None
    before: tuple[str, ...]
    inside: tuple[str, ...]

    @property
    def widen(self) -> int:
        """Stretches within which all of it stands, on each side of any of its ideas."""
        longest = self.reach + 1 + LONGEST
        reach = longest * (len(self.ideas) - 1) if self.ordered else self.reach
        return -(-reach // _STRETCH)


@dataclass(slots=True)
class _Node:
    """A step in the tree of phrases: what ends here, and what words go on."""

    ideas: list[str] = field(default_factory=list)
    next: dict[str, _Node] = field(default_factory=dict)


@dataclass(slots=True)
class _IdeaMatch:
    """Where an idea stands: first words, last words, both by the stretch they begin in, and the stretches as bytes."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    spans: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    marks: int = 0

    def add(self, start: int, end: int, stretch: int) -> None:
        """One more place."""
        self.starts.append(start)
        self.ends.append(end)
        self.spans.setdefault(stretch, []).append((start, end))

    def all_spans(self) -> list[tuple[int, int]]:
        """First and last words of all places."""
        return [span for spans in self.spans.values() for span in spans]

    def close(self) -> None:
        """All places are known."""
        marks = bytearray(max(self.spans) + 1)
        for stretch in self.spans:
            marks[stretch] = 1
        self.marks = int.from_bytes(marks, "little")


@cache
def _load_phrases() -> _Node:
    root = _Node()
    told = json.loads((files("resources") / "injection" / "concepts.json").read_text("utf-8"))["concepts"]
    for idea, languages in told.items():
        for phrase in "|".join(languages.values()).split("|"):
            node = root
            for word in fold_words(phrase):
                node = node.next.setdefault(word, _Node())
            if idea not in node.ideas:
                node.ideas.append(idea)
    return root


@cache
def _load_rules() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files("resources") / "injection" / "rules.json").read_text("utf-8"))
    return found


@cache
def _make_rules() -> tuple[_Rule, ...]:
    return tuple(
        _Rule(
            id=one["id"],
            family=one["family"],
            weight=float(one["weight"]),
            ordered="seq" in one,
            ideas=tuple(tuple(part.split("/")) for part in one.get("seq", one.get("set"))),
            reach=int(one["gap"] if "seq" in one else one["window"]),
            after=one.get("unless_after"),
            before=tuple(one.get("unless_before", "").split("/")),
            inside=tuple(one.get("unless_inside", "").split("/")),
        )
        for one in _load_rules()["rules"]
    )


@cache
def _load_shapes() -> tuple[tuple[RuleHit, str, re.Pattern[str]], ...]:
    return tuple(
        (
            RuleHit(one["id"], one["family"], float(one["weight"])),
            one["needs"],
            re.compile(one["pattern"], re.IGNORECASE),
        )
        for one in _load_rules()["shapes"]
    )


def _matched_parts(wanted: Sequence[tuple[str, ...]], held: frozenset[str]) -> frozenset[int]:
    return frozenset(number for number, names in enumerate(wanted) if not held.isdisjoint(names))


@cache
def _load_halves() -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(tuple(tuple(part.split("/")) for part in ideas) for ideas in _load_rules()["halves"])


def _weigh_mentions(flat: str, read: MatchedText, hits: Sequence[RuleHit]) -> list[RuleHit]:
    """The hits with what is only told of weighing less.

    Trigger: a text speaks about attacks, and the words stand in quotes or behind "such as". Why: notes of a talk are
    no attack. Outcome: the weight is lessened; a text that gives orders besides keeps the weight of those.
    """
    quotes = [match.span() for match in _QUOTES.finditer(flat)]
    about = read.ideas.get("meta", _IdeaMatch())
    shares = _load_rules()["mention"]
    told = []
    for hit in hits:
        share = 1.0
        if hit.start >= 0:
            quoted = next((span for span in quotes if span[0] <= hit.at < span[1]), None)
            outside = any(quoted is None or not quoted[0] <= read.spots[at] < quoted[1] for at in about.starts)
            reported = _is_reported(read, hit.start, quoted)
            share = _share_of_weight(shares, quoted=quoted is not None, about=outside, reported=reported)
        elif about.starts and hit.family not in _NEVER_MENTIONED:
            share = float(shares["told"])
        told.append(RuleHit(hit.rule, hit.family, hit.weight * share, hit.start, hit.at))
    return told


def _share_of_weight(shares: dict[str, float], *, quoted: bool, about: bool, reported: bool) -> float:
    if quoted:
        return float(shares["quoted"] if about else shares["reported"] if reported else 1.0)
    if about:
        return float(shares["reported"] if reported else shares["about"])
    return 1.0


def _is_reported(read: MatchedText, start: int, quoted: tuple[int, int] | None) -> bool:
    """Whether words such as "says" or "such as" stand before: of a quotation, before it."""
    first = start if quoted is None else min(start, bisect_left(read.spots, quoted[0]))
    found = read.ideas.get("report", _IdeaMatch()).starts
    at = bisect_left(found, first)
    return at > 0 and read.places[first] - read.places[found[at - 1]] <= _BEFORE


def _flatten_text(text: str) -> str:
    signs = frozenset(text)
    plain = text if _OPENS.isdisjoint(signs) else _address_pattern().sub(r"\g<0> xaddrx ", text)
    plain = _MARK.sub(_mark_address, _ACCOUNT.sub(" xaccountx ", plain))
    plain = plain if _CODE.isdisjoint(signs) else _NAME.sub(" xnamex ", _SET.sub(" xsetx ", plain))
    return fold_case(fold_width(plain))


@cache
def _address_pattern() -> re.Pattern[str]:
    """Where a comment or a note in brackets begins that speaks to assistants."""
    return re.compile(_load_rules()["addressed"], re.IGNORECASE)


def _mark_address(match: re.Match[str]) -> str:
    return " xmailx " if "@" in match.group() and "://" not in match.group() else " xurlx "


def _split_matched_words(flat: str) -> MatchedText:
    words: list[str] = []
    spots: list[int] = []
    places: list[int] = []
    place = before = 0
    for match in _TOKEN.finditer(flat):
        start = match.start()
        if start > before and _BREAK.search(flat, before, start):
            place += _STEP
        words.append(match.group())
        spots.append(start)
        places.append(place)
        place += 1
        before = match.end()
    found = _find_ideas(words, places)
    _drop_false_orders(flat, words, spots, found)
    for one in found.values():
        one.close()
    return MatchedText(places, spots, found)


def _drop_false_orders(flat: str, words: Sequence[str], spots: Sequence[int], found: dict[str, _IdeaMatch]) -> None:
    """Leave out what reads like an order but is a noun, or what somebody does."""
    wanted = imperative_ideas() & found.keys()
    if not wanted:
        return
    told = ImperativeText(
        flat, words, spots, *(sorted(found.get(name, _IdeaMatch()).all_spans()) for name in _AROUND_ORDERS)
    )
    for name in wanted:
        kept = _IdeaMatch()
        for stretch, spans in found.pop(name).spans.items():
            for start, end in spans:
                if told.is_order(start, end):
                    kept.add(start, end, stretch)
        if kept.spans:
            found[name] = kept


def _find_ideas(words: Sequence[str], places: Sequence[int]) -> dict[str, _IdeaMatch]:
    found: dict[str, _IdeaMatch] = {}
    root = _load_phrases().next
    for first, word in enumerate(words):
        node, at = root.get(word), first
        while node is not None:
            for idea in node.ideas:
                one = found.get(idea)
                if one is None:
                    one = found[idea] = _IdeaMatch()
                one.add(first, at, places[first] // _STRETCH)
            at += 1
            node = node.next.get(words[at]) if at < len(words) else None
    return found


def _find_first_match(rule: _Rule, read: MatchedText) -> int | None:
    buckets = _near_each_other(rule, read)
    if not buckets:
        return None
    found = [_select_spans(read, names, buckets) for names in rule.ideas]
    matches = _in_order(found, rule.reach, read) if rule.ordered else _find_together(found, rule.reach, read)
    for count, (start, end) in enumerate(matches):
        # So many in one text are no advice: what is taken back so often counts as said.
        if count >= _MOST_TAKEN_BACK or not _is_negated(rule, read, start, end):
            return start
    return None


def _near_each_other(rule: _Rule, read: MatchedText) -> list[int]:
    """Stretches of the text around which every idea of a rule stands: the rest need not be looked at.

    One byte of a number is a stretch, so that a whole text is compared at once.
    """
    around = -1
    for names in rule.ideas:
        here = 0
        for name in names:
            one = read.ideas.get(name)
            here |= 0 if one is None else one.marks
        for _ in range(rule.widen):
            here |= here << 8 | here >> 8
        around &= here
        if not around:
            return []
    signs = around.to_bytes(around.bit_length() // 8 + 1, "little")
    return [at for at, sign in enumerate(signs) if sign]


def _select_spans(read: MatchedText, names: Sequence[str], buckets: Sequence[int]) -> list[tuple[int, int]]:
    found = [read.ideas[name].spans for name in names if name in read.ideas]
    if len(found) == 1:
        spans = found[0]
        return [span for at in buckets if at in spans for span in spans[at]]
    return [span for at in buckets for span in sorted({span for spans in found for span in spans.get(at, ())})]


def _is_negated(rule: _Rule, read: MatchedText, start: int, end: int) -> bool:
    for name in rule.before:
        ends = read.ideas.get(name, _IdeaMatch()).ends
        at = bisect_left(ends, start)
        if at > 0 and read.places[start] - read.places[ends[at - 1]] <= _NEAR + 1:
            return True
    for name in rule.inside:
        starts = read.ideas.get(name, _IdeaMatch()).starts
        at = bisect_right(starts, start)
        if at < len(starts) and starts[at] < end:
            return True
    if rule.after is not None:
        starts = read.ideas.get(rule.after, _IdeaMatch()).starts
        at = bisect_right(starts, end)
        return at < len(starts) and read.places[starts[at]] - read.places[end] <= _NEAR
    return False


def _in_order(found: Sequence[list[tuple[int, int]]], gap: int, read: MatchedText) -> Iterator[tuple[int, int]]:
    """Chains in which each idea begins behind the one before, with at most `gap` places between.

    Of the chains that end with one idea, the one that begins last is followed.
    """
    chains = [(end, start) for start, end in found[0]]
    for spans in found[1:]:
        chains = _extend_chains(sorted(chains), spans, gap, read)
    for end, start in chains:
        yield start, end


def _extend_chains(
    chains: list[tuple[int, int]], spans: list[tuple[int, int]], gap: int, read: MatchedText
) -> list[tuple[int, int]]:
    ends = [end for end, _ in chains]
    found = []
    for start, end in spans:
        at = bisect_left(ends, start)
        if at and read.places[start] - read.places[ends[at - 1]] <= gap + 1:
            found.append((end, chains[at - 1][1]))
    return found


def _find_together(found: Sequence[list[tuple[int, int]]], window: int, read: MatchedText) -> Iterator[tuple[int, int]]:
    """Places where all ideas stand within `window` places of one of the rarest; no word is two of them at once."""
    order = sorted(found, key=len)
    starts = [[start for start, _ in spans] for spans in order]  # once, not for each place
    for start, end in order[0]:
        taken = [(start, end)]
        for at, spans in enumerate(order[1:], 1):
            near = _find_nearest_span(spans, starts[at], taken, window, read)
            if near is None:
                break
            taken.append(near)
        else:
            yield min(one for one, _ in taken), max(one for _, one in taken)


def _find_nearest_span(
    spans: list[tuple[int, int]], starts: list[int], taken: Sequence[tuple[int, int]], window: int, read: MatchedText
) -> tuple[int, int] | None:
    centre = read.places[taken[0][0]]
    at = bisect_left(starts, taken[0][0])
    if not _is_within_window(read, starts, at, centre, window):
        return None
    low = max(0, at - _LOOKED)
    near = sorted(spans[low : at + _LOOKED], key=lambda span: abs(read.places[span[0]] - centre))
    for start, end in near:
        if abs(read.places[start] - centre) <= window and all(end < one or start > last for one, last in taken):
            return start, end
    return None


def _is_within_window(read: MatchedText, starts: Sequence[int], at: int, centre: int, window: int) -> bool:
    """Whether the next one on either side is within the window at all."""
    before = at > 0 and centre - read.places[starts[at - 1]] <= window
    return before or (at < len(starts) and read.places[starts[at]] - centre <= window)
