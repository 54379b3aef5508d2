"""Divides memories into rooms by what they speak of: noun phrases first, topics of life next; the rest has no theme.

A room is called by what those who were gathered in it speak of. Of their kin fewer join than they are; what talk brings
is limited by how far it reaches, not by a share. Small talk makes no theme, and replies lie with what they answer. Two
themes that nobody could tell apart by their names or by what is said of them are one. Must not do: write, cut by time,
or keep or log a text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from core.lifecycle.palace.clarity import theme_of
from core.lifecycle.palace.context import RoomReader
from core.lifecycle.palace.room_choice import Numbers, Vectors
from core.lifecycle.palace.room_texts import NamingText, read_naming_texts, read_origins, room_texts, speaker_stems
from core.lifecycle.palace.talk_threads import follow_threads, gather_topics, order_by_talk, read_turns
from core.lifecycle.palace.theme_members import (
    GROUND_WEIGHT,
    NONE,
    Gathering,
    add_kin,
    assign_speakers,
    cohesion,
    follow_talk,
)
from core.score.centres import mean_directions, nearest_centres, normalize_rows
from core.score.communities import LEAST_MEMBERS, MemoryFeatures, find_communities, sample_places
from core.text.life_topics import topic_names
from core.text.noun_phrases import Key, stem_of
from core.text.room_names import RankedTerm, is_unused, rank_terms
from core.text.terms import fold_case

_TURNS = (0.4, 0.4, 0.4, 0.0, 0.0)
"""Share of those who speak of a theme that are of one community, turn by turn: first what keeps to one, then what is
spoken of anywhere."""
_LIFT = 1.02
"""So much nearer to one another than any two are those who speak of a theme; else it is a word that stands anywhere."""
_OWN_LIFT = 0.18
"""The same beside what all have in common: where most is about one thing, the next is no nearer to itself than any."""
_LEAST_IN_PART, _COMMON_IN_PART = 0.1, 0.3
"""Share of a community that speaks of its theme at least: of a name or a pair of words, of a common word. Who speaks of
it elsewhere is gathered, so that the room is about it though the community was not."""
_FEWEST, _ONE_OF = 4, 60
"""So many speak of a theme at least, and one of so many of all."""
_SMALL = ((30, 2), (60, 3))
"""Of fewer memories fewer are enough: a first import gets named rooms too."""
_WHOLE = 0.4
"""Share of all that say something which makes a theme of what they speak of, though it stands anywhere."""
_DERIVED, _AKIN, _SAME = 0.6, 0.75, 0.86
"""Cosine of two themes from which on they are one: with names of one word, with akin names, and with any."""
_MOST_OF_BOTH, _NEARLY_ALL_OF_BOTH = 0.5, 0.75
"""Share of what two themes hold that speaks of the more exact one, where it names both: of `homeless shelter` beside
`shelter`, and of `dance studio` beside `dance`, which is another thing."""
_COMMON = 0.9
"""Share of what all have in common that is taken away before meanings are compared."""
_NEARER_THAN = 0.6
"""Share of all that are farther from those who have words of a topic of life than one of them is at least."""
_AT_ONCE = 8
"""So many turns are one matter at most."""
_LEAST_ROOT, _LONGEST_ENDING = 4, 3


@dataclass(frozen=True, slots=True)
class DividedMemories:
    """What is divided, one entry for each memory.

    Attributes:
        vectors: unit rows.
        talks: the conversation of each as a number; -1 for none.
        is_ground: who is small talk, or told by another.
    """

    labels: Numbers
    vectors: Vectors
    talks: Numbers
    is_ground: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DivisionLimits:
    """How fine a division is.

    Attributes:
        sample: of so many the texts are read.
        most: parts at most.
        least: so many speakers are enough for a theme however many memories there are.
        taken: names that no part may have.
        others: texts of rooms that have their names, to tell the new ones from.
        wing: the name of the whole, which tells no part from another.
        speakers: who speaks; people call each other by name whatever they talk about.
    """

    sample: int
    most: int
    least: int
    taken: Collection[str] = ()
    others: Sequence[Sequence[str]] = ()
    speakers: Collection[str] = ()
    wing: str = ""


@dataclass(frozen=True, slots=True)
class Division:
    """Parts with their names, and who belongs to none."""

    parts: tuple[tuple[str, Numbers], ...]
    rest: Numbers


@dataclass
class _Themes:
    names: list[str] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    speakers: list[Numbers] = field(default_factory=list)

    def merge(self, one: int, other: int) -> None:
        """Make one of two: called by the more exact of their names where most of both speak of that."""
        both = np.union1d(self.speakers[one], self.speakers[other])
        exact, wide = sorted((one, other), key=lambda at: (-len(self.keys[at]), -len(self.speakers[at]), at))
        if len(self.keys[exact]) == len(self.keys[wide]):
            chosen = max(one, other, key=lambda at: (len(self.speakers[at]), -at))
        else:
            most = _MOST_OF_BOTH if is_same_head(self.keys[one], self.keys[other]) else _NEARLY_ALL_OF_BOTH
            chosen = exact if len(self.speakers[exact]) >= most * len(both) else wide
        self.names[one], self.keys[one], self.speakers[one] = self.names[chosen], self.keys[chosen], both
        for column in (self.names, self.keys, self.speakers):
            del column[other]


def divide_by_theme(site: RoomReader, members: DividedMemories, limits: DivisionLimits) -> Division:
    """Divide memories by what they speak of.

    Returns:
        The parts, the largest first; each member is in one of them or in the rest.
    """
    looked_at = sample_places(len(members.labels), limits.sample)
    looked_at = looked_at[order_by_talk(members.talks[looked_at])]
    told = site.read(lambda rows: read_naming_texts(rows, members.labels[looked_at], site.phrases))
    texts = [told.get(label) for label in members.labels[looked_at].tolist()]
    origins = site.read(lambda rows: read_origins(rows, members.labels[looked_at]))
    site.check_not_closing()
    found = _ThemeFinder(members, looked_at, texts, origins, limits).find()
    groups = np.full(len(members.labels), NONE, np.int64)
    groups[looked_at] = found.groups
    _follow_sample(groups, looked_at, members.vectors, len(found.names))
    parts = [(name, np.flatnonzero(groups == place)) for place, name in enumerate(found.names)]
    parts = [part for part in parts if part[1].size]
    return Division(tuple(sorted(parts, key=lambda part: -len(part[1]))), np.flatnonzero(groups == NONE))


def _follow_sample(groups: Numbers, looked_at: Numbers, vectors: Vectors, count: int) -> None:
    """Bring those whose texts were not read to the nearest part, the rest being one of them."""
    others = np.ones(len(groups), np.bool_)
    others[looked_at] = False
    if others.any():
        marks = groups[looked_at].copy()
        marks[marks == NONE] = count
        centres = mean_directions(vectors[looked_at], marks, count + 1)
        nearest = nearest_centres(vectors[others], centres)[0]
        groups[others] = np.where(nearest == count, NONE, nearest)


@dataclass(frozen=True, slots=True)
class _Found:
    names: list[str]
    groups: Numbers


class _ThemeFinder:
    """Finds the themes of memories whose texts are known."""

    def __init__(
        self,
        members: DividedMemories,
        looked_at: Numbers,
        texts: Sequence[NamingText | None],
        origins: Numbers,
        limits: DivisionLimits,
    ) -> None:
        self._texts, self._limits, self._origins = texts, limits, origins
        self._vectors = members.vectors[looked_at]
        silent = speaker_stems({one.author for one in texts if one is not None})
        is_made = np.isin(np.arange(len(texts)), origins)
        is_small = np.array([one is not None and one.is_slight(silent) for one in texts], np.bool_)
        # Trigger: readings come after the first arranging of an import. Why: thanks and cheer must make no theme then
        # either. Outcome: what tells hardly anything counts as small talk; an episode of which a statement was made
        # does not, though it is ground.
        self._is_small = (is_small & (origins == NONE) | members.is_ground[looked_at]) & ~is_made
        weights = np.where(self._is_small, 0.0, np.where(is_made, GROUND_WEIGHT, 1.0))
        own = _own_directions(self._vectors)
        self._gathering = Gathering(own, members.talks[looked_at], weights, origins, self._is_small)
        self._keys = [frozenset(_telling_keys(one, silent)) for one in texts]
        self._turns = read_turns(texts, self._gathering.talks, self._is_small, silent)
        told = gather_topics(texts, self._turns)
        self._topics = np.array([None if one is None else one[0] for one in told], object)
        self._mentions = np.array([one is not None and one[1] for one in told], np.bool_)
        features = MemoryFeatures(self._vectors, self._keys, self._gathering.talks)
        least = min(LEAST_MEMBERS, 2 * least_speakers(len(texts), is_first=not limits.others))
        self._communities = find_communities(features, limits.sample, limits.most, least)
        self._places: dict[Key, list[int]] = {}
        for place, keys in enumerate(self._keys):
            for key in keys:
                self._places.setdefault(key, []).append(place)
        self._base = cohesion(self._vectors, np.arange(len(texts)))
        self._used = {fold_case(name) for name in limits.taken}
        self._wing = theme_of(limits.wing)
        self._least = min(limits.least, least_speakers(len(texts), is_first=not limits.others))
        self._whole = _WHOLE * int((~self._is_small).sum())
        self._themes = _Themes()

    def find(self) -> _Found:
        """What keeps to one community, what is spoken of anywhere, topics of life; and the theme of each."""
        groups = np.full(len(self._texts), NONE, np.int64)
        for least_inside in _TURNS:
            self._add_phrases(groups, least_inside)
            self._merge_kindred()
            groups = assign_speakers(self._gathering, self._themes.speakers, self._least)
        self._add_topics(groups)
        self._merge_kindred()
        groups = assign_speakers(self._gathering, self._themes.speakers, self._least)
        count = len(self._themes.names)
        topics = [at for at, key in enumerate(self._themes.keys) if not key]
        mentions = self._mentions & np.isin(groups, topics)
        replies = follow_threads(groups, self._turns, mentions, self._origins)
        # Trigger: whatever is near to one illness is near to health. Why: its kin would be of all kinds. Outcome: a
        # topic goes on by talk alone.
        kin = add_kin(self._gathering, groups, count, closed=topics)
        carried = (groups == NONE) & ((replies != NONE) | (kin == NONE))
        kin = np.where(replies >= 0, replies, kin)
        beside = follow_talk(self._gathering, groups, kin, count)
        is_weak = (groups == NONE) | mentions
        return _Found(self._themes.names, follow_threads(beside, self._turns, is_weak, self._origins, carried))

    def _add_phrases(self, groups: Numbers, least_inside: float) -> None:
        """Look in each community for a theme of those who have none.

        Args:
            least_inside: share of those who speak of it that are in this community.
        """
        open_ = [
            np.flatnonzero((self._communities == number) & (groups == NONE) & ~self._is_small)
            for number in range(int(self._communities.max(initial=-1)) + 1)
        ]
        open_ = [part for part in open_ if part.size >= self._least]
        rooms = [room_texts([one for at in part.tolist() if (one := self._texts[at]) is not None]) for part in open_]
        ranked = rank_terms(rooms, self._limits.others, self._limits.speakers)
        for part, terms in zip(open_, ranked, strict=True):
            named = (term for term in terms if self._may_name(term, part, groups, least_inside))
            for term in islice(named, int(not self._is_full())):
                self._add_theme(term.name, np.array(self._places[term.key], np.int64), term.key)

    def _may_name(self, term: RankedTerm, part: Numbers, groups: Numbers, least_inside: float) -> bool:
        speakers = np.array(self._places.get(term.key, []), np.int64)
        speakers = speakers[~self._is_small[speakers]]
        if not is_unused(term.name, self._used) or len(speakers) < self._least or self._wing.issuperset(term.key):
            return False
        inside = np.intersect1d(part, speakers).size
        least = max(2, min(_FEWEST, self._least) - 1) + term.is_common
        if inside < least or inside < least_inside * len(speakers):
            return False
        is_wide = least_inside == 0.0 and (groups[speakers] == NONE).sum() >= 2 * self._least
        if not is_wide and inside < (_COMMON_IN_PART if term.is_common else _LEAST_IN_PART) * part.size:
            return False
        if not term.is_common or len(speakers) >= self._whole:
            return True
        is_near = cohesion(self._vectors, speakers) >= _LIFT * self._base
        return is_near or cohesion(self._gathering.vectors, speakers) >= _OWN_LIFT

    def _add_topics(self, groups: Numbers) -> None:
        """Make themes of the topics of life of those who have none; what a theme is called already is told of it."""
        for topic, name in topic_names().items():
            sure = self._near_themselves(np.flatnonzero((self._topics == topic) & (groups == NONE)))
            key = (stem_of(name),)
            if key in self._themes.keys:
                place = self._themes.keys.index(key)
                self._themes.speakers[place] = np.union1d(self._themes.speakers[place], sure)
            elif self._may_be_topic(sure) and is_unused(name, self._used) and not self._is_full():
                self._add_theme(name, sure)

    def _may_be_topic(self, sure: Numbers) -> bool:
        """Whether enough speak of a topic for a room.

        Twice as many are needed where those who have more words of it than just enough are fewer than half of what a
        theme needs, or where all speak of it at once.
        """
        least = _FEWEST - 1 if self._least <= _FEWEST else self._least
        talks = self._gathering.talks[sure]
        is_apart = bool(((np.diff(sure) > _AT_ONCE) | (np.diff(talks) != 0) | (talks[1:] < 0)).any())
        is_told = 2 * int((~self._mentions[sure]).sum()) >= least
        return len(sure) >= (least if is_apart and is_told else 2 * least)

    def _near_themselves(self, those: Numbers) -> Numbers:
        """Of those who have words of a topic who is nearer to the others than most of all: the rest only mention it."""
        vectors = self._gathering.vectors
        others = np.setdiff1d(np.arange(len(vectors)), those)
        if len(those) < 2 or not others.size:
            return those
        total = vectors[those].sum(axis=0)
        near = np.einsum("ij,ij->i", vectors[those], normalize_rows(total - vectors[those]))
        kept: Numbers = those[near >= np.quantile(vectors[others] @ normalize_rows(total[np.newaxis])[0], _NEARER_THAN)]
        return kept

    def _is_full(self) -> bool:
        return len(self._themes.names) >= self._limits.most

    def _merge_kindred(self) -> None:
        """Make one of two themes that nobody could tell apart: by their names, or because they are about the same."""
        while (pair := self._find_kindred()) is not None:
            self._themes.merge(*pair)

    def _find_kindred(self) -> tuple[int, int] | None:
        keys, centres = self._themes.keys, [_centre(self._gathering.vectors[those]) for those in self._themes.speakers]
        for one, other in combinations(range(len(keys)), 2):
            near = round(float(centres[one] @ centres[other]), 6)
            if near >= _least_cosine(keys[one], keys[other]) or is_same_head(keys[one], keys[other]):
                return one, other
        return None

    def _add_theme(self, name: str, speakers: Numbers, key: Key = ()) -> None:
        self._themes.keys.append(key)
        self._used.add(fold_case(name))
        self._themes.names.append(name)
        self._themes.speakers.append(speakers)


def least_speakers(count: int, *, is_first: bool) -> int:
    """How many of so many memories speak of a theme at least.

    Args:
        is_first: whether the wing has no room yet: what comes later would else make a room of any two.
    """
    few = _SMALL if is_first else ()
    return next((enough for below, enough in few if count < below), max(_FEWEST, count // _ONE_OF))


def _least_cosine(one: Key, other: Key) -> float:
    """How near two themes of these names are at least to be one."""
    if _is_derived(one, other):
        return _DERIVED
    return _AKIN if is_akin(one, other) else _SAME


def is_akin(one: Key, other: Key) -> bool:
    """Whether two names share what they are about: `store` and `clothing store`, `dance` and `dance studio`."""
    short, long = sorted((one, other), key=len)
    return bool(short) and (set(short) <= set(long) or _is_derived(short, long))


def is_same_head(one: Key, other: Key) -> bool:
    """Whether one of two names says more exactly which the other is: `store` and `clothing store`."""
    return {len(one), len(other)} == {1, 2} and one[-1] == other[-1]


def _is_derived(short: Key, long: Key) -> bool:
    """Whether two single words come from one ("dance", "dancers")."""
    if len(short) != 1 or len(long) != 1:
        return False
    begins, word = sorted((short[0], long[0]), key=len)
    return len(begins) >= _LEAST_ROOT and word.startswith(begins) and len(word) - len(begins) <= _LONGEST_ENDING


def _own_directions(vectors: Vectors) -> Vectors:
    """Where each points beside what all have in common: in one conversation all are near to one another."""
    return normalize_rows((vectors - _COMMON * vectors.mean(axis=0)).astype(np.float32))


def _centre(vectors: Vectors) -> Vectors:
    centre: Vectors = mean_directions(vectors, np.zeros(len(vectors), np.int64), 1)[0]
    return centre


def _telling_keys(one: NamingText | None, silent: Collection[str]) -> Iterator[Key]:
    for phrase in one.phrases if one is not None else ():
        if not any(stem in silent for stem in phrase.key):
            yield phrase.key
