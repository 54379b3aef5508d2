"""How a newcomer relates to memories that stand: the shipped relation model, with what rules know for certain.

Must not do: act on what it says (that is `core.intake`), know the vault, or keep texts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from importlib.resources.abc import Traversable

import numpy as np
from numpy.typing import NDArray

from core.belief.relate.distinctions import are_in_series, has_contradiction
from core.belief.relate.features import PreparedText, prepare_text, vocabulary
from core.belief.relate.model_runtime import ModelCard, Runtime, probabilities, read_card, relation_folder
from core.text.terms import fold_case, fold_width
from core.types.belief import BY_MEANING, LABELS, Label, Relation, Told

IDENTICAL = "identical"
NUMBER_CHANGED = "number_changed"
DATE_CHANGED = "date_changed"
NAME_CHANGED = "name_changed"
VALUE_CHANGED = "value_changed"
NEGATED = "negated"
NUMBERED = "numbered"
CLAIMS_AT_ODDS = "claims_at_odds"
REASONS = (
    IDENTICAL,
    NUMBERED,
    NUMBER_CHANGED,
    DATE_CHANGED,
    NAME_CHANGED,
    VALUE_CHANGED,
    NEGATED,
    CLAIMS_AT_ODDS,
    BY_MEANING,
)
"""Every reason a relation may carry; keys of `resources/help/review.json`."""


class RelationModel:
    """Classifies pairs of memories; loads its files when the first pair comes.

    A pair's answer depends on its two texts and their claims alone: never on the other pairs of a call, their order
    or the calling thread. Reads 64 tokens of each side: of a longer text
    those where most words of the other side are, within its first 3,000 characters.
    """

    def __init__(self, folder: Traversable | None = None, *, threads: int = 2) -> None:
        """Make one; nothing is read yet.

        Args:
            folder: the folder with manifest.json, model.onnx and words.json; None for the bundled one.
            threads: processor threads, at least 1; with 2 or more, two pairs are run side by side.
        """
        self._folder = relation_folder() if folder is None else folder
        self._load: Callable[[], Runtime] = partial(Runtime, self._folder, threads=threads)
        self._lock = threading.Lock()  # guards _runtime; that of `alone` is taken before its model's, never after
        self._runtime: Runtime | None = None

    @property
    def card(self) -> ModelCard:
        """What the manifest says; `card.version` changes whenever a pair could get another answer.

        Raises:
            EnvironmentFaultError: E3001 if the manifest is missing or unreadable.
        """
        return read_card(self._folder)

    @cached_property
    def alone(self) -> RelationModel:
        """The same model on the thread of the caller alone, loaded when it is asked: for work that nobody waits for."""
        found = RelationModel(self._folder, threads=1)
        found._load = lambda: Runtime(self._folder, threads=1, beside=self._loaded())
        return found

    def rest(self) -> None:
        """Let go of what `alone` loaded; who is using it goes on, and who asks again loads it again."""
        with suppress(AttributeError):
            del self.alone

    def classify(self, pairs: Sequence[tuple[Told, Told]]) -> tuple[Relation, ...]:
        """Say of each pair how the newcomer relates to what stands.

        Args:
            pairs: (existing, incoming); any texts of any length.

        Returns:
            One relation a pair, in order.

        Raises:
            LociError: E3001 if the model cannot be loaded, E3002 if it gave no usable answer.
        """
        found = [relate_by_rule(existing, incoming) for existing, incoming in pairs]
        asked = [pair for pair, relation in zip(pairs, found, strict=True) if relation is None]
        if not asked:
            return tuple(relation for relation in found if relation is not None)
        runtime = self._loaded()
        # A newcomer is usually compared with several memories: each text is made ready once.
        sides = {text: prepare_text(text) for text in dict.fromkeys(told.text for pair in asked for told in pair)}
        rows = iter(runtime.logits([(sides[existing.text], sides[incoming.text]) for existing, incoming in asked]))
        return tuple(
            relation if relation is not None else _by_model(runtime.card, next(rows), pair, sides)
            for relation, pair in zip(found, pairs, strict=True)
        )

    def _loaded(self) -> Runtime:
        with self._lock:
            if self._runtime is None:
                self._runtime = self._load()
            return self._runtime


def relate_by_rule(existing: Told, incoming: Told) -> Relation | None:
    """What is certain without the model: the same text, or two of a numbered series."""
    if is_same_text(existing.text, incoming.text):
        return certain_relation(Label.DUPLICATE, IDENTICAL)
    if are_in_series(existing.text, incoming.text) and not has_contradiction(existing.claims, incoming.claims):
        return certain_relation(Label.COEXIST, NUMBERED)
    return None


def _by_model(
    card: ModelCard, logits: NDArray[np.float64], pair: tuple[Told, Told], sides: Mapping[str, PreparedText]
) -> Relation:
    shares = probabilities(logits, card.temperature, card.sure_at)
    best = int(np.argmax(shares))
    existing, incoming = pair
    reason = BY_MEANING
    if LABELS[best] is Label.SUPERSEDE:
        reason = _why_replaced(existing, incoming, sides[existing.text], sides[incoming.text])
    given = {label: float(share) for label, share in zip(LABELS, shares, strict=True)}
    return Relation(LABELS[best], given[LABELS[best]], given, "builtin", reason)


def certain_relation(label: Label, reason: str) -> Relation:
    """A relation that rules know for certain."""
    return Relation(label, 1.0, {each: float(each is label) for each in LABELS}, "rules", reason)


def is_same_text(existing: str, incoming: str) -> bool:
    """Whether two texts are one but for case, blanks, letter forms and a full stop at the end.

    The whole texts are compared, however long.
    """
    return _folded(existing) == _folded(incoming)


def _folded(text: str) -> str:
    return " ".join(fold_case(fold_width(text)).split()).rstrip(". ")


def _why_replaced(existing: Told, incoming: Told, old: PreparedText, new: PreparedText) -> str:
    """The plainest sign that one text replaces the other."""
    if has_contradiction(existing.claims, incoming.claims):
        return CLAIMS_AT_ODDS
    if _negated(old, new):
        return NEGATED
    before, after = old.forms, new.forms
    changed = [i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b]
    if len(before) != len(after) or len(changed) != 1:
        return BY_MEANING
    pair = tuple([word for word in side.words if not word.goes_on][changed[0]] for side in (old, new))
    if all(word.form in vocabulary()["dates"] for word in pair):
        return DATE_CHANGED
    if all(word.number for word in pair):
        return NUMBER_CHANGED
    return NAME_CHANGED if all(word.name for word in pair) else VALUE_CHANGED


def _negated(old: PreparedText, new: PreparedText) -> bool:
    """Whether the words are the same but for a negation and its helper."""
    return _bare(old) == _bare(new) and old.negations != new.negations


def _bare(side: PreparedText) -> tuple[str, ...]:
    lists = vocabulary()
    return tuple(form.removesuffix("s") for form in side.forms if form not in lists["negations"] | lists["helpers"])
