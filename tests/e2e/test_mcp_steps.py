"""The steps that the window shows beside its code, typed as they stand: whoever follows them ends paired."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_rig import Palace, in_background
from cli_terminal import Terminal
from window_process import Driven, on, screen

from core.config.grant_wording import describe_limits_of_grants
from ui.pages.clients.pairing import read_assistant_steps

OTHER = "Another with MCP"


def typed(steps: tuple[str, ...], code: str) -> list[str]:
    """The command of the steps that has the code in it, as it is typed behind `loci`."""
    (found,) = (step for step in steps if "CODE" in step)
    command = re.search(r"loci (.*CODE)$", found)
    assert command is not None, found
    return command[1].replace("CODE", code).replace("NAME", "another").split()


def allowed(palace: Palace, name: str, steps: tuple[str, ...]) -> str:
    """Show a code for a name, type what the steps say, say y where it asks, allow it; what it said."""
    with Terminal(palace, "pair", name, "--code") as person:
        with Terminal(palace, *typed(steps, person.code())) as client:
            client.type(b"y\n")
            person.until(describe_limits_of_grants())
            person.type(b"y\n")
            done = client.ended()
        assert person.ended().code == 0
    assert done.code == 0, done.err
    return done.out


def test_every_assistant_has_one_step_that_pairs_it() -> None:
    for name, steps in read_assistant_steps().items():
        command = typed(tuple(steps), "CODE")
        assert command[:2] == ["mcp", "--pair" if name == OTHER else "--install"], name
        assert not any("--pair" in step or "--install" in step for step in steps if "CODE" not in step), name


@pytest.mark.timeout(240)
def test_whoever_follows_the_steps_ends_paired(palace: Palace) -> None:
    with palace.serving():
        for title in ("Cursor", "Codex", OTHER):  # a configuration of each kind, and none
            steps = tuple(read_assistant_steps()[title])
            name = "another" if title == OTHER else typed(steps, "")[2]
            assert f"Paired {name}: propose, read." in allowed(palace, name, steps), title
            assert palace.json("mcp", "--test", "--client", name)["ok"], title
        # Told as what it is, here and there: the name is taken, and the token lies here.
        steps = tuple(read_assistant_steps()["Cursor"])
        with Terminal(palace, "pair", "cursor", "--code") as person:
            refused = palace.run(*typed(steps, person.code()), "--yes")
            assert (refused.code, "cursor has a token here already" in refused.err) == (1, True)
            assert "cursor is paired already" in person.ended().refused(1, "E4008")
        palace.json("revoke", "cursor")
        allowed(palace, "cursor", steps)
        assert palace.json("mcp", "--test", "--client", "cursor")["ok"]


def test_the_configuration_names_the_client_it_became(palace: Palace) -> None:
    with palace.serving():
        said = allowed(palace, "desk", tuple(read_assistant_steps()["Cursor"]))
        assert "loci mcp --test --client desk" in said
        assert palace.json("mcp", "--test", "--client", "desk")["ok"]
    entry = json.loads((palace.folder / ".cursor" / "mcp.json").read_text())["mcpServers"]["loci"]
    assert entry["args"][-3:] == ["mcp", "--client", "desk"]


def test_what_cannot_be_written_is_paired_and_printed(palace: Palace) -> None:
    path: Path = palace.folder / "config" / "zed" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text('{\n  // mine\n  "theme": "x"\n}\n')
    with palace.serving(), Terminal(palace, "pair", "zed", "--code") as person:
        arguments = typed(tuple(read_assistant_steps()["Zed"]), person.code())
        wait = in_background(lambda: palace.run(*arguments))
        person.until(describe_limits_of_grants())
        person.type(b"y\n")
        done = wait()
        assert done.code == 1
        assert '"context_servers"' in done.out
        assert "Paired zed" in done.out
        assert palace.json("mcp", "--test", "--client", "zed")["ok"]


@pytest.mark.timeout(240)
def test_the_step_shown_in_the_window_ends_paired_with_the_spaces_ticked_there(palace: Palace) -> None:
    palace.json("remember", "The person lives in Graz.")
    named = ("--home", str(palace.home), "--passphrase-file", str(palace.secret))
    driver = Path(__file__).with_name("pairing_driver.py")
    with screen() as display:
        window = Driven("connecting", palace, on(palace, display), verbs=named, driver=driver)
        with window:
            arguments = typed(tuple(read_assistant_steps()["Cursor"]), window.says("code: "))
            done = palace.run(*arguments, "--yes")
            assert done.code == 0, done.err
            assert "Of your spaces it sees home" in done.out
            result = window.ended()
        assert (result.code, result.err) == (0, "")
        assert "told: cursor is paired. Of your spaces it sees home." in result.out
    with palace.serving():
        assert palace.json("mcp", "--test", "--client", "cursor")["ok"]
