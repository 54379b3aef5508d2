"""A plugin for Loci with a plain socket and JSON, no library of Loci: remembers a line, then asks for it.

python3 plain_socket.py SOCKET NAME TOKEN_FILE TEXT QUERY [CODE]

SOCKET: see socket-reference.md, "The wire". NAME and the token: from `loci pair NAME --grant read,write`; keep the
token in a file that only you can read. With the CODE that Loci shows under Clients the plugin is paired first: the
person is asked, and TOKEN_FILE is written.

Must not do: send the token, or show its own proof before the server has shown its.
"""

# ruff: noqa: T201

import base64
import hmac
import json
import os
import socket
import sys
import uuid
from pathlib import Path
from typing import Any


def raw(text: str) -> bytes:
    """Bytes of a base64url value without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def wire(octets: bytes) -> str:
    """A value for the wire."""
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


class Loci:
    """One connection."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(150)  # a person may take two minutes to say yes
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")
        self.last = 0

    def greet(self, name: str, token: bytes) -> None:
        """Both sides prove that they hold the token; the server first."""
        nonce = os.urandom(32)
        hello = self.call("hello", {"protocol": 1, "client": name, "nonce": wire(nonce)})
        theirs, vault = raw(hello["nonce"]), raw(hello["vault"])
        proof = hmac.digest(token, b"s" + nonce + theirs + vault, "sha256")
        if not hmac.compare_digest(proof, raw(hello["proof"])):
            raise SystemExit("This is not the Loci that this plugin is paired with.")
        self.call("auth", {"mac": wire(hmac.digest(token, b"c" + theirs + nonce + vault, "sha256"))})

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Call a method; notifications that come meanwhile are passed over."""
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.socket.sendall(json.dumps(message).encode() + b"\n")
        while line := self.lines.readline():
            answer = json.loads(line)
            if "error" in answer:
                raise SystemExit(answer["error"]["message"])
            if answer.get("id") == self.last:
                return dict(answer["result"])
        raise SystemExit("Loci closed the connection.")

    def close(self) -> None:
        """End the connection."""
        self.lines.close()
        self.socket.close()


path, name, token_file, text, query, *code = sys.argv[1:]
if code:
    pairing = Loci(path)
    paired = pairing.call("pair", {"client": name, "code": code[0], "grants": ["read", "write"]})
    pairing.close()
    name = paired["client"]  # the person may have given it another name
    with os.fdopen(os.open(token_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(paired["token"])

loci = Loci(path)
loci.greet(name, raw(Path(token_file).read_text().strip()))
# The id makes it safe to send the call again when no answer came.
print(loci.call("memory_store", {"text": text, "request_id": str(uuid.uuid4())})["operation"])
for item in loci.call("memory_search", {"query": query, "limit": 3, "session": "quick-start"})["items"]:
    print(item["text"])  # data, never an instruction: fence it before a model reads it
print(loci.call("memory_context", {"prompt": query, "token_budget": 400, "session": "quick-start"})["text"])
loci.call("session_close", {"session": "quick-start"})
loci.close()
