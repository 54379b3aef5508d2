"""Attacks from outside the process: another user, and a kill while clients write."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_rig import Palace, make_template, palace_from
from ipc_served import Served, served_at

from core.errors import LociError
from core.security.handshake import decode_value

NOBODY_UID = 65534
# It steps into the folder while it may, becomes somebody else, and knocks.
CHILD = """
import os, socket, sys
os.chdir(sys.argv[1])
os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
peer = socket.socket(socket.AF_UNIX)
peer.settimeout(20)
try:
    peer.connect(sys.argv[3])
    peer.sendall(b'{"jsonrpc":"2.0","id":1,"method":"health"}\\n')
    print(len(peer.recv(4096)))
except PermissionError:
    print("shut")
except ConnectionError:
    print(0)
"""


@pytest.fixture
def served(empty_home: Path) -> Iterator[Served]:
    with served_at(empty_home) as made:
        yield made


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    template, folder = tmp_path / "template", tmp_path / "palace"
    template.mkdir()
    folder.mkdir()
    return palace_from(make_template(template), folder)


def knock(served: Served) -> str:
    """What a process of another user hears at our socket."""
    path = served.place.path
    arguments = [sys.executable, "-c", CHILD, str(path.parent), str(NOBODY_UID), path.name]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_stands_before_two_doors(served: Served) -> None:
    """The folder shuts it out; with the folder and the socket wide open, the server itself does not hear it."""
    assert knock(served) == "shut"
    served.place.path.parent.chmod(0o755)
    served.place.path.chmod(0o666)
    assert knock(served) == "0"
    served.place.path.parent.chmod(0o700)
    assert served.refusals == []
    assert served.owner().call("health")["state"] == "open"


def test_a_kill_while_clients_write_loses_nothing_that_was_acknowledged(palace: Palace) -> None:
    said: dict[str, str] = {}
    with palace.serving() as serving:
        reply = palace.json("pair", "writer", "--grant", "write,read", "--limit", "none")
        token = decode_value(reply["token"], 32)
        enough = threading.Event()

        def write(part: int) -> None:
            try:
                with palace.client("writer", token) as client:
                    for n in range(10_000):
                        text = f"Jar {part}-{n} holds {part * 31 + n * 7} beans."
                        said[text] = client.call("memory_store", {"text": text})["memory_id"]
                        if len(said) >= 20:
                            enough.set()
            except LociError:
                return  # the engine is gone

        writers = [threading.Thread(target=write, args=(part,)) for part in range(3)]
        for writer in writers:
            writer.start()
        assert enough.wait(120)
        os.kill(serving.pid, signal.SIGKILL)
        for writer in writers:
            writer.join()
        assert serving.ended().code == -signal.SIGKILL
    kept = {item["id"]: item["text"] for item in palace.everything()}
    assert len(said) >= 20
    assert {kept.get(memory_id) for memory_id in said.values()} == said.keys()
    assert palace.json("verify")["status"] == "ok"
