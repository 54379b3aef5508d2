"""Turns a text into the terms of the lexical index, a query into the same terms, and says what an embedder is given.

The full-text table splits at ASCII punctuation and space only, so every term here is letters, digits, `_` and
non-ASCII letters. Index and query run through one function: what is stored as `snake_case` is found as
`snake_case`, as `snake` and as `case`. Two spellings of a word meet by folding; the stop words are data
(`resources/text`).

What is embedded was measured with a prototype of the hybrid on the development conversations (session / turn
recall@10): neither name nor date 93.9 / 77.9, the author's name in both 94.7 / 81.2, and the date among the terms too
95.1 / 83.4. Must not do: rank, know the database, change a stored text, log a word, or decide what a search does with
stop words (`core.recall.lexical` does).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import cache, lru_cache
from importlib.resources import files

from snowballstemmer.english_stemmer import EnglishStemmer

from core.types.values import Precision, Role, When

# Classes of speakers, not names: before a text they would only make all texts alike.
_NOBODY = frozenset(role.value for role in Role) | {"system", "human", "you", "unknown"}
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_CITATION = re.compile("\ue200[^\ue201]{0,300}(?:\ue201|$)")
MAX_QUERY_CHARS = 2_000
# Marks that decorate a letter without being one: Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowel signs.
# Vowel signs of Indic scripts and the voicing marks of kana are letters to their readers and stay.
_DECORATION = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]"
)
# Letters that Unicode does not decompose although people type them without their stroke.
_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ŋ": "n"}
)
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
_SURROGATE = re.compile("[\ud800-\udfff]")
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


def embedding_text(text: str, *, author: str | None = None) -> str:
    """What the embedder gets: who said it, then the text.

    Args:
        author: whose words they are; a role instead of a name is left out.

    Returns:
        `{author}: {text}`, or the text alone; without the marks by which an assistant names its sources.
    """
    name, words = _author_name(author), _CITATION.sub("", text)
    return f"{name}: {words}" if name else words


def lexical_text(
    text: str,
    *,
    author: str | None = None,
    role: Role | None = None,
    title: str | None = None,
    tags: Sequence[str] = (),
    occurred: When | None = None,
) -> str:
    """What the lexical index gets, to be analysed by `core.text.terms.index_terms`.

    Args:
        author: whose words they are.
        role: their class; the title stands for the author of a note or document.
        title: of the conversation, note or document. Only that of a note or document is indexed: a conversation's would
            stand in each of its messages.
        tags: the memory's tags.
        occurred: when it was said or happened, as exactly as known: day, month and year are words to search by.
    """
    parts = [_author_name(author), text, *tags]
    if title and role is Role.SOURCE:
        parts.append(title)
    if occurred is not None:
        parts.append(_date_words(occurred))
    return " ".join(part for part in parts if part)


def memory_terms(
    text: str,
    *,
    author: str | None = None,
    role: Role | None = None,
    title: str | None = None,
    tags: Sequence[str] = (),
    occurred: When | None = None,
) -> str:
    """The terms of a memory for `memory_fts.terms`.

    Args:
        text: as `lexical_text`, like the rest.
        author: see there.
        role: see there.
        title: see there.
        tags: see there.
        occurred: see there.

    Returns:
        Terms joined by single spaces.
    """
    return index_terms(lexical_text(text, author=author, role=role, title=title, tags=tags, occurred=occurred))


def query_text(query: str) -> str:
    """What the embedder gets of a query: the model reads 256 tokens, so a longer text only costs time.

    Args:
        query: as it was asked, of any length.

    Returns:
        Its first `MAX_QUERY_CHARS` characters, lone surrogates replaced.
    """
    return query[:MAX_QUERY_CHARS].encode("utf-8", "replace").decode("utf-8")


@cache
def common_words() -> frozenset[str]:
    """Function words of English, and common words of several languages, folded, without apostrophes.

    Returns:
        The words of `resources/text` and the openers of `resources/query/names.json`.
    """
    lines = (files("resources") / "text" / "stopwords_names.txt").read_text("utf-8").splitlines()
    listed = {fold_word(word) for line in lines if not line.startswith("#") for word in line.split()}
    openers = json.loads((files("resources") / "query" / "names.json").read_text("utf-8"))["openers"]
    return stop_words() | listed | {fold_word(word) for word in " ".join(openers).split()}


@cache
def plain_words() -> frozenset[str]:
    """Words that people write small; one that begins a sentence is no name."""
    lines = (files("resources") / "enrich" / "plain_words.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def fold_word(word: str) -> str:
    """A word as it stands in the lists.

    Returns:
        The word folded, without apostrophes.
    """
    return fold_case(fold_width(word)).replace("'", "")


@cache
def stop_words() -> frozenset[str]:
    """The English function words, folded, without apostrophes.

    Returns:
        Words as they stand before stemming.
    """
    source = files("resources") / "text" / "stopwords_en.txt"
    lines = source.read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def replace_surrogates(text: str) -> str:
    """The text with � for each half of a character, which no encoder takes."""
    return _SURROGATE.sub("�", text)


def fold_width(text: str) -> str:
    """Compatibility forms to plain ones (NFKC) and every apostrophe to the ASCII one; the case stays."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u02bc", "'").replace("\u2018", "'")


def fold_case(word: str) -> str:
    """Case and diacritics off: `Ærø`, `aero` and `ÆRØ` become one word.

    Args:
        word: a text in the form of `fold_width`.

    Returns:
        The folded word in NFC.
    """
    if word.isascii():
        return word.lower()
    bare = _DECORATION.sub("", unicodedata.normalize("NFD", word.casefold()))
    return unicodedata.normalize("NFKC", bare).translate(_STROKES)


def index_terms(text: str) -> str:
    """The terms of a text for `memory_fts.terms`, in the order of the text.

    Args:
        text: any text; never changed or kept.

    Returns:
        Terms joined by single spaces; `""` for a text without letters or digits.
    """
    return " ".join(term for term, _, _ in _iter_terms(text))


def query_terms(text: str) -> tuple[QueryTerm, ...]:
    """The same analysis for a query, deduplicated, in order of first use.

    Args:
        text: what the person typed; only the first `MAX_QUERY_BYTES` bytes are read.

    Returns:
        At most `MAX_QUERY_TERMS` terms.
    """
    found: dict[str, QueryTerm] = {}
    head = text[:MAX_QUERY_BYTES].encode("utf-8", "replace")[:MAX_QUERY_BYTES].decode("utf-8", "ignore")
    for term, stop, word in _iter_terms(head):
        known = found.get(term)
        found[term] = QueryTerm(term, known.word if known else word, stop and (known is None or known.stop))
        if len(found) == MAX_QUERY_TERMS:
            break
    return tuple(found.values())


def _author_name(author: str | None) -> str:
    name = (author or "").strip()
    return "" if name.casefold() in _NOBODY else name


def _date_words(when: When) -> str:
    zone = UTC if when.offset_min is None else timezone(timedelta(minutes=when.offset_min))
    try:
        at = datetime.fromtimestamp(when.ms / 1000, zone)
    except (OverflowError, ValueError, OSError):  # outside the years 1 to 9999
        return ""
    if when.precision is Precision.YEAR:
        return str(at.year)
    month = f"{_MONTHS[at.month - 1]} {at.year}"
    return month if when.precision is Precision.MONTH else f"{at.day} {month}"


def _iter_terms(text: str) -> Iterator[_Found]:
    for match in _TOKEN.finditer(_GROUPED.sub("", fold_width(text))):
        token = match.group()
        if token.isascii() and token.isalpha() and (token.islower() or token.istitle()):
            yield _term_of_word(token.lower())
        elif _UNSPACED.search(token):
            yield from _split_mixed_token(token)
        else:
            yield from _split_compound(token)


def _split_mixed_token(token: str) -> Iterator[_Found]:
    """A token with unspaced script in it: those runs by pairs and single signs, the rest as words."""
    at = 0
    for run in _UNSPACED.finditer(token):
        if run.start() > at:
            yield from _split_compound(token[at : run.start()])
        signs = fold_case(run.group())
        for i, sign in enumerate(signs):
            if i + 1 < len(signs):
                yield signs[i : i + 2], False, signs[i : i + 2]
            yield sign, len(signs) > 1, sign
        at = run.end()
    if at < len(token):
        yield from _split_compound(token[at:])


def _split_compound(token: str) -> Iterator[_Found]:
    """An identifier, version, path or hyphenated word: the whole and its pieces."""
    token = token.replace("++", "_plus").replace("#", "_sharp") if token[-1] in "+#" else token
    pieces = [piece for piece in _JOINT.split(token) if piece]
    if len(pieces) > 1:
        yield "_".join(_term_of_word(fold_case(piece))[0] for piece in pieces)[:MAX_TERM], False, fold_case(token)
    for piece in pieces:
        yield _term_of_word(fold_case(piece))
        humps = _CAMEL.split(piece)
        if len(humps) > 1:
            yield from (_term_of_word(fold_case(hump)) for hump in humps if len(hump) > 1)


def stem_english(word: str) -> str:
    """The stem of an English word. A stemmer keeps the word it works on: one each call, so that no threads share it."""
    return str(EnglishStemmer().stemWord(word))


@lru_cache(maxsize=32_768)
def _term_of_word(folded: str) -> _Found:
    """A folded word's term, whether it is a function word, and the word. A memo of a pure function, bounded."""
    bare = _CLITIC.sub("", folded) or folded
    joined = bare.replace("'", "")
    stop = joined in stop_words()
    if _LATIN.fullmatch(bare):
        joined = stem_english(joined)
    return joined[:MAX_TERM] or "_", stop, folded


def word_overlap(left: tuple[str, ...], right: tuple[str, ...]) -> float:
    """The words that two texts have in common, as a share of all words of both (Jaccard).

    Returns:
        0 to 1; 0 where neither has any.
    """
    one, other = set(left), set(right)
    return len(one & other) / len(one | other) if one | other else 0.0
