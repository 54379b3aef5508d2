"""The chat's way to the memories: methods of clients over the socket, on a loop that runs while a call waits.

Must not do: decide what is kept or shown; the engine does. Must not call a writing method twice without `request_id`.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from typing import Any

from app.mcp.link import Link
from core.errors import Code, LociError

_FOUND = 8


class Memory:
    """One conversation's memories; `close` ends it."""

    def __init__(self, link: Link) -> None:
        """Make it; the connection is opened by the first call.

        Args:
            link: of the client that this chat is.
        """
        self._link = link
        self._runner = asyncio.Runner()
        self._session = f"chat-{uuid.uuid4().hex}"

    def standing(self) -> dict[str, Any]:
        """Who this chat is and what it may; the reply of `health`."""
        return self._call("health", {})

    def begin(self, prompt: str, model: str, budget: int) -> dict[str, Any]:
        """Begin a turn.

        Args:
            prompt: what the person typed.
            model: who will read the context.
            budget: tokens it may have.

        Returns:
            The reply of `turn_begin`.

        Raises:
            LociError: what the engine answered, or why it cannot be reached; so for all methods.
        """
        params = {"prompt": prompt, "session": self._session, "model": model[:128], "token_budget": budget}
        return self._call("turn_begin", params)

    def end(self, turn: str | None, user: str, assistant: str, outcome: str) -> dict[str, Any]:
        """End a turn and have it kept; the reply of `turn_end`."""
        params: dict[str, Any] = {"session": self._session, "user": user, "outcome": outcome, **_once()}
        if turn is not None:
            params["turn"] = turn
        if assistant.strip():
            params["assistant"] = assistant
        return self._call("turn_end", params)

    def remember(self, text: str) -> dict[str, Any]:
        """Store one thing, as the person's word where this chat may speak for them; the reply of `memory_store`."""
        own = {"source": "user_explicit"} if "speak_for_user" in self.standing()["grants"] else {}
        return self._call("memory_store", {"text": text, "session": self._session, **own, **_once()})

    def recall(self, query: str) -> dict[str, Any]:
        """What fits a question; the reply of `memory_recall`."""
        return self._call("memory_recall", {"query": query, "limit": _FOUND, "session": self._session})

    def one(self, ident: str) -> dict[str, Any] | None:
        """A memory by its id; None where there is none for this client."""
        try:
            return self._call("memory_get", {"id": ident})
        except LociError as error:
            if error.code in (Code.NOT_FOUND, Code.INVALID_INPUT):
                return None
            raise

    def forget(self, ident: str) -> dict[str, Any]:
        """Let a memory leave recall; the reply of `memory_forget`."""
        return self._call("memory_forget", {"id": ident, **_once()})

    def close(self) -> None:
        """End the connection; the engine closes the session with it."""
        self._runner.run(self._link.close())
        self._runner.close()

    def _call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        return self._runner.run(self._link.call(method, params, repeatable=True))


def _once() -> dict[str, str]:
    return {"request_id": uuid.uuid4().hex}
