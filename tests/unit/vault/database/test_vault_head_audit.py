"""`vault.head`, the hash chain, and noticing replaced files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import vault_kit as kit
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BugError, Code, LociError
from core.security.keys import keyed_digest
from core.types.clock import ManualClock
from core.vault.audit import AuditChain, AuditEntry, ChainReport
from core.vault.bootstrap import Doubt, OlderCopy
from core.vault.database.tx import Tx
from core.vault.files.home import Home
from core.vault.head import Head, HeadReading, open_counter, read_head, seal_counter, write_head
from core.vault.vault import Vault

_KEY = kit.KEYS.head


def test_a_head_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "vault.head"
    assert read_head(path, _KEY, kit.VAULT_ID) == HeadReading("missing")
    write_head(path, _KEY, kit.VAULT_ID, Head(7, 99))
    assert read_head(path, _KEY, kit.VAULT_ID) == HeadReading("ok", Head(7, 99))
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: {**body, "seq": 8},
        lambda body: {**body, "time": 0},
        lambda body: {**body, "v": 1},
        lambda body: {**body, "v": 3},
        lambda body: {**body, "clients": ["00" * 16]},
        lambda body: {**body, "clients": "none"},
        lambda body: {**body, "clients": [7]},
        lambda body: {**body, "seq": "7"},
        lambda body: {**body, "seq": True},
        lambda body: {**body, "seq": 2**70},
        lambda body: {**body, "mac": "zz"},
        lambda body: {**body, "mac": ""},
        lambda body: [body],
        lambda body: {},
    ],
)
def test_a_head_that_was_changed_is_damaged(tmp_path: Path, spoil: Callable[[dict[str, object]], object]) -> None:
    path = tmp_path / "vault.head"
    write_head(path, _KEY, kit.VAULT_ID, Head(7, 99))
    path.write_text(json.dumps(spoil(json.loads(path.read_text()))))
    assert read_head(path, _KEY, kit.VAULT_ID) == HeadReading("damaged")


def test_no_head_is_never_fatal(tmp_path: Path) -> None:
    path = tmp_path / "vault.head"
    write_head(path, _KEY, kit.VAULT_ID, Head(7, 99))
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        assert read_head(path, _KEY, kit.VAULT_ID).state == "damaged"
    assert read_head(path, b"x" * 32, kit.VAULT_ID).state == "damaged"
    path.write_bytes(whole)
    assert read_head(path, _KEY, b"y" * 16).state == "damaged"
    path.write_bytes(b"[" * 4000)
    assert read_head(path, _KEY, kit.VAULT_ID).state == "damaged"
    path.unlink()
    os.mkfifo(path)
    assert read_head(path, _KEY, kit.VAULT_ID).state == "damaged"


def test_closing_notes_the_sequence(home: Home) -> None:
    with kit.opened(home) as vault:
        kit.store_many(vault, 3)
        assert read_head(home.head, _KEY, kit.VAULT_ID).head == Head(0, kit.START_MS)
        vault.checkpoint_log()
        assert read_head(home.head, _KEY, kit.VAULT_ID).head == Head(3, kit.START_MS)
        kit.store_many(vault, 2, first=10)
    assert read_head(home.head, _KEY, kit.VAULT_ID).head == Head(5, kit.START_MS)


def test_yesterdays_copy_is_noticed_until_it_is_accepted(tmp_path: Path, home: Home, clock: ManualClock) -> None:
    with kit.opened(home, clock) as vault:
        kit.store_many(vault, 2)
    shutil.copy(home.vault, tmp_path / "yesterday.db")
    clock.advance(86_400_000)
    with kit.opened(home, clock) as vault:
        kit.store_many(vault, 3, first=10)
    shutil.copy(tmp_path / "yesterday.db", home.vault)
    expected = OlderCopy(vault_seq=2, head_seq=5, head_time_ms=kit.START_MS + 86_400_000)
    for _ in range(2):
        with kit.opened(home, clock) as vault:
            assert vault.info.older_than_head == vault.older == expected
            vault.write_head()
            for attempt in (lambda: vault.write(lambda tx: kit.store(tx, 50)), vault.scrub_deleted):
                with pytest.raises(LociError) as caught:
                    attempt()
                assert caught.value.code is Code.OLDER_VAULT
            assert vault.seq == 2
            assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 2
    with kit.opened(home, clock) as vault:
        assert vault.accept_older(lambda tx, _: tx.seq) == 6
        assert vault.older is None
        kit.store_many(vault, 1, first=50)
    with kit.opened(home, clock) as vault:
        assert vault.info.older_than_head is None
        assert vault.info.head_state == "ok"


def test_once_accepted_no_other_copy_from_the_time_between_is_taken_for_the_newest(tmp_path: Path, home: Home) -> None:
    copies = [tmp_path / "one.db", tmp_path / "two.db", tmp_path / "three.db"]
    for nr, copy in enumerate(copies):
        with kit.opened(home) as vault:
            kit.store_many(vault, 2, first=10 * nr + 1)
        shutil.copy(home.vault, copy)
    shutil.copy(copies[0], home.vault)
    with kit.opened(home) as vault:
        vault.accept_older(lambda _, gone: gone)
    for copy in copies:
        shutil.copy(copy, home.vault)
        with kit.opened(home) as vault:
            assert vault.older is not None


def _client(tx: Tx, name: str, **more: object) -> None:
    tx.insert("clients", {"id": name, "name": name, "token": name.ljust(32).encode(), "paired_at": 1, **more})
    tx.insert("grants", {"client_id": name, "name": "read", "granted_at": 1})


_CHANGES: dict[str, Callable[[Tx], object]] = {
    "revoked": lambda tx: tx.update("clients", {"id": "revoked"}, {"revoked_at": 5, "token": b"x" * 32}),
    "paired_anew": lambda tx: tx.update("clients", {"id": "paired_anew"}, {"token": b"y" * 32}),
    "paused": lambda tx: tx.update("clients", {"id": "paused"}, {"paused_at": 5}),
    "narrowed": lambda tx: tx.delete("grants", {"client_id": "narrowed", "name": "read"}),
    "trusted_less": lambda tx: tx.update("clients", {"id": "trusted_less"}, {"trust_ceiling": 0.2}),
    "slowed": lambda tx: tx.update("clients", {"id": "slowed"}, {"limit_minute": 1}),
}


def _standing(vault: Vault) -> list[str]:
    sql = "SELECT id FROM clients WHERE revoked_at IS NULL ORDER BY id"
    return [str(row[0]) for row in vault.read(lambda rows: rows.all(sql))]


def _with_clients_changed_since(home: Home, copy: Path) -> None:
    def pair(tx: Tx) -> None:
        for name in ("kept", *_CHANGES):
            _client(tx, name)

    with kit.opened(home) as vault:
        vault.write(pair)
    shutil.copy(home.vault, copy)
    with kit.opened(home) as vault:
        for change in _CHANGES.values():
            vault.write(change)
        vault.write(lambda tx: _client(tx, "newcomer"))


def test_what_changed_of_a_client_since_ends_its_pairing_in_an_older_copy(tmp_path: Path, home: Home) -> None:
    _with_clients_changed_since(home, tmp_path / "copy.db")
    shutil.copy(tmp_path / "copy.db", home.vault)
    with kit.opened(home) as vault:
        assert vault.accept_older(lambda _, gone: gone) == len(_CHANGES)
        assert _standing(vault) == ["kept"]
        tokens = vault.read(lambda rows: rows.all("SELECT id, token FROM clients WHERE revoked_at IS NOT NULL"))
        assert all(bytes(token) != name.ljust(32).encode() for name, token in tokens)


def test_a_revocation_stands_in_the_head_at_once(tmp_path: Path, home: Home) -> None:
    with kit.opened(home) as vault:
        vault.write(lambda tx: _client(tx, "reader"))
    shutil.copy(home.vault, tmp_path / "copy.db")
    with kit.opened(home) as vault:
        kit.store_many(vault, 3)
        vault.write(lambda tx: tx.update("clients", {"id": "reader"}, {"revoked_at": 5}))
        shutil.copy(home.head, tmp_path / "head")  # as a kill would leave it
    shutil.copy(tmp_path / "copy.db", home.vault)
    shutil.copy(tmp_path / "head", home.head)
    with kit.opened(home) as vault:
        assert vault.accept_older(lambda _, gone: gone) == 1


def test_where_the_head_was_put_back_too_the_keyrings_counter_tells_and_nobody_keeps_its_pairing(
    tmp_path: Path, home: Home
) -> None:
    with kit.opened(home) as vault:
        vault.write(lambda tx: _client(tx, "kept"))
    shutil.copy(home.vault, tmp_path / "copy.db")
    shutil.copy(home.head, tmp_path / "head")
    with kit.opened(home) as vault:
        kit.store_many(vault, 3)
        seen = vault.seq
    shutil.copy(tmp_path / "copy.db", home.vault)
    shutil.copy(tmp_path / "head", home.head)
    with kit.opened(home) as vault:
        assert vault.older is None  # nothing is left that could tell
    with _opened_with(home, seen) as vault:
        assert vault.older == OlderCopy(1, 4, kit.START_MS)
        assert vault.accept_older(lambda _, gone: gone) == 1
        assert vault.seq > seen


@pytest.mark.parametrize("counter", [0, 1, 2, 3])
def test_a_counter_that_lags_behind_is_no_alarm(home: Home, counter: int) -> None:
    with kit.opened(home) as vault:
        kit.store_many(vault, 3)
    for spoil in (lambda: None, lambda: home.head.write_bytes(b"junk"), home.head.unlink):
        spoil()
        with _opened_with(home, counter) as vault:
            assert vault.older is None


@contextmanager
def _opened_with(home: Home, counter: int) -> Iterator[Vault]:
    vault = Vault.open(home, kit.KEYS, kit.VAULT_ID, ManualClock(kit.START_MS), 2, counter=counter)
    try:
        yield vault
    finally:
        vault.close()


@pytest.mark.parametrize("state", ["missing", "damaged"])
def test_where_nothing_tells_whether_it_is_the_newest_the_person_is_asked(home: Home, state: str) -> None:
    with kit.opened(home) as vault:
        vault.write(lambda tx: _client(tx, "reader"))
    home.head.write_bytes(b"junk")
    if state == "missing":
        home.head.unlink()
    for _ in range(2):  # closing heals nothing that nobody accepted
        with kit.opened(home) as vault:
            assert vault.older == OlderCopy(1, 1, None, Doubt(state))
            with pytest.raises(LociError) as caught:
                kit.store_many(vault, 1)
            assert caught.value.code is Code.OLDER_VAULT
    with kit.opened(home) as vault:
        assert vault.accept_older(lambda _, gone: gone) == 1
    with kit.opened(home) as vault:
        assert (vault.older, vault.info.head_state) == (None, "ok")


def test_a_head_of_the_first_form_is_read_and_lets_nobody_keep_its_pairing(tmp_path: Path, home: Home) -> None:
    with kit.opened(home) as vault:
        vault.write(lambda tx: _client(tx, "reader"))
    mac = keyed_digest(_KEY, b"loci-head-v1", kit.VAULT_ID, b"9", b"99").hex()
    home.head.write_text(json.dumps({"v": 1, "seq": 9, "time": 99, "mac": mac}))
    with kit.opened(home) as vault:
        assert vault.older == OlderCopy(1, 9, 99)
        assert vault.accept_older(lambda _, gone: gone) == 1


@given(seq=st.integers(0, 2**63 - 1), spoilt=st.text(max_size=90))
def test_a_counter_comes_back_and_no_other_text_passes_for_one(seq: int, spoilt: str) -> None:
    sealed = seal_counter(_KEY, kit.VAULT_ID, seq)
    assert open_counter(_KEY, kit.VAULT_ID, sealed) == seq
    assert open_counter(b"x" * 32, kit.VAULT_ID, sealed) is None
    assert open_counter(_KEY, b"y" * 16, sealed) is None
    mac = sealed.partition(":")[2]
    for other in (spoilt, f"{seq + 1}:{mac}", f"0{sealed}", f"{spoilt}{sealed}", sealed[:-1]):
        assert other == sealed or open_counter(_KEY, kit.VAULT_ID, other) is None


def test_a_damaged_head_of_a_vault_that_was_never_used_is_reported_and_healed(home: Home) -> None:
    home.head.write_bytes(b"junk")
    with kit.opened(home) as vault:
        assert vault.info.head_state == "damaged"
        assert vault.info.older_than_head is None
    with kit.opened(home) as vault:
        assert vault.info.head_state == "ok"
    home.head.unlink()
    with kit.opened(home) as vault:
        assert vault.info.head_state == "missing"


@pytest.mark.parametrize("deed", ["unlinked", "renamed", "replaced", "linked", "log unlinked"])
def test_files_taken_away_are_noticed_and_nothing_is_saved_into_nothing(tmp_path: Path, home: Home, deed: str) -> None:
    vault = kit.open_at(home)
    kit.store_many(vault, 1)
    vault.check_files()
    if deed == "unlinked":
        home.vault.unlink()
    elif deed == "renamed":
        home.vault.rename(tmp_path / "moved.db")
    elif deed == "replaced":
        shutil.copy(home.head, tmp_path / "other")
        (tmp_path / "other").replace(home.vault)
    elif deed == "linked":
        os.link(home.vault, tmp_path / "second")
    else:
        home.wal.unlink()
    for attempt in (
        vault.check_files,
        lambda: vault.write(lambda tx: kit.store(tx, 2)),
        vault.checkpoint_log,
        vault.write_head,
    ):
        with pytest.raises(LociError) as caught:
            attempt()
        assert caught.value.code is Code.VAULT_REPLACED
    assert vault.seq == 1
    assert vault.close() == ()


def test_a_replacement_in_the_middle_of_a_verb_is_not_called_saved(home: Home) -> None:
    vault = kit.open_at(home)

    def verb(tx: object) -> None:
        kit.store(tx, 1)  # type: ignore[arg-type]
        home.vault.unlink()

    with pytest.raises(LociError) as caught:
        vault.write(verb)
    assert caught.value.code is Code.VAULT_REPLACED
    vault.close()


def _chain(vault: Vault) -> AuditChain:
    chain = AuditChain(kit.KEYS.audit)
    vault.write(
        lambda tx: chain.append_row(tx, "owner", "store", "m1", {"rows": 1, "space": "home", "ids": ["m1", "m2"]})
    )
    entries = [AuditEntry("client:c", "recall", detail={"found": n}) for n in range(5)]
    assert vault.write(lambda tx: chain.append_many(tx, entries)) == 6
    assert vault.write(lambda tx: chain.append_many(tx, [])) == 6
    return chain


def test_the_chain_holds(vault: Vault) -> None:
    chain = _chain(vault)
    assert vault.read(chain.verify_chain) == ChainReport(6, None)
    assert vault.read(chain.verify_chain).is_whole
    assert vault.read(AuditChain(b"other" * 6 + b"xx").verify_chain).broken_at == 1


@pytest.mark.parametrize(
    ("tamper", "at"),
    [
        ("UPDATE audit SET at = at + 1 WHERE nr = 3", 3),
        ("UPDATE audit SET actor = 'owner' WHERE nr = 4", 4),
        ("UPDATE audit SET detail = '{\"found\":9}' WHERE nr = 2", 2),
        ("DELETE FROM audit WHERE nr = 1", 2),
        ("DELETE FROM audit WHERE nr = 3", 4),
        ("UPDATE audit SET nr = 60 WHERE nr = 6", 60),
        ("INSERT INTO audit SELECT 7, at, actor, verb, object, detail, mac FROM audit WHERE nr = 6", 7),
    ],
)
def test_the_chain_breaks_where_a_row_was_touched(home: Home, tamper: str, at: int) -> None:
    with kit.opened(home) as vault:
        chain = _chain(vault)
    connection = kit.raw(home.vault)
    for trigger in ("audit_fixed", "audit_kept"):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute(tamper)
    connection.close()
    with kit.opened(home) as vault:
        assert vault.read(chain.verify_chain).broken_at == at


def test_the_chain_is_walked_beyond_one_page(vault: Vault) -> None:
    chain = AuditChain(kit.KEYS.audit)
    vault.write(lambda tx: chain.append_many(tx, [AuditEntry("owner", "x")] * 4001))
    assert vault.read(chain.verify_chain) == ChainReport(4001, None)


@pytest.mark.parametrize(
    "entry",
    [
        AuditEntry("owner", "store", "the words of a memory"),
        AuditEntry("owner", "Store now"),
        AuditEntry("", "store"),
        AuditEntry("client: Bob's tool", "store"),
        AuditEntry("owner", "store", detail={"text": "she likes marzipan"}),
        AuditEntry("owner", "store", detail={"She likes": 1}),
        AuditEntry("owner", "store", detail={"x": {"nested": 1}}),
        AuditEntry("owner", "store", detail={"x": ["a b"]}),
        AuditEntry("owner", "store", detail={"x": [[1]]}),
        AuditEntry("owner", "store", detail={"x": float("nan")}),
        AuditEntry("owner", "store", detail={"x": b"bytes"}),
        AuditEntry("owner", "store", detail={f"k{n}": n for n in range(65)}),
        AuditEntry("owner", "store", detail={"x": "a" * 129}),
    ],
)
def test_nothing_that_could_be_memory_text_goes_into_the_audit(vault: Vault, entry: AuditEntry) -> None:
    chain = AuditChain(kit.KEYS.audit)
    with pytest.raises(BugError):
        vault.write(lambda tx: chain.append_many(tx, [AuditEntry("owner", "fine"), entry]))
    assert vault.read(lambda rows: rows.value("SELECT count(*) FROM audit")) == 0
