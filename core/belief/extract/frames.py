"""Finds ways of saying a claim among the words of a sentence, and reads the claim they make.

Every step looks at a bounded number of words: a frame has at most two gaps of `_GAP` words, so the work grows with the
length of the sentence and never faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.belief.extract.phrases import Run
from core.belief.extract.subject import USER, LeftContext, Subject, read_left_context, read_name_at, read_owner
from core.belief.extract.tokens import TokenizedSentence
from core.belief.extract.values.common import READERS, Reader
from core.belief.extract.values.things import THINGS
from core.belief.extract.vocabulary import Frame, frames, word_lists

_GAP = 5
_TAKES: dict[str, Reader] = {**READERS, **THINGS}
_KINDS = {
    "org": "orgcap",
    "orglater": "orgcap",
    "ownname": "name",
    "toolrun": "toolcap",
    "tool": "toolcap",
    "toolin": "toolcap",
    "toollabel": "toolcap",
    "placesince": "place",
    "age": "agebare",
    "ageturn": "agebare",
    "condsure": "cond",
}


@dataclass(frozen=True, slots=True)
class FrameMatch:
    """One claim found in a sentence.

    Attributes:
        subject: whose claim it is; `third` where a pronoun names it, None where the note leaves it out.
        predicate: what it claims.
        run: the tokens of its value.
        negative: whether it is denied.
        mode: `state`, `start` or `end`.
        at: the token of the words that make it.
    """

    subject: Subject | None
    predicate: str
    run: Run
    negative: bool
    mode: str
    at: int


def match_frames(sentence: TokenizedSentence) -> Iterator[FrameMatch]:
    """The claims that frames find, in the order of the text.

    Args:
        sentence: a sentence whose phrases of time are hidden.

    Yields:
        Claims; a claim may come twice, in two ways of finding it.
    """
    table = frames()
    for i, token in enumerate(sentence.tokens):
        if token.hidden or token.quoted or i < sentence.begin:
            continue
        for frame in table.get(token.low, ()):
            after = _fit(frame, 0, sentence, i)
            if after is not None:
                yield from _read(frame, sentence, i, after)


def _fit(frame: Frame, k: int, sentence: TokenizedSentence, j: int) -> int | None:
    """Where the words of a frame end that begin at token `j` with its word `k`; None if they do not stand there."""
    lows = sentence.lows
    if k == len(frame.words):
        return j
    alternatives = frame.words[k]
    if "~" in alternatives:
        return _fit_gap(frame, k, sentence, j)
    if j < len(lows) and lows[j] in alternatives:
        found = _fit(frame, k + 1, sentence, j + 1)
        if found is not None:
            return found
    if frame.optional[k]:
        return _fit(frame, k + 1, sentence, j)
    step = _stepped(sentence, j) if k else j
    return _fit(frame, k, sentence, step) if step > j and step < len(lows) and lows[step] in alternatives else None


def _fit_gap(frame: Frame, k: int, sentence: TokenizedSentence, j: int) -> int | None:
    least = 0 if frame.optional[k] else 1
    for width in range(least, _GAP + 1):
        if j + width > len(sentence.tokens) or any(not token.word for token in sentence.tokens[j : j + width]):
            return None
        found = _fit(frame, k + 1, sentence, j + width)
        if found is not None:
            return found
    return None


def _stepped(sentence: TokenizedSentence, j: int) -> int:
    """Step over at most three adverbs and denials."""
    known = word_lists().sets
    stop = min(len(sentence.lows), j + 3)
    while j < stop and (sentence.lows[j] in known["adverb"] or sentence.lows[j] in known["neg"]):
        j += 1
    return j


def _read(frame: Frame, sentence: TokenizedSentence, at: int, after: int) -> Iterator[FrameMatch]:
    reader = _TAKES.get(frame.take)
    if reader is None:
        return
    if frame.left:
        yield from _from_left(frame, sentence, at, reader)
        return
    held, after = (
        _object(sentence, at, after) if frame.who == "object" else (_holder(frame, sentence, at, after), after)
    )
    if held is None:
        return
    subject, negative, mode = held
    begin = after if reader(sentence, after) else _stepped(sentence, after)
    if begin > after:
        negative = negative or any(low in word_lists().sets["neg"] for low in sentence.lows[after:begin])
    if begin < len(sentence.lows) and sentence.lows[begin] in ("neither", "no") and frame.take in ("lang", "list"):
        negative, begin = True, begin + 1
    if frame.take in ("tooltwo", "toolswap"):
        yield from _replaced(frame, sentence, at, begin, subject)
        return
    taken = reader(sentence, begin) if begin < len(sentence.lows) else []
    yield from _made(frame, sentence, at, taken, subject, negative=negative, mode=mode)


def _replaced(
    frame: Frame, sentence: TokenizedSentence, at: int, begin: int, subject: Subject | None
) -> Iterator[FrameMatch]:
    """`switched from Jira to Linear`: one tool ends, another begins."""
    reader = _TAKES["toolcap"]
    old = reader(sentence, begin)
    if len(old) != 1 or old[0][1] >= len(sentence.lows) or sentence.lows[old[0][1]] not in ("to", "with", "by", "for"):
        return
    new = reader(sentence, old[0][1] + 1)
    known = word_lists().sets["tool"]
    if sentence.lows[at] in ("moved", "went", "changed") and sentence.lows[old[0][0]] not in known:
        return
    if new:
        yield FrameMatch(subject, frame.predicate, old[0], negative=False, mode="end", at=at)
        yield FrameMatch(subject, frame.predicate, new[0], negative=False, mode="start", at=at)


def _made(
    frame: Frame,
    sentence: TokenizedSentence,
    at: int,
    taken: Sequence[Run],
    subject: Subject | None,
    *,
    negative: bool,
    mode: str,
) -> Iterator[FrameMatch]:
    predicate = frame.predicate
    if negative and frame.turned:
        if frame.turned == "-":
            return
        predicate, negative = frame.turned, False
    for run in taken:
        if (
            not frame.left
            and sentence.lows[run[1] : run[1] + 1]
            and sentence.lows[run[1]] in word_lists().sets["standing"]
        ):
            continue
        yield FrameMatch(subject, predicate, run, negative, mode, at)
        if (
            predicate == "job_title_is"
            and not negative
            and sentence.lows[run[1] : run[1] + 1] in (["at"], ["for"], ["with"])
        ):
            for place in _TAKES["orgcap"](sentence, run[1] + 1)[:1]:
                yield FrameMatch(subject, "works_at", place, negative=False, mode=mode, at=at)
    if taken and not negative and frame.take in word_lists().sets["same_kind"]:
        for run in _denied(frame, sentence, taken[-1][1]):
            yield FrameMatch(subject, predicate, run, negative=True, mode="state", at=at)


def _denied(frame: Frame, sentence: TokenizedSentence, after: int) -> list[Run]:
    """B in "A, not B" and "A, for the record, not B"."""
    lows = sentence.lows
    for j in range(after, min(after + 8, len(lows) - 1)):
        if lows[j] in word_lists().sets["denied.ends"]:
            break
        if lows[j] == "not" and j > 0 and lows[j - 1] in word_lists().sets["denied.before"]:
            reader = _TAKES[_KINDS.get(frame.take, frame.take)]
            found = reader(sentence, j + 1)
            if lows[j + 1] in word_lists().sets["denied.fillers"]:
                found = found or reader(sentence, j + 2)
            return found
    return []


def _holder(frame: Frame, sentence: TokenizedSentence, at: int, after: int) -> tuple[Subject | None, bool, str] | None:
    """Whose claim a frame makes, whether it is denied, and its mode; None if it makes none here."""
    lows = sentence.lows
    negative = frame.negative or any(
        low in word_lists().sets["neg"] for low in lows[at:after] if frame.predicate != "dislikes"
    )
    if frame.who == "owner":
        owner = _owner(sentence, at, things=frame.predicate == "goal_is")
        if owner and owner.kind == "thing" and owner.text.split()[-1].lower() in word_lists().sets["times"]:
            owner = Subject(USER, USER)
        if owner and frame.predicate == "name_is" and _family_word(sentence, at):
            return None
        told_as_past = any(low in ("was", "were", "wasn't") for low in lows[at:after])
        return None if owner is None else (owner, negative, "past" if told_as_past else frame.mode)
    if frame.who == "never":
        return None
    if frame.subjectless:
        told = lows[at] in word_lists().sets["holder"] or lows[after - 1] in ("me",) or _opens(sentence, at)
        return (Subject(USER, USER), negative, frame.mode) if told else None
    if lows[at] == "like" and at > sentence.begin and lows[at - 1] in word_lists().sets["preposed"]:
        return None
    left = read_left_context(sentence, at)
    if frame.predicate == "name_is" and left.subject and _family_word(sentence, left.subject.after):
        return None
    mode = _mode(frame, sentence, at, left)
    if mode is None or not _fits(frame, sentence, at, left):
        return None
    return left.subject, negative or left.negative, mode


def _object(sentence: TokenizedSentence, at: int, after: int) -> tuple[tuple[Subject | None, bool, str] | None, int]:
    """Whom something is done to (`diagnosed Otto with`, `put me on`), and where that ends."""
    last = after
    while last < len(sentence.lows) and last - after < 4 and sentence.lows[last] not in ("with", "on"):
        last += 1
    if last >= len(sentence.lows) or sentence.lows[last] not in ("with", "on") or last == after:
        return None, after
    low = sentence.lows[after]
    subject = Subject(USER, USER) if low in ("me", "us") else read_name_at(sentence, last - 1, after)
    if low in ("him", "her") and last == after + 1:
        subject = Subject(low, "third")
    left = read_left_context(sentence, at)
    if subject is None or left.hedged or left.negative or left.modal:
        return None, after
    return (subject, False, "start"), last + 1


def _family_word(sentence: TokenizedSentence, at: int) -> bool:
    """Whether it is the name of a partner, a child or an animal, which says more than `name_is`."""
    known = word_lists().sets
    before = sentence.lows[max(0, at - 2) : at]
    return any(low in known[name] for low in before for name in word_lists().sets["family_word"])


def _owner(sentence: TokenizedSentence, at: int, *, things: bool) -> Subject | None:
    if sentence.lows[at] in ("my", "our"):
        return Subject(USER, USER, at, at + 1)
    if sentence.lows[at] in word_lists().sets["poss"]:
        return Subject(sentence.lows[at], "third", at, at + 1)
    owner, is_open = read_owner(sentence, at)
    if owner is not None:
        return owner if things or owner.kind != "thing" else None
    return Subject(USER, USER) if is_open else None


def _opens(sentence: TokenizedSentence, at: int) -> bool:
    before = sentence.lows[at - 1] if at > sentence.begin else ";"
    return before in word_lists().sets["opens"]


def _mode(frame: Frame, sentence: TokenizedSentence, at: int, left: LeftContext) -> str | None:
    """Whether it holds, began or ended; None for what is told as past without saying so."""
    if left.past:
        return "end"
    low = sentence.lows[at]
    if low in word_lists().sets["plain_past"] and frame.mode == "state":
        before = sentence.lows[left.edge : at]
        helped = any(word in word_lists().sets["mode"] for word in before)
        going = low.endswith("ing") and left.open
        return "state" if (helped or going) and low not in ("was", "were") else "past"
    return frame.mode


def _fits(frame: Frame, sentence: TokenizedSentence, at: int, left: LeftContext) -> bool:
    if left.hedged or (left.modal and not frame.modal and not (left.modal == "'d" and frame.take == "rather")):
        return False
    subject = left.subject
    if subject is None:
        if not left.open:
            return False
        first = at <= sentence.begin
        if (
            frame.predicate in ("likes", "dislikes")
            and not first
            and sentence.lows[at - 1] in word_lists().sets["fits.joined"]
        ):
            return sentence.lows[at] in word_lists().sets["fits.feelings"] or (
                sentence.lows[at] in word_lists().sets["fits.spoken_feelings"]
                and bool({"i", "we"} & set(sentence.lows[:at]))
            )
        return (
            frame.bare
            or not first
            or sentence.lows[at]
            not in word_lists().sets["commands"]
            | word_lists().sets["skillverb"]
            | word_lists().sets["fits.plain_verbs"]
            or sentence.lows[at] in ("has",)
        )
    kinds = {
        "person": ("user", "person", "name", "third"),
        "any": word_lists().sets["fits.kinds"],
        "user": ("user",),
        "thing": ("thing", "name", "third"),
    }
    return subject.kind in kinds[frame.who] and subject.text not in ("it",)


def _from_left(frame: Frame, sentence: TokenizedSentence, at: int, reader: Reader) -> Iterator[FrameMatch]:
    """The claim of a frame whose value stands before its words."""
    lows = sentence.lows
    first = at
    while (
        first > sentence.begin
        and at - first < 9
        and (sentence.tokens[first - 1].word or lows[first - 1] in ("&", "'s", "'"))
    ):
        if sentence.tokens[first - 1].hidden:
            break
        first -= 1
    if lows[first] in word_lists().sets["from_left.joins"]:
        first += 1
    if frame.who == "left" and lows[first] not in ("my", "her", "his", "our"):
        return
    subject = Subject(USER, USER) if lows[first] not in ("her", "his") else Subject(lows[first], "third")
    end = at
    while end > first and lows[end - 1] in word_lists().sets["adverb"]:
        end -= 1
    sentence.tokens[end].hidden = True  # what stands before the words ends there
    taken = reader(sentence, first)
    sentence.tokens[end].hidden = False
    behind = taken[-1][1] if taken else end
    relative = behind < end and lows[behind] in word_lists().sets["from_left.relatives"]
    if taken and (behind == end or relative):
        negative = frame.negative or any(
            low in word_lists().sets["neg"] for low in lows[end : at + 3] if frame.predicate != "dislikes"
        )
        yield from _made(frame, sentence, at, taken, subject, negative=negative, mode=frame.mode)
