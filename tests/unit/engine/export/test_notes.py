"""Exported notes: paths that hold on every system, links that lead somewhere, texts that run nothing."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from typing import get_args

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.export.formats import ExportedMemory
from core.engine.export.notes import EntityKey, MemoryLinks, escape_active, make_note_name, pack_notes
from core.ipc.methods.administration import ExportParams
from core.types.requests import EXPORT_ENDINGS

_LINK = re.compile(r"(?<!\\)\[\[([^\]|#]+)(?:#\^([0-9a-f]+))?\|([^\]|]+)\]\]")


def memory_id(number: int) -> str:
    return f"0192f0c4-0000-7000-8000-{number:012x}"


def message(number: int, text: str, author: str = "Mara", session: str = "s") -> ExportedMemory:
    fields = {"text": text, "kind": "episode", "author": author, "session": session, "time": "2024-05-01T10:00Z"}
    return ExportedMemory(memory_id(number), fields)


def fact(number: int, text: str, **more: object) -> ExportedMemory:
    return ExportedMemory(memory_id(number), {"text": text, "kind": "fact", "author": "user", **more})


def unpack(packed: bytes) -> Mapping[str, str]:
    with zipfile.ZipFile(io.BytesIO(packed)) as found:
        assert found.testzip() is None
        return {name.removesuffix(".md"): found.read(name).decode("utf-8") for name in found.namelist()}


NOBODY = MemoryLinks({}, {}, {}, {})


def test_a_conversation_is_one_note_and_a_statement_links_to_its_message() -> None:
    links = MemoryLinks(
        {memory_id(3): [("Lisbon", "place"), ("Mara", "person")], memory_id(1): [("Lisbon", "place")]},
        {memory_id(3): [memory_id(1)]},
        {("Mara", "person"): ["Mar"]},
        {memory_id(1): "Moving house"},
    )
    notes = unpack(
        pack_notes(
            [
                message(1, "I moved to Lisbon."),
                message(2, "Nice!", "Ilse"),
                fact(3, "Mara lives in Lisbon.", tags=["home"]),
            ],
            links,
        )
    )
    assert set(notes) == {
        "Start here",
        "Places/Lisbon",
        "People/Mara",
        "Conversations/2024-05-01 Moving house",
        "Memories/Mara lives in Lisbon",
    }
    talk = notes["Conversations/2024-05-01 Moving house"]
    assert 'speakers: ["Mara", "Ilse"]' in talk
    assert "**Mara** · 2024-05-01T10:00Z\n\nI moved to Lisbon.\n" in talk
    assert talk.index("I moved") < talk.index("Nice!")
    statement = notes["Memories/Mara lives in Lisbon"]
    assert 'tags: ["home"]' in statement
    assert "Mentions: [[Places/Lisbon|Lisbon]], [[People/Mara|Mara]]" in statement
    target = _LINK.findall(statement.partition("From: ")[2])
    assert target == [("Conversations/2024-05-01 Moving house", "000000000001", "2024-05-01 Moving house")]
    assert "\n\n^000000000001\n" in talk
    person = notes["People/Mara"]
    assert 'aliases: ["Mar"]' in person
    assert "- [[Memories/Mara lives in Lisbon|Mara lives in Lisbon]]" in person
    # What was made a statement stands before what was said.
    place = notes["Places/Lisbon"]
    assert place.index("Mara lives in Lisbon") < place.index("I moved to Lisbon")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a/b\\c: [[d]] #e ^f | g?", "a b c d e f g"),
        ("../../etc/passwd", "etc passwd"),
        ("con", "Memory con"),
        ("Nul.txt", "Memory Nul.txt"),
        ("", "Memory"),
        ("\n\n  second line\nthird", "second line"),
        ("\u202eabc\x00def\u200b", "abc def"),
        ("word " * 40, ("word " * 12).strip()),
        ("x" * 200, "x" * 60),
        ("ends with dots...", "ends with dots"),
    ],
)
def test_a_name_is_one_that_every_system_takes(text: str, name: str) -> None:
    assert make_note_name(text) == name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![x](http://a.b/c.png)", "\\![x](http://a.b/c.png)"),
        ("![[note]]", "\\![[note]]"),
        ("<img src=x onerror=y>", "\\<img src=x onerror=y>"),
        ("</div><!-- -->", "\\</div>\\<!-- -->"),
        ("```dataviewjs\ndv.io\n```", "\\`\\`\\`dataviewjs\ndv.io\n\\`\\`\\`"),
        ("`$= app.vault`", "\\`$= app.vault\\`"),
        ("~~~js", "\\~\\~~js"),
        ("<% tp.file %>", "\\<% tp.file %>"),
        ("%%hidden%%", "\\%%hidden\\%%"),
        ("5 < 6, 80 %, ~3 kg!", "5 < 6, 80 %, ~3 kg!"),
    ],
)
def test_a_text_loads_and_runs_nothing(text: str, shown: str) -> None:
    assert escape_active(text) == shown


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@settings(max_examples=count_examples(60))
@given(texts=st.lists(TEXTS, min_size=1, max_size=6), entities=st.lists(TEXTS, max_size=4), sessions=st.data())
def test_every_link_leads_to_a_note_and_no_two_notes_share_a_path(
    texts: list[str], entities: list[str], sessions: st.DataObject
) -> None:
    found, mentions = [], {}
    for number, text in enumerate(texts):
        session = sessions.draw(st.sampled_from(["a", "b", ""]))
        one = message(number, text, session=session) if session else fact(number, text)
        found.append(one)
        mentions[one.id] = list(dict.fromkeys((name, "person") for name in entities))
    keys: dict[EntityKey, list[str]] = {("x", "person"): ["y"]}
    packed = pack_notes(found, MemoryLinks(mentions, {found[-1].id: [found[0].id]}, keys, {}))
    notes = unpack(packed)
    assert len({name.casefold() for name in notes}) == len(notes)
    for name, text in notes.items():
        assert not re.search(r'[\\:*?"<>|#^\[\]]', name)
        assert ".." not in name.split("/")
        assert all(part == part.strip(" .") and part for part in name.split("/"))
        # What Loci wrote, not what a memory says: links of its own stand in lines of its own.
        for line in text.splitlines():
            if line.startswith(("Mentions: [[", "From: [[", "- [[")):
                for path, block, _ in _LINK.findall(line):
                    assert path in notes
                    assert not block or f"^{block}" in notes[path]
    assert pack_notes(found, MemoryLinks(mentions, {found[-1].id: [found[0].id]}, keys, {})) == packed


def test_the_socket_takes_every_format_there_is() -> None:
    assert get_args(ExportParams.model_fields["format"].annotation) == tuple(EXPORT_ENDINGS)


def test_a_front_matter_holds_any_value_on_its_line() -> None:
    one = fact(1, "x", author='a"b\n---\nc: d', tags=["two words", "2024", "#", "a/b"])
    (text,) = (text for name, text in unpack(pack_notes([one], NOBODY)).items() if name.startswith("Memories/"))
    head = text.split("\n---\n")[0]
    assert 'author: "a\\"b\\n---\\nc: d"' in head
    assert 'tags: ["two-words", "t2024", "a/b"]' in head
