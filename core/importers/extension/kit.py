"""The test kit of an importer: hostile variants of a fixture, and what an importer does wrong at any of them.

A maker's test is one line: `assert list_faults(MyImporter(), Path("fixture")) == []`. Loci's own importers are tested
with it. Must not do: touch the disk beyond reading the fixture, or go by the clock.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from core.errors import Code, UserError
from core.importers.input.archive import SourceFile
from core.importers.input.source import Bundle, open_bundle
from core.importers.records import Importer, Item, Record, SkippedPart, UnreadablePart
from core.types.values import Source

_REFUSALS = (Code.IMPORT_REFUSED, Code.IMPORT_CHANGED)
_LONG = 1 << 20
_TELLING = 12  # letters of a word of a text that has no business in a message
_ANSWERS = ("detects: yes", "detects: no")
_HOSTILE_NAMES = ("\u202egpj.exe", "a\nb", "x" * 240, "🧿", "-rf", "CON", "%s%n", "<b>")


@dataclass(frozen=True, slots=True)
class Variant:
    """A fixture made worse.

    Attributes:
        name: what was done to it.
        bundle: what an importer gets; it never touches the disk.
    """

    name: str
    bundle: Bundle


def list_variants(path: Path, seed: int = 0) -> list[Variant]:
    """Every variant of a fixture, the fixture itself first.

    Args:
        path: a file, a folder or a zip.
        seed: of what is done by chance.
    """
    with open_bundle(path) as bundle:
        kind, files = bundle.kind, {file.name: _read(file) for file in bundle.files}
    changes = dict(_list_changes(random.Random(seed)))  # noqa: S311 - not for secrets
    found = [Variant("as it is", make_bundle(files, kind))]
    for name, change in changes.items():
        found.append(Variant(name, make_bundle({file: change(data) for file, data in files.items()}, kind)))
    nested = {f"outer/{file}": data for file, data in files.items()}
    found.append(Variant("nested", make_bundle(nested, "folder" if kind == "file" else kind)))
    for number, hostile in enumerate(_HOSTILE_NAMES):
        named = {_renamed(file, hostile): data for file, data in files.items()}
        found.append(Variant(f"hostile name {number}", make_bundle(named, kind)))
    missing = dict(list(files.items())[1:])
    return [*found, Variant("first file missing", make_bundle(missing, kind))] if missing else found


def _read(file: SourceFile) -> bytes:
    with file.open() as stream:
        return stream.read()


def _renamed(name: str, hostile: str) -> str:
    folder, mark, own = name.rpartition("/")
    stem, dot, ending = own.rpartition(".")
    return f"{folder}{mark}{hostile}{dot}{ending}" if stem else f"{folder}{mark}{hostile}"


def make_bundle(files: Mapping[str, bytes], kind: str = "file") -> Bundle:
    """A bundle in memory.

    Args:
        files: content by name.
        kind: `file`, `folder` or `zip`.
    """

    def opener(data: bytes) -> Callable[[], BinaryIO]:
        return lambda: io.BytesIO(data)

    sources = tuple(
        SourceFile(name, len(data), None, opener(data), open_seekable=opener(data))
        for name, data in sorted(files.items())
    )
    return Bundle(sources[0].path.name if sources else "nothing", kind, sources, (), "0")


def _list_changes(dice: random.Random) -> Iterator[tuple[str, Callable[[bytes], bytes]]]:
    yield "cut at a quarter", lambda data: data[: len(data) // 4]
    yield "cut in the middle", lambda data: data[: len(data) // 2]
    yield "cut at three quarters", lambda data: data[: len(data) * 3 // 4]
    yield "one byte short", lambda data: data[:-1]
    yield "empty", lambda _data: b""
    yield "lines shuffled", lambda data: _shuffled(data, dice)
    yield "every line twice", lambda data: b"".join(line + line for line in data.splitlines(keepends=True))
    yield "a long line behind it", lambda data: data + b"\n" + b"x" * _LONG
    yield "a long line before it", lambda data: b"x" * _LONG + b"\n" + data
    yield "brackets before it", lambda data: b"[" * 5_000 + data
    yield "as UTF-16", lambda data: data.decode("utf-8", "replace").encode("utf-16")
    yield "as Windows-1252", lambda data: data.decode("utf-8", "replace").encode("cp1252", "replace")
    yield "with bytes that are no text", lambda data: _sown(data, dice, b"\xff\xfe\x80")
    yield "with NUL", lambda data: _sown(data, dice, b"\x00")
    yield "with half characters", lambda data: _sown(data, dice, b"\xed\xa0\x80")
    yield "with words of formats", lambda data: _sown(data, dice, b'"}]</w:t>\n=====\n')


def _shuffled(data: bytes, dice: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    dice.shuffle(lines)
    return b"".join(lines)


def _sown(data: bytes, dice: random.Random, noise: bytes) -> bytes:
    for at in sorted((dice.randrange(len(data) + 1) for _ in range(8)), reverse=True):
        data = data[:at] + noise + data[at:]
    return data


def list_faults(importer: Importer, path: Path, seed: int = 0) -> list[str]:
    """What an importer does wrong at a fixture and its variants, in sentences.

    Args:
        importer: the importer.
        path: a fixture in its format, with at least one record in it.
        seed: of what is done by chance.

    Returns:
        Nothing where all is well.
    """
    plain, *others = list_variants(path, seed)
    items, _ = _read_all(importer, plain.bundle)
    texts = [item.text for item in items if isinstance(item, Record)]
    faults = [] if texts else ["as it is: no record comes of it"]
    if _ask(importer, plain.bundle) != _ANSWERS[0]:
        faults.append("as it is: the importer does not recognise its own fixture")
    words = frozenset(word for text in texts for word in text.split() if len(word) >= _TELLING and word.isalpha())
    for variant in (plain, *others):
        faults += [f"{variant.name}: {fault}" for fault in _check_variant(importer, variant.bundle, words)]
    return faults


def _check_variant(importer: Importer, bundle: Bundle, words: frozenset[str]) -> Iterator[str]:
    if (answer := _ask(importer, bundle)) not in _ANSWERS:
        yield answer
    first, second = _read_all(importer, bundle), _read_all(importer, bundle)
    if first != second:
        yield "reading it again gives something else"
    items, refusal = first
    if refusal.startswith("!"):
        yield f"read raises {refusal[1:]}"
    messages = [item.message for item in items if isinstance(item, UnreadablePart)]
    if any(word in message for message in (refusal, *messages) for word in words):
        yield "a message tells words of a text"
    for item in items:
        yield from _check_item(item)


def _ask(importer: Importer, bundle: Bundle) -> str:
    """Whether an importer knows a bundle for its own; else what is wrong with its answer."""
    try:
        answer: object = importer.detects(bundle)
    except Exception as error:  # noqa: BLE001 - what the kit is for
        return f"detects raises {type(error).__name__}"
    if answer is True:
        return _ANSWERS[0]
    return _ANSWERS[1] if answer is False else "detects answers something that is neither yes nor no"


def _read_all(importer: Importer, bundle: Bundle) -> tuple[list[Item], str]:
    """Everything it yields, and how it ended: the sentence of a refusal, or `!` and what it should not raise."""
    items: list[Item] = []
    try:
        items += importer.read(bundle)
    except UserError as error:
        return items, error.sentence if error.code in _REFUSALS else f"!{error.code.name}"
    except Exception as error:  # noqa: BLE001 - what the kit is for
        return items, f"!{type(error).__name__}"
    return items, ""


def _check_item(item: Item) -> Iterator[str]:
    if not isinstance(item, Record):
        if type(item) not in (SkippedPart, UnreadablePart):
            yield f"it yields a {type(item).__name__}, which is no item"
        return
    try:
        f"{item.text}{item.identity}{item.where}{item.author}{item.tags}".encode()
        json.dumps(dict(item.extra), ensure_ascii=False).encode()
    except (UnicodeError, TypeError, ValueError) as error:
        yield f"a record cannot be stored ({type(error).__name__})"
    if not item.identity:
        yield "a record has no identity"
    if item.source is Source.USER_EXPLICIT:
        yield "a record claims to be the person's explicit word"
