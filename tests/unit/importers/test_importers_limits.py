"""The limits on records of importers: inline pictures, the bytes of a text and of a field, the length of a title."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importer_checks import memory_bundle

from core.importers.dry_run import FIELD_BYTES, LABEL_CHARACTERS, TEXT_BYTES, import_items, replace_pictures
from core.importers.input.source import Bundle
from core.importers.records import Conversation, Item, Record, SkippedPart
from core.types.values import Role


class Fixed:
    """An importer that gives what it was told to."""

    format = "fixed"

    def __init__(self, *items: Item) -> None:
        self._items = items

    def detects(self, bundle: Bundle) -> bool:
        return bool(bundle.files)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        yield from self._items


def read(record: Record) -> list[Item]:
    return list(import_items(memory_bundle({"a": "x"}), Fixed(record)))


def kept(items: list[Item]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def note(text: str, **more: object) -> Record:
    return replace(Record(identity="note:a:1", text=text, where="a"), **more)  # type: ignore[arg-type]


def photo(size: int, magic: bytes = b"\x89PNG\r\n\x1a\n", seed: int = 1) -> str:
    return base64.b64encode(magic + random.Random(seed).randbytes(size)).decode()


def wrapped(text: str, width: int) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


PICTURES = {
    "markdown": (f"![The harbour](data:image/png;base64,{photo(5000)})", "The harbour [picture]"),
    "markdown without words": (f"![](data:image/png;base64,{photo(300)})", "[picture]"),
    "markdown in pointed brackets": (f'![Pier](<data:image/webp;base64,{photo(300)}> "At noon")', "Pier [picture]"),
    "html": (f'<img alt="Old town" src="data:image/jpeg;base64,{photo(900)}" width="3">', "Old town [picture]"),
    "html, wrapped": (f'<img src="data:image/jpeg;base64,{wrapped(photo(900), 76)}">', "[picture]"),
    "css": (f"url(data:image/gif;base64,{photo(90)})", "url([picture])"),
    "reference": (f"[image1]: data:image/png;charset=x;base64,{photo(90)}", "[image1]: [picture]"),
    "svg as text": (
        "data:image/svg+xml;utf8,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22%3E%3C/svg%3E",
        "[picture]",
    ),
    "bare run of a known format": (photo(900), "[picture]"),
    "bare run, wrapped": (wrapped(photo(1500, b"\xff\xd8\xff\xe0"), 64), "[picture]"),
    "bare run of no known format": (photo(6000, b""), "[picture]"),
    "without quotation marks": (f"<img src={photo(900)}>", "[picture]"),
    "behind a name": (f"image={photo(900)}", "image=[picture]"),
    "url-safe": (photo(9000, b"").replace("+", "-").replace("/", "_"), "[picture]"),
    "quoted lines": (wrapped(photo(1500), 76).replace("\n", "\n> "), "[picture]"),
    "indented lines": (wrapped(photo(1500), 100).replace("\n", "\n    "), "[picture]"),
    "lines of 57": (wrapped(photo(1500), 57), "[picture]"),
    "svg as markup": ('data:image/svg+xml,<svg width="3"><path d="M0 0 L 3 3"/></svg>', "[picture]"),
    "json in json": (f"data:image\\/png;base64,{photo(900)}".replace("/9", "\\/9"), "[picture]"),
    "heic": (photo(2500, b"\0\0\0\x18ftypheic"), "[picture]"),
    "zip": (photo(2500, b"PK\3\4"), "[attachment]"),
    "another file": (f"data:application/pdf;base64,{photo(500, b'%PDF-1.7')}", "[attachment]"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_inline_pictures_leave_a_word_in_their_place(name: str) -> None:
    written, told = PICTURES[name]
    items = read(note(f"We went to Bergen.\n\n{written}\n\nIt rained."))
    assert [record.text for record in kept(items)] == [f"We went to Bergen.\n\n{told}\n\nIt rained."]
    assert [item for item in items if isinstance(item, SkippedPart)] == [SkippedPart("inline_picture", "a", 1)]


ORDINARY = (
    "data:image/png;base64,… is how an inline picture begins",
    "ssh-rsa " + photo(400, b"\0\0\0\7ssh-rsa") + " me@laptop",
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n"
    + wrapped(photo(5000, b"\x99"), 64)
    + "\n-----END PGP PUBLIC KEY BLOCK-----",
    "ACGT" * 3000,
    "a" * 9000,
    "0123456789abcdef" * 600,
    "Donaudampfschifffahrtsgesellschaft" * 200,
    "https://example.org/" + "/".join(["Path1"] * 2000),
    "\n".join(base64.urlsafe_b64encode(random.Random(n).randbytes(32)).decode().rstrip("=") for n in range(120)),
    "data:image/svg+xml,<svg and so on, which never ends",
    "eyJhbGciOiJIUzI1NiJ9." + photo(300, b'{"sub"') + "." + photo(32, b""),
)


@pytest.mark.parametrize("text", ORDINARY, ids=range(len(ORDINARY)))
def test_texts_that_are_no_pictures_stay_as_they_are(text: str) -> None:
    assert read(note(text)) == [note(text)]


def test_a_text_of_pictures_alone_is_left_out() -> None:
    one = f"![](data:image/png;base64,{photo(300)})"
    assert read(note(f"{one}\n\n{one}\n")) == [SkippedPart("inline_picture", "a", 2)]


def test_pictures_in_fields_are_replaced_too() -> None:
    extra = {"fields": {"icon": f"data:image/png;base64,{photo(300)}", "sizes": [1, photo(2000)], "alt": "a boat"}}
    (record,) = kept(read(note("A boat.", extra=extra)))
    assert record.extra == {"fields": {"icon": "[picture]", "sizes": [1, "[picture]"], "alt": "a boat"}}


@given(st.text(alphabet="abcZ+/=019 \n![]()<>\"'data:image/png;base64,", max_size=300), st.integers(0, 3))
def test_replacing_twice_changes_nothing_more(text: str, pictures: int) -> None:
    inline = f" ![x](data:image/png;base64,{photo(200)}) "
    once, count = replace_pictures(inline.join([text] * (pictures + 1)))
    assert count >= pictures
    assert replace_pictures(once) == (once, 0)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["A long walk by the sea. ", "ö", "🜁", "x"])
def test_a_long_text_comes_in_several_records_that_join_to_it(unit: str) -> None:
    text = unit * (2 * TEXT_BYTES // len(unit.encode()) + 1000)
    talk = Conversation("c")
    records = kept(read(note(text, conversation=talk, position=4)))
    assert "".join(record.text for record in records) == text
    assert all(len(record.text.encode()) <= TEXT_BYTES for record in records)
    assert len({record.identity for record in records}) == len(records) > 2
    assert records[0].identity == "note:a:1"
    assert {record.position for record in records} == {4}
    assert all("divided" in record.flags for record in records)


def test_a_text_within_the_limit_is_the_same_record() -> None:
    whole = note("x" * TEXT_BYTES)
    assert kept(read(whole)) == [whole]
    assert kept(read(whole))[0] is not None


def test_a_field_that_is_too_long_is_cut_and_told() -> None:
    items = read(note("Tea.", extra={"fields": {"log": "é" * FIELD_BYTES}}))
    (record,) = kept(items)
    assert record.extra["fields"]["log"] == "é" * (FIELD_BYTES // 2)
    assert "field_cut" in record.flags
    assert SkippedPart("long_field", "a", 1) in items


def test_titles_and_authors_are_cut() -> None:
    long = "t" * (LABEL_CHARACTERS + 1)
    items = read(note("Tea.", author=long, role=Role.OTHER, conversation=Conversation("c", title=long)))
    (record,) = kept(items)
    assert record.author == record.conversation.title == long[:LABEL_CHARACTERS]  # type: ignore[union-attr]
    assert SkippedPart("long_field", "a", 2) in items


def test_every_word_of_a_row_is_cut_and_told() -> None:
    long = "x" * (LABEL_CHARACTERS + 5)
    key = "jsonl:" + "y" * 20_000
    row = note("short", category=long, ref=long, session=long, tags=("a", long), conversation=Conversation(key=key))
    record, skip = read(replace(row, identity=key))
    assert isinstance(record, Record)
    assert record.conversation is not None
    longest = max(map(len, (record.category, record.ref or "", record.session or "", *record.tags)))
    assert longest == LABEL_CHARACTERS
    assert max(len(record.identity), len(record.conversation.key)) < 2 * LABEL_CHARACTERS
    assert skip == SkippedPart("long_field", "a", 4)
    (other, _) = read(replace(row, identity=key + "z"))
    assert isinstance(other, Record)
    assert other.identity != record.identity


@pytest.mark.slow
def test_runs_are_found_in_one_pass_over_hostile_text() -> None:
    # Runs that are nearly long enough, wrapped lines that nearly match: none may be read again from each character.
    near = ("A" * 4_000 + "b1 ") * 50 + ("Ab1" * 21 + "\n") * 2_500
    text, _ = replace_pictures(near)
    assert len(text) <= len(near)
