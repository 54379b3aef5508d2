"""Claims as rows: their key, their draft, their evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import vault_kit

from core.belief.extract.normal_form import claim_key, value_key
from core.errors import Code, LociError
from core.intake.claims import EvidenceSource, draft_claim, draft_supplied_claim
from core.types.values import Precision, When
from core.vault.database.tx import Tx
from core.vault.vault import Vault

NOW = vault_kit.START_MS
CLAIM: dict[str, Any] = {
    "subject": "Ada",
    "predicate": "lives_in",
    "value": "Graz",
    "exclusive": True,
    "polarity": "positive",
    "qualifiers": {"b": 1, "a": "x"},
}
ON = EvidenceSource("m1", "Ada moved to Graz.", "home", "owner", NOW)


def draft_given(
    tx: Tx,
    claim: dict[str, Any],
    on: EvidenceSource,
    ids: tuple[str, str],
    window: tuple[When | None, When | None] = (None, None),
) -> bool:
    return draft_claim(tx, draft_supplied_claim(claim, on.text, window), on, ids) is not None


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with vault_kit.opened(vault_kit.new_vault(tmp_path / "home")) as vault:
        vault.write(lambda tx: vault_kit.store(tx, 1, ON.text))
        yield vault


@pytest.mark.parametrize(
    ("text", "key"),
    [("  Ada\tLovelace \n", "ada lovelace"), ("STRASSE", "strasse"), ("Straße", "strasse"), ("Ｇｒａｚ", "graz")],
)
def test_what_is_compared(text: str, key: str) -> None:
    assert value_key(text) == key


def test_a_claim_s_key_ignores_spelling_only() -> None:
    key = claim_key("home", CLAIM)
    same = {**CLAIM, "subject": " ADA ", "value": "ｇｒａｚ", "qualifiers": {"a": "x", "b": 1}, "exclusive": False}
    assert claim_key("home", same) == key
    others = [
        claim_key("work", CLAIM),
        claim_key("home", CLAIM, "session-1"),
        *(
            claim_key("home", {**CLAIM, name: value})
            for name, value in (
                ("subject", "Eva"),
                ("predicate", "works_in"),
                ("value", "Linz"),
                ("polarity", "negative"),
                ("qualifiers", {}),
            )
        ),
    ]
    assert len({key, *others}) == 1 + len(others)
    assert len(key) == 32


def test_parts_of_a_key_do_not_run_into_each_other() -> None:
    left = {**CLAIM, "subject": "a b", "predicate": "c"}
    right = {**CLAIM, "subject": "a", "predicate": "b c"}
    assert claim_key("home", left) != claim_key("home", right)


def test_a_given_claim_is_a_draft_with_the_whole_text_as_evidence(vault: Vault) -> None:
    window = (When(NOW - 10, Precision.DAY), When(NOW + 10, Precision.YEAR))
    assert vault.write(lambda tx: draft_given(tx, CLAIM, ON, ("c1", "e1"), window))
    (claim,) = vault.read(
        lambda rows: rows.all(
            "SELECT subject, subject_key, value, exclusive, state, evidence_count, confidence, extracted_by, "
            "valid_from, valid_from_prec, valid_to, valid_to_prec, qualifiers FROM claims"
        )
    )
    assert claim == (
        *("Ada", "ada", "Graz", 1, "draft", 1, 0.0, "given"),
        *(NOW - 10, "day", NOW + 10, "year", '{"a":"x","b":1}'),
    )
    (evidence,) = vault.read(
        lambda rows: rows.all("SELECT quote, start_at, end_at, span_hash, stance, method, lineage FROM evidence")
    )
    span = hashlib.sha256(ON.text.encode()).digest()
    assert evidence == (ON.text, 0, len(ON.text), span, "supporting", "given", "owner")


def test_the_same_claim_of_the_same_memory_is_not_written_twice(vault: Vault) -> None:
    vault.write(lambda tx: vault_kit.store(tx, 2, "Ada lives in Graz."))
    vault.write(lambda tx: draft_given(tx, CLAIM, ON, ("c1", "e1")))
    assert not vault.write(lambda tx: draft_given(tx, {**CLAIM, "value": "GRAZ"}, ON, ("c2", "e2")))
    assert vault.write(lambda tx: draft_given(tx, {**CLAIM, "value": "Linz"}, ON, ("c3", "e3")))
    assert vault.write(lambda tx: draft_given(tx, CLAIM, replace(ON, memory_id="m2"), ("c4", "e4")))
    assert vault.read(lambda rows: [row[0] for row in rows.all("SELECT id FROM claims ORDER BY id")]) == [
        *("c1", "c3", "c4"),
    ]


def test_evidence_of_another_space_is_refused_and_leaves_nothing(vault: Vault) -> None:
    vault.write(lambda tx: tx.insert("spaces", {"id": "s2", "name": "Work", "created_at": NOW}))
    with pytest.raises(LociError) as caught:
        vault.write(lambda tx: draft_given(tx, CLAIM, replace(ON, space_id="s2"), ("c1", "e1")))
    assert caught.value.code is Code.INVALID_INPUT
    assert vault.read(lambda rows: rows.value("SELECT count(*) FROM claims")) == 0
