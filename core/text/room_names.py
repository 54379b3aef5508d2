"""Names for rooms: a few words that tell what the texts of one room have and those of the others have not.

Class-based TF-IDF (Grootendorst 2022) over words as people write them. A name is plain text: letters of any script,
spaces, commas, hyphens and apostrophes. Must not do: keep or log a text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files

from snowballstemmer.english_stemmer import EnglishStemmer

from core.text.terms import fold_case, fold_width, stop_words

NOTHING = "Odds and ends"
"""The name of a room without words."""
LONGEST = 28
"""Characters of a name at most."""
TEXTS = 250
"""Texts of one room that are read for its name."""
_CHARS = 600
_WORDS = 2
_LONGEST_WORD = 24
_RUNNER_UP = 0.5  # a further term is shown only if it tells at least so much of what the first tells
_OF_TEXTS = 0.03  # and if at least so many of the texts have it
_PAIR_SHARE = 0.5  # two words are one term if the rarer stands beside the other at least so often
_NAME_BONUS = 1.3  # what people write with capitals inside a sentence names a thing: better than any other word
_CAPITALS = 0.6
_FEW = 8
_RARE = 0.01

# A piece with one of these is no word: addresses, paths, identifiers, numbers, markup, code.
_NOISE = re.compile(r"[\d_@\\<>{}=|#^~$*`\[\]]|://|^www\.|/.*/|\.\w|\w\(|&\w+;")
_MARKED = re.compile(r"^[*_`\"'“”„«»‘’(\[#>]+|[*_`\"'“”„«»‘’)\]]+$|[*_`]+(?=[.,;:!?…]+$)")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TAG = re.compile(r"<[^<>]{0,200}>")
_MARKS = "\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
_LETTERS = f"(?:[^\\W\\d_]|[{_MARKS}])"
_WORD = re.compile(f"{_LETTERS}+(?:['\\-]{_LETTERS}+)*")
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
_MOST_MARKS = 2


@dataclass(slots=True)
class _Term:
    """One term of one room.

    Attributes:
        texts: in how many of its texts it stands.
        inside: how often each way of writing it stood where a sentence did not begin.
        first: the same where one began.
    """

    texts: int = 0
    inside: Counter[str] = field(default_factory=Counter)
    first: Counter[str] = field(default_factory=Counter)


_Key = tuple[str, ...]
_Found = tuple[str, str, bool]  # key, as written, at the beginning of a sentence


def name_rooms(
    rooms: Sequence[Iterable[str]],
    taken: Collection[str] = (),
    others: Sequence[Iterable[str]] = (),
    speakers: Iterable[str] = (),
) -> list[str]:
    """Name the rooms of one wing.

    Args:
        rooms: texts of each room; the first `TEXTS` of each are read.
        taken: names that are used in the wing already.
        others: texts of rooms that have their names, to tell the new ones from.
        speakers: who speaks in the texts; people call each other by name whatever they talk about.

    Returns:
        A name for each, all different, at most `LONGEST` characters.
    """
    counted = [_count(texts) for texts in rooms]
    rest = [_count(texts) for texts in others]
    overall: Counter[_Key] = Counter()
    sizes = [size for _, size in (*counted, *rest) if size]
    for terms, _ in (*counted, *rest):
        for key, term in terms.items():
            overall[key] += term.texts
    average = sum(sizes) / len(sizes) if sizes else 1.0
    used = {fold_case(name) for name in taken}
    silent = {_key(word) for speaker in speakers for word in _WORD.findall(fold_width(speaker))}
    names = []
    for terms, size in counted:
        name = _choose_unused_name(_candidates(_rank_terms(terms, size, overall, average), silent), used)
        used.add(fold_case(name))
        names.append(name)
    return names


def _count(texts: Iterable[str]) -> tuple[dict[_Key, _Term], int]:
    terms: dict[_Key, _Term] = {}
    size = 0
    for text, _ in zip(texts, range(TEXTS), strict=False):
        size += 1
        seen: set[_Key] = set()
        before: _Found | None = None
        for found in _iter_terms(text[:_CHARS]):
            if found is not None:
                _note(terms, seen, (found,))
                if before is not None and before[0] != found[0]:
                    _note(terms, seen, (before, found))
            before = found
        for key in seen:
            terms[key].texts += 1
    # A pair that stands in one text is no term; most pairs are such, and they would fill the memory.
    return {key: term for key, term in terms.items() if len(key) == 1 or term.texts > 1}, size


def _note(terms: dict[_Key, _Term], seen: set[_Key], words: tuple[_Found, ...]) -> None:
    key = tuple(word[0] for word in words)
    term = terms.setdefault(key, _Term())
    shown = " ".join(word[1] for word in words)
    # A capital at the beginning of a sentence tells nothing; a small letter there does.
    (term.first if words[0][2] and not shown.islower() else term.inside)[shown] += 1
    seen.add(key)


def _iter_terms(text: str) -> Iterator[_Found | None]:
    """The words of a text that may stand in a name; None where two neighbours are no pair."""
    for line in _TAG.sub(" ", _FENCE.sub("\n", fold_width(text))).splitlines():
        is_first = True
        for piece in line.split():
            bare = _MARKED.sub("", piece)
            if _NOISE.search(_MARKED.sub("", bare).rstrip(".,;:!?…")):
                yield None
            elif _UNSPACED.search(bare):
                yield from _iter_unspaced_terms(bare)
            else:
                yield from _iter_piece_terms(bare, is_first=is_first)
            is_first = bool(_END.search(piece)) or (is_first and bool(_LIST.match(piece)))
        yield None


def _iter_piece_terms(piece: str, *, is_first: bool) -> Iterator[_Found | None]:
    end = 0
    for match in _WORD.finditer(piece):
        word = match.group()
        if _BREAK.search(piece[end : match.start()]):
            yield None
        end = match.end()
        word = word[:-2] if word.lower().endswith("'s") else word
        key = _key(word)
        yield (key, word, is_first) if key else None
        is_first = False
    if not end or _BREAK.search(piece[end:]):
        yield None


def _iter_unspaced_terms(piece: str) -> Iterator[_Found | None]:
    """Runs of script without spaces: short ones as they are, of long Han runs the pairs."""
    for match in _RUN.finditer(piece):
        run = match.group()
        is_han = bool(_HAN_SIGN.match(run))
        if 2 <= len(run) <= (_LONGEST_RUN if is_han else _LONGEST_PHRASE):
            yield run, run, False
            yield None
        if is_han and len(run) > 2:
            for at in range(len(run) - 1):
                yield run[at : at + 2], run[at : at + 2], False
                yield None


@lru_cache(maxsize=65_536)
def _key(word: str) -> str:
    """What the forms of one word share; empty for a word that tells nothing. A memo of a pure function, bounded."""
    folded = fold_case(word)
    joined = folded.replace("'", "")
    marks = sum(unicodedata.combining(sign) > 0 for sign in unicodedata.normalize("NFD", word))
    if not 3 <= len(word) <= _LONGEST_WORD and not (len(word) == 2 and word.isupper()):
        return ""
    if joined in stop_words() or joined in _name_stops() or "'" in folded or marks > _MOST_MARKS + len(word) // 2:
        return ""
    if joined.isascii():
        # A stemmer keeps the word it works on: one each call, so that two threads never share it.
        return str(EnglishStemmer().stemWord(joined))
    return joined


@cache
def _name_stops() -> frozenset[str]:
    """Words too common in talk to name a room, in several languages (`resources/text/stopwords_names.txt`)."""
    lines = (files("resources") / "text" / "stopwords_names.txt").read_text("utf-8").splitlines()
    return frozenset(
        fold_case(word).replace("'", "") for line in lines if not line.startswith("#") for word in line.split()
    )


def _rank_terms(
    terms: dict[_Key, _Term], size: int, overall: Counter[_Key], average: float
) -> list[tuple[float, _Key, str]]:
    least = max(min(size, 2), math.ceil(_OF_TEXTS * size))
    kept = {key: term for key, term in terms.items() if term.texts >= least}
    if len(kept) < _FEW:
        kept = dict(terms)  # rare words come after all others, and are better than none
    found = []
    for key, term in kept.items():
        if len(key) == 2 and not _is_term(term, terms[key[:1]], terms[key[1:]]):
            continue
        score = _score(term, key, size, overall, average) * (1.0 if term.texts >= least else _RARE)
        if len(key) == 2:
            # Told no better than by its words: a rare pair would win by its rarity alone.
            score = min(score, *(_score(terms[one], one, size, overall, average) for one in (key[:1], key[1:])))
        shown = _format_term(term)
        if all(word[:1].isupper() for word in shown.split()) and not shown.isupper():
            score *= _NAME_BONUS
        found.append((score, key, shown))
    # A word that mostly stands in a pair is told by the pair.
    told = {(word,) for _, key, _ in found if len(key) == 2 for word in key if _mostly(terms[key], terms[word,])}
    found = [ranked for ranked in found if ranked[1] not in told]
    return sorted(found, key=lambda ranked: (-round(ranked[0], 9), -len(ranked[1]), ranked[1]))


def _score(term: _Term, key: _Key, size: int, overall: Counter[_Key], average: float) -> float:
    return term.texts / size * math.log(1.0 + average / overall[key])


def _mostly(pair: _Term, word: _Term) -> bool:
    return pair.texts >= _PAIR_SHARE * word.texts


def _is_term(pair: _Term, first: _Term, second: _Term) -> bool:
    return pair.texts >= 2 and pair.texts >= _PAIR_SHARE * min(first.texts, second.texts)


def _format_term(term: _Term) -> str:
    """The most frequent way of writing it; at the beginning of a sentence a capital tells nothing."""
    if term.inside:
        shown = min(term.inside.items(), key=lambda item: (-item[1], item[0]))[0]
        capitals = sum(count for form, count in term.inside.items() if form[:1].isupper())
        if shown[:1].isupper() and not shown.isupper() and capitals < _CAPITALS * term.inside.total():
            return shown.lower()
        return shown
    shown = min(term.first.items(), key=lambda item: (-item[1], item[0]))[0]
    return shown if shown.isupper() else shown[:1].lower() + shown[1:]


def _candidates(ranked: Sequence[tuple[float, _Key, str]], silent: Collection[str]) -> Iterator[str]:
    """Names from best to worst: the best terms together, then the best with another."""
    terms = [term for term in ranked if len(term[2]) <= LONGEST and not set(term[1]).intersection(silent)][:24]
    for skip in range(len(terms)):
        chosen: list[str] = []
        stems: set[str] = set()
        for score, key, shown in terms[skip:]:
            long = len(", ".join((*chosen, shown)))
            words = len(stems) + len(key)
            if chosen and (score < _RUNNER_UP * terms[skip][0] or long > LONGEST or words > _WORDS):
                continue
            if stems.isdisjoint(key) and not any(shown in one or one in shown for one in chosen):
                chosen.append(shown)
                stems.update(key)
        yield _capital(", ".join(chosen))
        yield _capital(chosen[0])
        for shown in (one[2] for one in terms if one[2] not in chosen):
            yield _capital(", ".join((chosen[0], shown)))


def _capital(name: str) -> str:
    return unicodedata.normalize("NFC", name[:1].upper() + name[1:])


def _choose_unused_name(candidates: Iterable[str], used: Collection[str]) -> str:
    for name in candidates:
        if 0 < len(name) <= LONGEST and fold_case(name) not in used:
            return name
    letters = [""]
    while True:
        letters = [before + chr(letter) for before in letters for letter in range(ord("B"), ord("Z") + 1)]
        for tail in ("", *(f" {letter}" for letter in letters)):
            if fold_case(NOTHING + tail) not in used:
                return NOTHING + tail
