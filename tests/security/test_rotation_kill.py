"""A rotation that is killed at any step leaves the old keys or the new ones, whole, and the next start tidies up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import rotation_child
from engine_rig import PASSPHRASE, RESERVE, START_MS, HandClock, Rig, WordEmbedder, rig_at

from core.engine.facade import Engine, Home, Setup
from core.errors import Code, LociError
from core.intake.claims import TextReaders

TEXTS = 40
_OLD_STEPS = ("copy", "audit", "check")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        for nr in range(TEXTS):
            made.store(f"The lamp in room {nr} is lit at dusk.")
        made.lock()
        yield made


def _rotate_killed(home: Path, at: str, number: int) -> tuple[str, bool]:
    """The new recovery code, and whether it came to its end."""
    path = os.pathsep.join([str(Path(rotation_child.__file__).parent), *(one for one in sys.path if one)])
    order = {"home": str(home), "secret": PASSPHRASE, "at": at, "number": number}
    killed = subprocess.run(
        [sys.executable, rotation_child.__file__],
        input=json.dumps(order) + "\n",
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    lines = killed.stdout.splitlines()
    is_done = "done" in lines
    assert killed.returncode == (0 if is_done else -signal.SIGKILL), killed.stderr
    return lines[0], is_done


def _opens(home: Path, secret: str) -> bool:
    engine = Engine(
        Setup(
            Home(home, reserve_bytes=RESERVE),
            HandClock(START_MS + 9000),
            WordEmbedder(),
            background=False,
            readers=TextReaders(),
        )
    )
    try:
        engine.vault.open(secret).result(60)
    except LociError as error:
        assert error.code is Code.WRONG_SECRET  # noqa: PT017 - anything else fails the test
        return False
    else:
        assert engine.older is None
        assert engine.vault.read_status().result(30).values["memories"]["total"] == TEXTS
        assert engine.vault.verify().result(60)["status"] == "ok"
        return True
    finally:
        engine.close()


def _is_tidy(home: Path) -> bool:
    return not [one.name for one in home.iterdir() if "rotat" in one.name]


@pytest.mark.starts_process
@pytest.mark.slow
@pytest.mark.parametrize("at", [*_OLD_STEPS, "switch"])
def test_a_kill_at_a_step_leaves_one_of_the_two(rig: Rig, at: str) -> None:
    rig.engine.close()
    code, is_done = _rotate_killed(rig.home.path, at, 0)
    assert not is_done
    assert _opens(rig.home.path, PASSPHRASE)
    assert _is_tidy(rig.home.path)
    assert _opens(rig.home.path, code) is (at == "switch")


@pytest.mark.starts_process
@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 2, 4, 6, 8])
def test_a_kill_behind_the_switch_is_finished(rig: Rig, number: int) -> None:
    rig.engine.close()
    code, _ = _rotate_killed(rig.home.path, "rename", number)
    assert _opens(rig.home.path, PASSPHRASE)
    assert _opens(rig.home.path, code)
    assert _is_tidy(rig.home.path)
