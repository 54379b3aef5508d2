"""What a relation model said of two texts, kept while the vault is open.

A preview, the run behind it and the next night ask about the same pairs, and nine tenths of a plan is the model. Kept
are digests of what was asked and the numbers of the answers, no text, in flat arrays of some hundred bytes an answer.
All of it goes with the model, which goes with the vault. Must not do: change an answer, or outlive its model.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from hashlib import blake2b
from math import isnan
from weakref import finalize

import numpy as np

from core.belief.relate.relation import RelationModel
from core.intake.transaction.text_readers import Relate
from core.types.belief import LABELS, Label, Relation, Told

MOST = 150_000
"""So many answers are kept; beyond it all are forgotten and asked anew. Some 15 MB."""
AT_ONCE = 4
"""So many pairs are read before somebody who waits is looked for: some 20 ms."""
_LEAST = 1024
_EMPTY = 0

_known: dict[int, Answers] = {}
_lock = threading.Lock()  # guards the outer mapping: two vaults may be open in one process


class Answers:
    """Relations by digest: open addressing, so that an answer takes no objects."""

    def __init__(self) -> None:
        """None yet."""
        self._lock = threading.Lock()  # a preview and a run may ask at once
        self._kinds: list[tuple[Label, str, str]] = []
        self._clear(_LEAST)

    def __len__(self) -> int:
        """How many are kept."""
        return self._count

    def _clear(self, slots: int) -> None:
        self._count = 0
        self._keys = np.zeros((slots, 2), np.uint64)
        self._numbers = np.zeros((slots, 1 + len(LABELS)), np.float64)
        self._kind = np.zeros(slots, np.uint16)

    def find(self, key: bytes) -> Relation | None:
        """The answer that was kept; the very numbers of then."""
        with self._lock:
            place, is_there = self._place(key)
            if not is_there:
                return None
            label, by, reason = self._kinds[int(self._kind[place]) - 1]
            confidence, *shares = self._numbers[place].tolist()
        given = {each: share for each, share in zip(LABELS, shares, strict=True) if not isnan(share)}
        return Relation(label, confidence, given, by, reason)

    def keep(self, key: bytes, told: Relation) -> None:
        """Keep an answer; where there are too many, all others are forgotten first."""
        with self._lock:
            if self._count >= MOST:
                self._clear(_LEAST)
            elif 3 * (self._count + 1) > 2 * len(self._kind):
                self._grow()
            place, is_there = self._place(key)
            kind = (told.label, told.by, told.reason)
            if kind not in self._kinds:
                self._kinds.append(kind)
            self._keys[place] = np.frombuffer(key, np.uint64)
            self._numbers[place] = [told.confidence, *(told.probabilities.get(each, np.nan) for each in LABELS)]
            self._kind[place] = self._kinds.index(kind) + 1
            self._count += not is_there

    def _place(self, key: bytes) -> tuple[int, bool]:
        """Where an answer is, or would be."""
        wanted = np.frombuffer(key, np.uint64)
        mask = len(self._kind) - 1
        place = int(wanted[0]) & mask
        while self._kind[place] != _EMPTY:
            if (self._keys[place] == wanted).all():
                return place, True
            place = (place + 1) & mask
        return place, False

    def _grow(self) -> None:
        used = np.flatnonzero(self._kind)
        keys, numbers, kind = self._keys[used], self._numbers[used], self._kind[used]
        self._clear(2 * len(self._kind))
        for nr, key in enumerate(keys):
            place, _ = self._place(key.tobytes())
            self._keys[place], self._numbers[place], self._kind[place] = key, numbers[nr], kind[nr]
        self._count = len(used)


def remembered(
    reader: Relate, pairs: Sequence[tuple[Told, Told]], give_way: Callable[[], None] = lambda: None
) -> list[Relation]:
    """Ask a model, but for what it answered before; on one thread, so that the other core is left to people.

    Args:
        reader: the model.
        pairs: (said first, said later).
        give_way: called before every few pairs that are read anew.

    Returns:
        One relation for each.

    Raises:
        LociError: what the model said; what was read before is kept.
    """
    answers = _answers_of(reader)
    keys = [_key(first, second) for first, second in pairs]
    found = [answers.find(key) for key in keys]
    asked = reader.alone if isinstance(reader, RelationModel) else reader
    new = [place for place, relation in enumerate(found) if relation is None]
    for at in range(0, len(new), AT_ONCE):
        places = new[at : at + AT_ONCE]
        give_way()
        for place, relation in zip(places, asked.classify([pairs[place] for place in places]), strict=True):
            found[place] = relation
            answers.keep(keys[place], relation)
    return [relation for relation in found if relation is not None]


def _answers_of(reader: Relate) -> Answers:
    name = id(reader)
    with _lock:
        if name not in _known:
            _known[name] = Answers()
            finalize(reader, _known.pop, name, None)  # before another object can have the same id
        return _known[name]


def _key(first: Told, second: Told) -> bytes:
    return blake2b(repr((first, second)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
