"""How one memory is believed: what its trust is made of, what it claims, what is against it, what rests on it."""

from __future__ import annotations

from dataclasses import dataclass

from core.types.reviews import ClaimSeen
from core.types.values import Memory, When
from core.types.words import Kind, Precision, Source, Status


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


@dataclass(frozen=True, slots=True)
class Voice:
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
class Opposed:
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
    """

    derived: tuple[tuple[str, Kind], ...] = ()
    rules: tuple[str, ...] = ()
    alone: int = 0
    given: tuple[tuple[str, int], ...] = ()
    recalled: int = 0


@dataclass(frozen=True, slots=True)
class Belief:
    """How one memory is believed, read in one snapshot.

    Attributes:
        steps: the waterfall; their changes sum up to `trust`.
        trust: as it is now, 0 to 1; the stored one may be of yesterday.
        voices: who confirmed, reinforced or disputed it, the latest first.
        claims: at most forty.
        opposed: open items it is a side of.
    """

    memory_id: str
    trust: float
    steps: tuple[TrustStep, ...]
    inputs: TrustInputs
    voices: tuple[Voice, ...]
    claims: tuple[ClaimHeld, ...]
    opposed: tuple[Opposed, ...]
    chain: Chain
    rests: Rests
