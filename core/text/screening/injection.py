"""Scans a text for what reads like an instruction to an assistant rather than a memory (E10.14).

A text is taken out of its disguises (`core.text.screening.deobfuscation`), read as ideas in a row
(`core.text.screening.rule_matcher`) and judged by the rules of `resources/injection/rules.json`. The score is a
guess, and what it guards is fenced as data besides. Must not do: keep or name any word of the text, or decide what
becomes of it.
"""

from __future__ import annotations

import hashlib
import re
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.config.screening import BLOCK_ABOVE, FLAG_ABOVE, HARD_ABOVE, ScreeningOptions
from core.text.screening.deobfuscation import deobfuscate
from core.text.screening.imperatives import imperative_ideas
from core.text.screening.rule_matcher import RuleHit, are_halves, find_ideas, find_split_rules, fold_words, match_rules
from core.text.split import split_sentences
from core.text.stopwords import stop_words
from core.types.values import band

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


NOTHING = InjectionFinding()


_DEFAULTS = ScanLimits()


class ScanLimitsHolder:
    """What one open vault asks for, as long as it is open.

    A process may hold several (the sample is made beside the person's own vault). The scan belongs to all of them, so
    the strictest holds: none can loosen another's guard, and what one asked for is gone with it.
    """

    def __init__(self) -> None:
        self._wanted: ScanLimits | None = None

    def set(self, wanted: ScanLimits) -> None:
        """Ask for limits from now on.

        Args:
            wanted: from the vault's options.
        """
        self._wanted = wanted
        with _lock:
            _held.add(self)
        _settle()

    def release(self) -> None:
        """Ask for nothing more: the vault is closed."""
        with _lock:
            _held.discard(self)
        _settle()

    @property
    def wanted(self) -> ScanLimits:
        """What it asks for."""
        return self._wanted or _DEFAULTS


_lock = threading.Lock()
_held: weakref.WeakSet[ScanLimitsHolder] = weakref.WeakSet()
_in_force = [_DEFAULTS]


def _settle() -> None:
    with _lock:
        wanted = [one.wanted for one in _held] or [_DEFAULTS]
        flags, blocks, hards = ([getattr(one, name) for one in wanted] for name in ("flag", "block", "hard"))
        _in_force[0] = ScanLimits(min(flags), min(blocks), min(hards))


def current_limits() -> ScanLimits:
    """The limits that hold now.

    Returns:
        Those of the open vault's options, of several the strictest; the defaults where none is open.
    """
    return _in_force[0]


def limits_from_options(options: ScreeningOptions) -> ScanLimits:
    """The limits a vault's options ask for.

    Args:
        options: of the vault.

    Returns:
        The limits.
    """
    return ScanLimits(options.screen_flag, options.screen_block, options.screen_hard)


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

    def put(self, key: bytes, finding: InjectionFinding) -> None:
        with self._lock:
            self._held[key] = finding
            while len(self._held) > _CACHED:
                self._held.popitem(last=False)


_memory = _Memory()


def scan(text: str) -> InjectionFinding:
    """How much a text reads like an attack on an assistant.

    The score is one minus the product of what each family leaves: of a family only the weightiest rule counts, and a
    rule that is merely told of ("the classic phrase is …") counts less.

    Returns:
        The finding; the same text always has the same.
    """
    key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    found = _memory.get(key)
    if found is None:
        found = _scanned(text)
        _memory.put(key, found)
    return found


def injection_score(text: str, *labels: str | None) -> float:
    """The score of a text with what is shown beside it.

    Args:
        labels: such as its author and its tags; None is passed over.

    Returns:
        The highest score, 0 to 1.
    """
    score = scan(text).score
    beside = " ".join(one for one in labels if one)
    return max(score, scan(beside).score) if len(beside) > _SHORT else score


_WINDOW = 64 << 10  # characters that are scanned at a time
_OVERLAP = 2 << 10  # an order that is cut by the end of one window stands whole in the next

_SHORT = 24  # a label of so few characters gives no order


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
    weak = [at for at, text in enumerate(texts) if 0 < scan(text).score <= flag]
    together = scan("\n".join(texts[at] for at in weak)).score if len(weak) > 1 else 0.0
    found = set(weak) if together > max(flag, _PLAIN) else set()
    for one, other in _halves(texts):
        if not found.issuperset((one.of, other.of)) and _is_order(one, other, flag):
            found |= {one.of, other.of}
    return frozenset(found)


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


def _sentences(texts: Sequence[str]) -> list[_Sentence]:
    """The sentences that may have a part in an order."""
    return [
        _Sentence(at, text[start:end], ideas, _things(text[start:end]))
        for at, text in enumerate(texts)
        for start, end in split_sentences(text[:_MOST_READ])[:_MOST_SENTENCES]
        if (ideas := find_ideas(text[start:end])) and _OWN_VOICE not in ideas
    ]


def _things(sentence: str) -> frozenset[str]:
    words = (word for word in fold_words(sentence) if len(word) >= _SHORTEST_THING and word not in stop_words())
    return frozenset((*(word[:_STEM] for word in words), *_LABEL.findall(sentence)))


def _halves(texts: Sequence[str]) -> list[tuple[_Sentence, _Sentence]]:
    """Sentences that may be halves of an order: together they hold a rule's ideas, and one of them says what to do."""
    told = _sentences(texts)
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
    return any(scan(joined).score > least for joined in _joined(one.text, other.text))


def _are_halves(one: _Sentence, other: _Sentence) -> bool:
    return not one.things.isdisjoint(other.things) and are_halves(one.ideas, other.ideas)


def _joined(one: str, other: str) -> tuple[str, str]:
    """Two sentences as one, in both orders: halves of an order stand near each other only then."""
    first, second = one.strip().rstrip(_ENDS), other.strip().rstrip(_ENDS)
    return f"{first}, {second}", f"{second}, {first}"


def blocked_placeholder(score: float) -> str:
    """What stands in place of a text that is not shown (E10.14.1).

    Args:
        score: of the text, 0 to 1.

    Returns:
        One line with the score as a band word (E10.16.1): the exact one would help whoever tunes an attack.
    """
    return f"{BLOCKED}(score: {band(score)})]"


def reset_injection_marks(flags: Iterable[str], text: str) -> list[str]:
    """The marks of a memory that gets another text: nobody has let that one through.

    Args:
        flags: its marks so far.
        text: what it says from now on.

    Returns:
        The other marks, and `FLAG` where the text reads like an instruction.
    """
    kept = [flag for flag in flags if flag not in (FLAG, ALLOWED)]
    return [*kept, FLAG] if scan(text).score > current_limits().flag else kept


def _scanned(text: str) -> InjectionFinding:
    hits: list[RuleHit] = []
    signs: set[tuple[str, float]] = set()
    for window in _windows(text):
        for layer in deobfuscate(window):
            hits += match_rules(layer.text)
            signs.update(layer.signs)
    words = any(name == "tags" for name, _ in signs)
    if not words and not any(hit.family != "hidden" for hit in hits):
        return NOTHING if not hits else _finding(hits)
    hits += [RuleHit(f"veil.{name}", "hidden", weight) for name, weight in sorted(signs)]
    return _finding(hits)


def _windows(text: str) -> Iterator[str]:
    """A long text in windows: its layers are several times its size, and a text of 20 MB would take gigabytes."""
    if len(text) <= _WINDOW:
        yield text
        return
    for start in range(0, len(text) - _OVERLAP, _WINDOW - _OVERLAP):
        yield text[start : start + _WINDOW]


def _finding(hits: list[RuleHit]) -> InjectionFinding:
    best: dict[str, float] = {}
    for hit in hits:
        best[hit.family] = max(best.get(hit.family, 0.0), hit.weight)
    left = 1.0
    for weight in best.values():
        left *= 1.0 - weight
    families = tuple(sorted(best, key=lambda family: (-best[family], family)))
    return InjectionFinding(round(1.0 - left, _DIGITS), families, tuple(sorted({hit.rule for hit in hits})))
