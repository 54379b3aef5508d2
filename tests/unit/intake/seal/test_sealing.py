"""Sealing: what is sealed is in no table in the clear, opens with its own secret alone, and comes back as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_rig import PASSPHRASE, Rig, differences, error_of, later, refused, rig_at
from erasing_rig import MARK, TEXT, traces
from hypothesis import given
from hypothesis import strategies as st

from core.engine.home.keys import sub_keys
from core.engine.startup import scrub_index
from core.errors import Code, EnvironmentFaultError, IntegrityError
from core.intake.seal.seal import SealKey, check_label
from core.intake.seal.sealed_body import SealedBody
from core.security.keys import RootKey
from core.types.memory import ErasureRequest, ErasureSubject
from core.types.requests import ListRequest
from core.types.sensitivity import SealReport
from core.types.values import OWNER_ACTOR, Kind, SecurityTier
from core.types.views import Revision
from core.vault.database.pages import PIECE, Fragments, log_bytes, search_pages
from core.vault.database.tx import Tx

SECRET = "a second secret"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        yield made


def set_up(rig: Rig) -> str:
    return rig.engine.seal.set_up(SECRET).result(30)


def seal(rig: Rig, *ids: str, label: str = "") -> SealReport:
    return rig.engine.seal.seal(ids, label).result(30)


def unseal(rig: Rig, *ids: str) -> SealReport:
    return rig.engine.seal.unseal(ids).result(30)


def test_nothing_of_a_sealed_memory_is_left_in_the_clear_and_nothing_finds_it(rig: Rig) -> None:
    set_up(rig)
    bot = rig.client("bot", "read")
    kept = rig.store("Ada keeps bees").memory_id
    secret = rig.store(TEXT, tags=(MARK,), request_id="r1").memory_id
    rig.recall(TEXT, bot)
    rig.engine.library.revise_memories([secret], Revision(importance=0.9)).result(30)
    rig.undo(rig.forget(secret))
    assert traces(rig)
    assert seal(rig, secret) == SealReport((secret,), 1, 0, 0, ())
    assert traces(rig) == []
    assert rig.texts(None) == ["Ada keeps bees"]
    for mode in ("semantic", "keyword", "hybrid"):
        assert rig.found(TEXT, mode=mode) in ([], ["Ada keeps bees"])
    assert error_of(rig.engine.memories.get(secret, OWNER_ACTOR)).code is Code.NOT_FOUND
    assert [row.label for row in rig.engine.seal.list_rows().result(30)] == ["Fact of 2023-11-14"]
    assert rig.value("SELECT count(*) FROM tombstones") == 0
    assert rig.get(kept).text == "Ada keeps bees"
    assert rig.verify()["status"] == "ok"


def test_it_comes_back_as_it_was(rig: Rig) -> None:
    set_up(rig)
    rig.bring([{"text": TEXT, "kind": "fact", "source": "user_explicit", "date": "2021-03-04"}])
    secret = str(rig.value("SELECT id FROM memories"))
    rig.engine.library.revise_memories([secret], Revision(importance=0.9)).result(30)
    before = rig.rows(
        "SELECT id, text, kind, status, importance, tags, source, occurred_at, recorded_at, import_id, lineage "
        "FROM memories"
    )
    sources = rig.rows("SELECT * FROM memory_sources")
    seal(rig, secret)
    assert rig.rows("SELECT id FROM memories") == []
    assert rig.engine.seal.read_text(secret).result(30).text == TEXT
    unseal(rig, secret)
    assert (
        rig.rows(
            "SELECT id, text, kind, status, importance, tags, source, occurred_at, recorded_at, import_id, lineage "
            "FROM memories"
        )
        == before
    )
    assert rig.rows("SELECT * FROM memory_sources") == sources
    for mode in ("semantic", "keyword"):
        assert rig.found(TEXT, mode=mode) == [TEXT]
    assert rig.engine.seal.list_rows().result(30) == ()
    # The file that brought it brings it no second time.
    again = rig.bring([{"text": TEXT, "kind": "fact", "source": "user_explicit", "date": "2021-03-04"}], name="2.jsonl")
    assert again.stored == 0
    assert rig.texts() == [TEXT]
    assert rig.verify()["status"] == "ok"


def test_a_file_does_not_bring_a_sealed_memory_back_in_the_clear(rig: Rig) -> None:
    set_up(rig)
    rows = [{"text": TEXT, "id": "one", "kind": "fact"}]
    rig.bring(rows)
    seal(rig, str(rig.value("SELECT id FROM memories")))
    assert rig.bring(rows, name="again.jsonl").stored == 0
    assert rig.texts(None) == []


_CHAIN = "SELECT id, status, supersedes_id, superseded_by_id, part_of, part_index, text FROM memories ORDER BY id"


def test_versions_come_along_and_their_chain_is_whole_again(rig: Rig) -> None:
    set_up(rig)
    first = rig.store(TEXT).memory_id
    newest = rig.engine.library.revise_memories([first], Revision(text=f"{TEXT} Or the fourth.")).result(30).ids[0]
    chain = rig.rows(_CHAIN)
    assert len(chain) == 2
    assert seal(rig, newest).rows == 2
    assert traces(rig) == []
    unseal(rig, newest)
    assert rig.rows(_CHAIN) == chain
    versions = rig.engine.memories.list_versions(newest, OWNER_ACTOR).result(30)
    assert [one.text for one in versions] == [TEXT, f"{TEXT} Or the fourth."]


def test_a_part_stands_for_the_whole_split_text(rig: Rig) -> None:
    set_up(rig)
    long = " ".join(f"Sentence {n} about the {MARK}." for n in range(700))
    head = rig.store(long, kind=Kind.EPISODE).memory_id
    part = str(rig.value("SELECT id FROM memories WHERE part_of = ? AND part_index = 1", head))
    chain = rig.rows(_CHAIN)
    assert len(chain) > 2
    assert seal(rig, part).ids == (head,)
    assert traces(rig) == []
    assert rig.engine.seal.read_text(head).result(30).text == long
    unseal(rig, head)
    assert rig.rows(_CHAIN) == chain


def test_what_was_made_of_it_goes_along_and_can_be_read_in_it(rig: Rig) -> None:
    set_up(rig)
    source = rig.store(TEXT).memory_id
    made = rig.store(f"In short: the {MARK} has a key.").memory_id
    rig.write(
        lambda tx: tx.insert(
            "derivations", {"derived_id": made, "source_id": source, "space_id": "home", "recorded_at": 1}
        )
    )
    report = seal(rig, source)
    assert (report.ids, report.rows, report.made) == ((source,), 1, 1)
    assert traces(rig) == []
    assert rig.engine.seal.read_text(source).result(30).made == (f"In short: the {MARK} has a key.",)
    unseal(rig, source)
    assert rig.texts() == [TEXT]


def test_the_key_leaves_memory_by_itself_and_with_the_vault(rig: Rig) -> None:
    set_up(rig)
    secret = rig.store(TEXT).memory_id
    other = rig.store("Ada keeps bees").memory_id
    seal(rig, secret)
    later(rig, days=4 / 1440)
    rig.engine.seal.read_text(secret).result(30)  # in use: it stays open
    later(rig, days=4 / 1440)
    assert rig.engine.seal.read_state().result(30).is_open
    later(rig, days=5 / 1440)
    for call in (
        lambda: rig.engine.seal.read_text(secret),
        lambda: rig.engine.seal.unseal([secret]),
        lambda: rig.engine.seal.seal([other]),
    ):
        with refused(Code.SEALED):
            call().result(30)
    assert not rig.engine.seal.read_state().result(30).is_open
    assert rig.engine.seal.open(SECRET).result(30).is_open
    rig.lock()
    rig.unlock()
    state = rig.engine.seal.read_state().result(30)
    assert (state.is_set_up, state.is_open, state.count) == (True, False, 1)


def test_it_opens_with_its_own_secret_alone_and_wrong_ones_are_slowed_down(rig: Rig) -> None:
    code = set_up(rig)
    rig.engine.seal.close()
    with refused(Code.WRONG_SECRET):
        rig.engine.seal.open(PASSPHRASE).result(30)
    assert rig.engine.seal.open(code).result(30).is_open
    for _ in range(5):
        with refused(Code.WRONG_SECRET):
            rig.engine.seal.open("no").result(30)
    with refused(Code.TOO_MANY_GUESSES):
        rig.engine.seal.open(SECRET).result(30)
    later(rig, days=1)
    assert rig.engine.seal.open(SECRET).result(30).is_open
    with refused(Code.INVALID_INPUT):
        rig.engine.seal.set_up("again").result(30)


def test_its_secrets_can_be_changed(rig: Rig) -> None:
    code = set_up(rig)
    secret = rig.store(TEXT).memory_id
    seal(rig, secret)
    rig.engine.seal.change_passphrase(SECRET, "another one").result(30)
    fresh = rig.engine.seal.renew_recovery_code("another one").result(30)
    assert fresh
    assert fresh != code
    for wrong in (SECRET, code):
        with refused(Code.WRONG_SECRET):
            rig.engine.seal.open(wrong).result(30)
    for right in ("another one", fresh):
        rig.engine.seal.close()
        rig.engine.seal.open(right).result(30)
        assert rig.engine.seal.read_text(secret).result(30).text == TEXT
    assert rig.rows("SELECT * FROM undo_rows WHERE tbl IN ('seal_keys', 'sealed_memories')") == []


def test_bodies_cannot_change_places_and_damage_is_told(rig: Rig) -> None:
    set_up(rig)
    first, second = rig.store(TEXT).memory_id, rig.store("Ada keeps bees").memory_id
    seal(rig, first, second)
    bodies: dict[str, bytes] = dict(rig.rows("SELECT id, body FROM sealed_memories"))
    for one, other in ((first, second), (second, first)):
        rig.write(lambda tx, a=one, b=other: tx.update("sealed_memories", {"id": a}, {"body": bodies[b]}))  # type: ignore[misc]  # likewise
    for one in (first, second):
        with refused(Code.ENCRYPTION_FAILED):
            rig.engine.seal.read_text(one).result(30)
    assert rig.opened.storage.vault.read(rig.engine.seal.check_bodies) == (0, 2, 0)
    rig.engine.seal.close()
    assert rig.opened.storage.vault.read(rig.engine.seal.check_bodies) == (0, 0, 2)


def test_a_text_that_looks_encrypted_is_a_text(rig: Rig) -> None:
    set_up(rig)
    memory = rig.store("enc:2:1:AAAA").memory_id
    seal(rig, memory)
    assert rig.engine.seal.read_text(memory).result(30).text == "enc:2:1:AAAA"
    unseal(rig, memory)
    assert rig.texts() == ["enc:2:1:AAAA"]


def test_the_same_words_told_again_meanwhile_stand_and_the_sealed_ones_lie_beneath(rig: Rig) -> None:
    set_up(rig)
    old = rig.store(TEXT).memory_id
    seal(rig, old)
    new = rig.store(TEXT).memory_id
    assert new != old
    unseal(rig, old)
    assert rig.texts() == [TEXT]
    assert rig.rows("SELECT status, consolidated_into FROM memories WHERE id = ?", old) == [("consolidated", new)]
    assert rig.verify()["status"] == "ok"


def test_a_client_seals_nothing_and_a_label_keeps_no_secret(rig: Rig) -> None:
    set_up(rig)
    secret = rig.store(TEXT).memory_id
    assert check_label("  the   cellar ") == "the cellar"
    for label in ("x" * 201, "card 4111 1111 1111 1111"):
        with refused(Code.INVALID_INPUT):
            rig.engine.seal.seal([secret], label)
    seal(rig, secret, label="where the key is")
    assert [row.label for row in rig.engine.seal.list_rows().result(30)] == ["where the key is"]
    audit = rig.rows("SELECT * FROM audit WHERE verb IN ('seal', 'unseal', 'set_up_seal')")
    assert len(audit) == 2
    assert not any("where the key is" in str(row) or MARK in str(row) for row in audit)


def test_a_sealed_memory_can_be_erased_without_its_key(rig: Rig) -> None:
    set_up(rig)
    secret = rig.store(TEXT).memory_id
    seal(rig, secret)
    rig.engine.seal.close()
    assert rig.engine.seal.discard([secret]).result(30) == 1
    assert rig.engine.seal.list_rows().result(30) == ()
    assert error_of(rig.engine.seal.discard([secret])).code is Code.NOT_FOUND


def test_a_refused_call_changes_nothing(rig: Rig) -> None:
    set_up(rig)
    secret = rig.store(TEXT).memory_id
    before = rig.dump()
    assert error_of(rig.engine.seal.seal([secret, "no-such-id"])).code is Code.NOT_FOUND
    assert rig.dump() == before
    page = rig.engine.memories.list(ListRequest(limit=None), OWNER_ACTOR).result(30)
    assert [one.text for one in page.items] == [TEXT]


def test_a_deep_check_reads_sealed_texts_and_says_where_it_could_not(rig: Rig) -> None:
    set_up(rig)
    secret = rig.store(TEXT).memory_id
    seal(rig, secret)

    def outcome() -> str:
        return str(rig.engine.vault.verify(deep=True).result(60)["checks"]["sealed"]["status"])

    assert outcome() == "ok"
    rig.engine.seal.close()
    assert outcome() == "not_checked"
    rig.write(lambda tx: tx.update("sealed_memories", {"id": secret}, {"body": bytes(64)}))
    rig.engine.seal.open(SECRET).result(30)
    assert outcome() == "failed"


def test_a_certificate_of_erasing_says_that_sealed_memories_were_not_read(rig: Rig) -> None:
    set_up(rig)
    seal(rig, rig.store(TEXT).memory_id)
    request = ErasureRequest(ErasureSubject.MEMORY, (rig.store("Ada keeps bees").memory_id,))
    assert "sealed" in rig.engine.erasures.erase(request).result(60).not_checked


_VALUES = st.one_of(st.none(), st.integers(-(2**60), 2**60), st.text(max_size=20), st.binary(max_size=20))
_ROWS = st.dictionaries(st.sampled_from(("id", "text", "part_of", "n")), _VALUES, max_size=4)


@given(rows=st.lists(_ROWS, max_size=4), made=st.lists(st.text(max_size=20), max_size=3), head=st.text(max_size=12))
def test_a_body_reads_as_it_was_written_and_opens_nowhere_else(
    rows: list[dict[str, object]], made: list[str], head: str
) -> None:
    head = head.encode("ascii", "ignore").decode()
    body = SealedBody(head, tuple(rows), {"episodes": tuple(rows)}, tuple(made))
    with RootKey(bytes(range(32)), bytes(16)) as root:
        key = SealKey("k", root)
        sealed = key.encrypt(body)
        assert key.decrypt(head, sealed) == body
        for other, where in ((SealKey("l", root), head), (key, head + "x")):
            with pytest.raises(IntegrityError) as caught:
                other.decrypt(where, sealed)
            assert caught.value.code is Code.ENCRYPTION_FAILED


def test_all_that_is_confidential_is_sealed_under_one_passphrase(rig: Rig) -> None:
    set_up(rig)
    card = rig.store("My card is 4111 1111 1111 1111.", space="home").memory_id
    said = rig.store("A private matter.", space="work").memory_id
    rig.engine.library.revise_memories([said], Revision(tier=SecurityTier.CONFIDENTIAL)).result(30)
    lifted = rig.store("The SSN of nobody is 219-09-9999.", space="home").memory_id
    rig.engine.library.revise_memories([lifted], Revision(tier=SecurityTier.CLEARTEXT)).result(30)
    rig.forget(rig.store("The password is kW7-pfel-ABC9 since May").memory_id)
    sealed = rig.engine.seal
    assert sealed.find_confidential().result(30) == (card, said)
    assert sealed.find_confidential("work").result(30) == (said,)
    seal(rig, card, said)
    assert sealed.find_confidential().result(30) == ()
    assert {row.id for row in sealed.list_rows().result(30)} == {card, said}
    unseal(rig, card)
    assert rig.get(card).is_found_sensitive
    assert rig.get(card).tier is SecurityTier.CONFIDENTIAL


def test_sealed_memories_are_found_by_meaning_while_they_are_open_and_leave_no_trace(rig: Rig) -> None:
    set_up(rig)
    texts = (TEXT, "The boat lies in the western harbour.", "Plums are ripe in August.")
    ids = [rig.store(text).memory_id for text in texts]
    seal(rig, *ids)
    sealed = rig.engine.seal
    first = sealed.find(TEXT).result(30)
    assert first[0].id == ids[0]
    assert [row.id for row in sealed.find("harbour boat").result(30)][:1] == [ids[1]]
    assert sealed.find("harbour boat", 1).result(30)[0].can_open
    assert traces(rig) == []
    assert rig.value("SELECT count(*) FROM audit WHERE verb = 'search_sealed'") == 3
    with refused(Code.INVALID_QUERY):
        sealed.find("  ")
    sealed.close()
    assert sealed._search._traces == {}
    assert error_of(sealed.find(TEXT)).code is Code.SEALED
    sealed.open(SECRET).result(30)
    unseal(rig, ids[1])
    assert ids[1] not in [row.id for row in sealed.find("harbour boat").result(30)]


def test_a_summary_in_the_clear_is_shown_and_found_without_the_key(rig: Rig) -> None:
    set_up(rig)
    sealed = rig.engine.seal
    first = rig.store("The boathouse safe opens with 12-34-56").memory_id
    second = rig.store("My diary of that winter says it all").memory_id
    sealed.seal([first], "A safe", "How to open the safe of the boathouse, from Ada").result(30)
    sealed.seal([second]).result(30)
    rig.lock()
    rig.unlock()
    assert not rig.engine.seal.read_state().result(30).is_open
    rows = {row.id: row.summary for row in rig.engine.seal.list_rows().result(30)}
    assert rows == {first: "How to open the safe of the boathouse, from Ada", second: ""}
    found = rig.engine.find_sealed("Where is the boathouse safe?").result(30)
    assert [row.id for row in found] == [first]
    for question in ("Which winter was it?", "the of and", "12-34-56"):
        assert rig.engine.find_sealed(question).result(30) == ()


@pytest.mark.parametrize(
    "summary",
    ["The card 4111 1111 1111 1111", "Call +49 30 901820", "Ada was diagnosed with diabetes", "x" * 1001],
)
def test_a_summary_gives_nothing_away(rig: Rig, summary: str) -> None:
    kept = rig.store("The boathouse safe opens with 12-34-56").memory_id
    with refused(Code.INVALID_INPUT):
        rig.engine.seal.seal([kept], "A safe", summary)
    assert rig.texts() == ["The boathouse safe opens with 12-34-56"]


def test_no_page_free_or_not_and_no_log_holds_a_word_of_it(rig: Rig, tmp_path: Path) -> None:
    set_up(rig)
    rig.store("Ada keeps bees")
    secret = rig.store(TEXT, tags=(MARK,)).memory_id
    rig.recall(TEXT)
    rig.undo(rig.forget(secret))
    fragments = Fragments({MARK[at : at + PIECE].lower().encode() for at in range(len(MARK) - PIECE + 1)})
    exact = Fragments({MARK[at : at + PIECE].encode() for at in range(len(MARK) - PIECE + 1)})

    def count_pages() -> int:
        rig.lock()
        path = rig.home.vault
        assert log_bytes(path) == 0
        root = RootKey(rig.root, rig.engine.vault_id)
        found = sum(search_pages(path, sub_keys(root).db, one).found for one in (fragments, exact))
        root.wipe()
        rig.unlock()
        return found

    assert count_pages() > 0
    rig.engine.seal.open(SECRET).result(30)
    seal(rig, secret)
    scrub_index(rig.opened.storage, rig.opened.search)
    assert count_pages() == 0


def test_a_full_disk_while_sealing_leaves_the_memory_as_it_was(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up(rig)
    secret = rig.store(TEXT).memory_id
    before = rig.dump()
    execute, left = Tx._execute_sql, [12]

    def run_full(tx: Tx, sql: str, values: Any) -> Any:
        left[0] -= not sql.startswith("SELECT")
        if left[0] < 0:
            raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")
        return execute(tx, sql, values)

    with monkeypatch.context() as patch:
        patch.setattr(Tx, "_execute_sql", run_full)
        assert error_of(rig.engine.seal.seal([secret])).code is Code.DISK_FULL
    assert differences(before, rig.dump()) == {}
    assert rig.found(TEXT) == [TEXT]
    assert seal(rig, secret).ids == (secret,)
