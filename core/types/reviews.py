"""The conflict desk: rows of the review queue, validated pairs, decisions and what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from core.types.values import Action, Memory, When


@dataclass(frozen=True, slots=True)
class QueueRequest:
    """Which part of the queue.

    Attributes:
        kinds: kinds of `conflicts.kind`; None for all.
        client: only what this client brought, by name; `source` and `subject` narrow likewise.
        subject: a claim's subject key.
        cap: rows at most (design section 4: 200).
        text: words that a row's title or texts hold; None for all.
    """

    kinds: tuple[str, ...] | None = None
    client: str | None = None
    source: str | None = None
    subject: str | None = None
    cap: int = 200
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """One row of the queue; every row of an answer can be acted on.

    Attributes:
        kind: `contradiction`, `classification`, `quarantine`, `injection`, `approval`, `stale`, `gap`, `entity_merge`
            or `proposal`.
        title: what it is about; holds words of the memories, plain text.
        note: one line under it, such as "Held back: low trust"; no memory text.
        existing_id: the memory that stands; None where only one is concerned.
        recalled: how often either was given to somebody.
        harm: the order, higher first: how often recalled x how opposed x how new (design section 4).
        source: by what way the newcomer came; `client` is the client's name.
        subject: the subject the pair is about; "" where none was read.
        later: it was skipped, and comes after the others.
        warned: the newcomer reads like an instruction to an assistant, and the kind does not say so.
    """

    id: str
    kind: str
    title: str
    note: str
    existing_id: str | None
    incoming_id: str
    space: str
    opened_at: int
    recalled: int
    harm: float
    source: str
    client: str | None
    subject: str
    later: bool = False
    warned: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue as it stands, most harmful first.

    Attributes:
        rows: at most the cap.
        total: all open items, whatever the cap and the filters.
        counts: open items by kind, over all.
        clients: open items by the newcomer's client name, the largest ten; `sources` by its way, `subjects` likewise.
        closed: how many closed themselves in the last seven days.
        today: how many of the rows belong to today's digest: ten a day, less what was decided since midnight (UTC).
    """

    rows: tuple[ReviewRow, ...]
    total: int
    counts: Mapping[str, int]
    clients: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, int] = field(default_factory=dict)
    subjects: Mapping[str, int] = field(default_factory=dict)
    closed: int = 0
    today: int = 0


@dataclass(frozen=True, slots=True)
class ClaimSeen:
    """A claim as the desk and the inspector draw it.

    Attributes:
        state: `draft`, `asserted`, `disputed`, `retracted` or `superseded`.
        confidence: 0 to 1.
        spans: places of its evidence in the text of the memory that is looked at, code points, end exclusive.
        sources: how many independent sources back it.
        against: how many pieces of evidence speak against it.
        valid_from: epoch ms; `valid_to` likewise.
    """

    id: str
    subject: str
    predicate: str
    value: str
    exclusive: bool
    polarity: str
    state: str
    confidence: float
    spans: tuple[tuple[int, int], ...]
    sources: int
    against: int
    valid_from: int | None
    valid_to: int | None
    qualifiers: Mapping[str, object] = field(default_factory=dict)
    method: str = "rules"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two memories.

    Attributes:
        recalled: how often it was given to somebody; `recalled_by` names the clients.
        client: the name of the client that brought it; None for the owner.
        owners_word: it is what the owner said.
        origin: file, conversation title or the like, in words; "" where there is none.
        marks: places in the text that are at odds, code points, end exclusive.
        speaker: who says it in a conversation, where that is somebody else than the owner; else "".
    """

    memory: Memory
    recalled: int
    recalled_by: tuple[str, ...]
    client: str | None
    owners_word: bool
    origin: str
    marks: tuple[tuple[int, int], ...]
    claims: tuple[ClaimSeen, ...]
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What Loci would do.

    Attributes:
        action: the decision.
        confidence: 0 to 1; None where nothing was weighed.
        by: `rules`, `builtin` or `model`.
        sentence: what would be the result, in words.
        at: for `keep_both_dated`, from when the newcomer holds.
        text: for `merge`, the text to begin with.
    """

    action: Action
    confidence: float | None
    by: str
    sentence: str
    at: When | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Follow:
    """What else rests on the memory that stands.

    Attributes:
        headline: a count or a name, `2 digests`.
        sentence: what would come of it; plain text.
        ids: the memories meant.
    """

    headline: str
    sentence: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """What a client asked for, of an item that waits for the person's word (kind `approval`).

    Attributes:
        change: what is to be done; a word of `core.types.memory.RequestedChange`.
        client: the client's name.
        reason: why, in the client's own words; "" where it gave none. Plain text only.
        at: when it asked, epoch ms.
    """

    change: str
    client: str
    reason: str
    at: int


MemoryForm = TypeVar("MemoryForm")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewBrief(Generic[MemoryForm]):
    """What is known of one item of the review wherever it is shown, with its memories in the form of the place.

    Attributes:
        state: `open`, `resolved`, or `moot` where it closed itself just now.
        question: the matter as a question; plain text with words of the memories.
        existing: the memory that stands; None where only one is concerned.
        suggestion: None where Loci suggests nothing.
        actions: what can be decided; every one of them would be carried out.
        closed: why it is closed; "" while it is open.
        resolution: what was decided; None where nothing was.
        asked: what a client asked for; None where nobody asked for anything.
        warning: that the newcomer reads like an instruction to an assistant, and what letting it in would mean; ""
            where there is nothing to warn of.
        against: of a newcomer that is asked about alone, what stands and contradicts it; None where nothing does.
        names: the two names of which it is asked whether they are the same, the first side's first; else none.
    """

    id: str
    kind: str
    state: str
    question: str
    existing: MemoryForm | None
    incoming: MemoryForm
    suggestion: Suggestion | None
    actions: tuple[Action, ...]
    opened_at: int = 0
    closed: str = ""
    resolution: Action | None = None
    asked: ClientRequest | None = None
    warning: str = ""
    against: MemoryForm | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem(ReviewBrief[Side]):
    """One item as the window shows it, validated when it was read.

    Attributes:
        why: why it is here, in sentences.
        repeatable: those of the actions that the person may make a rule of (`Decision.remember`).
    """

    why: tuple[str, ...]
    follows: tuple[Follow, ...] = ()
    repeatable: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedConflict(ReviewBrief[Memory]):
    """An item as the command line and clients get it; what a client asked for, and warnings, go to the owner only.

    A client's actions are those that would not be refused if it had `curate`.

    Attributes:
        reason: why it is here, in one sentence or more.
        answers: `actions` in words that fit the question, in the same order.
    """

    reason: str
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decides.

    Attributes:
        text: the text of a merge.
        begin: for `keep_both_dated`: from when the newcomer holds, and until when the other did; `end` is when the
            newcomer ceased, if it did.
        when: for `scope_split`: the condition under which the newcomer is true.
        remember: make it a rule for later items of the same kind and the same source or client.
    """

    action: Action
    text: str | None = None
    begin: When | None = None
    end: When | None = None
    when: str | None = None
    remember: bool = False


@dataclass(frozen=True, slots=True)
class DecisionReply:
    """What a decision did.

    Attributes:
        step_id: the undo step; None where nothing changed (skip).
        label: the step's name, without memory text.
        active: ids of those memories concerned that stand now.
        retired: ids of those that do not.
        closed: other items that became moot by it.
        refused: items of a batch that could not be decided so, and why.
        withheld: those of `active` that assistants are not given by themselves, since they read like an instruction.
        asked: items that it opened: what was let in contradicts what stands, and goes on waiting as another question.
    """

    step_id: str | None
    label: str
    active: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    withheld: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnedDown:
    """What was turned down of all that a client asked for.

    Attributes:
        step_id: the one undo step; None where nothing of it waited.
        items: items that were turned down.
        left: items that wait still: of very many only the first are turned down in one step.
    """

    step_id: str | None
    items: int
    left: int


@dataclass(frozen=True, slots=True)
class ClosedRow:
    """An item that closed, by itself or by a person."""

    id: str
    kind: str
    title: str
    resolution: str
    note: str
    closed_at: int
    incoming_id: str
    existing_id: str | None


@dataclass(frozen=True, slots=True)
class ReviewRule:
    """A decision that the person wants repeated."""

    id: str
    kind: str
    action: Action
    source: str | None
    client: str | None
    created_at: int
    applied: int


@dataclass(frozen=True, slots=True)
class HoldRequest:
    """Everything from one source.

    Attributes:
        by: `memory`, `client`, `import` or `conversation`.
        key: the memory's, import's or conversation's id, or the client's name or id.
    """

    by: str
    key: str


@dataclass(frozen=True, slots=True)
class HoldPreview:
    """What holding a source would hold.

    Attributes:
        memories: how many, what was derived from it included.
        derived: how many of them were only derived from it.
        kinds: count by kind.
        ids: the first 200 of them.
    """

    memories: int
    derived: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HoldReply:
    """What was held back.

    Attributes:
        step_id: the one undo step.
        label: its name.
        ids: the memories.
        items: ids of the items that were opened for them at the desk.
    """

    step_id: str
    label: str
    ids: tuple[str, ...]
    items: tuple[str, ...] = ()
