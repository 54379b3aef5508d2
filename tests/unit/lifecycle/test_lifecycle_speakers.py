"""Speakers in a vault: entities from their first message on, the owner one of them, short forms of names as aliases."""

from __future__ import annotations

from engine_rig import Rig
from ground_rig import Ran, flow, ground_of

from core.lifecycle.enrich import EnrichJob
from core.types.values import Kind
from core.vault.memory_sql import ENTITY_TYPE

ENTITIES = "SELECT name, type FROM entities WHERE merged_into_id IS NULL ORDER BY name"


TYPES = f"SELECT e.name, {ENTITY_TYPE} FROM entities e"  # noqa: S608 - constants only


def enrich(rig: Rig) -> Ran:
    return flow(rig, EnrichJob(), ground_of(rig))


def talk(rig: Rig, *turns: tuple[str, str], session: str = "s1") -> None:
    rig.bring(
        [
            {"author": who, "text": text, "session": session, "ref": f"{session}-{n}"}
            for n, (who, text) in enumerate(turns)
        ],
        name=f"{session}.jsonl",
    )
    enrich(rig)


SPOKEN = (
    "SELECT e.name, count(*) FROM mentions n JOIN entities e ON e.id = n.entity_id WHERE n.start_at < 0 "
    "GROUP BY e.id ORDER BY 1"
)
NAMED = (
    "SELECT e.name, count(*) FROM mentions n JOIN entities e ON e.id = n.entity_id WHERE n.start_at >= 0 GROUP BY e.id"
)
ALIASES = "SELECT a.alias FROM entity_aliases a JOIN entities e ON e.id = a.entity_id WHERE e.name = ? ORDER BY 1"


def test_speakers_are_people_from_the_first_message_on(rig: Rig) -> None:
    talk(rig, ("Ilka", "the kettle is on"), ("Bo Ström", "coming"), ("assistant", "Noted."), ("Note", "buy milk"))
    assert rig.rows(SPOKEN) == [("Bo Ström", 1), ("Ilka", 1)]
    assert rig.rows(ENTITIES) == [("Bo Ström", "person"), ("Ilka", "person")]


def test_the_owner_is_one_entity_whatever_the_formats_call_them(rig: Rig) -> None:
    named = {"subject": "user", "predicate": "name_is", "value": "Greta"}
    rig.store("My name is Greta.", kind=Kind.FACT, claim=named)
    talk(rig, ("user", "hello there"), ("Me", "still here"), ("Ilka", "hi"), ("Greta", "me too"))
    talk(rig, ("You", "again"), session="s2")
    assert rig.rows(SPOKEN) == [("Ilka", 1), ("You", 4)]
    owners = rig.rows("SELECT name, space_id FROM entities WHERE extra ->> '$.owner' = 1")
    assert owners == [("You", "GLOBAL")]
    assert rig.rows(ALIASES, "You") == [], "a word that everybody is called by finds nobody"


def test_a_short_form_of_somebody_in_the_talk_is_another_name(rig: Rig) -> None:
    talk(rig, ("Caroline", "Hey Mel, how was the trip?"), ("Melanie", "Good, Caro."), ("Caroline", "Tell me, Mel!"))
    assert [row[0] for row in rig.rows(ENTITIES)] == ["Caroline", "Melanie"]
    assert rig.rows(ALIASES, "Melanie") == [("Mel",), ("Melanie",)]
    assert dict(rig.rows(NAMED)) == {"Caroline": 1, "Melanie": 2}


def test_two_who_speak_stay_two_and_a_doubtful_short_form_is_nobodys(rig: Rig) -> None:
    talk(rig, ("Sam", "Hello Samantha, it is me, Sam."), ("Samantha", "Hello Sam!"))
    assert [row[0] for row in rig.rows(ENTITIES)] == ["Sam", "Samantha"]
    assert rig.rows(ALIASES, "Samantha") == [("Samantha",)]


def test_what_was_made_of_a_short_form_goes_into_the_whole_name(rig: Rig) -> None:
    talk(rig, ("Caroline", "My friend Mel is here."), ("Bo", "We like Mel."))
    assert ("Mel", "person") in rig.rows(ENTITIES)
    talk(rig, ("Melanie", "it was me"), ("Caroline", "So it was, Mel."), session="s2")
    assert [row[0] for row in rig.rows(ENTITIES)] == ["Bo", "Caroline", "Melanie"]
    assert dict(rig.rows(NAMED)) == {"Melanie": 3}


def test_speakers_go_with_their_import(rig: Rig) -> None:
    before = rig.rows(ENTITIES)
    rows = [{"author": "Ilka", "text": "hello", "session": "a"}, {"author": "me", "text": "hi", "session": "a"}]
    report = rig.bring(rows)
    enrich(rig)
    assert len(rig.rows(ENTITIES)) == len(before) + 2
    rig.unimport(report.import_id)
    assert rig.rows(ENTITIES) == before


def test_a_note_without_a_talk_has_no_speaker(rig: Rig) -> None:
    rig.store("The kettle is on.", kind=Kind.EPISODE)
    enrich(rig)
    assert rig.rows(SPOKEN) == []


def test_names_before_colons_that_recur_speak_and_labels_do_not(rig: Rig) -> None:
    texts = [
        "Mara: is it done?\nBo: nearly\nMara: good",
        "Bo: see you\nNote: bring cake",
        "TODO: call the shop\nQ: why?",
        "Opening hours: ten\nOpening hours: noon",
    ]
    rig.bring([{"text": text, "ref": str(n)} for n, text in enumerate(texts)])
    enrich(rig)
    assert rig.rows(ENTITIES) == [("Bo", "person"), ("Mara", "person")]
    assert dict(rig.rows(NAMED)) == {"Mara": 1, "Bo": 2}


def test_a_first_name_means_whom_the_talk_calls_by_their_full_name(rig: Rig) -> None:
    talk(
        rig, ("Ilka", "I met Ottoline, she is nice."), ("Bo", "You mean my cousin Ottoline Prye?"),
        ("Ilka", "Yes, Ottoline sings."),
    )  # fmt: skip
    assert dict(rig.rows(ENTITIES)) == {"Bo": "person", "Ilka": "person", "Ottoline Prye": "person"}
    assert rig.rows(ALIASES, "Ottoline Prye") == [("Ottoline",), ("Ottoline Prye",)]
    assert dict(rig.rows(NAMED)) == {"Ottoline Prye": 3}


def test_of_two_with_one_first_name_neither_is_meant(rig: Rig) -> None:
    talk(
        rig, ("Ilka", "My aunt Rosa Prye and my boss Rosa Quern met."), ("Bo", "And what did Rosa say?"),
        ("Ilka", "Rosa said nothing."),
    )  # fmt: skip
    assert {"Rosa", "Rosa Prye", "Rosa Quern"} <= dict(rig.rows(ENTITIES)).keys()


def test_a_sister_is_not_the_singer_of_her_first_name_and_nobody_is_asked(rig: Rig) -> None:
    talk(
        rig, ("Ilka", "My favourite singer is Ottoline Prye, I love her songs."),
        ("Bo", "My sister Ottoline is a nurse."), ("Ilka", "Ottoline said nothing of it."),
    )  # fmt: skip
    found: dict[str, object] = dict(rig.rows(ENTITIES))
    assert {"Ottoline", "Ottoline Prye"} <= found.keys()
    named: dict[str, int] = dict(rig.rows(NAMED))
    assert named["Ottoline Prye"] == 1
    assert rig.value("SELECT count(*) FROM conflicts WHERE kind = 'entity_merge'") == 0


def test_a_misspelt_short_form_by_which_the_other_is_spoken_to_is_the_other(rig: Rig) -> None:
    talk(rig, ("Caroline", "Thanks, Mell! I needed that."), ("Melanie", "Any time."))
    assert [row[0] for row in rig.rows(ENTITIES)] == ["Caroline", "Melanie"]
    assert ("Mell",) in rig.rows(ALIASES, "Melanie")


def test_a_name_told_in_one_breath_with_a_pet_is_a_pet(rig: Rig) -> None:
    talk(
        rig,
        ("Ilka", "Odette and Oliver! They are so sweet."),
        ("Bo", "And what did Oliver do?"),
        ("Ilka", "Oliver is silly. He hid his bone in a shoe."),
        ("Bo", "Yesterday I ran into Greta and Anselm."),
    )
    found: dict[str, str] = dict(rig.rows(TYPES))
    assert (found["Oliver"], found["Odette"]) == ("pet", "pet")
    assert (found["Greta"], found["Anselm"]) == ("person", "person")


def test_a_pet_is_told_by_the_message_before(rig: Rig) -> None:
    talk(rig, ("Ilka", "I adopted a pup."), ("Bo", "What is she called?"), ("Ilka", "Her name is Juniper!"))
    assert ("Juniper", "pet") in rig.rows(TYPES)
