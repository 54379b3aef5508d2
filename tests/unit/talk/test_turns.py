"""Who speaks in a text, and which parts of it are read."""

from __future__ import annotations

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.talk.turns import EpisodeText, is_code, is_foreign, normalize_speaker, read_turns, split_turn
from core.types.talk import Turn


def _speakers(*texts: str) -> list[str]:
    return [turn.speaker for turn in read_turns([EpisodeText(f"e{n}", text) for n, text in enumerate(texts)])]


def test_named_lines_have_speakers_where_names_recur() -> None:
    assert _speakers("Mara: hello", "Joss: hi", "Mara: how are you", "Joss: fine") == ["Mara", "Joss", "Mara", "Joss"]


def test_several_named_lines_of_a_text_are_turns_with_their_places() -> None:
    text = "[10:02] Mara: I live in Kiel.\n[10:03] Joss: Nice.\nsecond line\n[10:04] Mara: Yes.\n[10:05] Joss: Ok."
    turns = read_turns([EpisodeText("e", text)])
    assert [turn.speaker for turn in turns] == ["Mara", "Joss", "Mara", "Joss"]
    assert all(text[turn.start : turn.start + len(turn.text)] == turn.text for turn in turns)
    assert turns[1].text == "Nice.\nsecond line"


@pytest.mark.parametrize("label", ["Note", "Q", "TODO", "PS", "https", "Ingredients", "WARNING"])
def test_a_label_is_no_speaker(label: str) -> None:
    assert _speakers(f"{label}: buy milk", f"{label}: call mum", "Mara: hi", "Joss: hi", "Mara: a", "Joss: b")[:2] == [
        "",
        "",
    ]


def test_the_author_is_the_speaker() -> None:
    turns = read_turns([EpisodeText("e", "I like jazz", "MARA")])
    assert [(turn.speaker, turn.is_owner) for turn in turns] == [("Mara", False)]


def test_who_is_owner_and_assistant() -> None:
    turns = read_turns(
        [EpisodeText("a", "hi", "User"), EpisodeText("b", "hi", "Assistant"), EpisodeText("c", "x", "Mara")], ["mara"]
    )
    assert [(turn.is_owner, turn.is_assistant) for turn in turns] == [(True, False), (False, True), (True, False)]


@pytest.mark.parametrize(
    "line",
    ["import os", "const x = 3;", "2025-01-02 10:11:12 ERROR failed", "def run(self):", "if (a) { return b; }"],
)
def test_code_and_logs_are_not_read(line: str) -> None:
    assert is_code(line)
    assert not split_turn(Turn("e", "Mara", line))


@pytest.mark.parametrize(
    "line", ["I like jazz.", "My phone ends in 77.", "Class is at 10, bring a pen", "2 cats, 1 dog"]
)
def test_talk_is_no_code(line: str) -> None:
    assert not is_code(line)


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Ich habe zwei Brüder und wir wohnen in Kiel, das ist nicht weit", True),
        ("Tengo dos hermanos y vivimos en Madrid con mi madre, pero no es lejos", True),
        ("У меня два брата", True),
        ("I met Die Toten Hosen in Köln and it was great", False),
        ("ok", False),
        ("", False),
    ],
)
def test_other_languages_are_told_apart(text: str, foreign: bool) -> None:
    assert is_foreign(text) is foreign


def test_a_very_long_turn_is_read_to_its_cap() -> None:
    assert len(split_turn(Turn("e", "Mara", "I like jazz. " * 8000))) <= 200


def test_fifty_names_are_no_speakers() -> None:
    names = [f"{chr(65 + n % 26)}{chr(97 + n // 26)}na" for n in range(60)]
    texts = [f"{name}: something" for name in names for _ in range(2)]
    assert set(_speakers(*texts)) == {""}


def test_names_are_normalized() -> None:
    assert [normalize_speaker(name) for name in ("mara", " **Mara** ", "MARA", "DJ")] == ["Mara", "Mara", "Mara", "DJ"]


@settings(max_examples=count_examples(200), deadline=None)
@given(st.lists(st.text(max_size=200), max_size=4))
def test_turns_and_sentences_lie_inside_their_text(texts: list[str]) -> None:
    episodes = [EpisodeText(str(n), text) for n, text in enumerate(texts)]
    for turn in read_turns(episodes):
        text = texts[int(turn.episode_id)]
        assert text[turn.start :].startswith(turn.text)
        for sentence in split_turn(turn):
            assert len(sentence.text) <= len(turn.text) - sentence.start
