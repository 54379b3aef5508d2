"""An erasure that is killed at any step has erased whole or not at all, has a certificate, and leaves whole backups."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import erasure_child
import pytest
from engine_rig import PASSPHRASE, Rig, rig_at
from erasing_rig import TEXT, traces

from core.errors import Code, EnvironmentFaultError
from core.types.memory import CopyState, ErasureRequest, ErasureState, ErasureSubject
from core.vault import copies
from core.vault.copies import known_copies

TEXTS = 20


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        for nr in range(TEXTS):
            made.store(f"The lamp in room {nr} is lit at dusk.")
        yield made


def _erase_killed(home: Path, memory_id: str, at: str, number: int) -> bool:
    """Whether it came to its end."""
    path = os.pathsep.join([str(Path(erasure_child.__file__).parent), *(one for one in sys.path if one)])
    order = {"home": str(home), "secret": PASSPHRASE, "id": memory_id, "at": at, "number": number}
    killed = subprocess.run(
        [sys.executable, erasure_child.__file__],
        input=json.dumps(order) + "\n",
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    is_done = "done" in killed.stdout
    assert killed.returncode == (0 if is_done else -signal.SIGKILL), killed.stderr
    return is_done


@pytest.mark.starts_process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "number"),
    [
        ("erase", 0), ("scrub", 0), ("rows", 0), ("rows", 30), ("copy", 0), ("pages", 0), ("backups", 0),
        ("rewrite", 0), *(("file", number) for number in range(0, 22, 3)),
    ],
)  # fmt: skip
def test_a_kill_at_a_step_leaves_everything_whole(rig: Rig, at: str, number: int) -> None:
    gone = rig.store(TEXT).memory_id
    rig.engine.vault.backup().result(60)
    rig.engine.close()
    is_done = _erase_killed(rig.home.path, gone, at, number)
    assert not is_done or at == "file"
    with rig_at(rig.folder) as again:
        assert again.verify()["status"] == "ok"
        (backup,) = known_copies(again.home)
        assert [one.name for one in again.home.backups.iterdir()] == [backup.name]
        if at == "erase":
            assert again.rows("SELECT id FROM memories WHERE id = ?", gone)
            assert again.engine.erasures.list_certificates().result(30) == ()
        request = ErasureRequest(ErasureSubject.MEMORY, (gone,))
        if again.rows("SELECT id FROM memories WHERE id = ?", gone):
            again.engine.erasures.erase(request).result(60)
        assert traces(again) == []
        (line,) = again.engine.erasures.list_certificates().result(30)
        found = again.engine.erasures.rewrite_backups(line.id).result(60)
        assert found.is_authentic
        assert next(one.state for one in found.copies) in (CopyState.CLEAN, CopyState.REWRITTEN)
        assert found.state in (ErasureState.ERASED, ErasureState.NOT_CHECKED)


@pytest.mark.parametrize("step", ["copy_into", "pack_backup", "sync_directory"])
def test_a_full_disk_leaves_the_old_backup(rig: Rig, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    gone = rig.store(TEXT).memory_id
    path = Path(rig.engine.vault.backup().result(60)["path"])
    before = path.read_bytes()
    request = ErasureRequest(ErasureSubject.MEMORY, (gone,))
    done = rig.engine.erasures.erase(request).result(60)
    monkeypatch.setattr(copies, step, full)
    with pytest.raises(EnvironmentFaultError) as refused:
        rig.engine.erasures.rewrite_backups(done.id).result(60)
    assert refused.value.code is Code.DISK_FULL
    assert [one.name for one in rig.home.backups.iterdir()] == [path.name]
    if step != "sync_directory":
        assert path.read_bytes() == before
    monkeypatch.undo()
    assert rig.engine.erasures.rewrite_backups(done.id).result(60).state is ErasureState.ERASED
