"""How much of what one text says another one says: entailment of statements, coverage of a text, what claims leave out.

A statement is entailed where its words stand in one sentence of the text: all of them, in their order, with nothing
left out between them but articles and light adverbs; from where a statement begins to where one may end; told as true,
and with no word before or after it that takes it back. The speaker may be called "the user". That refuses much that is
true, and lets in nothing that is not in the text. `covers_text` stands beside the relation model, which reads 64 tokens
of each side: a remark about one line of a document does not replace the document. Pure. Must not do: guess what a
sentence means, or say whether two texts agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from unicodedata import category

from core.belief.extract.normal_form import read_as_seen, value_key
from core.belief.extract.sentence import (
    MOST_TOKENS,
    TokenizedSentence,
    claim_word_lists,
    hide_unreal,
    load_vocabulary_file,
    read_sentence,
)
from core.belief.relate.features import PreparedText, load_vocabulary, prepare_text
from core.text.sentences import split_sentences
from core.text.terms import fold_case, fold_width, index_terms, stop_words
from core.types.belief import ClaimDraft

_CLAUSE_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[,;:()\[\]–—\n]|[.!?](?=\s|$)|&")
_EDGES = " .,;:!?\"'"
MOST_SENTENCES = 3
"""A statement of more sentences is no statement."""
_TEXT_CHARACTERS = 40_000
_SELF, _OWN = "<user>", "<user's>"
_WORD = re.compile(r"[^\W\d_]{3,}")
_FRONT_MATTER = re.compile(r"\s*---[ \t]*\n")
_TWO_THINGS = re.compile(
    r"\b(?:is|are|was|were)\b[^,;.:]{1,80}[,;] (?:and |but )?(?!(?:it|he|she|they|we|i|this|that|there|which|who)\b)"
    r"(?:[\w'’-]+ ){1,3}(?:is|are|was|were)\b",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(r":[^:.!?\n]*[,;][^:.!?\n]*[,;]")
_STEM = 5
_SHORT = 24
"""Content words up to which one sentence makes one point, which a few words can replace."""
_SHARE = 0.4
"""Our choice: so much of what makes several points a text must have in common with it to take its place."""
_MOST_SHARE = 0.6
"""Our choice: with less in common two texts are rather two things than one in other words."""
_TURNS = frozenset({"again", "off", "over", "out", "down", "up", "away", "still", "yet", "without", "instead", "until"})
"""Function words that tell what became of something."""


def has_no_residue(text: str, claims: Sequence[ClaimDraft]) -> bool:
    """Whether the claims read in a text tell all that it tells.

    A claim covers the words of its value and those that lead to it from where its clause begins (behind a sign or a
    joining word), but for an amount: "50 mg of" a medicine is more than that it is taken. What is left may hold
    function words, adverbs and the names of subjects, nothing else.

    Args:
        claims: what was read from it.

    Returns:
        False where a word is left over, or there are no claims.
    """
    found = list(_content_words(text))
    clauses = [span for claim in claims if (span := _clause_span(text, found, claim)) is not None]
    if not clauses:
        return False
    if any(_leads_with_amount(text, found, claim) for claim in claims):
        return False
    idle = (
        stop_words()
        | claim_word_lists().sets["adverb"]
        | {form for claim in claims for form in _subject_forms(claim.subject)}
    )
    return all(
        low in idle or any(begin <= start < end for begin, end in clauses)
        for low, start in found
        if low[0].isalnum()
    )  # fmt: skip


def is_entailed(statement: str, text: str, *, first_person: bool = True, guidance: bool = False) -> bool:
    """Whether a text says every sentence of a statement.

    Args:
        statement: what shall be kept; up to three sentences.
        text: where it is said to come from.
        first_person: whether "I" in the text is the person; else only "the user" is.
        guidance: whether the statement is a rule: then it may be asked for instead of told.

    Returns:
        False in doubt.
    """
    if not statement.isprintable():
        return False  # signs without a face of their own may spell what nobody sees
    wanted = [
        _statement_words(statement[start:end])
        for start, end in split_sentences(statement)
        if statement[start:end].strip()
    ]
    if not wanted or len(wanted) > MOST_SENTENCES or not all(wanted) or len(text) > _TEXT_CHARACTERS:
        return False
    read = [
        _read_entailment_words(one, first_person=first_person)
        for one in _read_unhidden_sentences(text, guidance=guidance)
    ]
    return all(any(_entails_all_of(sentence, one, guidance=guidance) for sentence in read) for one in wanted)


def compared_words(text: str) -> frozenset[str]:
    """The words of a text that carry something, in the form in which statements are compared.

    Returns:
        Forms of words, numbers and names; marks and articles are none.
    """
    read = (_read_entailment_words(read_sentence(text, start, end)) for start, end in split_sentences(text))
    articles = _coverage_lists().sets["articles"]
    words = (word for sentence in read for word in sentence if not word.is_mark and word.low not in articles)
    return frozenset(word.bare or _strip_inflection(word.form) for word in words)


def is_exhausted_by(text: str, statements: Sequence[str]) -> bool:
    """Whether statements cover a text: it says each of them, whole and in its own words, and nothing besides.

    Statements may stand in another order and be joined by commas, "and" or "but"; what begins like the one before it
    may drop that beginning ("likes tea and green tea"), unless the one before denies something behind it.

    Args:
        text: what shall say it; one line.

    Returns:
        False in doubt.
    """
    wanted = [_statement_words(one) for one in statements]
    if not text.isprintable() or not wanted or not all(wanted) or len(text) > _TEXT_CHARACTERS:
        return False
    found = [
        word for start, end in split_sentences(text) for word in _read_entailment_words(read_sentence(text, start, end))
    ]
    read = [word for word in found if word.form not in _coverage_lists().sets["articles"]]
    left = {tuple(word.form for word in one): one for one in wanted}
    at, before = _skip_joining_words(read, 0), list[_Word]()
    while at < len(read):
        taken = _match_statement_at(read, at, before, list(left.values()))
        if taken is None:
            return False
        before, at = taken[0], _skip_joining_words(read, taken[1])
        del left[tuple(word.form for word in before)]
    return not left


def covers_text(existing: str, incoming: str) -> bool:
    """Whether a text is about all that another one says, so that it could take its place.

    Returns:
        True for a text that makes one point, in whatever words; for one that makes several (sentences, lines, front
        matter, a list behind a colon, or very many words) whether two fifths of its content words are in the newcomer.
    """
    old = _significant_stems(existing)
    if _makes_one_point(existing) and len(old) <= _SHORT:
        return True
    return len(old & _significant_stems(incoming)) >= _SHARE * len(old)


def says_all_of(existing: str, incoming: str) -> bool:
    """Whether everything that a newcomer says has a word in what stands: a repeat by meaning is one only then.

    "The museum is shut for renovation." is near to "The museum has reopened its doors.", and says nothing of doors.
    """
    old, new = prepare_text(read_as_seen(existing)), prepare_text(read_as_seen(incoming))
    return _content_stems(new) <= _content_stems(old) and new.numbers <= old.numbers and old.negations == new.negations


def says_most_of(existing: str, incoming: str) -> bool:
    """Whether a newcomer tells hardly more than what stands: three fifths of its content words, no other value.

    A value is a number, a name or a date. "User likes two-space indentation." tells no more than "The user prefers
    2-space indentation."; a show in September tells another one than a show in August. Names do not count: two
    statements of one person have the name in common, whatever they say.
    """
    old, new = prepare_text(read_as_seen(existing)), prepare_text(read_as_seen(incoming))
    if _value_forms(new) - _value_forms(old) or old.negations != new.negations:
        return False
    content = _content_stems(new)
    names = {index_terms(word.form) for side in (old, new) for word in side.words if word.name}
    said = content - names
    return bool(content) and len(said & _content_stems(old)) >= _MOST_SHARE * len(said)


def _value_forms(side: PreparedText) -> frozenset[str]:
    dates = load_vocabulary()["dates"]
    return frozenset(index_terms(word.form) for word in side.words if word.number or word.name or word.form in dates)


def _clause_span(text: str, found: Sequence[tuple[str, int]], claim: ClaimDraft) -> tuple[int, int] | None:
    """From where the clause of a claim begins to the end of its value; None where the text does not name the value."""
    value = claim.value.strip(_EDGES)
    at = text.find(value, claim.start, claim.end) if value else -1
    if at < 0:
        return None
    bounds = [
        start for low, start in found if start < at and (not low[0].isalnum() or low in claim_word_lists().sets["conj"])
    ]
    return max(bounds, default=0), at + len(value)


def _leads_with_amount(text: str, found: Sequence[tuple[str, int]], claim: ClaimDraft) -> bool:
    """Whether a number and its unit stand before the value in the claim's clause."""
    span = _clause_span(text, found, claim)
    if span is None:
        return False
    lead = [low for low, start in found if span[0] <= start < span[1] - len(claim.value.strip(_EDGES))]
    return any(
        number[0].isdigit() and (number[-1].isalpha() or (unit[0].isalpha() and unit not in stop_words()))
        for number, unit in pairwise([*lead, " "])
    )


def _content_words(text: str) -> Iterator[tuple[str, int]]:
    return ((fold_case(match.group()).replace("’", "'"), match.start()) for match in _CLAUSE_WORD.finditer(text))


def _subject_forms(subject: str) -> Iterator[str]:
    yield from (low for low, _ in _content_words(subject))
    yield from value_key(subject).split()


@dataclass(frozen=True, slots=True)
class _EntailmentWords:
    """The word lists of `resources/claims/entailing.json`."""

    sets: Mapping[str, frozenset[str]]
    same: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a sentence in the form in which it is compared.

    Attributes:
        form: in small letters; `_SELF` and `_OWN` for the speaker.
        bare: the third person's and the plural's ending off; "" for what may be a name, which is compared as it stands.
        low: as `ClaimToken` has it, with a plain apostrophe.
        is_mark: whether it is a mark, no word.
        is_real: whether it is told as true.
        is_light: whether a statement may leave it out.
    """

    form: str
    bare: str
    low: str
    is_mark: bool
    is_real: bool
    is_light: bool

    def is_like(self, other: _Word) -> bool:
        """Whether two words are one word in two forms."""
        return self.form == other.form or (bool(self.bare) and self.bare == other.bare)


@cache
def _coverage_lists() -> _EntailmentWords:
    loaded = load_vocabulary_file("entailing.json")
    sets = {name: frozenset(text.split()) for name, text in loaded.items() if isinstance(text, str) and name != "about"}
    return _EntailmentWords(sets, {form: tuple(same.split()) for form, same in loaded["same"].items()})


def _read_unhidden_sentences(text: str, *, guidance: bool) -> Iterator[TokenizedSentence]:
    """The sentences of a text; what is asked, ordered, supposed or told in a story is hidden."""
    story = False
    for start, end in split_sentences(text):
        if not text[start:end].strip() or text[:start].endswith("\n\n"):
            story = False
        sentence = read_sentence(text, start, end)
        if not sentence.tokens or story or len(sentence.tokens) >= MOST_TOKENS:
            continue
        if guidance and not text[start:end].rstrip().endswith("?"):
            yield sentence
            continue
        story = hide_unreal(sentence)
        if not story:
            yield sentence


def _statement_words(text: str) -> list[_Word]:
    """The words of one sentence of a statement, marks at its end and light words off."""
    found = [
        word
        for word in _read_entailment_words(read_sentence(text, 0, len(text)))
        if word.form not in _coverage_lists().sets["articles"]
    ]
    while found and found[-1].is_mark and category(found[-1].form[0]).startswith("P"):
        found.pop()
    return found


def _read_entailment_words(sentence: TokenizedSentence, *, first_person: bool = True) -> list[_Word]:
    lists, found = _coverage_lists(), []
    for token in sentence.tokens:
        low = token.low.replace("’", "'")
        is_mark = not (token.word or low.startswith("'"))
        is_light = low in lists.sets["dropped"] or low in lists.sets["articles"]
        real = not token.hidden and not token.quoted
        for form in _forms_of_word(low, first_person=first_person):
            bare = _strip_inflection(form) if form.isascii() and form.isalpha() and not token.cap else ""
            found.append(_Word(form, bare, low, is_mark, real, is_light))
    return _with_owners(found)


def _forms_of_word(low: str, *, first_person: bool) -> Sequence[str]:
    """The forms under which a word is compared; the user is one word, whoever speaks."""
    lists = _coverage_lists()
    if low == "user" or (first_person and low in lists.sets["speakers"]):
        return (_SELF,)
    if first_person and low in lists.sets["owners"]:
        return (_OWN,)
    if low in lists.same:
        return lists.same[low]
    return (fold_case(fold_width(low)),)


def _strip_inflection(word: str) -> str:
    """A verb's third person or a noun's plural as the bare word; no other ending counts as the same."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _with_owners(words: Sequence[_Word]) -> list[_Word]:
    """What belongs to the user ("the user 's") becomes one word."""
    found: list[_Word] = []
    for word in words:
        if word.low == "'s" and found and found[-1].form == _SELF:
            last = found.pop()
            real = last.is_real and word.is_real
            found.append(_Word(_OWN, "", last.low, is_mark=False, is_real=real, is_light=False))
        else:
            found.append(word)
    return found


def _entails_all_of(sentence: Sequence[_Word], wanted: Sequence[_Word], *, guidance: bool) -> bool:
    """Whether a sentence states the wanted words one after the other, behind whatever reports them."""
    begin = _behind_report(sentence)
    reported = _as_reported_by_user(sentence, begin)
    for at in range(len(reported)):
        end = _find_statement_end(reported, at, wanted)
        if end is not None and _may_begin_at(reported, at, begin, guidance=guidance) and _may_end_at(reported, end):
            return True
    return False


def _find_statement_end(sentence: Sequence[_Word], at: int, wanted: Sequence[_Word]) -> int | None:
    """Where a statement that begins at a word ends, exclusive."""
    place = 0
    while at < len(sentence) and place < len(wanted):
        word = sentence[at]
        if word.is_real and word.is_like(wanted[place]):
            place += 1
        elif not word.is_light or place == 0:
            return None
        at += 1
    return at if place == len(wanted) else None


def _behind_report(sentence: Sequence[_Word]) -> int:
    """Behind "The user said that", "User:": where what the person told begins; 0 where nothing of the kind stands."""
    sets = _coverage_lists().sets
    at = 0
    while at < len(sentence) and (sentence[at].is_mark or sentence[at].is_light):
        at += 1
    if at >= len(sentence) or sentence[at].form != _SELF or at + 1 >= len(sentence):
        return 0
    at += 1
    if sentence[at].low == ":":
        return at + 1
    if sentence[at].low not in sets["reports"]:
        return 0
    at += 1
    while at < len(sentence) and (sentence[at].low in sets["told_whom"] or sentence[at].is_light):
        at += 1
    return at + 1 if at < len(sentence) and sentence[at].low in ("that", ":", ",") else at


def _as_reported_by_user(sentence: Sequence[_Word], begin: int) -> list[_Word]:
    """In what the person is said to have told, the first "they" is the person."""
    found = list(sentence)
    if 0 < begin < len(found) and found[begin].low in _coverage_lists().sets["others"]:
        word = found[begin]
        found[begin] = _Word(_SELF, "", word.low, is_mark=False, is_real=word.is_real, is_light=False)
    return found


def _may_begin_at(sentence: Sequence[_Word], at: int, begin: int, *, guidance: bool) -> bool:
    """Whether a statement may begin at a word: at the sentence's first, behind a mark or a joining word.

    Nothing may stand before it in the sentence that takes it back.
    """
    sets = _coverage_lists().sets
    if at < begin or any(word.low in sets["before"] for word in sentence[begin:at]):
        return False
    before = at - 1
    while before >= begin and sentence[before].is_light and not (guidance and sentence[before].low in sets["asks"]):
        before -= 1
    if before < begin or sentence[before].is_mark or sentence[before].low in sets["joins"]:
        return True
    return guidance and sentence[before].low in sets["asks"]


def _may_end_at(sentence: Sequence[_Word], end: int) -> bool:
    """Whether a statement may end before a word: at a mark, a joining word or a place or time that only adds to it."""
    sets = _coverage_lists().sets
    clause: list[_Word] = []
    for word in sentence[end:]:
        if word.is_mark:
            break
        clause.append(word)
    if any(word.low in sets["behind"] and word.low != "but" for word in clause):
        return False
    rest = [word for word in clause if not word.is_light]
    return not rest or rest[0].low in sets["joins"] or rest[0].low in sets["prepositions"]


def _skip_joining_words(read: Sequence[_Word], at: int) -> int:
    """Behind marks and joining words."""
    while at < len(read) and (read[at].is_mark or read[at].low in _coverage_lists().sets["linking"]):
        at += 1
    return at


def _match_statement_at(
    read: Sequence[_Word], at: int, before: Sequence[_Word], left: Sequence[list[_Word]]
) -> tuple[list[_Word], int] | None:
    """The statement that stands at a place, the longest first, and where it ends."""
    for whole in sorted(left, key=len, reverse=True):
        for dropped in range(_count_droppable_words(before, whole) + 1):
            rest = whole[dropped:]
            end = at + len(rest)
            if rest and end <= len(read) and all(a.is_like(b) for a, b in zip(read[at:end], rest, strict=True)):
                return whole, end
    return None


def _count_droppable_words(before: Sequence[_Word], whole: Sequence[_Word]) -> int:
    """How many words a statement may drop because the one before it begins with them."""
    count = 0
    for first, second in zip(before, whole, strict=False):
        if not first.is_like(second):
            break
        count += 1
    denied = any(word.form in _coverage_lists().sets["denials"] for word in before[count:])
    return 0 if denied else min(count, len(whole) - 1)


def _content_stems(side: PreparedText) -> frozenset[str]:
    """The stems of what tells something, and the function words that tell a turn."""
    left_out = (stop_words() - _TURNS) | load_vocabulary()["owners"]
    return frozenset(index_terms(word.form) for word in side.words if word.form not in left_out)


def _makes_one_point(text: str) -> bool:
    if _FRONT_MATTER.match(text) or _ENUMERATED.search(text) or _TWO_THINGS.search(text):
        return False
    return sum(1 for begin, end in split_sentences(text.strip()) if _WORD.search(text.strip(), begin, end)) <= 1


def _significant_stems(text: str) -> set[str]:
    """The first letters of each word that is no stop word."""
    return {word[:_STEM] for word in _WORD.findall(text.casefold()) if word not in stop_words()}
