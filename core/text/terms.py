"""Turns a text into the terms of the lexical index, and a query into the same terms.

The full-text table splits at ASCII punctuation and space only, so every term here is letters, digits, `_` and
non-ASCII letters. Index and query run through one function: what is stored as `snake_case` is found as
`snake_case`, as `snake` and as `case`.

Must not do: rank, know the database, or log a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from snowballstemmer.english_stemmer import EnglishStemmer

from core.text.fold import fold_case, fold_width
from core.text.stopwords import stop_words

MAX_TERM = 64
MAX_QUERY_TERMS = 64
MAX_QUERY_BYTES = 1024

# Letters, digits and the vowel signs of Indic scripts (which `\w` leaves out); the two dandas are punctuation.
_LETTER = (
    "\\w\\u0300-\\u036f\\u0900-\\u0963\\u0966-\\u0dff\\u0e31\\u0e34-\\u0e3a\\u0e47-\\u0e4e\\u0eb1-\\u0ebc"
    "\\u0f18-\\u0fbc\\u102b-\\u103e\\u17b4-\\u17d3"
)
# A run of letters, joined by the marks that hold identifiers, versions, paths, addresses and hyphenated words together.
_TOKEN = re.compile(f"[{_LETTER}]+(?:[.'/\\\\:@\\-][{_LETTER}]+)*(?:\\+\\+|#(?!\\w))?")
_JOINT = re.compile(r"[./\\:@_+#\-]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# Scripts written without spaces (Han, kana, Hangul with its particles, Thai, Lao, Khmer, Burmese): found by pairs.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_LATIN = re.compile(r"[a-z]+(?:'[a-z]+)*")
_Found = tuple[str, bool, str]  # term, function word or too short, the word itself
_CLITIC = re.compile(r"'(?:s|ll|re|ve|d|m)?$")


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One term of a query.

    Attributes:
        term: as it stands in the index.
        word: as it was typed, folded, for explanations.
        stop: a function word, or a single sign of an unspaced run: too common to search by.
    """

    term: str
    word: str
    stop: bool


def index_terms(text: str) -> str:
    """The terms of a text for `memory_fts.terms`, in the order of the text.

    Args:
        text: any text; never changed or kept.

    Returns:
        Terms joined by single spaces; `""` for a text without letters or digits.
    """
    return " ".join(term for term, _, _ in _terms(text))


def query_terms(text: str) -> tuple[QueryTerm, ...]:
    """The same analysis for a query, deduplicated, in order of first use.

    Args:
        text: what the person typed; only the first `MAX_QUERY_BYTES` bytes are read.

    Returns:
        At most `MAX_QUERY_TERMS` terms.
    """
    found: dict[str, QueryTerm] = {}
    head = text[:MAX_QUERY_BYTES].encode("utf-8", "replace")[:MAX_QUERY_BYTES].decode("utf-8", "ignore")
    for term, stop, word in _terms(head):
        known = found.get(term)
        found[term] = QueryTerm(term, known.word if known else word, stop and (known is None or known.stop))
        if len(found) == MAX_QUERY_TERMS:
            break
    return tuple(found.values())


def _terms(text: str) -> Iterator[_Found]:
    for match in _TOKEN.finditer(_GROUPED.sub("", fold_width(text))):
        token = match.group()
        if token.isascii() and token.isalpha() and (token.islower() or token.istitle()):
            yield _word(token.lower())
        elif _UNSPACED.search(token):
            yield from _mixed(token)
        else:
            yield from _compound(token)


def _mixed(token: str) -> Iterator[_Found]:
    """A token with unspaced script in it: those runs by pairs and single signs, the rest as words."""
    at = 0
    for run in _UNSPACED.finditer(token):
        if run.start() > at:
            yield from _compound(token[at : run.start()])
        signs = fold_case(run.group())
        for i, sign in enumerate(signs):
            if i + 1 < len(signs):
                yield signs[i : i + 2], False, signs[i : i + 2]
            yield sign, len(signs) > 1, sign
        at = run.end()
    if at < len(token):
        yield from _compound(token[at:])


def _compound(token: str) -> Iterator[_Found]:
    """An identifier, version, path or hyphenated word: the whole and its pieces."""
    token = token.replace("++", "_plus").replace("#", "_sharp") if token[-1] in "+#" else token
    pieces = [piece for piece in _JOINT.split(token) if piece]
    if len(pieces) > 1:
        yield "_".join(_word(fold_case(piece))[0] for piece in pieces)[:MAX_TERM], False, fold_case(token)
    for piece in pieces:
        yield _word(fold_case(piece))
        humps = _CAMEL.split(piece)
        if len(humps) > 1:
            yield from (_word(fold_case(hump)) for hump in humps if len(hump) > 1)


@lru_cache(maxsize=32_768)
def _word(folded: str) -> _Found:
    """A folded word's term, whether it is a function word, and the word. A memo of a pure function, bounded."""
    bare = _CLITIC.sub("", folded) or folded
    joined = bare.replace("'", "")
    stop = joined in stop_words()
    if _LATIN.fullmatch(bare):
        # A stemmer keeps the word it works on: one each call, so that two threads never share it.
        joined = str(EnglishStemmer().stemWord(joined))
    return joined[:MAX_TERM] or "_", stop, folded
