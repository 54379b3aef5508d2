"""The conversation: a line is a command or goes to the model, with what is remembered before it and kept after it.

What the model reads is laid out within what it can take (`core.llm.conversation`); the memories are reached over the
socket, as a client.
Must not do: decide what is kept or shown, change a word of the context, show a text but by the screen, keep one after
the end.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from app.chat.model_server import ChatModelServer, TooLongError
from app.chat.screen import Screen, format_count, format_sentence, load_words
from app.cli.output import one_line
from app.mcp.link import EngineLink
from core.errors import Code, LociError
from core.llm.conversation import build_messages, memory_budget
from core.types.sessions import Exchange

_FOUND = 8


class ChatMemory:
    """One conversation's memories; `close` ends it."""

    def __init__(self, link: EngineLink) -> None:
        """Make it; the connection is opened by the first call.

        Args:
            link: of the client that this chat is.
        """
        self._link = link
        self._runner = asyncio.Runner()
        self._session = f"chat-{uuid.uuid4().hex}"

    def read_client_state(self) -> dict[str, Any]:
        """Who this chat is and what it may; the reply of `health`."""
        return self._call_service("health", {})

    def begin_turn(self, prompt: str, model: str, budget: int) -> dict[str, Any]:
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
        return self._call_service("turn_begin", params)

    def end_turn(self, turn: str | None, user: str, assistant: str, outcome: str) -> dict[str, Any]:
        """End a turn and have it kept; the reply of `turn_end`."""
        params: dict[str, Any] = {"session": self._session, "user": user, "outcome": outcome, **_request_id_params()}
        if turn is not None:
            params["turn"] = turn
        if assistant.strip():
            params["assistant"] = assistant
        return self._call_service("turn_end", params)

    def remember(self, text: str) -> dict[str, Any]:
        """Store one thing, as the person's word where this chat may speak for them; the reply of `memory_store`."""
        own = {"source": "user_explicit"} if "speak_for_user" in self.read_client_state()["grants"] else {}
        return self._call_service(
            "memory_store", {"text": text, "session": self._session, **own, **_request_id_params()}
        )

    def recall(self, query: str) -> dict[str, Any]:
        """What fits a question; the reply of `memory_recall`."""
        return self._call_service("memory_recall", {"query": query, "limit": _FOUND, "session": self._session})

    def find_memory(self, ident: str) -> dict[str, Any] | None:
        """A memory by its id; None where there is none for this client."""
        try:
            return self._call_service("memory_get", {"id": ident})
        except LociError as error:
            if error.code in (Code.NOT_FOUND, Code.INVALID_INPUT):
                return None
            raise

    def forget(self, ident: str) -> dict[str, Any]:
        """Let a memory leave recall; the reply of `memory_forget`."""
        return self._call_service("memory_forget", {"id": ident, **_request_id_params()})

    def close(self) -> None:
        """End the connection; the engine closes the session with it."""
        self._runner.run(self._link.close())
        self._runner.close()

    def _call_service(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        return self._runner.run(self._link.call(method, params, repeatable=True))


def _request_id_params() -> dict[str, str]:
    return {"request_id": uuid.uuid4().hex}


@dataclass(frozen=True, slots=True)
class Given:
    """What the model was given for a turn.

    Attributes:
        prompt: the person's words.
        reply: of `turn_begin`; empty where the memories could not be reached.
        reason: why they could not; "" where they could.
    """

    prompt: str
    reply: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""

    @property
    def context(self) -> str:
        """The fenced text; "" where there is none."""
        return str(self.reply.get("text", ""))

    @property
    def turn(self) -> str | None:
        """What `turn_end` takes."""
        return self.reply.get("turn")


def describe_left_out(reply: Mapping[str, Any]) -> str:
    """Why memories were left out of a context, with how many for each reason; "" where none was."""
    counts: dict[str, int] = {}
    for one in reply.get("excluded_reasons", ()):
        counts[str(one["reason"])] = counts.get(str(one["reason"]), 0) + 1
    return ", ".join(f"{format_count(number, 'memory', 'memories')} ({reason})" for reason, number in counts.items())


_STORED = {"PROPOSED": "proposed", "MERGE": "merged", "NOOP": "merged"}
_FORGOTTEN = {"PROPOSED": "proposed", "NOOP": "unchanged"}
_MOST_TURNS = 200
_QUERY = 1_000


def describe_chat_error(error: LociError) -> str:
    """What a refusal means for the person at the terminal."""
    names = {Code.VAULT_LOCKED: "locked", Code.NOT_HERE: "not_running"}
    return format_sentence(names[error.code]) if error.code in names else error.sentence


class Chat:
    """One conversation."""

    def __init__(self, memory: ChatMemory, host: ChatModelServer, screen: Screen, model: str = "") -> None:
        """Make it.

        Args:
            memory: of this conversation.
            model: the person's choice; "" for one that fits.
        """
        self._memory, self._host, self._screen = memory, host, screen
        self._wanted, self._model, self._window = model, "", 0
        self._lacking = ""  # why there is no model, as it was told last
        self._said: list[Exchange] = []
        self._given: Given | None = None
        self._commands: Mapping[str, Callable[[str], None]] = {
            "/remember": self._remember_text,
            "/recall": self._print_found,
            "/forget": self._forget_memory,
            "/why": self._print_reason,
            "/model": self._switch_model,
            "/help": self._print_help,
        }

    def run(self) -> None:
        """Talk until the person ends it."""
        try:
            self._run_guarded(self._check_connection)
            self._run_guarded(self._print_welcome)
            while True:
                try:
                    line = self._screen.read_line("> ")
                except KeyboardInterrupt:
                    self._screen.print_line()
                    self._screen.print_line(format_sentence("to_end"))
                    continue
                if line is None or line.strip() == "/quit":
                    return
                self._run_guarded(partial(self._handle_line, line.strip()))
        finally:
            self._memory.close()

    def _run_guarded(self, work: Callable[[], None]) -> None:
        """Whatever is refused or stopped, the chat goes on."""
        try:
            work()
        except KeyboardInterrupt:
            self._screen.end_answer()
            self._screen.print_line(format_sentence("stopped"))
        except LociError as error:
            self._screen.end_answer()
            self._screen.print_line(describe_chat_error(error))

    def _handle_line(self, line: str) -> None:
        if not line.startswith("/"):
            if line:
                self._run_turn(line)
            return
        name, _, rest = line.partition(" ")
        command = self._commands.get(name)
        if command is None:
            self._screen.print_line(format_sentence("unknown", command=one_line(name, 40)))
        elif not rest.strip() and name in ("/remember", "/recall", "/forget"):
            self._screen.print_line(format_sentence("needs_text", usage=self._format_usage(name)))
        else:
            command(rest.strip())

    # Talking

    def _check_connection(self) -> None:
        """Whoever cannot be reached is told of at once, and not after the first words."""
        self._memory.read_client_state()

    def _print_welcome(self) -> None:
        if self._has_model():
            self._screen.print_line(format_sentence("welcome", model=self._model, window=self._window))

    def _has_model(self) -> bool:
        """Find the model, anew where there was none: a server may have been started meanwhile."""
        if self._model:
            return True
        try:
            found, why = self._host.select_model(self._wanted), format_sentence("no_model", host=self._host.name)
        except LociError as error:
            found, why = None, describe_chat_error(error)
        if found is None:
            self._screen.print_line(format_sentence("no_model_still") if why == self._lacking else why)
            self._lacking = why
            return False
        self._lacking = ""
        self._window = self._host.read_window(found)
        self._model = found
        return True

    def _run_turn(self, prompt: str) -> None:
        if not self._has_model():
            return
        given = self._begin_turn(prompt)
        instructions = str(load_words()["system"])
        messages = build_messages(instructions, given.context, given.prompt, self._said, self._window)
        if messages is None:
            self._screen.print_line(format_sentence("too_long_prompt"))
            return
        self._given = given
        pieces: list[str] = []
        outcome = "failed"
        try:
            outcome = self._show_stream(messages, pieces)
        finally:
            self._screen.end_answer()
            self._end_turn(given, "".join(pieces), outcome)

    def _begin_turn(self, prompt: str) -> Given:
        try:
            return Given(prompt, self._memory.begin_turn(prompt, self._model, memory_budget(self._window)))
        except LociError as error:
            self._screen.print_line(format_sentence("without_memory", reason=describe_chat_error(error)))
            return Given(prompt, reason=describe_chat_error(error))

    def _show_stream(self, messages: list[dict[str, str]], pieces: list[str]) -> str:
        """Show the answer as it comes; how the turn ended."""
        try:
            with closing(self._host.stream_answer(self._model, messages, self._window)) as answer:
                for piece in answer:
                    pieces.append(piece)
                    self._screen.print_piece(piece)
        except KeyboardInterrupt:
            self._screen.end_answer()
            self._screen.print_line(format_sentence("stopped"))
            return "cancelled"
        except TooLongError:
            self._screen.end_answer()
            self._screen.print_line(format_sentence("too_long_answer"))
        except LociError:
            self._model = ""  # it is looked for anew with the next turn
            raise
        return "done"

    def _end_turn(self, given: Given, answer: str, outcome: str) -> None:
        if answer:
            self._said = [*self._said, Exchange(given.prompt, answer)][-_MOST_TURNS:]
        try:
            kept = self._memory.end_turn(given.turn, given.prompt, answer, outcome)
        except LociError as error:
            self._screen.print_line(format_sentence("not_kept", reason=describe_chat_error(error)))
            return
        if kept["left_out"]:
            self._screen.print_line(format_sentence("left_out"))
        if kept["stored"] or kept["proposed"]:
            facts = format_count(kept["stored"] + kept["proposed"], "fact", "facts")
            self._screen.print_line(
                format_sentence("kept", messages=format_count(kept["episodes"], "message", "messages"), facts=facts)
            )

    # Commands

    def _remember_text(self, text: str) -> None:
        self._screen.print_line(format_sentence(_STORED.get(self._memory.remember(text)["operation"], "remembered")))

    def _print_found(self, query: str) -> None:
        found = self._memory.recall(query)
        if not found["items"]:
            self._screen.print_line(format_sentence("nothing", reason=found["reason"]))
        for item in found["items"]:
            self._screen.print_line(_format_row(item))

    def _forget_memory(self, words_or_id: str) -> None:
        named = None if " " in words_or_id else self._memory.find_memory(words_or_id)
        item = named or self._pick_memory(words_or_id)
        if item is None:
            return
        self._screen.print_line(_format_row(item))
        if not self._is_sure("sure"):
            self._screen.print_line(format_sentence("unchanged"))
            return
        self._run_forget(item)
        # A sentence that was read out of a message stands twice, and the message would say it again with the next turn.
        if others := self._find_repeats(item):
            self._screen.print_line(format_sentence("said_too"))
            for other in others:
                self._screen.print_line(_format_row(other))
            if self._is_sure("sure_too"):
                for other in others:
                    self._run_forget(other)

    def _is_sure(self, question: str) -> bool:
        return (self._screen.read_line(format_sentence(question)) or "").strip().casefold() in ("y", "yes")

    def _run_forget(self, item: Mapping[str, Any]) -> None:
        became = _FORGOTTEN.get(self._memory.forget(item["id"])["operation"], "forgotten")
        self._screen.print_line(format_sentence(became))
        if became == "proposed":
            self._explain_curate(item)

    def _find_repeats(self, item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Other memories that hold the whole text of one."""
        text = " ".join(str(item["text"]).casefold().split())
        found = self._memory.recall(str(item["text"])[:_QUERY])["items"]
        holds = [one for one in found if text in " ".join(str(one["text"]).casefold().split())]
        return [one for one in holds if one["id"] != item["id"]]

    def _explain_curate(self, item: Mapping[str, Any]) -> None:
        """What the person typed here was brought by this chat: with `curate` it goes at the person's word."""
        state = self._memory.read_client_state()
        if item.get("client") == state["client"] and "curate" not in state["grants"]:
            self._screen.print_line(format_sentence("may_curate", client=state["client"]))

    def _pick_memory(self, query: str) -> Mapping[str, Any] | None:
        found = self._memory.recall(query)
        items = found["items"]
        if not items:
            self._screen.print_line(format_sentence("nothing", reason=found["reason"]))
            return None
        if len(items) == 1:
            return dict(items[0])
        for number, item in enumerate(items, 1):
            self._screen.print_line(f"{number}  {_format_row(item)}")
        typed = (self._screen.read_line(format_sentence("which")) or "").strip()
        if typed.isascii() and typed.isdigit() and 1 <= int(typed[:3]) <= len(items):
            return dict(items[int(typed[:3]) - 1])
        self._screen.print_line(format_sentence("unchanged"))
        return None

    def _print_reason(self, _: str) -> None:
        given = self._given
        if given is None:
            self._screen.print_line(format_sentence("no_turn"))
        elif given.reason:
            self._screen.print_line(format_sentence("why_offline", reason=given.reason))
        else:
            self._print_context(given)

    def _print_context(self, given: Given) -> None:
        """What `turn_begin` said. A search now would find other things: the question itself, what was left out."""
        reply = given.reply
        if not given.context:
            self._screen.print_line(format_sentence("why_none"))
        else:
            included = format_count(reply["included"], "memory", "memories")
            self._screen.print_line(
                format_sentence("why_read", tokens=reply["tokens"], budget=reply["budget"], included=included)
            )
            self._screen.print_block(given.context)
        if excluded := describe_left_out(reply):
            self._screen.print_line(format_sentence("why_left", excluded=excluded))
        else:
            self._screen.print_line(format_sentence("why_left_none"))
        if reply["at_hand"]:
            self._screen.print_line(
                format_sentence("why_at_hand", at_hand=format_count(reply["at_hand"], "memory", "memories"))
            )
        self._screen.print_line(format_sentence("why_receipt", receipt=reply["receipt"]))

    def _switch_model(self, name: str) -> None:
        if name:
            chosen = self._host.select_model(name)
            self._wanted, self._model = chosen or "", ""
            self._print_welcome()
            return
        known = self._host.list_models()
        self._screen.print_line(format_sentence("models", known=", ".join(one.name for one in known) or "none"))
        self._print_welcome()

    def _print_help(self, _: str) -> None:
        for usage, about in load_words()["commands"]:
            self._screen.print_line(f"{usage:<22} {about}")

    @staticmethod
    def _format_usage(name: str) -> str:
        return next(str(usage) for usage, _ in load_words()["commands"] if usage.startswith(name))


def _format_row(item: Mapping[str, Any]) -> str:
    return f"{item['id']}  {item['status']} {item['kind']}  {one_line(item['text'])}"
