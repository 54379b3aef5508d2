"""The schema's own rules: one test for each trigger, and none without a sentence of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files

import pytest
import vault_kit as kit

from core.errors import Code, LociError
from core.vault.database import faults
from core.vault.database.tx import Tx
from core.vault.vault import Vault

_OTHER = {"id": "other", "name": "other", "created_at": 1}


@pytest.fixture
def world(vault: Vault) -> Vault:
    """Two spaces, memories 1-4 at home, 9 elsewhere, one in GLOBAL, entities, and an asserted claim with evidence."""

    def build(tx: Tx) -> None:
        tx.insert("spaces", _OTHER)
        for n in (1, 2, 3, 4):
            tx.insert("memories", kit.memory(n))
        tx.insert("memories", kit.memory(9, space_id="other"))
        tx.insert("memories", kit.memory(10, space_id="GLOBAL"))
        for name, space in (("e", "home"), ("f", "other"), ("g", "GLOBAL")):
            tx.insert("entities", kit.entity(name, space))
        tx.insert("claims", kit.claim("c"))
        tx.insert("evidence", kit.evidence("v", "c"))
        tx.update("claims", {"id": "c"}, {"state": "asserted"})

    vault.write(build)
    return vault


def _refused(vault: Vault, fn: Callable[[Tx], object], code: Code = Code.INVALID_INPUT) -> str:
    with pytest.raises(LociError) as caught:
        vault.write(fn)
    assert caught.value.code is code, caught.value
    return caught.value.sentence


def _sql(vault: Vault, sql: str) -> str:
    """A statement as no code of ours would send it; the schema alone stands in its way."""

    def send(tx: Tx) -> None:
        tx.all(sql)

    return _refused(vault, send)


def _edge(name: str, start: str, end: str, **more: object) -> dict[str, object]:
    return {
        "id": name,
        "from_id": start,
        "to_id": end,
        "type": "caused_by",
        "space_id": "home",
        "made_by": "owner",
        "recorded_at": 1,
        **more,
    }


def _derivation(derived: str, source: str, space: str = "home") -> dict[str, object]:
    return {"derived_id": derived, "source_id": source, "space_id": space, "recorded_at": 1}


def _conflict(name: str, incoming: str, existing: str | None, **more: object) -> dict[str, object]:
    return {
        "id": name,
        "kind": "contradiction",
        "incoming_id": incoming,
        "existing_id": existing,
        "space_id": "home",
        "reason": "r",
        "fingerprint": b"x",
        "opened_at": 1,
        **more,
    }


def _mention(memory_id: str, entity_id: str) -> dict[str, object]:
    return {"memory_id": memory_id, "entity_id": entity_id, "start_at": 0, "end_at": 1}


def test_the_state_row_stays(world: Vault) -> None:
    assert "state of the vault" in _sql(world, "DELETE FROM vault_state")


def test_memories_go_by_purge_only(world: Vault) -> None:
    assert "purge" in _sql(world, "DELETE FROM memories WHERE n = 4")


def test_a_memory_keeps_id_label_and_recorded_time(world: Vault) -> None:
    for change in ("id = 'x'", "n = 77", "recorded_at = 5"):
        assert "keeps its id" in _sql(world, f"UPDATE memories SET {change} WHERE n = 4")  # noqa: S608
    world.write(lambda tx: tx.update("memories", {"n": 4}, {"retired_at": 5}))


def test_a_memory_with_relations_keeps_its_space(world: Vault) -> None:
    move = {"space_id": "other"}
    assert "keeps its space" in _refused(world, lambda tx: tx.update("memories", {"n": 1}, move))
    for row in (("edges", _edge("r", "m3", "m4")), ("derivations", _derivation("m3", "m4")),
                ("conflicts", _conflict("k", "m3", "m4")), ("mentions", _mention("m3", "e"))):  # fmt: skip

        def related(tx: Tx, row: tuple[str, dict[str, object]] = row) -> None:
            tx.insert(*row)
            tx.update("memories", {"n": 3}, move)

        assert "keeps its space" in _refused(world, related)
    world.write(lambda tx: tx.update("memories", {"n": 4}, move))
    world.write(lambda tx: tx.update("memories", {"n": 1}, {"space_id": "GLOBAL"}))


def test_an_entity_moves_to_global_only(world: Vault) -> None:
    assert "moves to GLOBAL" in _refused(world, lambda tx: tx.update("entities", {"id": "e"}, {"space_id": "other"}))
    world.write(lambda tx: tx.update("entities", {"id": "e"}, {"space_id": "GLOBAL"}))


def test_a_mention_stays_in_its_space_and_place(world: Vault) -> None:
    assert "one space" in _refused(world, lambda tx: tx.insert("mentions", _mention("m1", "f")))
    world.write(lambda tx: tx.insert("mentions", _mention("m1", "e")))
    world.write(lambda tx: tx.insert("mentions", _mention("m1", "g")))
    assert "cannot move" in _sql(world, "UPDATE mentions SET memory_id = 'm2' WHERE entity_id = 'e'")
    assert "cannot move" in _sql(world, "UPDATE mentions SET entity_id = 'f' WHERE entity_id = 'e'")


def test_a_claim_starts_as_draft(world: Vault) -> None:
    born = kit.claim("d", state="asserted", exclusive=0)
    assert "starts as draft" in _refused(world, lambda tx: tx.insert("claims", born))


def test_a_claim_changes_state_on_known_ways_only(world: Vault) -> None:
    for wrong in ("draft",):
        assert "cannot go" in _refused(world, lambda tx, w=wrong: tx.update("claims", {"id": "c"}, {"state": w}))  # type: ignore[misc]
    for right in ("disputed", "asserted", "superseded", "asserted", "retracted", "asserted"):
        world.write(lambda tx, r=right: tx.update("claims", {"id": "c"}, {"state": r}))  # type: ignore[misc]
    world.write(lambda tx: tx.update("claims", {"id": "c"}, {"state": "retracted"}))
    assert "cannot go" in _refused(world, lambda tx: tx.update("claims", {"id": "c"}, {"state": "superseded"}))


def test_no_claim_is_asserted_without_supporting_evidence(world: Vault) -> None:
    def bare(tx: Tx) -> None:
        tx.insert("claims", kit.claim("d", exclusive=0))
        tx.insert("evidence", kit.evidence("w", "d", stance="contradicting"))
        tx.update("claims", {"id": "d"}, {"state": "asserted"})

    assert "without evidence" in _refused(world, bare)


def test_an_asserted_claim_keeps_its_last_evidence(world: Vault) -> None:
    assert "last evidence" in _refused(world, lambda tx: tx.delete("evidence", {"id": "v"}))
    assert "last evidence" in _refused(world, lambda tx: tx.update("evidence", {"id": "v"}, {"stance": "neutral"}))
    world.write(lambda tx: tx.insert("evidence", kit.evidence("w", "c", "m2")))
    world.write(lambda tx: tx.delete("evidence", {"id": "v"}))

    def purge(tx: Tx) -> None:
        with tx.purge():
            tx.delete("evidence", {"id": "w"})
            tx.delete("claims", {"id": "c"})

    world.write(purge)


def _second(tx: Tx, **more: object) -> None:
    tx.insert("claims", kit.claim("d", **more))
    tx.insert("evidence", kit.evidence("w", "d", "m2"))
    tx.update("claims", {"id": "d"}, {"state": "asserted"})


def test_one_exclusive_claim_stands_at_a_time(world: Vault) -> None:
    assert "exclusive claim" in _refused(world, _second)
    differences: tuple[dict[str, object], ...] = (
        {"exclusive": 0},
        {"polarity": "negative"},
        {"predicate": "likes"},
        {"qualifiers": '{"when":"summer"}'},
        {"scope_session": "s"},
        {"subject_key": "bob"},
    )
    for difference in differences:

        def differing(tx: Tx, difference: dict[str, object] = difference) -> None:
            _second(tx, **difference)
            raise KeyError

        with pytest.raises(KeyError):
            world.write(differing)


def test_exclusive_claims_of_different_times_may_stand_together(world: Vault) -> None:
    world.write(lambda tx: tx.update("claims", {"id": "c"}, {"valid_to": 100}))
    world.write(lambda tx: _second(tx, valid_from=100))
    assert "exclusive claim" in _refused(world, lambda tx: tx.update("claims", {"id": "d"}, {"valid_from": 99}))
    assert "exclusive claim" in _refused(world, lambda tx: tx.update("claims", {"id": "c"}, {"valid_to": None}))


def test_an_exclusive_claim_cannot_be_turned_into_a_second_one(world: Vault) -> None:
    world.write(lambda tx: _second(tx, exclusive=1, polarity="negative", scope_session="s", subject_entity_id="e"))
    change = {"polarity": "positive", "scope_session": "", "subject_entity_id": None}
    assert "exclusive claim" in _refused(world, lambda tx: tx.update("claims", {"id": "d"}, change))


def test_undo_cannot_put_back_a_second_exclusive_claim(world: Vault) -> None:
    def put_back(tx: Tx) -> None:
        with tx.purge():
            tx.insert("claims", kit.claim("d", state="asserted"))

    assert "exclusive claim" in _refused(world, put_back)


def test_undo_may_put_back_an_asserted_claim_with_its_evidence(world: Vault) -> None:
    def put_back(tx: Tx) -> None:
        with tx.purge():
            tx.insert("claims", kit.claim("d", state="asserted", predicate="likes", evidence_count=1))
            tx.insert("evidence", kit.evidence("w", "d"))

    world.write(put_back)
    assert world.read(lambda rows: rows.value("SELECT evidence_count FROM claims WHERE id = 'd'")) == 1


def test_a_claim_stays_in_its_space(world: Vault) -> None:
    for column in ("subject_entity_id", "object_entity_id"):
        assert "one space" in _refused(world, lambda tx, c=column: tx.insert("claims", kit.claim("d", **{c: "f"})))  # type: ignore[misc]
        assert "one space" in _refused(world, lambda tx, c=column: tx.update("claims", {"id": "c"}, {c: "f"}))  # type: ignore[misc]
        world.write(lambda tx, c=column: tx.update("claims", {"id": "c"}, {c: "g"}))  # type: ignore[misc]
    assert "keeps its space" in _refused(world, lambda tx: tx.update("claims", {"id": "c"}, {"space_id": "other"}))


def test_evidence_stays_where_it_is(world: Vault) -> None:
    for change in ({"memory_id": "m2"}, {"claim_id": "d"}, {"space_id": "other"}):
        assert "cannot move" in _refused(world, lambda tx, c=change: tx.update("evidence", {"id": "v"}, c))  # type: ignore[misc]
    assert "one space" in _refused(world, lambda tx: tx.insert("evidence", kit.evidence("w", "c", "m9")))
    elsewhere = kit.evidence("w", "c", "m2", space_id="other")
    assert "one space" in _refused(world, lambda tx: tx.insert("evidence", elsewhere))
    world.write(lambda tx: tx.insert("evidence", kit.evidence("w", "c", "m10")))


def test_evidence_is_counted(world: Vault) -> None:
    def count() -> object:
        return world.read(lambda rows: rows.value("SELECT evidence_count FROM claims WHERE id = 'c'"))

    assert count() == 1
    world.write(lambda tx: tx.insert("evidence", kit.evidence("w", "c", "m2")))
    assert count() == 2
    world.write(lambda tx: tx.delete("evidence", {"id": "v"}))
    assert count() == 1


def test_relations_of_cause_make_no_circle(world: Vault) -> None:
    def chain(tx: Tx) -> None:
        tx.insert("edges", _edge("r1", "m1", "m2"))
        tx.insert("edges", _edge("r2", "m2", "m3", type="instance_of"))
        tx.insert("derivations", _derivation("m3", "m4"))

    world.write(chain)
    closing = _edge("r3", "m4", "m1", type="inferred_from")
    assert "circle" in _refused(world, lambda tx: tx.insert("edges", closing), Code.CYCLE)
    assert "circle" in _refused(world, lambda tx: tx.insert("derivations", _derivation("m4", "m1")), Code.CYCLE)
    world.write(lambda tx: tx.insert("edges", {**closing, "type": "related_to"}))


def test_nothing_is_related_to_itself(world: Vault) -> None:
    _refused(world, lambda tx: tx.insert("edges", _edge("r", "m1", "m1")), Code.CYCLE)
    _refused(world, lambda tx: tx.insert("edges", _edge("r", "m1", "m1", type="related_to")), Code.BUG)
    _refused(world, lambda tx: tx.insert("derivations", _derivation("m1", "m1")), Code.CYCLE)


def test_relations_stay_in_one_space_and_in_place(world: Vault) -> None:
    assert "one space" in _refused(world, lambda tx: tx.insert("edges", _edge("r", "m1", "m9")))
    assert "one space" in _refused(world, lambda tx: tx.insert("edges", _edge("r", "m9", "m1")))
    assert "one space" in _refused(world, lambda tx: tx.insert("derivations", _derivation("m1", "m9")))
    assert "one space" in _refused(world, lambda tx: tx.insert("derivations", _derivation("m9", "m1")))
    world.write(lambda tx: tx.insert("edges", _edge("r", "m1", "m10")))
    world.write(lambda tx: tx.insert("derivations", _derivation("m1", "m10")))
    for change in ({"from_id": "m2"}, {"to_id": "m2"}, {"type": "supports"}, {"space_id": "other"}):
        assert "cannot move" in _refused(world, lambda tx, c=change: tx.update("edges", {"id": "r"}, c))  # type: ignore[misc]
    assert "cannot move" in _sql(world, "UPDATE derivations SET source_id = 'm2'")
    world.write(lambda tx: tx.update("edges", {"id": "r"}, {"weight": 0.5}))


def test_conflicts_stay_in_one_space_and_in_place(world: Vault) -> None:
    assert "one space" in _refused(world, lambda tx: tx.insert("conflicts", _conflict("k", "m9", None)))
    assert "one space" in _refused(world, lambda tx: tx.insert("conflicts", _conflict("k", "m1", "m9")))
    world.write(lambda tx: tx.insert("conflicts", _conflict("k", "m1", "m10")))
    for change in ({"incoming_id": "m2"}, {"existing_id": "m2"}, {"space_id": "other"}):
        assert "cannot move" in _refused(world, lambda tx, c=change: tx.update("conflicts", {"id": "k"}, c))  # type: ignore[misc]
    world.write(lambda tx: tx.update("conflicts", {"id": "k"}, {"state": "moot"}))
    world.write(lambda tx: tx.insert("conflicts", _conflict("k2", "m1", "m10")))
    assert "stored already" in _refused(world, lambda tx: tx.insert("conflicts", _conflict("k3", "m1", "m10")))


def test_the_audit_only_grows(world: Vault) -> None:
    row = "INSERT INTO audit (nr, at, actor, verb, mac) VALUES (?, 1, 'owner', 'x', zeroblob(32))"
    world.write(lambda tx: tx.run(row, (1,)))
    assert "append-only" in _refused(world, lambda tx: tx.run("UPDATE audit SET actor = 'x'"))
    assert "append-only" in _refused(world, lambda tx: tx.run("DELETE FROM audit"))

    def purge(tx: Tx) -> int:
        with tx.purge():
            return tx.run("DELETE FROM audit")

    assert world.write(purge) == 1


def test_equal_facts_stand_once_and_equal_episodes_as_often_as_they_came(world: Vault) -> None:
    fact = {"kind": "fact", "text": "x"}
    world.write(lambda tx: tx.insert("memories", kit.memory(20, **fact)))
    assert "stored already" in _refused(world, lambda tx: tx.insert("memories", kit.memory(21, **fact)))
    world.write(lambda tx: tx.insert("memories", kit.memory(21, **{**fact, "status": "archived"})))
    world.write(lambda tx: tx.insert_many("memories", [kit.memory(n, "x") for n in (22, 23)]))


def test_claims_of_one_key_stand_once(world: Vault) -> None:
    twin = kit.claim("d", claim_key=kit.claim("c")["claim_key"], predicate="other")

    def assert_it(tx: Tx) -> None:
        tx.insert("claims", twin)
        tx.insert("evidence", kit.evidence("w", "d"))
        tx.update("claims", {"id": "d"}, {"state": "asserted"})

    assert "stored already" in _refused(world, assert_it)


def test_what_refers_to_nothing_is_refused(world: Vault) -> None:
    sentence = _refused(world, lambda tx: tx.insert("memories", kit.memory(30, space_id="nowhere")))
    assert "does not hold" in sentence


def test_every_refusal_of_the_schema_has_its_sentence() -> None:
    sql = files("core.vault").joinpath("sql/001_first.sql").read_text(encoding="utf-8")
    raised = set(re.findall(r"RAISE\(ABORT, '([^']+)'\)", sql))
    assert raised == faults._REFUSALS | faults._CIRCLES


def test_a_purge_looks_nothing_up_by_reading_whole_tables(world: Vault) -> None:
    """Deleting a row makes SQLite look for it in every column that may refer to it; each needs an index."""

    def missing(tx: Tx) -> list[str]:
        found = []
        for (table,) in tx.all("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"):
            for parent, column in tx.all('SELECT "table", "from" FROM pragma_foreign_key_list(?)', (table,)):
                if parent in {"memories", "claims", "entities", "receipts", "undo_steps", "rooms"}:
                    plan = tx.all(f'EXPLAIN QUERY PLAN SELECT 1 FROM "{table}" WHERE "{column}" = ?', ("x",))  # noqa: S608
                    if any("SCAN" in row[3] for row in plan):
                        found.append(f"{table}.{column}")
        return found

    assert world.write(missing) == []
