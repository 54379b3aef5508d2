"""Wrong secrets at each door of a home make the next ones wait, over restarts, and a right one ends that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from engine_rig import PASSPHRASE, START_MS, new_home
from memory_ring import Ring

from core.engine.facade import Home, HomeKeys
from core.errors import Code, LociError
from core.security.guesses import FREE
from core.types.clock import ManualClock

DOORS: dict[str, Callable[[HomeKeys, str], object]] = {
    "open": lambda keys, secret: keys.open(secret).wipe(),
    "passphrase": lambda keys, secret: keys.change_passphrase(secret, "another"),
    "recovery code": lambda keys, secret: keys.new_recovery_code(secret),
    "new keys": lambda keys, secret: keys.make_next_keys(secret).wipe(),
    "keyring on": lambda keys, secret: keys.turn_keyring_on(secret),
    "keyring off": lambda keys, secret: keys.turn_keyring_off(secret),
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return new_home(tmp_path / "home")[0]


def _keys(home: Home, now_ms: int = START_MS) -> HomeKeys:
    return HomeKeys(home, keyring=Ring(), guess_clock=ManualClock(now_ms))


def _code_of(home: Home, door: str, secret: str, now_ms: int = START_MS) -> Code | None:
    try:
        DOORS[door](_keys(home, now_ms), secret)
    except LociError as error:
        return error.code
    return None


@pytest.mark.parametrize("door", DOORS)
def test_every_door_counts_and_waits(home: Home, door: str) -> None:
    before = home.keys.read_bytes()
    assert [_code_of(home, door, f"wrong {nr}") for nr in range(FREE)] == [Code.WRONG_SECRET] * FREE
    for other in DOORS:
        assert _code_of(home, other, PASSPHRASE) is Code.TOO_MANY_GUESSES, other
    assert home.keys.read_bytes() == before
    assert _code_of(home, "open", PASSPHRASE, START_MS + 1000) is None
    assert not home.guesses.exists()


def test_the_words_do_not_hold_what_was_typed(home: Home) -> None:
    for nr in range(FREE):
        _code_of(home, "open", f"Marzipanturm {nr}")
    with pytest.raises(LociError, match=r"^E1017: A wrong secret was given 5 times; wait a second") as caught:
        _keys(home).open("Marzipanturm")
    assert "Marzipan" not in str(caught.value)
    assert b"Marzipan" not in home.guesses.read_bytes()
    assert home.guesses.stat().st_mode & 0o777 == 0o600
