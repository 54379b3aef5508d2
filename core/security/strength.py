"""How hard a passphrase is to guess: an estimate for the meter beside the field where it is chosen. Pure.

The text is cut into the pieces that are cheapest to guess (a common word, a run, a year, a word one could pronounce,
else single characters); the bits of the pieces are added up. It is an estimate, on the low side for natural words, and
no promise. The lists are in `resources/text`. Must not do: keep, log or return any of the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

_LONGEST = 128  # what comes behind is not looked at: it is strong by then
_LONGEST_PIECE = 24
_LETTER, _DIGIT, _SPACE, _SYMBOL, _OTHER = math.log2(26), math.log2(10), 1.0, 5.0, 5.5
_CAPITAL, _DISGUISE = 1.0, 1.0
# A guesser who knows a language tries about 2^11 words first; unusual and long words cost a little more.
_WORD, _WORD_LETTERS, _PER_LETTER = 11.0, 5, 1.0
_RUN, _KEYS, _YEAR, _AGAIN = 4.0, 5.0, 7.0, 1.0
# Argon2id with 256 MiB lets one machine try some hundred guesses a second: 2^30 in about a month, 2^40 in a century.
_LEVELS = (20.0, 30.0, 40.0, 55.0)

_DISGUISES = str.maketrans({"@": "a", "4": "a", "3": "e", "1": "i", "!": "i", "0": "o", "$": "s", "5": "s", "7": "t"})
_PLAIN = re.compile(r"[a-z]+")
_LIKE_A_WORD = re.compile(r"(?=.*[aeiouy])(?!.*[^aeiouy]{5})(?!.*[aeiouy]{4})[a-z]{3,}")
_LIKE_A_YEAR = re.compile(r"(?:19|20)\d\d")

_ADVICE = {
    "common": "It contains a common password.",
    "again": "Repeated parts add little.",
    "run": "Sequences such as abc, 123 or qwerty add little.",
    "year": "Years and dates are guessed early.",
    "": "Add a few unrelated words.",
}
_PRAISE = {3: "It is hard to guess.", 4: "It is very hard to guess."}


@dataclass(frozen=True, slots=True)
class Strength:
    """An estimate.

    Attributes:
        score: 0 (guessed at once) to 4 (very hard to guess).
        sentence: for the person: advice below 3.
        bits: of the number of guesses, 0 and up.
    """

    score: int
    sentence: str
    bits: float


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of the text that ends at some place: its length, its bits, and what makes it weak."""

    length: int
    bits: float
    weakness: str = ""


def passphrase_strength(text: str) -> Strength:
    """Estimate how hard a passphrase is to guess. Takes a millisecond or two for what people type.

    Args:
        text: as typed so far.
    """
    if not text:
        return Strength(0, "Choose a passphrase: several unrelated words are best.", 0.0)
    bits, weaknesses = _cheapest_cut(text[:_LONGEST])
    score = sum(bits >= level for level in _LEVELS)
    advice = next((words for weakness, words in _ADVICE.items() if weakness in weaknesses), _ADVICE[""])
    return Strength(score, _PRAISE.get(score, advice), round(bits, 1))


def _cheapest_cut(text: str) -> tuple[float, frozenset[str]]:
    """The bits of the cheapest way to cut a text into pieces, and what is weak about them."""
    best: list[tuple[float, frozenset[str]]] = [(0.0, frozenset())]
    lower = text.lower() if len(text.lower()) == len(text) else text
    for end in range(1, len(text) + 1):
        ways = []
        for piece in _pieces_ending_at(text, lower, end):
            bits, weaknesses = best[end - piece.length]
            ways.append((bits + piece.bits, weaknesses | {piece.weakness} if piece.weakness else weaknesses))
        best.append(min(ways, key=lambda way: way[0]))
    return best[-1]


def _pieces_ending_at(text: str, lower: str, end: int) -> Iterator[_Piece]:
    yield _Piece(1, _character_bits(text[end - 1]))
    for start in range(max(0, end - _LONGEST_PIECE), end - 1):
        length = end - start
        part = lower[start:end]
        case = _CAPITAL if text[start:end] != part else 0.0
        bits = _word_bits(part)
        if bits is not None:
            yield _Piece(length, bits[0] + case, bits[1])
        if length >= 3 and _is_run(part):
            yield _Piece(length, _RUN + math.log2(length) + case, "run")
        if length >= 4 and _is_along_keys(part):
            yield _Piece(length, _KEYS + math.log2(length) + case, "run")
        if lower[start - length : start] == part and start >= length:
            yield _Piece(length, _AGAIN + case, "again")


def _character_bits(character: str) -> float:
    if character.isascii():
        if character.isalpha():
            return _LETTER
        return _DIGIT if character.isdigit() else _SPACE if character == " " else _SYMBOL
    return _OTHER


def _word_bits(part: str) -> tuple[float, str] | None:
    ranks = _common_secrets()
    rank = ranks.get(part)
    if rank is not None:
        return math.log2(rank + 2), "common"
    plain = part.translate(_DISGUISES)
    if plain != part and (rank := ranks.get(plain)) is not None:
        return math.log2(rank + 2) + _DISGUISE, "common"
    if _LIKE_A_YEAR.fullmatch(part):
        return _YEAR, "year"
    if _PLAIN.fullmatch(part) and _LIKE_A_WORD.fullmatch(part):
        guessed = _WORD + _PER_LETTER * max(0, len(part) - _WORD_LETTERS)
        return min(guessed, _LETTER * len(part)), ""
    return None


def _is_run(part: str) -> bool:
    step = ord(part[1]) - ord(part[0])
    return abs(step) <= 1 and all(ord(after) - ord(before) == step for before, after in pairwise(part))


def _is_along_keys(part: str) -> bool:
    return any(part in row or part[::-1] in row for row in _keyboard_rows())


def _read_lines(name: str) -> list[str]:
    text = (files("resources") / "text" / name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@cache
def _common_secrets() -> dict[str, int]:
    return {word: rank for rank, word in enumerate(_read_lines("common_secrets.txt"))}


@cache
def _keyboard_rows() -> tuple[str, ...]:
    return tuple(_read_lines("keyboard_rows.txt"))
