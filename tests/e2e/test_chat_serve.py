"""`loci chat` before a real `loci serve` and a stand-in model server: a whole conversation, and what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from chat_rig import TypedChat, chatted
from cli_rig import Palace
from fake_ollama import Answer, FakeOllama
from mcp_rig import pair

NOBODY = "127.0.0.1:9"


@pytest.fixture
def model() -> Iterator[FakeOllama]:
    with FakeOllama() as server:
        server.says("Noted.")
        yield server


@pytest.fixture
def paired(palace: Palace) -> Palace:
    pair(palace, "chat", "read", "write", "all_spaces")
    return palace


def test_a_conversation_reads_and_leaves_memories(paired: Palace, model: FakeOllama) -> None:
    paired.json("remember", "The person's sister Marta lives in Graz.")
    model.says("Marta lives in Graz, it says here.", "Good to know.")
    lines = [
        "Where does my sister Marta live?",
        "/why",
        "My favourite tea is oolong from the corner shop.",
        "/remember The boat's mooring is paid until March.",
        "/recall when is the mooring due?",
        "/forget mooring boat March",
        "y",
        "/nonsense",
        "/help",
        "/quit",
    ]
    with paired.serving():
        found = chatted(paired, model.host, lines)
        kept = [one["text"] for one in paired.everything()]
    assert (found.code, found.err) == (0, ""), found
    first, second = (asked.body["messages"] for asked in model.questions)
    assert first[0]["role"] == "system"
    assert "<memory" in first[0]["content"]
    assert "Graz" in first[0]["content"]
    assert [one["role"] for one in second] == ["system", "user", "assistant", "user"]
    assert second[2]["content"] == "Marta lives in Graz, it says here."
    assert "Marta lives in Graz, it says here." in found.out
    why = found.out.split("was given this to read", 1)[1]
    assert "sister Marta lives in Graz" in why
    assert "Receipt " in why
    assert "Remembered." in found.out
    assert "mooring is paid until March" in found.out.split("Remembered.", 1)[1]
    assert "There is no command /nonsense" in found.out
    assert any("mooring is paid until March" in text for text in kept)
    assert any("oolong" in text for text in kept)


def test_why_tells_what_was_given_and_searches_nothing(paired: Palace, model: FakeOllama) -> None:
    paired.json("remember", "The person's sister Marta lives in Graz.")
    model.says("Marta lives in Graz, it says here.")
    with paired.serving():
        found = chatted(paired, model.host, ["Where does my sister Marta live?", "/why", "/why"])
    (asked,) = model.questions
    given = asked.body["messages"][0]["content"]
    first, second = (part.partition("Receipt ")[0] for part in found.out.split("was given this to read", 2)[1:])
    assert first == second
    named = [line for line in first.splitlines() if "Marta" in line]
    assert named
    assert all(line.strip() in given for line in named)  # not the question, not the model's own answer
    receipts = re.findall(r"^Receipt (\S+);", found.out, re.MULTILINE)
    assert len(set(receipts)) == 1


def test_without_a_model_server_it_is_said_and_memories_work(paired: Palace) -> None:
    with paired.serving():
        found = chatted(paired, NOBODY, ["hello", "/remember The bicycle is red.", "/recall bicycle"])
    assert found.code == 0, found
    assert found.out.count("No model server answers at 127.0.0.1:9") == 1
    assert found.out.count("Still nobody can answer you") == 1
    assert "The bicycle is red." in found.out.split("Remembered.", 1)[1]


def test_without_the_engine_it_answers_and_says_so(paired: Palace, model: FakeOllama) -> None:
    found = chatted(paired, model.host, ["hello", "/why", "/recall tea"])
    assert found.code == 0, found
    assert "Answered without memories. Loci is not running;" in found.out
    assert "Noted." in found.out
    assert "What was said is not kept. Loci is not running;" in found.out


def test_a_locked_vault_is_told(paired: Palace, model: FakeOllama) -> None:
    with paired.serving(unlocked=False, wait=False) as serving:
        serving.wait_for("listening")
        found = chatted(paired, model.host, ["hello"])
    assert found.out.startswith("Loci is locked:")
    assert "Answered without memories. Loci is locked:" in found.out
    assert "Noted." in found.out


def test_a_revoked_chat_is_told(paired: Palace, model: FakeOllama) -> None:
    with paired.serving():
        paired.json("revoke", "chat")
        found = chatted(paired, model.host, ["/recall tea"])
    assert "does not let the client chat in" in found.out


def test_what_a_model_says_cannot_steer_the_terminal(paired: Palace, model: FakeOllama) -> None:
    model.says("\x1b]0;title\x07\x1b[2J \u202etxt.exe\u200b \r hidden" + "x" * 9000)
    with paired.serving():
        found = chatted(paired, model.host, ["go"])
    assert found.code == 0, found
    assert "<U+001B>]0;title<U+0007><U+001B>[2J <U+202E>txt.exe<U+200B> <U+000D> hidden" in found.out
    assert not {"\x1b", "\x07", "\u202e", "\u200b", "\r"} & set(found.out)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer("Half of it is here, and the rest is not", cut=True), "went away before the answer was whole"),
        (Answer("It ends without an end.", unfinished=True), "went away before the answer was whole"),
        (Answer("Secret words.", status=500, error="Secret words."), "gave no usable answer"),
        (Answer(endless=True), "too long and was stopped"),
        (Answer(endless=True, one_line=True), "gave no usable answer"),
        (Answer(raw=b"[" * 100_000 + b"\n"), "gave no usable answer"),
    ],
)
def test_a_model_that_fails_ends_its_answer_and_not_the_chat(
    paired: Palace, model: FakeOllama, answer: Answer, said: str
) -> None:
    model.says(answer, "Here again.")
    found = chatted(paired, model.host, ["one", "two"])
    assert found.code == 0, found
    assert said in found.out
    assert "Here again." in found.out.split(said, 1)[1]
    assert "Secret" not in found.out
    assert found.err == ""


def test_ctrl_c_stops_the_answer_and_ctrl_d_the_chat(paired: Palace, model: FakeOllama) -> None:
    model.says(Answer("word " * 5000, gap_s=0.05), "The second answer.")
    with TypedChat(paired, model.host) as chat:
        chat.wait_for("> ")
        chat.type("talk\n")
        chat.wait_for("word word")
        chat.type("\x03")
        chat.wait_for("Stopped.")
        chat.wait_for("> ")
        chat.type("\x03")
        chat.wait_for("ends the chat.")
        chat.type("again\n")
        chat.wait_for("The second answer.")
        chat.wait_for("> ")
        chat.type("\x04")
        assert chat.ended() == 0
    assert len(model.questions) == 2


def test_it_pairs_itself_when_the_person_says_so(palace: Palace, model: FakeOllama) -> None:
    with palace.serving():
        refused = chatted(palace, model.host, ["n"])
        assert (refused.code, refused.err.split(":")[0]) == (1, "E4007"), refused
        variables = {"LOCI_PASSPHRASE_FILE": str(palace.secret)}
        lines = ["yes", "a", "/remember The lamp in the hall is green.", "/forget green lamp in the hall", "y"]
        found = chatted(palace, model.host, lines, variables=variables)
        assert found.code == 0, found
        assert "Answer a, o or n." in found.out
        assert "Remembered." in found.out
        # What the person typed here goes at their word: nobody has to approve it elsewhere.
        assert "Forgotten; undo brings it back." in found.out
        (client,) = palace.json("clients")["clients"]
        assert client["name"] == "chat"
        assert sorted(client["grants"]) == ["all_spaces", "curate", "read", "speak_for_user", "write"]
        assert "Remembered." in chatted(palace, model.host, ["/remember The door is blue."]).out


def test_an_address_beyond_this_machine_needs_the_option_and_a_yes(paired: Palace) -> None:
    by_variable = chatted(paired, "203.0.113.7", ["y", "hello"])
    assert by_variable.code == 1
    assert "not this machine" in by_variable.err
    refused = chatted(paired, "", ["n", "hello"], "--host", "203.0.113.7")
    assert refused.code == 1
    assert "203.0.113.7 is not this machine" in refused.out
