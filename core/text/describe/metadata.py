"""What can be read off a text at once: technologies, paths, addresses, dates, topics, language (E35.5, X7, X8).

Rules and vocabularies of `resources/enrich` only. People are entities (`core.entities`). Must not do: guess a year that
is not written, reword what it finds, or know a vault.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

from core.text.describe.technologies import TechnologyMention, find_technologies
from core.text.timephrases.tokens import time_vocabulary

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


@dataclass(frozen=True, slots=True)
class MetadataSpan:
    """Something at one place of a text: `text[start:end]` holds it."""

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

    technologies: tuple[TechnologyMention, ...] = ()
    paths: tuple[MetadataSpan, ...] = ()
    urls: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    language: str = ""


def extract_metadata(text: str) -> Metadata:
    """Read what can be read off a text.

    Returns:
        What it holds.
    """
    fences = _FENCE.findall(text) if "```" in text else []
    prose = blank_matches(text, _FENCE) if fences else text
    urls = _urls(text) if "://" in text else []
    bare = blank_matches(blank_matches(prose, _URL), _EMAIL) if "://" in prose or "@" in prose else prose
    paths = _paths(bare)
    for spot in paths:
        bare = bare[: spot.start] + " " * (spot.end - spot.start) + bare[spot.end :]
    language = _language(fences, paths)
    return Metadata(
        technologies=find_technologies(bare, has_code=bool(language)),
        paths=tuple({spot.name: spot for spot in reversed(paths)}.values())[::-1][:MOST],
        urls=tuple(dict.fromkeys(urls))[:MOST],
        dates=find_dates(text) if any(sign.isdigit() for sign in text) else (),
        topics=detect_topics(prose),
        language=language,
    )


def blank_code(text: str) -> str:
    """A text of the same length in which code, addresses and paths are blank: names are looked for in what is left.

    Returns:
        The text; every code point is at its place.
    """
    for mark, pattern in (("```", _FENCE), ("`", _INLINE), ("://", _URL), ("@", _EMAIL)):
        if mark in text:
            text = blank_matches(text, pattern)
    for spot in _paths(text):
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
    known = _topics()
    words: dict[str, set[str]] = {}
    for word in set(_WORD.findall(text.lower())):
        for topic in known.get(word, ()):
            words.setdefault(topic, set()).add(word.removesuffix("s"))
    told = [(-len(found), topic) for topic, found in words.items() if len(found) >= LEAST_WORDS]
    return tuple(topic for _, topic in sorted(told))


def topic_taxonomy() -> tuple[str, ...]:
    """The taxonomy.

    Returns:
        Its topics, in alphabetical order.
    """
    return tuple(sorted({topic for found in _topics().values() for topic in found}))


def find_dates(text: str) -> tuple[str, ...]:
    """Calendar dates that are written out with their year.

    Returns:
        ISO 8601, in the order of the text, none twice; a date that no calendar has is left out. Day before month where
        both could be either.
    """
    found = (_date(match.groupdict()) for match in _dates().finditer(text))
    return tuple(dict.fromkeys(day for day in found if day))[:MOST]


@cache
def _dates() -> re.Pattern[str]:
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


def _date(parts: dict[str, str | None]) -> str:
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


def _urls(text: str) -> list[str]:
    return [found for match in _URL.finditer(text) if len(found := match.group().rstrip(".,;:!?'*")) > len("https://")]


def _paths(text: str) -> list[MetadataSpan]:
    if "/" not in text and "\\" not in text and "." not in text:
        return []
    found = []
    for match in _PATH.finditer(text):
        path = match.group().rstrip(_TAIL)
        if match.lastgroup and path and _IS_PATH[match.lastgroup](path, text, match.start()):
            found.append(MetadataSpan(path, match.start(), match.start() + len(path)))
    return found


def _ending(path: str) -> str | None:
    """The known ending of a path, lower case; None where it has none."""
    name = path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    stem, dot, ending = name.rpartition(".")
    return ending.lower() if dot and (stem or name[:1] == ".") and ending.lower() in _shapes().extensions else None


def _is_file(path: str) -> bool:
    return _ending(path) is not None or path.rsplit("/", 1)[-1] in _shapes().files


def _is_windows(path: str, _text: str, _at: int) -> bool:
    return len(path) > 3


def _is_dotted(path: str, _text: str, _at: int) -> bool:
    return any(sign.isalnum() for sign in path)


def _is_absolute(path: str, text: str, at: int) -> bool:
    steps = [step for step in path.split("/") if step]
    before = text[max(0, at - 12) : at].split()
    if before and before[-1] in _shapes().methods:
        return False
    if not steps or any(not any(sign.isalnum() for sign in step) for step in steps):
        return False
    if steps[0] in _shapes().roots or _is_file(path):
        return True
    return len(steps) > 1 and len(steps[0]) > 1 and not any(step.isdigit() for step in steps)


def _is_relative(path: str, _text: str, _at: int) -> bool:
    steps = [step for step in path.split("/") if step]
    if len(steps) < 2 or all(step.replace(".", "").isdigit() for step in steps):
        return False
    if steps[0] in _shapes().folders and not path[-1].isdigit():
        return True
    return _is_file(path) and not _is_alternative(steps)


def _is_alternative(steps: list[str]) -> bool:
    """`Node.js/Next.js`: several names, each with an ending of its own."""
    return all(_ending(step) is not None for step in steps)


def _is_bare(path: str, _text: str, _at: int) -> bool:
    ending = _ending(path)
    if ending is None or ending in _shapes().bare_not or path.replace(".", "").isdigit():
        return False
    return not any(one.end - one.start == len(path) for one in find_technologies(path))


_IS_PATH = {
    "windows": _is_windows,
    "dotted": _is_dotted,
    "absolute": _is_absolute,
    "relative": _is_relative,
    "bare": _is_bare,
}


def _language(fences: list[tuple[str, str]], paths: list[MetadataSpan]) -> str:
    shapes = _shapes()
    told: Counter[str] = Counter()
    for word, code in fences:
        name = shapes.fences.get(word.lower()) or shapes.extensions.get(word.lower(), "")
        told[name] += len(code) + 1
    told[""] = 0
    if not any(told.values()):
        told.update(shapes.extensions.get(_ending(spot.name) or "", "") for spot in paths)
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
def _shapes() -> _Shapes:
    data = json.loads((files("resources") / "enrich" / "metadata.json").read_text("utf-8"))
    sets = (frozenset(data[name].split()) for name in ("folders", "roots", "files", "methods"))
    return _Shapes(data["extensions"], frozenset(data["bare_not"].split()), data["fences"], *sets)


@cache
def _topics() -> dict[str, tuple[str, ...]]:
    data = json.loads((files("resources") / "enrich" / "topics.json").read_text("utf-8"))
    found: dict[str, tuple[str, ...]] = {}
    for topic, words in data.items():
        for word in () if topic == "about" else dict.fromkeys(words.split()):
            found[word] = (*found.get(word, ()), topic)
    return found
