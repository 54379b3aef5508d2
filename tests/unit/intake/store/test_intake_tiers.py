"""Tiers are written with the text, changed with it, and gone with it."""

from __future__ import annotations

from engine_rig import Rig

from core.memory.read import read_by_ids
from core.memory.write import read_tiers
from core.text.sentences import Tiers, make_tiers
from core.types.values import Kind
from core.types.views import Revision

ONE = "The mooring is paid until March."
TWO = "Ruben bought a red bicycle for 450 euros. He rides it to work in Antwerp every single day now. It squeaks."


def kept(rig: Rig, memory_id: str) -> dict[str, str]:
    rows = rig.rows("SELECT tier, text, made_by FROM tiers WHERE memory_id = ?", memory_id)
    assert {by for _, _, by in rows} <= {"rules"}
    return {tier: text for tier, text, _ in rows}


def as_read(rig: Rig, memory_id: str) -> Tiers:
    return rig.opened.storage.vault.read(
        lambda rows: read_tiers(rows, list(read_by_ids(rows, [memory_id]).values()))[memory_id]
    )


def test_they_are_stored_with_a_text_of_several_sentences_alone(rig: Rig) -> None:
    assert kept(rig, rig.store(ONE).memory_id) == {}
    assert kept(rig, rig.store(TWO).memory_id) == dict(make_tiers(TWO, "fact", "general").list_rows())


def test_imports_store_them_too(rig: Rig) -> None:
    rig.bring([{"text": ONE, "ref": "1"}, {"text": TWO, "ref": "2", "category": "bikes"}])
    (brought,) = rig.rows("SELECT id FROM memories WHERE ref = '2'")
    assert kept(rig, brought[0]) == dict(make_tiers(TWO, "episode", "bikes").list_rows())
    assert rig.value("SELECT count(DISTINCT memory_id) FROM tiers") == 1


def test_what_is_read_is_the_same_with_and_without_rows(rig: Rig) -> None:
    memory = rig.store(TWO).memory_id
    stored = as_read(rig, memory)
    rig.write(lambda tx: tx.run("DELETE FROM tiers"))
    assert as_read(rig, memory) == stored == make_tiers(TWO, "fact", "general")


def test_rows_of_another_text_are_not_handed_out(rig: Rig) -> None:
    memory = rig.opened.storage.vault.read(lambda rows: read_by_ids(rows, [rig.store(TWO).memory_id]).popitem()[1])
    shorter = {"text": "It squeaks."}
    cut = type(memory)(**{name: shorter.get(name, getattr(memory, name)) for name in memory.__dataclass_fields__})
    found = rig.opened.storage.vault.read(lambda rows: read_tiers(rows, [cut])[memory.id])
    assert found.summary == found.key_fact == "It squeaks."


def test_an_edit_writes_those_of_the_new_version(rig: Rig) -> None:
    old = rig.store(TWO).memory_id
    done = rig.engine.library.revise_memories([old], Revision(text="The bicycle was stolen. Ruben is sad.")).result(20)
    (new,) = done.ids
    assert new != old
    assert kept(rig, new) == dict(make_tiers("The bicycle was stolen. Ruben is sad.", "fact", "general").list_rows())
    rig.undo()
    assert kept(rig, new) == {}
    assert kept(rig, old) == dict(make_tiers(TWO, "fact", "general").list_rows())


def test_another_category_or_kind_is_another_tag(rig: Rig) -> None:
    memory = rig.store(TWO).memory_id
    rig.engine.library.revise_memories([memory], Revision(category="bikes", kind=Kind.EPISODE)).result(20)
    assert kept(rig, memory)["tag"].startswith("episode · bikes · ")
    rig.undo()
    assert kept(rig, memory)["tag"].startswith("fact · general · ")


def test_an_undo_takes_them_away_and_its_undo_brings_them_back(rig: Rig) -> None:
    before = rig.dump()
    memory = rig.store(TWO).memory_id
    stored = kept(rig, memory)
    assert stored
    report = rig.undo()
    assert rig.dump()["tiers"] == before["tiers"] == []
    rig.undo(report.undo_step_id)
    assert kept(rig, memory) == stored


def test_taking_an_import_back_leaves_none(rig: Rig) -> None:
    report = rig.bring([{"text": f"{TWO} Number {n} here.", "ref": str(n)} for n in range(30)])
    assert rig.value("SELECT count(DISTINCT memory_id) FROM tiers") == 30
    rig.unimport(report.import_id)
    assert rig.value("SELECT count(*) FROM tiers") == 0
