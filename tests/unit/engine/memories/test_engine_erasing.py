"""Erasing for good: nothing of the text is left in any table, journal, image or snapshot, and it does not come back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import belief_rig
import pytest
from engine_rig import Rig, WordEmbedder, differences, error_of, facts, later, refused, rig_at, talk
from erasing_rig import MARK, TEXT, traces

from core.engine import startup
from core.engine.memories.memories import _vectors_of, backups_of
from core.errors import Code
from core.intake.erase.row_erasure import REFERRING
from core.memory.read import read_by_ids
from core.types.lifecycle import Erased
from core.types.recall import ContextQuery
from core.types.values import OWNER_ACTOR, Kind
from core.types.views import Revision
from core.vault.verification import CheckOutcome


def erase(rig: Rig, *ids: str, whole_chain: bool = False) -> Erased:
    return rig.engine.memories.erase(ids, OWNER_ACTOR, whole_chain=whole_chain).result(30)


def test_nothing_of_it_is_left_in_any_table(rig: Rig) -> None:
    bot = rig.client("bot", "read", "write")
    kept = rig.store("Ada keeps bees").memory_id
    gone = rig.store(TEXT, request_id="r1", tags=(MARK,)).memory_id
    belief_rig.claim(rig, gone, "key_of", f"{MARK} third step", MARK)
    belief_rig.item(rig, gone, kept)
    belief_rig.voice(rig, gone, "dispute", 5, reason=f"No {MARK} has a key")
    rig.recall("key step", bot)
    rig.recall(TEXT)
    rig.engine.memories.build_context(ContextQuery("Where is the key of the step?"), OWNER_ACTOR).result(30)
    rig.engine.flush_journal()
    rig.engine.recall_trials.save_probe("Where is the key?", "positive", [gone], 10).result(30)
    rig.engine.library.revise_memories([gone], Revision(importance=0.9)).result(30)
    rig.undo(rig.forget(gone))
    assert len(traces(rig)) > 5
    done = erase(rig, gone)
    assert done == Erased(1, ())
    assert traces(rig) == []
    assert rig.found("key step") == []
    assert rig.texts(None) == ["Ada keeps bees"]
    for query in (MARK, "key", TEXT):
        for mode in ("semantic", "keyword", "hybrid"):
            assert not any(MARK in text for text in rig.found(query, mode=mode))
    assert error_of(rig.engine.memories.get(gone, OWNER_ACTOR)).code is Code.NOT_FOUND
    assert rig.rows("SELECT kind FROM tombstones") == [("text",)]
    assert rig.verify()["status"] == "ok"


def test_no_table_that_refers_to_a_memory_is_forgotten(rig: Rig) -> None:
    columns = rig.rows(
        "SELECT t.name, f.\"from\" FROM pragma_table_list t, pragma_foreign_key_list(t.name) f WHERE t.schema = 'main' "
        "AND t.type = 'table' AND f.\"table\" = 'memories' AND t.name <> 'memories' ORDER BY 1, 2"
    )
    key = "SELECT group_concat(name, ', ') FROM (SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk)"
    assert sorted(REFERRING) == [(table, column, rig.value(key, table)) for table, column in columns]


def test_a_part_stands_for_the_whole_split_text(rig: Rig) -> None:
    long = " ".join(f"Sentence {n} about the {MARK}." for n in range(700))
    head = rig.store(long, kind=Kind.EPISODE).memory_id
    part = str(rig.value("SELECT id FROM memories WHERE part_of = ? AND part_index = 1", head))
    parts = int(rig.value("SELECT count(*) FROM memories"))
    assert parts > 2
    assert erase(rig, part).memories == parts
    assert traces(rig) == []
    assert rig.texts(None) == []


def test_what_is_asked_first_tells_what_goes(rig: Rig) -> None:
    old = rig.store(TEXT).memory_id
    new = rig.engine.library.revise_memories([old], Revision(text="The key lies in the drawer.")).result(30).ids[0]
    same = rig.store(TEXT, kind=Kind.EPISODE).memory_id
    told = rig.engine.memories.erase_preview([new]).result(30)
    assert [(item.id, item.why) for item in told.items] == [(new, "asked")]
    assert (told.memories, told.versions, told.back, told.same_words) == (1, 1, (), 0)
    whole = rig.engine.memories.erase_preview([new], whole_chain=True).result(30)
    assert [(item.id, item.why) for item in whole.items] == [(old, "version"), (new, "asked")]
    assert whole.same_words == 1
    assert rig.value("SELECT count(*) FROM memories") == 3
    assert erase(rig, new, whole_chain=True).memories == 2
    assert rig.rows("SELECT id FROM memories") == [(same,)]
    # The same words stand elsewhere: they are no secret, and may come again.
    assert rig.store(TEXT, rig.client("bot", "write")).operation == "ADD"


def test_a_version_beside_the_gap_stays_over_and_its_steps_can_be_undone(rig: Rig) -> None:
    old = rig.store("The key lies in the drawer.").memory_id
    step = rig.engine.library.revise_memories([old], Revision(text=TEXT)).result(30)
    erase(rig, step.ids[0])
    assert rig.get(old).status.value == "superseded"
    assert rig.get(old).superseded_by_id is None
    assert traces(rig) == []
    assert rig.value("SELECT label FROM undo_steps WHERE id = ?", step.step_id).endswith("(partly erased)")
    undone = rig.undo(step.step_id)
    assert undone.left == ()
    assert rig.get(old).status.value == "active"
    assert rig.texts(None) == ["The key lies in the drawer."]
    assert rig.verify()["status"] == "ok"


def test_pointers_lead_past_what_is_gone(rig: Rig) -> None:
    first = rig.store("The key lies in the drawer.").memory_id
    second = rig.engine.library.revise_memories([first], Revision(text=TEXT)).result(30).ids[0]
    third = rig.engine.library.revise_memories([second], Revision(text="The key hangs in the hall.")).result(30).ids[0]
    erase(rig, second)
    assert rig.get(first).superseded_by_id == third
    assert rig.get(third).supersedes_id == first
    assert [memory.id for memory in rig.engine.memories.list_versions(third, OWNER_ACTOR).result(30)] == [first, third]
    rig.undo()  # of the second edit: what it replaced is gone
    assert traces(rig) == []


def test_other_rows_of_a_step_can_still_be_undone(rig: Rig) -> None:
    report = rig.bring([*facts(3), {"text": TEXT, "kind": "fact", "ref": "secret"}])
    before = rig.dump()
    gone = str(rig.value("SELECT id FROM memories WHERE text = ?", TEXT))
    erase(rig, gone)
    assert len(differences(before, rig.dump())["memories"][0]) == 1
    undone = rig.unimport(report.import_id)
    assert undone.left == ()
    assert rig.texts(None) == []
    rig.undo(undone.undo_step_id)
    assert len(rig.texts(None)) == 3
    assert traces(rig) == []


def test_a_step_of_which_nothing_is_left_is_no_step(rig: Rig) -> None:
    kept = rig.store("Ada keeps bees").memory_id
    gone = rig.store(TEXT).memory_id
    erase(rig, gone)
    assert rig.value("SELECT count(*) FROM undo_steps") == 1
    rig.undo()  # the newest that stands
    assert rig.rows("SELECT id FROM memories WHERE id = ?", kept) == []
    assert error_of(rig.engine.memories.undo_step(None, OWNER_ACTOR)).code is Code.NOT_FOUND


def test_a_digest_of_it_goes_and_its_other_sources_stand_again(rig: Rig) -> None:
    ids = [rig.store(text).memory_id for text in (TEXT, "The cellar has three steps.", "The cellar is damp.")]
    digest = rig.store(f"Cellar: {MARK} key; three steps; damp.", kind=Kind.DIGEST).memory_id
    beneath = {"status": "consolidated", "status_reason": "digest", "consolidated_into": digest}
    for one in ids:
        belief_rig.derive(rig, digest, one)
        belief_rig.change(rig, one, **beneath)
    told = rig.engine.memories.erase_preview([ids[0]]).result(30)
    assert {(item.id, item.why) for item in told.items} == {(ids[0], "asked"), (digest, "made_of_it")}
    assert told.back == tuple(ids[1:])
    assert erase(rig, ids[0]).memories == 2
    assert traces(rig) == []
    assert {rig.get(one).status.value for one in ids[1:]} == {"active"}
    # The digest itself erased: all its sources stand again.
    other = rig.store("The cellar has three damp steps.", kind=Kind.DIGEST).memory_id
    for one in ids[1:]:
        belief_rig.derive(rig, other, one)
        belief_rig.change(rig, one, **(beneath | {"consolidated_into": other}))
    erase(rig, other)
    assert {rig.get(one).status.value for one in ids[1:]} == {"active"}


def test_what_lies_beneath_goes_with_it(rig: Rig) -> None:
    top = rig.store("The key is under the step.").memory_id
    copy = rig.store(TEXT).memory_id
    belief_rig.change(rig, copy, status="consolidated", status_reason="duplicate", consolidated_into=top)
    assert erase(rig, top).memories == 2
    assert traces(rig) == []


def test_an_original_of_a_united_text_takes_the_united_one_with_it(rig: Rig) -> None:
    kept, other = rig.store("The cellar is damp.").memory_id, rig.store(TEXT).memory_id
    vector = rig.opened.search.embedder.embed_one("united")

    def unite(tx: Any) -> str:
        with rig.opened.storage.work.verb(tx, "resolve", "Unite", OWNER_ACTOR) as verb:
            transitions = rig.opened.search.store_service.make_transitions(tx, verb, rig.opened.search.add_vectors)
            return transitions.merge_into(kept, f"The cellar is damp. {TEXT}", vector, other).original_id

    original = rig.write(unite)
    told = rig.engine.memories.erase_preview([other]).result(30)
    assert {item.id: item.why for item in told.items} == {other: "asked", kept: "made_of_it"}
    erase(rig, other)
    assert traces(rig) == []
    assert rig.get(original).status.value == "active"
    assert rig.get(original).text == "The cellar is damp."
    assert rig.value("SELECT count(*) FROM memory_sources WHERE memory_id = ?", original) == 1
    assert rig.value("SELECT read_at FROM memories WHERE id = ?", original) is None
    assert rig.found("damp cellar") == ["The cellar is damp."]
    assert rig.verify()["status"] == "ok"


def test_a_claim_goes_with_the_last_memory_that_says_it(rig: Rig) -> None:
    one, two = rig.store(TEXT).memory_id, rig.store("Ada: the key lies under the third step.").memory_id
    alone = belief_rig.claim(rig, one, "has_key", MARK, MARK)
    shared = belief_rig.claim(rig, one, "key_place", "third step", "third step")
    belief_rig.evidence(rig, shared, two, "third step")
    belief_rig.evidence(rig, alone, two, "key", stance="contradicting")
    erase(rig, one)
    assert rig.rows("SELECT id, state FROM claims") == [(shared, "asserted")]
    assert rig.rows("SELECT memory_id FROM evidence") == [(two,)]
    assert traces(rig) == []
    assert rig.engine.memories.reconcile_all().result(30).states == 0


def test_entities_of_rules_go_when_nothing_mentions_them(rig: Rig) -> None:
    one, two = rig.store(TEXT).memory_id, rig.store("Ada keeps bees").memory_id
    home = rig.value("SELECT space_id FROM memories WHERE id = ?", one)

    def write(tx: Any) -> None:
        for name, made_by in ((MARK, "rules"), ("Ada", "rules"), ("Step", "owner")):
            row = {"id": f"e-{name}", "space_id": home, "name": name, "type": "other", "recorded_at": 0}
            tx.insert("entities", {**row, "made_by": made_by, "summary": f"Of {MARK}" if name == "Ada" else None})
            key = {"entity_id": f"e-{name}", "recorded_at": 0}
            tx.insert("entity_aliases", {**key, "alias": name, "alias_key": name.lower()})
        tx.insert("entity_aliases", {"entity_id": "e-Ada", "alias": MARK, "alias_key": "turm", "recorded_at": 0})
        for memory, name in ((one, MARK), (one, "Ada"), (one, "Step"), (two, "Ada")):
            tx.insert("mentions", {"memory_id": memory, "entity_id": f"e-{name}", "start_at": 0, "end_at": 3})

    rig.write(write)
    erase(rig, one)
    assert rig.rows("SELECT name FROM entities ORDER BY name") == [("Ada",), ("Step",)]
    assert rig.rows("SELECT alias FROM entity_aliases ORDER BY alias") == [("Ada",), ("Step",)]
    assert traces(rig) == []


def test_a_conversation_loses_its_title_or_itself(rig: Rig) -> None:
    titled = [{**row, "title": "x"} for row in talk(2)]
    rig.bring([*titled, {"text": TEXT, "session": "s", "ref": "s-9"}])
    alone = rig.bring([{"text": f"Alone with the {MARK}", "session": "t", "ref": "t-1"}], name="t.jsonl")
    assert alone.stored == 1
    rig.write(lambda tx: tx.run("UPDATE memories SET access_count = 0"))
    talk_id = rig.value("SELECT conversation_id FROM memories WHERE text = ?", TEXT)
    rig.write(lambda tx: tx.update("conversations", {"id": talk_id}, {"title": TEXT[:30] + "…"}))
    for text in (TEXT, f"Alone with the {MARK}"):
        erase(rig, str(rig.value("SELECT id FROM memories WHERE text = ?", text)))
    assert rig.rows("SELECT id, title FROM conversations") == [(talk_id, None)]
    assert traces(rig) == []


def test_a_room_named_after_it_gets_another_name(rig: Rig) -> None:
    gone, kept = rig.store(TEXT).memory_id, rig.store("Ada keeps bees near the orchard").memory_id
    home = rig.value("SELECT space_id FROM memories WHERE id = ?", gone)

    def write(tx: Any) -> None:
        ground = {"x": 0.0, "y": 0.0, "w": 9.0, "h": 9.0, "created_at": 0, "space_id": home, "made_by": "lifecycle"}
        tx.insert("rooms", {"id": "wing", "name": "home", **ground})
        tx.insert("rooms", {"id": "room", "parent_id": "wing", "name": f"{MARK}, Bees", **ground})
        for x, memory in enumerate((gone, kept)):
            row = {"memory_id": memory, "room_id": "room", "x": float(x), "y": 0.0, "placed_by": "lifecycle"}
            tx.insert("places", row)

    rig.write(write)
    erase(rig, gone)
    assert traces(rig) == []
    assert "room" in {row[0] for row in rig.rows("SELECT id FROM rooms")}


def test_a_room_called_after_who_speaks_in_it_names_nobody_who_is_gone(rig: Rig) -> None:
    rows = [
        {"text": f"{who} is here, {nr}.", "author": who, "session": "s"} for who in ("Ilka", "Mara") for nr in (1, 2)
    ]
    rig.bring(rows)
    ids: dict[str, str] = dict(rig.rows("SELECT id, author FROM memories"))
    home = rig.value("SELECT space_id FROM memories LIMIT 1")

    def write(tx: Any) -> None:
        ground = {"x": 0.0, "y": 0.0, "w": 9.0, "h": 9.0, "created_at": 0, "space_id": home, "made_by": "lifecycle"}
        tx.insert("rooms", {"id": "wing", "name": "home", **ground})
        tx.insert("rooms", {"id": "room", "parent_id": "wing", "name": "Spring 2023, Ilka and Mara", **ground})
        for x, memory in enumerate(ids):
            row = {"memory_id": memory, "room_id": "room", "x": float(x), "y": 0.0, "placed_by": "lifecycle"}
            tx.insert("places", row)

    rig.write(write)
    first, second = (memory for memory, author in ids.items() if author == "Ilka")
    erase(rig, first)
    assert rig.value("SELECT name FROM rooms WHERE id = 'room'") == "Spring 2023, Ilka and Mara"
    erase(rig, second)
    assert "Ilka" not in rig.value("SELECT name FROM rooms WHERE id = 'room'")


def test_a_room_called_by_the_title_of_a_conversation_that_is_gone_gets_another_name(rig: Rig) -> None:
    rig.bring([{"text": "We sail on Friday", "author": "Ilka", "session": "s"}])
    gone = str(rig.value("SELECT id FROM memories"))
    kept = rig.store("Ada keeps bees near the orchard").memory_id
    home = rig.value("SELECT space_id FROM memories LIMIT 1")
    talk = rig.value("SELECT id FROM conversations")

    def write(tx: Any) -> None:
        ground = {"x": 0.0, "y": 0.0, "w": 9.0, "h": 9.0, "created_at": 0, "space_id": home, "made_by": "lifecycle"}
        tx.update("conversations", {"id": talk}, {"title": "Packing list for Lofoten"})
        tx.insert("rooms", {"id": "wing", "name": "home", **ground})
        tx.insert("rooms", {"id": "room", "parent_id": "wing", "name": "Packing list for Lofoten", **ground})
        for x, memory in enumerate((gone, kept)):
            row = {"memory_id": memory, "room_id": "room", "x": float(x), "y": 0.0, "placed_by": "lifecycle"}
            tx.insert("places", row)

    rig.write(write)
    erase(rig, gone)
    assert "Lofoten" not in rig.value("SELECT name FROM rooms WHERE id = 'room'")


def test_a_question_saved_for_two_goes_on_with_one(rig: Rig) -> None:
    gone, kept = rig.store(TEXT).memory_id, rig.store("Ada keeps bees").memory_id
    both = rig.engine.recall_trials.save_probe("Where is what?", "positive", [gone, kept]).result(30)
    alone = rig.engine.recall_trials.save_probe("Where is the key?", "positive", [gone]).result(30)
    erase(rig, gone)
    assert [(one.id, one.memory_ids) for one in rig.engine.recall_trials.list_probes().result(30)] == [
        (both.id, (kept,))
    ]
    assert alone.id != both.id
    rig.engine.recall_trials.delete_probe(both.id).result(30)


def test_only_the_person_erases(rig: Rig) -> None:
    gone = rig.store(TEXT).memory_id
    bot = rig.client("bot", "read", "write", "curate")
    with refused(Code.ACCESS_DENIED):
        rig.engine.memories.erase([gone], bot)
    assert error_of(rig.engine.memories.erase(["nothing"], OWNER_ACTOR)).code is Code.NOT_FOUND
    assert error_of(rig.engine.memories.erase_preview(["nothing"])).code is Code.NOT_FOUND
    assert rig.texts() == [TEXT]


def test_the_audit_tells_ids_and_counts(rig: Rig) -> None:
    gone = rig.store(TEXT).memory_id
    erase(rig, gone)
    actor, verb, name, detail = rig.rows("SELECT actor, verb, object, detail FROM audit ORDER BY nr DESC LIMIT 1")[0]
    assert (actor, verb, name) == ("owner", "erase", gone)
    assert json.loads(detail) == {"asked": 1, "back": 0, "memories": 1, "rows": 0}


# ---- it does not come back


def test_an_import_does_not_bring_it_back(rig: Rig) -> None:
    rows = [*facts(2), {"text": TEXT, "kind": "fact", "ref": "secret"}]
    rig.bring(rows)
    erase(rig, str(rig.value("SELECT id FROM memories WHERE text = ?", TEXT)))
    again = rig.bring(rows, name="again.jsonl")
    assert dict(again.skipped) == {"known": 2, "erased": 1}
    # Another record of the same words, written a little differently.
    other = [{"text": f"  {TEXT.upper()} ", "kind": "episode", "ref": "other"}]
    seen = rig.engine.imports.rehearse(rig.write_rows(other, "other.jsonl"), None, OWNER_ACTOR).result(30)
    assert dict(seen.skipped) == {"erased": 1}
    assert dict(rig.bring(other, name="other.jsonl").skipped) == {"erased": 1}
    assert traces(rig) == []


def test_a_client_is_refused_without_being_told(rig: Rig) -> None:
    bot = rig.client("bot", "read", "write")
    shy = rig.client("shy", "read", "propose")
    erase(rig, rig.store(TEXT).memory_id)
    for actor in (bot, shy):
        for kind in (Kind.FACT, Kind.EPISODE):
            request = f"{actor.name}-{kind.value}"
            reply = rig.store(TEXT, actor, kind=kind, request_id=request)
            assert rig.store(TEXT, actor, kind=kind, request_id=request) == reply
            with refused(Code.INVALID_INPUT):
                rig.store("The roof was mended in May.", actor, kind=kind, request_id=request)
            assert (reply.operation, reply.deduplicated, reply.conflict) == ("NOOP", True, None)
            assert error_of(rig.engine.memories.get(reply.memory_id, OWNER_ACTOR)).code is Code.NOT_FOUND
    assert traces(rig) == []


def test_a_request_with_an_erased_text_is_known_again_by_a_digest_under_a_key(rig: Rig, tmp_path: Path) -> None:
    """A plain one would tell whether a text was it; this tells only who has this vault's key, as a tombstone does."""
    with rig_at(tmp_path / "other") as other:
        other.store(TEXT, other.client("bot", "read", "write"), request_id="r")
        plain = other.value("SELECT digest FROM requests")
    bot = rig.client("bot", "read", "write")
    before = rig.store(TEXT, bot, request_id="early")
    assert rig.value("SELECT digest FROM requests") == plain
    erase(rig, rig.store("The roof was mended in May.").memory_id)
    assert rig.value("SELECT digest FROM requests") != plain  # from before there was a key
    assert rig.store(TEXT, bot, request_id="early") == before
    with refused(Code.INVALID_INPUT):
        rig.store("The roof was mended in June.", bot, request_id="early")
    erase(rig, before.memory_id)
    reply = rig.store(TEXT, bot, request_id="r")
    assert rig.value("SELECT count(*) FROM requests") == 1
    assert rig.value("SELECT digest FROM requests") != plain
    assert rig.store(TEXT, bot, request_id="r") == reply


def test_the_person_may_say_it_again(rig: Rig) -> None:
    bot = rig.client("bot", "read", "write")
    erase(rig, rig.store(TEXT).memory_id)
    assert rig.store(TEXT).operation == "ADD"
    assert rig.value("SELECT count(*) FROM tombstones WHERE kind = 'text'") == 0
    assert rig.store(TEXT, bot).operation == "ADD"  # into its own space
    assert rig.texts() == [TEXT, TEXT]


def test_the_digest_of_a_text_tells_nothing_without_the_key(rig: Rig, tmp_path: Path) -> None:
    erase(rig, rig.store(TEXT).memory_id)
    mine = rig.value("SELECT digest FROM tombstones")
    with rig_at(tmp_path / "other") as other:
        erase(other, other.store(TEXT).memory_id)
        assert other.value("SELECT digest FROM tombstones") != mine


def test_work_in_flight_does_not_bring_it_back(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """T9: vectors were made, an answer was read, before the erasure; both arrive after it."""
    gone = rig.store(TEXT).memory_id
    rig.store("Ada keeps bees")
    memories = rig.opened.storage.vault.read(lambda rows: list(read_by_ids(rows, [gone]).values()))
    vectors = rig.opened.search.embedder.embed([TEXT])
    noting = type(rig.opened.read_log).note_read
    held: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def note(_: Any, *args: Any, **more: Any) -> str:
        held.append((args, more))
        return "receipt"

    with monkeypatch.context() as patch:
        patch.setattr(type(rig.opened.read_log), "note_read", note)
        rig.engine.memories.build_context(ContextQuery("the key of the third step"), OWNER_ACTOR).result(30)
        rig.recall(TEXT)
    erase(rig, gone)
    for args, more in held:
        noting(rig.opened.read_log, *args, **more)
    rig.engine.flush_journal()
    rig.opened.storage.write(_vectors_of(rig.opened.search, memories, vectors)).result(30)
    assert traces(rig) == []
    assert rig.value("SELECT count(*) FROM receipts") == 2
    assert rig.found("key third step", mode="semantic") == []
    rig.lock()
    rig.unlock()
    rig.settle()
    assert rig.found("key third step", mode="semantic") == []
    assert rig.value("SELECT count(*) FROM embeddings") == 1


def test_an_import_in_flight_does_not_bring_it_back(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.store(TEXT)
    embedding = WordEmbedder.embed
    done: list[Erased] = []

    def embed(self: Any, texts: Any) -> Any:
        if not done and any(MARK in text for text in texts):
            done.append(erase(rig, str(rig.value("SELECT id FROM memories WHERE text = ?", TEXT))))
        return embedding(self, texts)

    monkeypatch.setattr(WordEmbedder, "embed", embed)
    report = rig.bring([{"text": TEXT, "kind": "episode", "ref": "x"}, *facts(1)])
    assert done == [Erased(1, ())]
    assert dict(report.skipped) == {"erased": 1}
    assert traces(rig) == []


# ---- beside the vault


def test_the_snapshot_goes_and_the_next_one_does_not_hold_it(rig: Rig) -> None:
    rig.bring(facts(20))
    gone = rig.store(TEXT).memory_id
    label = rig.value("SELECT n FROM memories WHERE id = ?", gone)
    rig.lock()
    assert rig.home.snapshot.exists()
    rig.unlock()
    rig.settle()
    erase(rig, gone)
    assert not rig.home.snapshot.exists()
    rig.lock()
    assert rig.home.snapshot.exists()
    rig.unlock()
    rig.settle()
    assert label not in rig.opened.search.index.settled_index().labels()  # type: ignore[union-attr]


def test_vanished_words_are_scrubbed_though_a_lock_came_first(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.opened.storage.threads.stop_tickers()
    erase(rig, rig.store(TEXT).memory_id)
    assert rig.value("SELECT count(*) FROM settings WHERE key = 'scrub_due'") == 1
    with monkeypatch.context() as patch:
        patch.setattr(startup, "_last_scrub", lambda *_: None)
        rig.lock()
    rig.unlock()
    rig.lock()
    rig.unlock()
    assert rig.value("SELECT count(*) FROM settings WHERE key = 'scrub_due'") == 0
    found = rig.engine.vault.verify().result(60)
    assert found["status"] == CheckOutcome.OK.value


def test_backups_that_hold_it_are_named(rig: Rig) -> None:
    rig.store("Ada keeps bees")
    before = Path(rig.engine.vault.backup().result(60)["path"]).name
    later(rig, 1)
    gone = rig.store(TEXT).memory_id
    later(rig, 1)
    after = Path(rig.engine.vault.backup().result(60)["path"]).name
    assert [name for name, _ in backups_of(rig.home)] == [before, after]
    assert rig.engine.memories.erase_preview([gone]).result(30).backups == (after,)
    assert erase(rig, gone).backups == (after,)
