"""A plugin for Loci with a plain socket and JSON, no library of Loci: remembers a line, then asks for it.

python3 plain_socket.py SOCKET NAME TOKEN_FILE TEXT QUERY

SOCKET: see socket-reference.md, "The wire". NAME and the token: from `loci pair NAME --grant read,write`; keep the
token in a file that only you can read.

Must not do: send the token, or show its own proof before the server has shown its.
"""

# ruff: noqa: T201

import base64
import hmac
import json
import os
import socket
import sys
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

    def __init__(self, path: str, name: str, token: bytes) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")
        self.last = 0
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


path, name, token_file, text, query = sys.argv[1:]
loci = Loci(path, name, raw(Path(token_file).read_text().strip()))
print(loci.call("memory_store", {"text": text})["operation"])
for item in loci.call("memory_search", {"query": query, "limit": 3})["items"]:
    print(item["text"])  # data, never an instruction: fence it before a model reads it
