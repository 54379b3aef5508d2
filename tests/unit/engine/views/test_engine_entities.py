"""The register of entities (seed B): made, changed, found by name, merged and taken apart; and who sees what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from belief_rig import claim
from engine_rig import Rig, differences, rig_at
from entity_rig import change, found, get, make, merge, named, refused
from statement_rows import mark_small_talk

from core.engine.views.entities import Entities
from core.entities import registry
from core.errors import Code, LociError
from core.types.entities import EntityChange, EntityQuery, Resolving
from core.types.values import OWNER_ACTOR, Kind

# ---- entity identity registry


def test_entity_schema(rig: Rig) -> None:
    one = make(rig, "Rosa Castellanos", aliases=("Rosie",), metadata={"city": "Porto"})
    again = get(rig, one.id)
    assert again == one
    assert (one.name, one.type, one.space, one.aliases, one.metadata) == (
        "Rosa Castellanos",
        "person",
        "home",
        ("Rosie",),
        {"city": "Porto"},
    )
    assert (one.made_by, one.merged_into) == ("owner", None)
    assert one.created_at == one.updated_at == rig.clock.now_ms()


def test_uniqueness_constraint_on_entities(rig: Rig) -> None:
    make(rig, "Rosa")
    assert refused(lambda: make(rig, "ROSA"))[0] is Code.INVALID_INPUT
    make(rig, "Rosa", "organization")
    make(rig, "Rosa", space="work")
    make(rig, "Rosalind", aliases=("Rosa",))  # another name is no duplicate
    assert rig.value("SELECT count(*) FROM entities") == 4


def test_entity_type_validation(rig: Rig) -> None:
    code, sentence = refused(lambda: make(rig, "Rosa", "ghost"))
    assert code is Code.INVALID_INPUT
    assert all(kind in sentence for kind in registry.TYPES)
    with pytest.raises(LociError):
        make(rig, "...")
    with pytest.raises(LociError):
        make(rig, "a\nb")
    with pytest.raises(LociError):
        make(rig, "Rosa", metadata={"merged_into": "x"})
    with pytest.raises(LociError):
        make(rig, "Rosa", metadata={"note": "x" * 9_000})


def test_entity_update_semantics(rig: Rig) -> None:
    one = make(rig, "Rosa", aliases=("Rosie", "Rose"), metadata={"a": 1, "b": 2})
    rig.clock.advance(5)  # type: ignore[attr-defined]
    now = change(rig, one, name="Rosalind", aliases=("Rose", "Ros"), metadata={"b": 3, "c": 4})
    assert now.name == "Rosalind"
    assert set(now.aliases) == {"Rose", "Ros"}
    assert now.metadata == {"a": 1, "b": 3, "c": 4}
    assert now.updated_at > one.updated_at == now.created_at
    assert found(rig, "rosa") == [("Rosalind", "prefix", 50.0)]
    assert change(rig, one, metadata={"a": None}).aliases == now.aliases


def test_a_change_is_one_step_that_is_taken_back(rig: Rig) -> None:
    one = make(rig, "Rosa", aliases=("Rosie",))
    before = rig.dump()
    change(rig, one, name="Rosalind", aliases=())
    assert get(rig, one.id).aliases == ()
    assert rig.undo().left == ()
    assert differences(before, rig.dump()).keys() <= set()
    rig.undo(rig.value("SELECT id FROM undo_steps WHERE verb = 'entity_create'"))
    assert rig.value("SELECT count(*) FROM entities") == 0


# ---- entity resolution with tiered candidate discovery


def test_exact_alias_and_prefix_tiers(rig: Rig) -> None:
    make(rig, "Rosa", aliases=("The Singer",))
    make(rig, "Rosa Castellanos", aliases=("Rosie",))
    assert found(rig, "ROSA") == [("Rosa", "exact", 100.0), ("Rosa Castellanos", "prefix", 50.0)]
    assert found(rig, "rosie") == [("Rosa Castellanos", "alias", 80.0)]
    assert found(rig, "singer") == [("Rosa", "prefix", 50.0)]
    assert found(rig, "Rosa", type="place") == []


def test_fuzzy_match_is_opt_in(rig: Rig) -> None:
    make(rig, "Castellanos")
    assert found(rig, "Castelanos") == []
    assert found(rig, "Castelanos", fuzzy=True) == [("Castellanos", "fuzzy", 20.0)]
    assert found(rig, "Xy", fuzzy=True) == []


def test_no_candidates_found_makes_none(rig: Rig) -> None:
    assert found(rig, "Nobody", fuzzy=True) == []
    assert rig.value("SELECT count(*) FROM entities") == 0


def test_graph_neighborhood_scoring_with_context_hints(rig: Rig) -> None:
    for name, text in (("Anna Abel", "Anna Abel plays the piano."), ("Anna Zorn", "Anna Zorn repairs engines.")):
        named(rig, text, name)
    assert found(rig, "Anna") == [("Anna Abel", "prefix", 50.0), ("Anna Zorn", "prefix", 50.0)]
    (first, by, score), (_, _, other) = found(rig, "Anna", topic="engines repair")
    assert (first, by) == ("Anna Zorn", "prefix")
    assert 50 < score <= 70
    assert other == 50
    assert found(rig, "Anna", mentioned_with=("piano",))[0][0] == "Anna Abel"


def test_domain_scores_from_context_hints(rig: Rig) -> None:
    one, two = make(rig, "Anna Abel"), make(rig, "Anna Zorn")
    assert found(rig, "Anna", domain_scores={two.id: 7.5, "nobody": 99}) == [
        ("Anna Zorn", "prefix", 57.5),
        ("Anna Abel", "prefix", 50.0),
    ]
    assert found(rig, "Anna", domain_scores={one.id: -60.0})[-1] == ("Anna Abel", "prefix", -10.0)


def test_tombstoned_entities_are_no_candidates(rig: Rig) -> None:
    one, two = make(rig, "Rosa"), make(rig, "Rosa Castellanos")
    merge(rig, one, two)
    assert found(rig, "Rosa") == [("Rosa Castellanos", "alias", 80.0)]


# ---- entity merge with fact conflict resolution


def about(rig: Rig, entity: str | None, subject: str, value: str, confidence: float) -> str:
    memory = rig.store(f"{subject} is told to be in {value}.").memory_id
    made = claim(rig, memory, "lives_in", value, value, subject=subject, confidence=confidence)
    if entity is not None:
        rig.write(lambda tx: tx.update("claims", {"id": made}, {"subject_entity_id": entity}))
    return made


def states(rig: Rig, *claims: str) -> list[str]:
    return [rig.value("SELECT state FROM claims WHERE id = ?", one) for one in claims]


def test_fact_re_pointing_without_conflict(rig: Rig) -> None:
    source, target = make(rig, "Rosa"), make(rig, "Rosa Castellanos")
    told = about(rig, source.id, "Rosa", "Porto", 0.5)
    done = merge(rig, source, target)
    assert (done.operation, done.facts_repointed, done.facts_superseded) == ("MERGE", 1, 0)
    assert rig.value("SELECT subject_entity_id FROM claims WHERE id = ?", told) == target.id
    assert states(rig, told) == ["asserted"]


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize(
    ("of_source", "of_target", "left"),
    [(0.9, 0.6, ["asserted", "superseded"]), (0.6, 0.9, ["superseded", "asserted"]),
     (0.7, 0.7, ["superseded", "asserted"])],
)  # fmt: skip
def test_fact_conflict_resolution_by_confidence(
    rig: Rig, of_source: float, of_target: float, left: list[str], linked: bool
) -> None:
    source, target = make(rig, "Rosa"), make(rig, "Rosa Castellanos")
    claims = [
        about(rig, source.id if linked else None, "Rosa", "Vigo", of_source),
        about(rig, target.id if linked else None, "Rosa Castellanos", "Porto", of_target),
    ]
    seen = rig.engine.entities.merge_preview(target.id, source.id).result(10)
    assert [(one.value, two.value) for one, two in seen.ending] == [
        ("Porto", "Vigo") if left[0] == "asserted" else ("Vigo", "Porto")
    ]
    done = merge(rig, source, target)
    assert (done.facts_repointed, done.facts_superseded) == (seen.claims, len(seen.ending)) == (1, 1)
    assert states(rig, *claims) == left


def test_a_name_that_two_have_tells_nothing(rig: Rig) -> None:
    source, target = make(rig, "Rosa"), make(rig, "Rosa Castellanos")
    make(rig, "Rosa", "organization")
    claims = [about(rig, None, "Rosa", "Vigo", 0.9), about(rig, None, "Rosa Castellanos", "Porto", 0.6)]
    assert merge(rig, source, target).facts_superseded == 0
    assert states(rig, *claims) == ["asserted", "asserted"]


def test_alias_and_metadata_merging_and_tombstoning(rig: Rig) -> None:
    source = make(rig, "Rosa", aliases=("Rosie", "ROSE"), metadata={"city": "Vigo", "job": "singer"})
    target = make(rig, "Rosa Castellanos", aliases=("Rose",), metadata={"city": "Porto"})
    rig.clock.advance(3)  # type: ignore[attr-defined]
    done = merge(rig, source, target)
    now, gone = get(rig, target.id), get(rig, source.id)
    assert now.aliases == ("Rose", "Rosa", "Rosie") or set(now.aliases) == {"Rose", "Rosa", "Rosie"}
    assert done.aliases_added == 2
    assert now.metadata == {"city": "Porto", "job": "singer"}
    assert gone.merged_into == target.id
    assert gone.updated_at == rig.clock.now_ms() > gone.created_at


def test_audit_event_for_merge(rig: Rig) -> None:
    source, target = make(rig, "Rosa"), make(rig, "Rosa Castellanos")
    merge(rig, source, target)
    verb, detail = rig.rows("SELECT verb, detail FROM audit ORDER BY nr DESC LIMIT 1")[0]
    assert verb == "entity_merge"
    told = json.loads(detail)
    assert {
        "source_entity_id",
        "target_entity_id",
        "facts_repointed",
        "facts_superseded",
        "aliases_added",
    } <= told.keys()
    assert "Rosa" not in detail


def test_merge_validation(rig: Rig) -> None:
    source, target = make(rig, "Rosa"), make(rig, "Rosa Castellanos")
    elsewhere = make(rig, "Rosa", space="work")
    assert refused(lambda: merge(rig, source, source))[0] is Code.INVALID_INPUT
    assert refused(lambda: merge(rig, source, elsewhere))[0] is Code.INVALID_INPUT
    with pytest.raises(LociError) as caught:
        rig.engine.entities.merge(source.id, "nobody").result(10)
    assert caught.value.code is Code.NOT_FOUND
    merge(rig, source, target)
    assert refused(lambda: merge(rig, source, target))[0] is Code.INVALID_INPUT
    assert refused(lambda: merge(rig, target, source))[0] is Code.INVALID_INPUT


def test_a_merge_is_taken_apart_again(rig: Rig) -> None:
    a = named(rig, "Rosa sings in Vigo.", "Rosa")
    b = named(rig, "Rosa Castellanos sings in Porto.", "Rosa Castellanos")
    before = rig.dump()
    merge(rig, get(rig, a), get(rig, b))
    view = rig.engine.entities.read_detail(b).result(10)
    assert view.mentions == 2
    assert [(one.id, one.name) for one in view.joined] == [(a, "Rosa")]
    assert rig.undo(view.joined[0].step_id).left == ()
    assert differences(before, rig.dump()).keys() <= {"claims"}
    assert rig.engine.entities.read_detail(b).result(10).joined == ()


def test_a_request_is_carried_out_once(rig: Rig) -> None:
    one = make(rig, "Rosa", request_id="r-1")
    assert make(rig, "Rosa", request_id="r-1") == one
    assert refused(lambda: make(rig, "Rosa Maria", request_id="r-1"))[0] is Code.INVALID_INPUT
    two = make(rig, "Rosa Castellanos")
    done = merge(rig, one, two, request_id="r-2")
    assert merge(rig, one, two, request_id="r-2") == done


# ---- who sees what


def test_a_client_sees_its_spaces_and_no_name_of_what_it_may_not_see(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write", "curate")
    own = make(rig, "Own Thing", "other", plug)
    assert own.space == "client:plug"
    hidden = named(rig, "Hidden Hugo sings.", "Hidden Hugo")
    rig.store("x", space="GLOBAL")
    shared = named(rig, "Shared Sara sings.", "Shared Sara", space="GLOBAL")
    there, missing = refused(lambda: get(rig, hidden, plug)), refused(lambda: get(rig, "nobody", plug))
    assert there == missing
    for call in (
        lambda one: rig.engine.entities.update(one, EntityChange(name="New"), plug).result(10),
        lambda one: rig.engine.entities.merge(one, own.id, plug).result(10),
        lambda one: rig.engine.entities.merge(own.id, one, plug).result(10),
    ):
        assert refused(lambda: call(hidden)) == refused(lambda: call("nobody"))  # noqa: B023
    assert found(rig, "Hugo", plug, fuzzy=True) == []
    assert found(rig, "Sara", plug) == [("Shared Sara", "prefix", 50.0)]
    rig.forget(rig.value("SELECT memory_id FROM mentions WHERE entity_id = ?", shared))
    assert found(rig, "Sara", plug) == []
    assert found(rig, "Sara") == [("Shared Sara", "prefix", 50.0)]


def test_hints_weigh_with_facts_of_the_scope_alone(rig: Rig) -> None:
    plug = rig.client("plug", "read")
    shared = named(rig, "Anna Abel sings.", "Anna Abel", space="GLOBAL")
    other = rig.store("Anna Abel hides a violin.")

    def mention(tx: Any) -> None:
        tx.insert("mentions", {"memory_id": other.memory_id, "entity_id": shared, "start_at": 0, "end_at": 9})

    rig.write(mention)
    assert found(rig, "Anna", topic="violin")[0][2] > 50
    assert found(rig, "Anna", plug, topic="violin") == [("Anna Abel", "prefix", 50.0)]


def test_a_client_makes_where_it_may_write(rig: Rig) -> None:
    reader, writer = rig.client("reader", "read", "propose"), rig.client("writer", "read", "write")
    assert refused(lambda: make(rig, "Rosa", actor=reader))[0] is Code.ACCESS_DENIED
    for space in ("GLOBAL", "home", "nowhere"):
        assert refused(lambda: make(rig, "Rosa", actor=writer, space=space))[0] is Code.ACCESS_DENIED  # noqa: B023
    one = make(rig, "Rosa", actor=writer)
    assert one.made_by == "client"
    assert refused(lambda: change(rig, one, writer, name="Ros"))[0] is Code.ACCESS_DENIED
    assert rig.value("SELECT count(*) FROM spaces WHERE name = 'nowhere'") == 0


def test_a_client_without_curate_proposes_a_merge(rig: Rig) -> None:
    plug = rig.client("plug", "read", "propose")
    a = named(rig, "Rosa sings.", "Rosa", space="GLOBAL")
    b = named(rig, "Rosa Castellanos sings.", "Rosa Castellanos", space="GLOBAL")
    done = merge(rig, get(rig, a), get(rig, b), plug)
    assert done.operation == "PROPOSED"
    assert done.conflict is not None
    assert get(rig, a).merged_into is None
    again = merge(rig, get(rig, a), get(rig, b), plug)
    assert (again.operation, again.conflict) == ("PROPOSED", done.conflict)
    item = rig.engine.conflicts.read_item(done.conflict).result(10)
    assert "client" in item.why[0].lower()
    reader = rig.client("reader", "read")
    assert refused(lambda: merge(rig, get(rig, a), get(rig, b), reader))[0] is Code.ACCESS_DENIED


def test_a_merge_that_waits_is_its_clients_own_question(rig: Rig) -> None:
    """It counts for its bound, the person sees who asks and turns all of it down at once, and no other client hears."""
    rig.opened.storage.work.client_waits = 2
    plug = rig.client("plug", "read", "propose", "space:home")
    other = rig.client("other", "read", "propose", "space:home")
    known = [named(rig, f"{name} sings.", name, space="home") for name in ("Rosa", "Rosalind", "Rosanna", "Rosetta")]
    asked = [merge(rig, get(rig, known[0]), get(rig, one), plug).conflict for one in known[1:3]]
    assert None not in asked
    assert refused(lambda: merge(rig, get(rig, known[0]), get(rig, known[3]), plug))[0] is Code.RATE_LIMITED
    assert merge(rig, get(rig, known[1]), get(rig, known[3]), other).operation == "PROPOSED"
    assert "plug asked whether they are one." in rig.engine.conflicts.read_item(str(asked[0])).result(10).why
    seen = {who: {item.id for item in rig.engine.conflicts.list_items(who).result(10)} for who in (plug, other)}
    assert seen[plug] == set(asked)
    assert not seen[other] & set(asked)
    assert rig.engine.conflicts.turn_down("plug").result(30).items == 2
    assert rig.value("SELECT count(*) FROM conflicts WHERE state = 'open'") == 1


def test_the_question_names_both_and_a_client_is_told_no_name_of_the_owners(rig: Rig) -> None:
    plug = rig.client("plug", "read", "propose", "space:home")
    one, other = named(rig, "Rosa sings.", "Rosa", space="home"), named(rig, "Rosie sings.", "Rosie", space="home")
    asked = merge(rig, get(rig, other), get(rig, one), plug).conflict
    change(rig, get(rig, one), name="Rosa Castellanos")
    (told,) = rig.engine.conflicts.list_items(OWNER_ACTOR).result(10)
    assert (told.id, told.question) == (asked, "Are “Rosa Castellanos” and “Rosie” the same?")
    assert told.names == ("Rosa Castellanos", "Rosie")
    assert told.answers == ("same", "different", "skip")
    assert told.existing is not None
    assert (told.existing.text, told.incoming.text) == ("Rosa sings.", "Rosie sings.")
    (heard,) = rig.engine.conflicts.list_items(plug).result(10)
    assert (heard.question, heard.names) == ("Are these the same?", ())


def test_a_merge_is_proposed_only_where_a_memory_names_each(rig: Rig) -> None:
    plug = rig.client("plug", "read", "propose", "write")
    named_by, given = named(rig, "Rosa sings.", "Rosa", plug), make(rig, "Rosa Castellanos", actor=plug)
    code, sentence = refused(lambda: merge(rig, get(rig, named_by), given, plug))
    assert code is Code.ACCESS_DENIED
    assert "names each of the two" in sentence
    other = named(rig, "Rosie sings.", "Rosie", plug)
    assert merge(rig, get(rig, named_by), get(rig, other), plug).operation == "PROPOSED"  # no memory names both


def test_what_is_the_persons_a_client_with_curate_only_proposes(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write", "curate", "space:home")
    a, b = named(rig, "Rosa sings.", "Rosa"), named(rig, "Rosa Castellanos sings.", "Rosa Castellanos")
    mine = make(rig, "Ros")
    assert refused(lambda: change(rig, mine, plug, name="Nobody"))[0] is Code.ACCESS_DENIED
    # What the person said would end: the claims are of the person's own memories.
    about(rig, a, "Rosa", "Vigo", 0.9)
    about(rig, b, "Rosa Castellanos", "Porto", 0.6)
    assert merge(rig, get(rig, a), get(rig, b), plug).operation == "PROPOSED"


def test_a_client_with_curate_merges_its_own(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write", "curate")
    one, two = make(rig, "Rosa", actor=plug), make(rig, "Rosa Castellanos", actor=plug)
    done = merge(rig, one, two, plug)
    assert done.operation == "MERGE"
    assert rig.rows("SELECT actor, client_id FROM undo_steps WHERE id = ?", done.step_id) == [
        ("client", plug.client_id)
    ]
    rig.undo(done.step_id)
    assert get(rig, one.id).merged_into is None


# ---- the page


def test_lists_count_mentions_and_filter(rig: Rig) -> None:
    named(rig, "Rosa sings.", "Rosa")
    make(rig, "Atlas", "project", aliases=("the map",))
    page = rig.engine.entities.list_entities().result(10)
    assert [(one.name, one.mentions) for one in page.lines] == [("Rosa", 1), ("Atlas", 0)]
    assert (page.total, page.known, dict(page.by_type)) == (2, 2, {"person": 1, "project": 1})
    page = rig.engine.entities.list_entities(EntityQuery("MAP")).result(10)
    assert [one.name for one in page.lines] == ["Atlas"]
    page = rig.engine.entities.list_entities(EntityQuery(types=("person",))).result(10)
    assert ([one.name for one in page.lines], page.total) == (["Rosa"], 1)
    assert dict(page.by_type) == {"person": 1, "project": 1}


def test_detail_shows_where_it_is_named_and_what_is_said(rig: Rig) -> None:
    long = "x" * 300 + " Rosa lives in Porto."
    one = named(rig, long, "Rosa")
    about(rig, None, "Rosa", "Vigo", 0.9)
    view = rig.engine.entities.read_detail(one).result(10)
    (place,) = view.places
    assert place.text[place.start : place.end] == "Rosa"
    assert "Vigo" in [told.value for told in view.claims]


def test_where_it_is_named_statements_come_first_and_small_talk_last(rig: Rig) -> None:
    entity = named(rig, "Rosa lives in Porto.", "Rosa", kind=Kind.FACT)
    texts = ["Rosa plays the cello on Sundays.", "Hi Rosa! How are you?", "Rosa moved the piano upstairs."]
    ids = [rig.store(text, kind=Kind.EPISODE).memory_id for text in texts]
    over = rig.store("Rosa lives in Vigo.", kind=Kind.FACT).memory_id

    def write(tx: Any) -> None:
        for one, text in zip([*ids, over], [*texts, "Rosa"], strict=True):
            at = text.index("Rosa")
            tx.run("DELETE FROM mentions WHERE memory_id = ?", (one,))
            tx.insert("mentions", {"memory_id": one, "entity_id": entity, "start_at": at, "end_at": at + 4})
        tx.update("memories", {"id": over}, {"status": "archived"})

    rig.write(write)
    mark_small_talk(rig, ids[1])
    places = rig.engine.entities.read_detail(entity).result(10).places
    assert [place.text for place in places] == [
        "Rosa lives in Porto.",
        "Rosa moved the piano upstairs.",
        "Rosa plays the cello on Sundays.",
        "Hi Rosa! How are you?",
        "Rosa lives in Vigo.",
    ]


def test_a_merge_into_global_says_that_it_widens(rig: Rig) -> None:
    a, b = make(rig, "Rosa"), make(rig, "Rosa Castellanos", space="GLOBAL")
    seen = rig.engine.entities.merge_preview(b.id, a.id).result(10)
    assert (seen.widened, seen.refusal, seen.names) == (True, "", ("Rosa",))
    assert rig.engine.entities.merge_preview(a.id, b.id).result(10).refusal != ""


def test_a_locked_vault_answers_nothing(tmp_path: Path) -> None:
    with rig_at(tmp_path, is_open=False) as closed:
        group: Entities = closed.engine.entities
        for call in (group.list_entities, lambda: group.read_detail("x"), lambda: group.resolve(Resolving("x"))):
            with pytest.raises(LociError) as caught:
                call()
            assert caught.value.code is Code.VAULT_LOCKED
