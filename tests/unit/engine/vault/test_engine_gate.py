"""Making, opening and re-keying a vault through the facade, as the window's gate does."""

from __future__ import annotations

import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import PASSPHRASE, RESERVE, START_MS, HandClock, WordEmbedder, error_of, new_home, opens_with_code
from memory_ring import Ring

from core.config.window import WindowOptions
from core.engine.facade import Engine, Home, Setup, load_window
from core.engine.vault.administration import VaultGroup
from core.errors import Code, LociError
from core.security.keyring_client import KeyringCause
from core.security.passphrase import KdfCost
from core.types.lifecycle import JobType
from core.types.replies import Presence
from core.types.requests import ListRequest, StoreRequest
from core.types.values import OWNER_ACTOR


class Gate:
    """An engine that starts locked, with a keyring in memory and a cheap passphrase."""

    def __init__(self, home: Home) -> None:
        self.ring = Ring()
        self.engine = Engine(
            Setup(
                home,
                HandClock(START_MS),
                WordEmbedder(),
                background=False,
                keyring=self.ring,
                kdf_cost=KdfCost.lowest(),
            )
        )

    @property
    def vault(self) -> VaultGroup:
        return self.engine.vault


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Gate]:
    gate = Gate(Home(tmp_path / "home", reserve_bytes=RESERVE))
    yield gate
    gate.engine.close()


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    gate = Gate(new_home(tmp_path / "home")[0])
    yield gate
    gate.engine.close()


def test_the_first_run_from_nothing_to_open(empty: Gate) -> None:
    assert empty.vault.read_presence().result(30) == Presence(exists=False)
    assert not empty.engine.home.path.exists(), "asking makes nothing"
    assert error_of(empty.vault.open("anything")).code is Code.NO_VAULT
    code = empty.vault.create("lantern osprey quilt", use_keyring=True).result(30)
    assert empty.engine.state == "locked"
    there = empty.vault.read_presence().result(30)
    assert (there.exists, there.in_keyring, there.has_passphrase, there.problem) == (True, True, True, None)
    assert there.vault_id == empty.engine.vault_id.hex()
    assert opens_with_code(empty.engine.home, code.lower().replace("-", " "))
    assert not opens_with_code(empty.engine.home, code[:-1] + ("A" if code[-1] != "A" else "B"))
    assert not opens_with_code(empty.engine.home, "")
    empty.vault.open("lantern osprey quilt").result(30)
    assert empty.engine.state == "open"
    assert error_of(empty.vault.create("another one")).code is Code.VAULT_EXISTS


def test_a_vault_is_made_without_a_keyring_too(empty: Gate) -> None:
    empty.ring.cause = KeyringCause.NO_BACKEND
    assert not empty.vault.keyring_available().result(30)
    assert error_of(empty.vault.create("lantern", use_keyring=True)).code is Code.KEYRING_UNAVAILABLE
    assert error_of(empty.vault.create(None)).code is Code.INVALID_INPUT
    assert not empty.vault.read_presence().result(30).exists
    empty.vault.create("lantern").result(30)
    assert not empty.vault.read_presence().result(30).in_keyring
    assert error_of(empty.vault.open(None)).code is Code.VAULT_LOCKED


def test_the_keyring_opens_it_off_the_callers_thread(empty: Gate) -> None:
    assert empty.vault.keyring_available().result(30)
    empty.vault.create("lantern", use_keyring=True).result(30)
    empty.vault.open().result(30)
    assert empty.engine.state == "open"
    assert threading.current_thread().name not in empty.ring.threads


def _put_back(gate: Gate) -> None:
    """A vault that is in a keyring, its `vault.db` and its `vault.head` both as they were two changes ago."""
    home = gate.engine.home
    gate.vault.create("lantern", use_keyring=True).result(30)
    gate.vault.open().result(30)
    gate.engine.memories.store(StoreRequest("The kettle is red."), OWNER_ACTOR).result(30)
    gate.engine.lock()
    before = {path: path.read_bytes() for path in (home.vault, home.head)}
    gate.vault.open().result(30)
    assert gate.engine.older is None
    for text in ("The stove was swept in May.", "The chimney draws well again."):
        gate.engine.memories.store(StoreRequest(text), OWNER_ACTOR).result(30)
    gate.engine.lock()
    for path, content in before.items():
        path.write_bytes(content)


@pytest.mark.slow
def test_a_vault_put_back_with_its_head_is_told_by_the_keyrings_counter(empty: Gate) -> None:
    _put_back(empty)
    info = empty.vault.open("lantern").result(30)
    assert info.older_than_head is not None
    assert error_of(empty.engine.memories.store(StoreRequest("Something new."), OWNER_ACTOR)).code is Code.OLDER_VAULT
    assert [one.text for one in empty.engine.memories.list(ListRequest(), OWNER_ACTOR).result(30).items] == [
        "The kettle is red."
    ]
    assert empty.engine.accept_older().result(30) == 0  # nobody was paired
    assert empty.engine.older is None
    empty.engine.memories.store(StoreRequest("Something new."), OWNER_ACTOR).result(30)
    empty.engine.lock()
    assert empty.vault.open().result(30).older_than_head is None


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["broken", "empty", "forged"])
def test_a_keyring_that_tells_no_counter_is_no_alarm_and_holds_nothing_up(empty: Gate, fault: str) -> None:
    _put_back(empty)
    if fault == "broken":
        empty.ring.cause = KeyringCause.NO_BACKEND
    elif fault == "empty":
        empty.ring.counters.clear()
    else:
        empty.ring.counters = dict.fromkeys(empty.ring.counters, "99:" + 64 * "0")
    assert empty.vault.open("lantern").result(30).older_than_head is None
    assert empty.engine.memories.store(StoreRequest("Something new."), OWNER_ACTOR).result(30).memory_id


@pytest.mark.slow
def test_a_copy_of_the_vault_in_another_place_counts_for_itself(empty: Gate, tmp_path: Path) -> None:
    _put_back(empty)
    other = Gate(Home(tmp_path / "other", reserve_bytes=RESERVE))
    try:
        shutil.copytree(empty.engine.home.path, tmp_path / "other", ignore=shutil.ignore_patterns("vault.lock"))
        other.engine._keys.keyring = empty.ring
        assert other.vault.open("lantern").result(30).older_than_head is None
    finally:
        other.engine.close()


@pytest.mark.slow
def test_acceptance_is_audited_and_shown_in_the_journal(gate: Gate) -> None:
    gate.vault.open(PASSPHRASE).result(30)
    gate.engine.memories.store(StoreRequest("The kettle is red."), OWNER_ACTOR).result(30)
    gate.engine.lock()
    gate.engine.home.head.write_bytes(b"junk")
    gate.vault.open(PASSPHRASE).result(30)
    (warning,) = [one for one in gate.vault.read_status().result(30).values["warnings"] if "vault.head" in one]
    assert "--accept-older" in warning
    assert warning in gate.engine.jobs.read_health().result(30).warnings  # the Journal's page of health
    with pytest.raises(LociError) as caught:
        gate.engine.jobs.run(JobType.SWEEP).result(30)
    assert caught.value.code is Code.OLDER_VAULT
    gate.engine.accept_older().result(30)
    newest = gate.engine.history.list_audit().result(30).rows[0]
    assert (newest.actor, newest.verb, dict(newest.detail)["retired_clients"]) == ("owner", "accept_older", 0)
    assert gate.vault.verify().result(30)["checks"]["audit"]["status"] == "ok"


def test_a_wrong_secret_is_told_at_the_slot(gate: Gate) -> None:
    before = {
        path.name: path.read_bytes() for path in gate.engine.home.path.glob("vault.*") if path.name != "vault.lock"
    }
    assert error_of(gate.vault.open("not it")).code is Code.WRONG_SECRET
    assert gate.engine.state == "locked"
    after = {
        path.name: path.read_bytes() for path in gate.engine.home.path.glob("vault.*") if path.name != "vault.lock"
    }
    assert after == before
    gate.vault.open(PASSPHRASE).result(30)
    gate.vault.lock().result(30)
    gate.vault.open(PASSPHRASE).result(30)
    assert gate.engine.state == "open"


@pytest.mark.parametrize("is_open", [True, False])
def test_a_new_passphrase_replaces_the_old_one(gate: Gate, is_open: bool) -> None:
    if is_open:
        gate.vault.open(PASSPHRASE).result(30)
    assert error_of(gate.vault.change_passphrase("not it", "new")).code is Code.WRONG_SECRET
    assert error_of(gate.vault.change_passphrase(PASSPHRASE, "")).code is Code.INVALID_INPUT
    gate.vault.change_passphrase(PASSPHRASE, "the new one").result(30)
    gate.vault.lock().result(30)
    assert error_of(gate.vault.open(PASSPHRASE)).code is Code.WRONG_SECRET
    gate.vault.open("the new one").result(30)
    assert gate.engine.state == "open"


def test_a_recovery_code_that_was_not_typed_back_leaves_the_old_one_in_force(gate: Gate) -> None:
    assert not gate.vault.confirm_recovery_code("AAAA").result(30)  # none was made
    old = gate.vault.new_recovery_code(PASSPHRASE).result(30)
    assert gate.vault.confirm_recovery_code(old).result(30)
    given_up = gate.vault.new_recovery_code(PASSPHRASE).result(30)
    assert opens_with_code(gate.engine.home, old)
    assert not opens_with_code(gate.engine.home, given_up)
    assert not gate.vault.confirm_recovery_code(old).result(30)
    gate.vault.open(PASSPHRASE).result(30)
    gate.vault.lock().result(30)
    gate.vault.change_passphrase(old, "another").result(30)  # which the confirmed slot must not take back
    assert not gate.vault.confirm_recovery_code("no code").result(30)
    assert gate.vault.confirm_recovery_code(given_up).result(30)
    assert not opens_with_code(gate.engine.home, old)
    assert not gate.vault.confirm_recovery_code(given_up).result(30)  # it is in force already; nothing waits
    gate.vault.open("another").result(30)
    assert gate.engine.state == "open"


def test_a_recovery_code_is_kept_in_a_file_of_its_own(gate: Gate, tmp_path: Path) -> None:
    mine, theirs, link = tmp_path / "code.txt", tmp_path / "theirs.txt", tmp_path / "link.txt"
    mine.write_text("old")
    mine.chmod(0o644)
    theirs.write_text("theirs")
    link.symlink_to(theirs)
    for place in (mine, link):
        gate.vault.keep_recovery_code("ABCD-EFGH", place).result(30)
        assert "    ABCD-EFGH\n" in place.read_text("utf-8")
        assert stat.S_IMODE(place.lstat().st_mode) == 0o600
    assert theirs.read_text() == "theirs"
    assert not link.is_symlink()
    assert error_of(gate.vault.keep_recovery_code("A", tmp_path / "none" / "x")).code is Code.WRITE_FAILED
    inside = gate.engine.home.path / "code.txt"
    assert error_of(gate.vault.keep_recovery_code("A", inside)).code is Code.INVALID_INPUT
    assert not inside.exists()


def test_a_new_recovery_code_replaces_the_old_one_and_opens(gate: Gate) -> None:
    first = gate.vault.new_recovery_code(PASSPHRASE).result(30)
    assert gate.vault.confirm_recovery_code(first.lower()).result(30)
    second = gate.vault.new_recovery_code(first).result(30)
    assert gate.vault.confirm_recovery_code(second).result(30)
    assert not opens_with_code(gate.engine.home, first)
    assert opens_with_code(gate.engine.home, second)
    assert error_of(gate.vault.new_recovery_code(first)).code is Code.WRONG_SECRET
    # Who forgot the passphrase sets a new one with the code.
    gate.vault.change_passphrase(second, "remembered").result(30)
    gate.vault.open("remembered").result(30)
    assert gate.engine.state == "open"


def test_damaged_keys_are_told_before_a_secret_is_asked_for(gate: Gate) -> None:
    for name in ("vault.keys", "vault.keys.bak"):
        (gate.engine.home.path / name).write_bytes(b"LOCIKEYS1 nothing")
    there = gate.vault.read_presence().result(30)
    assert (there.exists, there.problem, there.vault_id) == (True, Code.KEY_FILE_DAMAGED.value, None)
    assert "key file" in there.sentence
    assert error_of(gate.vault.change_passphrase(PASSPHRASE, "new")).code is Code.KEY_FILE_DAMAGED


def test_another_process_that_has_the_vault_is_told(gate: Gate) -> None:
    other = Gate(gate.engine.home)
    try:
        gate.vault.open(PASSPHRASE).result(30)
        assert error_of(other.vault.open(PASSPHRASE)).code is Code.VAULT_BUSY
        assert error_of(other.vault.change_passphrase(PASSPHRASE, "new")).code is Code.VAULT_BUSY
        assert other.vault.read_presence().result(30).exists
    finally:
        other.engine.close()


def test_the_windows_options_are_kept_before_there_is_a_vault(empty: Gate) -> None:
    empty.vault.keep_window(WindowOptions(theme="dark"), {"geometry": "AA"}).result(30)
    assert load_window(empty.engine.home.path).options.theme == "dark"
    assert not empty.vault.read_presence().result(30).exists
    empty.vault.create("lantern").result(30)
