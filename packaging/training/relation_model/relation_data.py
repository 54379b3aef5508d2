"""The training pairs of the relation model: read, checked, enlarged, split.

Every pair was written for this project (packaging/training/README.md). Enlarging
uses the labels' own logic only; nothing comes from outside. Must not do: read
any labelled set that measures the model.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "relations"
CHANGES = FOLDER.with_name("changes")
"""Plain changes as they are told, and what only looks like one; `train_heads.py` says what is learned of them."""
PLAIN_ENDS = FOLDER.with_name("plain_ends")
"""Short notes beside what plainly ends them and what looks like it; `train_heads.py` learns their labels, too."""
LABELS = ("DUPLICATE", "SUPERSEDE", "MERGE", "COEXIST")
LONGEST = 1_500
_DRAWN = 24

_NUMBER = re.compile(r"(?<![\w.,:/-])(\d{1,4})(?![\w:/-]|[.,]\d)")
_TO_USER = (
    (re.compile(r"\bI'm\b"), "User is"),
    (re.compile(r"\bI've\b"), "User has"),
    (re.compile(r"\bI am\b"), "User is"),
    (re.compile(r"\bI have\b"), "User has"),
    (re.compile(r"\b[Mm]y\b"), "User's"),
)
_PERIOD = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True)
class Pair:
    """One labelled pair.

    Attributes:
        old: the existing note.
        new: the later one.
        label: an index into LABELS.
        domain: a word for the field of life.
        group: pairs of one group share a note, directly or over others.
        weight: how much it counts in training, 1 for a written pair.
        source: the file it was written in, without its ending.
    """

    old: str
    new: str
    label: int
    domain: str
    group: int
    weight: float = 1.0
    source: str = ""


def _key(text: str) -> str:
    return " ".join(text.casefold().split())


def load(folder: Path | None = None) -> tuple[list[Pair], str]:
    """Read every pair of a folder (FOLDER), refuse broken lines, drop repeated ones, and group what shares a note.

    Returns:
        The pairs in a fixed order, and the SHA-256 of them.

    Raises:
        SystemExit: a line is not a pair.
    """
    rows: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    labels: dict[tuple[str, str], set[str]] = defaultdict(set)
    sources: dict[tuple[str, str], str] = {}
    for path in sorted((folder or FOLDER).glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            row = _row(line, f"{path.name}:{number}")
            key = (_key(row[0]), _key(row[1]))
            rows.setdefault(key, row)
            sources.setdefault(key, path.stem)
            labels[key].add(row[2])
    keys = [key for key in sorted(rows) if len(labels[key]) == 1]
    digest = hashlib.sha256("\n".join("\t".join(rows[key]) for key in keys).encode()).hexdigest()
    groups = _groups(rows[key][:2] for key in keys)
    pairs = []
    for key in keys:
        old, new, label, domain = rows[key]
        pairs.append(Pair(old, new, LABELS.index(label), domain, groups[_key(old)], source=sources[key]))
    return pairs, digest


def _row(line: str, where: str) -> tuple[str, str, str, str]:
    try:
        row = json.loads(line)
        old, new, label, domain = row["e"].strip(), row["n"].strip(), row["l"], row.get("d", "")
    except (ValueError, KeyError, TypeError, AttributeError):
        sys.exit(f"{where} is not a pair.")
    if label not in LABELS or not old or not new or max(len(old), len(new)) > LONGEST:
        sys.exit(f"{where} has no label of the four, or a text that is empty or too long.")
    return old, new, label, domain


def _groups(texts: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Notes joined by a pair, directly or over others, get one number."""
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        parent.setdefault(key, key)
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for old, new in texts:
        parent[root(_key(new))] = root(_key(old))
    numbers: dict[str, int] = {}
    return {key: numbers.setdefault(root(key), len(numbers)) for key in sorted(parent)}


def without(pairs: Sequence[Pair], sources: Iterable[str]) -> list[Pair]:
    """The pairs that are in none of these files."""
    left_out = frozenset(sources)
    return [pair for pair in pairs if pair.source not in left_out]


def unseen(pairs: Sequence[Pair], source: str, learned: Sequence[Pair]) -> list[Pair]:
    """The pairs of a file that share no note with the pairs a model learned from.

    Args:
        pairs: all written pairs.
        learned: what the model saw.

    Returns:
        What it may be measured by.
    """
    known = {pair.group for pair in learned}
    return [pair for pair in pairs if pair.source == source and pair.group not in known]


def implied(pairs: Sequence[Pair]) -> list[Pair]:
    """What the written pairs imply by the meaning of their labels.

    A note that says the same as the existing one stands to every newcomer as the existing one does; and two that say
    the same do so in either order. Two independent notes stay independent in either order. A duplicate may leave a
    detail out, and then the first two do not follow: only one that is about as long as the existing note is used.

    Returns:
        Further pairs, of less weight.
    """
    more: list[Pair] = []
    by_old: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_old[_key(pair.old)].append(pair)
    for siblings in by_old.values():
        twins = [pair for pair in siblings if pair.label == 0 and _as_full(pair)]
        for twin in twins[:2]:
            more.append(Pair(twin.new, twin.old, 0, twin.domain, twin.group, 0.5))
            more.extend(
                Pair(twin.new, other.new, other.label, other.domain, other.group, 0.7)
                for other in siblings
                if other is not twin
            )
        more.extend(Pair(p.new, p.old, 3, p.domain, p.group, 0.4) for p in siblings if p.label == 3)
    return more


def _as_full(pair: Pair) -> bool:
    """Whether the newer note is long enough to say all that the older one says."""
    return len(pair.new.split()) >= 0.75 * len(pair.old.split())


def varied(pairs: Sequence[Pair], rng: random.Random) -> list[Pair]:
    """Pairs made from written ones: light edits, a changed number, notes of other groups side by side.

    Returns:
        Further pairs, of less weight.
    """
    notes = sorted({(pair.old, pair.domain, pair.group) for pair in pairs})
    more: list[Pair] = []
    for old, domain, group in notes:
        if rng.random() < 0.12:
            more.append(Pair(old, edited(old, rng), 0, domain, group, 0.3))
        changed = _renumbered(old, rng)
        if changed is not None and rng.random() < 0.35:
            more.append(Pair(old, changed, 1, domain, group, 0.4))
    by_domain: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for note in notes:
        by_domain[note[1]].append(note)
    for near in by_domain.values():
        for old, domain, group in near:
            other = rng.choice(near)
            if other[2] != group and rng.random() < 0.2:
                more.append(Pair(old, other[0], 3, domain, group, 0.3))
    beside = (_stranger(pair, notes, rng) for pair in pairs if rng.random() < 0.3)
    return more + [pair for pair in beside if pair is not None]


def _stranger(pair: Pair, notes: Sequence[tuple[str, str, int]], rng: random.Random) -> Pair | None:
    """A newcomer beside a note of another matter that looks like it: words of change alone prove nothing.

    In a vault most neighbours are strangers, and "now", "again" or "no longer" in a newcomer speak of something else.
    """
    words = set(_key(pair.new).split())
    drawn = [note for note in rng.sample(notes, min(_DRAWN, len(notes))) if _is_foreign(note, pair)]
    near = max(drawn, key=lambda note: len(words & set(_key(note[0]).split())) / len(note[0].split()), default=None)
    return None if near is None else Pair(near[0], pair.new, 3, pair.domain, pair.group, 0.4)


def _is_foreign(note: tuple[str, str, int], pair: Pair) -> bool:
    return note[1] != pair.domain and note[2] != pair.group


def _renumbered(text: str, rng: random.Random) -> str | None:
    """The text with its only number changed; None where it has none or several, or names a year."""
    found = _NUMBER.findall(text)
    if len(found) != 1 or sum(c.isdigit() for c in text) != len(found[0]) or _PERIOD.search(text):
        return None
    value = int(found[0])
    other = max(1, value + rng.choice([-3, -2, -1, 1, 2, 3, 5, value or 4]))
    if other == value:
        return None
    return _NUMBER.sub(str(other), text)


def edited(text: str, rng: random.Random) -> str:
    """The text in another dress and with the same meaning: case, end mark, person."""
    choice = rng.randrange(4)
    if choice == 0:
        return text.lower()
    if choice == 1:
        return text.rstrip(".")
    if choice == 2:
        return text.rstrip(".").lower()
    return as_user(text)


def as_user(text: str) -> str:
    """First person told in the third, where that is safe to do by rule."""
    for pattern, word in _TO_USER:
        text = pattern.sub(word, text)
    return text


def dressed(pair: Pair, rng: random.Random) -> tuple[str, str]:
    """The pair's texts as one training step sees them: now and then in another case, person or end mark."""
    old, new = pair.old, pair.new
    if rng.random() < 0.08:
        old = edited(old, rng)
    if rng.random() < 0.08:
        new = edited(new, rng)
    if rng.random() < 0.06:
        old, new = old.lower(), new.lower()
    return old, new


def counted(pairs: Sequence[Pair]) -> dict[str, int]:
    """How many pairs each label has."""
    counts = Counter(pair.label for pair in pairs)
    return {label: counts[i] for i, label in enumerate(LABELS)}
