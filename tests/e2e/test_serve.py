"""`loci serve`: the engine behind its socket, as the command line and a client see it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_rig import FIXTURES, Palace, Result, in_background, palace_from
from cli_terminal import Terminal
from contract_shapes import check_import, check_item, check_recall, check_shown, check_stored, check_verified

from core.config.grant_wording import describe_default_visibility, describe_grant, describe_limits_of_grants
from core.errors import Code, LociError
from core.ipc.client.client import Client
from core.ipc.client.wire import Pairing
from core.ipc.protocol.contract import load_registry
from core.ipc.protocol.transport import Place, socket_place
from core.security.handshake import decode_value, encode_value

KETTLE = "The blue kettle whistles a quarter tone flat."
LAMP = "The green lamp stands on the stairs."
HANDOVER_S = 5.0  # design section 3


def refused(client: Client, method: str, params: dict[str, Any] | None = None) -> Code:
    """Call something that is refused; the code it was refused with."""
    with pytest.raises(LociError) as caught:
        client.call(method, params)
    return caught.value.code


def paired(palace: Palace, name: str, *arguments: str) -> bytes:
    """Pair a client; its token."""
    reply = palace.json("pair", name, *arguments)
    assert reply["client"] == name
    return decode_value(reply["token"], 32)


def rows_file(palace: Palace, count: int) -> Path:
    """A file of many short notes."""
    path = palace.folder / "notes.jsonl"
    lines = (
        json.dumps({"text": f"Note {n}: the ferry left {n % 60} minutes late.", "ref": f"n{n}"}) for n in range(count)
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


# --- starting, locked and unlocked


def test_a_locked_start_answers_e1001_and_nothing_else(palace: Palace) -> None:
    with palace.serving(unlocked=False) as serving:
        assert "locked" in serving.heard
        with Client.connect(palace.place) as client:
            hello = {"protocol": 1, "client": "notes-plugin", "nonce": encode_value(bytes(32))}
            methods = [*load_registry().methods, "no_such_method"]
            methods.remove("owner.unlock")
            assert {refused(client, method, hello) for method in methods} == {Code.VAULT_LOCKED}
            # A wrong key does not open it either.
            keys = {"vault": encode_value(bytes(16)), "key": encode_value(bytes(32))}
            assert refused(client, "owner.unlock", keys) is Code.WRONG_SECRET
        palace.bare("--home", str(palace.home), "list").refused(4, "E1001")
        # The owner's command line unlocks it; from here on clients are answered.
        check_stored(palace.json("remember", KETTLE))
        token = paired(palace, "notes-plugin")
        with palace.client("notes-plugin", token) as client:
            assert client.call("health")["state"] == "open"
            assert palace.json("lock") == {"state": "locked"}
            assert refused(client, "health") is Code.VAULT_LOCKED
        assert serving.is_running
        # Whoever started it sees that it was locked, and the owner opens it without asking it anything else.
        serving.wait_for("The vault was locked")
        assert str(palace.place.path) in serving.heard
        assert palace.json("unlock") == {"state": "open"}
        assert "already" in palace.run("unlock").out
        assert palace.json("list")["total"] == 1


def test_the_command_line_greets_the_running_engine(palace: Palace) -> None:
    """The lock stays with `serve`, so a second engine could not have opened the vault."""
    with palace.serving() as serving:
        assert (palace.home / "vault.lock").read_text() == str(serving.pid)
        memory = palace.json("remember", KETTLE)
        check_stored(memory)
        with palace.shell() as shell:
            check_recall(shell.json("recall", "Which kettle whistles?", "--explain"), explained=True)
            check_item(shell.json("list")["items"][0])
            check_shown(shell.json("show", memory["memory_id"]))
            check_verified(shell.json("verify"))
            check_import(shell.json("import", str(FIXTURES / "mem0" / "list.json")))
            assert shell.json("status")["memories"]["total"] == 8
            assert shell.json("history", memory["memory_id"])["items"][0]["text"] == KETTLE
            made = shell.json("backup", "--to", str(palace.folder / "kept.tar"))
            assert Path(made["path"]).is_file()
            shell.json("forget", memory["memory_id"])
            assert shell.json("undo")["left"] == []
            shell.run("show", "nonsense").refused(1, "E2005")
            shell.run("restore", made["path"]).refused(3, "E1009")
            there = {verb: shell.json(verb) for verb in ("list", "clients", "verify")}
        assert (palace.home / "vault.lock").read_text() == str(serving.pid)
        serving.end()
    here = {verb: palace.json(verb) for verb in ("list", "clients", "verify")}
    assert _steady(here) == _steady(there)


def _steady(replies: dict[str, Any]) -> dict[str, Any]:
    """Without what counts looks and rows of the audit, which go on."""
    for item in replies["list"]["items"]:
        item.pop("access_count")
    for check in replies["verify"]["checks"].values():
        check.pop("note")
    return replies


def test_a_second_start_says_who_has_the_vault(palace: Palace) -> None:
    with palace.serving() as serving:
        sentence = palace.run("serve").refused(3, "E1009")
        assert str(serving.pid) in sentence
        palace.bare("--home", str(palace.home), "serve").refused(3, "E1009")
        assert palace.json("status")["state"] == "open"


def test_two_starts_at_once_leave_one(palace: Palace) -> None:
    with palace.serving(wait=False) as one, palace.serving(wait=False) as other:
        waits = [in_background(one.ended), in_background(other.ended)]
        while one.is_running and other.is_running:
            time.sleep(0.05)
        loser, winner = (one, other) if not one.is_running else (other, one)
        os.kill(winner.pid, 0)
        _until_published(palace)
        assert palace.json("remember", KETTLE)["operation"] == "ADD"
        os.kill(winner.pid, signal.SIGTERM)
        results = {serving.pid: wait() for serving, wait in zip((one, other), waits, strict=True)}
    results[loser.pid].refused(3, "E1009")
    assert results[winner.pid].code == 0


def _until_published(palace: Palace) -> None:
    for _ in range(600):
        if palace.place.path.exists():
            return
        time.sleep(0.1)
    pytest.fail("the socket never appeared")


# --- clients


def test_a_client_stores_and_finds_within_its_grants(palace: Palace) -> None:
    with palace.serving():
        palace.json("remember", KETTLE)
        palace.json("remember", LAMP, "--space", "work")
        world = palace.json("remember", "The harbour freezes in January.", "--space", "GLOBAL")["memory_id"]
        token = paired(palace, "notes-plugin", "--grant", "read,write")
        with palace.client("notes-plugin", token) as client:
            stored = client.call("memory_store", {"text": "The plugin saw a cat.", "request_id": "r1"})
            check_stored(stored, owner=False)
            assert stored["operation"] == "ADD"
            again = client.call("memory_store", {"text": "The plugin saw a cat.", "request_id": "r1"})
            assert again["memory_id"] == stored["memory_id"]
            listed = client.call("memory_list")
            assert {item["id"] for item in listed["items"]} == {stored["memory_id"], world}
            assert {item["space"] for item in listed["items"]} == {"client:notes-plugin", "GLOBAL"}
            found = client.call("memory_search", {"query": "Where is the cat?", "explain": True})
            assert set(found) >= {"items", "abstained", "reason", "strategy", "receipt"}
            check_item(found["items"][0], exact=False, scored=True, explained=True)
            assert client.call("memory_get", {"id": stored["memory_id"]})["text"] == "The plugin saw a cat."
            # The person's own memories are not there for it, whatever it asks.
            asked = client.call("memory_search", {"query": "blue kettle, green lamp, harbour in January"})
            assert {item["id"] for item in asked["items"]} <= {stored["memory_id"], world}
            assert refused(client, "memory_list", {"space": "work"}) is Code.ACCESS_DENIED
            assert refused(client, "memory_search", {"query": "lamp", "spaces": ["home"]}) is Code.ACCESS_DENIED
            assert refused(client, "owner.list") is Code.ACCESS_DENIED
            assert refused(client, "memory_store", {"text": "x", "trust": 1.0}) is Code.FORBIDDEN_FIELD
            assert refused(client, "memory_store", {"text": "x", "source": "user_explicit"}) is Code.FORBIDDEN_FIELD
            assert refused(client, "memory_store", {"text": "x" * 8193}) is Code.TEXT_TOO_LARGE
            assert client.call("health")["rows"] == 2
        item = palace.json("list", "--space", "client:notes-plugin")["items"][0]
        assert (item["client"], item["source"]) == ("notes-plugin", "inference")
        assert item["trust"] <= 0.85


def test_a_space_grant_opens_that_space(palace: Palace) -> None:
    with palace.serving():
        lamp = palace.json("remember", LAMP, "--space", "work")["memory_id"]
        palace.json("remember", KETTLE)
        token = paired(palace, "desk", "--grant", "read", "--grant", "space:work")
        with palace.client("desk", token) as client:
            assert [item["id"] for item in client.call("memory_list", {"space": "work"})["items"]] == [lamp]
            assert refused(client, "memory_store", {"text": "It may only read."}) is Code.ACCESS_DENIED


def test_what_a_client_may_only_propose_waits_for_the_person(palace: Palace) -> None:
    with palace.serving():
        token = paired(palace, "careful")
        with palace.client("careful", token) as client:
            stored = client.call("memory_store", {"text": KETTLE})
            assert stored["operation"] == "PROPOSED"
            assert client.call("memory_search", {"query": "Which kettle whistles?"})["items"] == []
        assert palace.json("list")["total"] == 0
        (item,) = palace.json("list", "--status", "quarantined")["items"]
        assert (item["id"], item["client"]) == (stored["memory_id"], "careful")


def test_a_client_has_its_searches_counted(palace: Palace) -> None:
    with palace.serving():
        few, many = paired(palace, "few", "--limit", "2"), paired(palace, "many", "--limit", "none")
        with palace.client("few", few) as client:
            assert [client.call("memory_search", {"query": "kettle"})["abstained"] for _ in range(2)] == [True, True]
            assert refused(client, "memory_search", {"query": "kettle"}) is Code.RATE_LIMITED
        with palace.client("many", many) as client:
            for _ in range(30):
                client.call("memory_search", {"query": "kettle"})


def test_revoking_drops_the_live_connection(palace: Palace) -> None:
    with palace.serving():
        token = paired(palace, "notes-plugin", "--grant", "read")
        with palace.client("notes-plugin", token) as client:
            assert client.call("health")["state"] == "open"
            palace.json("revoke", "notes-plugin")
            assert refused(client, "health") in (Code.NOT_HERE, Code.UNAUTHENTICATED)
        with pytest.raises(LociError) as caught:
            palace.client("notes-plugin", token)
        assert caught.value.code is Code.UNAUTHENTICATED
        with pytest.raises(LociError) as caught:
            palace.client("somebody", bytes(32))
        assert caught.value.code is Code.UNAUTHENTICATED


@pytest.mark.parametrize(("typed", "allowed"), [(b"y\n", True), (b"\n", False)])
def test_pairing_by_code_asks_the_person(palace: Palace, typed: bytes, allowed: bool) -> None:
    with palace.serving(), Terminal(palace, "--json", "pair", "desk", "--code", "--grant", "read,write") as person:
        code, pairing = person.code(), list[Pairing]()

        def redeem() -> Result:
            with Client.connect(palace.place) as client:
                try:
                    pairing.append(client.pair("desk", code, ["read"]))
                except LociError as error:
                    return Result(1, "", str(error))
            return Result(0, "", "")

        wait = in_background(redeem)
        question = person.until(describe_limits_of_grants())
        assert "desk" in question
        assert describe_grant("read") in question
        assert describe_grant("write") not in question
        assert describe_default_visibility() in question
        person.type(typed)
        asked, told = person.ended(), wait()
        if allowed:
            assert told.code == 0
            assert json.loads(asked.out) == {"client": "desk", "grants": ["read"]}
            with palace.client("desk", pairing[0].token) as client:
                assert client.call("health")["state"] == "open"
                assert refused(client, "memory_store", {"text": "x"}) is Code.ACCESS_DENIED
        else:
            assert told.err.startswith(Code.PAIRING_REFUSED.value)
            assert asked.code == 1
            listed = palace.json("clients")
            assert (listed["clients"], [one["name"] for one in listed["denied"]]) == ([], ["desk"])
            assert palace.run("clients", "--allow", "desk").code == 0
            assert palace.json("clients") == {"clients": [], "denied": []}


def test_a_code_without_anybody_at_the_terminal_pairs_nobody(palace: Palace) -> None:
    palace.run("pair", "desk", "--code").refused(1, "E4005")


# --- how an import runs, and how the engine ends


def test_an_import_over_the_owners_channel_reports_its_progress(palace: Palace) -> None:
    count = 900
    told: list[tuple[str, int, int | None]] = []
    with palace.serving(), palace.owner() as owner:
        params = {"path": str(rows_file(palace, count))}
        report = owner.call("owner.import", params, progress=lambda *args: told.append(args), timeout_s=240)
        check_import(report)
        assert report["stored"] == count
        done = [step for _, step, total in told if total == count]
        assert done == sorted(done)
        assert done[-1] == count
        assert all(label == "Importing" for label, _, _ in told)
        # A list longer than one reply holds arrives whole on the command line.
        listed = palace.json("list", "--limit", str(count))
        assert len({item["ref"] for item in listed["items"]}) == listed["total"] == count
        assert palace.json("list", "--limit", "7")["total"] == count


def test_a_killed_engine_loses_nothing_and_the_command_line_finishes_its_import(palace: Palace) -> None:
    count = 1200
    file = rows_file(palace, count)
    with palace.serving() as serving:
        kept = palace.json("remember", KETTLE)["memory_id"]

        def kill_half_way(_label: str, done: int, total: int | None) -> None:
            if total == count and 0 < done < count:
                os.kill(serving.pid, signal.SIGKILL)

        with palace.owner() as owner, pytest.raises(LociError) as caught:
            owner.call("owner.import", {"path": str(file)}, progress=kill_half_way, timeout_s=240)
        assert caught.value.code is Code.NOT_HERE
        assert serving.ended().code == -signal.SIGKILL
    assert palace.place.path.is_socket()  # left behind; it stands in nobody's way
    after = palace.run("--json", "status")
    assert "interrupted" in after.err
    status = after.document
    assert (status["imports"], status["recovered_from_crash"]) == ({"done": 1}, True)
    listed = palace.json("list", "--limit", "100000")
    assert listed["total"] == count + 1
    assert {item["ref"] for item in listed["items"]} == {None, *(f"n{n}" for n in range(count))}
    assert kept in {item["id"] for item in listed["items"]}
    check_verified(palace.json("verify"))
    with palace.serving() as serving:
        assert palace.json("recall", "Which kettle whistles?")["items"][0]["id"] == kept
        # What was finished is one import and goes as one.
        import_id = next(item["import_id"] for item in listed["items"] if item["import_id"])
        assert palace.json("unimport", import_id)["left"] == []
        assert palace.json("list", "--status", "all")["total"] == 1
        assert serving.end().code == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(palace: Palace, number: int) -> None:
    with palace.serving() as serving:
        palace.json("remember", KETTLE)
        ended = serving.end(number)
    assert (ended.code, ended.out) == (0, "")
    assert "Traceback" not in ended.err
    assert not palace.place.path.exists()
    log = palace.home / "vault.db-wal"
    assert not log.exists() or log.stat().st_size == 0
    status = palace.json("status")
    assert (status["memories"]["total"], status["recovered_from_crash"]) == (1, False)


def test_a_hand_over_gives_the_vault_away(palace: Palace) -> None:
    with palace.serving() as serving:
        palace.json("remember", KETTLE)
        token = paired(palace, "notes-plugin")
        with palace.client("notes-plugin", token) as client, palace.owner() as owner:
            assert owner.call("owner.handover") == {"closing": True, "within_s": HANDOVER_S}
            assert serving.ended(HANDOVER_S).code == 0
            assert refused(client, "health") in (Code.NOT_HERE, Code.VAULT_LOCKED, Code.BUSY)
    assert not palace.place.path.exists()
    # Whoever asked binds the same socket, and clients find it there.
    with palace.serving(), palace.client("notes-plugin", token) as client:
        assert client.call("health")["state"] == "open"


def test_a_locked_engine_ends_on_a_signal_too(palace: Palace) -> None:
    with palace.serving(unlocked=False) as serving:
        assert serving.end().code == 0
    assert palace.run("list").code == 0


# --- where the socket lies


def modes(place: Place) -> tuple[int, int]:
    found = place.path.lstat()
    assert stat.S_ISSOCK(found.st_mode)
    return stat.S_IMODE(found.st_mode), stat.S_IMODE(place.path.parent.lstat().st_mode)


def test_the_socket_of_another_home_lies_in_it(palace: Palace) -> None:
    with palace.serving():
        assert palace.place.path == palace.home / "run" / "loci.sock"
        assert modes(palace.place) == (0o600, 0o700)
        assert [path.name for path in palace.place.path.parent.iterdir()] == ["loci.sock"]


def test_the_socket_of_the_default_home_lies_in_the_runtime_directory(template: Path, tmp_path: Path) -> None:
    palace = palace_from(template, tmp_path)
    default = tmp_path / "data" / "loci"
    default.parent.mkdir()
    palace.home.rename(default)
    palace.home = default
    palace.environment["LOCI_PASSPHRASE_FILE"] = str(palace.secret)
    with palace.serving(unlocked=False, wait=False) as serving:
        serving.wait_for("Loci is listening at ")
        assert palace.place.path == tmp_path / "run" / "loci" / "loci.sock"
        assert modes(palace.place) == (0o600, 0o700)
        # Nobody has to name the home.
        assert palace.bare("--json", "status").document["state"] == "open"


def test_a_home_with_a_long_path_gets_a_short_socket(template: Path, tmp_path: Path) -> None:
    palace = palace_from(template, tmp_path)
    long = tmp_path / ("a" * 60) / ("b" * 60)
    long.parent.mkdir()
    shutil.move(palace.home, long)
    palace.home = long
    with palace.serving():
        assert palace.place == socket_place(long, tmp_path / "data" / "loci", tmp_path / "run")
        assert palace.place.path.parent == tmp_path / "run" / "loci"
        assert modes(palace.place) == (0o600, 0o700)
        assert palace.json("status")["state"] == "open"


def test_loci_socket_names_another_place(palace: Palace) -> None:
    folder = palace.folder / "own"
    folder.mkdir(mode=0o700)
    palace.environment["LOCI_SOCKET"] = str(folder / "s.sock")
    with palace.serving():
        assert modes(Place(folder / "s.sock")) == (0o600, 0o700)
        assert not (palace.home / "run").exists() or not list((palace.home / "run").iterdir())
        assert palace.json("status")["state"] == "open"
    folder.chmod(0o777)
    palace.run("serve").refused(1, "E5003")
    palace.environment["LOCI_SOCKET"] = str(folder / ("s" * 120))
    palace.run("serve").refused(1, "E5003")


def test_nothing_of_others_is_replaced_at_the_sockets_place(palace: Palace) -> None:
    place = palace.place.path
    place.parent.mkdir(mode=0o700)
    place.write_text("mine", encoding="utf-8")
    palace.run("serve").refused(1, "E5003")
    assert place.read_text(encoding="utf-8") == "mine"


# --- an import whose beginner has gone


def running_import(palace: Palace) -> dict[str, Any]:
    """The import that the engine names, once it stores."""
    with palace.owner() as owner:
        for _ in range(600):
            for one in owner.call("owner.status")["running_imports"]:
                if one["phase"] == "storing" and one["done"]:
                    return dict(one)
            time.sleep(0.1)
    raise AssertionError("no import stores anything")


def test_an_import_goes_on_without_its_beginner_and_is_named_and_stopped(palace: Palace) -> None:
    with palace.serving():
        beginner = subprocess.Popen(
            [sys.executable, "-m", "app", *palace.command("import", str(rows_file(palace, 40_000)))],
            cwd=palace.folder,
            env=palace.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            first = running_import(palace)
        finally:
            beginner.kill()
            beginner.wait()
        later = running_import(palace)
        assert (later["import_id"], later["label"]) == (first["import_id"], "notes.jsonl")
        assert later["done"] >= first["done"] > 0
        assert later["stop"] == f"loci unimport {later['import_id']}"
        told = palace.run("status").out
        assert "Importing “notes.jsonl”" in told
        assert later["stop"] in told
        assert palace.run("unimport", later["import_id"]).code == 0
        status = palace.json("status")
        assert (status["running_imports"], status["imports"]) == ([], {"undone": 1})
        assert palace.json("list")["total"] == 0
        palace.run("unimport", later["import_id"]).refused(1, "E2005")
