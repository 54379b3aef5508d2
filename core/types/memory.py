"""One memory in every detail the inspector shows: trust terms, claims, dependents, permanence, changes, erasures.

An erasure certificate holds ids, counts and keyed digests, never a text: it outlives what was erased. Must not do:
decide anything; hold in a certificate a word of a memory, or a digest that a text could be guessed from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from core.types.reviews import ClaimSeen
from core.types.values import Kind, Memory, Precision, Role, Source, Status, When


@dataclass(frozen=True, slots=True)
class ErasedItem:
    """One memory that would go.

    Attributes:
        text: the text, of a split one its first part; hostile, plain text only.
        kind: the memory's kind; `space` is the name of its space.
        why: `asked`, `version` (of its chain), `beneath` (it lies beneath one that goes) or `made_of_it`.
    """

    id: str
    text: str
    kind: str
    space: str
    why: str


@dataclass(frozen=True, slots=True)
class ErasePreview:
    """What an erasure would remove; nothing is written.

    Attributes:
        items: what goes, oldest first, at most fifty; a split text is one.
        memories: rows in all, parts of split texts counted.
        back: ids of memories that stand again, because a digest or a united text they went into goes.
        versions: how many other versions of the same chains stay.
        same_words: how many other memories have exactly the same words and stay.
        backups: names of backup files that hold it.
        kinds: whole texts that go, by kind.
        statements: how many of them are statements that were made of talk.
        claims: how many go, since nothing else says them.
        entities: likewise, since nothing else mentions them.
    """

    items: tuple[ErasedItem, ...]
    memories: int
    back: tuple[str, ...]
    versions: int
    same_words: int
    backups: tuple[str, ...]
    kinds: Mapping[str, int] = field(default_factory=dict)
    statements: int = 0
    claims: int = 0
    entities: int = 0


@dataclass(frozen=True, slots=True)
class ProposedLink:
    """Two memories that may belong together.

    Attributes:
        from_text: plain text only; `to_text` likewise.
        space: the name of the space of both.
        cosine: how near they are, 0 to 1.
        at: when it was proposed, epoch ms.
    """

    from_id: str
    to_id: str
    from_text: str
    to_text: str
    space: str
    cosine: float
    at: int


class RequestedChange(StrEnum):
    """What a client may ask to have done with a memory (`approvals.verb`)."""

    UPDATE = "update"
    DELETE = "delete"
    FORGET = "forget"


class Relationship(StrEnum):
    """How a client may relate two memories (E14a, memory_relate)."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    CAUSED_BY = "caused_by"
    RELATED_TO = "related_to"


@dataclass(frozen=True, slots=True)
class ChangeReply:
    """What came of a wish.

    Attributes:
        operation: `UPDATE`, `DELETE` or `FORGET` where it was done at once, `PROPOSED` where it waits for the person,
            `NOOP` where there was nothing to do or the person said no to the same before.
        memory_id: the memory that holds the new text or would hold it; of a removal the memory itself.
        superseded: the version in whose place a new one stands now.
        conflict: the review item that waits; None where none does.
        deduplicated: the same waits, or was decided, already.
        step_id: the undo step; None where nothing changed.
    """

    operation: str
    memory_id: str
    superseded: tuple[str, ...] = ()
    conflict: str | None = None
    deduplicated: bool = False
    step_id: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A feedback that was taken down.

    Attributes:
        memory_id: of what.
        signal: `helpful`, `irrelevant` or `harmful`.
        marked: it counts as a mark of a rule; else for its client's own searches alone.
        step_id: the undo step.
        maturity: of a marked rule, as it stands now; None otherwise.
        conflict: the review item that asks the person to turn a rule around; None where none is open.
    """

    memory_id: str
    signal: str
    marked: bool
    step_id: str
    maturity: str | None = None
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """A relation between two memories.

    Attributes:
        id: of the relation.
        from_id: the memory it goes out from; `to_id` the other.
        relationship: a word of `Relationship`.
        deduplicated: it was drawn already.
        step_id: the undo step; None where nothing changed.
    """

    id: str
    from_id: str
    to_id: str
    relationship: str
    deduplicated: bool = False
    step_id: str | None = None


@dataclass(frozen=True, slots=True)
class Application:
    """One time that a rule was applied.

    Attributes:
        at: when, epoch ms.
        is_helpful: whether it helped; else it harmed.
        client: the name of the client that said so; None for the person.
        reason: why, in the words of who said so; plain text only; "" for none.
    """

    at: int
    is_helpful: bool
    client: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Lasting:
    """How long what a memory says goes on being true, and how that is known.

    Attributes:
        level: one of `core.belief.extract.validity.LEVELS`; it decides how fast confidence falls.
        read: the level that its words alone give; the same as `level` unless somebody chose another.
        why: what `level` rests on: `claim` (what it claims), `cue` (its words), `usual` (nothing says otherwise),
            `chosen` (somebody chose it), `record` (an episode is a record, which does not become less certain) or
            `split` (a part of a longer text, which is read as a whole).
        predicates: of the claims that give the level; names of the vocabulary.
    """

    level: str
    read: str
    why: str
    predicates: tuple[str, ...] = ()

    @property
    def can_choose(self) -> bool:
        """Whether the person can choose another level."""
        return self.why != "record"


@dataclass(frozen=True, slots=True)
class Warned:
    """Why a memory is kept out of what assistants are given by themselves.

    Attributes:
        families: what it seems to try, keys of `resources/help/injection.json`, the weightiest first; it may be empty.
        blocked: a client that searches does not see its text either.
    """

    families: tuple[str, ...]
    blocked: bool


@dataclass(frozen=True, slots=True)
class TrustStep:
    """One step of the waterfall (design section 4).

    Attributes:
        name: `source`, `corroboration`, `feedback`, `age`, `bounds`, `ancestors` or `ceiling`.
        change: what it does to the sum, -1 to 1.
        total: the sum after it.
    """

    name: str
    change: float
    total: float

    @property
    def before(self) -> float:
        """The sum before it."""
        return self.total - self.change


@dataclass(frozen=True, slots=True)
class TrustInputs:
    """The numbers of which the steps were made.

    Attributes:
        source: by what way it came.
        sources: independent sources, itself included.
        reinforcements: how often it was confirmed; `disputes` how often it was disputed.
        age_days: whole days that count as its age; None where it is not known when it was said.
        since_ms: from when that age counts, epoch ms.
        confirmed: whether it counts from a person's confirmation, not from when it was said.
        edited: whether it counts from the day on which the person wrote the text anew.
        ancestors: how many memories it was made of.
        lowest_id: the least trusted of them; `lowest` is its trust, 0 to 1.
        client: the name of the client that brought it; `ceiling` is that client's, 0 to 1.
    """

    source: Source
    sources: int
    reinforcements: int
    disputes: int
    age_days: int | None
    since_ms: int | None
    confirmed: bool
    ancestors: int = 0
    lowest_id: str | None = None
    lowest: float | None = None
    client: str | None = None
    ceiling: float | None = None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class MemoryVerdict:
    """Somebody who said that a memory is right, or wrong.

    Attributes:
        verdict: `confirm`, `reinforce` or `dispute`.
        client: the client's name; None for the owner.
        reason: in that one's own words; "" where none was given.
        at: the last time, epoch ms.
    """

    verdict: str
    client: str | None
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class EvidenceSeen:
    """A quote that speaks for or against a claim.

    Attributes:
        start: where it begins in its memory's text, code points; `end` is exclusive.
        stance: `supporting`, `contradicting` or `neutral`.
        client: the name of the client that brought that memory; None where no client did.
        trust: of that memory, 0 to 1.
        occurred: when that memory was said; None where unknown.
        recorded_at: when Loci learned it, epoch ms.
    """

    memory_id: str
    quote: str
    start: int
    end: int
    stance: str
    source: Source
    client: str | None
    trust: float
    occurred: When | None
    recorded_at: int


@dataclass(frozen=True, slots=True)
class ClaimHeld:
    """A claim with all that speaks for and against it.

    Attributes:
        seen: the claim; its spans are places in the text of the memory that is looked at.
        denied: places in that text which speak against the claim, code points, end exclusive.
        evidence: quotes, those of the memory that is looked at first; twelve at most.
        pieces: how many quotes there are.
        replaced_by: the value that took its place; None where none did.
        alone: it stands, and rests on this memory alone.
    """

    seen: ClaimSeen
    denied: tuple[tuple[int, int], ...]
    evidence: tuple[EvidenceSeen, ...]
    pieces: int
    replaced_by: str | None
    alone: bool


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """An open item of the review queue that this memory is a side of.

    Attributes:
        item_id: of the item; `kind` is a word of `conflicts.kind`.
        is_newcomer: whether this memory is the one that arrived.
        other: the other side; None where only this memory is concerned.
        mine: the claim of this memory that is at odds with `theirs`; None where none was read.
    """

    item_id: str
    kind: str
    is_newcomer: bool
    other: Memory | None
    mine: ClaimSeen | None
    theirs: ClaimSeen | None


@dataclass(frozen=True, slots=True)
class VersionHeld:
    """One version of a chain, and when it held.

    Attributes:
        value: what it says, where all that say it claim the same thing; "" where no claim was read.
        begin: from when on it was true, epoch ms, as exactly as `precision` says.
        begin_by: how that is known: `valid` (it says so), `said` (said then) or `recorded` (learned then).
        end: until when, exclusive; None where it has no end.
        recorded_at: when Loci learned it; `retired_at` when it stopped believing it.
        is_current: whether it is the one that stands now.
        ever_held: whether it was ever believed.
    """

    memory_id: str
    version: int
    status: Status
    value: str
    begin: int
    precision: Precision
    begin_by: str
    end: int | None
    recorded_at: int
    retired_at: int | None
    is_current: bool
    ever_held: bool


@dataclass(frozen=True, slots=True)
class Gap:
    """A time of which no version says anything, epoch ms; the end is exclusive."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Chain:
    """The versions of a memory in the order of the time they speak of.

    Attributes:
        gaps: between the first and the last of them.
        now: the present, epoch ms.
    """

    versions: tuple[VersionHeld, ...]
    gaps: tuple[Gap, ...]
    now: int


@dataclass(frozen=True, slots=True)
class Rests:
    """What rests on a memory, and would fall with it.

    Attributes:
        derived: ids and kinds of what was made of it, at any distance, and stands; 200 at most.
        rules: ids of rules that were concluded from it.
        alone: how many claims stand that nothing else backs.
        given: clients that were given it and how often, the most first.
        recalled: how often it was given to anybody.
        made_of: ids of what it was itself made of, directly; 20 at most.
    """

    derived: tuple[tuple[str, Kind], ...] = ()
    rules: tuple[str, ...] = ()
    alone: int = 0
    given: tuple[tuple[str, int], ...] = ()
    recalled: int = 0
    made_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Belief:
    """How one memory is believed, read in one snapshot.

    Attributes:
        steps: the waterfall; their changes sum up to `trust`.
        trust: as it is now, 0 to 1; the stored one may be of yesterday.
        voices: who confirmed, reinforced or disputed it, the latest first.
        claims: at most forty.
        opposed: open items it is a side of.
        notes: what it may belong together with: nobody is asked, nothing waits.
    """

    memory_id: str
    trust: float
    steps: tuple[TrustStep, ...]
    inputs: TrustInputs
    voices: tuple[MemoryVerdict, ...]
    claims: tuple[ClaimHeld, ...]
    opposed: tuple[OpenConflict, ...]
    chain: Chain
    rests: Rests
    notes: tuple[OpenConflict, ...] = ()


class ErasureSubject(StrEnum):
    """By what the memories of an erasure are named."""

    MEMORY = "memory"
    ENTITY = "entity"
    IMPORT = "import"
    CLIENT = "client"


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """What is to be erased.

    Attributes:
        subject: by what it is named.
        ids: of memories; else one: of an entity, an import or a client.
        whole_chain: whether all versions of their chains go too.
    """

    subject: ErasureSubject
    ids: tuple[str, ...]
    whole_chain: bool = False


class ErasureState(StrEnum):
    """How an erasure ended, as far as it was checked."""

    ERASED = "erased"
    HELD_BY_BACKUPS = "held_by_backups"
    LEFT_OVER = "left_over"
    NOT_CHECKED = "not_checked"


class CopyState(StrEnum):
    """What is known of a copy of the vault."""

    CLEAN = "clean"
    HOLDS = "holds"
    REWRITTEN = "rewritten"
    OTHER_KEYS = "other_keys"
    DAMAGED = "damaged"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True)
class ErasedPlace:
    """A place that held the texts, or something made of them.

    Attributes:
        place: a table, or `index` and the like.
        removed: what went.
        changed: what stays without what it had of them.
        left: what still holds an erased text whole.
        words: rows that stay and share words with an erased text.
    """

    place: str
    removed: int = 0
    changed: int = 0
    left: int = 0
    words: int = 0


@dataclass(frozen=True, slots=True)
class CopyFinding:
    """What a known copy of the vault holds of it.

    Attributes:
        name: of the file.
        state: what was found.
        memories: how many of the erased memories it holds.
    """

    name: str
    state: CopyState
    memories: int = 0


@dataclass(frozen=True, slots=True)
class CopiesBeforeSeal:
    """Copies of the vault that were made before memories were sealed, and were not rewritten since.

    Attributes:
        names: of those that are there; a backup outside the home by its whole path.
        away: whole paths of backups that were written elsewhere, and are not there now.
    """

    names: tuple[str, ...] = ()
    away: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SealedCopiesReport:
    """What was done with copies from before memories were sealed.

    Attributes:
        copies: each that is there, as it is now.
        away: as in `CopiesBeforeSeal`.
        unopened: sealed memories that were not looked for, since their key was not in memory.
    """

    copies: tuple[CopyFinding, ...]
    away: tuple[str, ...]
    unopened: int


@dataclass(frozen=True, slots=True)
class ErasureCertificate:
    """What was done to erase memories, and what a search for them found afterwards.

    Attributes:
        id: its own.
        at: when it was erased, epoch ms.
        subject: by what it was named; `subject_id` is the id, empty where several memories were.
        memories: rows, parts of split texts counted.
        ids: of the memories, and of claims, entities and questions that went with them.
        marks: keyed digests of the erased texts.
        reasons: how many memories went, by why.
        places: what held them.
        same_words: how many other memories have exactly the same words and stay.
        holders: how many other memories say the same and stay: the same words, or a sensitive number of theirs.
        holder_ids: the first of those.
        named: rows that still have an id of them, and no word, by table.
        pages: pages of the database that were searched, free ones too; 0 where they were not.
        free_pages: those of them that no row is in.
        fragments: pieces of the texts and vectors that were looked for; what rows that stay have too is left out.
        pages_left: pages in which one of them was found.
        copies: known copies of the vault.
        not_checked: code words of what was not, or cannot be, checked.
        state: how it ended.
        digest: keyed, of all else; it stands in the audit.
        is_authentic: whether the digest fits, and is the one in the audit; None where nobody looked.
    """

    id: str
    at: int
    subject: ErasureSubject
    subject_id: str
    memories: int
    ids: tuple[str, ...]
    marks: tuple[str, ...]
    reasons: Mapping[str, int] = field(default_factory=dict)
    places: tuple[ErasedPlace, ...] = ()
    same_words: int = 0
    holders: int = 0
    holder_ids: tuple[str, ...] = ()
    named: Mapping[str, int] = field(default_factory=dict)
    pages: int = 0
    free_pages: int = 0
    fragments: int = 0
    pages_left: int = 0
    copies: tuple[CopyFinding, ...] = ()
    not_checked: tuple[str, ...] = ()
    state: ErasureState = ErasureState.NOT_CHECKED
    digest: str = ""
    is_authentic: bool | None = None

    def as_json(self) -> dict[str, Any]:
        """All of it as JSON holds it, but whether it is authentic."""
        values = asdict(self)
        del values["is_authentic"]
        if not self.holders:  # as in certificates from before it was looked for, whose digest has to fit
            del values["holders"], values["holder_ids"]
        return values

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> ErasureCertificate:
        """The certificate that `as_json` gave."""
        return ErasureCertificate(
            **{
                **values,
                "subject": ErasureSubject(values["subject"]),
                "state": ErasureState(values["state"]),
                "ids": tuple(values["ids"]),
                "marks": tuple(values["marks"]),
                "holder_ids": tuple(values.get("holder_ids", ())),
                "not_checked": tuple(values["not_checked"]),
                "places": tuple(ErasedPlace(**one) for one in values["places"]),
                "copies": tuple(
                    CopyFinding(one["name"], CopyState(one["state"]), one["memories"]) for one in values["copies"]
                ),
            }
        )


@dataclass(frozen=True, slots=True)
class CertificateLine:
    """A certificate in a list.

    Attributes:
        at: when it was erased, epoch ms.
        memories: rows, parts of split texts counted.
    """

    id: str
    at: int
    subject: ErasureSubject
    memories: int
    state: ErasureState


def judge_erasure(
    places: Sequence[ErasedPlace], pages: int, pages_left: int, copies: Sequence[CopyFinding]
) -> ErasureState:
    """How an erasure ended.

    Args:
        places: with what is left in rows.
        pages: how many were searched.
        pages_left: how many of them hold something.
        copies: what known copies hold.
    """
    if pages_left or any(place.left for place in places):
        return ErasureState.LEFT_OVER
    if not pages:
        return ErasureState.NOT_CHECKED
    if any(one.state not in (CopyState.CLEAN, CopyState.REWRITTEN) for one in copies):
        return ErasureState.HELD_BY_BACKUPS
    return ErasureState.ERASED


@dataclass(frozen=True, slots=True)
class CopyLine:
    """A copy of the vault that lies in the home.

    Attributes:
        name: of the file.
        made_at: when it was made, epoch ms.
        size: bytes.
        rewritten_at: when it was rewritten last, so that it holds something no longer; 0 where it was not.
    """

    name: str
    made_at: int
    size: int
    rewritten_at: int = 0


@dataclass(frozen=True, slots=True)
class CopyContents:
    """What was found in a copy of the vault.

    Attributes:
        memories: whole texts in it, whatever their status.
        last_at: when it was changed last, epoch ms.
        total: how many memories match.
        rows: id and the beginning of the text of the first of them; hostile, plain text only.
        kept_back: how many sealed memories of the open vault it holds in the clear; they are neither shown nor counted.
    """

    memories: int
    last_at: int
    total: int
    rows: tuple[tuple[str, str], ...]
    kept_back: int = 0


@dataclass(frozen=True, slots=True)
class SaidBy:
    """Whose words a memory is.

    Attributes:
        name: of whoever said it; None where nobody is named. `role` is its class.
        is_edited: the owner wrote these words anew, though they were somebody else's.
    """

    name: str | None
    role: Role
    is_edited: bool = False
