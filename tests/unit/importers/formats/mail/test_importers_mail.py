"""Mail: separators, heads in every charset, words without quotations and signatures, and messages made to hurt."""

from __future__ import annotations

import base64
import io
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import items_of, memory_bundle, reasons, records, troubles

from core.importers.formats.mail import mailbox
from core.importers.formats.mail.mail import MailImporter
from core.importers.formats.mail.reply import cut_reply
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import open_pieces
from core.importers.records import Record
from core.types.values import Role, Source

MAIL = MailImporter()
HEAD = "From: Bo Vik <bo@x.org>\nTo: me@x.org\nDate: Tue, 5 Mar 2024 09:15:00 +0100\nMessage-ID: <a@x>\n"


def eml(body: str | bytes = "words", head: str = "Subject: Re: s\n") -> list[Any]:
    raw = (HEAD + head + "\n").encode() + (body if isinstance(body, bytes) else body.encode())
    return items_of(MAIL, {"a.eml": raw})


def only(items: list[Any]) -> Record:
    (record,) = records(items)
    return record


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("=?utf-8?B?w4VzZQ==?= <a@x>", "Åse"),
        ("=?ISO-8859-1?Q?=C5se?=\r\n =?utf-8?q?_Vik?= <a@x>", "Åse Vik"),
        ('"Vik, Åse" <a@x>', "Vik, Åse"),
        ("a@x", "a@x"),
        ("=?nonsense?B?w4VzZQ==?= <a@x>", "Åse"),
        ("=?utf-8?B?!!!?= <a@x>", None),
        ("", None),
    ],
)
def test_names_are_read_in_every_charset(written: str, name: str | None) -> None:
    raw = f"From: {written}\nDate: Tue, 5 Mar 2024 09:15:00 +0100\nSubject: s\nMessage-ID: <a@x>\n\nwords"
    record = only(items_of(MAIL, {"a.eml": raw}))
    assert name is None or record.author == name
    assert record.text == "s\n\nwords"


@pytest.mark.parametrize(
    ("head", "body", "want", "flags"),
    [
        ("Content-Type: text/plain; charset=utf-8\n", "smørbrød".encode(), "smørbrød", ()),
        ("Content-Type: text/plain; charset=iso-8859-1\n", "smørbrød".encode("latin-1"), "smørbrød", ()),
        ("Content-Type: text/plain\n", "smørbrød".encode(), "smørbrød", ()),
        ("Content-Type: text/plain; charset=us-ascii\n", "smørbrød".encode(), "smørbrød", ("encoding_guessed",)),
        ("Content-Type: text/plain; charset=idna\n", b"plain", "plain", ("encoding_guessed",)),
        ("Content-Type: text/plain; charset=no-such\n", "ø".encode("cp1252"), "ø", ("encoding_guessed",)),
        ("Content-Transfer-Encoding: base64\n", b"c20ga2Vw", "sm kep", ()),
        ("Content-Transfer-Encoding: quoted-printable\n", b"a =3D b=\n c", "a = b c", ()),
    ],
)
def test_words_are_read_in_every_encoding(head: str, body: bytes, want: str, flags: tuple[str, ...]) -> None:
    record = only(eml(body, "Subject: Re: s\n" + head))
    assert (record.text, record.flags) == (want, flags)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("yes\n\nOn Tue, 5 Mar 2024, Bo wrote:\n> no\n> more\n", "yes"),
        ("yes\n\nAm 05.03.24 um 09:15 schrieb Bo Vik:\n> no\n", "yes"),
        ("yes\n\nLe mar. 5 mars 2024 à 09:15, Bo <b@x> a écrit :\n> no\n", "yes"),
        ("yes\n\nBo wrote:\n> no\n", "yes"),
        ("> question one\nanswer one\n> question two\nanswer two", "answer one\nanswer two"),
        ("yes\n-- \nBo Vik\n+47 1", "yes"),
        ("yes\n\nSent from my iPhone", "yes"),
        ("yes\n\n-----Original Message-----\nFrom: Bo\nSent: Tuesday\nTo: me\n\nno", "yes"),
        ("yes\n\nFrom: Bo\nSent: Tuesday\nTo: me\nSubject: s\n\nno", "yes"),
        ("ja\n\n________________________________\nVon: Bo\nGesendet: Dienstag\n\nnein", "ja"),
        ("On balance I agree:\nit is good", "On balance I agree:\nit is good"),
        ("From: here to there\nis far", "From: here to there\nis far"),
        ("a -- b\nc", "a -- b\nc"),
        ("To: buy\nDate: tomorrow\nbread", "To: buy\nDate: tomorrow\nbread"),
        ("> all of it\n> quoted", ""),
        ("a\r\n\r\n\r\n\r\nb\r\n", "a\n\nb"),
    ],
)
def test_quotations_and_signatures_are_cut_and_nothing_else(text: str, want: str) -> None:
    assert cut_reply(text) == want


def test_what_is_passed_on_stays() -> None:
    text = "For you.\n\n---------- Forwarded message ---------\nFrom: Bo\n\n> kept\nFrom: x\nSent: y\nTo: z\n\nkept too"
    assert cut_reply(text, is_forwarded=True) == text


@given(st.lists(st.text("abc øé.,", min_size=1, max_size=20).filter(str.strip), min_size=1, max_size=6))
def test_plain_lines_are_never_cut(lines: list[str]) -> None:
    text = "\n".join("x" + line for line in lines)
    assert cut_reply(text) == text


def box(*messages: bytes, separator: bytes = b"From a@x Tue Mar  5 08:15:00 2024\n") -> bytes:
    return b"".join(separator + one + b"\n" for one in messages)


def simple(number: int, body: bytes = b"words") -> bytes:
    return f"Message-ID: <{number}@x>\nFrom: b@x\nDate: Tue, 5 Mar 2024 09:15:00 +0100\n\n".encode() + body + b"\n"


def test_a_line_of_a_text_is_no_separator() -> None:
    body = b"one\n\nFrom the harbour we left at 9:15 and\n>From here\n"
    first, second = records(items_of(MAIL, {"m": box(simple(1, body), simple(2))}))
    assert first.text == "one\n\nFrom the harbour we left at 9:15 and\nFrom here"
    assert second.text == "words"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("ab\n :F", max_size=30), min_size=1, max_size=6), st.integers(1, 60))
def test_a_mailbox_gives_each_message_wherever_pieces_end(bodies: list[str], size: int) -> None:
    raw = box(*(simple(n, b"x" + body.encode()) for n, body in enumerate(bodies)))
    before, mailbox._CHUNK = mailbox._CHUNK, size
    try:
        found = [
            content for content, _ in mailbox._split_mbox(SourceFile("m", len(raw), None, lambda: io.BytesIO(raw)))
        ]
    finally:
        mailbox._CHUNK = before
    assert [one.split(b"\n\n", 1)[1].rstrip(b"\n") for one in found] == [
        (b"x" + body.encode()).rstrip(b"\n") for body in bodies
    ]


def test_a_huge_mailbox_passes_through_in_pieces() -> None:
    """Two messages of 60 MB and a thousand small ones; what is held stays far below one of the large ones."""
    attached = b"A" * 75 + b"\n"

    def pieces() -> Iterator[bytes]:
        for number in range(1_002):
            yield b"From a@x Tue Mar  5 08:15:00 2024\n" + simple(number)[:-6]
            if number % 500 == 1 and number < 900:
                for _ in range(800):
                    yield attached * 1_000
            yield b"words\n\n"

    file = SourceFile("m.mbox", 1 << 32, None, lambda: open_pieces(pieces()))
    tracemalloc.start()
    try:
        stored = sum(isinstance(item, Record) for item in MAIL.read(Bundle("m", "file", (file,), (), "0")))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert stored == 1_002
    assert peak < 100 << 20


@pytest.mark.parametrize(
    "raw",
    [
        HEAD + "".join(f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in range(400)),
        HEAD + 'Content-Type: multipart/mixed; boundary=""\n\n--\n--\n',
        HEAD + "Content-Type: text/plain; charset*0*=x''%FF\n\nwords",
        HEAD + "Content-Type: ;;;=\n\nwords",
        HEAD + "Content-Transfer-Encoding: uuencode\n\nbegin 644\nzzz",
        HEAD + "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: image/png\n\nx\n--b--",
    ],
)
def test_broken_messages_are_read_or_told(raw: str) -> None:
    items = items_of(MAIL, {"a.eml": raw})
    assert len(records(items)) + len(troubles(items)) + sum(reasons(items).values()) >= 1
    assert all(trouble.reason == "bad_message" for trouble in troubles(items))


@pytest.mark.parametrize("kind", ["text/plain; charset=utf-8", "application/pdf", "TEXT/HTML"])
def test_long_base64_is_words_only_where_it_is_a_text(kind: str) -> None:
    words = "\n".join(f"line {number} of a long text" for number in range(900))
    packed = base64.encodebytes(words.encode()).decode()
    part = f"Content-Type: {kind}\nContent-Transfer-Encoding: base64\n\n{packed}"
    plain = "--b\nContent-Type: text/plain\n\nplain\n"
    record = only(eml(f"{plain}--b\n{part}\n--b--\n", 'Subject: Re: s\nContent-Type: multipart/mixed; boundary="b"\n'))
    assert record.text.startswith("plain")
    assert ("line 899 of a long text" in record.text) == kind.lower().startswith("text")
    assert record.extra.get("attachments") == (None if kind.lower().startswith("text") else ["application/pdf"])


def test_the_person_is_known_by_folder_label_and_address() -> None:
    sent = items_of(MAIL, {"Sent/a.eml": HEAD + "\nwords", "b.eml": HEAD.replace("a@x", "b@x") + "\nwords"}, "folder")
    assert [r.role for r in records(sent)] == [Role.USER, Role.OTHER]
    own = HEAD.replace("bo@x.org", "ME@x.org") + "Delivered-To: me@x.org\n\nwords"
    assert only(items_of(MAIL, {"a.eml": own})).source is Source.USER_IMPLICIT


def test_what_a_program_sends_to_many_is_a_document() -> None:
    record = only(eml(head="Subject: News\nList-Unsubscribe: <x>\n"))
    assert (record.role, record.conversation, record.extra["title"]) == (Role.SOURCE, None, "News")
    listed = only(eml(head="Subject: Re: News\nList-Unsubscribe: <x>\nList-Post: <y>\n"))
    assert listed.role is Role.OTHER


@pytest.mark.parametrize(
    "text",
    ["", "words", "From: Bo\n\nwords", "# Note\n\nFrom: a\nTo: b", "a: b\nc: d\ne: f\n\ng", '{"from": 1, "to": 2}'],
)
def test_other_texts_are_left_to_others(text: str) -> None:
    assert not MAIL.detects(memory_bundle({"a.txt": text, "b.eml": text}, "folder"))
    assert not MAIL.detects(memory_bundle({"a": text}))
