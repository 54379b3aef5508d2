"""The window stands open; a client that the person has just paired, and `loci chat`, write: the page shows it live."""

from __future__ import annotations

import pytest
from chat_rig import TypedChat
from cli_rig import PASSPHRASE, Palace
from fake_ollama import FakeOllama
from mcp_rig import pair
from window_process import DRIVER, Driven, on, screen

from core.ipc.client.client import Client

KETTLE = "The blue kettle whistles a quarter tone flat."
SEEN = ("Tilda feeds the geese at noon", "mooring is paid until March", "oolong from the corner shop")


@pytest.mark.timeout(300)
def test_what_clients_keep_appears_in_the_open_window(palace: Palace) -> None:
    palace.json("remember", KETTLE)
    pair(palace, "chat", "read", "write", "all_spaces")
    driver = DRIVER.with_name("live_driver.py")
    with (
        FakeOllama() as model,
        screen() as display,
        Driven("live", palace, on(palace, display), PASSPHRASE, *SEEN, driver=driver) as window,
    ):
        model.says("Noted.")
        code = window.says("code: ")
        with Client.connect(palace.place) as client:
            paired = client.pair("notes-plugin", code, ["read", "propose", "write"])
        assert (paired.client, set(paired.grants)) == ("notes-plugin", {"read", "propose", "write"})
        with palace.client(paired.client, paired.token) as client:
            window.reaches("the library is open")
            assert client.call("memory_store", {"text": f"{SEEN[0]}."})["operation"] == "ADD"
            window.reaches(f"it shows {SEEN[0]}")
        with TypedChat(palace, model.host) as chat:
            chat.wait_for("> ")
            chat.type(f"/remember The boat's {SEEN[1]}.\r")
            window.reaches(f"it shows {SEEN[1]}")
            chat.type(f"My favourite tea is {SEEN[2]}.\r")
            chat.wait_for("Noted.")
            window.reaches(f"it shows {SEEN[2]}")
            chat.type("/quit\r")
            assert chat.ended() == 0
        result = window.ended()
    assert (result.code, result.err) == (0, "")
