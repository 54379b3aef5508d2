"""Whether the later of two statements of one person takes the place of the earlier one, or stands beside it.

The relation model says how likely a change is; what a person said twice may be read with more: words of a change
("from now on", "gave up"), two values of one kind about the same thing, in whatever order its name is put, or a part, a
narrower object, an addition, an event, which end nothing. Pure. Must not do: compare the words of two people, or say
what becomes of either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cache, cached_property, lru_cache
from itertools import pairwise

from core.belief.extract.sentence import claim_word_lists, is_tentative, load_vocabulary_file
from core.belief.relate.features import FeatureWord, PreparedText, load_vocabulary, prepare_text
from core.text.terms import index_terms, plain_words, stop_words
from core.types.belief import ComparedText, Label

_SURE = 0.8
"""From this share of SUPERSEDE the model alone is believed, where nothing speaks against it."""
NEARLY_CERTAIN = 0.93
"""From this one it outvotes words that tell that both stand; set on `tests/bench/heldout`, where five of the person's
statements more are ended, all of them rightly."""
_LIKELY = 0.5
"""From this one a word of a change, or another value of the same kind, settles it."""
_CHANGED, _RATHER = 0.6, 0.7
_PROBABLE, _POSSIBLE = 0.65, 0.25
"""As _LIKELY, where the later one begins with the same thing and gives another value of a kind; and says so, too."""
_SAME = 0.6
"""From this share of "the same, or changed" two values of one kind are two values of one property."""
_RELATED = 0.75
"""From this probability that they are near for a reason, texts without a word in common are about one thing."""
_NAME_ALONE, _OTHER_WORDS = 0.8, 0.6
"""Of what words tell that it is of one property, it is rather meant than what has a name, or nothing, in common."""
_MOST_WORDS = 40
_WEEKDAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
_MONTHS = frozenset(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_ENTRY = re.compile(r"[A-Z][^:.!?]{0,60}: \S")
"""A name with what is noted of it, as memory servers keep it."""
_SPEAKER, _OTHERS = frozenset({"i", "we", "i've", "we've", "i'm", "we're"}), frozenset({"he", "she", "they"})
_ARTICLES = frozenset({"the", "a", "an", "my", "our", "his", "her", "their", "its"})
_OF = re.compile(
    r"(?:the |my |our |a |an )?(?P<head>[\w-]+) of (?:the |my |our |a |an )?(?P<whole>[\w-]+(?: [\w-]+){0,2})"
)
_OWNED = re.compile(r"(?:the |my |our )?(?P<whole>[\w-]+)(?:'s|s') (?P<head>[\w-]+)")
_OWNER = re.compile(r"(?P<owner>[A-Z][\w-]*(?: [A-Z][\w-]*)?)['’]s? (?=[a-z])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_PAST = re.compile(r"\w{3,}ed")
_END = re.compile(r"[.!?;]\s+")
_CLAUSE = re.compile(r"[,;.] (?:so |and |but )?")
_BACK = re.compile(r"\b(?:back|again)\b")
_LEAST_CLAUSE_BLANKS = 2
_IS = re.compile(r"\b(?:is|are)\b")
_MOST_OF_STATE = 3
_LEAST_SHARED = 2
_PRONOUN = re.compile(r"(?:it|it's|its|he|he's|she|she's|they|they're|that|this|those|these|there|his|her|their)\b")
_SIGN = re.compile(r"[^\w\s'’-]")
_SUBJECT = r"(?:(?:the|my|our|a|an|his|her|their) )?(?:[\w'-]+ ){0,3}?"
_FORMER = re.compile(r"(?:the |my |our |his |her |their )?(?:old|former|previous|earlier|ex-?) ?\w")
_WHEN = re.compile(r"^(?:on|in|during) [^,.;:]{0,40}?\b(?:19|20)\d\d,? ")
_BE = re.compile(r"(?<=\w)(?:'s|'m|'re|’s|’m|’re)(?= )")


class Succession(StrEnum):
    """What the later statement is to the earlier one."""

    REPLACES = "replaces"
    BESIDE = "beside"
    OPEN = "open"


@dataclass(frozen=True)
class SupersessionText:
    """A short text as it is read to see whether it supersedes another.

    Attributes:
        text: as written; at most one or two sentences tell anything here.
        prepared: its words.
    """

    text: str
    prepared: PreparedText

    @cached_property
    def lower(self) -> str:
        """In small letters, with plain apostrophes."""
        return self.text.casefold().replace("’", "'")

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """The stems of the words that are no function word and no value, in order."""
        words = self.prepared.words
        return tuple(
            stem_form(word.form)
            for word in words
            if word.form not in stop_words()
            and not word.number
            and word.form not in _date_words()
            and not _is_light(word)
        )

    @cached_property
    def firsts(self) -> frozenset[str]:
        """The first stem of each of its sentences: what it is about, as a rule."""
        sentences = (SupersessionText(part, prepare_text(part)) for part in _END.split(self.text))
        return frozenset(stem for one in sentences for stem in one.stems[:1])

    @cached_property
    def topic(self) -> frozenset[str]:
        """Those stems, words of a change and whoever said so left out: what it speaks of."""
        told_by = _later_word_patterns().told_by.search(self.lower)
        told = self if told_by is None else read_supersession_text(self.text[: told_by.start()])
        return frozenset(told.stems) - _later_word_patterns().change_stems

    @cached_property
    def common_stems(self) -> frozenset[str]:
        """The stems of its words that people write small: no names."""
        return frozenset(stem_form(word.form) for word in self.prepared.words if word.form in plain_words())

    @cached_property
    def kinds(self) -> Mapping[str, frozenset[str]]:
        """Its values by their kind: weekdays, days of a month, months, years and other numbers."""
        words = self.prepared.words
        forms = {word.form for word in words}
        days = {word.form for at, word in enumerate(words) if word.number and is_of_date(words, at)}
        numbers = {word.form for word in words if word.number} - days
        years = {form for form in numbers | days if _YEAR.fullmatch(form)}
        found = {
            "weekday": {day for form in forms if (day := form.removesuffix("s")) in _WEEKDAYS},
            "day": {day for day in days if not _YEAR.fullmatch(day)},
            "month": forms & _MONTHS,
            "year": years,
            "number": numbers - years,
        }
        return {kind: frozenset(values) for kind, values in found.items() if values}

    @cached_property
    def changes(self) -> bool:
        """Whether it says that something is otherwise than before."""
        return _later_word_patterns().changes.search(self.lower) is not None

    @cached_property
    def adds(self) -> bool:
        """Whether it says that it comes on top."""
        return _later_word_patterns().adds.search(self.lower) is not None

    @cached_property
    def continues(self) -> bool:
        """Whether it says that something stays as it is."""
        return _later_word_patterns().continues.search(self.lower) is not None

    @cached_property
    def is_state(self) -> bool:
        """Whether it tells how something is, not what once happened."""
        lower = _WHEN.sub("", self.lower)
        words = re.findall(r"[\w']+", _BE.sub(" is", lower))
        if not _later_word_patterns().states.isdisjoint(words):
            return True
        # "Tiago went to Porto, Marta leads the team": what happened, and how it is since then.
        clauses = [clause for clause in _CLAUSE.split(lower) if clause.count(" ") >= _LEAST_CLAUSE_BLANKS]
        return any(_later_word_patterns().happened.match(clause) is None for clause in clauses or [lower])

    @cached_property
    def pronouns(self) -> frozenset[str]:
        """Whom it speaks of by a pronoun."""
        persons = _later_word_patterns().persons
        return frozenset(persons[found] for found in re.findall(r"[a-z]+", self.lower) if found in persons)

    @property
    def tells_state(self) -> bool:
        """Whether it tells how something is from now on."""
        return self.is_state or self.changes

    @cached_property
    def is_tentative(self) -> bool:
        """Whether it tells what may be: it is not so yet."""
        return is_tentative(self.lower)

    @cached_property
    def state(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Its subject, the numbers that name it, and the words behind its first "is"; all empty where it has none."""
        lower = _BE.sub(" is", self.lower)
        at = _IS.search(lower)
        if at is None or not self.subject:
            return frozenset(), frozenset(), frozenset()
        behind = re.findall(r"[\w'-]+", _CLAUSE.split(lower[at.end() :])[0])[:_MOST_OF_STATE]
        return self.subject, frozenset(re.findall(r"\d+", lower[: at.start()])), frozenset(behind)

    @cached_property
    def is_negated(self) -> bool:
        """Whether it denies, or dislikes."""
        words = set(re.findall(r"[\w']+", self.lower))
        return (self.prepared.negations > 0) != (not words.isdisjoint(_later_word_patterns().disliked))

    @cached_property
    def subject(self) -> frozenset[str]:
        """The stems before its first "is": what it gives a state of; empty where it has none."""
        at = re.search(r"\b(?:is|are|was|were|has|have)\b", _BE.sub(" is", self.lower))
        if at is None:
            return frozenset()
        return frozenset(
            stem_form(word.form) for word in prepare_text(self.lower[: at.start()]).words if is_content_word(word)
        )


@dataclass(frozen=True)
class _Patterns:
    """`resources/claims/later.json`, and words for relatives."""

    changes: re.Pattern[str]
    adds: re.Pattern[str]
    continues: re.Pattern[str]
    ends: re.Pattern[str]
    returns: re.Pattern[str]
    gone: re.Pattern[str]
    happened: re.Pattern[str]
    states: frozenset[str]
    state_stems: frozenset[str]
    tastes: frozenset[str]
    disliked: frozenset[str]
    light: frozenset[str]
    wanted: re.Pattern[str]
    apart: tuple[frozenset[str], ...]
    poles: tuple[frozenset[str], ...]
    denials: frozenset[str]
    persons: Mapping[str, str]
    clock_stems: frozenset[str]
    present_stems: frozenset[str]
    adverbs: frozenset[str]
    kin: frozenset[str]
    change_stems: frozenset[str]
    told_by: re.Pattern[str]


def read_supersession_text(text: str) -> SupersessionText:
    """Read a short text to see whether it supersedes another (`judge_later_word`)."""
    return SupersessionText(text, prepare_text(text))


Side = ComparedText | SupersessionText
"""A statement, or one that was read already."""


def judge_later_word(earlier: Side, later: Side, shares: Mapping[Label, float], related: float) -> Succession:
    """What the later of two statements of one person is to the earlier one.

    Args:
        earlier: either side as it was read (`read_supersession_text`), where more than one question is asked about it.
        shares: how likely each relation is by the model, which has read the two texts alone.
        related: how likely it is that they are near for a reason, not by chance (`core.score.trust`).

    Returns:
        REPLACES or BESIDE where that is sure; OPEN where it is not: both stand, unless the model is nearly certain.
    """
    old, new = _as_pair(earlier, later)
    if len(old.prepared.words) > _MOST_WORDS or len(new.prepared.words) > _MOST_WORDS:
        return Succession.OPEN
    if _is_denied_or_affirmed(old, new):
        return Succession.REPLACES
    share = shares.get(Label.SUPERSEDE, 0.0)
    if _is_beside_earlier(old, new):
        # A model that is nearly certain outvotes single words ("also", "of the"), not that something goes on or is
        # about something else: "keeps number 4" beside "keeps number 3".
        is_outvoted = share >= NEARLY_CERTAIN and not _goes_on(new) and not _is_about_another(old, new)
        return Succession.OPEN if is_outvoted else Succession.BESIDE
    is_related = bool(old.topic & new.topic) or related >= _RELATED
    if not is_related:
        return Succession.OPEN
    if _is_tentative_beside(old, new):
        return Succession.OPEN
    if _is_other_value(old, new, share + shares.get(Label.DUPLICATE, 0.0)) or _is_ended(old, new):
        return Succession.REPLACES
    if _is_opposite_state(old, new) or _is_changed_value(old, new):
        return Succession.REPLACES
    if _is_likely_change(old, new, share):
        return Succession.REPLACES
    if share >= _SURE:
        return Succession.REPLACES if new.tells_state else Succession.BESIDE
    return Succession.OPEN


class InCommon(IntEnum):
    """What two statements have in common: how far words tell that both give one property, weakest first."""

    NAME = 0
    """A name, which tells whom both are about, or nothing."""
    WORD = 1
    """A common word: what of them."""
    PROPERTY = 2
    """More: two words, or one and values of a kind; or nothing else is named in one, or it is gone, or over."""


def find_in_common(earlier: Side, later: Side) -> InCommon:
    """What two statements have in common."""
    old, new = _as_pair(earlier, later)
    shared = old.topic & new.topic
    if not shared:
        return InCommon.NAME
    if len(shared) > 1 or _has_other_kind(old, new) or not _differ_in_thing(old, new):
        return InCommon.PROPERTY
    if _is_gone(old, new) or _is_ended(old, new):
        return InCommon.PROPERTY
    return InCommon.NAME if shared.isdisjoint(new.common_stems) else InCommon.WORD


def strip_common_words(one: Side, other: Side) -> str:
    """What a statement says of what both name: its text without the words that the other one has, too."""
    this, that = _as_read(one), _as_read(other)
    text = this.prepared.text
    for word in reversed(this.prepared.words):
        if stem_form(word.form) in this.topic & that.topic:
            text = text[: word.start] + text[word.end :]
    return " ".join(text.split())


def may_update(earlier: str, later: str, *, is_of_kind: bool) -> bool:
    """Whether of two that stand beside each other the later one is rather what holds, by its words alone.

    Args:
        is_of_kind: whether both give a value of the kind that is asked for: then one word in common is enough.
    """
    old, new = _as_pair(earlier, later)
    if new.adds or _speaks_of_part(old, new) or _names_narrower_thing(old, new):
        return False
    if new.is_tentative and not old.is_tentative:
        return False
    return len(old.topic & new.topic) > (0 if is_of_kind else 1)


def has_word_of_its_own(earlier: Side, later: Side) -> bool:
    """Whether the later one has a content word that the earlier one has not, words like "now" aside."""
    old, new = (
        {stem_form(word.form) for word in side.prepared.words if is_content_word(word)}
        for side in _as_pair(earlier, later)
    )
    return bool(new - old - _later_word_patterns().present_stems - stop_words())  # "i've" has the stem of "i"


def leans_on(later: str | SupersessionText, earlier: str | SupersessionText) -> bool:
    """Whether a later statement belongs into the text that it completes, because neither can change alone.

    "Left-hand one, under the menus." does; what names its own thing stands beside it where either gives a number, a
    day or a date, which has a change of its own. What stands under a name ("Quay four: ...") is an entry of its own.
    """
    old, new = _as_read(earlier), _as_read(later)
    if _ENTRY.match(new.prepared.text) is not None or _ENTRY.match(old.prepared.text) is not None:
        return False
    if _PRONOUN.match(new.lower) is not None or not (old.topic & new.topic):
        return True
    return not old.kinds and not new.kinds


def rank_later_word(earlier: Side, later: Side, shares: Mapping[Label, float], cosine: float) -> float:
    """How likely, of several that a later word may replace, this one is meant.

    Args:
        shares: as in `judge_later_word`.
        cosine: how near the two are.

    Returns:
        0 to 1.
    """
    alike = shares.get(Label.SUPERSEDE, 0.0) + shares.get(Label.DUPLICATE, 0.0)
    old, new = _as_pair(earlier, later)
    is_told = find_in_common(old, new) is InCommon.PROPERTY
    fit = 1.0 if is_told else _NAME_ALONE if old.topic & new.topic else _OTHER_WORDS
    return min(1.0, alike) ** 2 * max(0.0, min(1.0, cosine)) * fit


def _as_pair(earlier: str | Side, later: str | Side) -> tuple[SupersessionText, SupersessionText]:
    """Both as they are read, without the one person whose things both tell of: "Ilse's rent" is like "my rent"."""
    old, new = _as_read(earlier), _as_read(later)
    owner = next((found["owner"] for one in (old, new) if (found := _OWNER.match(one.text))), "")
    begin = re.compile(rf"{re.escape(owner)}(?:['’]s?)? ")
    if not owner or begin.match(old.text) is None or begin.match(new.text) is None:
        return old, new
    return read_supersession_text(begin.sub("", old.text, count=1)), read_supersession_text(
        begin.sub("", new.text, count=1)
    )


def _as_read(side: str | Side) -> SupersessionText:
    if isinstance(side, SupersessionText):
        return side
    return read_supersession_text(side if isinstance(side, str) else side.text)


def _is_tentative_beside(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether the later one tells what may be, or, without a word of what it is, which value somebody wants."""
    if new.is_tentative:
        return not old.is_tentative
    is_wanted = _later_word_patterns().wanted.search(new.lower) is not None
    return is_wanted and _has_other_kind(old, new) and find_in_common(old, new) is InCommon.NAME


def _is_likely_change(old: SupersessionText, new: SupersessionText, share: float) -> bool:
    """Whether the later one shows in its words what the model only thinks likely."""
    other_kind, same_first = _has_other_kind(old, new), not old.firsts.isdisjoint(new.firsts)
    shared = len(old.topic & new.topic)
    if other_kind and (same_first or shared > 1):
        is_alike = shared > 1 or new.changes or new.topic - old.topic <= _later_word_patterns().state_stems
        if share >= (_POSSIBLE if is_alike else _PROBABLE):
            return True
    if share < _LIKELY:
        return False
    if _is_state_of_same(old, new) or _is_gone(old, new):
        return True
    if not new.tells_state:
        return False
    if share >= _RATHER and (same_first or shared > 1):
        return True
    if new.changes and (share >= _CHANGED or shared > 1 or _is_gone(old, new)):
        return True
    return (new.changes or other_kind or same_first or share >= _RATHER) and not _differ_in_thing(old, new)


def _is_about_another(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether the later one is about another of a sort, a former one, or somebody else, or the earlier one is an event.

    "Old card: 55..." ends nothing that is said of the card 41..., and what once happened has happened.
    """
    is_former = _FORMER.match(new.lower) and not _FORMER.match(old.lower) and _has_other_kind(old, new)
    if is_former or (not old.is_state and not old.changes):
        return True
    return _are_told_apart(old, new) or _is_ended_by_another(old, new)


def _goes_on(new: SupersessionText) -> bool:
    return new.continues and not new.changes


def _is_beside_earlier(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether by its words the later one ends nothing: it adds, goes on, is about a part, or about a narrower thing."""
    if new.adds or _goes_on(new) or _is_about_another(old, new):
        return True
    return _speaks_of_part(old, new) or _is_narrower(old, new) or _goes_back_to(old, new)


def _are_told_apart(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether each gives a value for another of two things of a sort: inside and outside, members and non-members."""
    words = [frozenset(re.findall(r"[\w'-]+", one.lower)) for one in (old, new)]
    for these, those in (words, words[::-1]):
        if any(word.startswith("non-") and word[4:] in those for word in these - those):
            return True
    if not _has_other_kind(old, new):
        return False
    sorts = [[group & these for these in words] for group in _later_word_patterns().apart]
    return any(one and other and one.isdisjoint(other) for one, other in sorts)


def _is_opposite_state(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether the later one says that a thing is what excludes what it was: the path is closed, beside open."""
    (thing, numbers, before), (same, same_numbers, after) = old.state, new.state
    if not same or not same <= thing or numbers != same_numbers or old.is_negated != new.is_negated:
        return False
    states = [(group & before, group & after) for group in _later_word_patterns().poles]
    return any(was and now and was.isdisjoint(now) for was, now in states)


def _is_denied_or_affirmed(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether the later one says that it is not so any more, or that it is so now, of the same in the same words."""
    if old.is_negated == new.is_negated or not new.changes or not old.is_state or new.is_tentative:
        return False
    shared = len(old.topic & new.topic) + len(old.kinds.keys() & new.kinds.keys())
    if shared < _LEAST_SHARED or old.topic.isdisjoint(new.topic) or _has_other_kind(old, new):
        return False
    if old.pronouns != new.pronouns:
        return False
    return old.topic ^ new.topic <= _later_word_patterns().state_stems | _later_word_patterns().denials


def _is_changed_value(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether the later one, with a word of a change, gives another value of a kind and names nothing else."""
    if not new.changes or not _has_other_kind(old, new) or len(old.topic & new.topic) < _LEAST_SHARED:
        return False
    return old.topic ^ new.topic <= _later_word_patterns().state_stems | _later_word_patterns().clock_stems


def _goes_back_to(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether it is back to what the earlier one tells: that ends what was told in between, not this."""
    if old.is_negated != new.is_negated or _has_other_kind(old, new):
        return False
    before, after = ([read_supersession_text(part) for part in _CLAUSE.split(one.text)] for one in (old, new))
    returning = [one.topic for one in after if len(one.topic) > 1 and _BACK.search(one.lower)]
    return any(topic <= one.topic for topic in returning for one in before)


def _speaks_of_part(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether the later one speaks of something of the earlier one's thing: the exam of the course, beside the course.

    "The mooring of the boat" beside "the boat's mooring" is the same thing, for its first word is in both.
    """
    for one in filter(None, (_OF.match(new.lower), _OWNED.match(new.lower))):
        whole_words = {stem_form(word.form) for word in prepare_text(one["head"]).words}
        whole = {stem_form(word.form) for word in prepare_text(one["whole"]).words if is_content_word(word)}
        if whole and whole <= old.topic and whole_words.isdisjoint(old.topic) and whole_words <= new.topic:
            return _has_other_kind(old, new) or not new.changes
    return False


def _is_narrower(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether the later one denies, or likes, a narrower thing than the earlier one: free jazz beside jazz."""
    tastes = (not _later_word_patterns().tastes.isdisjoint(re.findall(r"\w+", one.lower)) for one in (old, new))
    if not all(tastes) and (old.is_negated == new.is_negated or new.changes):
        return False
    return _names_narrower_thing(old, new)


def _names_narrower_thing(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether the later one qualifies a word of the earlier one's: almond croissants beside croissants."""
    shared = old.topic & new.topic
    words = [word for word in new.prepared.words if word.form not in _ARTICLES]
    for before, word in pairwise(words):
        is_one_phrase = new.prepared.text[before.start : word.start].endswith(" ") and not _SIGN.search(
            new.prepared.text, before.start, word.start
        )
        qualifies = is_one_phrase and is_content_word(before) and stem_form(before.form) not in old.topic
        if (
            qualifies
            and stem_form(word.form) in shared
            and before.form not in _later_word_patterns().tastes
            and not _is_verb_form(before)
        ):
            return True
    return False


def _is_other_value(old: SupersessionText, new: SupersessionText, alike: float) -> bool:
    """Whether both give one thing a value of one kind, and not the same one."""
    if not _has_other_kind(old, new):
        return False
    is_weekly = "weekday" in old.kinds.keys() & new.kinds.keys() and len(old.topic & new.topic) > 1
    if is_weekly and new.topic - old.topic <= _later_word_patterns().state_stems:
        return True
    if alike < _SAME:
        return False
    if not _differ_in_thing(old, new):
        return True
    return alike >= _SURE and not old.topic.isdisjoint(new.topic)


def _has_other_kind(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether they give values of one kind, and the later one another than the earlier one."""
    both = old.kinds.keys() & new.kinds.keys()
    return any(not new.kinds[kind] <= old.kinds[kind] for kind in both)


def _differ_in_thing(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether each names what the other does not, so that they may speak of two things of one sort."""
    return bool(old.topic - new.topic) and bool(new.topic - old.topic)


def _is_state_of_same(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether both say how one thing is."""
    return bool(new.subject) and new.subject == old.subject


def _is_gone(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether the later one says of a thing of the earlier one's that it is gone or has left."""
    lower = _BE.sub(" is", new.lower)
    found = _later_word_patterns().gone.search(lower)
    if found is None:
        return False
    clause = _CLAUSE.split(lower[: found.start()])[-1]
    return not old.topic.isdisjoint(read_supersession_text(clause).topic)


def _find_end(old: SupersessionText, new: SupersessionText) -> int | None:
    """Where the later one's verb begins that ends what the earlier one tells ("gave up football"); None without one."""
    for found in _later_word_patterns().ends.finditer(new.lower):
        objects = [word for word in prepare_text(new.lower[found.end() :]).words[:3] if word.form not in _ARTICLES]
        if objects and is_content_word(objects[0]) and stem_form(objects[0].form) in old.topic:
            return found.start()
    return None


def _is_ended(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether the later one says that it is over with what the earlier one tells."""
    verb = _find_end(old, new)
    if verb is not None:
        return _is_of_same_person(old, *_read_subject(new, verb))
    if _later_word_patterns().returns.search(new.lower) is None or " is " not in f" {_BE.sub(' is', old.lower)} ":
        return False
    return bool(new.stems) and new.stems[0] in old.stems[:1] and re.search(r"\b(?:in|at)\b", old.lower) is not None


def _is_ended_by_another(old: SupersessionText, new: SupersessionText) -> bool:
    """Whether somebody gave up what the other has: "She gave up bees" leaves "I keep bees" as it is.

    Likewise "I gave up tennis" what "My mother plays".
    """
    verb = _find_end(old, new)
    if verb is None:
        return False
    pronoun, _ = _read_subject(new, verb)
    return (pronoun in _OTHERS and old.prepared.words[0].form in _SPEAKER) or (pronoun in _SPEAKER and _is_of_kin(old))


def _is_of_kin(text: SupersessionText) -> bool:
    """Whether a text is about a relative, and not about the speaker as well."""
    forms = [word.form for word in text.prepared.words]
    return _SPEAKER.isdisjoint(forms) and not _later_word_patterns().kin.isdisjoint(forms[:2])


def _read_subject(new: SupersessionText, verb: int) -> tuple[str, frozenset[str]]:
    """Who gave something up.

    Args:
        verb: where the verb begins.

    Returns:
        The pronoun, or none, and else the stems of who is named.
    """
    words = prepare_text(_CLAUSE.split(new.lower[:verb])[-1]).words
    if words and words[-1].form == "and" and words[0].form in _SPEAKER | _OTHERS:  # "I sold the hives and gave up bees"
        words = words[:1]
    named: set[str] = set()
    for word in reversed(words):
        if not named and word.form in _SPEAKER | _OTHERS:
            return word.form, frozenset()
        if is_content_word(word) and not _is_light(word) and word.form not in _later_word_patterns().adverbs:
            named.add(stem_form(word.form))
        elif named:
            break  # "On doctor's advice Ronja quit": the words right before the verb are its subject
    return "", frozenset(named)


def _is_of_same_person(old: SupersessionText, pronoun: str, named: frozenset[str]) -> bool:
    """Whether who gave something up is the person, or is named in the earlier one: "my sister" is neither.

    Args:
        pronoun: with `named`, as `_read_subject` gives them.
    """
    if pronoun in _OTHERS:
        return _SPEAKER.isdisjoint(word.form for word in old.prepared.words)
    if pronoun:
        return not _is_of_kin(old)
    return named - _later_word_patterns().change_stems <= old.topic


def is_content_word(word: FeatureWord) -> bool:
    """Whether a word is neither a stop word nor part of a date or number."""
    return word.form not in stop_words() and not word.number and word.form not in _date_words()


def _is_verb_form(word: FeatureWord) -> bool:
    """Whether a word tells a state or ends like a past form."""
    return word.form in _later_word_patterns().states or _PAST.fullmatch(word.form) is not None


def _is_light(word: FeatureWord) -> bool:
    return word.form in _later_word_patterns().light


@cache
def _date_words() -> frozenset[str]:
    """Words of dates, with the plurals of weekdays."""
    found: frozenset[str] = load_vocabulary()["dates"]
    return found | {f"{day}s" for day in _WEEKDAYS}


def is_date_word(word: FeatureWord) -> bool:
    """Whether a word is a weekday, a month, or a day by its distance from today."""
    return word.form in _date_words()


def is_of_date(words: Sequence[FeatureWord], at: int) -> bool:
    """Whether a word is a day or a month, or a number beside one ("14 June", "the 6th of January")."""
    behind = [word for word in words[at + 1 : at + 3] if word.form != "of"][:1]
    return any(map(is_date_word, (words[at], *words[max(0, at - 1) : at], *behind)))


@lru_cache(maxsize=4096)
def stem_form(form: str) -> str:
    """The index term of a form, or the form itself where it has not exactly one."""
    terms = index_terms(form)
    return terms if isinstance(terms, str) else form


@cache
def _later_word_patterns() -> _Patterns:
    vocabulary = load_vocabulary_file("later.json")

    def whole(words: Sequence[str]) -> str:
        return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))

    def found(name: str) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w'])(?:{whole(vocabulary[name])})(?![\w'])")

    months = whole([*_WEEKDAYS, *(f"{day}s" for day in _WEEKDAYS), *_MONTHS])
    changes = rf"(?<![\w'])(?:{whole(vocabulary['changes'])}|(?:{whole(vocabulary['from'])}) (?:{months}))(?![\w'])"
    return _Patterns(
        changes=re.compile(changes),
        adds=re.compile(rf"(?<![\w'])(?:{whole(vocabulary['adds'])})(?![\w'])|(?<![\w'])too\s*[.,;!]?$"),
        continues=found("goes_on"),
        ends=re.compile(rf"(?<![\w'])(?:{whole(vocabulary['ends'])}) (?:(?:{whole(vocabulary['end_joins'])}) )*"),
        returns=found("returns"),
        gone=found("gone"),
        happened=re.compile(
            rf"{_SUBJECT}(?:\w{{3,}}ed|{whole(vocabulary['pasts'])}) (?:{whole(vocabulary['objects'])})(?!\w)"
        ),
        states=frozenset(vocabulary["states"]),
        state_stems=frozenset(map(stem_form, vocabulary["states"])),
        tastes=frozenset(vocabulary["tastes"]),
        disliked=frozenset(vocabulary["disliked"]),
        light=frozenset(vocabulary["light"]),
        wanted=found("wanted"),
        apart=tuple(map(frozenset, vocabulary["apart"])),
        poles=tuple(map(frozenset, vocabulary["poles"])),
        denials=frozenset(vocabulary["denials"]),
        persons={word: forms[0] for forms in vocabulary["persons"] for word in forms},
        clock_stems=frozenset(map(stem_form, vocabulary["clock"])),
        present_stems=frozenset(map(stem_form, vocabulary["present"])),
        adverbs=frozenset(vocabulary["adverbs"]),
        kin=frozenset().union(*(claim_word_lists().sets[name] for name in ("kin", "partner", "child"))),
        change_stems=frozenset(stem_form(word) for word in vocabulary["changes"] if " " not in word),
        told_by=re.compile(rf"(?<=\w), (?:[\w.'-]+ ){{1,3}}(?:{whole(vocabulary['tells'])})(?: me| us| so)*\W*$"),
    )
