"""A stand-in model server: Ollama's HTTP API on a loopback port, with answers that a test writes.

Used through the real `ollama` client. Its threads exist in tests alone and end with `FakeOllama.stop`.

    with FakeOllama() as server:
        server.says('{"label": "COEXIST", "confidence": 0.9}')
        ... host=server.host ...
        assert server.asked[0].path == "/api/chat"
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from core.llm.ollama import ServerLimits

MODEL = "small:3b"
EMBEDDER = "embed-small:latest"
VERSION = "0.12.0"
_DIMS = 8
_MADE_AT = "2026-01-01T00:00:00Z"

PATIENT = ServerLimits(connect_s=60, silence_s=60, whole_s=120, list_s=60, wire_bytes=256 * 1024)
"""For a server that answers: how fast the machine is decides nothing."""

HASTY = replace(PATIENT, silence_s=1.5, whole_s=3)
"""For one that says nothing, or too slowly."""


@dataclass(frozen=True)
class Asked:
    """One request as it came.

    Attributes:
        headers: names in small letters.
        body: the JSON; {} for GET.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def words(self) -> str:
        """All a model would read."""
        messages = self.body.get("messages", [])
        return "\n".join([*(one["content"] for one in messages), str(self.body.get("prompt", ""))])


@dataclass(frozen=True)
class Answer:
    """What the server does with one question.

    Attributes:
        text: the model's words; cut into pieces where the client streams.
        status: other than 200: an error body with `error`.
        error: the error's words; with status 200 it comes inside the stream.
        raw: octets sent as the body in place of all that.
        headers: more headers, such as a redirect's.
        pause_s: seconds before the first byte; a stopped server does not wait them out.
        gap_s: seconds between two pieces.
        cut: whether the connection breaks in the middle of the stream.
        unfinished: whether the stream ends without `done`.
        endless: whether the pieces never end.
        one_line: with `endless`: whether no line ever ends.
    """

    text: str = ""
    status: int = 200
    error: str | None = None
    raw: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    pause_s: float = 0.0
    gap_s: float = 0.0
    cut: bool = False
    unfinished: bool = False
    endless: bool = False
    one_line: bool = False


Reply = Answer | Callable[[Asked], Answer]


class FakeOllama:
    """The server.

    Attributes:
        asked: every request, in order.
        models: what `/api/tags` lists: name, size in octets, family.
        came: set when the first question has come.
    """

    def __init__(self, port: int = 0) -> None:
        """Take a port.

        Args:
            port: that of a server which was stopped, so that it is the same one that comes back; 0 for any.
        """
        self.asked: list[Asked] = []
        self.models: list[tuple[str, int, str]] = [
            (MODEL, 2_000_000_000, "llama"),
            (EMBEDDER, 300_000_000, "nomic-bert"),
        ]
        self._lock = threading.Lock()
        self._script: list[Reply] = []
        self._always: Reply = Answer("{}")
        self._paths: dict[str, Answer] = {}
        self.stopping = threading.Event()
        self.came = threading.Event()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="fake-ollama")

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def host(self) -> str:
        """For the option and the client."""
        return f"127.0.0.1:{self.port}"

    @property
    def questions(self) -> list[Asked]:
        """What models were asked: chat and generate."""
        return [one for one in self.asked if one.path in ("/api/chat", "/api/generate")]

    def says(self, *answers: str | Answer | Callable[[Asked], Answer]) -> None:
        """Answer the next questions so, in order; the last one for ever."""
        replies = [Answer(one) if isinstance(one, str) else one for one in answers]
        with self._lock:
            self._script, self._always = list(replies[:-1]), replies[-1]

    def on(self, path: str, answer: Answer) -> None:
        """Answer one path so, whatever is asked."""
        self._paths[path] = answer

    def answer_to(self, asked: Asked) -> tuple[Answer, bool]:
        """What to do, and whether it is for the path as a whole."""
        with self._lock:
            self.asked.append(asked)
            if asked.path in self._paths:
                return self._paths[asked.path], True
            if asked.path not in ("/api/chat", "/api/generate"):
                return Answer(), False
            reply = self._script.pop(0) if self._script else self._always
        self.came.set()
        return (reply if isinstance(reply, Answer) else reply(asked)), False

    def start(self) -> Self:
        """Begin to listen."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End it and all its threads."""
        self.stopping.set()
        self._server.shutdown()
        self._server.end_connections()
        self._server.server_close()
        self._thread.join(60)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = True
    owner: FakeOllama

    def __init__(self, *args: Any) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def end_connections(self) -> None:
        """Wake threads that wait for a client which holds its connection open."""
        for one in list(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no fault here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Say nothing."""

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            self._error(400, "invalid JSON")
            return
        self._serve(body)

    def _serve(self, body: Mapping[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, body)
        answer, whole = self.server.owner.answer_to(asked)
        if answer.pause_s and self.server.owner.stopping.wait(answer.pause_s):
            self.close_connection = True
            return
        if answer.raw is not None:
            self._body(answer.raw, answer.status, answer.headers)
        elif answer.status != 200:
            self._error(answer.status, answer.error or "failed", answer.headers)
        elif whole:
            self._body(answer.text.encode(), 200, answer.headers)
        else:
            self._route(asked, answer)

    def _route(self, asked: Asked, answer: Answer) -> None:
        owner = self.server.owner
        plain: Mapping[tuple[str, str], Callable[[], Mapping[str, Any]]] = {
            ("GET", "/api/tags"): lambda: {"models": [_listed(*one) for one in owner.models]},
            ("GET", "/api/version"): lambda: {"version": VERSION},
            ("GET", "/api/ps"): lambda: {"models": []},
        }
        made = plain.get((asked.method, asked.path))
        if made is not None:
            self._json(made())
            return
        model = str(asked.body.get("model", ""))
        known = [name for name, _, _ in owner.models if model in (name, name.removesuffix(":latest"))]
        if asked.method != "POST" or asked.path not in ("/api/chat", "/api/generate", "/api/embed", "/api/show"):
            self._error(404, "page not found")
        elif not known:
            self._error(404, f"model '{model}' not found")
        elif asked.path == "/api/show":
            self._json({"details": {"family": "llama"}, "capabilities": ["completion"], "model_info": {}})
        elif asked.path == "/api/embed":
            given = asked.body.get("input", "")
            texts = [given] if isinstance(given, str) else list(given)
            self._json({"model": model, "embeddings": [_vector(text) for text in texts]})
        elif asked.body.get("stream", True):
            self._stream(asked, answer, model)
        else:
            self._json(_part(asked.path, model, answer.text, done=True))

    def _stream(self, asked: Asked, answer: Answer, model: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            if answer.endless:
                self._for_ever(asked, answer, model)
                return
            pieces = [answer.text[at : at + 7] for at in range(0, len(answer.text), 7)]
            for number, piece in enumerate(pieces):
                if answer.cut and number >= len(pieces) // 2:
                    self.close_connection = True
                    return
                self._chunk(_line(_part(asked.path, model, piece, done=False)))
                if answer.gap_s and self.server.owner.stopping.wait(answer.gap_s):
                    self.close_connection = True
                    return
            if answer.error is not None:
                self._chunk(_line({"error": answer.error}))
            elif not answer.unfinished:
                self._chunk(_line(_part(asked.path, model, "", done=True)))
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True  # the client hung up

    def _for_ever(self, asked: Asked, answer: Answer, model: str) -> None:
        self.close_connection = True
        line = _line(_part(asked.path, model, "and on " * 64, done=False))
        whole = b" " * 4096 if answer.one_line else line
        while not self.server.owner.stopping.is_set():
            self._chunk(whole)
            if answer.gap_s:
                self.server.owner.stopping.wait(answer.gap_s)

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _error(self, status: int, words: str, headers: Mapping[str, str] | None = None) -> None:
        self._body(json.dumps({"error": words}).encode(), status, headers or {})

    def _json(self, value: Mapping[str, Any]) -> None:
        self._body(json.dumps(value).encode(), 200, {})

    def _body(self, data: bytes, status: int, headers: Mapping[str, str]) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.close_connection = True


def relation(label: str, confidence: float) -> str:
    """A proper answer on a relation."""
    return json.dumps({"label": label, "confidence": confidence})


def claims(*found: Sequence[str]) -> str:
    """A proper answer on claims: (subject, predicate, value, quote[, polarity]) each."""
    names = ("subject", "predicate", "value", "quote", "polarity")
    rows = [dict(zip(names, [*one, "positive"][:5], strict=True)) for one in found]
    return json.dumps({"claims": rows})


def _listed(name: str, size: int, family: str) -> dict[str, Any]:
    details = {"family": family, "families": [family], "format": "gguf", "parameter_size": "3B"}
    digest = sha256(name.encode()).hexdigest()
    return {"name": name, "model": name, "modified_at": _MADE_AT, "size": size, "digest": digest, "details": details}


def _part(path: str, model: str, piece: str, *, done: bool) -> dict[str, Any]:
    common: dict[str, Any] = {"model": model, "created_at": _MADE_AT, "done": done}
    if done:
        common |= {"done_reason": "stop", "total_duration": 1, "eval_count": 1}
    if path == "/api/chat":
        return {**common, "message": {"role": "assistant", "content": piece}}
    return {**common, "response": piece}


def _vector(text: str) -> list[float]:
    return [octet / 255 for octet in sha256(text.encode()).digest()[:_DIMS]]


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"
