"""An older copy of `vault.db` put back alone: nobody accepts it but the person, and who was revoked since stays out."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli_rig import Palace, in_background
from cli_terminal import Terminal
from mcp_rig import RawMcp, pair

from core.errors import Code, IntegrityError, LociError
from core.ipc.client.client import Client
from core.ipc.protocol.contract import load_registry
from core.security.handshake import encode_value

OLD = "The brass plate is under the third stair."
NEW = "The sea keeps its own minutes."


@dataclass(frozen=True)
class PutBack:
    """A palace whose `vault.db` is older than its `vault.head`.

    Attributes:
        kept: the token of `kept`, whose pairing did not change since.
        gone: the token of `gone`, which was revoked since.
    """

    palace: Palace
    kept: bytes
    gone: bytes


@pytest.fixture
def older(palace: Palace, tmp_path: Path) -> PutBack:
    """Yesterday's file in the place of today's."""
    palace.json("remember", OLD)
    kept, gone = pair(palace, "kept", "read", "write"), pair(palace, "gone", "read", "write")
    shutil.copy(palace.home / "vault.db", tmp_path / "yesterday.db")
    palace.json("remember", NEW)
    palace.json("revoke", "gone")
    shutil.copy(tmp_path / "yesterday.db", palace.home / "vault.db")
    return PutBack(palace, kept, gone)


def refusal(palace: Palace, name: str, token: bytes) -> LociError:
    with pytest.raises(LociError) as caught, palace.client(name, token):
        pass
    return caught.value


def test_the_persons_own_commands_read_and_say_so_and_none_of_them_accepts_it(older: PutBack) -> None:
    palace = older.palace
    for _ in range(3):  # what reading leaves behind does not catch up with the head either
        found = palace.run("--json", "list")
        assert found.code == 0
        assert [one["text"] for one in found.document["items"]] == [OLD]
        assert found.document["older_copy"]["doubt"] == "older"
        assert "older than the one last seen" in found.err
        assert "older than the one last seen" in palace.run("recall", "brass plate").err
    for verb in (("remember", "Something new."), ("pair", "another", "--grant", "read"), ("undo",), ("consolidate",)):
        assert "--accept-older" in palace.run(*verb).refused(1, "E1016")
    status = palace.json("status")
    assert status["older_copy"]["vault_seq"] < status["older_copy"]["seen_seq"]
    assert "older than the one last seen" in status["warnings"][0]
    for _ in range(2):
        verified = palace.run("--json", "verify")
        assert verified.code == 6
        checks = json.loads(verified.out)["checks"]
        assert checks["head"] == {"status": "failed", "note": "older than last seen"}
        assert {name for name, one in checks.items() if one["status"] == "failed"} == {"head"}
    assert "may not be the newest" in palace.run("verify").out


def test_a_headless_engine_lets_no_client_in_until_the_person_says_so(older: PutBack) -> None:
    palace = older.palace
    with palace.serving() as serving:
        serving.wait_for("older than the one last seen")
        for name, token in (("kept", older.kept), ("gone", older.gone), ("nobody", bytes(32))):
            error = refusal(palace, name, token)
            assert isinstance(error, IntegrityError)
            assert (error.code, "--accept-older" in error.sentence) == (Code.OLDER_VAULT, True)
        with Client.connect(palace.place) as stranger:
            params = {"protocol": 1, "client": "kept", "nonce": encode_value(bytes(32))}
            for method in [*load_registry().methods, "no_such_method"]:
                with pytest.raises(LociError) as caught:
                    stranger.call(method, params)
                assert caught.value.code is Code.OLDER_VAULT
        assert palace.json("status")["older_copy"]["doubt"] == "older"
        palace.run("remember", NEW).refused(1, "E1016")
        assert palace.run("verify").code == 6
        assert "add --yes" in palace.run("verify", "--accept-older").refused(1, "E4005")
        palace.run("--json", "verify", "--accept-older").refused(1, "E4005")
        accepted = palace.run("--json", "verify", "--accept-older", "--yes")
        assert (accepted.code, accepted.document["status"]) == (0, "ok")
        assert "older_copy" not in accepted.document
        assert "1 assistant must be paired again" in accepted.err
        with palace.client("kept", older.kept) as client:
            assert client.call("memory_store", {"text": NEW})["operation"]
        assert refusal(palace, "gone", older.gone).code is Code.UNAUTHENTICATED
    assert "older_copy" not in palace.json("status")
    assert palace.run("verify").code == 0
    with palace.serving():
        assert refusal(palace, "gone", older.gone).code is Code.UNAUTHENTICATED


def test_an_assistant_that_starts_the_engine_by_itself_is_kept_out(older: PutBack) -> None:
    palace = older.palace
    secret = {"LOCI_PASSPHRASE_FILE": str(palace.secret)}
    try:
        with RawMcp(palace, "--client", "kept", variables=secret) as raw:
            raw.greet()
            said = raw.tool(1, "memory_search", {"query": "brass plate"})["result"]
            assert said["isError"]
            assert "E1016" in said["content"][0]["text"]
            assert "--accept-older" in said["content"][0]["text"]
            assert palace.json("status")["older_copy"]["doubt"] == "older"
    finally:
        with palace.owner() as owner:
            owner.call("owner.handover", {})  # the engine that the assistant started ends


def test_accepting_asks_a_person_who_can_answer(older: PutBack) -> None:
    palace = older.palace
    for answer, code in (("n", 1), ("y", 0)):
        with Terminal(palace, "verify", "--accept-older") as terminal:
            terminal.type(f"{answer}\n".encode())
            ended = terminal.ended()
        assert (ended.code, "Use this vault as it is" in ended.err) == (code, True)
        assert ("older_copy" in palace.json("status")) is (answer == "n")
    assert palace.run("verify", "--accept-older").code == 0  # nothing is left to accept, and it says so
    assert "nothing to accept" in palace.run("verify", "--accept-older").err


def test_without_its_head_a_vault_is_asked_about_too(palace: Palace) -> None:
    token = pair(palace, "kept", "read")
    (palace.home / "vault.head").unlink()
    with palace.serving() as serving:
        serving.wait_for("cannot tell")
        assert refusal(palace, "kept", token).code is Code.OLDER_VAULT
        assert palace.run("verify", "--accept-older", "--yes").code == 0
        assert refusal(palace, "kept", token).code is Code.UNAUTHENTICATED  # nothing tells that it still stands


def test_restoring_a_backup_is_no_alarm(palace: Palace) -> None:
    palace.json("remember", OLD)
    kept = palace.json("backup", "--to", str(palace.folder / "kept.tar"))["path"]
    palace.json("remember", NEW)
    assert palace.run("restore", kept).code == 0
    found = palace.run("--json", "list")
    assert ("older_copy" in found.document, "older" in found.err) == (False, False)
    assert palace.run("verify").code == 0


def test_started_side_by_side_nobody_accepts_it(older: PutBack) -> None:
    palace = older.palace
    running = [in_background(lambda: palace.run("--json", "list")) for _ in range(3)]
    assert {one().document["older_copy"]["doubt"] for one in running} == {"older"}
    assert palace.run("verify").code == 6
