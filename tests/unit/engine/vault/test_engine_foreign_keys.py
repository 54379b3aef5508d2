"""Key files that were exchanged: each case has its sentence, and the copy that fits is never written over."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_rig import PASSPHRASE, RESERVE, START_MS, HandClock, Rig, error_of, rig_at

from core.engine.facade import Home, HomeKeys, create_vault
from core.errors import Code
from core.security.passphrase import KdfCost

OTHER = "septuagesima"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """The key file of another vault."""
    return _other_keys(tmp_path / "other", OTHER)


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    """The key file of another vault with the same passphrase."""
    return _other_keys(tmp_path / "twin", PASSPHRASE)


def _other_keys(folder: Path, passphrase: str) -> Path:
    home = Home(folder, reserve_bytes=RESERVE)
    create_vault(HomeKeys(home), passphrase, HandClock(START_MS), cost=KdfCost.lowest())
    return home.keys


def _bak(rig: Rig) -> Path:
    return rig.home.keys.with_name("vault.keys.bak")


def test_a_second_copy_of_another_vault_is_mended_once_the_first_has_opened_it(tmp_path: Path, foreign: Path) -> None:
    with rig_at(tmp_path, is_open=False) as rig:
        _bak(rig).write_bytes(foreign.read_bytes())
        rig.engine.vault.open(PASSPHRASE).result(30)
        assert _bak(rig).read_bytes() == rig.home.keys.read_bytes()


def test_a_first_copy_of_another_vault_never_replaces_the_second(tmp_path: Path, twin: Path) -> None:
    with rig_at(tmp_path, is_open=False) as rig:
        own = _bak(rig).read_bytes()
        rig.home.keys.write_bytes(twin.read_bytes())
        error = error_of(rig.engine.vault.open(PASSPHRASE))
        assert error.code is Code.KEY_FILE_DAMAGED
        assert error.exit_code == 5
        assert "another vault's" in error.sentence
        assert "vault.keys.bak may be it" in error.sentence
        assert _bak(rig).read_bytes() == own
        rig.home.keys.write_bytes(own)
        rig.engine.vault.open(PASSPHRASE).result(30)


def test_a_first_copy_of_another_vault_that_another_secret_opens_is_told(tmp_path: Path, foreign: Path) -> None:
    with rig_at(tmp_path, is_open=False) as rig:
        own = _bak(rig).read_bytes()
        rig.home.keys.write_bytes(foreign.read_bytes())
        error = error_of(rig.engine.vault.open(PASSPHRASE))
        assert error.code is Code.WRONG_SECRET
        assert "vault.keys.bak beside it is another vault's" in error.sentence
        assert _bak(rig).read_bytes() == own


@pytest.mark.parametrize("damage", [None, b"nothing of a key file"])
def test_the_second_copy_alone_of_another_vault_is_told(tmp_path: Path, foreign: Path, damage: bytes | None) -> None:
    with rig_at(tmp_path, is_open=False) as rig:
        if damage is None:
            rig.home.keys.unlink()
        else:
            rig.home.keys.write_bytes(damage)
        _bak(rig).write_bytes(foreign.read_bytes())
        error = error_of(rig.engine.vault.open(PASSPHRASE))
        assert error.code is Code.WRONG_SECRET
        assert "vault.keys is missing or damaged" in error.sentence
        assert error_of(rig.engine.vault.open(OTHER)).code is Code.KEY_FILE_DAMAGED


def test_a_wrong_secret_alone_says_nothing_of_copies(tmp_path: Path) -> None:
    with rig_at(tmp_path, is_open=False) as rig:
        assert "vault.keys" not in error_of(rig.engine.vault.open("wrong")).sentence


def test_a_damaged_vault_with_its_own_keys_is_told_as_that(tmp_path: Path) -> None:
    with rig_at(tmp_path, is_open=False) as rig:
        content = bytearray(rig.home.vault.read_bytes())
        content[100:4000] = bytes(3900)
        rig.home.vault.write_bytes(content)
        assert error_of(rig.engine.vault.open(PASSPHRASE)).code is Code.VAULT_DAMAGED
