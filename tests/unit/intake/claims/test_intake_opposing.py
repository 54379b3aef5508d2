"""What cannot be true together takes from each other's confidence, for as long as neither has given way."""

from __future__ import annotations

from typing import Any

import pytest
from engine_rig import Rig

from core.belief.claims import RIVAL
from core.types.reviews import Decision
from core.types.values import Action, Actor, Source


@pytest.fixture
def pair(rig: Rig) -> tuple[Actor, Actor]:
    """Two clients of one standing."""
    return rig.client("aster", "read", "write", "space:home"), rig.client("briar", "read", "write", "space:home")


def lives(value: str, **more: Any) -> dict[str, Any]:
    """A given claim of where Ada lives."""
    return {"subject": "Ada", "predicate": "lives_in", "value": value, "exclusive": True} | more


def sure(rig: Rig) -> dict[str, float]:
    """The confidence of each claim by its value."""
    return {value: round(float(found), 6) for value, found in rig.rows("SELECT value, confidence FROM claims")}


def tell(rig: Rig, who: Actor, value: str, **more: Any) -> Any:
    """A client says where Ada lives."""
    return rig.store(f"Ada lives in {value}", who, space="home", source=Source.TOOL_OUTPUT, claim=lives(value, **more))


def test_two_equals_that_disagree_take_from_each_other_until_it_is_decided(rig: Rig, pair: tuple[Actor, Actor]) -> None:
    tell(rig, pair[0], "Graz")
    alone = sure(rig)["Graz"]
    before = rig.dump()["claims"]
    told = tell(rig, pair[1], "Linz")
    assert told.conflict is not None
    assert sure(rig) == {"Graz": pytest.approx(alone / 2), "Linz": pytest.approx(alone / 2)}
    rig.engine.conflicts.resolve(told.conflict, Decision(Action.REJECT)).result(30)
    assert sure(rig)["Graz"] >= alone, "what was rejected speaks against nothing"
    rig.undo()
    assert sure(rig) == {"Graz": pytest.approx(alone / 2), "Linz": pytest.approx(alone / 2)}
    rig.undo()
    assert sure(rig) == {"Graz": alone}, "what was never said speaks against nothing"
    assert rig.dump()["claims"] == before


def test_it_is_shown_by_whose_words(rig: Rig, pair: tuple[Actor, Actor]) -> None:
    first = tell(rig, pair[0], "Graz").memory_id
    second = tell(rig, pair[1], "Linz").memory_id
    for memory_id, other in ((first, second), (second, first)):
        (claim,) = rig.engine.memories.explain_trust(memory_id).result(30).claims
        assert [(one.memory_id, one.stance) for one in claim.evidence] == [
            (memory_id, "supporting"),
            (other, "contradicting"),
        ]
        assert (claim.seen.against, claim.pieces) == (1, 2)


def test_what_waits_takes_nothing(rig: Rig, pair: tuple[Actor, Actor]) -> None:
    rig.store("Ada lives in Graz", space="home", claim=lives("Graz"))
    alone = sure(rig)["Graz"]
    first, second = (tell(rig, who, "Linz") for who in pair)
    assert (first.operation, second.operation) == ("QUARANTINE", "QUARANTINE")
    assert first.conflict is not None
    assert second.conflict is None, "the question is the other's, and not for it to see"
    assert sure(rig)["Graz"] == alone, "nobody lowers what the person said by asking"


@pytest.mark.parametrize(
    ("more", "opposes"),
    [
        ({}, True),
        ({"predicate": "works_at"}, False),
        ({"subject": "Bea"}, False),
        ({"qualifiers": {"when": "in summer"}}, False),
    ],
)
def test_only_what_cannot_be_true_together(
    rig: Rig, pair: tuple[Actor, Actor], more: dict[str, Any], opposes: bool
) -> None:
    tell(rig, pair[0], "Graz")
    alone = sure(rig)["Graz"]
    tell(rig, pair[1], "Linz", **more)
    graz = str(rig.value("SELECT id FROM claims WHERE value = 'Graz'"))
    assert bool(rig.rows(f"{RIVAL} WHERE c.id = '{graz}'")) is opposes
    assert (sure(rig)["Graz"] < alone) is opposes


def test_the_same_with_the_other_sign_opposes(rig: Rig, pair: tuple[Actor, Actor]) -> None:
    tell(rig, pair[0], "Graz")
    alone = sure(rig)["Graz"]
    rig.store(
        "Ada does not live in Graz", pair[1], space="home", source=Source.TOOL_OUTPUT,
        claim=lives("Graz", polarity="negative"),
    )  # fmt: skip
    assert all(found == pytest.approx(alone / 2) for found in [sure(rig)["Graz"]])
