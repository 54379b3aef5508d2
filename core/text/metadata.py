"""What can be read off a text by rules: technologies, paths, addresses, dates, topics, language, steps, how it feels.

Rules and vocabularies of `resources/enrich` only (E35.5, X7, X8; E37.1, clamped as in X26). "I trust the digit" names
neither Rust nor Git. People are entities (`core.entities`). Must not do: guess a year that is not written or a name
from a part of a word, reword what it finds, ask a model, or know a vault.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from functools import cache
from importlib.resources import files
from itertools import pairwise

from core.text.sentences import split_sentences
from core.text.terms import common_words, fold_word, query_terms
from core.text.time_parts import time_vocabulary

MOST_STEPS, MOST_CUES = 100, 12
_STEP_CHARACTERS = 500
_LISTED_STEP = re.compile(
    r"^[ \t]*(?:(?:step[ \t]+)?\d{1,2}[.):][ \t]+|[-*•][ \t]+)(\S.*)$", re.IGNORECASE | re.MULTILINE
)
_INLINE_STEP = re.compile(r"(?:^|(?<=\s))\(?(\d{1,2})[.)][ \t]+(?=\S)")
VALENCE, INTENSITY = 0.15, 0.1
"""What one marker is worth (E37.1)."""
EMPHASIS, URGENCY, CORRECTION, FIRST = 0.1, 0.15, 0.25, 0.2
"""What emphasis, urgency, a correction and a first occurrence add to the intensity (E37.1)."""
_AFFECT_WORD = re.compile(r"[\w'’-]+")
_BANGS = re.compile(r"!{2,}")
_BOLD = re.compile(r"\*\*[^*\n]{1,80}\*\*")
_CAPITALS = re.compile(r"(?<![\w'-])[A-Z]{2,}(?![\w'-])")
_REACH = 3  # words before a marker in which a negation takes it out
_WORD_AFTER = re.compile(r"[ -]([a-z][a-z-]*)")
_NAME_BEFORE = re.compile(r"([A-Z][\w'’-]*) $")
_NAME_AFTER = re.compile(r" ([A-Z][a-z][\w'’-]*)")
_LISTED = re.compile(r"(?:,| and| or|/) ?[A-Z]")
_OPENS = re.compile(r"(?:^|[.!?:\n…][\"'”’)]*\s+|\n[\s>*+#-]*)[\"'“‘(\[*_]*$")
_CONTEXT_WORD = re.compile(r"[A-Za-z][A-Za-z-]*")
_BEFORE, _AFTER = r"(?<![\w.@#/\\$-])(?<!['’])", r"(?![\w@\\$]|[+#]|\.\w|['’](?!s\b)\w|-\d|/\w+\.\w)"
MOST = 32
"""Of each field, at most; what comes first in the text stays."""
LEAST_WORDS = 2
"""Different words of a topic that a text must have."""
_URL = re.compile(r"(?i:https?)://[^\s)>\]}\"”“`|\\^]+")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?:[:/][\w./-]+)?")
_FENCE = re.compile(r"```[ \t]*([\w+#.-]*)[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]{1,200}`")
_EDGE = r"(?<![\w./\\:@~$&=?%+-])"
_STEP = r"[\w.@+()\[\]-]+"
_PATH = re.compile(
    rf"""{_EDGE}(?:
      (?P<windows>[A-Za-z]:[\\/](?:[\w.@+()-]+(?:[ ][\w.@+()-]+)*\\)*[\w.@+()-]*|\\\\[\w.-]+(?:\\[\w.$@+-]+)+)
    | (?P<dotted>(?:~|\.{{1,2}})(?:/{_STEP})+/?)
    | (?P<absolute>(?:/{_STEP})+/?)
    | (?P<relative>[\w.@+-]+(?:/{_STEP})+/?)
    | (?P<bare>\.?[\w@+-]+(?:\.[\w@+-]+)*\.[A-Za-z][A-Za-z0-9]{{0,8}})(?![\w/\\@])
    )""",
    re.VERBOSE,
)
_TAIL = ".,;:!?)]('\"*"
_WORD = re.compile(r"[^\W\d_]+")


class TaskOutcome(StrEnum):
    """How a task ended, where somebody says so."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAILURE = "failure"
    RETRY = "retry"


_OUTCOMES = {
    TaskOutcome.SUCCESS: (0.3, 0.2),
    TaskOutcome.PARTIAL: (0.1, 0.0),
    TaskOutcome.FAILURE: (-0.3, 0.3),
    TaskOutcome.RETRY: (-0.15, 0.15),
}


@dataclass(frozen=True, slots=True)
class Affect:
    """The feeling of a text.

    Attributes:
        valence: -1 (bad) to 1 (good).
        intensity: 0 to 1.
        signals: what was counted: name to how often.
    """

    valence: float
    intensity: float
    signals: dict[str, int] = field(default_factory=dict)

    @property
    def arousal(self) -> float:
        """|valence| * intensity, both clamped first (X26); 0 to 1."""
        return abs(self.valence) * self.intensity


@dataclass(frozen=True, slots=True)
class MetadataSpan:
    """A technology or a path at one place of a text.

    Attributes:
        name: a technology as the vocabulary writes it, a path as the text does.
        start: first code point; `end` is exclusive.
    """

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Metadata:
    """What was read off a text; each in the order of the text, none twice, at most `MOST` of a kind.

    Attributes:
        technologies: as the vocabulary writes them, with their places.
        paths: as written, with their places.
        urls: as written.
        dates: `YYYY-MM-DD`, or `YYYY-MM` where no day is written.
        topics: of the taxonomy, those with most words first.
        language: the programming language of code in the text, or of its paths; "" for none.
    """

    technologies: tuple[MetadataSpan, ...] = ()
    paths: tuple[MetadataSpan, ...] = ()
    urls: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    language: str = ""


def extract_steps(text: str) -> tuple[str, ...]:
    """The steps of a how-to, where it lists them: lines with numbers or bullets, or numbers within a line.

    Returns:
        Two to 100 steps in the order of the text, each one line of at most 500 characters; empty where it lists none.
    """
    found = [match.group(1) for match in _LISTED_STEP.finditer(text)]
    if len(found) < 2:
        found = _find_inline_steps(text)
    kept = [" ".join(step.split())[:_STEP_CHARACTERS].strip() for step in found]
    kept = [step for step in kept if step]
    return tuple(kept[:MOST_STEPS]) if len(kept) > 1 else ()


def extract_cues(text: str) -> tuple[str, ...]:
    """The words that call a how-to up: those of what stands before its first step, else of its first sentence.

    Returns:
        Up to 12 folded words without function words, in the order of the text.
    """
    first = _LISTED_STEP.search(text) or next((m for m in _INLINE_STEP.finditer(text) if m.group(1) == "1"), None)
    head = text[: first.start()] if first is not None and extract_steps(text) else ""
    if not head.strip():
        start, end = next(iter(split_sentences(text)), (0, len(text)))
        head = text[start:end]
    words = (one.word for one in query_terms(head) if not one.stop and not one.word.isdigit())
    return tuple(dict.fromkeys(word for word in words if word.split() == [word]))[:MOST_CUES]


def affect_of(
    text: str, *, outcome: TaskOutcome | None = None, is_correction: bool = False, is_first: bool = False
) -> Affect:
    """The feeling of a text (how pleasant, how strong), by its markers.

    Args:
        outcome: how the task it speaks of ended, where that is known.
        is_correction: whether it corrects somebody.
        is_first: whether it is the first of its kind.

    Returns:
        Its feeling.
    """
    counts = _count_markers(text)
    counts |= {"correction": int(is_correction), "first": int(is_first)}
    good, bad = counts["positive"], counts["negative"]
    valence, intensity = (good - bad) * VALENCE, (good + bad) * INTENSITY
    intensity += counts["emphasis"] * EMPHASIS + counts["urgent"] * URGENCY
    intensity += counts["correction"] * CORRECTION + counts["first"] * FIRST
    if outcome is not None:
        more = _OUTCOMES[outcome]
        valence, intensity = valence + more[0], intensity + more[1]
    signals = {name: count for name, count in counts.items() if count}
    return Affect(min(1.0, max(-1.0, valence)), min(1.0, max(0.0, intensity)), signals)


def find_technologies(text: str, *, has_code: bool = False) -> tuple[MetadataSpan, ...]:
    """Find the technologies that a text names.

    Args:
        text: any text; what is a path or an address should be blank already.
        has_code: whether the text holds code or a path of code: a context for names that need one.

    Returns:
        Every place, in order; none overlap.
    """
    words = _load_metadata_words()
    found = [MetadataSpan(words.names[match.group().lower()], *match.span()) for match in words.plain.finditer(text)]
    taken = {place for one in found for place in range(one.start, one.end)}
    unsure = [match for match in words.exact.finditer(text) if match.start() not in taken]
    if unsure:
        lines = _find_header_sentences(text)
        for match in unsure:
            sentence = next(span for span in lines if span[0] <= match.start() < span[1])
            beside = {one.group() for one in unsure if sentence[0] <= one.start() < sentence[1]} - words.verbs
            helped = has_code or len(beside | {match.group()}) > 1
            helped |= any(sentence[0] <= one.start < sentence[1] for one in found)
            if _is_meant(text, match, sentence, words, helped=helped):
                found.append(MetadataSpan(words.names[match.group().lower()], *match.span()))
    return tuple(sorted(found, key=lambda one: one.start))


def technology_spellings(name: str) -> tuple[str, ...]:
    """All spellings of a technology.

    Args:
        name: as the vocabulary writes it.

    Returns:
        The spellings, in lower case; the name alone where it is no technology.
    """
    return tuple(spelling for spelling, known in _load_metadata_words().names.items() if known == name) or (name,)


def extract_metadata(text: str) -> Metadata:
    """Read technologies, paths, addresses, dates, topics and language off a text."""
    fences = _FENCE.findall(text) if "```" in text else []
    prose = blank_matches(text, _FENCE) if fences else text
    urls = _find_urls(text) if "://" in text else []
    bare = blank_matches(blank_matches(prose, _URL), _EMAIL) if "://" in prose or "@" in prose else prose
    paths = _find_paths(bare)
    for spot in paths:
        bare = bare[: spot.start] + " " * (spot.end - spot.start) + bare[spot.end :]
    language = _find_language(fences, paths)
    return Metadata(
        technologies=find_technologies(bare, has_code=bool(language)),
        paths=tuple({spot.name: spot for spot in reversed(paths)}.values())[::-1][:MOST],
        urls=tuple(dict.fromkeys(urls))[:MOST],
        dates=find_dates(text) if any(sign.isdigit() for sign in text) else (),
        topics=detect_topics(prose),
        language=language,
    )


def blank_code_and_paths(text: str) -> str:
    """A text of the same length in which code, addresses and paths are blank: names are looked for in what is left.

    Returns:
        The text; every code point is at its place.
    """
    for mark, pattern in (("```", _FENCE), ("`", _INLINE), ("://", _URL), ("@", _EMAIL)):
        if mark in text:
            text = blank_matches(text, pattern)
    for spot in _find_paths(text):
        text = text[: spot.start] + " " * (spot.end - spot.start) + text[spot.end :]
    return text


def blank_matches(text: str, pattern: re.Pattern[str]) -> str:
    """Put blanks where a pattern matches; line ends stay.

    Args:
        pattern: what goes.

    Returns:
        A text of the same length.
    """
    return pattern.sub(lambda match: "".join("\n" if sign == "\n" else " " for sign in match.group()), text)


def detect_topics(text: str) -> tuple[str, ...]:
    """What a text is about.

    Returns:
        Topics of which it has two different words (a word and its plural are one), those with most first.
    """
    told = [(-count, topic) for topic, count in count_topic_words(text).items() if count >= LEAST_WORDS]
    return tuple(topic for _, topic in sorted(told))


def count_topic_words(text: str) -> Mapping[str, int]:
    """Topics of the taxonomy to how many different words of each the text has; a word and its plural are one."""
    known = _topics_by_word()
    words: dict[str, set[str]] = {}
    for word in set(_WORD.findall(text.lower())):
        for topic in known.get(word, ()):
            words.setdefault(topic, set()).add(word.removesuffix("s"))
    return {topic: len(found) for topic, found in words.items()}


def topic_taxonomy() -> tuple[str, ...]:
    """All topics that a text may be given (`resources/enrich/topics.json`).

    Returns:
        Its topics, in alphabetical order.
    """
    return tuple(sorted({topic for found in _topics_by_word().values() for topic in found}))


def find_dates(text: str) -> tuple[str, ...]:
    """Calendar dates that are written out with their year.

    Returns:
        ISO 8601, in the order of the text, none twice; a date that no calendar has is left out. Day before month where
        both could be either.
    """
    found = (_date_from_parts(match.groupdict()) for match in _date_pattern().finditer(text))
    return tuple(dict.fromkeys(day for day in found if day))[:MOST]


def _find_inline_steps(text: str) -> list[str]:
    """What stands between 1, 2, 3 and so on; a number out of order is part of a step."""
    marks: list[re.Match[str]] = []
    for match in _INLINE_STEP.finditer(text):
        if int(match.group(1)) == len(marks) + 1:
            marks.append(match)
    if not marks:
        return []
    ends = [match.start() for match in marks[1:]] + [len(text)]
    return [text[match.end() : end].strip(" \t\n;,") for match, end in zip(marks, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class _Markers:
    pattern: re.Pattern[str]
    kinds: dict[str, str]
    negators: frozenset[str]
    emphatic: frozenset[str]


def _count_markers(text: str) -> dict[str, int]:
    markers = _load_markers()
    counts = {"positive": 0, "negative": 0, "urgent": 0, "emphasis": 0}
    plain = text.lower().replace("’", "'")
    for match in markers.pattern.finditer(plain):
        before = _AFFECT_WORD.findall(_clause_before(plain[max(0, match.start() - 40) : match.start()]))[-_REACH:]
        if not markers.negators.intersection(before):
            counts[markers.kinds[match.group()]] += 1
    counts["emphasis"] = len(_BANGS.findall(text)) + len(_BOLD.findall(text)) + _count_shouted_words(text, markers)
    return counts


def _clause_before(before: str) -> str:
    """What stands before a marker in its own clause: a negation does not reach over a mark."""
    return re.split(r"[.,;:!?\n]", before)[-1]


def _count_shouted_words(text: str, markers: _Markers) -> int:
    """Words in capitals that are no abbreviation: `REALLY`, `NEVER`, `BROKEN`."""
    words = (match.group().lower() for match in _CAPITALS.finditer(text))
    felt = ("positive", "negative")
    return sum(word in markers.emphatic or markers.kinds.get(word) in felt for word in words)


@cache
def _load_markers() -> _Markers:
    data = json.loads((files("resources") / "enrich" / "affect.json").read_text("utf-8"))
    kinds = {word: kind for kind in ("positive", "negative", "urgent") for word in data[kind].split("; ")}
    longest = sorted(kinds, key=lambda word: (-len(word), word))
    pattern = re.compile(r"(?<![\w'-])(?:" + "|".join(map(re.escape, longest)) + r")(?![\w'-])")
    return _Markers(pattern, kinds, frozenset(data["negators"].split()), frozenset(data["emphatic"].split()))


@dataclass(frozen=True, slots=True)
class _TechnologyWords:
    plain: re.Pattern[str]
    exact: re.Pattern[str]
    names: dict[str, str]
    common: frozenset[str]
    verbs: frozenset[str]
    followers: frozenset[str]
    context: frozenset[str]


def _is_meant(
    text: str, match: re.Match[str], sentence: tuple[int, int], words: _TechnologyWords, *, helped: bool
) -> bool:
    name = match.group()
    follower = _WORD_AFTER.match(text, match.end())
    if follower and follower.group(1) in words.followers:
        return True
    opens = bool(_OPENS.search(text[max(0, match.start() - 12) : match.start()])) or not text[: match.start()].strip()
    is_verb = opens and name in words.verbs and not _LISTED.match(text, match.end())
    if is_verb or _in_longer_name(text, match, words, opens=opens):
        return False
    if name not in words.common and not opens:
        return True
    return helped or any(
        word.lower() in words.context for word in _CONTEXT_WORD.findall(text[sentence[0] : sentence[1]])
    )


def _in_longer_name(text: str, match: re.Match[str], words: _TechnologyWords, *, opens: bool) -> bool:
    """Whether a capitalised word that is no technology stands right beside it: "Taylor Swift", "Rust Avenue"."""
    after = _NAME_AFTER.match(text, match.end())
    if after and after.group(1).lower() not in words.names:
        return True
    before = None if opens else _NAME_BEFORE.search(text[max(0, match.start() - 32) : match.start()])
    if before is None or before.group(1).lower() in words.names:
        return False
    # The first word of a sentence has its capital from there: "Learning Swift".
    word = fold_word(before.group(1))
    return word not in common_words() and not word.endswith("ing")


def _find_header_sentences(text: str) -> list[tuple[int, int]]:
    """Where sentences lie; line ends and marks before a blank part them."""
    cuts = [match.end() for match in re.finditer(r"[.!?…]+(?=\s)|\n", text)]
    edges = [0, *cuts, len(text) + 1]
    return list(pairwise(edges))


@cache
def _load_metadata_words() -> _TechnologyWords:
    data = json.loads((files("resources") / "enrich" / "technologies.json").read_text("utf-8"))
    names: dict[str, str] = {}
    plain: list[str] = []
    for name, others in data["plain"].items():
        for spelling in (name, *filter(None, others.split("; "))):
            names[spelling.lower()] = data["same"].get(name, name)
            plain.append(spelling)
    exact = [*data["cased"], *data["context"]]
    names |= {name.lower(): name for name in exact}
    return _TechnologyWords(
        plain=_word_pattern(plain, re.IGNORECASE),
        exact=_word_pattern(exact, re.NOFLAG),
        names=names,
        common=frozenset(data["context"]),
        verbs=frozenset(data["verbs"].split()),
        followers=frozenset(data["followers"].split()),
        context=frozenset(data["context_words"].split()),
    )


def _word_pattern(words: list[str], flags: re.RegexFlag) -> re.Pattern[str]:
    longest = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(_BEFORE + "(?:" + "|".join(map(re.escape, longest)) + ")" + _AFTER, flags)


@cache
def _date_pattern() -> re.Pattern[str]:
    """Ways to write a date with its year; the parts of each way are numbered."""
    months = "|".join(sorted(time_vocabulary().months, key=lambda word: (-len(word), word)))
    month, year, day = rf"(?P<m{{0}}>{months})\.?", r"(?P<y{0}>(?:1[5-9]|20|21)\d\d)", r"(?P<d{0}>\d\d?)"
    ways = (
        year + r"(?P<sep>[-/.])(?P<m{0}>\d\d?)(?P=sep)" + day + r"(?=T\d|(?![\w/-]|\.\d))",
        day + r"(?P<sep2>[./-])(?P<m{0}>\d\d?)(?P=sep2)" + year + r"(?![\w/-]|\.\d)",
        day + r"(?:st|nd|rd|th)?\.?\s+(?:of\s+)?" + month + r",?\s+" + year + r"(?!\w)",
        month + r"\s+" + day + r"(?:st|nd|rd|th)?,?\s+" + year + r"(?!\w)",
        month + r",?\s+(?:of\s+)?" + year + r"(?!\w)",
        year + r"-(?P<m{0}>0[1-9]|1[0-2])(?![\w-])",
    )
    numbered = (way.replace("{0}", str(number)) for number, way in enumerate(ways, start=1))
    return re.compile(r"(?<![\w./-])(?:" + "|".join(numbered) + ")", re.IGNORECASE)


def _date_from_parts(parts: dict[str, str | None]) -> str:
    form = next(name[1] for name, value in parts.items() if name[0] == "y" and value is not None)
    year, month_word, day = int(parts[f"y{form}"] or 0), parts[f"m{form}"] or "", parts.get(f"d{form}")
    month = int(month_word) if month_word.isdigit() else time_vocabulary().months.get(month_word.lower(), 0)
    number = int(day) if day else 1
    if form == "2" and month > 12 >= number:
        month, number = number, month
    try:
        written = date(year, month, number).isoformat()
    except ValueError:
        return ""
    return written if day else written[:7]


def _find_urls(text: str) -> list[str]:
    return [found for match in _URL.finditer(text) if len(found := match.group().rstrip(".,;:!?'*")) > len("https://")]


def _find_paths(text: str) -> list[MetadataSpan]:
    if "/" not in text and "\\" not in text and "." not in text:
        return []
    found = []
    for match in _PATH.finditer(text):
        path = match.group().rstrip(_TAIL)
        if match.lastgroup and path and _IS_PATH[match.lastgroup](path, text, match.start()):
            found.append(MetadataSpan(path, match.start(), match.start() + len(path)))
    return found


def _file_extension(path: str) -> str | None:
    """The known ending of a path, lower case; None where it has none."""
    name = path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    stem, dot, ending = name.rpartition(".")
    return ending.lower() if dot and (stem or name[:1] == ".") and ending.lower() in _load_shapes().extensions else None


def _is_file(path: str) -> bool:
    return _file_extension(path) is not None or path.rsplit("/", 1)[-1] in _load_shapes().files


def _is_windows(path: str, _text: str, _at: int) -> bool:
    return len(path) > 3


def _is_dotted(path: str, _text: str, _at: int) -> bool:
    return any(sign.isalnum() for sign in path)


def _is_absolute(path: str, text: str, at: int) -> bool:
    steps = [step for step in path.split("/") if step]
    before = text[max(0, at - 12) : at].split()
    if before and before[-1] in _load_shapes().methods:
        return False
    if not steps or any(not any(sign.isalnum() for sign in step) for step in steps):
        return False
    if steps[0] in _load_shapes().roots or _is_file(path):
        return True
    return len(steps) > 1 and len(steps[0]) > 1 and not any(step.isdigit() for step in steps)


def _is_relative(path: str, _text: str, _at: int) -> bool:
    steps = [step for step in path.split("/") if step]
    if len(steps) < 2 or all(step.replace(".", "").isdigit() for step in steps):
        return False
    if steps[0] in _load_shapes().folders and not path[-1].isdigit():
        return True
    return _is_file(path) and not _is_alternative(steps)


def _is_alternative(steps: list[str]) -> bool:
    """`Node.js/Next.js`: several names, each with an ending of its own."""
    return all(_file_extension(step) is not None for step in steps)


def _is_bare(path: str, _text: str, _at: int) -> bool:
    ending = _file_extension(path)
    if ending is None or ending in _load_shapes().bare_not or path.replace(".", "").isdigit():
        return False
    return not any(one.end - one.start == len(path) for one in find_technologies(path))


_IS_PATH = {
    "windows": _is_windows,
    "dotted": _is_dotted,
    "absolute": _is_absolute,
    "relative": _is_relative,
    "bare": _is_bare,
}


def _find_language(fences: list[tuple[str, str]], paths: list[MetadataSpan]) -> str:
    shapes = _load_shapes()
    told: Counter[str] = Counter()
    for word, code in fences:
        name = shapes.fences.get(word.lower()) or shapes.extensions.get(word.lower(), "")
        told[name] += len(code) + 1
    told[""] = 0
    if not any(told.values()):
        told.update(shapes.extensions.get(_file_extension(spot.name) or "", "") for spot in paths)
        told[""] = 0
    best = max(told.values())
    return next(name for name, count in told.items() if count == best) if best else ""


@dataclass(frozen=True, slots=True)
class _Shapes:
    extensions: dict[str, str]
    bare_not: frozenset[str]
    fences: dict[str, str]
    folders: frozenset[str]
    roots: frozenset[str]
    files: frozenset[str]
    methods: frozenset[str]


@cache
def _load_shapes() -> _Shapes:
    data = json.loads((files("resources") / "enrich" / "metadata.json").read_text("utf-8"))
    sets = (frozenset(data[name].split()) for name in ("folders", "roots", "files", "methods"))
    return _Shapes(data["extensions"], frozenset(data["bare_not"].split()), data["fences"], *sets)


@cache
def _topics_by_word() -> dict[str, tuple[str, ...]]:
    data = json.loads((files("resources") / "enrich" / "topics.json").read_text("utf-8"))
    found: dict[str, tuple[str, ...]] = {}
    for topic, words in data.items():
        for word in () if topic == "about" else dict.fromkeys(words.split()):
            found[word] = (*found.get(word, ()), topic)
    return found
