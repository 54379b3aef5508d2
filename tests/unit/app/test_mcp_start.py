"""`loci mcp` starts without the engine: what it imports, how the verb is found, how the engine is started for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.options import find_verb
from app.mcp.client_setup import engine_command
from app.mcp.link import Starter
from core.errors import Code, LociError
from core.types.clock import ManualClock

HEAVY = ("core.engine", "core.vault", "core.index", "core.embed", "core.recall", "core.intake", "numpy", "PySide6",
         "sqlcipher3", "onnxruntime", "tokenizers", "jsonschema", "rich", "qasync", "hnswlib", "argon2")  # fmt: skip
LOOK = """
import sys
from app.__main__ import main
code = main({arguments!r})
print(code, *sorted(sys.modules), file=sys.stderr)
"""


@pytest.mark.starts_process
@pytest.mark.parametrize(
    "arguments",
    [
        ["mcp"],
        ["--home", "/nowhere", "mcp", "--tools", "full"],
        ["mcp", "--install", "list"],
        ["--home", "/nowhere", "chat"],
    ],
)
def test_nothing_of_the_engine_is_loaded(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOK.format(arguments=arguments)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    loaded = done.stderr.split()
    assert "app.mcp.client_setup" in loaded, done.stderr
    assert not [name for name in loaded if any(name == heavy or name.startswith(f"{heavy}.") for heavy in HEAVY)]


@pytest.mark.parametrize(
    ("arguments", "verb"),
    [
        ([], None), (["mcp"], "mcp"), (["--json", "mcp", "--test"], "mcp"), (["--home", "mcp", "status"], "status"),
        (["--home=mcp", "list"], "list"), (["--passphrase-file", "f", "--home", "h", "mcp"], "mcp"), (["--home"], None),
    ],
)  # fmt: skip
def test_the_verb_is_found_behind_global_options(arguments: list[str], verb: str | None) -> None:
    assert find_verb(arguments) == verb


def test_the_engine_is_started_where_it_need_not_ask() -> None:
    command = engine_command(Path("/h"), Path("/s"))
    assert command[-6:] == ["--home", "/h", "--passphrase-file", "/s", "serve", "--unlocked"]


def ended(starter: Starter) -> None:
    assert starter._child is not None
    starter._child.wait(60)


@pytest.mark.starts_process
@pytest.mark.parametrize(("code", "told"), [(4, Code.VAULT_LOCKED), (1, Code.NOT_HERE)])
def test_an_engine_that_cannot_open_is_not_started_again_at_once(code: int, told: Code) -> None:
    clock = ManualClock(0)
    starter = Starter([sys.executable, "-c", f"raise SystemExit({code})"], {}, clock)
    starter.ensure_started()
    ended(starter)
    for _ in range(2):
        with pytest.raises(LociError) as caught:
            starter.ensure_started()
        assert caught.value.code is told
        assert starter._child is None
    clock.at_ms += 16_000
    starter.ensure_started()
    ended(starter)


@pytest.mark.starts_process
def test_one_that_lost_the_race_is_waited_for() -> None:
    starter = Starter([sys.executable, "-c", "raise SystemExit(3)"], {})
    starter.ensure_started()
    ended(starter)
    starter.ensure_started()  # the other has the vault; no error
    assert starter._child is None


@pytest.mark.starts_process
@pytest.mark.parametrize("code", [0, 3])
def test_a_vault_that_another_works_on_is_tried_ever_more_seldom(code: int) -> None:
    clock = ManualClock(0)
    starter = Starter([sys.executable, "-c", f"raise SystemExit({code})"], {}, clock)

    def starts_in(seconds: int) -> int:
        """How many engines are started by calls that look ten times a second."""
        count = 0
        for _ in range(seconds * 10):
            starter.ensure_started()
            if starter._child is not None:
                count += 1
                ended(starter)
                starter.ensure_started()
            clock.at_ms += 100
        return count

    assert starts_in(9) == 5  # at 0, 0.5, 1.5, 3.5 and 8.5 s
    assert starts_in(20) == 4  # then every five
    starter.note_answer()
    starter.ensure_started()
    assert starter._child is not None
    ended(starter)


@pytest.mark.starts_process
def test_a_program_that_is_not_there_is_told() -> None:
    starter = Starter(["/nowhere/loci"], {})
    with pytest.raises(LociError) as caught:
        starter.ensure_started()
    assert caught.value.code is Code.NOT_HERE
