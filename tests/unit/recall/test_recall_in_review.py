"""Of two memories of which the person is asked whether the later replaced the earlier, who answers meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from belief_rig import item
from engine_rig import HandClock, Rig, rig_at

from core.types.values import OWNER_ACTOR, Actor
from core.types.words import Source

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
        ((Source.USER_EXPLICIT, Source.TOOL_OUTPUT), 0.79, ["1", "2"]),
        ((Source.USER_IMPLICIT, Source.SYSTEM), 0.79, ["1", "2"]),
    ],
)
def test_whose_word_it_is_decides_who_speaks_meanwhile(
    rig: Rig, sources: tuple[Source, Source], share: float, answers: list[str]
) -> None:
    assert sorted(asked(rig, sources, share)) == answers


def test_no_client_takes_the_persons_word_out_of_an_answer(rig: Rig) -> None:
    client = rig.client("aster", "read", "write", "speak_for_user", "space:home")
    assert sorted(asked(rig, (Source.USER_EXPLICIT, Source.USER_EXPLICIT), 0.79, client=client)) == ["1", "2"]


@pytest.mark.parametrize(("share", "answers"), [(0.4, ["2"]), (0.39, ["1", "2"])])
def test_a_doubt_that_they_rather_stand_side_by_side(rig: Rig, share: float, answers: list[str]) -> None:
    sources = (Source.USER_EXPLICIT, Source.USER_EXPLICIT)
    assert sorted(asked(rig, sources, share, suggestion="keep_both")) == answers
