"""The register of entities: one for each space, type and name; names lead where a merge led them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import vault_kit as kit
from engine_rig import refused

from core.entities import registry
from core.entities.mentions import Mention, add_mentions, find_mentions, read_mentioned, rewrite_mentions
from core.entities.recognition import recognize_names
from core.errors import Code
from core.vault.database.tx import Tx
from core.vault.vault import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with kit.opened(kit.new_vault(tmp_path)) as opened:

        def fill(tx: Tx) -> None:
            for space in ("home", "other"):
                if tx.row("spaces", {"id": space}) is None:
                    tx.insert("spaces", {"id": space, "name": f"the {space}", "created_at": 0})
            for n in (1, 2):
                kit.store(tx, n)

        opened.write(fill)
        yield opened


def make(
    vault: Vault, name: str, kind: str = "person", space: str = "home", made_by: str = "rules", **more: Any
) -> str:
    ids = iter([f"{name}-{kind}-{space}"])
    return vault.write(lambda tx: registry.make_entity(tx, lambda: next(ids), space, name, kind, made_by, **more))


def test_one_entity_for_each_space_type_and_name(vault: Vault) -> None:
    rosa = make(vault, "Rosa")
    assert make(vault, "ROSA") == rosa
    assert make(vault, "Rosa", "place") != rosa
    assert make(vault, "Rosa", space="other") != rosa
    assert vault.read(lambda rows: registry.find_entity(rows, "home", "rósa", "person")) == rosa
    assert vault.read(lambda rows: registry.find_entity(rows, "home", "Otto")) is None


def test_what_is_global_is_known_everywhere_after_the_spaces_own(vault: Vault) -> None:
    everywhere = make(vault, "Rosa", space="GLOBAL")
    assert vault.read(lambda rows: registry.find_entity(rows, "other", "Rosa")) == everywhere
    own = make(vault, "Otto", space="home")
    vault.write(lambda tx: registry.add_alias(tx, own, "Rosa"))
    assert vault.read(lambda rows: registry.find_entity(rows, "home", "Rosa")) == own
    known = vault.read(lambda rows: registry.read_known_names(rows, "home"))
    assert [name.id for name in known.by_key["rosa"]] == [own, everywhere]


def test_an_alias_is_added_once_and_found(vault: Vault) -> None:
    one = make(vault, "PostgreSQL", "technology", others=("postgres", "POSTGRES"))
    assert vault.read(lambda rows: rows.value("SELECT count(*) FROM entity_aliases")) == 2
    assert not vault.write(lambda tx: registry.add_alias(tx, one, "Postgres"))
    assert not vault.write(lambda tx: registry.add_alias(tx, one, "..."))
    assert vault.read(lambda rows: registry.find_entity(rows, "home", "postgres")) == one


def test_a_merged_name_leads_to_what_it_was_merged_into(vault: Vault) -> None:
    ids = [make(vault, name) for name in ("A", "B", "C")]
    vault.write(lambda tx: tx.update("entities", {"id": ids[0]}, {"merged_into_id": ids[1]}))
    vault.write(lambda tx: tx.update("entities", {"id": ids[1]}, {"merged_into_id": ids[2]}))
    assert vault.read(lambda rows: registry.find_entity(rows, "home", "A")) == ids[2]
    assert vault.read(lambda rows: registry.read_known_names(rows, "home")).by_key["a"][0].id == ids[2]
    vault.write(lambda tx: tx.update("entities", {"id": ids[2]}, {"merged_into_id": ids[0]}))
    assert vault.read(lambda rows: registry.find_root(rows, ids[0])) in ids  # a circle ends


def test_what_cannot_be_an_entity_is_refused(vault: Vault) -> None:
    for name, kind in (("Rosa", "spirit"), ("", "person"), ("...", "person"), ("x" * 81, "person")):
        with refused(Code.INVALID_INPUT):
            make(vault, name, kind)


def test_a_type_changes_where_rules_gave_it_and_is_never_taken_from_a_person(vault: Vault) -> None:
    mine, theirs, known = (
        make(vault, "Rosa", "other"),
        make(vault, "Otto", "other", made_by="owner"),
        make(vault, "Ida"),
    )
    assert vault.write(lambda tx: registry.retype_entity(tx, mine, "person"))
    assert not vault.write(lambda tx: registry.retype_entity(tx, theirs, "person"))
    assert not vault.write(lambda tx: registry.retype_entity(tx, known, "person")), "it is one already"
    again = make(vault, "Ida", "other")
    assert not vault.write(lambda tx: registry.retype_entity(tx, again, "person")), "there is one of that type"
    assert vault.write(lambda tx: registry.retype_entity(tx, known, "pet"))
    assert vault.read(lambda rows: registry.find_entity(rows, "home", "Ida", "pet")) == known


def test_mentions_take_the_place_of_those_before_and_lonely_entities_go(vault: Vault) -> None:
    rosa, otto = make(vault, "Rosa"), make(vault, "Otto", made_by="owner")
    vault.write(lambda tx: add_mentions(tx, [("m1", Mention(rosa, 0, 4, 1.0)), ("m1", Mention(rosa, 8, 12, 1.0))]))
    assert vault.read(lambda rows: rows.value("SELECT count(*) FROM mentions")) == 1
    assert vault.read(lambda rows: read_mentioned(rows, ["m1", "m2"])) == (rosa,)
    assert vault.write(lambda tx: rewrite_mentions(tx, {"m1": [Mention(otto, 0, 4, 1.0)]})) == (rosa,)
    assert vault.write(lambda tx: rewrite_mentions(tx, {"m1": []})) == ()
    assert vault.read(lambda rows: rows.all("SELECT id FROM entities")) == [(otto,)]


def test_a_name_is_found_where_it_is_meant(vault: Vault) -> None:
    make(vault, "Will"), make(vault, "Rosa Castellanos"), make(vault, "Rosa"), make(vault, "kombucha", "other")
    known = vault.read(lambda rows: registry.read_known_names(rows, "home"))

    def found(text: str) -> list[str]:
        return [text[one.start : one.end] for one in find_mentions(recognize_names(text), known)]

    assert found("Will you come? I will.") == []
    assert found("I met Will.") == ["Will"]
    assert found("Rosa's cello and Rosa") == ["Rosa"]
    assert found("Rosa Castellanos came with Rosa.") == ["Rosa Castellanos", "Rosa"]
    assert found("We saw Rosa Lindqvist there.") == []
    assert found("the rosa dress, more Kombucha") == ["Kombucha"]
