"""Whose word a memory is: the gate, the desk and the way in give one answer."""

from __future__ import annotations

from itertools import product

from belief_rig import change, voice
from engine_rig import START_MS, Rig

from core.belief.claims import find_persons_words
from core.belief.trust_gate import SourceAuthority
from core.intake.candidate import authority_of, counts_as_owner
from core.types.values import Source


def _standing(rig: Rig, memory_id: str) -> SourceAuthority:
    return rig.opened.storage.vault.read(lambda rows: authority_of(rows, memory_id))


def _at_the_desk(rig: Rig, memory_id: str) -> bool:
    return bool(rig.opened.storage.vault.read(lambda rows: find_persons_words(rows, [memory_id])))


def _sources(rig: Rig, memory_id: str, *rows: tuple[str, str]) -> None:
    for (lineage,) in rig.rows("SELECT lineage FROM memory_sources WHERE memory_id = ?", memory_id):
        key = {"memory_id": memory_id, "lineage": lineage}
        rig.write(lambda tx, key=key: tx.delete("memory_sources", key))  # type: ignore[misc]
    for lineage, source in rows:
        row = {"memory_id": memory_id, "lineage": lineage, "source": source, "at": START_MS}
        rig.write(lambda tx, row=row: tx.insert("memory_sources", row))  # type: ignore[misc]


def test_gate_desk_and_the_way_in_agree(rig: Rig) -> None:
    memory = rig.store("The weir opens at noon").memory_id
    client = rig.client("aster", "read", "write").client_id
    brought = rig.bring([{"text": "A boat is blue", "kind": "fact", "ref": "r"}]).import_id
    for source, by_client, imported in product(Source, (False, True), (False, True)):
        change(
            rig,
            memory,
            source=source.value,
            client_id=client if by_client else None,
            import_id=brought if imported else None,
        )
        _sources(rig, memory, ("other", source.value))
        held = _standing(rig, memory)
        assert not held.owner_said
        assert (
            held.persons == _at_the_desk(rig, memory) == counts_as_owner(source, imported=imported, by_client=by_client)
        )


def test_without_sources_the_row_tells_who_said_it(rig: Rig) -> None:
    memory = rig.store("The weir opens at noon").memory_id
    _sources(rig, memory)
    held = _standing(rig, memory)
    assert (held.owners_word, held.owner_said, held.persons) == (True, True, True)
    change(rig, memory, source="user_implicit")
    held = _standing(rig, memory)
    assert (held.owners_word, held.owner_said, held.persons) == (False, True, True)
    change(rig, memory, source="document")
    assert not _standing(rig, memory).persons
    assert not _at_the_desk(rig, memory)


def test_a_source_of_the_owners_or_a_confirmation_makes_it_the_owners(rig: Rig) -> None:
    memory = rig.store("The weir opens at noon").memory_id
    change(rig, memory, source="inference")
    _sources(rig, memory, ("other", "inference"), ("owner", "user_implicit"))
    assert (_standing(rig, memory).owners_word, _standing(rig, memory).owner_said) == (False, True)
    voice(rig, memory, "confirm", START_MS)
    assert _standing(rig, memory).owners_word
    assert _at_the_desk(rig, memory)
