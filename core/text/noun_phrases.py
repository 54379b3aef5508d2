"""Noun phrases of a text: the words of one or two by which people would call what it is about ("homeless shelter").

English words are told by a lexicon (`resources/lexicon/nouns_en.txt`) and by what stands before them; words it does not
know (names, rare words, other languages) may all be nouns. Scripts without spaces give short runs. Must not do: keep
or log a text, count, or know a room.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import zip_longest

from core.text.terms import fold_case, fold_width, stem_english, stop_words

Key = tuple[str, ...]
"""What the forms of a phrase share: one or two folded stems."""

_CHARS = 600
_LONGEST_WORD = 24
# A piece with one of these is no word: addresses, paths, identifiers, numbers, markup, code.
_NOISE = re.compile(r"[\d_@\\<>{}=|#^~$*`\[\]]|://|^www\.|/.*/|\.\w|\w\(|&\w+;")
_MARKED = re.compile(r"^[*_`\"'“”„«»‘’(\[#>]+|[*_`\"'“”„«»‘’)\]]+$|[*_`]+(?=[.,;:!?…]+$)")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TAG = re.compile(r"<[^<>]{0,200}>")
_MARKS = "\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
_LETTERS = f"(?:[^\\W\\d_]|[{_MARKS}])"
_WORD = re.compile(f"{_LETTERS}+(?:['’\\-]{_LETTERS}+)*")
_BREAK = re.compile(r"[.,;:!?…()\"“”„«»/—–。、！？」「]")
_END = re.compile(r"[.!?…:。！？][\"'”’)]*$")
_LIST = re.compile(r"^\W+$")
# Scripts written without spaces; Hangul has them.
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{_HAN}\u3040-\u30ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_RUN = re.compile(f"[{_HAN}]+|[\u30a1-\u30fa\u30fc]{{2,}}|[\u0e00-\u0eff]+|[\u1000-\u109f]+|[\u1780-\u17ff]+")
_HAN_SIGN = re.compile(f"[{_HAN}]")
_LONGEST_RUN = 4
_LONGEST_PHRASE = 12
_LONGEST_UNIT = 2
"""Capitals after a number that are a unit ("12 GB") and no name."""
_MOST_MARKS = 2
_ADJECTIVE_ENDINGS = ("able", "ible", "ful", "ient", "ish", "ive", "less", "ous", "some")

_NOUN, _NOUN_OR_VERB, _NOUN_OR_ADJECTIVE, _ADJECTIVE, _OTHER, _UNKNOWN = range(6)
_SECTIONS = {
    "nouns": _NOUN,
    "nouns and verbs": _NOUN_OR_VERB,
    "nouns and adjectives": _NOUN_OR_ADJECTIVE,
    "adjectives": _ADJECTIVE,
    "other words": _OTHER,
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase as it stands in a text.

    Attributes:
        key: what its forms share.
        shown: as it is written.
        starts_sentence: whether a sentence begins with it, so that a capital tells nothing.
        owner: whose it is said to be ("Nora" in "Nora's bakery"); empty for nobody's.
    """

    key: Key
    shown: str
    starts_sentence: bool
    owner: str = ""


@dataclass(frozen=True, slots=True)
class _Word:
    """A word that tells something; what stands before it in the text decides what it may be."""

    stem: str
    shown: str
    starts_sentence: bool = False
    kind: int = _UNKNOWN
    follows_determiner: bool = False
    ends_phrase: bool = False
    is_possessive: bool = False


def read_phrases(text: str) -> Iterator[Phrase]:
    """The noun phrases of a text, each word by itself and with the word before it.

    Args:
        text: its first 600 characters are read.

    Returns:
        In the order of the text; none for numbers, addresses, code and words that tell nothing.
    """
    before: _Word | None = None
    for word in _iter_words(text[:_CHARS]):
        if word is None:
            before = None
            continue
        if _is_noun(word):
            owner = before.shown if before is not None and before.is_possessive else ""
            yield Phrase((word.stem,), word.shown, word.starts_sentence, owner)
            if before is not None and not owner and before.stem != word.stem and before.kind != _OTHER:
                yield Phrase((before.stem, word.stem), f"{before.shown} {word.shown}", before.starts_sentence)
        before = word


def _is_noun(word: _Word) -> bool:
    if word.kind in (_ADJECTIVE, _OTHER):
        return False
    if word.kind == _NOUN_OR_VERB:
        return word.follows_determiner
    if word.kind == _NOUN_OR_ADJECTIVE:
        return word.follows_determiner and word.ends_phrase  # "in the safe.", but not "a safe place"
    return True


def _iter_words(text: str) -> Iterator[_Word | None]:
    """The words of a text that tell something; None where two neighbours belong to no common phrase."""
    for line in _TAG.sub(" ", _FENCE.sub("\n", fold_width(text))).splitlines():
        is_first = True
        follows = was_number = False
        title = ""
        pieces = line.split()
        for piece, following in zip_longest(pieces, pieces[1:], fillvalue=""):
            bare = _MARKED.sub("", piece)
            if bare.istitle() and bare.removesuffix(".").lower() in _load_titles():
                title, is_first = bare.removesuffix(".") + " ", False
                yield None
                continue
            is_unit = was_number and len(bare) <= _LONGEST_UNIT and bare.isupper()
            was_number = bare.replace(".", "").replace(",", "").isdigit()
            if is_unit or _NOISE.search(_MARKED.sub("", bare).rstrip(".,;:!?…")):
                yield None
            elif _UNSPACED.search(bare):
                yield from _iter_unspaced_words(bare)
            else:
                ends = bool(_BREAK.search(piece[-1])) or not following or following.lower() in stop_words()
                yield from _iter_piece_words(bare, title, is_first=is_first, follows=follows, ends_phrase=ends)
            # "the old kitchen table": what follows a determiner goes on over adjectives and nouns, up to a comma.
            goes_on = follows and _kind_of(bare.lower()) != _OTHER and not piece.endswith(",")
            follows = bare.lower() in _load_determiners() or goes_on
            is_first = bool(_END.search(piece)) or (is_first and bool(_LIST.match(piece)))
            title = ""
        yield None


def _iter_piece_words(
    piece: str, title: str, *, is_first: bool, follows: bool, ends_phrase: bool
) -> Iterator[_Word | None]:
    end = 0
    for match in _WORD.finditer(piece):
        word = match.group()
        if _BREAK.search(piece[end : match.start()]):
            yield None
        end = match.end()
        is_possessive = word.lower().endswith(("'s", "’s"))
        word = word[:-2] if is_possessive else word
        stem = stem_of(word)
        kind = _UNKNOWN if word[:1].isupper() and not is_first else _kind_of(word.lower())
        shown = title + word if word[:1].isupper() else word
        yield _Word(stem, shown, is_first, kind, follows, ends_phrase, is_possessive) if stem else None
        is_first, title = False, ""
    if not end or _BREAK.search(piece[end:]):
        yield None


def _iter_unspaced_words(piece: str) -> Iterator[_Word | None]:
    """Runs of script without spaces: short ones as they are, of long Han runs the pairs."""
    for match in _RUN.finditer(piece):
        run = match.group()
        is_han = bool(_HAN_SIGN.match(run))
        if 2 <= len(run) <= (_LONGEST_RUN if is_han else _LONGEST_PHRASE):
            yield _Word(run, run)
            yield None
        if is_han and len(run) > 2:
            for at in range(len(run) - 1):
                pair = run[at : at + 2]
                yield _Word(pair, pair)
                yield None


def _kind_of(word: str) -> int:
    """What a small word may be; one that the lexicon does not know is read by its ending."""
    kind = _OTHER if word in stop_words() else _load_noun_lexicon().get(word, _UNKNOWN)
    if word.endswith("ing") and kind in (_OTHER, _UNKNOWN):
        return _NOUN_OR_VERB
    if kind != _UNKNOWN or not word.isascii():
        return kind
    if word.endswith(_ADJECTIVE_ENDINGS):
        return _ADJECTIVE
    return _OTHER if word.endswith(("ed", "ly")) else _UNKNOWN


@lru_cache(maxsize=65_536)
def stem_of(word: str) -> str:
    """What the forms of one word share; empty for a word that tells nothing. A memo of a pure function, bounded."""
    folded = fold_case(word).replace("’", "'")
    joined = folded.replace("'", "")
    marks = sum(unicodedata.combining(sign) > 0 for sign in unicodedata.normalize("NFD", word))
    if not 3 <= len(word) <= _LONGEST_WORD and not (len(word) == 2 and word.isupper()):
        return ""
    if joined in stop_words() or joined in _name_stops() or "'" in folded or marks > _MOST_MARKS + len(word) // 2:
        return ""
    if joined.isascii():
        return stem_english(joined)
    return joined


@cache
def _name_stops() -> frozenset[str]:
    """Words too common in talk to name a room, in several languages (`resources/text/stopwords_names.txt`)."""
    return frozenset(fold_case(word).replace("'", "") for word in _read_words("stopwords_names.txt"))


@cache
def _load_determiners() -> frozenset[str]:
    return frozenset(_read_words("determiners_en.txt"))


@cache
def _load_titles() -> frozenset[str]:
    return frozenset(_read_words("titles.txt"))


def _read_words(name: str) -> list[str]:
    lines = (files("resources") / "text" / name).read_text("utf-8").splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]


def is_noun(low: str) -> bool:
    """Whether a word is a common noun, and nothing else or a verb besides.

    Args:
        low: lower case.
    """
    return _load_noun_lexicon().get(low) in (_NOUN, _NOUN_OR_VERB)


@cache
def _load_noun_lexicon() -> dict[str, int]:
    """What a common English word may be (`resources/lexicon/nouns_en.txt`)."""
    found: dict[str, int] = {}
    kind = _UNKNOWN
    for line in (files("resources") / "lexicon" / "nouns_en.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            kind = _SECTIONS.get(line.strip("[]"), _UNKNOWN)
        elif not line.startswith("#"):
            found.update(dict.fromkeys(line.split(), kind))
    return found
