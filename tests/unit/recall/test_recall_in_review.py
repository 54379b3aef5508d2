"""Of two memories of which the person is asked whether the later replaced the earlier, who answers meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from belief_rig import item
from engine_rig import HandClock, Rig, rig_at

from core.types.values import OWNER_ACTOR, Actor, Source

DAY = 86_400_000
FIRST, SECOND = "The spare key is with the Haverkamps", "The spare key is with Okonjo since they moved"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """An open engine that asks nothing by itself."""
    with rig_at(tmp_path) as made:
        yield made


def asked(rig: Rig, sources: tuple[Source, Source], share: float, **more: Any) -> list[str]:
    """Two memories, a question of them, and who answers: 1 the earlier, 2 the later."""
    client: Actor = more.pop("client", OWNER_ACTOR)
    first = rig.store(FIRST, source=sources[0], space="home").memory_id
    assert isinstance(rig.clock, HandClock)
    rig.clock.at_ms += DAY
    second = rig.store(SECOND, client, source=sources[1], space="home").memory_id
    made = item(rig, second, first, "classification")
    trust = [rig.get(first).trust, rig.get(second).trust]
    detail = {"probabilities": {"SUPERSEDE": share, "COEXIST": 1 - share}, "cosine": 0.6, "trust": trust}
    changes = {"detail": json.dumps(detail), "suggestion": more.pop("suggestion", "supersede")}
    rig.write(lambda tx: tx.update("conflicts", {"id": made}, changes))
    return ["12"[text == SECOND] for text in rig.found("who has the spare key", limit=5)]


@pytest.mark.parametrize(
    ("sources", "share", "answers"),
    [
        ((Source.USER_EXPLICIT, Source.USER_EXPLICIT), 0.6, ["2"]),
        ((Source.USER_IMPLICIT, Source.USER_EXPLICIT), 0.6, ["2"]),
        ((Source.USER_IMPLICIT, Source.USER_IMPLICIT), 0.6, ["2"]),
        ((Source.USER_EXPLICIT, Source.USER_IMPLICIT), 0.5, ["2"]),
        ((Source.USER_EXPLICIT, Source.USER_IMPLICIT), 0.49, ["1", "2"]),
        ((Source.DOCUMENT, Source.USER_EXPLICIT), 0.5, ["2"]),
        ((Source.DOCUMENT, Source.USER_EXPLICIT), 0.49, ["1", "2"]),
        ((Source.DOCUMENT, Source.USER_IMPLICIT), 0.79, ["1", "2"]),
        ((Source.TOOL_OUTPUT, Source.USER_IMPLICIT), 0.79, ["1", "2"]),
        ((Source.INFERENCE, Source.USER_IMPLICIT), 0.6, ["2"]),
        ((Source.TOOL_OUTPUT, Source.TOOL_OUTPUT), 0.6, ["2"]),
        ((Source.TOOL_OUTPUT, Source.DOCUMENT), 0.79, ["1", "2"]),
    ],
)
def test_whose_word_it_is_decides_who_speaks_meanwhile(
    rig: Rig, sources: tuple[Source, Source], share: float, answers: list[str]
) -> None:
    assert sorted(asked(rig, sources, share)) == answers


@pytest.mark.parametrize("sources", [(Source.USER_EXPLICIT, Source.TOOL_OUTPUT), (Source.USER_IMPLICIT, Source.SYSTEM)])
def test_what_counts_for_less_than_the_persons_word_waits_while_it_is_asked_about(
    rig: Rig, sources: tuple[Source, Source]
) -> None:
    mine = [text.replace("The spare key", "My spare key") for text in (FIRST, SECOND)]
    first, second = (rig.store(text, source=source, space="home") for text, source in zip(mine, sources, strict=True))
    assert (second.operation, rig.get(first.memory_id).status) == ("QUARANTINE", "active")
    assert rig.found("who has the spare key", limit=5) == mine[:1]


def test_no_client_takes_the_persons_word_out_of_an_answer(rig: Rig) -> None:
    client = rig.client("aster", "read", "write", "speak_for_user", "space:home")
    assert sorted(asked(rig, (Source.USER_EXPLICIT, Source.USER_EXPLICIT), 0.79, client=client)) == ["1", "2"]


@pytest.mark.parametrize("vouched", ["confirmed", "said", "spoken"])
def test_nor_what_passes_for_the_persons_word(rig: Rig, vouched: str) -> None:
    grants = ("read", "write", "space:home", *(("speak_for_user",) if vouched == "spoken" else ()))
    told = Source.USER_EXPLICIT if vouched == "spoken" else Source.TOOL_OUTPUT
    first = rig.store(FIRST, rig.client("aster", *grants), source=told, space="home").memory_id
    if vouched == "confirmed":
        rig.engine.memories.confirm(first, OWNER_ACTOR).result(30)
    elif vouched == "said":
        rig.store(FIRST, space="home")
    assert isinstance(rig.clock, HandClock)
    rig.clock.at_ms += DAY
    other = rig.client("briar", "read", "write", "space:home")
    second = rig.store(SECOND, other, source=Source.TOOL_OUTPUT, space="home").memory_id
    made = item(rig, second, first, "classification")
    detail = {"probabilities": {"SUPERSEDE": 0.79}, "cosine": 0.6, "trust": [0.9, 0.85]}
    rig.write(
        lambda tx: tx.update("conflicts", {"id": made}, {"detail": json.dumps(detail), "suggestion": "supersede"})
    )
    assert FIRST in rig.found("who has the spare key", limit=5)


def test_the_later_does_not_empty_an_answer_that_it_does_not_give(rig: Rig) -> None:
    first = rig.store("Hazelnuts are what I am allergic to", space="home").memory_id
    second = rig.store("Black coffee is nothing for me now", space="home").memory_id
    made = item(rig, second, first, "classification")
    detail = {"probabilities": {"SUPERSEDE": 0.79}, "cosine": 0.6, "trust": [1.0, 1.0]}
    rig.write(
        lambda tx: tx.update("conflicts", {"id": made}, {"detail": json.dumps(detail), "suggestion": "supersede"})
    )
    assert rig.found("which hazelnuts am I allergic to", limit=5) == ["Hazelnuts are what I am allergic to"]


@pytest.mark.parametrize(("share", "answers"), [(0.4, ["2"]), (0.39, ["1", "2"])])
def test_a_doubt_that_they_rather_stand_side_by_side(rig: Rig, share: float, answers: list[str]) -> None:
    sources = (Source.USER_EXPLICIT, Source.USER_EXPLICIT)
    assert sorted(asked(rig, sources, share, suggestion="keep_both")) == answers
