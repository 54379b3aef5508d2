"""`vault.head`, the hash chain, and noticing replaced files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import vault_kit as kit

from core.errors import BugError, Code, LociError
from core.types.clock import ManualClock
from core.vault.audit import AuditChain, AuditEntry, ChainReport
from core.vault.head import FoundHead, Head, read_head, write_head
from core.vault.home import Home
from core.vault.opening import OlderCopy
from core.vault.vault import Vault

_KEY = kit.KEYS.head


def test_a_head_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "vault.head"
    assert read_head(path, _KEY, kit.VAULT_ID) == FoundHead("missing")
    write_head(path, _KEY, kit.VAULT_ID, Head(7, 99))
    assert read_head(path, _KEY, kit.VAULT_ID) == FoundHead("ok", Head(7, 99))
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: {**body, "seq": 8},
        lambda body: {**body, "time": 0},
        lambda body: {**body, "v": 2},
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
    assert read_head(path, _KEY, kit.VAULT_ID) == FoundHead("damaged")


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
        vault.checkpoint()
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
            assert vault.info.older_than_head == expected
            vault.write_head()
    with kit.opened(home, clock) as vault:
        vault.accept_older()
    with kit.opened(home, clock) as vault:
        assert vault.info.older_than_head is None
        assert vault.info.head_state == "ok"


def test_a_damaged_head_is_reported_and_healed(home: Home) -> None:
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
    vault.watch()
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
        vault.watch,
        lambda: vault.write(lambda tx: kit.store(tx, 2)),
        vault.checkpoint,
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
    vault.write(lambda tx: chain.append(tx, "owner", "store", "m1", {"rows": 1, "space": "home", "ids": ["m1", "m2"]}))
    entries = [AuditEntry("client:c", "recall", detail={"found": n}) for n in range(5)]
    assert vault.write(lambda tx: chain.append_many(tx, entries)) == 6
    assert vault.write(lambda tx: chain.append_many(tx, [])) == 6
    return chain


def test_the_chain_holds(vault: Vault) -> None:
    chain = _chain(vault)
    assert vault.read(chain.verify) == ChainReport(6, None)
    assert vault.read(chain.verify).is_whole
    assert vault.read(AuditChain(b"other" * 6 + b"xx").verify).broken_at == 1


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
        assert vault.read(chain.verify).broken_at == at


def test_the_chain_is_walked_beyond_one_page(vault: Vault) -> None:
    chain = AuditChain(kit.KEYS.audit)
    vault.write(lambda tx: chain.append_many(tx, [AuditEntry("owner", "x")] * 4001))
    assert vault.read(chain.verify) == ChainReport(4001, None)


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
