"""The model server as the chat asks it: Ollama's HTTP, streamed; every answer bounded in bytes, every wait in time.

Must not do: follow a redirect or a proxy, send a key, put a server's words into an error.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from app.chat.screen import format_sentence
from core.errors import Code, EnvironmentFaultError, UserError
from core.llm.conversation import CHAT_ANSWER_BYTES, fit_window
from core.llm.ollama import InstalledModel, choose_model
from core.llm.server_address import ServerAddress, parse_address

USUAL_HOST = "127.0.0.1"

_WIRE_BYTES = 4 * 1024 * 1024
_LINE_BYTES = 256 * 1024
_CONNECT_S = 5.0
_SILENCE_S = 120.0
_NAME = 200

Message = Mapping[str, str]


class TooLongError(Exception):
    """An answer has more than `CHAT_ANSWER_BYTES`."""


def host_at(variable: str, silence_s: float) -> ChatModelServer:
    """The model server of this machine, or the one that `LOCI_OLLAMA` names; nothing is called yet.

    Args:
        variable: from `LOCI_OLLAMA`; "" for none.
        silence_s: as for `ChatModelServer`.

    Raises:
        UserError: CONFIG_INVALID for what is no address, ACCESS_DENIED for one beyond this machine.
    """
    return ChatModelServer(parse_address(variable or USUAL_HOST), silence_s)


class ChatModelServer:
    """One model server; it is asked for one thing at a time."""

    def __init__(self, place: ServerAddress, silence_s: float = _SILENCE_S) -> None:
        """Make one; nothing is called yet.

        Args:
            silence_s: seconds without a byte, such as while a model is loaded.
        """
        self._place, self._silence_s = place, silence_s

    @property
    def name(self) -> str:
        """The address in words."""
        return self._place.url.partition("://")[2]

    def list_models(self) -> tuple[InstalledModel, ...]:
        """Its models that can chat on its own machine.

        Raises:
            EnvironmentFaultError: EMBEDDER_UNAVAILABLE where nobody answers; MODEL_SERVER_FAILED.
        """
        listed = self._request_document("GET", "/api/tags", None).get("models")
        found = (
            [_installed_model_from(one) for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        )
        return tuple(one for one in found if one.speaks and one.name.isprintable() and len(one.name) <= _NAME)

    def select_model(self, wanted: str) -> str | None:
        """Which model answers.

        Args:
            wanted: the person's choice; "" for one that fits.

        Returns:
            Its name; None where the server has none.

        Raises:
            UserError: INVALID_INPUT where the wanted one is not there.
            EnvironmentFaultError: as `models`.
        """
        found = self.list_models()
        name = choose_model(found, wanted)
        if name is None and wanted:
            known = ", ".join(one.name for one in found) or "none"
            raise UserError(Code.INVALID_INPUT, format_sentence("wrong_model", model=wanted, known=known))
        return name

    def read_window(self, model: str) -> int:
        """Tokens that a model reads at once here: what it can, up to `WINDOW`.

        Returns:
            512 to 8192.

        Raises:
            EnvironmentFaultError: as `models`.
        """
        return fit_window(self._request_document("POST", "/api/show", {"model": model}).get("model_info"))

    def stream_answer(self, model: str, messages: Sequence[Message], window: int) -> Generator[str, None, None]:
        """Ask, and give the answer piece by piece as it comes. Closing the iterator ends the model's work.

        Args:
            messages: role and content each, the newest last.
            window: tokens it may read at once.

        Yields:
            Pieces of text, valid Unicode.

        Raises:
            EnvironmentFaultError: EMBEDDER_UNAVAILABLE; MODEL_SERVER_FAILED for an error, garbage, or an answer that
                ends too soon.
            TooLongError: the pieces so far are `CHAT_ANSWER_BYTES`.
        """
        body = {"model": model, "messages": list(messages), "stream": True, "think": False}
        size = 0
        with self._send_request("POST", "/api/chat", {**body, "options": {"num_ctx": window}}) as response:
            for part in _read_stream_parts(response):
                piece = _words_of_stream_part(part)
                size += len(piece.encode())
                yield piece
                if part.get("done") is True:
                    return
                if size > CHAT_ANSWER_BYTES:
                    raise TooLongError
        raise EnvironmentFaultError(Code.MODEL_SERVER_FAILED, format_sentence("server_gone"))

    def _request_document(self, verb: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        with self._send_request(verb, path, body) as response:
            raw = response.read(_WIRE_BYTES + 1)
        if len(raw) > _WIRE_BYTES:
            raise _server_failed_error()
        return _parse_object(raw)

    @contextmanager
    def _send_request(self, verb: str, path: str, body: Mapping[str, Any] | None) -> Iterator[http.client.HTTPResponse]:
        """One request on a connection of its own; whatever goes wrong is one of two errors with none of its words."""
        place = self._place
        make = http.client.HTTPSConnection if place.url.startswith("https:") else http.client.HTTPConnection
        with closing(make(place.host, place.port, timeout=_CONNECT_S)) as line:
            try:
                line.connect()
                line.sock.settimeout(self._silence_s)
            except OSError:
                raise EnvironmentFaultError(
                    Code.EMBEDDER_UNAVAILABLE, format_sentence("no_server", host=self.name)
                ) from None
            try:
                headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
                line.request(verb, path, None if body is None else json.dumps(body).encode(), headers)
                response = line.getresponse()
                if (
                    response.status != http.client.OK
                    or response.getheader("Content-Encoding", "identity") != "identity"
                ):
                    raise _server_failed_error()
                yield response
            except (OSError, http.client.HTTPException):
                raise EnvironmentFaultError(Code.MODEL_SERVER_FAILED, format_sentence("server_gone")) from None


def _read_stream_parts(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """The lines of a stream as objects, bounded each and in all."""
    whole = 0
    while line := response.readline(_LINE_BYTES):
        whole += len(line)
        if whole > _WIRE_BYTES or (len(line) == _LINE_BYTES and not line.endswith(b"\n")):
            raise _server_failed_error()
        if line.strip():
            part = _parse_object(line)
            if "error" in part:
                raise _server_failed_error()
            yield part


def _words_of_stream_part(part: Mapping[str, Any]) -> str:
    message = part.get("message")
    content = message.get("content") if isinstance(message, dict) else ""
    return content.encode("utf-8", "replace").decode() if isinstance(content, str) else ""


def _parse_object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise _server_failed_error() from None
    if not isinstance(found, dict):
        raise _server_failed_error()
    return found


def _installed_model_from(one: Mapping[str, Any]) -> InstalledModel:
    details, size = one.get("details"), one.get("size")
    family = details.get("family") if isinstance(details, dict) else ""
    return InstalledModel(
        str(one.get("model") or one.get("name") or ""), size if isinstance(size, int) else 0, str(family or "")
    )


def _server_failed_error() -> EnvironmentFaultError:
    return EnvironmentFaultError(Code.MODEL_SERVER_FAILED, format_sentence("server_failed"))
