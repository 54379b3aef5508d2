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

FOLDER = Path(__file__).resolve().parent / "training" / "relations"
LABELS = ("DUPLICATE", "SUPERSEDE", "MERGE", "COEXIST")
LONGEST = 1_500

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
        group: pairs of one group share a note and are never split apart.
        weight: how much it counts in training, 1 for a written pair.
    """

    old: str
    new: str
    label: int
    domain: str
    group: int
    weight: float = 1.0


def _key(text: str) -> str:
    return " ".join(text.casefold().split())


def load() -> tuple[list[Pair], str]:
    """Read every pair, refuse broken lines, drop repeated ones, and group what shares a note.

    Returns:
        The pairs in a fixed order, and the SHA-256 of them.

    Raises:
        SystemExit: a line is not a pair.
    """
    rows: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    labels: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path in sorted(FOLDER.glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            row = _row(line, f"{path.name}:{number}")
            key = (_key(row[0]), _key(row[1]))
            rows.setdefault(key, row)
            labels[key].add(row[2])
    kept = [rows[key] for key in sorted(rows) if len(labels[key]) == 1]
    digest = hashlib.sha256("\n".join("\t".join(row) for row in kept).encode()).hexdigest()
    groups = _groups((old, new) for old, new, _, _ in kept)
    return [Pair(old, new, LABELS.index(label), domain, groups[_key(old)]) for old, new, label, domain in kept], digest


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


def folds(pairs: Sequence[Pair], count: int, seed: int) -> list[int]:
    """Which fold each pair is in: whole groups, spread evenly.

    Args:
        pairs: the written pairs.
        count: how many folds.
        seed: of the shuffle.

    Returns:
        One number from 0 to count - 1 a pair.
    """
    groups = sorted({pair.group for pair in pairs})
    random.Random(seed).shuffle(groups)  # noqa: S311 - repeatable, not secret
    place = {group: i % count for i, group in enumerate(groups)}
    return [place[pair.group] for pair in pairs]


def implied(pairs: Sequence[Pair]) -> list[Pair]:
    """What the written pairs imply by the meaning of their labels.

    A note that says the same as the existing one stands to every newcomer as the existing one does; and two that say
    the same do so in either order. Two independent notes stay independent in either order.

    Args:
        pairs: written pairs.

    Returns:
        Further pairs, of less weight.
    """
    more: list[Pair] = []
    by_old: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_old[_key(pair.old)].append(pair)
    for siblings in by_old.values():
        twins = [pair for pair in siblings if pair.label == 0]
        for twin in twins[:2]:
            more.append(Pair(twin.new, twin.old, 0, twin.domain, twin.group, 0.5))
            more.extend(
                Pair(twin.new, other.new, other.label, other.domain, other.group, 0.7)
                for other in siblings
                if other is not twin
            )
        more.extend(Pair(p.new, p.old, 3, p.domain, p.group, 0.4) for p in siblings if p.label == 3)
    return more


def varied(pairs: Sequence[Pair], rng: random.Random) -> list[Pair]:
    """Pairs made from written ones: light edits, a changed number, notes of other groups side by side.

    Args:
        pairs: written pairs.
        rng: its choices.

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
    return more


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
