"""A process that is killed while it attaches a file has attached it whole or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import attach_child
import pytest
from engine_rig import PASSPHRASE, rig_at

from core.types.values import OWNER_ACTOR

DATA = b"The ferry leaves at nine. " * 20_000


@pytest.mark.starts_process
@pytest.mark.slow
def test_a_kill_leaves_the_file_whole_or_not_there(tmp_path: Path) -> None:
    file = tmp_path / "ferry.txt"
    file.write_bytes(DATA)
    with rig_at(tmp_path) as rig:
        rig.store("The lamp is lit at dusk.")
        home = rig.home.path
    path = os.pathsep.join([str(Path(attach_child.__file__).parent), *(one for one in sys.path if one)])
    for number in (*range(7), 100):
        order = {"home": str(home), "secret": PASSPHRASE, "file": str(file), "number": number}
        killed = subprocess.run(
            [sys.executable, attach_child.__file__],
            input=json.dumps(order) + "\n",
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        is_done = "done" in killed.stdout
        assert killed.returncode == (0 if is_done else -signal.SIGKILL), killed.stderr
        with rig_at(tmp_path) as again:
            assert again.rows("SELECT count(*) FROM files") == [(int(is_done),)]
            assert again.value("SELECT count(*) FROM stored_chunks") == (-(-len(DATA) // 65_536) if is_done else 0)
            assert again.engine.vault.verify(deep=True).result(60)["checks"]["files"]["status"] == "ok"
            if is_done:
                reply = again.engine.files.attach(file, OWNER_ACTOR, caption="killed").result(60)
                assert reply.deduplicated
                assert again.engine.files.read_bytes(reply.file.id).result(60) == DATA
    assert is_done
