"""What happens to the keys stands in the audit: changes, and wrong secrets before a right one; never a secret."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from engine_rig import PASSPHRASE, START_MS, HandClock, Rig, refused, rig_at
from hypothesis import given
from hypothesis import strategies as st
from memory_ring import Ring

from core.engine.facade import Engine, Home, HomeKeys
from core.engine.home import key_log
from core.engine.home.key_log import KeyEvent, NotedEvent, note_key_event, read_key_events
from core.errors import Code
from core.security.passphrase import KdfCost
from core.vault.database.tx import Tx

NEW = "another passphrase"
KEYS = (
    "SELECT verb, actor, detail FROM audit WHERE verb IN ('change_passphrase', 'renew_recovery_code', 'keyring_on', "
    "'keyring_off', 'failed_unlocks') ORDER BY nr"
)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        yield made


def verbs(rig: Rig) -> list[str]:
    rig.opened.storage.threads.checks.submit(bool).result(30)
    return [verb for verb, _, _ in rig.rows(KEYS)]


def test_changes_of_an_open_vault_stand_there_at_once(rig: Rig) -> None:
    rig.engine.vault.change_passphrase(PASSPHRASE, NEW).result(60)
    code = rig.engine.vault.new_recovery_code(NEW).result(60)
    assert verbs(rig) == ["change_passphrase"]
    assert rig.engine.vault.confirm_recovery_code(code).result(60)
    assert verbs(rig) == ["change_passphrase", "renew_recovery_code"]
    assert not rig.home.key_events.exists()
    assert {actor for _, actor, _ in rig.rows(KEYS)} == {"owner"}


def test_the_keyring_on_and_off(rig: Rig) -> None:
    rig.engine.close()
    engine = Engine(replace(rig.engine._setup, keyring=Ring()))
    try:
        engine.vault.open(PASSPHRASE).result(60)
        engine.keys.turn_keyring_on(PASSPHRASE).result(60)
        engine.keys.turn_keyring_off(PASSPHRASE).result(60)
        found = engine._slot.require_vault().storage.vault.read(lambda rows: rows.all(KEYS))
    finally:
        engine.close()
    assert [verb for verb, _, _ in found] == ["keyring_on", "keyring_off"]


def test_changes_of_a_closed_vault_stand_there_with_the_next_opening(rig: Rig) -> None:
    rig.lock()
    clock = HandClock(START_MS)
    keys = HomeKeys(rig.home, guess_clock=clock)
    rig.engine.close()
    keys.change_passphrase(PASSPHRASE, NEW, cost=KdfCost.lowest())
    for _ in range(3):
        with refused(Code.WRONG_SECRET):
            keys.open("no")
    keys.open(NEW).wipe()
    assert [one.event for one in read_key_events(rig.home)[0]] == [KeyEvent.PASSPHRASE_CHANGED, KeyEvent.FAILED_UNLOCKS]
    with rig_at(rig.folder, clock=HandClock(START_MS + 3 * 86_400_000)) as again:
        assert verbs(again) == ["change_passphrase", "failed_unlocks"]
        details = [detail for _, _, detail in again.rows(KEYS)]
        assert '"wrong_secrets":3' in details[1].replace(" ", "")
        assert all('"day":"2023-11-14"' in detail.replace(" ", "") for detail in details)
        assert NEW not in str(again.rows("SELECT * FROM audit"))
    assert not rig.home.key_events.exists()


def test_a_right_secret_without_wrong_ones_leaves_no_line(rig: Rig) -> None:
    rig.lock()
    rig.engine.vault.open(PASSPHRASE).result(60)
    assert verbs(rig) == []


def test_a_change_that_was_refused_leaves_no_line_but_that_of_the_wrong_secret(rig: Rig) -> None:
    with refused(Code.WRONG_SECRET):
        rig.engine.vault.change_passphrase("no", NEW).result(60)
    assert verbs(rig) == []
    rig.engine.vault.change_passphrase(PASSPHRASE, NEW).result(60)
    assert verbs(rig) == ["failed_unlocks", "change_passphrase"]


@given(st.binary(max_size=200) | st.text(alphabet='[]",0123456789{}ae-_ ', max_size=80).map(str.encode))
def test_whatever_lies_there_is_read_or_left(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    home = Home(tmp_path_factory.mktemp("home"))
    home.key_events.write_bytes(data)
    events, end = read_key_events(home)
    assert isinstance(events, tuple)
    assert end == len(data)
    note_key_event(home, KeyEvent.KEYRING_ON, START_MS)
    assert read_key_events(home)[0][-1] == NotedEvent(KeyEvent.KEYRING_ON, START_MS)


def test_however_many_there_are_all_of_them_get_into_the_audit(rig: Rig) -> None:
    with rig.home.key_events.open("wb") as file:
        for nr in range(1, 2_001):
            file.write(key_log._encode_event(NotedEvent(KeyEvent.FAILED_UNLOCKS, START_MS, nr)))
    note_key_event(rig.home, KeyEvent.KEYRING_ON, START_MS)
    key_log.audit_key_events(rig.opened.storage)
    assert verbs(rig) == ["failed_unlocks"] * 2_000 + ["keyring_on"]
    counts = [detail.replace(" ", "") for _, _, detail in rig.rows(KEYS)[:-1]]
    assert all(f'"wrong_secrets":{nr}' in detail for nr, detail in enumerate(counts, 1))
    assert not rig.home.key_events.exists()


def test_what_many_note_at_the_same_moment_is_all_kept(tmp_path: Path) -> None:
    home = Home(tmp_path)
    start = Barrier(4)

    def note(first: int) -> None:
        start.wait(30)
        for nr in range(20):
            note_key_event(home, KeyEvent.FAILED_UNLOCKS, START_MS, first + nr)

    with ThreadPoolExecutor(4) as pool:  # each opens the file anew, as processes do
        list(pool.map(note, (100, 200, 300, 400)))
    assert {one.count for one in read_key_events(home)[0]} == {
        first + nr for first in (100, 200, 300, 400) for nr in range(20)
    }


def test_what_is_noted_while_others_are_moved_is_moved_too(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    note_key_event(rig.home, KeyEvent.KEYRING_ON, START_MS)
    append = key_log._append_events

    def note_meanwhile(storage: Any, events: Sequence[NotedEvent], tx: Tx) -> None:
        append(storage, events, tx)
        if events[0].event is KeyEvent.KEYRING_ON:
            note_key_event(rig.home, KeyEvent.KEYRING_OFF, START_MS)

    monkeypatch.setattr(key_log, "_append_events", note_meanwhile)
    key_log.audit_key_events(rig.opened.storage)
    assert verbs(rig) == ["keyring_on", "keyring_off"]
    assert not rig.home.key_events.exists()


def test_a_line_longer_than_a_block_hides_nothing_behind_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.key_events.write_bytes(b"x" * 100_000)
    note_key_event(home, KeyEvent.KEYRING_ON, START_MS)
    events, end = read_key_events(home)
    assert (events, end) == ((), 65_536)
    assert read_key_events(home, end) == (
        (NotedEvent(KeyEvent.KEYRING_ON, START_MS),),
        home.key_events.stat().st_size,
    )


def test_events_of_an_older_version_and_an_unfinished_line_are_read(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.key_events.write_text('[["keyring_on", 5, 0], ["failed_unlocks", 6, 2]]', encoding="ascii")
    note_key_event(home, KeyEvent.KEYRING_OFF, 7)
    with home.key_events.open("ab") as file:
        file.write(b'\n["keyri')
    note_key_event(home, KeyEvent.KEYRING_ON, 8)
    assert [(one.event, one.at) for one in read_key_events(home)[0]] == [
        (KeyEvent.KEYRING_ON, 5), (KeyEvent.FAILED_UNLOCKS, 6), (KeyEvent.KEYRING_OFF, 7), (KeyEvent.KEYRING_ON, 8),
    ]  # fmt: skip
