"""Sentences of a text and the statements in them, where a long text is cut, and the shorter forms made of sentences.

The parts of a text, joined again, are the text exactly. A clause that leaves its subject out ("I use Rust and love
it": "love it") carries the one before it, so that it can be read alone. Of the four tiers (full, summary, key fact,
tag; E8.8, C37) a summary is about half of the text, in whole sentences and in their order; a key fact is the one
sentence that tells most; a tag is what it is and a few of its words. Which sentence tells most: the rarity of its words
within the text, damped by its length, and more for the first sentence, for names, for numbers and for what states
something. A digest is sentences taken verbatim from its sources. Must not do: reword, normalise or drop anything, touch
the stored text, or judge whether two texts or sentences say the same.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log, sqrt

from core.text.terms import fold_case, fold_width, stop_words

JOINED_BY = "\n"
"""Between two sentences: each stands on a line of its own, so that none runs into the next."""
_EDGES = ".!?… \t\n"
SUMMARY_SHARE = 0.55
"""A summary has at most this share of the text's characters (E8.8: about half)."""
TIERS = ("full", "summary", "key_fact", "tag")
"""From the most to the least."""
_FIRST, _NAME, _NUMBER, _STATED, _ASKED, _BRIEF = 1.2, 0.12, 0.15, 1.25, 0.6, 0.4
_MARKS_COUNTED = 3
_LEAST_WORDS = 3
_TAG_WORDS = 4
_TAG_CHARS = 24
_WEIGHED = re.compile(r"\w+(?:['’.-]\w+)*")


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence of a source.

    Attributes:
        source: the memory's id.
        start: where it begins in that memory's text, code points; `end` is exclusive.
        text: what stands there.
    """

    source: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Tiers:
    """One text in four lengths. A tier that would be no shorter than the next is the same text.

    Attributes:
        full: the text itself.
        summary: about half of it.
        key_fact: one sentence.
        tag: kind, category and a few words.
    """

    full: str
    summary: str
    key_fact: str
    tag: str

    def list_tiers(self) -> tuple[tuple[str, str], ...]:
        """The tiers that differ, from the most to the least: (name, text)."""
        found: list[tuple[str, str]] = []
        for name, text in zip(TIERS, (self.full, self.summary, self.key_fact, self.tag), strict=True):
            if all(text != other for _, other in found):
                found.append((name, text))
        return tuple(found)

    def list_rows(self) -> tuple[tuple[str, str], ...]:
        """What is worth storing: (tier, text) of each that differs from the one above; none for one sentence."""
        if self.key_fact == self.full:
            return ()
        return self.list_tiers()[1:]


def informative_sentences(source: str, text: str) -> tuple[SourceSentence, ...]:
    """The sentences of a text that say something: a greeting, a question or a bare word is left out.

    Args:
        source: the memory's id.

    Returns:
        Spans in their order, without blanks at their ends. Where no sentence says something by itself, the whole text
        is one, so that nothing vanishes; empty only for a blank text.
    """
    found = [
        span for start, end in split_sentences(text) if (span := _trim_sentence(source, text, start, end)) is not None
    ]
    saying = tuple(span for span in found if not span.text.endswith(("?", "？")) and extract_propositions(span.text))
    if saying or not found:
        return saying
    return (SourceSentence(source, found[0].start, found[-1].end, text[found[0].start : found[-1].end]),)


def normalize_sentence(text: str) -> str:
    """A sentence without case, blanks, letter forms and its last stop: equal ones are said once.

    Returns:
        The form that is compared.
    """
    return " ".join(fold_case(fold_width(text)).split()).rstrip(_EDGES)


def compose_digest(spans: Sequence[SourceSentence]) -> tuple[str, tuple[int, ...]]:
    """One text of several sentences.

    Args:
        spans: the sentences, in the order in which they are to stand.

    Returns:
        The text, and where each sentence begins in it, code points: `text[at:at + len(span.text)] == span.text`.
    """
    places: list[int] = []
    at = 0
    for span in spans:
        places.append(at)
        at += len(span.text) + len(JOINED_BY)
    return JOINED_BY.join(span.text for span in spans), tuple(places)


def make_tiers(text: str, kind: str, category: str) -> Tiers:
    """All four tiers of a text.

    Args:
        kind: a word of `core.types.values.Kind`, for the tag.
        category: its category, for the tag.

    Returns:
        The tiers; summary and key fact are the text itself where it is one sentence.
    """
    found = [_read_sentence(text[start:end]) for start, end in split_sentences(text)]
    found = [one for one in found if one.text]
    whole = " ".join(one.text for one in found)
    weights = _weigh_words(found)
    if len(found) < 2:
        return Tiers(text, text, text, _make_tag(kind, category, found, weights))
    told = [_sentence_weight(one, place, weights) for place, one in enumerate(found)]
    order = sorted(range(len(found)), key=lambda place: (-told[place], place))
    room = SUMMARY_SHARE * len(whole) - len(found[order[0]].text)
    kept = {order[0]}
    for place in order[1:]:
        size = len(found[place].text) + 1
        if size <= room:
            kept.add(place)
            room -= size
    summary = " ".join(found[place].text for place in sorted(kept))
    return Tiers(text, summary, found[order[0]].text, _make_tag(kind, category, found, weights))


def _trim_sentence(source: str, text: str, start: int, end: int) -> SourceSentence | None:
    held = text[start:end]
    bare = held.strip()
    begin = start + len(held) - len(held.lstrip())
    return SourceSentence(source, begin, begin + len(bare), bare) if bare else None


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence: its text, its words as they stand, and folded without function words."""

    text: str
    words: tuple[str, ...]
    terms: frozenset[str]


def _read_sentence(text: str) -> _Sentence:
    words = tuple(_WEIGHED.findall(text))
    folded = (word.lower().replace("’", "'") for word in words)
    return _Sentence(
        text.strip(), words, frozenset(word for word in folded if word.replace("'", "") not in _stop_words())
    )


@cache
def _stop_words() -> frozenset[str]:
    return stop_words()


@cache
def _load_verbs() -> frozenset[str]:
    loaded = json.loads((files("resources") / "text" / "clauses.json").read_text("utf-8"))
    return frozenset(loaded["verbs"])


def _weigh_words(found: list[_Sentence]) -> dict[str, float]:
    """How much each word tells: the rarer within the text, the more. ln(1 + sentences / sentences with it)."""
    df = Counter(term for one in found for term in one.terms)
    return {term: log(1 + len(found) / count) for term, count in df.items()}


def _sentence_weight(one: _Sentence, place: int, weights: dict[str, float]) -> float:
    """How much a sentence tells, 0 or more."""
    count = len(one.words)
    if not count:
        return 0.0
    score = sum(sorted(weights[term] for term in one.terms)) / sqrt(count)
    names = sum(word[0].isupper() and word.lower() in one.terms for word in one.words[1:])
    numbers = sum(word[0].isdigit() for word in one.words)
    score *= 1.0 + _NAME * min(names, _MARKS_COUNTED) + _NUMBER * min(numbers, _MARKS_COUNTED)
    if place == 0:
        score *= _FIRST
    if count < _LEAST_WORDS:
        score *= _BRIEF
    if one.text.endswith(("?", "\uff1f")):
        return score * _ASKED
    return score * _STATED if any(word.lower() in _load_verbs() for word in one.words) else score


def _make_tag(kind: str, category: str, found: list[_Sentence], weights: dict[str, float]) -> str:
    """What it is and what it is about: names first, then the words that tell most."""
    names: dict[str, str] = {}
    others: dict[str, str] = {}
    for one in found:
        for place, word in enumerate(one.words):
            folded = word.lower().replace("’", "'")
            if folded in one.terms and len(word) <= _TAG_CHARS:
                (names if place and word[0].isupper() else others).setdefault(folded, word)
    rest = sorted((term for term in others if term not in names), key=lambda term: (-weights[term], -len(term), term))
    about = [*names.values(), *(others[term] for term in rest)][:_TAG_WORDS]
    return " · ".join(part for part in (kind, category, " ".join(about)) if part)


_ENDS = ".!?…。:;,"
_LONG = 320
"""Code points from which two texts stand on lines of their own."""
LEAST_WORDS = 3
_MOST_WORDS = 400
_SUBJECT_WORDS = 8
_WORD = re.compile(r"[^\W_](?:[^\W_]|[-.'’&/](?=[^\W_]))*|[;,–—]|--")
_BREAK = frozenset((";", "–", "—", "--"))
LIMIT_BYTES = 8192
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
# A sentence ends with its mark, closing quotes or brackets, and the space behind; or with a full-width mark; or a line.
_SENTENCE = re.compile(
    "(?:[.!?\u2026]+[\"'\u201d\u2019)\\]]*(?=\\s)|[\u3002\uff01\uff1f\uff0e]+[\u300d\u300f\uff09]*|\u0964|\n)\\s*"
)
# A full stop behind these does not end a sentence; single letters are initials.
_SHORT = re.compile(r"(?:^|[\s(])(?:[A-Za-z]|e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|Prof|St|No|Nr|approx|ca)\.\s*$")
_SPACE = re.compile(r"\s+")
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Proposition:
    """One statement of a text.

    Attributes:
        start: where it begins, code points; `end` is exclusive.
        text: the text between them.
        carried: the subject it borrows from the clause before it, as written there; "" where it has its own.
    """

    start: int
    end: int
    text: str
    carried: str = ""

    @property
    def full_text(self) -> str:
        """The statement by itself: the borrowed subject, then the text."""
        return f"{self.carried} {self.text}" if self.carried else self.text


def unite_texts(standing: str, newcomer: str) -> str:
    """Both texts as one: the one that holds the other, else the standing one first, so that its evidence stays.

    Args:
        standing: a text; may be empty.
        newcomer: another.

    Returns:
        Both, on two lines where they are long together or one has several lines.
    """
    first, second = standing.rstrip(), newcomer.strip()
    if not first.strip() or _is_quoting(second, first):
        return second
    if not second or _is_quoting(first, second):
        return first
    if "\n" in first or "\n" in second or len(first) + len(second) > _LONG:
        return f"{first}\n{second}"
    return f"{first}{'' if first[-1:] in _ENDS else '.'} {second}"


def extract_propositions(text: str) -> tuple[Proposition, ...]:
    """The statements of a text that say something (spec E6.1.3: at least three words, no filler).

    Returns:
        Statements in their order; `text[start:end]` is each one's text.
    """
    return tuple(one for one in extract_clauses(text) if _is_saying_something(one))


def extract_clauses(text: str) -> tuple[Proposition, ...]:
    """All clauses of a text, also the shortest.

    Returns:
        Clauses in their order, without blanks at their ends.
    """
    out: list[Proposition] = []
    for start, end in split_sentences(text):
        out += _split_sentence(text, start, end)
    return tuple(out)


def split_text(text: str, limit_bytes: int = LIMIT_BYTES) -> tuple[str, ...]:
    """Cut a text into parts of bounded size: between paragraphs, else sentences, else words, else signs.

    Args:
        text: any text; lone surrogates count 3 bytes.
        limit_bytes: UTF-8 bytes a part may have, at least 4.

    Returns:
        Parts with `"".join(parts) == text`; one part for a text that fits, also for an empty one.

    Raises:
        ValueError: a limit under 4.
    """
    if limit_bytes < 4:
        raise ValueError("a part holds at least one character of four bytes")
    parts = []
    start = 0
    while (hard := _furthest_fit(text, start, limit_bytes)) < len(text):
        cut = _best_cut(text, start, hard)
        parts.append(text[start:cut])
        start = cut
    parts.append(text[start:])
    return tuple(parts)


def split_sentences(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences of a text.

    Returns:
        Spans in code points that follow one another without a gap; the space behind a sentence belongs to it. Empty for
        an empty text.
    """
    ends = [*_sentence_ends(text, 0, len(text))]
    if text and (not ends or ends[-1] < len(text)):
        ends.append(len(text))
    return tuple(zip([0, *ends], ends, strict=False))


def _is_quoting(text: str, other: str) -> bool:
    """Whether a text says the other's very words, not only a piece of a longer word."""
    wanted = other.strip().casefold()
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text.casefold()) is not None


@dataclass(frozen=True, slots=True)
class _Lists:
    joiners: frozenset[str]
    subjects: frozenset[str]
    owners: frozenset[str]
    verbs: frozenset[str]
    filler: frozenset[str]


@cache
def _load_lists() -> _Lists:
    loaded = json.loads((files("resources") / "text" / "clauses.json").read_text("utf-8"))
    return _Lists(**{name: frozenset(loaded[name]) for name in _Lists.__dataclass_fields__})


def _is_saying_something(one: Proposition) -> bool:
    bare = " ".join(one.text.lower().split()).strip(" .,!?;:")
    return len(one.full_text.split()) >= LEAST_WORDS and bare not in _load_lists().filler


def _split_sentence(text: str, start: int, end: int) -> list[Proposition]:
    words = [match for match, _ in zip(_WORD.finditer(text, start, end), range(_MOST_WORDS), strict=False)]
    lows = [match.group().lower().replace("’", "'") for match in words]
    cuts = [(start, start)]
    cuts += [cut for i in range(1, len(words)) if (cut := _cut_at(words, lows, i)) is not None]
    out: list[Proposition] = []
    subject = ""
    for place, (_, begin) in enumerate(cuts):
        stop = cuts[place + 1][0] if place + 1 < len(cuts) else end
        own = _subject_before(text, words, lows, begin, stop)
        bare = text[begin:stop]
        left = len(bare) - len(bare.lstrip())
        trimmed = bare.strip()
        if trimmed:
            carried = subject if not own and place and subject else ""
            out.append(Proposition(begin + left, begin + left + len(trimmed), trimmed, carried))
        subject = own or subject
    return out


def _cut_at(words: list[re.Match[str]], lows: list[str], i: int) -> tuple[int, int] | None:
    """Whether a clause ends before word `i`: where it ends and where the next begins."""
    if lows[i] in _BREAK:
        return (words[i].start(), words[i].end()) if i + 1 < len(words) else None
    lists = _load_lists()
    comma = lows[i] == ","
    joiner = i + 1 if comma and i + 1 < len(lows) and lows[i + 1] in lists.joiners else i
    if lows[joiner] not in lists.joiners or joiner + 1 >= len(lows) or lows[i - 1] == ",":
        return None
    behind = lows[joiner + 1]
    begins = (
        behind in lists.subjects or behind in lists.verbs or (behind in lists.owners and _verb_near(lows, joiner + 2))
    )
    return (words[i].start(), words[joiner].end()) if begins else None


def _verb_near(lows: list[str], i: int) -> bool:
    return any(low in _load_lists().verbs for low in lows[i : i + 5])


def _subject_before(text: str, words: list[re.Match[str]], lows: list[str], begin: int, stop: int) -> str:
    """The words before a clause's verb, if they can be its subject."""
    inside = [i for i in range(len(words)) if begin <= words[i].start() < stop][: _SUBJECT_WORDS + 1]
    if not inside:
        return ""
    lists = _load_lists()
    first = inside[0]
    if lows[first] in lists.subjects:
        return words[first].group().replace("’", "'").split("'")[0]
    verb = next((i for i in inside if lows[i] in lists.verbs), None)
    if verb is None or verb == first or "," in lows[first:verb]:
        return ""
    return text[words[first].start() : words[verb - 1].end()]


def _furthest_fit(text: str, start: int, limit: int) -> int:
    """The furthest index such that text[start:index] fits the limit."""
    if 4 * (len(text) - start) <= limit:
        return len(text)
    window = text[start : start + limit].encode("utf-8", "surrogatepass")
    if len(window) <= limit:
        return min(len(text), start + limit)
    # Cut bytes back to a character's start; what is left decodes to the characters that fit.
    cut = limit
    while window[cut] & 0xC0 == 0x80:
        cut -= 1
    return start + len(window[:cut].decode("utf-8", "surrogatepass"))


def _best_cut(text: str, start: int, hard: int) -> int:
    # A good place in the last half is better than a full part: a part of three words is no help to anyone.
    least = start + (hard - start) // 2
    for ends in (
        _find_ends(_PARAGRAPH, text, least, hard),
        _sentence_ends(text, least, hard),
        _find_ends(_SPACE, text, least, hard),
    ):
        cut = max((end for end in ends if least < end <= hard), default=None)
        if cut is not None:
            return cut
    return _between_signs(text, start, hard)


def _find_ends(pattern: re.Pattern[str], text: str, start: int, stop: int) -> Iterator[int]:
    return (match.end() for match in pattern.finditer(text, start, stop))


def _sentence_ends(text: str, start: int, stop: int) -> Iterator[int]:
    for match in _SENTENCE.finditer(text, start, stop):
        abbreviated = match.group().startswith(".") and _SHORT.search(text, max(start, match.start() - 8), match.end())
        if not abbreviated:
            yield match.end()


def _between_signs(text: str, start: int, hard: int) -> int:
    """Step back until the cut does not part a sign (an emoji of several, a letter and its marks, CR and LF)."""
    cut = hard
    while cut > start + 1 and _is_joined(text, cut):
        cut -= 1
    # A cluster longer than a whole part (stacked marks) is cut where it must be.
    return cut if cut > start + 1 or not _is_joined(text, cut) else hard


def _is_joined(text: str, at: int) -> bool:
    left, right = text[at - 1], text[at]
    if unicodedata.category(right).startswith("M") or right == _JOINER or left == _JOINER:
        return True
    if (left, right) == ("\r", "\n") or "\U0001f3fb" <= right <= "\U0001f3ff" or "\U000e0020" <= right <= "\U000e007f":
        return True
    if "\u1160" <= right <= "\u11ff":  # Hangul vowel or final behind its syllable
        return True
    return _is_regional_sign(right) and _flag_letters_before(text, at) % 2 == 1


def _is_regional_sign(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    count = 0
    while at - 1 - count >= 0 and _is_regional_sign(text[at - 1 - count]):
        count += 1
    return count


def sentence_at(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence, or the sentences, that hold a span.

    Args:
        start: where the span begins, code points.
        end: where it ends, exclusive.

    Returns:
        Begin and end; bounds are line ends, semicolons, and full stops, exclamation and question marks before a blank.
    """
    begin = start
    while begin > 0 and not _is_bound(text, begin - 1):
        begin -= 1
    stop = end
    while stop < len(text) and not _is_bound(text, stop - 1):
        stop += 1
    return begin, max(stop, end)


def _is_bound(text: str, at: int) -> bool:
    sign = text[at]
    return sign in "\n;" or (sign in ".!?" and (at + 1 >= len(text) or text[at + 1].isspace()))
