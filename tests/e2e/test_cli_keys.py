"""New keys and the keyring from the command line, with and without an engine that runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_rig import PASSPHRASE, Palace
from cli_terminal import Terminal

TEXT = "The brass plate is under the third stair."


def _code_file(palace: Palace, code: str) -> Path:
    file = palace.folder / "code"
    file.write_text(code + "\n", encoding="utf-8")
    return file


def test_rotated_keys_open_everything_and_the_old_ones_nothing(palace: Palace) -> None:
    palace.json("remember", TEXT)
    backup = palace.folder / "b.tar"
    palace.json("backup", "--to", str(backup))
    palace.json("backup")
    first = palace.json("rotate-keys")
    assert first["holds"]
    assert len(first["old_backups"]) == 1
    assert palace.json("verify")["status"] == "ok"
    assert palace.run("--json", "list", secret=_code_file(palace, first["recovery_code"])).document["total"] == 1
    second = palace.json("rotate-keys")
    palace.run("list", secret=_code_file(palace, first["recovery_code"])).refused(4, "E1006")
    # A backup of before goes by the secrets of its time, whatever the vault's keys are by now.
    palace.json("restore", str(backup))
    palace.run("list", secret=_code_file(palace, second["recovery_code"])).refused(4, "E1006")
    assert palace.json("list")["items"][0]["text"] == TEXT


def test_an_engine_that_runs_goes_on_with_the_new_keys_and_its_clients(palace: Palace) -> None:
    token = palace.json("pair", "desk", "--grant", "read,all_spaces")["token"]
    with palace.serving() as serving:
        palace.json("remember", TEXT)
        done = palace.run("rotate-keys")
        assert done.code == 0, done.err
        assert "encrypted under new keys" in done.out
        assert palace.json("list")["total"] == 1
        import base64

        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        with palace.client("desk", raw) as client:
            assert client.call("memory_list", {})["items"] is not None
        serving.end()
    assert palace.json("verify")["status"] == "ok"


def test_a_code_that_is_not_typed_back_changes_nothing(palace: Palace) -> None:
    before = (palace.home / "vault.keys").read_bytes()
    with Terminal(palace, "rotate-keys") as terminal:
        terminal.type(b"AAAA-BBBB\n")
        done = terminal.ended()
    assert done.code == 4
    assert "E1006" in done.err
    assert "stay valid" in done.err
    assert (palace.home / "vault.keys").read_bytes() == before
    palace.run("rotate-keys", secret=_code_file(palace, "wrong")).refused(4, "E1006")
    assert (palace.home / "vault.keys").read_bytes() == before


@pytest.mark.parametrize("state", ["on", "off"])
def test_without_a_keyring_nothing_changes(palace: Palace, state: str) -> None:
    before = (palace.home / "vault.keys").read_bytes()
    refused = palace.run("keyring", state)
    assert refused.code in (1, 2, 4)
    assert ("E1012" if state == "on" else "E4005") in refused.err
    assert (palace.home / "vault.keys").read_bytes() == before
    assert palace.run("list").code == 0
    assert PASSPHRASE not in refused.err
