"""Discovery: which names of a batch of memories become entities, of which type, and who speaks in them.

A candidate becomes an entity with a cue beside it, or when it occurs twice in its space; the second occurrence is
looked up in the full-text index, so nothing has to be remembered between two texts. Must not do: make an
entity, or keep a word of a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.entities.mentions import MOST, SURE, Mention, add_mentions, find_mentions, type_group
from core.entities.recognition import (
    NameCandidate,
    RecognizedText,
    count_votes,
    heaviest_type,
    is_outweighed,
    name_key,
    recognize_names,
)
from core.entities.registry import (
    KnownName,
    NameLexicon,
    find_owner,
    find_owner_names,
    is_made_by_machine,
    make_lexicon,
    read_known_names,
)
from core.entities.roles import are_plainly_two
from core.entities.speakers import OWNER, OWNER_NAME, Speaker, find_misspelt, find_whole_name, speaker_of
from core.text.metadata import technology_spellings
from core.text.terms import common_words, fold_word, query_terms
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.memory_sql import readable_sql, remove_orphans

LOOKED_AT = 12
"""Other memories that are read to see whether a name is named twice."""
MOST_EARLIER = 200
"""Memories that named a new entity before and get their mention with it, at most."""
_FREQUENCIES = "SELECT term, doc FROM memory_terms WHERE term IN (SELECT value FROM json_each(?))"
_NAMING = (
    "SELECT m.id, m.text FROM memory_fts f JOIN memories m ON m.n = f.rowid WHERE memory_fts MATCH :match "  # noqa: S608 - constants only
    "AND m.space_id = :space AND m.status IN ('active', 'disputed') AND " + readable_sql() + " "
    "AND m.id <> :but ORDER BY f.rowid DESC LIMIT :most"
)
_OWNER_GROUP, _PET = "owner", "pet"
_AUTHORS = "SELECT DISTINCT role, author FROM memories WHERE conversation_id = ? AND kind = 'episode'"
_SAID = (
    "SELECT m.text FROM memories m WHERE (m.id IN (SELECT value FROM json_each(:ids)) OR m.conversation_id = :talk) "  # noqa: S608 - constants only
    "AND instr(m.text, :name) AND +m.status IN ('active', 'disputed') AND " + readable_sql() + " LIMIT 200"
)
_SPEAKS = "SELECT 1 FROM mentions WHERE entity_id = ? AND start_at < 0 LIMIT 1"
_PEOPLE = (
    "SELECT DISTINCT a.alias_key FROM memories m JOIN mentions n ON n.memory_id = m.id "
    "JOIN entity_aliases a ON a.entity_id = n.entity_id JOIN entities e ON e.id = n.entity_id "
    "WHERE m.conversation_id = ? AND e.type = 'person'"
)


@dataclass(frozen=True, slots=True)
class NameText:
    """One memory to look for names in.

    Attributes:
        read: its text as it was read.
        talk: what it was said in: the id of its conversation or its import; "" where it is no part of a talk.
        conversation: the id of its conversation; "" without one.
        voices: who speaks in it.
    """

    id: str
    space_id: str
    read: RecognizedText
    talk: str = ""
    conversation: str = ""
    voices: tuple[SpeakerPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class SpeakerPlace:
    """A speaker at a place.

    Attributes:
        speaker: who.
        start: where the name stands before what is said; `SPEAKER_PLACE` where the source alone tells it.
        end: exclusive.
    """

    speaker: Speaker
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NewEntity:
    """An entity to be made.

    Attributes:
        mark: stands for its id in the mentions until it has one.
        space_id: its space.
        name: as written first; `key` is its key, `type` its type.
        is_owner: whether it is the owner of the vault, who stands in no space alone.
    """

    mark: str
    space_id: str
    name: str
    key: str
    type: str
    is_owner: bool = False


@dataclass
class FoundNames:
    """What was found in a batch.

    Attributes:
        newcomers: entities to be made, in order.
        retyped: entity to the type that a cue gives it.
        mentions: memory to its mentions: all of it for those of the batch.
        earlier: mentions of newcomers in other memories.
        spelt: entities with other spellings of theirs that the texts have: of technologies, and short forms of people.
        absorbed: entity that was made of a short form, to the one that it means.
    """

    newcomers: list[NewEntity] = field(default_factory=list)
    retyped: dict[str, str] = field(default_factory=dict)
    mentions: dict[str, tuple[Mention, ...]] = field(default_factory=dict)
    earlier: list[tuple[str, Mention]] = field(default_factory=list)
    spelt: list[tuple[str, str]] = field(default_factory=list)
    absorbed: dict[str, str] = field(default_factory=dict)


def discover_entities(
    rows: Rows, texts: Sequence[NameText], extra: Mapping[str, Sequence[str]] | None = None
) -> FoundNames:
    """Find the entities of a batch of memories, new ones and those that are known.

    Args:
        extra: memory to names of people that a model read in it; each stands in its text.

    Returns:
        What is to be written.
    """
    found = FoundNames()
    owner = _OwnerNames(find_owner(rows), find_owner_names(rows))
    for space_id in dict.fromkeys(one.space_id for one in texts):
        own = [one for one in texts if one.space_id == space_id]
        _Space(rows, space_id, read_known_names(rows, space_id), found, owner).read(own, extra or {})
    return found


def absorb_entity(tx: Tx, merged_id: str, keep: str) -> None:
    """Let what was made of a short form go into the entity of the whole name.

    Trigger: "Mel" was read before Melanie was known. Why: rules made it, of a text that means her. Outcome: its
    mentions are hers; it goes, unless a person made it or a claim points at it.

    Args:
        tx: the transaction; nothing is recorded.
    """
    if not is_made_by_machine(tx, merged_id) or is_kept_apart(tx, merged_id, keep):
        return
    found = tx.all("SELECT memory_id, start_at, end_at, confidence FROM mentions WHERE entity_id = ?", (merged_id,))
    tx.run_many("DELETE FROM mentions WHERE entity_id = ?", [(merged_id,)])
    moved = ((str(memory), Mention(keep, int(start), int(end), float(sure))) for memory, start, end, sure in found)
    add_mentions(tx, moved)
    remove_orphans(tx, [merged_id])


def is_kept_apart(rows: Rows, one: str, other: str) -> bool:
    """Whether the person has decided about these two."""
    found = rows.all("SELECT detail FROM conflicts WHERE kind = 'entity_merge' AND state <> 'open'")
    return any({one, other} == set(json.loads(detail).get("entities", ())) for (detail,) in found)


@dataclass(frozen=True, slots=True)
class _OwnerNames:
    """The owner of the vault: the entity, where there is one, and the keys of their names."""

    id: str | None
    keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Talk:
    """Keys of those who speak in a talk, and of the people whom it names."""

    speakers: frozenset[str]
    people: frozenset[str]


@dataclass
class _Space:
    rows: Rows
    space_id: str
    known: NameLexicon
    found: FoundNames
    owner: _OwnerNames
    reads: dict[str, RecognizedText] = field(default_factory=dict)
    new: dict[tuple[str, str], NewEntity] = field(default_factory=dict)
    short: dict[str, KnownName] = field(default_factory=dict)
    talks: dict[str, _Talk] = field(default_factory=dict)
    speaking: set[str] = field(default_factory=set)

    def read(self, texts: Sequence[NameText], extra: Mapping[str, Sequence[str]]) -> None:
        self.reads |= {one.id: one.read for one in texts}
        speakers = {text.id: self._find_speakers(text) for text in texts}
        self.speaking = {one.entity_id for some in speakers.values() for one in some}
        rare = self._find_rare_names(texts)
        self._make_newcomers(texts, extra, rare)
        self._retype_company()
        own = [one for one in self.new.values() if not one.is_owner]
        pairs = [(one.key, KnownName(one.mark, one.type, one.name)) for one in own]
        added = make_lexicon((*pairs, *self.short.items()))
        whole = _merge_lexicons(_without_absorbed(self.known, self.found.absorbed), added)
        for text in texts:
            found = find_mentions(text.read, whole)
            named_ids = {one.entity_id for one in speakers[text.id] if one.start >= 0}
            self.found.mentions[text.id] = (
                *speakers[text.id],
                *(one for one in found if one.entity_id not in named_ids),
            )
            self.found.spelt += _find_spellings(text.read, whole)
        self._mention_earlier(own, added, {one.id for one in texts})

    def _make_newcomers(
        self, texts: Sequence[NameText], extra: Mapping[str, Sequence[str]], rare: frozenset[str]
    ) -> None:
        """Names of several words first: a single one may be a part of one of them."""
        places = [(text, one) for text in texts for one in _best_by_name(text.read.candidates)]
        whole = [place for place in places if " " in place[1].key]
        self._make_newcomers_of(whole, {}, extra, rare)
        talks = {text.talk: self._read_talk(text, texts) for text in texts if text.talk}
        self._make_newcomers_of([place for place in places if " " not in place[1].key], talks, extra, rare)

    def _make_newcomers_of(
        self,
        places: Sequence[tuple[NameText, NameCandidate]],
        talks: Mapping[str, _Talk],
        extra: Mapping[str, Sequence[str]],
        rare: frozenset[str],
    ) -> None:
        for text, one in places:
            if self._is_short_form(text, one, talks.get(text.talk)):
                continue
            kind = self._type_of_new_entity(text, one, extra.get(text.id, ()), rare)
            if kind is not None:
                self._make_newcomer_entity(one.name, one.key, kind)

    def _make_newcomer_entity(self, name: str, key: str, kind: str, *, is_owner: bool = False) -> str:
        mark = f"new:{len(self.found.newcomers)}"
        made = NewEntity(mark, self.space_id, name, key, kind, is_owner)
        self.new[key, type_group(kind)] = made
        self.found.newcomers.append(made)
        return mark

    def _find_speakers(self, text: NameText) -> tuple[Mention, ...]:
        found: dict[tuple[str, bool], Mention] = {}
        for voice in text.voices:
            entity = self._find_speaker(voice.speaker)
            found.setdefault((entity, voice.start < 0), Mention(entity, voice.start, voice.end, SURE))
        return tuple(found.values())[:MOST]

    def _find_speaker(self, speaker: Speaker) -> str:
        """The entity of somebody who speaks: who is known by that name, or a new one."""
        if speaker.is_owner and self.owner.id is not None:
            return self.owner.id
        made = self.new.get((speaker.key, _OWNER_GROUP if speaker.is_owner else "name"))
        if made is not None:
            return made.mark
        if speaker.is_owner:
            return self._make_owner()
        return self._find_person(speaker.key) or self._make_newcomer_entity(speaker.name, speaker.key, "person")

    def _make_owner(self) -> str:
        same = next((one for one in self.found.newcomers if one.is_owner), None)
        if same is not None:
            return same.mark
        mark = self._make_newcomer_entity(OWNER_NAME, OWNER.key, "person", is_owner=True)
        self.new[OWNER.key, _OWNER_GROUP] = self.new.pop((OWNER.key, "name"))
        return mark

    def _find_person(self, key: str) -> str | None:
        names = self.known.by_key.get(key, ())
        person = next((name for name in names if name.type == "person"), None)
        if person is not None:
            return person.id
        unknown = next(
            (name for name in names if name.type == "other" and is_made_by_machine(self.rows, name.id)), None
        )
        if unknown is None:
            return None
        self.found.retyped[unknown.id] = "person"
        return unknown.id

    def _read_talk(self, text: NameText, texts: Sequence[NameText]) -> _Talk:
        """Who speaks in a talk and whom it names, in this batch and, where it is one conversation, before it."""
        if text.talk in self.talks:
            return self.talks[text.talk]
        own = [one for one in texts if one.talk == text.talk]
        speakers = {voice.speaker.key for one in own for voice in one.voices if not voice.speaker.is_owner}
        people = {
            one.key
            for some in own
            for one in some.read.candidates
            if one.type == "person" and one.key in self._person_keys()
        }
        if text.conversation:
            authors = self.rows.all(_AUTHORS, (text.conversation,))
            others = (speaker_of(str(role), author, self.owner.keys) for role, author in authors)
            speakers |= {one.key for one in others if one is not None and not one.is_owner}
            people |= {str(key) for (key,) in self.rows.all(_PEOPLE, (text.conversation,))}
        made = self.talks[text.talk] = _Talk(frozenset(speakers), frozenset(people))
        return made

    def _person_keys(self) -> frozenset[str]:
        return frozenset(
            (
                *(key for key, names in self.known.by_key.items() if any(name.type == "person" for name in names)),
                *(one.key for one in self.new.values() if one.type == "person"),
            )
        )

    def _is_short_form(self, text: NameText, one: NameCandidate, talk: _Talk | None) -> bool:
        """Whether a name is another's of its talk; then it is that one's from now on."""
        if one.key in self.short:
            return True
        if talk is None or not one.is_word or one.type not in ("person", "other") or " " in one.key:
            return False
        whole = find_whole_name(one.key, talk.people, talk.speakers)
        if whole is None and one.is_address and one.key not in talk.speakers:
            authors = {voice.speaker.key for voice in text.voices}
            whole = find_misspelt(one.key, talk.speakers - authors)
        entity = None if whole is None else self._find_entity(whole)
        if whole is None or entity is None or self._are_plainly_two(text, one.name, whole):
            return False
        for name in self.known.by_key.get(one.key, ()):
            if name.id == entity:
                return True
            if name.type not in ("person", "other") or not is_made_by_machine(self.rows, name.id):
                return False
            if is_kept_apart(self.rows, name.id, entity):
                return False
            self.found.absorbed[name.id] = entity
        self.short[one.key] = KnownName(entity, "person", one.name)
        self.found.spelt.append((entity, one.name))
        return True

    def _are_plainly_two(self, text: NameText, short: str, whole: str) -> bool:
        """Whether what is said in a talk tells a first name from the full name that begins with it."""
        if " " not in whole:
            return False
        params = {"ids": json.dumps(list(self.reads)), "talk": text.conversation or None, "name": short}
        return are_plainly_two(short, whole, [str(one) for (one,) in self.rows.all(_SAID, params)])

    def _find_entity(self, key: str) -> str | None:
        made = self.new.get((key, "name"))
        if made is not None:
            return made.mark
        return next((name.id for name in self.known.by_key.get(key, ()) if name.type == "person"), None)

    def _type_of_new_entity(
        self,
        text: NameText,
        one: NameCandidate,
        speaker_names: Sequence[str],
        rare: frozenset[str],
    ) -> str | None:
        """The type under which a candidate is made an entity; None where it is none, or is one already."""
        same = [name for name in self.known.by_key.get(one.key, ()) if type_group(name.type) == type_group(one.type)]
        if same or (one.key, type_group(one.type)) in self.new:
            kind = self._find_outweighing_type(text, one, same[0]) if len(same) == 1 else None
            if kind is not None:
                self.found.retyped[same[0].id] = kind
            return None
        if one.name in speaker_names and one.type in ("person", "other"):
            return "person"
        if one.is_sure:
            return _vote_on_type(one, self._read_others_naming(text.id, one, LOOKED_AT))
        is_typed = one.type == "person" or (one.type != "other" and not one.opens)
        if text.talk and one.is_word and is_typed:
            return self._kind_in_talk(text, one)
        if one.key in rare or (one.opens and one.is_word and fold_word(one.name) in common_words()):
            return None
        others = self._read_others_naming(text.id, one, LOOKED_AT)
        return _vote_on_type(one, others) if _is_named_twice(one, others) else None

    def _kind_in_talk(self, text: NameText, one: NameCandidate) -> str | None:
        """In talk capitals are rare, and a name with a leaning counts at once; not a word that others write small."""
        others = self._read_others_naming(text.id, one, LOOKED_AT)
        return None if any(_is_small(read, one) for read in (text.read, *others)) else _vote_on_type(one, others)

    def _find_rare_names(self, texts: Sequence[NameText]) -> frozenset[str]:
        """Keys of candidates of which some word stands in one memory alone: nothing names them a second time."""
        wanted = {
            one.key: [term.term for term in query_terms(one.name)]
            for text in texts
            for one in text.read.candidates
            if len(_spellings_of(one.name, one.type)) == 1
        }
        terms = sorted({term for some in wanted.values() for term in some})
        counts = {str(term): int(count) for term, count in self.rows.all(_FREQUENCIES, (json.dumps(terms),))}
        return frozenset(key for key, some in wanted.items() if not some or any(counts.get(t, 0) < 2 for t in some))

    def _read_others_naming(self, memory_id: str, one: NameCandidate, most: int) -> list[RecognizedText]:
        """Other memories of the space that have the words of a name, as they were read."""
        found = self._find_texts_naming(_spellings_of(one.name, one.type), memory_id, most)
        return [self._recognize_cached(other, text) for other, text in found]

    def _find_texts_naming(self, names: Iterable[str], but: str, most: int) -> list[tuple[str, str]]:
        """Memories that have all words of one of the names, the newest first."""
        term_lists = [list(dict.fromkeys(term.term for term in query_terms(name))) for name in names]
        ways = ("(" + " AND ".join(map(_quote_term, terms)) + ")" for terms in term_lists if terms)
        match = " OR ".join(ways)
        if not match:
            return []
        params = {"match": match, "space": self.space_id, "but": but, "most": most}
        return [(str(memory_id), str(text)) for memory_id, text in self.rows.all(_NAMING, params)]

    def _recognize_cached(self, memory_id: str, text: str) -> RecognizedText:
        if memory_id not in self.reads:
            self.reads[memory_id] = recognize_names(text)
        return self.reads[memory_id]

    def _find_outweighing_type(self, text: NameText, one: NameCandidate, known: KnownName) -> str | None:
        """The type that all places of a known name give it, where they outweigh the one it has; None to leave it."""
        if one.type in (known.type, "other") and not (one.is_sure and one.type != known.type):
            return None
        if not is_made_by_machine(self.rows, known.id) or self.rows.one(_SPEAKS, (known.id,)):
            return None
        votes = count_votes(_places_of(one, self._read_others_naming(text.id, one, LOOKED_AT)))
        if known.type == "other" and not votes["other"]:
            return heaviest_type(votes) if one.is_sure or text.talk or len(votes) == 1 else None
        return heaviest_type(votes) if is_outweighed(votes, known.type) else None

    def _retype_company(self) -> None:
        """Who is told in one breath with a pet is one, too, unless the words of some text tell another thing."""
        names = {one.id: one.alias for some in self.known.by_key.values() for one in some}
        pets = [names[one] for one, kind in self.found.retyped.items() if kind == _PET and one in names]
        pets += [one.name for one in self.new.values() if one.type == _PET]
        for pet in pets:
            for memory_id, text in self._find_texts_naming((pet,), "", LOOKED_AT):
                for one in self._recognize_cached(memory_id, text).candidates:
                    if name_key(pet) in one.beside:
                        self._vote_for_pet(one)

    def _vote_for_pet(self, one: NameCandidate) -> None:
        votes = count_votes(_places_of(one, self._read_others_naming("", one, LOOKED_AT)))
        votes[_PET] += 1
        if heaviest_type(votes) != _PET:
            return
        new = self.new.get((one.key, "name"))
        if new is not None and new.mark not in self.speaking:
            changed = self.new[one.key, "name"] = replace(new, type=_PET)
            self.found.newcomers[self.found.newcomers.index(new)] = changed
        for known in self.known.by_key.get(one.key, ()):
            is_open = known.type in ("person", "other") and is_made_by_machine(self.rows, known.id)
            if is_open and not self.rows.one(_SPEAKS, (known.id,)):
                self.found.retyped[known.id] = _PET

    def _mention_earlier(self, new: Iterable[NewEntity], added: NameLexicon, batch: set[str]) -> None:
        for newcomer in new:
            for memory_id, text in self._find_texts_naming(
                _spellings_of(newcomer.name, newcomer.type), "", MOST_EARLIER
            ):
                if memory_id not in batch:
                    places = find_mentions(self._recognize_cached(memory_id, text), added)
                    self.found.earlier += [(memory_id, one) for one in places if one.entity_id == newcomer.mark]


def _vote_on_type(one: NameCandidate, others: Sequence[RecognizedText]) -> str:
    return heaviest_type(count_votes(_places_of(one, others)))


def _places_of(one: NameCandidate, others: Sequence[RecognizedText]) -> list[NameCandidate]:
    return [one, *(same for read in others for same in _same_candidates(read, one))]


def _without_absorbed(known: NameLexicon, absorbed: Mapping[str, str]) -> NameLexicon:
    if not absorbed:
        return known
    kept = {key: tuple(name for name in names if name.id not in absorbed) for key, names in known.by_key.items()}
    return NameLexicon({key: names for key, names in kept.items() if names}, known.longest)


def _best_by_name(candidates: Iterable[NameCandidate]) -> list[NameCandidate]:
    """Of the places of one name the one that tells most: a cue, a type, the middle of a sentence."""
    best: dict[tuple[str, str], NameCandidate] = {}
    for one in candidates:
        key = (one.key, type_group(one.type))
        best_so_far = best.get(key)
        if best_so_far is None or _worth_of_candidate(one) > _worth_of_candidate(best_so_far):
            best[key] = one
    return list(best.values())


def _worth_of_candidate(one: NameCandidate) -> tuple[bool, bool, bool]:
    return one.is_sure, not one.opens, one.type != "other"


def _spellings_of(name: str, kind: str) -> tuple[str, ...]:
    return technology_spellings(name) if kind == "technology" else (name,)


def _quote_term(term: str) -> str:
    # Terms hold no quote, but nothing that reaches the full-text syntax may rest on that.
    return '"' + term.replace('"', '""') + '"'


def _same_candidates(read: RecognizedText, one: NameCandidate) -> list[NameCandidate]:
    return [
        other for other in read.candidates if other.key == one.key and type_group(other.type) == type_group(one.type)
    ]


def _is_named_twice(one: NameCandidate, others: Sequence[RecognizedText]) -> bool:
    """Whether another memory names it: at least two places in the middle of sentences, of two memories.

    One such place is enough for a name of several words, or whose type is known. A word that is written small as often
    is no name.
    """
    naming = [same for read in others if (same := _same_candidates(read, one))]
    if not naming:
        return False
    if not one.is_word:
        return True
    inside = int(not one.opens) + sum(any(not place.opens for place in some) for some in naming)
    typed = one.type != "other" or any(place.type != "other" for some in naming for place in some)
    small = sum(_is_small(read, one) for read in others)
    return small < inside and inside >= (1 if " " in one.key or typed else 2)


def _is_small(read: RecognizedText, one: NameCandidate) -> bool:
    return " " not in one.key and any(word.text.islower() and fold_word(word.text) == one.key for word in read.words)


def _find_spellings(read: RecognizedText, known: NameLexicon) -> list[tuple[str, str]]:
    others = {one.written: one.key for one in read.candidates if one.written and name_key(one.written) != one.key}
    tools = {key: name.id for key in others.values() for name in known.by_key.get(key, ()) if name.type == "technology"}
    return [(tools[key], written) for written, key in others.items() if key in tools]


def _merge_lexicons(a: NameLexicon, b: NameLexicon) -> NameLexicon:
    pairs = [(key, name) for one in (a, b) for key, names in one.by_key.items() for name in names]
    return make_lexicon(pairs)
