"""The messages of a mailbox as bytes: an mbox cut at its separators, a Maildir, single files of two kinds.

A mailbox of gigabytes passes through in pieces; of a message that is too long for any words the beginning is kept. Must
not do: hold more than one message, or take a line of a text for a separator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import PurePosixPath

from core.importers.input.source import SourceFile
from core.importers.input.streams import read_head

LONGEST = 8 << 20
"""Bytes of one message that are read; its words come before what is attached."""

_CHUNK = 1 << 20
_OVERLAP = 1_024
_SEPARATOR = re.compile(rb"\nFrom [^\r\n]{1,500}\d{1,2}:\d{2}[^\r\n]{0,200}\r?\n(?=[!-9;-~]{1,80}:[ \t\r\n])")
_HEADER = re.compile(rb"([!-9;-~]{1,80}):(?:[ \t]|\r?\n[ \t])")
_KNOWN = frozenset(
    {b"from", b"to", b"date", b"subject", b"message-id", b"received", b"return-path", b"mime-version", b"delivered-to"}
    | {b"content-type", b"sender", b"reply-to", b"dkim-signature", b"x-gmail-labels", b"x-gm-thrid", b"cc"}
)
_KNOWN_FIELDS = 3
_APPLE = re.compile(rb"\s*(\d{1,10})\s*\r?\n")
_MAILDIR = ("cur", "new")
_FLAGS = re.compile(r"[:;!]2,([A-Za-z]*)$")


@dataclass(frozen=True, slots=True)
class RawMail:
    """One message as it lies in its file.

    Attributes:
        content: its bytes, at most `LONGEST`.
        where: file and number.
        folder: what its mailbox is called, in small letters.
        flags: the letters that a Maildir puts behind the name of a file.
        is_cut: whether its end was left out.
    """

    content: bytes
    where: str
    folder: str
    flags: str = ""
    is_cut: bool = False


def mail_kind(file: SourceFile) -> str | None:
    """What a file holds: `mbox`, `apple` (a message behind its length) or `message`; None for no mail."""
    start = read_head(file, 16_384)
    if _SEPARATOR.match(b"\n" + start):
        return "mbox"
    if _has_known_head(start):
        return "message"
    behind = _APPLE.match(start)
    return "apple" if behind is not None and _has_known_head(start[behind.end() :]) else None


def _has_known_head(start: bytes) -> bool:
    """Whether bytes begin with a mail's head: nothing but fields before the first empty line, three of them known."""
    known: set[bytes] = set()
    for line in start.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:200]:
        if not line.strip():
            break
        found = _HEADER.match(line + b"\n ")
        if found is None and line[:1] not in (b" ", b"\t"):
            return False
        if found is not None:
            known.add(found[1].lower())
    return len(known & _KNOWN) >= _KNOWN_FIELDS


def read_mails(file: SourceFile, kind: str) -> Iterator[RawMail]:
    """The messages of a file in order.

    Args:
        kind: as `mail_kind` told it.
    """
    folder = folder_of(file.path)
    if kind == "mbox":
        for number, (content, is_cut) in enumerate(_split_mbox(file), 1):
            yield RawMail(content, f"{file.name}:{number}", folder, "", is_cut)
        return
    with closing(file.open()) as stream:
        content = stream.read(LONGEST)
    if kind == "apple" and (behind := _APPLE.match(content)) is not None:
        content = content[behind.end() : behind.end() + int(behind[1])]
    found = _FLAGS.search(file.name)
    yield RawMail(content, file.name, folder, found[1] if found else "", file.size > LONGEST)


def folder_of(path: PurePosixPath) -> str:
    """What a mailbox is called: its file's name, or the folder around a Maildir, or around single messages."""
    parent = path.parent
    if parent.name in _MAILDIR or path.suffix.lower() in (".eml", ".emlx"):
        parent = parent.parent if parent.name in (*_MAILDIR, "Messages") else parent
        return parent.name.removesuffix(".mbox").strip(".").rpartition(".")[2].casefold()
    return path.name.removesuffix(".mbox").casefold()


def _split_mbox(file: SourceFile) -> Iterator[tuple[bytes, bool]]:
    """Each message without its separator, and whether its end was left out."""
    head, window, length = bytearray(), bytearray(), 0
    with closing(file.open()) as stream:
        window += stream.read(_CHUNK)
        if (first := _SEPARATOR.match(b"\n" + window)) is not None:
            del window[: first.end() - 1]
        while True:
            while (found := _SEPARATOR.search(window)) is not None:
                yield bytes(head + window[: min(found.start(), LONGEST - len(head))]), length + found.start() > LONGEST
                del window[: found.end()]
                head, length = bytearray(), 0
            chunk = stream.read(_CHUNK)
            # What can no longer be part of a separator belongs to the message.
            done = len(window) if not chunk else max(0, len(window) - _OVERLAP)
            head += window[: min(done, LONGEST - len(head))]
            length += done
            del window[:done]
            if not chunk:
                break
            window += chunk
    yield bytes(head), length > LONGEST
