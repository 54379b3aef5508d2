"""Memories as rows: what is written with them and what is read back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import vault_kit

from core.embed.embedder import from_blob
from core.errors import Code, LociError
from core.memory.read import read_by_id, read_by_ids, read_by_labels, read_occurred
from core.memory.write import (
    Draft,
    VectorSpace,
    content_hash,
    ensure_space,
    find_space_id,
    insert_memories,
    read_without_vectors,
    refresh_terms,
    remove_derived,
    reserve_labels,
    write_vectors,
)
from core.types.values import Kind, Precision, Role, Source, Status, When
from core.vault.database.rows import to_json
from core.vault.vault import Vault

SPACE = VectorSpace("words", "words-1", 4)
NOW = vault_kit.START_MS


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with vault_kit.opened(vault_kit.new_vault(tmp_path / "home")) as vault:
        yield vault


def draft(name: str = "m1", text: str = "Ada keeps bees", **more: object) -> Draft:
    base = Draft(
        id=name,
        text=text,
        kind=Kind.FACT,
        status=Status.ACTIVE,
        space_id="home",
        source=Source.USER_EXPLICIT,
        role=Role.USER,
        lineage="owner",
        recorded_at=NOW,
        trust=0.75,
        last_confirmed_at=NOW,
    )
    return replace(base, **more)  # type: ignore[arg-type]


def terms(vault: Vault) -> list[tuple[str, int]]:
    return vault.read(lambda rows: [(str(term), int(docs)) for term, docs, _ in rows.all("SELECT * FROM memory_terms")])


def test_a_draft_comes_back_as_it_was_written(vault: Vault) -> None:
    full = draft(
        text="Ada  keeps\r\nbees\t\n",
        author="Ada",
        category="hobby",
        importance=0.25,
        tags=("bees", "garden, late"),
        session="s",
        ref="r-1",
        flags=("surrogates_replaced",),
        extra={"title": "Bees", "deep": [1, {"a": None}]},
        occurred=When(NOW - 1000, Precision.DAY, 90),
        valid_from=When(NOW - 5, Precision.MONTH),
        valid_to=When(NOW + 5),
        status_reason="because",
    )
    vault.write(lambda tx: insert_memories(tx, [full]))
    found = vault.read(lambda rows: read_by_id(rows, "m1"))
    assert found is not None
    assert (found.text, found.author, found.category, found.importance) == (full.text, "Ada", "hobby", 0.25)
    assert (found.tags, found.session, found.ref, found.flags) == (full.tags, "s", "r-1", full.flags)
    assert (found.extra, found.occurred) == (full.extra, full.occurred)
    assert (found.valid_from, found.valid_to, found.status_reason) == (NOW - 5, NOW + 5, "because")
    assert (found.trust, found.confidence, found.space, found.chain_id, found.version) == (0.75, 0.75, "home", "m1", 1)
    assert vault.read(lambda rows: read_by_labels(rows, [found.n, 99])) == {found.n: found}


def test_unknown_ids_are_passed_over(vault: Vault) -> None:
    vault.write(lambda tx: insert_memories(tx, [draft()]))
    assert list(vault.read(lambda rows: read_by_ids(rows, ["m1", "nobody", "'); DROP"]))) == ["m1"]
    assert vault.read(lambda rows: read_by_id(rows, "nobody")) is None
    assert vault.read(lambda rows: read_by_labels(rows, [7])) == {}


def test_an_unknown_time_stays_unknown() -> None:
    assert read_occurred(None, "day", 60) is None
    assert read_occurred(5, None, None) == When(5, Precision.MS, None)
    assert read_occurred(5, "year", -30) == When(5, Precision.YEAR, -30)


def test_content_hash_is_of_the_exact_text() -> None:
    assert len({content_hash(text) for text in ("a", "a ", "A", "a\n", "ä", "a\u0308")}) == 6
    assert len(content_hash("")) == 32


def test_to_json_is_compact_and_ordered() -> None:
    assert to_json({"b": "ü", "a": [1, None]}) == '{"a":[1,null],"b":"ü"}'


def test_labels_are_never_used_twice(vault: Vault) -> None:
    first = vault.write(lambda tx: insert_memories(tx, [draft("m1"), draft("m2", "two")]))

    def purge(tx: object) -> None:
        with tx.purge():  # type: ignore[attr-defined]
            remove_derived(tx, first)  # type: ignore[arg-type]
            for n in first:
                tx.delete("memories", {"n": n})  # type: ignore[attr-defined]

    vault.write(purge)
    again = vault.write(lambda tx: insert_memories(tx, [draft("m3", "three")]))
    assert first == [1, 2]
    assert again == [3]
    assert vault.write(lambda tx: reserve_labels(tx, 10)) == 4
    assert vault.write(lambda tx: reserve_labels(tx, 1)) == 14


def test_nothing_to_insert_takes_no_label(vault: Vault) -> None:
    assert vault.write(lambda tx: insert_memories(tx, [])) == []
    assert vault.read(lambda rows: rows.value("SELECT next_n FROM vault_state")) == 1


def test_terms_are_written_with_a_memory_and_go_with_it(vault: Vault) -> None:
    (n,) = vault.write(lambda tx: insert_memories(tx, [draft(tags=("apiary",), occurred=When(NOW, Precision.YEAR))]))
    before = terms(vault)
    assert {"bee", "apiari", "2023"} <= {term for term, _ in before}
    vault.write(lambda tx: refresh_terms(tx, ["m1", "nobody"]))
    assert terms(vault) == before

    vault.write(lambda tx: remove_derived(tx, [n]))
    assert terms(vault) == []


def test_refreshed_terms_follow_the_row(vault: Vault) -> None:
    vault.write(lambda tx: insert_memories(tx, [draft()]))

    def change(tx: object) -> None:
        tx.update("memories", {"id": "m1"}, {"text": "Ada flies kites"})  # type: ignore[attr-defined]
        refresh_terms(tx, ["m1"])  # type: ignore[arg-type]

    vault.write(change)
    found = {term for term, _ in terms(vault)}
    assert "kite" in found
    assert "bee" not in found


@pytest.mark.parametrize(("role", "is_found"), [(Role.SOURCE, True), (Role.USER, False)])
def test_only_a_document_s_title_is_searched(vault: Vault, role: Role, is_found: bool) -> None:
    vault.write(lambda tx: insert_memories(tx, [draft(role=role, extra={"title": "Zanzibar"})]))
    assert ("zanzibar" in {term for term, _ in terms(vault)}) is is_found
    vault.write(lambda tx: refresh_terms(tx, ["m1"]))
    assert ("zanzibar" in {term for term, _ in terms(vault)}) is is_found


def test_a_vector_replaces_the_older_one(vault: Vault) -> None:
    labels = vault.write(lambda tx: insert_memories(tx, [draft("m1"), draft("m2", "two")]))
    assert vault.read(lambda rows: read_without_vectors(rows, SPACE, 10)) == [(1, "m1"), (2, "m2")]
    assert vault.read(lambda rows: read_without_vectors(rows, SPACE, 1)) == [(1, "m1")]
    one, two = np.eye(2, 4, dtype=np.float32)
    vault.write(lambda tx: write_vectors(tx, labels[:1], one[None], SPACE))
    vault.write(lambda tx: write_vectors(tx, labels[:1], two[None], SPACE))
    ((blob, model, rev),) = vault.read(lambda rows: rows.all("SELECT vector, model, rev FROM embeddings"))
    assert from_blob(blob, 4).tolist() == two.tolist()
    assert (model, rev) == ("words-1", vault.seq)
    assert vault.read(lambda rows: read_without_vectors(rows, SPACE, 10)) == [(2, "m2")]
    assert vault.read(lambda rows: read_without_vectors(rows, replace(SPACE, name="other"), 10)) == [
        (1, "m1"),
        (2, "m2"),
    ]


def test_what_was_forgotten_needs_no_vector(vault: Vault) -> None:
    vault.write(lambda tx: insert_memories(tx, [draft(status=Status.DELETED)]))
    assert vault.read(lambda rows: read_without_vectors(rows, SPACE, 10)) == []


def test_as_many_vectors_as_labels(vault: Vault) -> None:
    labels = vault.write(lambda tx: insert_memories(tx, [draft()]))
    with pytest.raises(ValueError, match="shorter"):
        vault.write(lambda tx: write_vectors(tx, labels, np.empty((0, 4), np.float32), SPACE))


def test_a_space_is_made_once(vault: Vault) -> None:
    made = vault.write(lambda tx: ensure_space(tx, "Work", "id-1"))
    assert vault.write(lambda tx: ensure_space(tx, "Work", "id-2")) == made == "id-1"
    assert vault.write(lambda tx: ensure_space(tx, "home", "id-3")) == "home"
    assert vault.read(lambda rows: find_space_id(rows, "Work")) == "id-1"
    assert vault.read(lambda rows: find_space_id(rows, "work")) is None


def test_a_space_of_nobody_cannot_be_made(vault: Vault) -> None:
    with pytest.raises(LociError) as caught:
        vault.write(lambda tx: ensure_space(tx, "Work", "id-1", "no-such-client"))
    assert caught.value.code is Code.INVALID_INPUT
    assert vault.read(lambda rows: find_space_id(rows, "Work")) is None
