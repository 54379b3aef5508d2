"""Partners, children and animals: claims that hang on a noun (`my wife Ingrid`, `two cats, Brio and Largo`).

Must not do: take a noun for a name where it is not sure.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.belief.extract.frames import USER, FrameMatch, Subject, read_left_context, read_owner
from core.belief.extract.sentence import Run, TokenizedSentence, capital_run, word_lists

_FAR = 6


def read_family_claims(sentence: TokenizedSentence) -> Iterator[FrameMatch]:
    """The claims of relatives and animals.

    Yields:
        `partner_is`, `has_child` and `has_pet`.
    """
    known = word_lists().sets
    for i, low in enumerate(sentence.lows):
        token = sentence.tokens[i]
        if i < sentence.begin or token.hidden or token.quoted:
            continue
        if low in known["partner"] or (
            low in ("half", "other") and sentence.lows[i - 1 : i] in (["other"], ["better"], ["significant"])
        ):
            yield from _match_names(sentence, i, "partner_is", several=False)
        elif low in word_lists().sets["family"] and sentence.lows[i + 1 : i + 2] == ["of"]:
            yield from _read_parent_note(sentence, i)
        elif low in known["child"] or low in known["children"]:
            yield from _read_relative(sentence, i, "has_child", low in known["children"])
        elif low in ("pig", "pigs") and sentence.lows[i - 1 : i] == ["guinea"]:
            yield from _read_relative(sentence, i, "has_pet", low == "pigs")
        elif low in known["pet"] or low in known["pets"]:
            yield from _read_relative(sentence, i, "has_pet", low in known["pets"])


def _read_parent_note(sentence: TokenizedSentence, i: int) -> Iterator[FrameMatch]:
    """`father of two, Mia and Ole`."""
    lows = sentence.lows
    if i + 2 < len(lows) and sentence.tokens[i + 2].cap and lows[i - 1] not in ("the", "my", "our", "'s"):
        left = read_left_context(sentence, i - 1 if lows[i - 1] in ("proud", "happy", "devoted", "single") else i)
        if left.subject is not None or left.open:
            for run in _find_names(sentence, i + 2, several=True):
                yield FrameMatch(
                    left.subject, "has_child", run, negative=False, mode="state", at=sentence.begin if left.open else i
                )
    if lows[i + 2 : i + 3] and lows[i + 2] in word_lists().sets["parent"]:
        left = read_left_context(sentence, i)
        if left.subject is not None or left.open:
            for run in _find_names(sentence, i + 3, several=True):
                yield FrameMatch(left.subject, "has_child", run, negative=False, mode="state", at=i)


def _owner_of(sentence: TokenizedSentence, i: int) -> Subject | None:
    """Whose relative the noun at `i` is; words of description may stand between."""
    lows = sentence.lows
    for j in range(i, max(sentence.begin, i - 5) - 1, -1):
        low = lows[j - 1] if j > 0 else ";"
        if low in word_lists().sets["poss"] or low == "'s":
            owner = read_owner(sentence, j)[0]
            return owner if owner and owner.kind != "thing" else None
        if low in word_lists().sets["stop"] | word_lists().sets["det"] or (j > 0 and not sentence.tokens[j - 1].word):
            return None
    return None


def _find_names(sentence: TokenizedSentence, i: int, *, several: bool) -> list[Run]:
    """The name or names behind a noun: `Otto`, `, Otto,`, `is called Otto`, `Brio and Largo`."""
    lows = sentence.lows
    j = i
    while j < len(lows) and j - i < _FAR and lows[j] in word_lists().sets["names_links"] | word_lists().sets["adverb"]:
        j += 1
    behind_name = j > i and lows[j - 1] in word_lists().sets["names"]
    out: list[Run] = []
    while j < len(lows):
        after = capital_run(sentence, j, word_lists().sets["name_links"])
        bad = after == j or lows[j] in word_lists().sets["notname"] | word_lists().sets["month"] | {
            "user",
            "dr",
            "mr",
            "mrs",
        }
        if bad or (lows[j] in word_lists().sets["language"] and not behind_name):
            break
        if not out and j > i and lows[j - 1] == "," and not _set_off(sentence, after, several=several):
            break
        out.append((j, after))
        if not several or after >= len(lows) or lows[after] not in (",", "and", "&"):
            break
        j = after + 1
        while j < len(lows) and lows[j] in (",", "and", "&"):
            j += 1
    if out and _is_name_of_next_clause(sentence, i, out):
        return []
    return out


def _set_off(sentence: TokenizedSentence, after: int, *, several: bool) -> bool:
    low = sentence.lows[after] if after < len(sentence.lows) else "."
    return low in word_lists().sets["set_off"] or (several and low in ("and", "&"))


def _is_name_of_next_clause(sentence: TokenizedSentence, i: int, found: list[Run]) -> bool:
    """`my wife. Anna says` and `the children, Anna and I`: the name begins something else."""
    return any(low in ("i",) for run in found for low in sentence.lows[run[0] : run[1]]) or sentence.lows[i - 1] == "ex"


def _match_names(sentence: TokenizedSentence, i: int, predicate: str, *, several: bool) -> Iterator[FrameMatch]:
    owner = _owner_of(sentence, i)
    lows = sentence.lows
    if owner is None and i == sentence.begin and lows[i + 1 : i + 2] in ([":"], ["="], ["is"]):
        owner = Subject(USER, USER)
    former = any(low in word_lists().sets["named"] for low in lows[max(0, i - 3) : i])
    former = former or (lows[i] == "partner" and i > 0 and lows[i - 1] in word_lists().sets["partner_in"])
    if owner is None or former:
        return
    after = i + 1
    if lows[after : after + 2] == ["'s", "name"]:
        after += 2
    elif _is_owner_of_more(sentence, after):
        return
    for run in _find_names(sentence, after, several=several):
        negative = any(low in word_lists().sets["neg"] for low in lows[after : run[0]])
        yield FrameMatch(owner, predicate, run, negative, "state", i)


def _is_owner_of_more(sentence: TokenizedSentence, i: int) -> bool:
    """`my wife's car`: what stands there is hers and not her name."""
    named = sentence.lows[i + 1 : i + 2] in (["called"], ["named"]) or _is_name_end(sentence, i + 1)
    return sentence.lows[i : i + 1] == ["'s"] and not named


def _is_name_end(sentence: TokenizedSentence, i: int) -> bool:
    after = capital_run(sentence, i, word_lists().sets["name_links"])
    return after > i and (after >= len(sentence.lows) or sentence.lows[after] in word_lists().sets["is_name_end"])


def _read_relative(sentence: TokenizedSentence, i: int, predicate: str, several: bool) -> Iterator[FrameMatch]:
    owner = _owner_of(sentence, i)
    if owner is not None:
        yield from _with_names(sentence, i, predicate, owner, several=several)
        return
    possessor = _read_possessor(sentence, i) or _read_noun_note(sentence, i)
    if possessor is None:
        return
    owner, negative, at = possessor
    runs = [] if negative else _find_names(sentence, _past_description(sentence, i), several=several)
    if not runs:
        runs = [(_noun_start(sentence, i), i + 1)] if _is_phrase_end(sentence, i) else []
    for run in runs:
        yield FrameMatch(owner, predicate, run, negative, "state", at)


def _with_names(
    sentence: TokenizedSentence, i: int, predicate: str, owner: Subject, *, several: bool
) -> Iterator[FrameMatch]:
    lows = sentence.lows
    after = i + 1
    if lows[after : after + 1] == ["'s"] and lows[after + 1 : after + 2] not in (["name"], ["called"], ["named"]):
        return
    if lows[after : after + 1] == ["'"] and lows[after + 1 : after + 2] == ["names"]:
        after += 1
    if (
        lows[after : after + 1] in (["is"], ["are"])
        and not _is_name_end(sentence, after + 1)
        and lows[after + 1 : after + 2] not in (["called"], ["named"])
    ):
        return
    for run in _find_names(sentence, after, several=several):
        yield FrameMatch(owner, predicate, run, negative=False, mode="state", at=i)


def _past_description(sentence: TokenizedSentence, i: int) -> int:
    """Behind `ferret in my house`, `daughter of four`: where the name would stand."""
    lows = sentence.lows
    for j in range(i + 1, min(i + 8, len(lows))):
        if lows[j] in ("called", "named", ":"):
            return j
        if not sentence.tokens[j].word or lows[j] in word_lists().sets["finite"]:
            break
    return i + 1


def _read_noun_note(sentence: TokenizedSentence, i: int) -> tuple[Subject | None, bool, int] | None:
    """A note that begins with the noun (`No pets.`, `Two cats at home: Pixel and Dot.`)."""
    lows, begin = sentence.lows, sentence.begin
    if i - begin not in (1, 2, 3):
        return None
    if (
        lows[i - 1] == "no"
        and (i == begin + 1 or lows[i - 2] == ",")
        and lows[i + 1 : i + 2] in (["."], [","], ["!"], ["at"], [], ["or"], ["yet"], ["and"])
    ):
        return Subject(USER, USER), True, i - 1
    counted = lows[begin] in word_lists().sets["noted"]
    return (
        (Subject(USER, USER), False, begin)
        if counted and _find_names(sentence, _past_description(sentence, i), several=True)
        else None
    )


def _read_possessor(sentence: TokenizedSentence, i: int) -> tuple[Subject | None, bool, int] | None:
    """Who has the noun at `i`: `we have a`, `User is a baker with two`, `there's a ... in my house`."""
    lows = sentence.lows
    first = i
    while (
        first > sentence.begin
        and i - first < 6
        and sentence.tokens[first - 1].word
        and lows[first - 1]
        not in word_lists().sets["have"] | word_lists().sets["conj"] | word_lists().sets["had.bounds"]
    ):
        first -= 1
    low = lows[first - 1] if first > sentence.begin else ""
    negative = any(word in word_lists().sets["neg"] for word in lows[first:i])
    if low in ("is", "'s") and lows[max(0, first - 2)] == "there":
        is_users = "my" in lows[i:] or "our" in lows[i:]
        return (Subject(USER, USER), negative, first - 1) if is_users else None
    if low == "of" and lows[max(0, first - 2)] in word_lists().sets["had.kin"]:
        low, first = "have", first - 2
        left = read_left_context(sentence, first)
        return (left.subject, negative, first) if left.subject else None
    if low in ("and", ","):
        first = next(
            (
                j + 1
                for j in range(first - 2, max(sentence.begin, first - 12) - 1, -1)
                if lows[j] in word_lists().sets["have"]
            ),
            first,
        )
        low = lows[first - 1] if first > sentence.begin else ""
    if lows[first] == "any" and read_left_context(sentence, first - 1).negative:
        negative = True
    if low not in word_lists().sets["have"] or (
        lows[first] not in word_lists().sets["had.counts"]
        and not negative
        and not lows[first].isdigit()
        and not (first == i and lows[i] in word_lists().sets["pets"])
    ):
        return None
    left = read_left_context(sentence, first - 1)
    if low == "with":
        context = read_left_context(sentence, _verb_before(sentence, first - 1))
        return (context.subject, negative, first - 1) if context.subject is not None else None
    if left.hedged or left.modal or left.past or (left.subject is None and not left.open):
        return None
    if left.subject is not None and left.subject.kind not in ("user", "person", "name", "third"):
        return None
    return left.subject, negative or left.negative, first - 1


def _verb_before(sentence: TokenizedSentence, i: int) -> int:
    for j in range(i, sentence.begin, -1):
        if sentence.lows[j] in word_lists().sets["verb_before"] or not sentence.tokens[j].word:
            return j
    return sentence.begin


def _noun_start(sentence: TokenizedSentence, i: int) -> int:
    return i - 1 if sentence.lows[i - 1] == "guinea" else i


def _is_phrase_end(sentence: TokenizedSentence, i: int) -> bool:
    low = sentence.lows[i + 1] if i + 1 < len(sentence.lows) else "."
    if low == "," and sentence.lows[i + 2 : i + 3] in (["a"], ["an"], ["called"], ["named"]):
        return False
    return low in word_lists().sets["ends_here"]
