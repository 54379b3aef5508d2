"""The claims of one sentence by the claim model that ships, and which of them stand beside those that rules read.

A token is marked as beginning or going on with a value of a predicate of the vocabulary, or as neither; beside it stand
marks of the subjects, whether a value is somebody else's than the speaker's, and whether it is denied. Where rules and
model agree, and where the model has nothing surer to say, what rules read stands. A value that only the model finds is
believed from one confidence on, one that contradicts what rules read of the same words from another; and what rules
read goes where the model finds nothing of the kind in its words. Whatever its confidence, nothing of the model's is
believed that the words around it tell against (`resources/claims/doubts.json`): a date is nobody's birthday without a
word of birth, who is wanted as an editor is none yet, and what somebody looks into is not what they study. Must not do:
fetch anything, keep or log a text, or import the runtime before the first sentence.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.extract.facts import is_day_of_birth
from core.belief.extract.frames import USER, Subject, predicate_names, read_left_context
from core.belief.extract.normal_form import value_key
from core.belief.extract.sentence import (
    Run,
    TokenizedSentence,
    claim_word_lists,
    load_vocabulary_file,
    phrase_at,
    phrases_by_first_word,
)
from core.embed.embedder import ModelFiles, ModelManifest, SentenceSession, read_manifest, runtime_faults
from core.errors import Code, LociError
from core.talk.reader_features import SentenceFeatures, TextTokens, encode_sentence, softmax
from core.types.belief import ClaimDraft
from core.types.talk import SentenceInContext

NOTHING, BEGIN, CONTINUE = 0, 1, 2
OTHERS, DENIED = 3, 4
"""Logits of a token behind those of its tag: the three of a subject, then one each for "somebody else's", "denied"."""
SIDE = 5
LIMITS = ("added", "replaces", "backed")
_MOST_RECENT = 32
"""Readings that are kept, more than one text has: it is read ahead, for how long it lasts, and for its claims."""

_BEFORE_ROLE = 4
"""Words that may stand between "as" and a job: "as a part-time map editor"."""
_BEFORE_SUBJECT, _BEHIND_SUBJECT = 4, 5
"""Words of an apposition on either side of the name in it: "the mother of Wilf", "Wilf's oldest friend"."""
_MARKS = frozenset((",", ";", ":", "(", ")", "–", "—"))
_COMMA, _AS, _TO = ",", "as", "to"

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ReadValue:
    """One value that the model finds in a sentence.

    Attributes:
        predicate: a name of the vocabulary.
        value: its characters (from, to).
        subject: those that name its subject; None for the speaker.
        is_denied: whether the sentence says that it is not so.
        confidence: how likely all of it is right, 0 to 1; not calibrated further than its thresholds.
    """

    predicate: str
    value: Span
    subject: Span | None
    is_denied: bool
    confidence: float


@dataclass(frozen=True, slots=True)
class ClaimReading:
    """What the model says of one sentence.

    Attributes:
        values: in the order of the sentence.
        shares: how likely each token belongs to a value of each predicate, (tokens, predicates).
        offsets: characters (from, to) of each token.
    """

    values: tuple[ReadValue, ...]
    shares: NDArray[np.float64]
    offsets: tuple[Span, ...]

    def backing(self, predicate: str, value: Span) -> float:
        """How likely any word of a value belongs to a value of the predicate; 1 where it was not read so far."""
        inside = [nr for nr, (start, end) in enumerate(self.offsets) if start < value[1] and end > value[0]]
        return float(self.shares[inside, predicate_names().index(predicate)].max()) if inside else 1.0


@dataclass(frozen=True, slots=True)
class ClaimCard:
    """What the manifest of the claim model says.

    Attributes:
        limits: each of `LIMITS`: from which confidence a value is believed where rules read nothing, from which one it
            stands for what rules read of the same words, and the least backing of what rules read.
    """

    manifest: ModelManifest
    limits: Mapping[str, float]


class ClaimModel:
    """Reads sentences; loads its files when the first one comes. Several threads may use it at once."""

    def __init__(self, folder: Traversable | None = None) -> None:
        """Make one; nothing is read yet.

        Args:
            folder: the folder with manifest.json and model.onnx; None for the bundled one.
        """
        self._files = ModelFiles(claims_folder() if folder is None else folder, "model that reads claims")
        self._session = SentenceSession(self._files)
        self._card: ClaimCard | None = None
        # Each under the digest of its sentence; the lock guards both.
        self._lock = threading.Lock()
        self._recent: dict[bytes, ClaimReading] = {}
        self._begun: dict[bytes, Future[ClaimReading]] = {}

    @property
    def card(self) -> ClaimCard:
        """What the manifest of the claim model says.

        Raises:
            EnvironmentFaultError: E3001 if the manifest is missing, unreadable or incomplete.
        """
        if self._card is None:
            self._card = read_card(self._files)
        return self._card

    def read(self, sentence: str) -> ClaimReading:
        """Read a sentence, its first 64 tokens; where another thread is about it, wait for that one.

        Raises:
            LociError: E3001 if the model cannot be loaded, E3002 if it gave no usable answer.
        """
        digest = hashlib.sha256(sentence.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            found, begun = self._recent.get(digest), self._begun.get(digest)
            if found is not None:
                return found
            own = self._begun.setdefault(digest, Future())
        return self._read_for_all(digest, sentence, own) if begun is None else begun.result()

    def _read_for_all(self, digest: bytes, sentence: str, reply: Future[ClaimReading]) -> ClaimReading:
        """Read what nobody reads yet, and tell whoever waits for it."""
        try:
            found = self._read_anew(sentence)
        except BaseException as error:
            with self._lock:
                del self._begun[digest]
            reply.set_exception(error)
            raise
        with self._lock:
            del self._begun[digest]
            while len(self._recent) >= _MOST_RECENT:
                del self._recent[next(iter(self._recent))]
            self._recent[digest] = found
        reply.set_result(found)
        return found

    def _read_anew(self, sentence: str) -> ClaimReading:
        encoder, session = self._session.load(self.card.manifest)
        row = encode_sentence(TextTokens(encoder.tokenizer, encoder.word_tokens), SentenceInContext(sentence))
        try:
            (marks,) = session.run(None, {"words": encoder.vectors(row.ids)[None], "kinds": row.kinds[None]})
        except runtime_faults() as error:
            raise LociError(Code.EMBEDDING_FAILED, "The model that reads claims failed on a sentence.") from error
        if marks.shape != (1, len(row.ids), count_logits()) or not np.isfinite(marks).all():
            raise LociError(Code.EMBEDDING_FAILED, "The model that reads claims gave no usable answer.")
        return read_claim_marks(marks[0].astype(np.float64), row, sentence)

    def rest(self) -> None:
        """Let go of what was loaded; who is reading goes on, and who reads again loads it again."""
        self._session.rest()
        with self._lock:
            self._recent.clear()


@dataclass(frozen=True, slots=True)
class ReconciledClaims:
    """The claims of a sentence that stand once rules and claim model are heard.

    Attributes:
        dropped: what rules read and the model does not bear out.
        added: what the model finds beside the rest, or in its place.
    """

    dropped: tuple[ClaimDraft, ...]
    added: tuple[ReadValue, ...]


def reconcile_claims(
    drafts: Sequence[ClaimDraft], reading: ClaimReading, sentence: str, limits: Mapping[str, float]
) -> ReconciledClaims:
    """Decide between the claims that the rules read in a sentence and those of the claim model.

    Args:
        drafts: what rules read in the sentence.
        reading: what the model says of it.
        sentence: its text.
        limits: by the names in `LIMITS`.
    """
    places = [find_claim_value(sentence, draft.value) for draft in drafts]
    kept: list[Span] = []
    dropped: list[ClaimDraft] = []
    for draft, place in zip(drafts, places, strict=True):
        if place is None or _is_agreed(draft, place, reading, sentence):
            kept += [] if place is None else [place]
        elif _is_outdone(place, reading, limits["replaces"]) or (
            reading.backing(draft.predicate, place) < limits["backed"]
        ):
            dropped.append(draft)
        else:
            kept.append(place)
    added = [
        one
        for one in reading.values
        if one.confidence >= limits["added"] and not any(_do_spans_overlap(one.value, place) for place in kept)
    ]
    return ReconciledClaims(tuple(dropped), tuple(added))


def find_claim_value(sentence: str, value: str) -> Span | None:
    """Where a value stands in its sentence, without regard to case; None where it was written otherwise."""
    start = sentence.casefold().find(value.casefold())
    return None if start < 0 or len(sentence.casefold()) != len(sentence) else (start, start + len(value))


def claims_folder() -> Traversable:
    """The folder of the claim model that ships with Loci."""
    return files("resources").joinpath("model").joinpath("claims")


def read_card(model: ModelFiles) -> ClaimCard:
    """Read the manifest of the claim model.

    Raises:
        EnvironmentFaultError: E3001 if it is missing, unreadable or incomplete.
    """
    manifest = read_manifest(model, _is_sound)
    return ClaimCard(manifest, {name: float(manifest.content["limits"][name]) for name in LIMITS})


def _is_sound(content: Mapping[str, Any]) -> bool:
    return content["predicates"] == list(predicate_names()) and all(
        float(content["limits"][one]) >= 0 for one in LIMITS
    )


def count_logits() -> int:
    """Logits of a token: nothing, two for each predicate, and those beside."""
    return 1 + 2 * len(predicate_names()) + SIDE


def read_claim_marks(marks: NDArray[np.float64], features: SentenceFeatures, text: str) -> ClaimReading:
    """Turn the claim model's logits for a sentence into marks.

    Args:
        marks: shape (length, `count_logits()`).
        features: of the sentence they were made of.
        text: the sentence.
    """
    own = marks[1 : len(features.offsets) + 1]
    tags = softmax(own[:, :-SIDE])
    subjects = list(_runs_of_subjects(own[:, -SIDE : -SIDE + OTHERS].argmax(1)))
    side = 1 / (1 + np.exp(-np.clip(own[:, -SIDE + OTHERS :], -30, 30)))
    values = tuple(_read_tagged_values(tags, side, subjects, features.offsets, text))
    return ClaimReading(values, tags[:, 1::2] + tags[:, 2::2], features.offsets)


def _read_tagged_values(
    tags: NDArray[np.float64],
    side: NDArray[np.float64],
    subjects: Sequence[Span],
    offsets: Sequence[Span],
    text: str,
) -> Iterator[ReadValue]:
    """The values that the model's tags mark, each with predicate, subject, polarity and likelihood."""
    for first, last in _claim_value_runs(tags.argmax(1)):
        nr = (int(tags[first].argmax()) - 1) // 2
        sure = (tags[first, 1 + 2 * nr] + tags[first, 2 + 2 * nr]) * tags[first + 1 : last, 2 + 2 * nr].prod()
        if last < len(offsets):
            sure *= 1 - tags[last, 2 + 2 * nr]
        others, denied = (float(share) for share in side[first])
        sure *= max(others, 1 - others) * max(denied, 1 - denied)
        nearest_subject = min(subjects, key=lambda run: (run[0] >= first, abs(first - run[1])), default=None)
        if others > 0.5 and nearest_subject is None:
            continue
        subject = None if others <= 0.5 or nearest_subject is None else _widen_to_words(offsets, nearest_subject, text)
        value = _without_loose_end(text, _widen_to_words(offsets, (first, last), text))
        yield ReadValue(predicate_names()[nr], value, subject, denied > 0.5, float(sure))


def _claim_value_runs(tags: NDArray[np.int64]) -> Iterator[Span]:
    """Tokens (from, to) of each value: a tag of a predicate and what goes on with it."""
    first = 0
    while first < len(tags):
        last = first + 1
        if tags[first]:
            continuation = 2 * ((tags[first] - 1) // 2) + CONTINUE
            while last < len(tags) and tags[last] == continuation:
                last += 1
            yield first, last
        first = last


def _runs_of_subjects(marks: NDArray[np.int64]) -> Iterator[Span]:
    """Tokens (from, to) of each subject that is begun."""
    for first in np.flatnonzero(marks == BEGIN):
        last = int(first) + 1
        while last < len(marks) and marks[last] == CONTINUE:
            last += 1
        yield int(first), last


def _widen_to_words(offsets: Sequence[Span], run: Span, text: str) -> Span:
    """The whole words that tokens are parts of."""
    start, end = offsets[run[0]][0], offsets[run[1] - 1][1]
    while 0 < start < len(text) and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _without_loose_end(text: str, value: Span) -> Span:
    """A value without a preposition, an article or a joining word behind which nothing of it stands."""
    start, end = value
    loose = claim_word_lists().sets["loose_ends"]
    while True:
        head, _, last = text[start:end].rstrip().rpartition(" ")
        if not head.strip() or last.casefold() not in loose:
            return start, start + len(text[start:end].rstrip())
        end = start + len(head)


def _is_agreed(draft: ClaimDraft, place: Span, reading: ClaimReading, sentence: str) -> bool:
    return any(
        one.predicate == draft.predicate
        and _do_spans_overlap(one.value, place)
        and value_key(sentence[slice(*one.value)]) == value_key(draft.value)
        for one in reading.values
    )


def _is_outdone(place: Span, reading: ClaimReading, least: float) -> bool:
    return any(one.confidence >= least and _do_spans_overlap(one.value, place) for one in reading.values)


def _do_spans_overlap(one: Span, other: Span) -> bool:
    """Whether two spans have a character in common."""
    return one[0] < other[1] and other[0] < one[1]


def is_doubtful(one: ReadValue, sentence: TokenizedSentence) -> bool:
    """Whether the words around a value of the model's tell that it is not so.

    Args:
        one: the value; its places are counted from where the sentence begins.
        sentence: the sentence it was found in.
    """
    check = _CHECKS.get(one.predicate)
    run = _tokens_of(sentence, one.value)
    return check is not None and run is not None and check(one, sentence, run)


def find_head_of_apposition(one: ReadValue, sentence: TokenizedSentence) -> Subject | None:
    """Whom an apposition describes that the model takes the subject from: Amina, in "Amina, Wilf's mother, is ...".

    Args:
        one: a value of the model's; its places are counted from where the sentence begins.
        sentence: the sentence it was found in.

    Returns:
        The subject before the first comma; None where the subject stands in no apposition.
    """
    run = None if one.subject is None else _tokens_of(sentence, one.subject)
    value = _tokens_of(sentence, one.value)
    if run is None or value is None:
        return None
    lows = sentence.lows
    opening = next((n for n in range(run[0] - 1, max(0, run[0] - 1 - _BEFORE_SUBJECT), -1) if lows[n] == _COMMA), 0)
    behind = range(run[1], min(run[1] + _BEHIND_SUBJECT, value[0]))
    closing = next((n for n in behind if lows[n] == _COMMA), 0)
    if not opening or not closing:
        return None
    head = read_left_context(sentence, closing + 1).subject
    return head if head is not None and head.after <= opening else None


def _tokens_of(sentence: TokenizedSentence, span: tuple[int, int]) -> Run | None:
    """The tokens in characters of a sentence."""
    start, end = (sentence.start + place for place in span)
    inside = [n for n, token in enumerate(sentence.tokens) if token.start < end and token.end > start]
    return (inside[0], inside[-1] + 1) if inside else None


@cache
def _doubt_words() -> Mapping[str, frozenset[str]]:
    loaded = load_vocabulary_file("doubts.json")
    return {name: frozenset(found.split()) for name, found in loaded.items() if isinstance(found, str)}


@cache
def _doubt_phrases(name: str) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    return phrases_by_first_word(load_vocabulary_file("doubts.json")[name])


def _phrases_in(lows: Sequence[str], name: str) -> list[Run]:
    """Where phrases of a list stand."""
    table = _doubt_phrases(name)
    return [(at, at + length) for at, low in enumerate(lows) if low in table and (length := phrase_at(table, lows, at))]


def _is_own_subject(one: ReadValue, sentence: TokenizedSentence, run: Run) -> bool:
    """Whether a relative of the speaker's is whom the sentence is about, and the speaker takes no part in it.

    "Melanie has been married for years" names no partner of hers, and is nobody's word about the speaker.
    """
    known, after = claim_word_lists().sets, run[1]
    if one.subject is not None or (known["first_person"] | {USER}).intersection(sentence.lows):
        return False
    while after < len(sentence.lows) and sentence.lows[after] in known["adverb"] - known["finite"]:
        after += 1
    return after < len(sentence.lows) and sentence.lows[after] in known["finite"] | known["plain_past"]


def _is_other_day(_: ReadValue, sentence: TokenizedSentence, run: Run) -> bool:
    """Whether no word of birth belongs to a date."""
    return not any(
        is_day_of_birth(sentence, (min(after, run[1]), max(first, run[0])))
        for first, after in _phrases_in(sentence.lows, "birth")
    )


def _is_wanted_only(one: ReadValue, sentence: TokenizedSentence, run: Run) -> bool:
    """Whether somebody is only wanted for a job, or the claim is about who gives it."""
    lows = sentence.lows
    place = next((n for n in range(run[0] - 1, max(0, run[0] - 1 - _BEFORE_ROLE), -1) if lows[n] == _AS), 0)
    wanting = {first for first, _ in _phrases_in(lows[:place], "wanting")}
    for at in range(place - 1, sentence.begin - 1, -1):
        if at in wanting:
            return True
        if lows[at] in _doubt_words()["hiring"]:
            return _is_given_by_subject(one, sentence, at, place)
        if lows[at] in _MARKS or _is_verb(lows, at):
            return False
    return False


def _is_verb(lows: Sequence[str], at: int) -> bool:
    """Whether what stands before a verb wants nobody behind it: "needed money and worked as" does not."""
    known = claim_word_lists().sets
    return lows[at] in (known["finite"] | _doubt_words()["serving"]) - known["aux"] and lows[at - 1] != _TO


def _is_given_by_subject(one: ReadValue, sentence: TokenizedSentence, verb: int, place: int) -> bool:
    """Whether a claim's subject stands before a verb of hiring that has an object: they hire somebody else."""
    token, low = sentence.tokens[verb + 1], sentence.lows[verb + 1]
    if not (token.cap or low in claim_word_lists().sets["det"] | _doubt_words()["objects"]):
        return False
    if one.subject is None:
        return (claim_word_lists().sets["first_person"] | {USER}).isdisjoint(sentence.lows[verb + 1 : place])
    return sentence.start + one.subject[0] < sentence.tokens[verb].start


def _is_not_studied(_: ReadValue, sentence: TokenizedSentence, run: Run) -> bool:
    """Whether no word of study belongs to a field, or the nearest before it tells that it is only looked into."""
    lows, words = sentence.lows, _doubt_words()
    inquiries = {after for _, after in _phrases_in(lows[: run[0]], "inquiry")}
    for after in range(run[0], sentence.begin, -1):
        if after in inquiries:
            return True
        if lows[after - 1] in words["study"]:  # "considering a degree in", but not "research for her degree in"
            return not inquiries.isdisjoint((after - 1, after - 2))
    return (words["study"] | words["schooling"]).isdisjoint(lows)


_CHECKS: Mapping[str, Callable[[ReadValue, TokenizedSentence, Run], bool]] = {
    "partner_is": _is_own_subject,
    "has_child": _is_own_subject,
    "has_pet": _is_own_subject,
    "born_on": _is_other_day,
    "job_title_is": _is_wanted_only,
    "studies": _is_not_studied,
}
