"""The facade's group for other devices, on two whole engines: what came is found, asked about, sealed and erased."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from archive_rig import other_rig
from engine_rig import HandClock, Rig, error_of, refused, rig_at

from core.engine.sync.schedule import FIRST_MS, QUIET_MS
from core.errors import Code
from core.events import Stalled
from core.types.folders.sync import SyncReport
from core.types.memory import ErasureRequest, ErasureSubject
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action

CLAIM = {"subject": "Ada", "predicate": "lives_in", "exclusive": True}


@pytest.fixture
def rigs(tmp_path: Path) -> Iterator[tuple[Rig, Rig]]:
    shared = tmp_path / "shared"
    shared.mkdir()
    with other_rig(tmp_path / "one") as one, other_rig(tmp_path / "two") as two:
        code = one.engine.devices.pair(shared, "desk").result(30).code
        two.engine.devices.join(code, shared, "laptop").result(30)
        settle(one, two)
        yield one, two


def now(rig: Rig) -> SyncReport:
    done = rig.engine.devices.run().result(60)
    rig.settle()
    return done


def pass_time(rig: Rig, ms: int) -> None:
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(ms)


def settle(*rigs: Rig) -> None:
    for _ in range(6):
        if not any(report.wrote or report.bundles for report in [now(rig) for rig in rigs]):
            return
    raise AssertionError("they never came to rest")


def test_what_came_is_found_by_words_and_by_meaning(rigs: tuple[Rig, Rig]) -> None:
    one, two = rigs
    told: list[object] = []
    two.engine.hub.subscribe(told.append)
    one.store("Ada keeps bees behind the barn")
    settle(one, two)
    for mode in ("semantic", "keyword", "hybrid"):
        assert two.found("bees behind the barn", mode=mode) == ["Ada keeps bees behind the barn"]
    assert told
    assert two.verify()["status"] == "ok"
    audited = {str(row[0]) for row in two.rows("SELECT verb FROM audit WHERE verb GLOB 'sync*'")}
    assert audited == {"sync_join", "sync_take", "sync_write"}


def test_a_decision_about_a_contradiction_counts_on_both(rigs: tuple[Rig, Rig]) -> None:
    one, two = rigs
    one.store("Ada lives in Porto", claim={**CLAIM, "value": "Porto"})
    two.store("Ada lives in Faro", claim={**CLAIM, "value": "Faro"})
    settle(one, two)
    (item,) = one.rows("SELECT id FROM conflicts WHERE state = 'open'")
    assert two.rows("SELECT id FROM conflicts WHERE state = 'open'") == [item]
    two.engine.conflicts.resolve(item[0], Decision(Action.SUPERSEDE), OWNER_ACTOR).result(30)
    settle(one, two)
    for rig in rigs:
        assert rig.rows("SELECT count(*) FROM conflicts WHERE state = 'open'") == [(0,)]
        assert len(rig.texts()) == 1
    assert one.texts() == two.texts()
    two.undo()
    settle(one, two)
    assert one.rows("SELECT id FROM conflicts WHERE state = 'open'") == [item]
    assert sorted(one.texts()) == ["Ada lives in Faro", "Ada lives in Porto"]


def test_sealing_seals_everywhere_and_putting_back_puts_back(rigs: tuple[Rig, Rig]) -> None:
    one, two = rigs
    secret = one.store("The safe opens with 12-34-56").memory_id
    two.store("Ada keeps bees")
    settle(one, two)
    one.engine.seal.set_up("a second secret").result(30)
    one.engine.seal.seal([secret]).result(30)
    settle(one, two)
    assert two.texts(None) == ["Ada keeps bees"]
    assert two.rows("SELECT id FROM sealed_memories") == [(secret,)]
    assert two.rows("SELECT count(*) FROM undo_rows WHERE before LIKE '%12-34-56%'") == [(0,)]
    two.engine.seal.open("a second secret").result(30)
    assert two.engine.seal.read_text(secret).result(30).text == "The safe opens with 12-34-56"
    two.engine.seal.unseal([secret]).result(30)
    settle(one, two)
    assert one.get(secret).text == "The safe opens with 12-34-56"
    assert one.rows("SELECT id FROM sealed_memories") == []


def test_an_erasure_erases_on_the_other_and_its_certificate_names_the_devices(rigs: tuple[Rig, Rig]) -> None:
    one, two = rigs
    gone = one.store("The safe opens with 12-34-56").memory_id
    settle(one, two)
    two.recall("how does the safe open?")
    certificate = one.engine.erasures.erase(ErasureRequest(ErasureSubject.MEMORY, (gone,))).result(60)
    assert "devices" in certificate.not_checked
    settle(one, two)
    assert two.rows("SELECT count(*) FROM memories") == [(0,)]
    assert two.found("safe") == []
    assert two.verify()["status"] == "ok"


def test_un_importing_goes_everywhere(rigs: tuple[Rig, Rig]) -> None:
    one, two = rigs
    brought = one.bring([{"text": f"Line {at} of the notes", "kind": "episode", "session": "walk"} for at in range(4)])
    settle(one, two)
    assert len(two.texts()) == 4
    one.engine.imports.undo_import(str(brought.import_id)).result(30)
    settle(one, two)
    assert two.texts(None) == []


def test_leaving_tells_the_others_and_keeps_the_memories(rigs: tuple[Rig, Rig]) -> None:
    one, two = rigs
    two.store("Ada keeps bees")
    two.engine.devices.leave().result(60)
    assert not two.engine.devices.read_status().result(30).is_on
    assert two.texts() == ["Ada keeps bees"]
    assert two.rows("SELECT count(*) FROM sync_rows") == [(0,)]
    now(one)
    assert one.texts() == ["Ada keeps bees"]
    devices = {device.name: device.left_at is None for device in one.engine.devices.read_status().result(30).devices}
    assert devices == {"desk": True, "laptop": False}
    assert error_of(two.engine.devices.run()).code is Code.SYNC_OFF


def test_a_lost_device_is_taken_out_by_name(rigs: tuple[Rig, Rig]) -> None:
    one, two = rigs
    assert error_of(one.engine.devices.remove("nobody")).code is Code.NOT_FOUND
    assert error_of(one.engine.devices.remove("desk")).code is Code.NOT_FOUND
    done = one.engine.devices.remove("laptop").result(30)
    assert done.name == "laptop"
    assert done.report is not None
    assert done.report.wrote
    one.store("Said when the laptop was gone")
    now(one)
    two.store("Written after that")
    assert error_of(two.engine.devices.run()).code is Code.SYNC_OFF
    assert now(one).problems == ()
    assert error_of(two.engine.devices.run()).code is Code.SYNC_OFF
    assert two.texts() == ["Written after that"]
    assert two.rows("SELECT count(*) FROM sync_keys") == [(0,)]


def test_a_device_is_taken_out_also_where_the_folder_is_gone(rigs: tuple[Rig, Rig], tmp_path: Path) -> None:
    one, _ = rigs
    (tmp_path / "shared").rename(tmp_path / "elsewhere")
    assert one.engine.devices.remove("laptop").result(30).report is None
    (tmp_path / "elsewhere").rename(tmp_path / "shared")
    assert now(one).wrote
    assert one.rows("SELECT count(*) FROM sync_keys") == [(1,)]


@pytest.mark.expected_logs("a round by itself stopped: E7002")
def test_rounds_begin_by_themselves_and_a_folder_that_is_gone_is_told_once(
    rigs: tuple[Rig, Rig], tmp_path: Path
) -> None:
    one, two = rigs
    told: list[object] = []
    one.engine.hub.subscribe(told.append)
    devices = one.engine.devices

    def wait_for_due() -> None:
        devices.run_when_due(one.opened)
        one.opened.storage.threads.checks.submit(lambda: None).result(30)

    def warnings() -> list[str]:
        return [event.subject for event in told if isinstance(event, Stalled)]

    two.store("Ada keeps bees")
    now(two)
    wait_for_due()
    assert one.texts() == []
    pass_time(one, FIRST_MS)
    wait_for_due()
    assert one.texts() == ["Ada keeps bees"]
    (tmp_path / "shared").rename(tmp_path / "elsewhere")
    for _ in range(3):
        pass_time(one, 300_000)
        wait_for_due()
    assert warnings() == ["devices"]
    assert "is not there" in devices.read_status().result(30).trouble
    (tmp_path / "elsewhere").rename(tmp_path / "shared")
    pass_time(one, 300_000)
    wait_for_due()
    assert devices.read_status().result(30).trouble == ""
    (tmp_path / "shared").rename(tmp_path / "elsewhere")
    pass_time(one, 300_000)
    wait_for_due()
    assert warnings() == ["devices", "devices"]


def test_a_change_is_told_soon_and_never_means_never(rigs: tuple[Rig, Rig]) -> None:
    one, two = rigs
    one.engine.devices.run_when_due(one.opened)
    pass_time(one, FIRST_MS)
    one.engine.devices.run_when_due(one.opened)
    one.opened.storage.threads.checks.submit(lambda: None).result(30)
    one.store("Ada keeps bees")
    one.engine.devices.note_change("remember")
    pass_time(one, QUIET_MS)
    one.engine.settings.set_option("sync_minutes", 0).result(30)
    one.engine.devices.run_when_due(one.opened)
    one.opened.storage.threads.checks.submit(lambda: None).result(30)
    assert now(two).bundles == 0
    one.engine.settings.set_option("sync_minutes", 15).result(30)
    one.engine.devices.run_when_due(one.opened)
    one.opened.storage.threads.checks.submit(lambda: None).result(30)
    assert now(two).new == 1


def test_who_is_paired_joins_no_other_group(rigs: tuple[Rig, Rig], tmp_path: Path) -> None:
    one, two = rigs
    code = one.engine.devices.pair(None, "desk").result(30).code
    assert error_of(two.engine.devices.join(code, tmp_path / "shared", "laptop")).code is Code.INVALID_INPUT
    assert error_of(one.engine.devices.run(tmp_path / "nowhere")).code is Code.SYNC_FOLDER_GONE
    moved = tmp_path / "moved"
    (tmp_path / "shared").rename(moved)
    assert error_of(one.engine.devices.run()).code is Code.SYNC_FOLDER_GONE
    assert one.engine.devices.run(moved).result(30).problems == ()
    assert one.engine.devices.read_status().result(30).folder == str(moved)


def test_a_locked_vault_says_so(rigs: tuple[Rig, Rig]) -> None:
    one, _ = rigs
    one.lock()
    with pytest.raises(Exception, match="E1001"):
        one.engine.devices.run()


def test_an_engine_that_runs_does_rounds_and_none_while_it_is_locked(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (tmp_path / "one").mkdir()
    with rig_at(tmp_path / "one", background=True) as one, other_rig(tmp_path / "two", one.clock) as two:
        code = one.engine.devices.pair(shared, "desk").result(30).code
        two.engine.devices.join(code, shared, "laptop").result(30)
        settle(one, two)
        two.store("Ada keeps bees")
        now(two)
        until = time.monotonic() + 60
        while one.texts() != ["Ada keeps bees"] and time.monotonic() < until:
            pass_time(one, 60_000)  # the first look only begins to count
            time.sleep(0.2)
        assert one.texts() == ["Ada keeps bees"]
        one.lock()
        two.store("Ada has a dog")
        now(two)
        pass_time(one, 900_000)
        before = sorted(path.name for path in shared.iterdir())
        one.engine.devices.note_change("remember")
        assert one.engine.devices._scheduled is None
        assert sorted(path.name for path in shared.iterdir()) == before
        one.unlock()


def names(rig: Rig) -> dict[str, bool]:
    """Which devices take part, and which of them is this one."""
    found = rig.engine.devices.read_status().result(30).devices
    return {one.name: one.is_own for one in found if one.left_at is None}


def test_a_name_that_is_taken_gets_a_number_also_where_it_was_not_known_yet(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    with (
        other_rig(tmp_path / "one") as one,
        other_rig(tmp_path / "two", one.clock) as two,
        other_rig(tmp_path / "three", one.clock) as three,
    ):
        for joining in (two, three):
            code = one.engine.devices.pair(shared, "vm").result(30).code
            pass_time(one, 1000)
            joining.engine.devices.join(code, shared, "vm").result(30)
            settle(one, two) if joining is two else settle(one, two, three)
        for rig in (one, two, three):
            assert set(names(rig)) == {"vm", "vm (2)", "vm (3)"}
        assert names(one)["vm"]
        assert names(two)["vm (2)"]
        assert names(three)["vm (3)"]


def test_a_new_name_goes_to_the_others_and_only_its_own_word_counts(rigs: tuple[Rig, Rig]) -> None:
    one, two = rigs
    assert two.engine.devices.rename("  study\troom ").result(60) == "study room"
    settle(one, two)
    assert set(names(one)) == set(names(two)) == {"desk", "study room"}
    assert error_of(two.engine.devices.rename("desk")).code is Code.INVALID_INPUT
    for wrong in ("", "x" * 65, "a\u202eb"):
        with refused(Code.INVALID_INPUT):
            two.engine.devices.rename(wrong)
    one.write(lambda tx: tx.run("UPDATE sync_devices SET name = 'forged' WHERE name = 'study room'"))
    one.store("Ada keeps bees")
    settle(one, two)
    assert set(names(two)) == {"desk", "study room"}
    assert two.rows("SELECT count(*) FROM audit WHERE verb = 'sync_name'") == [(1,)]


def test_a_name_is_given_also_where_the_folder_is_gone(rigs: tuple[Rig, Rig], tmp_path: Path) -> None:
    one, two = rigs
    (tmp_path / "shared").rename(tmp_path / "away")
    assert two.engine.devices.rename("study").result(60) == "study"
    (tmp_path / "away").rename(tmp_path / "shared")
    settle(one, two)
    assert set(names(one)) == {"desk", "study"}


def test_leaving_says_whether_the_others_can_hear_of_it(rigs: tuple[Rig, Rig], tmp_path: Path) -> None:
    one, two = rigs
    assert two.engine.devices.leave().result(60).wrote
    (tmp_path / "shared").rename(tmp_path / "away")
    assert not one.engine.devices.leave().result(60).wrote
