"""The first look: what it sees, what it settles without the reader, and that what ships of it is whole."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.errors import Code, LociError
from core.talk.first_look import FILE, MOST_TOKENS, SHAPES, SIGNS, FirstLook, look_at
from core.talk.reader_features import FRAME, OTHER, OWN, WORD, SentenceFeatures
from core.talk.reader_model import ReaderModel, reader_folder
from core.types.talk import Assertion, SentenceInContext, StatementType

WIDTH, NARROW, JOINED, HIDDEN = 4, 3, 5, 2
LIMITS = {"told_from": 0.1, "worthy_from": 0.3}
ALLERGY = SentenceInContext("I'm allergic to shellfish.")
GREETING = SentenceInContext("Wow, that is so lovely, have a great evening!")


def make_weights(seed: int = 1) -> dict[str, NDArray[np.float32]]:
    """A net of the right shapes."""
    dice = np.random.default_rng(seed)
    sizes = [
        (WIDTH + 1, NARROW), (NARROW,), (3 * NARROW, JOINED), (JOINED,), (2 * JOINED + SIGNS, HIDDEN), (HIDDEN,),
        (HIDDEN, 2), (2,),
    ]  # fmt: skip
    return {name: dice.normal(size=size).astype(np.float32) for name, size in zip(SHAPES, sizes, strict=True)}


def features_of(words: int, *around: int) -> SentenceFeatures:
    """A sentence of so many words, with tokens of these kinds behind it."""
    kinds = np.array([FRAME, *[WORD] * words, FRAME, *around], np.int64)
    return SentenceFeatures(np.arange(len(kinds)), kinds, tuple((nr, nr + 1) for nr in range(words)))


def _layer(row: Any, matrix: NDArray[np.float32], biases: NDArray[np.float32]) -> list[float]:
    return [
        max(0.0, sum(float(x) * float(w) for x, w in zip(row, column, strict=True)) + float(bias))
        for column, bias in zip(matrix.T, biases, strict=True)
    ]


def weigh_plainly(weights: dict[str, NDArray[np.float32]], tokens: Any, signs: Any) -> list[float]:
    """The same as the net, a number at a time."""
    edge = [0.0] * NARROW
    rows = [edge, *(_layer(token, weights["project"], weights["project_bias"]) for token in tokens), edge]
    wide = [
        _layer([*rows[nr], *rows[nr + 1], *rows[nr + 2]], weights["join"], weights["join_bias"])
        for nr in range(len(tokens))
    ]
    columns = list(zip(*wide, strict=True))
    pooled = [*map(max, columns), *(sum(column) / 10 for column in columns), *map(float, signs)]
    hidden = np.maximum(np.array(pooled) @ weights["head"] + weights["head_bias"], 0)
    return [float(1 / (1 + np.exp(-one))) for one in hidden @ weights["out"] + weights["out_bias"]]


@given(st.integers(0, 1_000), st.sampled_from((0, 1, 2, 5, MOST_TOKENS + 9)))
def test_the_net_is_what_its_formula_says(seed: int, words: int) -> None:
    weights, dice = make_weights(seed), np.random.default_rng(seed)
    row = features_of(words)
    seen = look_at(SentenceInContext("x"), row, dice.normal(size=(len(row.ids), WIDTH)).astype(np.float32))
    assert seen[0].shape == (max(1, min(words, MOST_TOKENS)), WIDTH + 1)
    assert np.allclose(FirstLook(weights, 0.1, 0.3).weigh(seen), weigh_plainly(weights, *seen), atol=1e-4)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 1_000))
def test_only_what_lies_below_the_limit_is_settled(told_from: float, worthy_from: float, seed: int) -> None:
    row = features_of(3)
    dice = np.random.default_rng(seed)
    seen = look_at(SentenceInContext("x"), row, dice.normal(size=(len(row.ids), WIDTH)).astype(np.float32))
    look = FirstLook(make_weights(seed), told_from, worthy_from)
    told, states = look.weigh(seen)
    settled = look.settle(seen)
    assert (settled is None) == (told >= told_from)
    if settled is not None:
        assert (settled.type, settled.assertion) == (StatementType.NONE, Assertion.NONE)
        assert settled.statement == (states if states >= worthy_from else 0.0)


@pytest.mark.parametrize(
    ("before", "kinds", "signs"),
    [
        ((), (), (0, 0, 0)),
        (("Mara: Is it so?",), (OTHER, FRAME), (1, 0, 1)),
        (("Mara: It is so.",), (OTHER, FRAME), (0, 0, 1)),
        (("Mara: Is it so?", "Well."), (OTHER, FRAME, OWN, FRAME), (0, 1, 1)),
        (("Is it so?",), (OWN, FRAME), (0, 1, 0)),
    ],
)
def test_an_answer_is_told_from_what_goes_on(
    before: tuple[str, ...], kinds: tuple[int, ...], signs: tuple[int, ...]
) -> None:
    row = features_of(2, *kinds)
    _, seen = look_at(SentenceInContext("Two, both!", before), row, np.zeros((len(row.ids), WIDTH), np.float32))
    assert tuple(seen[:3]) == signs
    assert tuple(seen[3:]) == (1, np.float32(0.1))


def test_a_file_that_is_none_is_refused() -> None:
    packed = io.BytesIO()
    some: Any = {name: one for name, one in make_weights().items() if name != "out"}
    np.savez(packed, **some)
    with pytest.raises(ValueError, match="first look"):
        FirstLook.open(packed.getvalue(), LIMITS)
    with pytest.raises(ValueError, match=r".+"):
        FirstLook.open(b"no weights", LIMITS)


def test_what_is_surely_not_told_is_not_read_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = ReaderModel()
    closely = reader.read_closely([ALLERGY])
    assert reader.read([ALLERGY]) == closely
    monkeypatch.setattr("core.talk.reader_model._run_reader_model", lambda *_: pytest.fail("it was read closely"))
    (settled,) = reader.read([GREETING])
    assert settled.type is StatementType.NONE


def test_the_figures_of_what_ships_are_good() -> None:
    look = json.loads(reader_folder().joinpath("manifest.json").read_text("utf-8"))["first_look"]
    assert look["held_out"]["told_recall"] >= 0.98
    assert look["held_out"]["spared"] >= 0.2


@pytest.mark.parametrize("change", [{"told_from": 2}, {"worthy_from": None}])
def test_limits_that_are_none_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    folder = Path(shutil.copytree(str(reader_folder()), tmp_path / "reader"))
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["first_look"] |= change
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(LociError) as caught:
        _ = ReaderModel(folder).card
    assert caught.value.code is Code.EMBEDDER_UNAVAILABLE


def test_without_a_first_look_every_sentence_is_read(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(str(reader_folder()), tmp_path / "reader"))
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    del manifest["first_look"]
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (folder / FILE).unlink()
    reader = ReaderModel(folder)
    assert reader.read([GREETING, ALLERGY]) == reader.read_closely([GREETING, ALLERGY])
