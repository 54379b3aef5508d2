"""New keys through the facade: made, put in force on the code typed back, and the vault open again behind it."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import PASSPHRASE, START_MS, HandClock, WordEmbedder, error_of, new_home
from memory_ring import Ring

from core.engine.facade import Engine, HomeKeys, RootKey, Setup
from core.engine.home.keys import sub_keys
from core.errors import Code
from core.security.keyring_client import KeyringCause
from core.security.passphrase import KdfCost
from core.types.requests import ListRequest, StoreRequest
from core.types.values import OWNER_ACTOR
from core.vault import rotation
from core.vault.database.connections import open_reader


@pytest.fixture
def ring() -> Ring:
    return Ring()


@pytest.fixture
def engine(tmp_path: Path, ring: Ring) -> Iterator[Engine]:
    """An open vault with one memory and one client."""
    home, _ = new_home(tmp_path / "home")
    made = Engine(
        Setup(home, HandClock(START_MS), WordEmbedder(), background=False, keyring=ring, kdf_cost=KdfCost.lowest())
    )
    made.vault.open(PASSPHRASE).result(30)
    made.memories.store(StoreRequest("The key hangs behind the clock."), OWNER_ACTOR).result(30)
    yield made
    made.close()


def _texts(engine: Engine) -> list[str]:
    return [one.text for one in engine.memories.list(ListRequest(), OWNER_ACTOR).result(30).items]


def _rotate(engine: Engine, secret: str = PASSPHRASE) -> str:
    code = engine.keys.prepare_rotation(secret).result(30)
    assert engine.keys.rotate(code).result(60) is not None
    return code


def test_the_vault_is_open_again_under_keys_that_the_old_root_is_not(engine: Engine) -> None:
    old = HomeKeys(engine.home).open(PASSPHRASE)
    steps: list[str] = []
    code = engine.keys.prepare_rotation(PASSPHRASE).result(30)
    done = engine.keys.rotate(code, lambda step, *_: steps.append(step)).result(60)
    assert done is not None
    assert list(dict.fromkeys(steps)) == ["copy", "audit", "check", "switch"]
    assert engine.state == "open"
    assert _texts(engine) == ["The key hangs behind the clock."]
    assert engine.vault.verify().result(60)["status"] == "ok"
    engine.lock()
    assert error_of(engine.vault.unlock(old.expose_copy())).code is Code.WRONG_SECRET
    engine.vault.open(PASSPHRASE).result(30)
    engine.lock()
    engine.vault.open(code).result(30)
    assert _texts(engine) == ["The key hangs behind the clock."]


def test_nothing_holds_before_the_code_was_typed_back(engine: Engine) -> None:
    before = engine.home.keys.read_bytes(), engine.home.vault.stat().st_ino
    code = engine.keys.prepare_rotation(PASSPHRASE).result(30)
    assert engine.keys.rotate("AAAA-BBBB").result(30) is None
    assert engine.state == "open"
    assert (engine.home.keys.read_bytes(), engine.home.vault.stat().st_ino) == before
    other = engine.keys.prepare_rotation(PASSPHRASE).result(30)
    assert engine.keys.rotate(code).result(30) is None, "the keys made last count"
    assert engine.keys.rotate(other).result(60) is not None
    assert engine.keys.rotate(other).result(30) is None, "once"


def test_a_wrong_secret_makes_nothing(engine: Engine) -> None:
    assert error_of(engine.keys.prepare_rotation("wrong")).code is Code.WRONG_SECRET


def test_the_recovery_code_cannot_carry_a_passphrase_over(engine: Engine) -> None:
    code = _rotate(engine)
    error = error_of(engine.keys.prepare_rotation(code))
    assert error.code is Code.INVALID_INPUT
    assert "change the passphrase first" in error.sentence


def test_keys_that_changed_meanwhile_are_not_overwritten(engine: Engine) -> None:
    code = engine.keys.prepare_rotation(PASSPHRASE).result(30)
    engine.vault.change_passphrase(PASSPHRASE, "another one").result(30)
    assert "begin again" in error_of(engine.keys.rotate(code)).sentence
    engine.lock()
    engine.vault.open("another one").result(30)


def test_stopping_it_leaves_the_old_keys_and_the_vault_open(engine: Engine) -> None:
    before = engine.home.keys.read_bytes()
    code = engine.keys.prepare_rotation(PASSPHRASE).result(30)
    error = error_of(engine.keys.rotate(code, is_cancelled=lambda: True))
    assert error.code is Code.CANCELLED
    assert engine.state == "open"
    assert engine.home.keys.read_bytes() == before
    assert _texts(engine) == ["The key hangs behind the clock."]


def test_too_late_to_stop_once_the_new_keys_hold(engine: Engine) -> None:
    late: list[bool] = []
    code = engine.keys.prepare_rotation(PASSPHRASE).result(30)

    def note(step: str, _done: int, _total: int | None) -> None:
        if step == "switch":
            late.append(True)

    assert engine.keys.rotate(code, note, lambda: bool(late)).result(60) is not None
    engine.lock()
    engine.vault.open(code).result(30)


def test_a_locked_vault_stays_locked(engine: Engine) -> None:
    engine.lock()
    code = _rotate(engine)
    assert engine.state == "locked"
    engine.vault.open(code).result(30)
    assert _texts(engine) == ["The key hangs behind the clock."]


def test_a_client_keeps_its_token(engine: Engine) -> None:
    engine.clients.pair("desk", ("read",)).result(30)
    before = engine.authority.token_for("desk")
    _rotate(engine)
    assert before is not None
    assert engine.authority.token_for("desk") == before


def test_an_older_copy_is_accepted_first(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.lock()
    engine.home.head.unlink()
    engine.vault.open(PASSPHRASE).result(30)
    code = engine.keys.prepare_rotation(PASSPHRASE).result(30)
    assert error_of(engine.keys.rotate(code)).code is Code.OLDER_VAULT
    assert engine.state == "open"


def test_the_keyring_opens_the_new_keys_too(engine: Engine, ring: Ring) -> None:
    engine.keys.turn_keyring_on(PASSPHRASE).result(30)
    kept = dict(ring.kept)
    _rotate(engine)
    assert ring.kept == kept
    engine.lock()
    engine.vault.open(None).result(30)
    assert _texts(engine) == ["The key hangs behind the clock."]


def test_the_keyring_is_turned_on_and_off(engine: Engine, ring: Ring) -> None:
    assert error_of(engine.keys.turn_keyring_on("wrong")).code is Code.WRONG_SECRET
    assert not ring.kept
    engine.keys.turn_keyring_on(PASSPHRASE).result(30)
    assert engine.vault.read_presence().result(30).in_keyring
    assert error_of(engine.keys.turn_keyring_off("wrong")).code is Code.WRONG_SECRET
    assert engine.keys.turn_keyring_off(PASSPHRASE).result(30) is True
    assert not ring.kept
    assert not engine.vault.read_presence().result(30).in_keyring
    assert error_of(engine.keys.turn_keyring_off(PASSPHRASE)).code is Code.INVALID_INPUT


def test_a_keyring_that_is_gone_opens_nothing_once_turned_off(engine: Engine, ring: Ring) -> None:
    engine.keys.turn_keyring_on(PASSPHRASE).result(30)
    ring.cause = KeyringCause.NO_BACKEND
    assert engine.keys.turn_keyring_off(PASSPHRASE).result(30) is False
    ring.cause = None
    engine.lock()
    assert error_of(engine.vault.open(None)).code is Code.VAULT_LOCKED


def test_the_old_database_key_does_not_read_the_new_file(engine: Engine) -> None:
    with HomeKeys(engine.home).open(PASSPHRASE) as root:
        old, copy = sub_keys(root), RootKey(root.expose_copy(), root.vault_id)
    _rotate(engine)
    engine.lock()
    with pytest.raises(Exception, match="E1002"):
        open_reader(engine.home.vault, old.db)
    copy.wipe()


@pytest.mark.parametrize("step", ["copy_under_key", "_rebind_audit", "new_file", "sync_directory"])
def test_a_full_disk_leaves_the_old_keys_and_nothing_of_the_work(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = engine.home.keys.read_bytes()
    code = engine.keys.prepare_rotation(PASSPHRASE).result(30)
    with monkeypatch.context() as patch:
        patch.setattr(rotation, step, full)
        assert error_of(engine.keys.rotate(code)).code is Code.DISK_FULL
    assert engine.state == "open"
    assert engine.home.keys.read_bytes() == before
    assert _texts(engine) == ["The key hangs behind the clock."]
    assert [one.name for one in engine.home.path.iterdir() if "rotat" in one.name] == []
    assert engine.keys.rotate(engine.keys.prepare_rotation(PASSPHRASE).result(30)).result(60) is not None
