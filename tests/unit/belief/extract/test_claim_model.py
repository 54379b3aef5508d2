"""The claim model that ships: what it reads of plain sentences, and how it fails."""

from __future__ import annotations

import json
import shutil
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.belief.extract import claim_model
from core.belief.extract.claim_model import (
    ClaimModel,
    ClaimReading,
    ReadValue,
    claims_folder,
    count_logits,
    read_claim_marks,
)
from core.belief.extract.extraction import extract_claims
from core.belief.extract.frames import predicate_names
from core.errors import Code, LociError
from core.talk.reader_features import SentenceFeatures


@pytest.fixture(scope="module")
def model() -> ClaimModel:
    return ClaimModel()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(str(claims_folder()), tmp_path / "claims"))


def read_of(model: ClaimModel, text: str) -> set[tuple[str, str]]:
    return {(one.predicate, text[slice(*one.value)]) for one in model.read(text).values}


def test_words_no_rule_knows_are_read(model: ClaimModel) -> None:
    text = "Doctor put me on ramipril, one every morning."
    assert ("takes_medication", "ramipril") in read_of(model, text)
    assert ("takes_medication", "ramipril") in {(one.predicate, one.value) for one in extract_claims(text, model=model)}


def test_a_question_and_small_talk_claim_nothing(model: ClaimModel) -> None:
    for text in ("Do you think it will snow?", "Who rebooted db3?", "ok thanks, talk later"):
        assert extract_claims(text, model=model) == ()


def test_somebody_elses_claim_is_theirs(model: ClaimModel) -> None:
    text = "My brother Femi lives in Lagos."
    (one,) = (each for each in model.read(text).values if each.predicate == "lives_in")
    assert one.subject is not None
    assert text[slice(*one.subject)] == "Femi"


def test_after_a_rest_it_reads_again(model: ClaimModel) -> None:
    text = "I own a caravan."
    first = read_of(model, text)
    model.rest()
    assert read_of(model, text) == first


def test_a_sentence_that_was_just_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model, texts = ClaimModel(), [f"I own {nr} caravans." for nr in range(36)]
    first = [model.read(text).values for text in texts]
    asked: list[str] = []
    real = ClaimModel._read_anew

    def count(self: ClaimModel, sentence: str) -> ClaimReading:
        asked.append(sentence)
        return real(self, sentence)

    monkeypatch.setattr(ClaimModel, "_read_anew", count)
    assert [model.read(text).values for text in reversed(texts)] == first[::-1]
    assert asked == texts[3::-1]
    model.rest()
    assert model.read(texts[-1]).values == first[-1]
    assert asked[-1] == texts[-1]


def test_two_threads_that_ask_about_one_sentence_read_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, reads, both_asked = ClaimModel(), list[str](), threading.Event()
    real = ClaimModel._read_anew

    def hold(self: ClaimModel, sentence: str) -> ClaimReading:
        reads.append(sentence)
        assert both_asked.wait(30)
        return real(self, sentence)

    class Waiting(Future[ClaimReading]):
        def result(self, timeout: float | None = None) -> ClaimReading:
            both_asked.set()
            return super().result(timeout)

    monkeypatch.setattr(ClaimModel, "_read_anew", hold)
    monkeypatch.setattr(claim_model, "Future", Waiting)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(model.read, ["I own a caravan."] * 2))
    assert reads == ["I own a caravan."]
    assert found[0] is found[1]


def test_what_fails_for_one_thread_fails_for_who_waits_and_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model, reads, is_asked = ClaimModel(), list[str](), threading.Event()
    real = ClaimModel._read_anew

    def fail_first(self: ClaimModel, sentence: str) -> ClaimReading:
        reads.append(sentence)
        if len(reads) == 1:
            assert is_asked.wait(30)
            raise LociError(Code.EMBEDDING_FAILED, "no answer")
        return real(self, sentence)

    class Waiting(Future[ClaimReading]):
        def result(self, timeout: float | None = None) -> ClaimReading:
            is_asked.set()
            return super().result(timeout)

    monkeypatch.setattr(ClaimModel, "_read_anew", fail_first)
    monkeypatch.setattr(claim_model, "Future", Waiting)
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(model.read, "I own a caravan.") for _ in range(2)]
        errors = [one.exception(30) for one in asked]
    assert [type(one) for one in errors] == [LociError, LociError]
    assert model.read("I own a caravan.").values
    assert reads == ["I own a caravan."] * 2


def test_a_model_that_fails_leaves_the_rules_alone(copied: Path) -> None:
    (copied / "model.onnx").write_bytes(b"no model")
    broken = ClaimModel(copied)
    with pytest.raises(LociError) as caught:
        broken.read("I own a caravan.")
    assert caught.value.code is Code.EMBEDDER_UNAVAILABLE
    assert extract_claims("I own a caravan.", model=broken) == extract_claims("I own a caravan.")


@pytest.mark.parametrize("key", ["limits", "predicates", "shared", "files"])
def test_a_manifest_that_lacks_something_is_refused(copied: Path, key: str) -> None:
    path = copied / "manifest.json"
    manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
    del manifest[key]
    path.write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(LociError):
        _ = ClaimModel(copied).card


def test_a_model_of_another_vocabulary_is_refused(copied: Path) -> None:
    path = copied / "manifest.json"
    manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(manifest | {"predicates": manifest["predicates"][1:]}), "utf-8")
    with pytest.raises(LociError):
        _ = ClaimModel(copied).card


@given(
    st.lists(st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), min_size=1), max_size=6).flatmap(
        lambda words: st.tuples(
            st.just(words),
            arrays(np.float64, (len(words) + 2, count_logits()), elements=st.floats(-50, 50)),
        )
    )
)
def test_any_marks_are_values_within_the_sentence(case: tuple[list[str], Any]) -> None:
    words, marks = case
    text, offsets, at = " ".join(words), [], 0
    for word in words:
        offsets.append((at, at + len(word)))
        at += len(word) + 1
    features = SentenceFeatures(np.zeros(len(words) + 2, np.int64), np.zeros(len(words) + 2, np.int64), tuple(offsets))
    reading = read_claim_marks(marks, features, text)
    assert reading.shares.shape == (len(words), len(predicate_names()))
    for one in reading.values:
        assert 0 <= one.value[0] < one.value[1] <= len(text)
        assert 0.0 <= one.confidence <= 1.0
        assert one.predicate in predicate_names()
        assert 0.0 <= reading.backing(one.predicate, one.value) <= 1.0 + 1e-9


def test_what_a_name_at_the_beginning_does_is_not_said_of_the_speaker(model: ClaimModel) -> None:
    read = extract_claims("Oskar has come home for good and teaches at the flying school.", model=model)
    assert "user" not in {one.subject for one in read}


@pytest.mark.parametrize(
    ("text", "value", "kept"),
    [
        ("She works at the harbour office in the", (13, 38), "the harbour office"),
        ("He likes tea and", (9, 16), "tea"),
        ("He lives in Graz", (12, 16), "Graz"),
        ("Of", (0, 2), "Of"),
    ],
)
def test_a_value_ends_with_a_word_of_its_own(text: str, value: tuple[int, int], kept: str) -> None:
    start, end = claim_model._without_loose_end(text, value)
    assert text[start:end] == kept


class _Reading(ClaimModel):
    """Reads one value of one subject, whatever the sentence."""

    def __init__(self, predicate: str, subject: str, value: str) -> None:
        super().__init__()
        self._given = predicate, subject, value

    def read(self, sentence: str) -> ClaimReading:
        predicate, *parts = self._given
        subject, value = ((sentence.index(part), sentence.index(part) + len(part)) for part in parts)
        found = ReadValue(predicate, value, subject, is_denied=False, confidence=0.99)
        return ClaimReading((found,), np.zeros((0, len(predicate_names()))), ())


@pytest.mark.parametrize(
    ("subject", "value", "claims"),
    [
        ("Pump house status", "flooded", [("Pump house", "flooded")]),
        ("Pump house", "flooded", [("Pump house", "flooded")]),
        ("status", "flooded", [("status", "flooded")]),
        ("Pump house", "status", []),
    ],
)
def test_the_word_for_a_property_is_neither_of_its_subject_nor_its_value(
    subject: str, value: str, claims: list[tuple[str, str]]
) -> None:
    reading = _Reading("status_is", subject, value)
    found = extract_claims("Pump house status, they tell us, flooded again.", model=reading)
    assert [(one.subject, one.value) for one in found if one.predicate == "status_is"] == claims


@pytest.mark.parametrize(
    ("text", "given", "is_claimed"),
    [
        ("The council may extend the fair to 12 October.", ("deadline_is", "fair", "12 October"), False),
        ("Perhaps the fair drags on to 12 October.", ("deadline_is", "fair", "12 October"), False),
        ("As said in may the fair drags on to 12 October.", ("deadline_is", "fair", "12 October"), True),
        ("The fair drags on to 12 October, perhaps in the rain.", ("deadline_is", "fair", "12 October"), True),
        ("Tilda might take a liking to plums.", ("likes", "Tilda", "plums"), True),
        ("Everybody knows the wife Nora of Tilda.", ("partner_is", "Tilda", "Nora"), False),
        ("Everybody knows Nora who goes with Tilda.", ("partner_is", "Tilda", "Nora"), True),
    ],
)
def test_what_may_be_and_a_role_that_is_anybodys_are_no_claim_of_the_model(
    text: str, given: tuple[str, str, str], is_claimed: bool
) -> None:
    found = extract_claims(text, model=_Reading(*given))
    claims = {(one.predicate, one.subject, one.value) for one in found}
    assert (given in claims) is is_claimed
