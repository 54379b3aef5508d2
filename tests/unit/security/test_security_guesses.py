"""A delay that grows with each wrong secret, is kept over restarts, and ends whatever the clock does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Code, LociError
from core.security.guesses import FREE, LONGEST_S, GuessDelay, delay_s
from core.types.clock import ManualClock

START_MS = 1_700_000_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "guesses.json"


def _is_refused(file: Path, now_ms: int) -> bool:
    try:
        GuessDelay(file, ManualClock(now_ms)).need_turn()
    except LociError as error:
        if (error.code, error.exit_code) != (Code.TOO_MANY_GUESSES, 4):
            raise
        return True
    return False


def _wrong(file: Path, times: int, now_ms: int = START_MS) -> None:
    for _ in range(times):
        GuessDelay(file, ManualClock(now_ms)).note_wrong()


def test_the_first_few_are_free_and_then_it_grows(file: Path) -> None:
    _wrong(file, FREE - 1)
    assert not _is_refused(file, START_MS)
    for more in range(6):
        _wrong(file, 1)
        wait_ms = 2**more * 1000
        assert _is_refused(file, START_MS + wait_ms - 1)
        assert not _is_refused(file, START_MS + wait_ms)


def test_a_right_one_forgets_them(file: Path) -> None:
    _wrong(file, 20)
    GuessDelay(file, ManualClock(START_MS)).forget()
    assert not file.exists()
    assert not _is_refused(file, START_MS)


@pytest.mark.parametrize("shift_ms", [-(10**12), -1, 0])
def test_a_clock_set_back_keeps_nobody_out_for_longer(file: Path, shift_ms: int) -> None:
    _wrong(file, 30)
    assert _is_refused(file, START_MS + shift_ms)
    assert not _is_refused(file, START_MS + shift_ms + LONGEST_S * 1000)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"wrong": -4, "at": 1}', b'{"wrong": "9", "at": 1}', b'{"wrong": 1e9, "at": 1}', b"x" * 999],
)
def test_a_broken_file_keeps_nobody_out(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert not _is_refused(file, START_MS)
    _wrong(file, FREE)
    assert _is_refused(file, START_MS)


def test_where_nothing_can_be_written_nothing_fails(tmp_path: Path) -> None:
    _wrong(tmp_path / "nowhere" / "guesses.json", 9)
    assert not _is_refused(tmp_path / "nowhere" / "guesses.json", START_MS)


@given(st.integers(0, 10**6))
def test_it_never_falls_and_never_passes_the_longest(wrong: int) -> None:
    assert 0 <= delay_s(wrong) <= delay_s(wrong + 1) <= LONGEST_S
