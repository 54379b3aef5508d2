"""Answers of a relation model are kept for as long as the model, and no longer."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import numpy as np
import pytest

from core.errors import Code, EnvironmentFaultError
from core.lifecycle.consolidate import pairs as relation_cache
from core.lifecycle.consolidate.pairs import cached_relations
from core.types.belief import LABELS, ComparedText, Label, Relation


class Model:
    """Counts what it is asked; likeness by length."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.is_away = False

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        if self.is_away:
            raise EnvironmentFaultError(Code.EMBEDDER_UNAVAILABLE, "The model is away.")
        self.asked += [(first.text, second.text) for first, second in pairs]
        labels = [Label.DUPLICATE if len(a.text) == len(b.text) else Label.COEXIST for a, b in pairs]
        return tuple(Relation(label, 0.9, {label: 0.9}, "builtin") for label in labels)


PAIRS = [
    (ComparedText("tea", 1), ComparedText("two", 2)),
    (ComparedText("tea", 1), ComparedText("coffee", 2)),
    (ComparedText("tea", 3), ComparedText("two", 2)),
]


def test_the_same_pair_is_read_once_and_another_time_is_another_pair() -> None:
    model = Model()
    first = cached_relations(model, PAIRS)
    assert [one.label for one in first] == [Label.DUPLICATE, Label.COEXIST, Label.DUPLICATE]
    assert len(model.asked) == 3
    again = cached_relations(model, [*reversed(PAIRS), (ComparedText("new", 1), ComparedText("text", 1))])
    assert [one.label for one in again] == [Label.DUPLICATE, Label.COEXIST, Label.DUPLICATE, Label.COEXIST]
    assert model.asked[3:] == [("new", "text")]
    # The other way round it is another question.
    cached_relations(model, [(PAIRS[0][1], PAIRS[0][0])])
    assert len(model.asked) == 5


def test_what_failed_is_asked_again() -> None:
    model = Model()
    model.is_away = True
    with pytest.raises(EnvironmentFaultError):
        cached_relations(model, PAIRS)
    model.is_away = False
    assert len(cached_relations(model, PAIRS)) == 3


def test_beyond_the_bound_all_are_asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relation_cache, "MOST", 3)
    model = Model()
    cached_relations(model, PAIRS)
    cached_relations(model, [(ComparedText("one more", 1), ComparedText("pair", 1))])
    assert len(cached_relations(model, PAIRS)) == 3
    assert len(model.asked) == 7


def test_answers_go_with_their_model() -> None:
    gc.collect()
    before = len(relation_cache._known)
    model = Model()
    cached_relations(model, PAIRS)
    assert len(relation_cache._known) == before + 1
    del model
    gc.collect()
    assert len(relation_cache._known) == before


@pytest.mark.slow
def test_thousands_of_answers_come_back_as_they_were_given() -> None:
    answers = relation_cache.RelationCache()
    dice = np.random.default_rng(3)
    given: dict[bytes, Relation] = {}
    for nr in range(3000):
        shares = dict(zip(LABELS, dice.dirichlet(np.ones(4)).tolist(), strict=True))
        label = max(shares, key=lambda one: shares[one])
        # Some hundreds begin in the same place of the table.
        key = (nr % 7 if nr < 400 else nr).to_bytes(8, "little") + nr.to_bytes(8, "little")
        given[key] = Relation(label, shares[label], shares, "builtin", ("number_changed", "negated")[nr % 2])
        answers.keep_relation(key, given[key])
    assert len(answers) == 3000
    assert all(answers.find_relation(key) == told for key, told in given.items())
    assert answers.find_relation(b"x" * 16) is None
    assert answers._numbers.nbytes + answers._keys.nbytes + answers._kind.nbytes < 200 * 3000


def test_before_every_few_that_are_read_anew_others_go_first() -> None:
    model, waits = Model(), list[int]()
    many = [(ComparedText("a" * nr, 1), ComparedText("b", 2)) for nr in range(10)]
    cached_relations(model, many, lambda: waits.append(len(model.asked)))
    assert waits == [0, 4, 8]
    cached_relations(model, many, lambda: waits.append(len(model.asked)))
    assert len(waits) == 3
