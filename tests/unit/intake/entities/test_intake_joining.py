"""Joining two entities: names, mentions and claims; and that they come apart again."""

from __future__ import annotations

from typing import Any

import pytest
from belief_rig import claim
from desk_rig import decide, have, make_pair
from engine_rig import Rig, differences

from core.entities import registry
from core.errors import BugError
from core.intake.entities import merge_entities
from core.types.values import Action

CLAIMS = "SELECT id, state, subject_entity_id, superseded_by_id, valid_to, retired_at FROM claims ORDER BY id"


def two(rig: Rig) -> tuple[str, str]:
    rig.store("Rosa Castellanos sings in Porto.")
    rig.store("Rosa sings in Vigo.")
    space = rig.value("SELECT space_id FROM memories")

    def write(tx: Any) -> tuple[str, str]:
        made = [
            registry.make_entity(tx, rig.opened.storage.make_id, space, n, "person", "rules")
            for n in ("Rosa Castellanos", "Rosa")
        ]
        for entity, memory, end in zip(made, tx.all("SELECT id FROM memories ORDER BY n"), (16, 4), strict=True):
            tx.insert("mentions", {"memory_id": memory[0], "entity_id": entity, "start_at": 0, "end_at": end})
        return made[0], made[1]

    found: tuple[str, str] = rig.write(write)
    return found


def about(rig: Rig, value: str, entity: str, confidence: float) -> str:
    memory = rig.value("SELECT id FROM memories WHERE text LIKE ?", f"%{value}%")
    made = claim(rig, memory, "lives_in", value, value, subject=value, confidence=confidence)
    rig.write(lambda tx: tx.update("claims", {"id": made}, {"subject_entity_id": entity}))
    return made


def test_names_and_mentions_move_and_the_other_leads_to_it(rig: Rig) -> None:
    keep, other = two(rig)
    done = rig.write(lambda tx: merge_entities(tx, keep, other))
    assert done == {"aliases": 1, "mentions": 1, "claims": 0, "superseded": 0}
    assert rig.value("SELECT count(*) FROM mentions WHERE entity_id = ?", keep) == 2
    assert (
        rig.opened.storage.vault.read(
            lambda rows: registry.find_entity(rows, rows.value("SELECT space_id FROM memories"), "rosa")
        )
        == keep
    )
    for one, joined in ((keep, keep), (keep, other), ("nobody", keep)):
        with pytest.raises(BugError):
            rig.write(lambda tx: merge_entities(tx, one, joined))  # noqa: B023 - called at once


@pytest.mark.parametrize(
    ("kept", "joined", "states"), [(0.9, 0.6, ["asserted", "superseded"]), (0.6, 0.9, ["superseded", "asserted"])]
)
def test_of_two_claims_that_exclude_each_other_the_surer_one_holds(
    rig: Rig, kept: float, joined: float, states: list[str]
) -> None:
    keep, other = two(rig)
    claims = [about(rig, "Porto", keep, kept), about(rig, "Vigo", other, joined)]
    done = rig.write(lambda tx: merge_entities(tx, keep, other))
    assert (done["claims"], done["superseded"]) == (1, 1)
    assert [rig.value("SELECT state FROM claims WHERE id = ?", one) for one in claims] == states
    assert rig.value("SELECT count(*) FROM claims WHERE subject_entity_id = ?", keep) == 2


def test_taken_back_all_stands_as_it_stood(rig: Rig) -> None:
    keep, other = two(rig)
    about(rig, "Porto", keep, 0.9)
    about(rig, "Vigo", other, 0.6)
    detail = {"entities": [keep, other]}
    pair = make_pair(rig, have("Anders called.", None), have("Anders wrote.", None), kind="entity_merge", detail=detail)
    before, claims = rig.dump(), rig.rows(CLAIMS)
    decide(rig, pair.item, Action.SUPERSEDE)
    assert rig.value("SELECT merged_into_id FROM entities WHERE id = ?", other) == keep
    report = rig.undo()
    assert report.left == ()
    assert rig.rows(CLAIMS) == claims
    assert differences(before, rig.dump()).keys() <= {"claims"}  # their confidence is weighed anew
