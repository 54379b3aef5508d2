"""Two clients whose grants have nothing in common: neither is told anything of the other's, by any method.

What each may see is worked out from the rows, whatever the engine says. The lists of methods come from the protocol: a
new one without a driver fails here.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from engine_rig import Rig, rig_at
from example_counts import count_examples
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from poison_socket import Wire, wire_to
from wire_deeds import DEEDS, At
from wire_twins import NOBODY, READS, Twin, in_spaces, probes, stays

DOCUMENT: dict[str, Any] = json.loads(files("resources").joinpath("protocol.json").read_text("utf-8"))
_numbers = itertools.count()


def test_every_way_to_be_told_is_driven() -> None:
    told = {
        name
        for name, body in DOCUMENT["methods"].items()
        if body["who"] == "client" and body["effect"] in ("read", "session")
    }
    assert READS.keys() == told


def test_every_way_to_write_is_driven() -> None:
    writes = {
        name for name, body in DOCUMENT["methods"].items() if body["who"] == "client" and body["effect"] == "write"
    }
    assert DEEDS.keys() == writes


class Apart(RuleBasedStateMachine):
    """Ada and Bea act in turn, the person too; nobody's deeds are to be seen from where they are not."""

    rig: Rig
    wire: Wire

    @initialize()
    def begin(self) -> None:
        self.run = next(_numbers)
        self.attic = f"attic{self.run}"
        self.twins = [Twin(self.wire, f"{name}{self.run}q", f"{where}{self.run}q") for name, where in _PAIR]
        self.person_s: set[str] = {self.attic}
        for twin, other in ((0, 1), (1, 0)):
            self._store(twin, "The {} lamp stands in the garden of Anna.")
            self._entity(twin)
            self.twins[other].others_entities += self.twins[twin].entities

    def teardown(self) -> None:
        for twin in getattr(self, "twins", ()):
            twin.client.close()

    def _mark(self) -> str:
        return f"zq{next(_numbers)}x"

    def _store(self, who: int, text: str, **more: Any) -> None:
        twin, mark = self.twins[who], self._mark()
        twin.secrets.add(mark)
        reply = twin.call("memory_store", {"text": text.format(mark), "space": twin.space, **more})
        twin.ids.append(reply["memory_id"])
        twin.keep(reply)

    def _entity(self, who: int) -> None:
        twin, mark = self.twins[who], self._mark()
        twin.secrets.add(mark)
        for name in (f"Anna {mark}", "Carl Common"):
            params = {"canonical_name": name, "entity_type": "person", "space": twin.space}
            made = twin.asked("entity_create", params)
            if "entity_id" in made:
                twin.entities.append(made["entity_id"])
                twin.secrets.add(made["entity_id"])

    # What each does, while the other watches

    def _alone(self, who: int, deed: Any) -> None:
        """Do it; the other's answers stay as they are."""
        other = self.twins[1 - who]
        before = self._as_if_for_the_first_time(other)
        deed()
        after = self._as_if_for_the_first_time(other)
        for method, found in before.items():
            assert after[method] == found, f"{method} tells that somebody else did something"

    def _as_if_for_the_first_time(self, twin: Twin) -> dict[str, Any]:
        """What is handed out has been used, and ranks by that: the first look must not change the second."""
        self.rig.engine.flush_journal()
        self.rig.write(lambda tx: tx.run("UPDATE memories SET access_count = 0, last_accessed_at = NULL"))
        return stays(twin.sees())

    @rule(who=st.sampled_from((0, 1)), what=st.sampled_from(("fact", "episode", "rule")))
    def stores(self, who: int, what: str) -> None:
        self._alone(who, lambda: self._store(who, "The {} lamp is blue, says Anna to Carl Common.", kind=what))

    @rule(who=st.sampled_from((0, 1)), value=st.sampled_from(("Graz", "Vienna")))
    def claims(self, who: int, value: str) -> None:
        claim = {"subject": "Anna", "predicate": "lives_in", "value": value, "exclusive": True}
        self._alone(who, lambda: self._store(who, f"Anna lives in {value}, {{}}.", claim=claim))

    @rule(who=st.sampled_from((0, 1)), verb=st.sampled_from(("update", "forget", "dispute", "relate", "confirm")))
    def changes(self, who: int, verb: str) -> None:
        twin, mark = self.twins[who], self._mark()
        twin.secrets.add(mark)
        more: dict[str, Any] = {"update": {"text": f"The {mark} lamp is green."}}.get(verb, {})
        params = {"id": twin.ids[-1], **more}
        if verb == "relate":
            params = {"source_id": twin.ids[0], "target_id": twin.ids[-1], "relationship": "supports"}
        self._alone(who, lambda: twin.keep(twin.asked(f"memory_{verb}", params)))

    @rule(who=st.sampled_from((0, 1)))
    def consolidates(self, who: int) -> None:
        reply = self.twins[who].asked("memory_run_consolidation", {"dry_run": True})
        self._nothing_of(1 - who, reply, "memory_run_consolidation")

    @rule(who=st.sampled_from((0, 1)))
    def talks(self, who: int) -> None:
        twin, mark = self.twins[who], self._mark()
        twin.secrets.add(mark)
        said = {"session": "shared", "user": f"My {mark} lamp broke.", "space": twin.space}

        def turn() -> None:
            begun = twin.call("turn_begin", {"prompt": f"What of the {mark} lamp?", "session": "shared"})
            twin.secrets.add(begun["turn"])
            twin.keep(twin.asked("turn_end", said))

        self._alone(who, turn)

    @rule()
    def the_person_stores_in_the_attic(self) -> None:
        mark = self._mark()
        self.person_s |= {mark, self.rig.store(f"The {mark} lamp of Anna is mine.", space=self.attic).memory_id}

    @rule(who=st.sampled_from((0, 1)))
    def the_person_says_otherwise(self, who: int) -> None:
        """A question for the person in one's space: the other may neither see nor answer it."""
        twin, mark = self.twins[who], self._mark()
        twin.secrets.add(mark)
        claim = {"subject": "Anna", "predicate": "lives_in", "value": "Linz", "exclusive": True}

        def said() -> None:
            twin.keep({"id": self.rig.store(f"Anna lives in Linz, {mark}.", space=twin.space, claim=claim).memory_id})

        self._alone(who, said)

    # What each is told

    @invariant()
    def look(self) -> None:
        for who, twin in enumerate(self.twins):
            answers = twin.sees()
            for method, found in answers.items():
                self._nothing_of(1 - who, found, method)
            self._nothing_of(1 - who, twin.told, "notifications")
            mine = in_spaces(self.rig, twin.space, f"client:{twin.name}", "GLOBAL")
            listed = answers["memory_list"][0]
            assert {item["id"] for item in listed["items"]} == mine
            assert listed["total"] == answers["health"][0]["rows"] == len(mine)
            assert set(twin.ids) & mine
            facts, rules = (answers["memory_stats"][0][name].values() for name in ("facts", "rules"))
            assert sum(facts) + sum(rules) + answers["memory_stats"][0]["episodes"]["total"] <= len(mine)

    def _nothing_of(self, who: int, told: object, method: str) -> None:
        text = json.dumps(told)
        for word in self.twins[who].secrets | self.person_s:
            assert word not in text, f"{method} tells what is somebody else's"

    @precondition(lambda self: len(self.twins[0].ids) > 1)
    @rule(who=st.sampled_from((0, 1)), data=st.data())
    def pries(self, who: int, data: st.DataObject) -> None:
        """What is another's is answered exactly as what does not exist, by every method that takes an id or a space."""
        other = self.twins[1 - who]
        self.pry(who, data.draw(st.sampled_from([*other.ids, *other.entities, *self.items(1 - who)])))

    def items(self, who: int) -> list[str]:
        """Ids of what lies on the conflict desk of one of them."""
        return [one["id"] for one in self.twins[who].call("memory_conflicts")["conflicts"]]

    def pry(self, who: int, foreign: str) -> None:
        """Every method that takes an id or a space is asked about something of the other's."""
        twin, other = self.twins[who], self.twins[1 - who]
        before = in_spaces(self.rig, other.space)
        for method, theirs, nothing in probes(DOCUMENT, twin, foreign, other.space):
            told = json.dumps(stays({method: [twin.asked(method, theirs)]}))
            bare = json.dumps(stays({method: [twin.asked(method, nothing)]}))
            assert told.replace(other.space, "nowhere").replace(foreign, NOBODY) == bare, (
                f"{method} tells that it exists"
            )
        assert in_spaces(self.rig, other.space) == before

    # One after the other

    def asks_the_person(self, who: int, value: str) -> None:
        """What one says against the person's word lies on the conflict desk."""
        self.the_person_says_otherwise(who)
        self.claims(who, value)
        assert self.items(who)

    def deed(self, who: int, method: str) -> None:
        """One of the two does something for certain."""
        twin, mark = self.twins[who], self._mark()
        twin.secrets.add(mark)
        rule = twin.call("memory_store_rule", {"text": f"Always clean the {mark} lamp.", "space": twin.space})
        twin.keep(rule)
        if method == "memory_resolve_conflict":
            self.asks_the_person(who, "Vienna")
        entities = twin.entities[0], twin.entities[-1]
        at = At(mark, rule["memory_id"], twin.ids[0], *entities, (self.items(who) or [NOBODY])[0])
        reply = twin.asked(method, DEEDS[method](twin, at))
        assert "code" not in reply, (method, reply)
        twin.keep(reply)

    def unmoved(self, who: int, before: Mapping[str, Any], method: str) -> None:
        """What is told to one is what it was told before the other's deed, and names nothing of it."""
        self._nothing_of(1 - who, self.twins[who].told, "notifications")
        for asked, found in self._as_if_for_the_first_time(self.twins[who]).items():
            self._nothing_of(1 - who, found, asked)
            assert found == before[asked], f"{asked} tells that somebody called {method}"


def _unhurried(rig: Rig) -> None:
    """A machine asks faster than any assistant may."""
    for name in ("reads_minute", "writes_minute"):
        rig.engine.settings.set_option(name, 100_000).result(30)


_PAIR = (("ada", "north"), ("bea", "south"))


def test_whatever_one_does_the_other_is_told_nothing(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig, wire_to(rig, tmp_path) as wire:
        _unhurried(rig)
        apart = type("Bound", (Apart,), {"rig": rig, "wire": wire})()
        try:
            apart.begin()
            apart.the_person_stores_in_the_attic()
            before = apart._as_if_for_the_first_time(apart.twins[1])
            for method in DEEDS:
                apart.deed(0, method)
                apart.unmoved(1, before, method)
            apart.look()
            apart.asks_the_person(0, "Graz")
            ada = apart.twins[0]
            for foreign in (ada.ids[0], ada.entities[0], apart.items(0)[0]):
                apart.pry(1, foreign)
        finally:
            apart.teardown()


def test_two_clients_are_worlds_apart(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig, wire_to(rig, tmp_path) as wire:
        _unhurried(rig)
        machine = type("Bound", (Apart,), {"rig": rig, "wire": wire})
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=count_examples(6),
                stateful_step_count=8,
                phases=[Phase.generate],  # one engine for all: a case cannot be repeated smaller
                suppress_health_check=list(HealthCheck),
            ),
        )


def test_who_listens_hears_of_its_own_only(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig, wire_to(rig, tmp_path) as wire:
        ada, bea = Twin(wire, "ada", "north"), Twin(wire, "bea", "south")

        def store(twin: Twin, text: str) -> str:
            return str(twin.call("memory_store", {"text": text, "space": twin.space})["memory_id"])

        assert ada.hears_of(store(ada, "The lamp is blue."))
        before = list(ada.told)
        for n in range(3):
            last = store(bea, f"The lamp number {n} of Bea is red.")
        bea.call("memory_update", {"id": last, "text": "The lamp of Bea is green."})
        bea.call("entity_create", {"canonical_name": "Bea", "entity_type": "person", "space": "south"})
        bea.call("turn_begin", {"prompt": "Which lamp?", "session": "s"})
        bea.call("turn_end", {"session": "s", "user": "My red lamp broke.", "space": "south"})
        rig.forget(rig.store("The attic has a lamp.", space="attic").memory_id)
        rig.undo()
        mine = store(ada, "The lamp is in the hall.")
        assert ada.hears_of(mine)
        assert [what.get("ids") for _, what in ada.told[len(before) :]] == [[mine]]
        assert [what["seq"] for _, what in ada.told] == list(range(1, len(ada.told) + 1))
        for twin in (ada, bea):
            twin.client.close()
