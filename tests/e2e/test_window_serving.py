"""The window beside `loci serve` and beside itself: who has the vault, who answers, who comes to the front."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_rig import PASSPHRASE, Palace
from window_process import Driven, on, screen

from core.ipc.client.client import Client
from core.security.handshake import decode_value

KETTLE = "The blue kettle whistles a quarter tone flat."


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A screen nobody sees."""
    with screen() as name:
        yield name


def lock_file(palace: Palace) -> Path:
    """Names the process that has the vault, while one has."""
    return palace.home / "vault.lock"


def test_the_window_takes_the_vault_over_from_serve_and_clients_reconnect(palace: Palace, display: str) -> None:
    with palace.serving() as serving:
        palace.json("remember", KETTLE)
        token = decode_value(palace.json("pair", "notes-plugin", "--grant", "read,write")["token"], 32)
        with (
            palace.client("notes-plugin", token) as before,
            Driven("taking_over", palace, on(palace, display), PASSPHRASE) as window,
        ):
            assert before.call("health")["state"] == "open"
            window.reaches("the gate waits")
            assert lock_file(palace).read_text() == str(serving.pid)
            window.go_on()
            window.reaches("it is open")
            assert serving.ended().code == 0
            assert lock_file(palace).read_text() == str(window.pid)
            # The same socket, another engine behind it.
            assert palace.json("status")["memories"]["total"] == 1
            with palace.client("notes-plugin", token) as again:
                again.call("memory_store", {"text": "The plugin saw a cat."})
            assert palace.json("list", "--space", "client:notes-plugin")["total"] == 1
            assert lock_file(palace).read_text() == str(window.pid)
            window.go_on()
            assert window.ended().code == 0
    assert palace.json("list")["total"] == 2
    assert not palace.place.path.exists()


def test_a_second_start_raises_the_first_window_and_ends(palace: Palace, display: str) -> None:
    with Driven("raised", palace, on(palace, display), PASSPHRASE) as window:
        window.reaches("it is minimised")
        variables = {"QT_QPA_PLATFORM": "", "DISPLAY": display}
        second = palace.bare("--home", str(palace.home), variables=variables)
        assert (second.code, second.out) == (0, "")
        assert second.err == "Loci is already open; its window was brought to the front.\n"
        window.reaches("it is raised")
        # One that has a window keeps the vault: a service cannot take it.
        palace.run("serve").refused(3, "E1009")
        window.go_on()
        result = window.ended()
        assert (result.code, result.err) == (0, "")
    # The vault is free again, for whoever comes next.
    with palace.serving(), Client.connect(palace.place):
        assert palace.json("status")["state"] == "open"


def test_a_locked_window_keeps_the_socket_and_answers_that_it_is_locked(palace: Palace, display: str) -> None:
    with Driven("locked", palace, on(palace, display), PASSPHRASE) as window:
        window.reaches("it is locked again")
        palace.bare("--home", str(palace.home), "list").refused(4, "E1001")
        # The owner's command line, which has the secret, opens it and says so, and the window follows.
        assert "open again, for your assistants too" in palace.run("remember", KETTLE).err
        window.reaches("it opens by itself")
        assert window.ended().code == 0


def test_a_named_file_with_the_secret_opens_the_window_and_nothing_is_asked(palace: Palace, display: str) -> None:
    named = ("--home", str(palace.home), "--passphrase-file", str(palace.secret))
    with palace.serving() as serving:  # which hands the vault over, as it does to whoever types the passphrase
        with Driven("opened", palace, on(palace, display), verbs=named) as window:
            result = window.ended()
        assert (result.code, result.err) == (0, "")
        assert serving.ended().code == 0
    palace.secret.write_text("the wrong words altogether\n", encoding="utf-8")
    refused = palace.bare(*named, variables={"QT_QPA_PLATFORM": "", "DISPLAY": display})
    assert (refused.code, refused.out) == (4, "")
    assert refused.err.startswith("E1006: ")


def test_the_window_ends_on_a_signal_and_lets_the_vault_go(palace: Palace, display: str) -> None:
    with Driven("opening", palace, on(palace, display), PASSPHRASE) as window:
        window.reaches("it is open")
        result = window.end()
        assert (result.code, result.err) == (0, "")
    assert not palace.place.path.exists()
    assert palace.json("list")["total"] == 0


def test_without_a_display_it_prints_its_help(palace: Palace) -> None:
    shown = palace.bare("--home", str(palace.home))
    assert shown.code == 2
    assert shown.out.startswith("Usage: loci ")
    assert shown.err == ""
