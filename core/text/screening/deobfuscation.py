"""Takes a text out of its disguises: unseen characters, letters of other scripts, spaced or digit letters, encodings.

What comes out is read by the injection scan beside the text itself; that there was a disguise is a sign of its own.
Must not do: change a text that is stored or shown.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from urllib.parse import unquote

from core.text.fold import fold_width
from core.text.screening.rule_matcher import fold_words, list_keywords

_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")
_FLAGS = re.compile("\U0001f3f4[\U000e0020-\U000e007f]{1,16}")  # flags of regions are written in tags
_INSIDE = re.compile("(?<=[A-Za-z])[\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff]+(?=[A-Za-z])")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_TURNERS = re.compile("[\u202d\u202e]")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}(?:[ \t]?\r?\n[A-Za-z0-9+/_-]{16,}={0,2})*")
_HEX = re.compile(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ ,:]?){12,}")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}){3,}|(?:[A-Za-z]{1,12}%20){2,}")
_ENTITIES = re.compile(r"(?:&#x?[0-9A-Fa-f]{2,6};){3,}")
_ESCAPES = re.compile(r"(?:\\u[0-9A-Fa-f]{4}){3,}")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
_BITS = re.compile(r"(?:[01]{8}[ ,]?){8,}")
_SINGLE = re.compile(r"(?<![^\W_])(?:[^\W_][ .\-_*|/]{1,2}){5,}[^\W_](?![^\W_])")
_RUN = re.compile(r"[A-Za-z0-9@$!|]+")
_LEET = re.compile(r"[A-Za-z][013457@$][A-Za-z]|[013457@$][A-Za-z]{2}")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[a-z]", re.IGNORECASE)
_TAGGED = 8  # hidden letters that are no accident
_MOST_RUNS = 24
_MOST_DEPTH = 3
_TURNED_WORDS = 3


@dataclass(frozen=True, slots=True)
class Deobfuscated:
    """A text without one of its disguises.

    Attributes:
        text: in plain characters (NFKC), unseen ones gone.
        signs: (name, weight) of the disguises it was found under.
    """

    text: str
    signs: tuple[tuple[str, float], ...] = ()


@cache
def _tables() -> tuple[dict[str, str], dict[int, str], dict[str, float]]:
    folder = files("resources") / "injection"
    letters = json.loads((folder / "confusables.json").read_text("utf-8"))
    veils = json.loads((folder / "rules.json").read_text("utf-8"))["veils"]
    return dict(letters["letters"]), str.maketrans(letters["leet"]), {name: float(one) for name, one in veils.items()}


def deobfuscate(text: str) -> list[Deobfuscated]:
    """A text and what is hidden in it.

    Returns:
        The text in plain characters first, then what was decoded out of it; at most a few dozen.
    """
    plain, signs = _plain(text)
    layers = [Deobfuscated(plain, signs)]
    hidden = "".join(chr(ord(sign) - 0xE0000) for run in _TAGS.findall(_FLAGS.sub("", text)) for sign in run)
    if len(hidden) >= _TAGGED:
        layers.append(Deobfuscated(fold_width(hidden), _signed("tags")))
    layers += _drawn_together(plain)
    layers += _decoded(text if len(text) < len(plain) * 2 else plain, 1)
    layers += _turned(plain)
    return layers + _unescaped(plain)


def _signed(*names: str) -> tuple[tuple[str, float], ...]:
    weights = _tables()[2]
    return tuple((name, weights[name]) for name in names)


def _plain(text: str) -> tuple[str, tuple[tuple[str, float], ...]]:
    if text.isascii():
        return text, ()
    names = []
    if len(_INSIDE.findall(text)) > 1:
        names.append("invisible")
    if _TURNERS.search(text):
        names.append("direction")
    plain = fold_width(_UNSEEN.sub("", text))
    mapped = _in_latin(plain)
    if mapped != plain:
        names.append("mixed_letters")
    return mapped, _signed(*names)


def _in_latin(text: str) -> str:
    """Words that mix scripts, and foreign ones that look Latin within a Latin text, in Latin letters."""
    if text.isascii():
        return text
    table = _tables()[0]
    if not any(letter in table for letter in text.casefold()):
        return text
    latin = len(_LATIN.findall(text))
    mostly = latin * 2 > sum(character.isalpha() for character in text)

    def straight(match: re.Match[str]) -> str:
        word = match.group()
        small = word.casefold()
        if word.isascii() or not any(letter in table for letter in small):
            return word
        foreign = [letter for letter in small if not letter.isascii()]
        mixed = len(foreign) < len(small) or (mostly and len(small) > 1)
        return "".join(table.get(letter, letter) for letter in small) if mixed and mostly else word

    return _WORD.sub(straight, text)


def _drawn_together(text: str) -> list[Deobfuscated]:
    """Letters that stand apart, and words written with digits, as plain words."""
    layers = []
    runs = _SINGLE.findall(text)[:_MOST_RUNS]
    if runs:
        joined = " ".join(_segmented("".join(sign for sign in run.casefold() if sign.isalnum())) for run in runs)
        layers.append(Deobfuscated(joined + " " + _SINGLE.sub(" ", text), _signed("spaced")))
    leet = _tables()[1]
    mended = (
        _RUN.sub(lambda match: match.group().translate(leet) if _LEET.search(match.group()) else match.group(), text)
        if _LEET.search(text)
        else text
    )
    if mended != text and len(set(fold_words(mended)) & list_keywords()) > len(set(fold_words(text)) & list_keywords()):
        layers.append(Deobfuscated(mended, _signed("leet")))
    return layers


def _segmented(letters: str) -> str:
    """Words of the lists in a row of letters without blanks: the longest that fits, from the left."""
    known, found, at = list_keywords(), list[str](), 0
    while at < len(letters):
        size = next((size for size in range(min(16, len(letters) - at), 2, -1) if letters[at : at + size] in known), 0)
        if size:
            found.append(letters[at : at + size])
        at += size or 1
    return " ".join(found)


def _turned(text: str) -> list[Deobfuscated]:
    """A text written backwards or shifted by thirteen letters, where keywords say so."""
    words = {word for word in fold_words(text) if len(word) > 3 and word.isascii()}
    ways: tuple[Callable[[str], str], ...] = (lambda one: one[::-1], lambda one: codecs.encode(one, "rot13"))
    return [
        Deobfuscated(way(text), _signed("turned"))
        for way in ways
        if sum(way(word) in list_keywords() for word in words - list_keywords()) >= _TURNED_WORDS
    ]


def _decoded(text: str, depth: int) -> list[Deobfuscated]:
    found: list[Deobfuscated] = []
    for pattern, read, sign in _CODES:
        for run in pattern.findall(text)[:_MOST_RUNS]:
            plain = read(run)
            if plain is None or not _is_text(plain):
                continue
            found.append(Deobfuscated(_plain(plain)[0], _signed(sign)))
            if depth < _MOST_DEPTH and len(found) < _MOST_RUNS:
                found += [Deobfuscated(one.text, _signed(sign)) for one in _decoded(plain, depth + 1)]
    return found[:_MOST_RUNS]


def _is_text(text: str) -> bool:
    letters = sum(character.isalpha() or character in " .,:;!?'\"-\n" for character in text)
    return len(text) > 7 and letters > 0.85 * len(text)


def _base64(run: str) -> str | None:
    packed = "".join(run.split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    return _utf8(lambda: base64.b64decode(packed + "=" * (-len(packed) % 4)))


def _hex(run: str) -> str | None:
    digits = re.sub(r"0x|\\x|[ ,:]", "", run)
    return _utf8(lambda: bytes.fromhex(digits))


def _bits(run: str) -> str | None:
    digits = re.sub(r"[ ,]", "", run)
    return _utf8(lambda: bytes(int(digits[at : at + 8], 2) for at in range(0, len(digits) - 7, 8)))


def _utf8(read: Callable[[], bytes]) -> str | None:
    try:
        return read().decode("utf-8")
    except (ValueError, binascii.Error):  # it was no such encoding
        return None


def _unescaped(text: str) -> list[Deobfuscated]:
    """The whole text with the escapes of addresses, web pages and programs read."""
    plain = unquote(text, errors="replace") if _PERCENT.search(text) else text
    plain = html.unescape(plain) if _ENTITIES.search(plain) else plain
    if _ESCAPES.search(plain):
        plain = _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), plain)
    return [] if plain == text else [Deobfuscated(_plain(plain)[0], _signed("escaped"))]


_CODES: tuple[tuple[re.Pattern[str], Callable[[str], str | None], str], ...] = (
    (_BASE64, _base64, "encoded"),
    (_HEX, _hex, "encoded"),
    (_BITS, _bits, "encoded"),
)
