"""What a relation model said of two texts, kept while the vault is open.

A preview, the run behind it and the next night ask about the same pairs, and nine tenths of a plan is the model. Kept
are digests of what was asked and the answers, no text; all of it goes with the model, which goes with the vault. Must
not do: change an answer, or outlive its model.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from hashlib import blake2b
from weakref import finalize

from core.intake.reading import Relate
from core.types.belief import Relation, Told

MOST = 200_000
"""So many answers are kept; beyond it all are forgotten and asked anew. Some 60 MB."""
_DIGEST = 16

Answers = dict[bytes, Relation]
_known: dict[int, Answers] = {}
_lock = threading.Lock()  # guards the outer mapping: two vaults may be open in one process


def remembered(reader: Relate, pairs: Sequence[tuple[Told, Told]]) -> list[Relation]:
    """Ask a model, but for what it answered before.

    Args:
        reader: the model.
        pairs: (said first, said later).

    Returns:
        One relation for each.

    Raises:
        LociError: what the model said; nothing is kept of that call.
    """
    answers = _answers_of(reader)
    keys = [_key(first, second) for first, second in pairs]
    new = [place for place, key in enumerate(keys) if key not in answers]
    read = dict(zip(new, reader.classify([pairs[place] for place in new]), strict=True)) if new else {}
    found = [read[place] if place in read else answers[key] for place, key in enumerate(keys)]
    if len(answers) + len(new) > MOST:
        answers.clear()
    answers.update((keys[place], relation) for place, relation in read.items())
    return found


def _answers_of(reader: Relate) -> Answers:
    name = id(reader)
    with _lock:
        if name not in _known:
            _known[name] = {}
            finalize(reader, _known.pop, name, None)  # before another object can have the same id
        return _known[name]


def _key(first: Told, second: Told) -> bytes:
    return blake2b(repr((first, second)).encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
