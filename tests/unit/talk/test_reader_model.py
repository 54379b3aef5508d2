"""The reader model that ships: it loads when asked, reads each sentence by itself, and refuses what was exchanged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from core.belief.extract.claim_model import ClaimModel
from core.errors import Code, EnvironmentFaultError
from core.talk.reader_model import ReaderModel, reader_folder
from core.types.talk import Assertion, SentenceInContext, StatementType

SIBLINGS = SentenceInContext("Two, both older.", ("Mara: Do you have siblings, actually?",))
GREETING = SentenceInContext("Good morning!")
ALLERGY = SentenceInContext("I'm allergic to shellfish.")
QUESTION = SentenceInContext("Is your sister still living in Leith?")


@pytest.fixture(scope="module")
def reader() -> ReaderModel:
    return ReaderModel()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    folder = tmp_path / "reader"
    shutil.copytree(str(reader_folder()), folder)
    return folder


def test_a_statement_is_told_from_a_greeting_and_a_question(reader: ReaderModel) -> None:
    allergy, greeting, question = reader.read_closely([ALLERGY, GREETING, QUESTION])

    assert (allergy.type, allergy.assertion) == (StatementType.HEALTH, Assertion.YES)
    assert allergy.statement > 0.6
    assert greeting.statement < 0.2
    assert question.assertion is Assertion.QUESTION
    assert question.statement < 0.2


def test_the_question_before_makes_an_answer_a_statement(reader: ReaderModel) -> None:
    answered, alone = reader.read_closely([SIBLINGS, SentenceInContext(SIBLINGS.text)])

    assert answered.type is StatementType.RELATIONSHIP
    assert answered.statement > alone.statement


def test_spans_are_words_of_the_sentence(reader: ReaderModel) -> None:
    text = "My sister Wren has lived in Leith since 2019."
    (reading,) = reader.read([SentenceInContext(text)])
    words = {name: text[start:end] for name, (start, end) in reading.spans.items()}

    assert "Wren" in words["subject"]
    assert "Leith" in words["value"]
    assert "2019" in words["time"]


def test_a_sentence_is_read_the_same_in_any_company(reader: ReaderModel) -> None:
    alone = reader.read([SIBLINGS])[0]

    assert reader.read([GREETING, SIBLINGS, ALLERGY])[1] == alone
    assert reader.read([]) == ()


def test_after_a_rest_it_reads_again(reader: ReaderModel) -> None:
    before = reader.read([ALLERGY])
    reader.rest()

    assert reader.read([ALLERGY]) == before


def test_models_read_by_one_table_of_words() -> None:
    reader, claims = ReaderModel(), ClaimModel()
    first, _ = reader._session.load(reader.card.manifest)
    second, _ = claims._session.load(claims.card.manifest)
    assert first is second


def test_an_exchanged_model_is_refused(copied: Path) -> None:
    model = copied / "model.onnx"
    model.write_bytes(model.read_bytes()[:-1] + b"x")

    with pytest.raises(EnvironmentFaultError, match="not the file that was shipped") as caught:
        ReaderModel(copied).read([ALLERGY])
    assert caught.value.code is Code.EMBEDDER_UNAVAILABLE


@pytest.mark.parametrize("name", ["temperatures", "shared", "files", "types"])
def test_a_manifest_that_lacks_a_part_is_refused(copied: Path, name: str) -> None:
    path = copied / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    del manifest[name]
    path.write_text(json.dumps(manifest), "utf-8")

    with pytest.raises(EnvironmentFaultError, match="manifest is missing or unreadable"):
        _ = ReaderModel(copied).card


def test_a_missing_model_is_one_sentence(copied: Path) -> None:
    (copied / "model.onnx").unlink()

    with pytest.raises(EnvironmentFaultError, match=r"model.onnx is missing; reinstall Loci\.") as caught:
        ReaderModel(copied).read([ALLERGY])
    assert caught.value.code is Code.EMBEDDER_UNAVAILABLE


def test_the_card_s_version_is_that_of_the_manifest(copied: Path) -> None:
    version = ReaderModel(copied).card.version
    path = copied / "manifest.json"
    path.write_text(path.read_text("utf-8") + "\n", "utf-8")

    assert len(version) == 16
    assert ReaderModel(copied).card.version != version


def test_the_model_is_no_larger_than_agreed() -> None:
    size = sum(len(reader_folder().joinpath(name).read_bytes()) for name in ("model.onnx", "manifest.json"))

    assert size <= 15_000_000
