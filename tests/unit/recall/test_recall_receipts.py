"""A receipt holds a recall from the inside, and its order can be computed again from it."""

from __future__ import annotations

import json

import pytest
from recall_rig import Note, Rig

from core.errors import Code, IntegrityError
from core.recall.receipt_codec import metrics_from_json, metrics_to_json, receipt_body, receipt_trace
from core.score.answer_quality import answer_metrics
from core.score.ranking import replay_answer, replay_ranking

TEXTS = (
    "Ada keeps bees in the garden", "The bees like lavender", "Ada drinks coffee", "The garden gate is green",
    "Honey from the bees of Ada", "A bee stung Ada in the garden",
)  # fmt: skip
QUERY = "who keeps bees in the garden?"


def test_the_order_of_a_recall_can_be_computed_again_from_its_receipt(rig: Rig) -> None:
    rig.add([Note(text) for text in TEXTS])
    result = rig.ask(QUERY)
    body = json.loads(json.dumps(receipt_body(result, QUERY)))
    trace = receipt_trace(body, QUERY)
    assert trace is not None
    assert replay_ranking(trace) == replay_ranking(result.trace)
    shown = [item.memory.id for item in result.items]
    assert [one for one, _ in replay_answer(trace)] == shown
    assert len(shown) > 1


def test_no_text_of_a_memory_or_question_is_in_it(rig: Rig) -> None:
    rig.add([Note(text) for text in TEXTS])
    text = json.dumps(receipt_body(rig.ask(QUERY), QUERY)).lower()
    assert not [word for word in ("bees", "garden", "lavender", "coffee") if word in text]


def test_figures_come_back(rig: Rig) -> None:
    rig.add([Note(text) for text in TEXTS])
    metrics = answer_metrics(rig.ask(QUERY).trace, tokens=3, took_ms=1.25)
    told = json.loads(json.dumps(metrics_to_json(metrics)))
    found = metrics_from_json(told)
    assert found is not None
    assert found.average_relevancy == pytest.approx(metrics.average_relevancy, abs=1e-6)
    assert metrics_from_json(None) is None
    assert metrics_from_json({"ndcg": 1.0}) is None


@pytest.mark.parametrize("packed", ["", "not base64", "AAAA", 3, "eJwDAAAAAAE="])
def test_a_damaged_receipt_is_said_to_be_one(packed: object) -> None:
    with pytest.raises(IntegrityError) as caught:
        receipt_trace({"trace": packed}, QUERY)
    assert caught.value.code is Code.VAULT_DAMAGED
