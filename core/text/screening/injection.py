"""Scans a text for what reads like an instruction to an assistant rather than a memory (E10.14).

A text is taken out of its disguises (unseen characters, letters of other scripts, spaced or digit letters, encodings),
read as ideas in a row (`core.text.screening.rule_matcher`) and judged by the rules of `resources/injection/rules.json`.
The score is a guess, and what it guards is fenced as data besides. Must not do: keep or name any word of the text,
change a text that is stored or shown, or decide what becomes of it.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
import html
import json
import re
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import unquote

from core.config.options import BLOCK_ABOVE, FLAG_ABOVE, HARD_ABOVE, ScreeningOptions
from core.text.screening.rule_matcher import (
    RuleHit,
    are_halves,
    find_ideas,
    find_split_rules,
    fold_words,
    imperative_ideas,
    list_keywords,
    match_rules,
)
from core.text.sentences import split_sentences
from core.text.terms import fold_width, stop_words
from core.types.values import band_word

_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")
_FLAGS = re.compile("\U0001f3f4[\U000e0020-\U000e007f]{1,16}")  # flags of regions are written in tags
_INSIDE = re.compile("(?<=[A-Za-z])[\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff]+(?=[A-Za-z])")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_TURNERS = re.compile("[\u202d\u202e]")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}(?:[ \t]?\r?\n[A-Za-z0-9+/_-]{16,}={0,2})*")
_HEX = re.compile(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ ,:]?){12,}")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}){3,}|(?:[A-Za-z]{1,12}%20){2,}")
_ENTITIES = re.compile(r"(?:&#x?[0-9A-Fa-f]{2,6};){3,}")
_ESCAPES = re.compile(r"(?:\\u[0-9A-Fa-f]{4}){3,}")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
_BITS = re.compile(r"(?:[01]{8}[ ,]?){8,}")
_SINGLE = re.compile(r"(?<![^\W_])(?:[^\W_][ .\-_*|/]{1,2}){5,}[^\W_](?![^\W_])")
_RUN = re.compile(r"[A-Za-z0-9@$!|]+")
_LEET = re.compile(r"[A-Za-z][013457@$][A-Za-z]|[013457@$][A-Za-z]{2}")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[a-z]", re.IGNORECASE)
_TAGGED = 8  # hidden letters that are no accident
_MOST_RUNS = 24
_MOST_DEPTH = 3
_TURNED_WORDS = 3
FLAG = "injection"
"""Mark of a memory that reads like an instruction: it is kept out of what is given by itself."""
ALLOWED = "injection_allowed"
"""Mark of a memory that the person read and let through."""
BLOCKED = "[MEMORY BLOCKED \N{EM DASH} injection detected "
"""Begins what stands in place of a text that is not shown."""
_CACHED = 65_536
_MOST_PAIRS = 96  # a millisecond or so each
_MOST_READ = 4096  # characters of a text that are looked through for halves
_MOST_SENTENCES = 16
_STEM, _SHORTEST_THING = 6, 4  # letters
_LABEL = re.compile(r"\b(?![AI]\b)[A-Z]\d{0,3}\b")  # "entry G2"
_PLAIN = 0.6
_OWN_VOICE = "ownvoice"
_ENDS = " .!?;:\u2026\u3002"
_DIGITS = 4
_lock = threading.Lock()
_held: weakref.WeakSet[ScanLimitsHolder] = weakref.WeakSet()


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """From which score on what happens (E10.14.1, E10.14.3); each is crossed by a score above it.

    Attributes:
        flag: marked, and kept out of automatic context.
        block: not shown to clients at all.
        hard: not taken in without the person's word.
    """

    flag: float = FLAG_ABOVE
    block: float = BLOCK_ABOVE
    hard: float = HARD_ABOVE


_DEFAULTS = ScanLimits()
_in_force = [_DEFAULTS]
_WINDOW = 64 << 10  # characters that are scanned at a time
_OVERLAP = 2 << 10  # an order that is cut by the end of one window stands whole in the next
_SHORT = 24  # a label of so few characters gives no order


@dataclass(frozen=True, slots=True)
class Deobfuscated:
    """A text without one of its disguises.

    Attributes:
        text: in plain characters (NFKC), unseen ones gone.
        signs: (name, weight) of the disguises it was found under.
    """

    text: str
    signs: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class InjectionFinding:
    """What the scan found.

    Attributes:
        score: 0 to 1, how much the text reads like an attack on an assistant.
        families: what it seems to try, keys of `resources/help/injection.json`, the weightiest first.
        rules: ids of the rules that were met, sorted.
    """

    score: float = 0.0
    families: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


NOTHING = InjectionFinding()


@dataclass(frozen=True, slots=True)
class ScreenedText:
    """A text that was screened for injection on its way in.

    Attributes:
        finding: what the scan found.
        stranger: it comes from a client or an import, not from the owner.
    """

    finding: InjectionFinding = NOTHING
    stranger: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        """Marks the memory gets."""
        return (FLAG,) if self.finding.score > current_limits().flag else ()

    @property
    def waits(self) -> bool:
        """Whether the person has to let it in."""
        return self.stranger and self.finding.score > current_limits().hard

    @property
    def detail(self) -> dict[str, Any]:
        """For the review item: what it seems to try and the rules' ids; never text."""
        found = self.finding
        return {"score": found.score, "families": list(found.families), "rules": list(found.rules)}


class ScanLimitsHolder:
    """What one open vault asks for, as long as it is open.

    A process may hold several (the sample is made beside the person's own vault). The scan belongs to all of them, so
    the strictest holds: none can loosen another's guard, and what one asked for is gone with it.
    """

    def __init__(self) -> None:
        self._wanted: ScanLimits | None = None

    def set_limits(self, wanted: ScanLimits) -> None:
        """Ask for limits from now on.

        Args:
            wanted: from the vault's options.
        """
        self._wanted = wanted
        with _lock:
            _held.add(self)
        _apply_strictest_limits()

    def release_limits(self) -> None:
        """Ask for nothing more: the vault is closed."""
        with _lock:
            _held.discard(self)
        _apply_strictest_limits()

    @property
    def wanted(self) -> ScanLimits:
        """What it asks for."""
        return self._wanted or _DEFAULTS


def deobfuscate_text(text: str) -> list[Deobfuscated]:
    """A text and what is hidden in it.

    Returns:
        The text in plain characters first, then what was decoded out of it; at most a few dozen.
    """
    plain, signs = _plain_form(text)
    layers = [Deobfuscated(plain, signs)]
    hidden = "".join(chr(ord(sign) - 0xE0000) for run in _TAGS.findall(_FLAGS.sub("", text)) for sign in run)
    if len(hidden) >= _TAGGED:
        layers.append(Deobfuscated(fold_width(hidden), _weighted_signs("tags")))
    layers += _join_spaced_letters(plain)
    layers += _decode_runs(text if len(text) < len(plain) * 2 else plain, 1)
    layers += _decode_turned(plain)
    return layers + _decode_escapes(plain)


def current_limits() -> ScanLimits:
    """The limits that hold now.

    Returns:
        Those of the open vault's options, of several the strictest; the defaults where none is open.
    """
    return _in_force[0]


def limits_from_options(options: ScreeningOptions) -> ScanLimits:
    """The limits a vault's options ask for."""
    return ScanLimits(options.screen_flag, options.screen_block, options.screen_hard)


def scan_text(text: str) -> InjectionFinding:
    """How much a text reads like an attack on an assistant.

    The score is one minus the product of what each family leaves: of a family only the weightiest rule counts, and a
    rule that is merely told of ("the classic phrase is …") counts less.

    Returns:
        The finding; the same text always has the same.
    """
    key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    found = _memory.get(key)
    if found is None:
        found = _scan_text(text)
        _memory.put_finding(key, found)
    return found


def injection_score(text: str, *labels: str | None) -> float:
    """The score of a text with what is shown beside it.

    Args:
        labels: such as its author and its tags; None is passed over.

    Returns:
        The highest score, 0 to 1.
    """
    score = scan_text(text).score
    beside = " ".join(one for one in labels if one)
    return max(score, scan_text(beside).score) if len(beside) > _SHORT else score


def screen_text(text: str, claim: Mapping[str, object] | None = None, *, stranger: bool) -> ScreenedText:
    """Screen a text, and the claim that comes with it, for injected instructions.

    Args:
        claim: its given claim; its words are read too.
        stranger: it comes from a client or an import.

    Returns:
        What the weightier of the two is.
    """
    found = scan_text(text)
    if claim is not None:
        words = " ".join(str(claim[name]) for name in ("subject", "predicate", "value") if name in claim)
        found = max(found, scan_text(words), key=lambda one: one.score)
    return ScreenedText(found, stranger)


def find_split_injection(texts: Sequence[str]) -> frozenset[int]:
    """Which of several texts read like an instruction only where they are read together.

    Two of them may hold halves of one order, in any of their sentences and in either order, and several may each have a
    sign that is too weak alone. What somebody tells of himself is no half of an order to whoever reads it.

    Args:
        texts: of sources that are not the person, none over the limit alone.

    Returns:
        The places of those that have a part in it; empty where there is none.
    """
    flag = current_limits().flag
    weak = [at for at, text in enumerate(texts) if 0 < scan_text(text).score <= flag]
    together = scan_text("\n".join(texts[at] for at in weak)).score if len(weak) > 1 else 0.0
    found = set(weak) if together > max(flag, _PLAIN) else set()
    for one, other in _find_halves(texts):
        if not found.issuperset((one.of, other.of)) and _is_order(one, other, flag):
            found |= {one.of, other.of}
    return frozenset(found)


def blocked_placeholder(score: float) -> str:
    """What stands in place of a text that is not shown (E10.14.1).

    Args:
        score: of the text, 0 to 1.

    Returns:
        One line with the score as a band word (E10.16.1): the exact one would help whoever tunes an attack.
    """
    return f"{BLOCKED}(score: {band_word(score)})]"


def reset_injection_marks(flags: Iterable[str], text: str) -> list[str]:
    """The marks of a memory that gets another text: nobody has let that one through.

    Args:
        flags: its marks so far.
        text: what it says from now on.

    Returns:
        The other marks, and `FLAG` where the text reads like an instruction.
    """
    kept = [flag for flag in flags if flag not in (FLAG, ALLOWED)]
    return [*kept, FLAG] if scan_text(text).score > current_limits().flag else kept


@cache
def _load_tables() -> tuple[dict[str, str], dict[int, str], dict[str, float]]:
    folder = files("resources") / "injection"
    letters = json.loads((folder / "confusables.json").read_text("utf-8"))
    veils = json.loads((folder / "rules.json").read_text("utf-8"))["veils"]
    return dict(letters["letters"]), str.maketrans(letters["leet"]), {name: float(one) for name, one in veils.items()}


def _weighted_signs(*names: str) -> tuple[tuple[str, float], ...]:
    weights = _load_tables()[2]
    return tuple((name, weights[name]) for name in names)


def _plain_form(text: str) -> tuple[str, tuple[tuple[str, float], ...]]:
    if text.isascii():
        return text, ()
    names = []
    if len(_INSIDE.findall(text)) > 1:
        names.append("invisible")
    if _TURNERS.search(text):
        names.append("direction")
    plain = fold_width(_UNSEEN.sub("", text))
    mapped = _in_latin(plain)
    if mapped != plain:
        names.append("mixed_letters")
    return mapped, _weighted_signs(*names)


def _in_latin(text: str) -> str:
    """Words that mix scripts, and foreign ones that look Latin within a Latin text, in Latin letters."""
    if text.isascii():
        return text
    table = _load_tables()[0]
    if not any(letter in table for letter in text.casefold()):
        return text
    latin = len(_LATIN.findall(text))
    mostly = latin * 2 > sum(character.isalpha() for character in text)

    def replace_lookalikes(match: re.Match[str]) -> str:
        word = match.group()
        small = word.casefold()
        if word.isascii() or not any(letter in table for letter in small):
            return word
        foreign = [letter for letter in small if not letter.isascii()]
        mixed = len(foreign) < len(small) or (mostly and len(small) > 1)
        return "".join(table.get(letter, letter) for letter in small) if mixed and mostly else word

    return _WORD.sub(replace_lookalikes, text)


def _join_spaced_letters(text: str) -> list[Deobfuscated]:
    """Letters that stand apart, and words written with digits, as plain words."""
    layers = []
    runs = _SINGLE.findall(text)[:_MOST_RUNS]
    if runs:
        joined = " ".join(
            _split_into_keywords("".join(sign for sign in run.casefold() if sign.isalnum())) for run in runs
        )
        layers.append(Deobfuscated(joined + " " + _SINGLE.sub(" ", text), _weighted_signs("spaced")))
    leet = _load_tables()[1]
    mended = (
        _RUN.sub(lambda match: match.group().translate(leet) if _LEET.search(match.group()) else match.group(), text)
        if _LEET.search(text)
        else text
    )
    if mended != text and len(set(fold_words(mended)) & list_keywords()) > len(set(fold_words(text)) & list_keywords()):
        layers.append(Deobfuscated(mended, _weighted_signs("leet")))
    return layers


def _split_into_keywords(letters: str) -> str:
    """Words of the lists in a row of letters without blanks: the longest that fits, from the left."""
    known, found, at = list_keywords(), list[str](), 0
    while at < len(letters):
        size = next((size for size in range(min(16, len(letters) - at), 2, -1) if letters[at : at + size] in known), 0)
        if size:
            found.append(letters[at : at + size])
        at += size or 1
    return " ".join(found)


def _decode_turned(text: str) -> list[Deobfuscated]:
    """A text written backwards or shifted by thirteen letters, where keywords say so."""
    words = {word for word in fold_words(text) if len(word) > 3 and word.isascii()}
    ways: tuple[Callable[[str], str], ...] = (lambda one: one[::-1], lambda one: codecs.encode(one, "rot13"))
    return [
        Deobfuscated(way(text), _weighted_signs("turned"))
        for way in ways
        if sum(way(word) in list_keywords() for word in words - list_keywords()) >= _TURNED_WORDS
    ]


def _decode_runs(text: str, depth: int) -> list[Deobfuscated]:
    found: list[Deobfuscated] = []
    for pattern, read, sign in _CODES:
        for run in pattern.findall(text)[:_MOST_RUNS]:
            plain = read(run)
            if plain is None or not _is_text(plain):
                continue
            found.append(Deobfuscated(_plain_form(plain)[0], _weighted_signs(sign)))
            if depth < _MOST_DEPTH and len(found) < _MOST_RUNS:
                found += [Deobfuscated(one.text, _weighted_signs(sign)) for one in _decode_runs(plain, depth + 1)]
    return found[:_MOST_RUNS]


def _is_text(text: str) -> bool:
    letters = sum(character.isalpha() or character in " .,:;!?'\"-\n" for character in text)
    return len(text) > 7 and letters > 0.85 * len(text)


def _decode_base64(run: str) -> str | None:
    packed = "".join(run.split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    return _decode_utf8(lambda: base64.b64decode(packed + "=" * (-len(packed) % 4)))


def _decode_hex(run: str) -> str | None:
    digits = re.sub(r"0x|\\x|[ ,:]", "", run)
    return _decode_utf8(lambda: bytes.fromhex(digits))


def _decode_bits(run: str) -> str | None:
    digits = re.sub(r"[ ,]", "", run)
    return _decode_utf8(lambda: bytes(int(digits[at : at + 8], 2) for at in range(0, len(digits) - 7, 8)))


_CODES: tuple[tuple[re.Pattern[str], Callable[[str], str | None], str], ...] = (
    (_BASE64, _decode_base64, "encoded"),
    (_HEX, _decode_hex, "encoded"),
    (_BITS, _decode_bits, "encoded"),
)


def _decode_utf8(read: Callable[[], bytes]) -> str | None:
    try:
        return read().decode("utf-8")
    except (ValueError, binascii.Error):  # it was no such encoding
        return None


def _decode_escapes(text: str) -> list[Deobfuscated]:
    """The whole text with the escapes of addresses, web pages and programs read."""
    plain = unquote(text, errors="replace") if _PERCENT.search(text) else text
    plain = html.unescape(plain) if _ENTITIES.search(plain) else plain
    if _ESCAPES.search(plain):
        plain = _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), plain)
    return [] if plain == text else [Deobfuscated(_plain_form(plain)[0], _weighted_signs("escaped"))]


def _apply_strictest_limits() -> None:
    with _lock:
        wanted = [one.wanted for one in _held] or [_DEFAULTS]
        flags, blocks, hards = ([getattr(one, name) for one in wanted] for name in ("flag", "block", "hard"))
        _in_force[0] = ScanLimits(min(flags), min(blocks), min(hards))


class _Memory:
    """The latest findings by the text's hash, so that a text that is recalled often is scanned once."""

    def __init__(self) -> None:
        self._held: OrderedDict[bytes, InjectionFinding] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> InjectionFinding | None:
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
            return found

    def put_finding(self, key: bytes, finding: InjectionFinding) -> None:
        with self._lock:
            self._held[key] = finding
            while len(self._held) > _CACHED:
                self._held.popitem(last=False)


_memory = _Memory()


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of one of several texts.

    Attributes:
        of: the place of its text.
        ideas: that it holds.
        things: beginnings of the words that say what it is about.
    """

    of: int
    text: str
    ideas: frozenset[str]
    things: frozenset[str]


def _order_sentences(texts: Sequence[str]) -> list[_Sentence]:
    """The sentences that may have a part in an order."""
    return [
        _Sentence(at, text[start:end], ideas, _find_things(text[start:end]))
        for at, text in enumerate(texts)
        for start, end in split_sentences(text[:_MOST_READ])[:_MOST_SENTENCES]
        if (ideas := find_ideas(text[start:end])) and _OWN_VOICE not in ideas
    ]


def _find_things(sentence: str) -> frozenset[str]:
    words = (word for word in fold_words(sentence) if len(word) >= _SHORTEST_THING and word not in stop_words())
    return frozenset((*(word[:_STEM] for word in words), *_LABEL.findall(sentence)))


def _find_halves(texts: Sequence[str]) -> list[tuple[_Sentence, _Sentence]]:
    """Sentences that may be halves of an order: together they hold a rule's ideas, and one of them says what to do."""
    told = _order_sentences(texts)
    orders = imperative_ideas()
    found: dict[tuple[int, int], None] = {}
    for one, other in find_split_rules([sentence.ideas for sentence in told]):
        first, second = told[one], told[other]
        if first.of != second.of and (not orders.isdisjoint(first.ideas | second.ideas) or _are_halves(first, second)):
            found[one, other] = None
            if len(found) == _MOST_PAIRS:
                break
    return [(told[one], told[other]) for one, other in found]


def _is_order(one: _Sentence, other: _Sentence, flag: float) -> bool:
    """Whether two sentences read like an order as one; of different things only where it is plain."""
    if _are_halves(one, other):
        return True
    least = max(flag, _PLAIN) if one.things.isdisjoint(other.things) else flag
    return any(scan_text(joined).score > least for joined in _join_sentences(one.text, other.text))


def _are_halves(one: _Sentence, other: _Sentence) -> bool:
    return not one.things.isdisjoint(other.things) and are_halves(one.ideas, other.ideas)


def _join_sentences(one: str, other: str) -> tuple[str, str]:
    """Two sentences as one, in both orders: halves of an order stand near each other only then."""
    first, second = one.strip().rstrip(_ENDS), other.strip().rstrip(_ENDS)
    return f"{first}, {second}", f"{second}, {first}"


def _scan_text(text: str) -> InjectionFinding:
    hits: list[RuleHit] = []
    signs: set[tuple[str, float]] = set()
    for window in _split_into_windows(text):
        for layer in deobfuscate_text(window):
            hits += match_rules(layer.text)
            signs.update(layer.signs)
    words = any(name == "tags" for name, _ in signs)
    if not words and not any(hit.family != "hidden" for hit in hits):
        return NOTHING if not hits else _make_finding(hits)
    hits += [RuleHit(f"veil.{name}", "hidden", weight) for name, weight in sorted(signs)]
    return _make_finding(hits)


def _split_into_windows(text: str) -> Iterator[str]:
    """A long text in windows: its layers are several times its size, and a text of 20 MB would take gigabytes."""
    if len(text) <= _WINDOW:
        yield text
        return
    for start in range(0, len(text) - _OVERLAP, _WINDOW - _OVERLAP):
        yield text[start : start + _WINDOW]


def _make_finding(hits: list[RuleHit]) -> InjectionFinding:
    best: dict[str, float] = {}
    for hit in hits:
        best[hit.family] = max(best.get(hit.family, 0.0), hit.weight)
    left = 1.0
    for weight in best.values():
        left *= 1.0 - weight
    families = tuple(sorted(best, key=lambda family: (-best[family], family)))
    return InjectionFinding(round(1.0 - left, _DIGITS), families, tuple(sorted({hit.rule for hit in hits})))
