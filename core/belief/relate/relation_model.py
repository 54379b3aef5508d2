"""How a candidate relates to stored memories: by the relation model, with what rules know for certain.

Must not do: act on what it says (`core.intake` does), know the vault, or run the model (`core.belief.relate.pair_model`
does).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.belief.relate.distinctions import are_in_series, has_contradiction
from core.belief.relate.features import PreparedText, load_vocabulary, prepare_text
from core.belief.relate.pair_model import ModelCard, PairModel, PairOutput, Runtime
from core.text.terms import fold_case, fold_width
from core.types.belief import ACTED_ON, BY_MEANING, LABELS, ComparedText, Label, Relation

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


class RelationModel(PairModel):
    """Classifies pairs of memories, by rule where that is certain.

    A pair's answer depends on its two texts and their claims alone.
    """

    @cached_property
    def alone(self) -> RelationModel:
        """The same model on the thread of the caller alone, loaded when it is asked: for work that nobody waits for."""
        # Its lock is taken before this model's, never after.
        return RelationModel(self._folder, load=lambda: Runtime(self._folder, threads=1, beside=self._load_once()))

    def rest(self) -> None:
        """Let go of what `alone` loaded; who is using it goes on, and who asks again loads it again."""
        with suppress(AttributeError):
            del self.alone

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
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
        runtime = self._load_once()
        # A newcomer is usually compared with several memories: each text is made ready once.
        sides = {text: prepare_text(text) for text in dict.fromkeys(side.text for pair in asked for side in pair)}
        rows = iter(runtime.relate([(sides[existing.text], sides[incoming.text]) for existing, incoming in asked]))
        return tuple(
            relation if relation is not None else _by_model(runtime.card, next(rows), pair, sides)
            for relation, pair in zip(found, pairs, strict=True)
        )


def probabilities(
    logits: NDArray[np.float64], temperature: float, sure_at: Mapping[Label, float]
) -> NDArray[np.float64]:
    """Calibrated probabilities of one pair.

    The softmax at one temperature; then the winner's share is bent so that `sure_at` of its label becomes ACTED_ON,
    and the others share the rest as before. Shares of 0.5 and less stay, so the winner stays the winner. Both are
    fitted on held-back pairs so that a SUPERSEDE or MERGE that is acted on is right 19 times in 20 (design section 4;
    `packaging/training/relation_model/train_relations.py`).

    Args:
        logits: shape (4,), finite.
        temperature: above 0.
        sure_at: by winning label, above 0.5 and below 1.

    Returns:
        Shape (4,), each 0 to 1, summing to 1.
    """
    scaled = np.exp((logits - logits.max()) / temperature)
    shares = scaled / scaled.sum()
    winner = int(np.argmax(shares))
    before = float(shares[winner])
    if before <= 0.5:
        return np.asarray(shares, np.float64)
    after = float(np.interp(before, (0.5, sure_at[LABELS[winner]], 1.0), (0.5, ACTED_ON, 1.0)))
    rest = shares.sum() - before
    bent = shares * ((1 - after) / rest if rest > 0 else 0.0)
    bent[winner] = after if rest > 0 else 1.0
    return np.asarray(bent, np.float64)


def relate_by_rule(existing: ComparedText, incoming: ComparedText) -> Relation | None:
    """What is certain without the model: the same text, or two of a numbered series."""
    if is_same_text(existing.text, incoming.text):
        return certain_relation(Label.DUPLICATE, IDENTICAL)
    if are_in_series(existing.text, incoming.text) and not has_contradiction(existing.claims, incoming.claims):
        return certain_relation(Label.COEXIST, NUMBERED)
    return None


def certain_relation(label: Label, reason: str) -> Relation:
    """A relation that rules know for certain."""
    return Relation(label, 1.0, {each: float(each is label) for each in LABELS}, "rules", reason)


def is_same_text(existing: str, incoming: str) -> bool:
    """Whether two texts are one but for case, blanks, letter forms and a full stop at the end.

    The whole texts are compared, however long.
    """
    return _fold_text(existing) == _fold_text(incoming)


def _by_model(
    card: ModelCard,
    output: PairOutput,
    pair: tuple[ComparedText, ComparedText],
    sides: Mapping[str, PreparedText],
) -> Relation:
    shares = probabilities(output.logits, card.temperature, card.sure_at)
    best = int(np.argmax(shares))
    existing, incoming = pair
    reason = BY_MEANING
    if LABELS[best] is Label.SUPERSEDE:
        reason = _why_replaced(existing, incoming, sides[existing.text], sides[incoming.text])
    given = {label: float(share) for label, share in zip(LABELS, shares, strict=True)}
    return Relation(LABELS[best], given[LABELS[best]], given, "builtin", reason, output.ends)


def _fold_text(text: str) -> str:
    return " ".join(fold_case(fold_width(text)).split()).rstrip(". ")


def _why_replaced(existing: ComparedText, incoming: ComparedText, old: PreparedText, new: PreparedText) -> str:
    """The plainest sign that one text replaces the other."""
    if has_contradiction(existing.claims, incoming.claims):
        return CLAIMS_AT_ODDS
    if _is_only_negated(old, new):
        return NEGATED
    before, after = old.forms, new.forms
    changed = [i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b]
    if len(before) != len(after) or len(changed) != 1:
        return BY_MEANING
    pair = tuple([word for word in side.words if not word.continues][changed[0]] for side in (old, new))
    if all(word.form in load_vocabulary()["dates"] for word in pair):
        return DATE_CHANGED
    if all(word.number for word in pair):
        return NUMBER_CHANGED
    return NAME_CHANGED if all(word.name for word in pair) else VALUE_CHANGED


def _is_only_negated(old: PreparedText, new: PreparedText) -> bool:
    """Whether the words are the same but for a negation and its helper."""
    return _forms_without_negation(old) == _forms_without_negation(new) and old.negations != new.negations


def _forms_without_negation(side: PreparedText) -> tuple[str, ...]:
    """The word forms of a side without negations and their helpers."""
    lists = load_vocabulary()
    return tuple(form.removesuffix("s") for form in side.forms if form not in lists["negations"] | lists["helpers"])
