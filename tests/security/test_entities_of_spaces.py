"""An entity that the owner is shown as one for several spaces tells a client of one space nothing of the others."""

from __future__ import annotations

import json
from dataclasses import asdict

from engine_rig import Rig
from entity_rig import get, named, refused

from core.errors import Code
from core.types.entities import EntityChange, EntityQuery, Resolving
from core.types.values import Actor


def told(rig: Rig, actor: Actor, *ids: str) -> str:
    """All that a client is told of a name, and of entities by their ids."""
    found = rig.engine.entities.resolve(Resolving("Jo", fuzzy=True), actor).result(10)
    cards = [asdict(get(rig, one, actor)) for one in ids]
    return json.dumps([[asdict(one) for one in found], cards], default=str)


def test_a_client_of_one_space_learns_nothing_of_another_by_a_joined_name(rig: Rig) -> None:
    work = named(rig, "Jo plans the roof.", "Jo", space="work")
    private = named(rig, "Jo sees a therapist.", "Jo", space="private")
    plug = rig.client("plug", "read", "write", "curate", "space:work")
    before = told(rig, plug, work)
    rig.engine.entities.update(private, EntityChange(aliases=("Josephine Secret",), metadata={"ward": 7})).result(10)
    (line,) = rig.engine.entities.list_entities(EntityQuery()).result(10).lines
    assert line.others == ("Josephine Secret",)  # the owner is shown one of both
    assert told(rig, plug, work) == before
    assert refused(lambda: get(rig, private, plug))[0] is Code.NOT_FOUND
    assert refused(lambda: rig.engine.entities.merge(private, work, plug).result(10))[0] is Code.NOT_FOUND
    # The owner changes what is shown as one, and keeps the two apart: what one space alone knew stays there.
    shown = rig.engine.entities.read_detail(work).result(10).card
    rig.engine.entities.revise(work, EntityChange("Jo", shown.aliases, type="pet")).result(10)
    rig.engine.entities.revise(work, EntityChange("Jo", shown.aliases, type="person")).result(10)
    seen = told(rig, plug, work)
    assert "Secret" not in seen
    assert "ward" not in seen
    rig.engine.entities.separate(private).result(10)
    rig.engine.entities.separate(work).result(10)
    assert told(rig, plug, work) == seen
    space = str(rig.value("SELECT space_id FROM entities WHERE id = ?", private))
    assert space not in seen
