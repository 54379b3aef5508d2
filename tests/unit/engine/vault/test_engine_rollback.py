"""Put back, exchanged, deleted: each has a sentence with a code that says what happened and what to do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import PASSPHRASE, RESERVE, START_MS, HandClock, WordEmbedder, error_of, rig_at

from core.engine.facade import Engine, Home, OpenInfo, Setup
from core.engine.health import describe_problem, health_report
from core.errors import Code, LociError
from core.intake.claims import TextReaders
from core.security.passphrase import KdfCost
from core.types.requests import StoreRequest
from core.types.values import OWNER_ACTOR
from core.vault.bootstrap import Doubt


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A vault of two days, closed; that of the first day lies in `yesterday`."""
    with rig_at(tmp_path) as rig:
        rig.store("Ada keeps bees")
        rig.lock()
        rig.engine.close()
        shutil.copytree(rig.home.path, tmp_path / "yesterday")
    with rig_at(tmp_path) as rig:
        rig.store("The lamp is lit at dusk.")
    return tmp_path / "home"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another vault with other keys, closed."""
    home = Home(tmp_path / "other", reserve_bytes=RESERVE)
    engine = _engine(home)
    engine.vault.create("another passphrase").result(60)
    engine.vault.open("another passphrase").result(60)
    engine.memories.store(StoreRequest("Something else."), OWNER_ACTOR).result(60)
    engine.close()
    return home.path


def _engine(home: Home, at_ms: int = START_MS + 5000) -> Engine:
    return Engine(
        Setup(
            home, HandClock(at_ms), WordEmbedder(), background=False, kdf_cost=KdfCost.lowest(), readers=TextReaders()
        )
    )


@pytest.fixture
def engine(home: Path) -> Iterator[Engine]:
    made = _engine(Home(home, reserve_bytes=RESERVE))
    yield made
    made.close()


def put(source: Path, home: Path, *names: str) -> None:
    for name in names:
        shutil.copy(source / name, home / name)


def refusal(engine: Engine, secret: str = PASSPHRASE) -> LociError:
    found = error_of(engine.vault.open(secret))
    assert isinstance(found, LociError)
    return found


def refused_write(engine: Engine) -> LociError:
    found = error_of(engine.memories.store(StoreRequest("Something new."), OWNER_ACTOR))
    assert isinstance(found, LociError)
    return found


def test_the_vault_of_yesterday(home: Path, engine: Engine) -> None:
    put(home.parent / "yesterday", home, "vault.db")
    found: OpenInfo = engine.vault.open(PASSPHRASE).result(60)
    assert found.older_than_head is not None
    assert found.older_than_head.doubt is Doubt.OLDER
    said = refused_write(engine)
    assert said.code is Code.OLDER_VAULT
    assert "older than the one last seen here" in said.sentence
    assert "`loci verify --accept-older`" in said.sentence


@pytest.mark.parametrize("damage", ["deleted", "changed"])
def test_a_head_that_is_deleted_or_changed(home: Path, engine: Engine, damage: str) -> None:
    if damage == "deleted":
        (home / "vault.head").unlink()
    else:
        (home / "vault.head").write_bytes(b"{}")
    found = engine.vault.open(PASSPHRASE).result(60)
    assert found.older_than_head is not None
    assert found.older_than_head.doubt is (Doubt.HEAD_MISSING if damage == "deleted" else Doubt.HEAD_DAMAGED)
    said = refused_write(engine)
    assert said.code is Code.OLDER_VAULT
    assert "it cannot be told whether it is" in said.sentence
    assert engine.accept_older().result(60) == 0
    engine.memories.store(StoreRequest("Something new."), OWNER_ACTOR).result(60)


def test_a_clock_that_was_set_back_changes_no_order(home: Path) -> None:
    engine = _engine(Home(home, reserve_bytes=RESERVE), START_MS - 30 * 86_400_000)
    try:
        assert engine.vault.open(PASSPHRASE).result(60).older_than_head is None
        engine.memories.store(StoreRequest("Something new."), OWNER_ACTOR).result(60)
        opened = engine._slot.require_vault()
        vault = opened.storage.vault
        times = vault.read(lambda rows: rows.all("SELECT recorded_at FROM memories ORDER BY n"))
        assert times == sorted(times)
        assert describe_problem("clock_back") in vault.read(lambda rows: health_report(opened, rows)).warnings
    finally:
        engine.close()


def test_an_index_file_of_another_day_is_built_anew(home: Path, engine: Engine) -> None:
    put(home.parent / "yesterday", home, "index.snap")
    engine.vault.open(PASSPHRASE).result(60)
    checked = engine.vault.verify(deep=True).result(60)
    assert checked["checks"]["vectors"] == {"status": "ok", "note": "2 vectors compared"}


def test_a_database_of_another_vault(home: Path, other: Path, engine: Engine) -> None:
    put(other, home, "vault.db")
    said = refusal(engine)
    assert said.code is Code.VAULT_DAMAGED
    assert "restore" in said.sentence


def test_a_database_and_head_of_another_vault(home: Path, other: Path, engine: Engine) -> None:
    put(other, home, "vault.db", "vault.head")
    said = refusal(engine)
    assert said.code is Code.KEY_FILE_DAMAGED
    assert "restore" in said.sentence or "put" in said.sentence


def test_a_second_key_file_of_another_vault(home: Path, other: Path, engine: Engine) -> None:
    put(other, home, "vault.keys.bak")
    engine.vault.open(PASSPHRASE).result(60)
    engine.vault.lock().result(60)
    put(other, home, "vault.keys.bak")
    (home / "vault.keys").unlink()
    said = refusal(engine)
    assert said.code is Code.WRONG_SECRET
    assert "the copy is another vault's" in said.sentence
    assert "put this vault's own vault.keys back or restore a backup" in said.sentence
