"""What one client brought and nobody let in is not there for another of the same space, by any method."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, rig_at
from poison_socket import Wire
from wire_twins import NOBODY, READS, Twin

from core.entities import registry
from core.types.reviews import Decision
from core.types.values import Action
from core.vault.database.tx import Tx

MARK = "zqmarkx"


class Guest(Twin):
    """A client of a space that others use too, with grants of its own."""

    def __init__(self, wire: Wire, name: str, *grants: str) -> None:
        self.name, self.space = name, "home"
        self.client = wire.client(name, *grants, "space:home")
        self.ids, self.secrets, self.entities, self.others_entities, self.told = [], set(), [], [], []
        self.call("subscribe")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        for name in ("reads_minute", "writes_minute"):
            made.engine.settings.set_option(name, 100_000).result(30)
        yield made


def untold(guest: Guest, hidden: str) -> None:
    """Nothing that the guest can ask names the hidden memory, or differs for it from one that does not exist."""
    for method, asking in READS.items():
        for hint, nothing in zip(asking(guest, [hidden]), asking(guest, [NOBODY]), strict=True):
            told = json.dumps(guest.asked(method, hint))
            assert MARK not in told, method
            assert hidden not in told, method
            if hint != nothing:
                assert told == json.dumps(guest.asked(method, nothing)), method
    assert hidden not in json.dumps(guest.told)


def test_what_waits_is_seen_by_who_brought_it_and_who_decides(rig: Rig, wire: Wire) -> None:
    hers = rig.store("The lamp of Anna stands in the garden.", space="home").memory_id
    pip, rea, cur = (
        Guest(wire, "pip", "read", "propose"),
        Guest(wire, "rea", "read", "write"),
        Guest(wire, "cur", "read", "curate"),
    )
    text = f"The {MARK} lamp of Carl Common is blue."
    reply = pip.call("memory_store", {"text": text, "space": "home"})
    assert reply["operation"] == "PROPOSED"
    hidden = reply["memory_id"]
    wish = pip.call("memory_forget", {"id": hers, "reason": f"because {MARK}"})
    assert wish["operation"] == "PROPOSED"
    rig.store("The house has a name.", space="home")  # told after whatever was to be told before
    untold(rea, hidden)
    assert [one["id"] for one in rea.call("memory_conflicts")["conflicts"]] == []
    assert rea.call("health")["rows"] == 2
    for sees in (pip, cur):
        assert sees.call("memory_get", {"id": hidden})["text"] == text
        assert hidden in {one["incoming"]["id"] for one in sees.call("memory_conflicts")["conflicts"]}
        assert sees.call("memory_list", {"status": ["quarantined"]})["total"] == 1
    for guest in (pip, rea, cur):
        guest.client.close()


@pytest.mark.parametrize("end", ["rejected", "withdrawn", "accepted"])
def test_what_was_refused_or_taken_back_was_never_there(rig: Rig, wire: Wire, end: str) -> None:
    pip, rea = Guest(wire, "pip", "read", "propose"), Guest(wire, "rea", "read")
    reply = pip.call("memory_store", {"text": f"The {MARK} lamp of Anna is blue.", "space": "home"})
    hidden = reply["memory_id"]
    if end == "withdrawn":
        pip.call("memory_forget", {"id": hidden})
    else:
        action = Action.REJECT if end == "rejected" else Action.SUPERSEDE
        rig.engine.conflicts.resolve(reply["conflict"], Decision(action)).result(30)
    rig.store("The house has a name.", space="home")
    if end == "accepted":
        assert rea.call("memory_get", {"id": hidden})["status"] == "active"
    else:
        untold(rea, hidden)
    for guest in (pip, rea):
        guest.client.close()


def test_a_name_that_stands_in_what_was_held_back_since_is_no_entity(rig: Rig, wire: Wire) -> None:
    """Rules read it while it stood; it was held back afterwards."""
    held = rig.store("Wilhelmina Quast sings.", space="home").memory_id
    space = rig.value("SELECT space_id FROM memories WHERE id = ?", held)

    def read(tx: Tx) -> None:
        one = registry.make_entity(tx, rig.opened.storage.make_id, space, "Wilhelmina Quast", "person", "rules")
        tx.insert("mentions", {"memory_id": held, "entity_id": one, "start_at": 0, "end_at": 16})

    rig.write(read)
    rea = Guest(wire, "rea", "read")
    assert len(rea.call("entity_resolve", {"name": "Wilhelmina"})["candidates"]) == 1
    rig.write(lambda tx: tx.update("memories", {"id": held}, {"status": "quarantined", "status_reason": "held"}))
    assert rea.call("entity_resolve", {"name": "Wilhelmina"}) == {"candidates": []}
    rea.client.close()
