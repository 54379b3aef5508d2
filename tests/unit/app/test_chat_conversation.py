"""The chat's commands on a made-up memory, what a model is given to read, and what the terminal shows."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fake_ollama import Answer, FakeOllama

from app.chat import start
from app.chat.conversation import Chat, ChatMemory, describe_left_out
from app.chat.model_server import ChatModelServer
from app.chat.screen import MOST_CHARACTERS, Screen
from app.chat.start import model_place
from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.llm.conversation import WINDOW, memory_budget
from core.llm.server_address import parse_address

CONTEXT = "<memory>\nThe cat is called Ada.\n</memory>"


class Remembering:
    """Stands in for `ChatMemory`: replies in the contract's shape, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.items: list[dict[str, Any]] = []
        self.operation = "ADD"
        self.fails: LociError | None = None
        self.grants = ["read", "write"]
        self.left: list[dict[str, Any]] = [{"id": "m2", "reason": "budget", "value": "low"}] * 2

    def read_client_state(self) -> dict[str, Any]:
        if self.fails is not None:
            raise self.fails
        return {"client": "chat", "grants": self.grants}

    def begin_turn(self, prompt: str, model: str, budget: int) -> dict[str, Any]:
        self._note("begin", prompt, model, str(budget))
        left = self.left
        counts = {"tokens": 9, "budget": budget, "included": 1, "receipt": "r-1", "at_hand": 2}
        return {"turn": "t-1", "text": CONTEXT, "excluded_reasons": left, **counts}

    def end_turn(self, turn: str | None, user: str, assistant: str, outcome: str) -> dict[str, Any]:
        self._note("end", str(turn), user, assistant, outcome)
        return {"left_out": 0, "stored": 1, "proposed": 0, "episodes": 2}

    def remember(self, text: str) -> dict[str, Any]:
        self._note("remember", text)
        return {"operation": self.operation}

    def recall(self, query: str) -> dict[str, Any]:
        self._note("recall", query)
        return {"items": self.items, "reason": "Nothing comes close enough."}

    def find_memory(self, ident: str) -> dict[str, Any] | None:
        self._note("one", ident)
        return next((item for item in self.items if item["id"] == ident), None)

    def forget(self, ident: str) -> dict[str, Any]:
        self._note("forget", ident)
        return {"operation": self.operation}

    def close(self) -> None:
        self._note("close")

    def _note(self, *what: str) -> None:
        self.asked.append(what)
        if self.fails is not None and what[0] != "close":
            raise self.fails


def item(ident: str, text: str) -> dict[str, Any]:
    return {"id": ident, "status": "active", "kind": "fact", "text": text}


def chat(memory: Remembering, typed: str, server: FakeOllama | None = None) -> str:
    """What a whole chat shows."""
    out = io.StringIO()
    host = ChatModelServer(parse_address("127.0.0.1:9" if server is None else server.host))
    Chat(cast("ChatMemory", memory), host, Screen(out, io.StringIO(typed))).run()
    assert memory.asked[-1] == ("close",)
    return out.getvalue()


def test_a_turn_is_begun_answered_and_ended() -> None:
    memory = Remembering()
    with FakeOllama() as server:
        server.says("Ada.")
        shown = chat(memory, "Who is my cat?\n/why\n", server)
        (asked,) = server.questions
    assert memory.asked[0] == ("begin", "Who is my cat?", "small:3b", str(memory_budget(WINDOW)))
    assert memory.asked[1] == ("end", "t-1", "Who is my cat?", "Ada.", "done")
    assert CONTEXT in asked.body["messages"][0]["content"]
    assert asked.body["options"]["num_ctx"] == WINDOW
    assert "> Ada.\nKept: 2 messages, 1 fact.\n" in shown
    assert CONTEXT in shown
    assert "Left out: 2 memories (budget)." in shown
    assert "The conversation has 2 memories at hand" in shown
    assert "Receipt r-1" in shown
    assert [asked[0] for asked in memory.asked] == ["begin", "end", "close"]  # /why asks nothing anew


@pytest.mark.parametrize(
    ("operation", "remembered", "forgotten"),
    [
        ("ADD", "Remembered.", "Forgotten; undo"),
        ("PROPOSED", "waits for your approval", "waits for your approval"),
        ("NOOP", "That was known", "Nothing was changed."),
    ],
)
def test_what_became_of_it_is_said(operation: str, remembered: str, forgotten: str) -> None:
    memory = Remembering()
    memory.items, memory.operation = [item("m1", "The cat is called Ada.")], operation
    assert remembered in chat(memory, "/remember The cat is called Ada.\n")
    assert forgotten in chat(memory, "/forget m1\ny\n")
    assert ("forget", "m1") in memory.asked


@pytest.mark.parametrize("typed", ["/forget m1\n\n", "/forget m1\nn\n", "/forget m1\n", "/forget the cat\n9\n"])
def test_nothing_is_forgotten_without_a_yes(typed: str) -> None:
    memory = Remembering()
    memory.items = [item("m1", "The cat is called Ada."), item("m2", "The cat likes fish.")]
    assert "Nothing was changed." in chat(memory, typed)
    assert not [asked for asked in memory.asked if asked[0] == "forget"]


def test_the_one_that_is_picked_is_shown_before_it_goes() -> None:
    memory = Remembering()
    memory.items = [item("m1", "The cat is called Ada."), item("m2", "The cat likes fish.")]
    shown = chat(memory, "/forget the cat\n2\ny\n")
    assert "m2  active fact  The cat likes fish.\nForget it? [y/N]" in shown
    assert ("forget", "m2") in memory.asked


def rex() -> Remembering:
    memory = Remembering()
    said = {**item("m3", "Well. My neighbour has  a dog called Rex. He barks."), "kind": "episode"}
    memory.items = [item("m1", "My neighbour has a dog called Rex."), item("m2", "Rex is a dog."), said]
    return memory


def test_a_message_that_says_what_is_forgotten_is_named_and_goes_too() -> None:
    memory = rex()
    shown = chat(memory, "/forget m1\ny\ny\n")
    assert "The same is said here too:\nm3  active episode  Well. My neighbour" in shown
    assert [asked for asked in memory.asked if asked[0] == "forget"] == [("forget", "m1"), ("forget", "m3")]


@pytest.mark.parametrize("typed", ["\n", "n\n", ""])
def test_it_stays_without_a_yes(typed: str) -> None:
    memory = rex()
    assert "Forget that as well? [y/N]" in chat(memory, f"/forget m1\ny\n{typed}")
    assert [asked for asked in memory.asked if asked[0] == "forget"] == [("forget", "m1")]


def test_refusals_and_wrong_commands_leave_the_chat_running() -> None:
    memory = Remembering()
    memory.fails = UserError(Code.ACCESS_DENIED, "That needs the grant write.")
    shown = chat(memory, "/remember a\n/remember\n/recall\n/nonsense\n/why\n/help\n")
    assert "That needs the grant write." in shown
    assert "Say what: /remember TEXT" in shown
    assert "There is no command /nonsense" in shown
    assert "No answer was given yet." in shown
    assert shown.endswith("> ")
    assert memory.asked == [("remember", "a"), ("close",)]


def test_what_was_typed_here_has_a_shorter_way_out() -> None:
    memory = Remembering()
    memory.items, memory.operation = [{**item("m1", "The cat is called Ada."), "client": "chat"}], "PROPOSED"
    assert "loci grant chat --grant curate" in chat(memory, "/forget m1\ny\n")
    memory.items = [{**item("m1", "The cat is called Ada."), "client": None}]  # the person's own: it waits in any case
    assert "loci grant" not in chat(memory, "/forget m1\ny\n")
    memory.items, memory.grants = [{**item("m1", "The cat."), "client": "chat"}], ["curate", "read", "write"]
    assert "loci grant" not in chat(memory, "/forget m1\ny\n")


def test_why_says_that_nothing_was_left_out() -> None:
    memory = Remembering()
    memory.left = []
    with FakeOllama() as server:
        server.says("Ada.")
        assert "Nothing that fitted and that this chat may see was left out." in chat(
            memory, "Who is my cat?\n/why\n", server
        )


def test_why_nobody_can_answer_is_told_once_and_after_that_that_it_is_so_still() -> None:
    shown = chat(Remembering(), "hi\nare you there?\n")
    assert shown.count("No model server answers at 127.0.0.1:9") == 1
    assert shown.count("Still nobody can answer you, for the same reason.") == 2


def test_a_locked_vault_is_told_before_the_first_word() -> None:
    memory = Remembering()
    memory.fails = EnvironmentFaultError(Code.VAULT_LOCKED, "x")
    assert chat(memory, "").startswith("Loci is locked")


@pytest.mark.parametrize(
    ("typed", "grants"),
    [
        ("y\na\n", ("read", "write", "curate", "speak_for_user", "all_spaces")),
        ("o\n", ("read", "write", "curate", "speak_for_user")),
        ("y\n", None),
        ("\n", None),
    ],
)
def test_a_chat_is_paired_by_a_or_o_and_anything_else_is_asked_again(
    typed: str, grants: tuple[str, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(start, "pair_client", lambda _door, _code, given, _use: asked.append(given))
    out = io.StringIO()
    setup = cast("Any", SimpleNamespace(client="chat"))
    if grants is None:
        with pytest.raises(UserError, match="not paired"):
            start._pair_chat(setup, Screen(out, io.StringIO(typed)))
    else:
        start._pair_chat(setup, Screen(out, io.StringIO(typed)))
    assert asked == ([] if grants is None else [grants])
    assert ("Answer a, o or n." in out.getvalue()) is typed.startswith("y")


def test_what_is_remembered_cannot_steer_the_terminal() -> None:
    memory = Remembering()
    memory.items = [item("m1", "a\x1b[2Jb\u202ec\nnew line")]
    shown = chat(memory, "/recall a\n")
    assert "a<U+001B>[2Jb<U+202E>c new line" in shown
    assert "\x1b" not in shown


def test_memories_that_cannot_be_reached_do_not_end_the_answer() -> None:
    memory = Remembering()
    memory.fails = EnvironmentFaultError(Code.VAULT_LOCKED, "x")
    with FakeOllama() as server:
        server.says("Hello.")
        shown = chat(memory, "hi\n/why\n", server)
    assert "Answered without memories. Loci is locked" in shown
    assert "Hello." in shown
    assert "was given nothing to read: Loci is locked" in shown


def test_another_model_is_taken_and_an_unknown_one_is_refused() -> None:
    with FakeOllama() as server:
        server.models.append(("tiny:1b", 900_000_000, "llama"))
        server.says("Here.")
        shown = chat(Remembering(), "/model huge\n/model tiny:1b\nhi\n/model\n", server)
        assert server.questions[0].body["model"] == "tiny:1b"
    assert "no model huge that runs on its own machine. It has: small:3b, tiny:1b." in shown
    assert "Models: small:3b, tiny:1b." in shown


def test_the_budget_follows_what_the_model_can_read() -> None:
    with FakeOllama() as server:
        host = ChatModelServer(parse_address(server.host))
        server.on("/api/show", Answer('{"model_info": {"llama.context_length": 2048}}'))
        assert host.read_window("small:3b") == 2048
        server.on("/api/show", Answer('{"model_info": {"llama.context_length": 131072}}'))
        assert host.read_window("small:3b") == WINDOW
        server.on("/api/show", Answer('{"model_info": {"llama.context_length": true}}'))
        assert host.read_window("small:3b") == WINDOW
    assert memory_budget(2048) == 245


def test_nothing_left_out_is_described_by_nothing() -> None:
    assert describe_left_out({}) == ""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_that_is_too_long_is_told_and_not_sent(end: str) -> None:
    shown, longest = io.StringIO(), "y" * MOST_CHARACTERS
    screen = Screen(shown, io.StringIO("x" * (3 * MOST_CHARACTERS) + end + longest + end + "next" + end))
    assert screen.read_line("") == ""
    assert "65,536 characters" in shown.getvalue()
    told = shown.getvalue()
    assert screen.read_line("") == longest
    assert screen.read_line("") == "next"
    assert screen.read_line("") is None
    assert shown.getvalue() == told


def test_line_ends_pass_and_other_returns_are_shown_however_they_are_cut() -> None:
    out = io.StringIO()
    screen = Screen(out, io.StringIO())
    for piece in ("one\r", "\ntwo\r", "three\r"):
        screen.print_piece(piece)
    screen.end_answer()
    assert out.getvalue() == "one\ntwo<U+000D>three<U+000D>\n"


@pytest.mark.parametrize(("answer", "goes"), [("y", True), ("YES", True), ("", False), ("n", False), (None, False)])
def test_an_address_beyond_this_machine_is_asked_about(answer: str | None, *, goes: bool) -> None:
    screen = Screen(io.StringIO(), io.StringIO("" if answer is None else f"{answer}\n"))
    if goes:
        assert not model_place(screen, "203.0.113.7", "").loopback
        return
    with pytest.raises(UserError) as refused:
        model_place(screen, "203.0.113.7", "")
    assert refused.value.code is Code.ACCESS_DENIED


def test_a_variable_alone_leads_to_no_other_machine() -> None:
    with pytest.raises(UserError):
        model_place(Screen(io.StringIO(), io.StringIO("y\n")), None, "203.0.113.7")
    assert model_place(Screen(io.StringIO(), io.StringIO()), None, "").port == 11434
