"""What pages draw: rows of the library, the graph, the floor plan, the timeline. Frozen values.

Must not do: read or write anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core.types.entities import EntityLine
from core.types.memory import SaidBy
from core.types.values import Kind, Role, SecurityTier, Source, Status, When

SORTS = ("recorded", "occurred", "trust", "importance", "strength", "accessed", "kind", "status", "space", "text")
"""What a list can be sorted by."""


@dataclass(frozen=True, slots=True)
class FindRequest:
    """What the library shall list.

    Attributes:
        query: in the search syntax of `core.text.search_syntax`; empty for all that stands.
        sort: one of `SORTS`.
        descending: largest, newest or last in the alphabet first.
    """

    query: str = ""
    sort: str = "recorded"
    descending: bool = True


@dataclass(frozen=True, slots=True)
class FindResult:
    """All ids that match, in order; the rows are fetched by page.

    Attributes:
        ids: memory ids.
        took_ms: milliseconds.
    """

    ids: tuple[str, ...]
    took_ms: float


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory as one line of a table or one shape of the plan shows it.

    Attributes:
        head: the beginning of the text, at most 300 characters, as it came.
        is_cut: whether `head` is not the whole text.
        said: `head` from where it says something: without a greeting, thanks or what a program says of a picture.
        strength: 0 to 1, as of now (E4.4.1, C14).
        client: name of the client that brought it; None for the owner and imports.
        conversation: title of the conversation it belongs to, if any.
        room: name of the room it stands in; None while it has no place.
        warned: it reads like an instruction, and is kept out of what assistants are given by themselves.
        is_edited: the owner wrote these words anew, though they were somebody else's.
        protection: its security tier.
        is_small_talk: it was read, and holds nothing worth a statement.
    """

    id: str
    n: int
    kind: Kind
    status: Status
    head: str
    is_cut: bool
    space: str
    source: Source
    role: Role
    author: str | None
    client: str | None
    category: str
    importance: float
    tags: tuple[str, ...]
    occurred: When | None
    recorded_at: int
    trust: float
    confidence: float
    strength: float
    pinned: bool
    access_count: int
    last_accessed_at: int | None
    conversation: str | None
    room: str | None
    warned: bool = False
    is_edited: bool = False
    protection: SecurityTier = SecurityTier.CLEARTEXT
    is_small_talk: bool = False
    said: str = ""


@dataclass(frozen=True, slots=True)
class Facets:
    """How many memories each filter value would leave, for the chips.

    Attributes:
        kinds: count by kind; the others likewise. Values that occur nowhere are missing.
        clients: count by client name.
        tags: the most frequent 200.
        earliest: epoch ms of the earliest time said or recorded; None in an empty vault.
        later_parts: how many of what is current are no memory of their own but a later part of a long text.
    """

    kinds: Mapping[str, int]
    statuses: Mapping[str, int]
    spaces: Mapping[str, int]
    sources: Mapping[str, int]
    clients: Mapping[str, int]
    categories: Mapping[str, int]
    tags: Mapping[str, int]
    earliest: int | None
    latest: int | None
    later_parts: int = 0


@dataclass(frozen=True, slots=True)
class Revision:
    """A change to one or many memories; what is None stays.

    Attributes:
        text: the new text; for one memory only. The old version stays in its history.
        space: name of the space they move to; one that does not exist is made.
        status: `active` (bring back), `archived` or `deleted` (forget).
        add_tags: tags to add; `remove_tags` likewise.
        occurred: when it was said or happened.
        permanence: how fast its confidence falls, one of `core.score.decay.RATES`; an episode's does not.
        tier: its security tier; what was made of it is raised with it, and lowered only by itself.
    """

    text: str | None = None
    kind: Kind | None = None
    category: str | None = None
    importance: float | None = None
    space: str | None = None
    pinned: bool | None = None
    status: Status | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    occurred: When | None = None
    permanence: str | None = None
    tier: SecurityTier | None = None


@dataclass(frozen=True, slots=True)
class RevisionPreview:
    """What a revision would do, before it is done.

    Attributes:
        changes: memories that would change.
        unchanged: memories that are like that already.
        refused: reason in words to count: those that cannot be changed so.
        examples: up to 20 `(id, head, before, after)` in words of the field that changes.
    """

    changes: int
    unchanged: int
    refused: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[tuple[str, str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RevisionReport:
    """What a revision did.

    Attributes:
        step_id: the one undo step; None where nothing changed.
        label: the step's name.
        ids: memories as they are called now (a new version of a text has its own id).
        changed: how many changed.
    """

    step_id: str | None
    label: str
    ids: tuple[str, ...]
    changed: int
    refused: Mapping[str, int] = field(default_factory=dict)


GRAINS = ("day", "week", "month", "year")
"""Periods that can be counted by, in the local zone; a week begins on Monday (ISO 8601)."""

BELIEVED, TRUE = "believed", "true"
"""What can be asked of a moment: what Loci believed then (record time), and what was true then (valid time)."""
AXES = (BELIEVED, TRUE)


@dataclass(frozen=True, slots=True)
class TimeFilter:
    """Which memories count.

    Attributes:
        kinds: only these; none for all.
        spaces: names of spaces, only these; none for all.
        with_over: also what stands no longer: superseded, consolidated, archived.
    """

    kinds: tuple[Kind, ...] = ()
    spaces: tuple[str, ...] = ()
    with_over: bool = False


@dataclass(frozen=True, slots=True)
class Density:
    """How many memories were said in each period (E39.1).

    Attributes:
        grain: one of `GRAINS`.
        starts: epoch ms at which each period begins, ascending; one more than there are periods, the last is the end.
        totals: memories of each period.
        by_kind: the same by kind; kinds that do not occur in any of the periods are missing.
        busiest: places of the busiest periods, most memories first, of equals the later one; empty ones are no period.
        earliest: epoch ms of the first memory the filter lets through, whatever the periods; None where there is none.
        latest: of the last one.
        total: how many memories the filter lets through, whatever the periods.
        undated: how many more it lets through that have no date of their own, and so belong to no period.
    """

    grain: str
    starts: tuple[int, ...]
    totals: tuple[int, ...]
    by_kind: Mapping[Kind, tuple[int, ...]]
    busiest: tuple[int, ...]
    earliest: int | None
    latest: int | None
    total: int
    undated: int = 0


@dataclass(frozen=True, slots=True)
class TimeCursor:
    """Where a page ended: the time and the label of its last memory."""

    at: int
    n: int


@dataclass(frozen=True, slots=True)
class TimePage:
    """Some memories in the order of time.

    Attributes:
        rows: their light rows.
        after: what to ask for next; None where nothing is left.
        total: how many there are on all pages.
    """

    rows: tuple[MemoryRow, ...]
    after: TimeCursor | None
    total: int


class Transition(StrEnum):
    """What a memory is to those before it on the line of a topic (E39.5, X42)."""

    START = "start"
    ADDITION = "addition"
    REINFORCEMENT = "reinforcement"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True)
class TopicEvent:
    """One memory on the line of a topic.

    Attributes:
        row: the memory; where others went into it, the one that stands for them.
        at: when it, or the first that went into it, was said, else recorded, epoch ms.
        transition: what it is to those before it.
        gap_ms: milliseconds since the event before; None for the first.
        about: the earlier memory that it corrects or confirms; None where it does neither.
        until: when it ceased to stand, epoch ms; None while it stands.
        wordings: the texts that went into it, worded anew or become one, oldest first.
        version: its place among the versions of its chain that are on the line, from 1; `versions` is how many.
        similarity: its cosine to the topic; None where it stands here for its words or its ties alone.
    """

    row: MemoryRow
    at: int
    transition: Transition
    gap_ms: int | None
    about: MemoryRow | None
    until: int | None
    wordings: tuple[MemoryRow, ...]
    version: int
    versions: int
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Evolution:
    """How what is remembered of a topic came about.

    Attributes:
        topic: as it was asked.
        events: oldest first; the first is the start.
        left_out: how many more of those that were looked at were near enough and did not fit within the limit.
        took_ms: milliseconds.
    """

    topic: str
    events: tuple[TopicEvent, ...]
    left_out: int
    took_ms: float


HEADER = 2.0
"""Plan units at the top of a room that hold its name; no locus stands there."""
MARGIN = 1.0
"""Plan units kept free at the other three sides of a room."""
GAP = 1.0
"""Plan units between two rooms."""
ALCOVE_HEADER = 1
"""Plan units at the top of an alcove that hold its name; no locus stands there."""
CARD_SIDE = 2
"""Places side by side, and one above the other, that a memory's card takes where there is room for it."""

SLOT_ASPECT = 2.6
"""How many times wider than high a place is drawn: it holds a card. Plan units count places, in both directions."""


@dataclass(frozen=True, slots=True)
class Furnishing:
    """By what a room is recognised, whatever it holds; stable, and different from its neighbours'.

    Attributes:
        emblem: name of an icon in `resources/icons`.
        tint: 0 to 7, index of a hue of the theme.
        outline: 0 to 3, kind of its corners: square, cut, round, notched.
        floor: 0 to 7, texture of its ground.
    """

    emblem: str
    tint: int
    outline: int
    floor: int


@dataclass(frozen=True, slots=True)
class Landmark:
    """A memory by which a room is known.

    Attributes:
        head: the beginning of what its text says, at most 200 characters: no greeting before it, no marks of Markdown.
        position: 0 to 5, where it comes in its room's walk.
        x: its place inside the room, plan units; `y` likewise.
        at: epoch ms, when it was said or happened, else when it was recorded.
        chosen_by: `owner` or `lifecycle`.
        speaker: who said it in a conversation; "" where that is the person, or nobody is named.
    """

    memory_id: str
    head: str
    kind: Kind
    position: int
    x: float
    y: float
    at: int
    chosen_by: str
    speaker: str = ""

    @property
    def words(self) -> str:
        """What it says, after who says it: `Caroline: I chose them because they help`."""
        return f"{self.speaker}: {self.head}" if self.speaker else self.head


@dataclass(frozen=True, slots=True)
class Alcove:
    """A part of a large room with a name of its own; edges inside the room, plan units."""

    id: str
    name: str
    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True, slots=True)
class RoomPlan:
    """A room: a topic inside a wing.

    Attributes:
        x: left edge inside its wing, plan units; `y` the upper edge, `w` and `h` the size.
        count: memories with a place in it that are neither deleted nor superseded.
        density: how often the unit grid is halved in it; 0 for one place a unit, 1 for places every half unit, …
        made_by: `owner` or `lifecycle`; a room the person named, made or moved is the owner's.
        furnishing: None until the arranger has seen the room, a moment after it was made.
        landmarks: by position, six at most; those that are neither deleted nor superseded.
        alcoves: its parts, from the top; none in a room of some sixty or fewer.
        fresh: memories of `count` recorded within the last seven days.
    """

    id: str
    name: str
    x: float
    y: float
    w: float
    h: float
    count: int
    density: int
    made_by: str
    furnishing: Furnishing | None = None
    landmarks: tuple[Landmark, ...] = ()
    alcoves: tuple[Alcove, ...] = ()
    fresh: int = 0


@dataclass(frozen=True, slots=True)
class WingPlan:
    """A wing: one space.

    Attributes:
        id: the id of its own row in `rooms` (the one without a parent).
        x: left edge in the palace, plan units; `y`, `w`, `h` likewise.
        waiting: memories of the space that have no place yet.
        furnishing: None until the arranger has seen the wing.
    """

    id: str
    space_id: str
    space: str
    x: float
    y: float
    w: float
    h: float
    count: int
    waiting: int
    rooms: tuple[RoomPlan, ...]
    furnishing: Furnishing | None = None


@dataclass(frozen=True, slots=True)
class PalacePlan:
    """The whole plan without its loci.

    Attributes:
        revision: the vault's sequence it was read at.
        earliest: epoch ms of the first memory recorded; None in an empty vault. `latest` of the last.
        recorded: how many were recorded in each of `bins` equal spans from `earliest` to `latest`, for the slider.
        said: the same by when they were said or happened, over the span `said_from` to `said_to`.
    """

    wings: tuple[WingPlan, ...]
    revision: int
    earliest: int | None
    latest: int | None
    recorded: tuple[int, ...]
    said_from: int | None
    said_to: int | None
    said: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Loci:
    """All loci of one room as columns of equal length, ordered by label `n`.

    Attributes:
        ids: memory ids.
        n: labels, int64.
        x: place inside the room, plan units, float32; `y` likewise.
        kind: index into `core.types.values.Kind`, int8; `status` into `Status`, int8.
        trust: 0 to 1, float32; `strength` and `importance` likewise.
        recorded_at: epoch ms, int64.
        retired_at: epoch ms, int64; the largest int64 where it still stands.
        said_at: epoch ms, int64: when it was said or happened, else when it was recorded.
        pinned: bool.
        moved: bool, whether the person put it there.
        ground: bool; small talk, or an episode under the statement that was made of it: drawn faint, without a card.
    """

    room_id: str
    ids: tuple[str, ...]
    n: NDArray[np.int64]
    x: NDArray[np.float32]
    y: NDArray[np.float32]
    kind: NDArray[np.int8]
    status: NDArray[np.int8]
    trust: NDArray[np.float32]
    strength: NDArray[np.float32]
    importance: NDArray[np.float32]
    recorded_at: NDArray[np.int64]
    retired_at: NDArray[np.int64]
    said_at: NDArray[np.int64]
    pinned: NDArray[np.bool_]
    moved: NDArray[np.bool_]
    ground: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PlacePerson:
    """A person whom memories of a place name; `count` memories do."""

    id: str
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class PlaceSummary:
    """A room or a wing from outside.

    Attributes:
        space: name of the space that its wing is.
        rooms: of a wing how many it has; 0 for a room.
        kinds: how many memories of each kind that occurs; those that the plan counts.
        first: epoch ms, when the earliest was said or happened; None where there is none. `last` likewise.
        landmarks: of a room all, by position; of a wing those of its fullest rooms.
        fresh: how many were recorded within the last seven days; `newest` are the last of them.
        people: whom it names most.
    """

    id: str
    name: str
    space: str
    rooms: int
    furnishing: Furnishing | None
    kinds: Mapping[Kind, int]
    first: int | None
    last: int | None
    landmarks: tuple[MemoryRow, ...]
    fresh: int
    newest: tuple[MemoryRow, ...]
    people: tuple[PlacePerson, ...]

    @property
    def count(self) -> int:
        """How many memories it holds."""
        return sum(self.kinds.values())


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where one memory stands.

    Attributes:
        x: inside the room, plan units.
    """

    memory_id: str
    wing_id: str
    room_id: str
    room: str
    x: float
    y: float


class Grade(StrEnum):
    """How well a landmark was recalled, from not at all to without an effort."""

    AGAIN = "again"
    HARD = "hard"
    GOOD = "good"
    EASY = "easy"


@dataclass(frozen=True, slots=True)
class WalkStop:
    """One landmark on a walk.

    Attributes:
        text: all of it, as it came.
        occurred: when it was said or happened; None where nobody knows.
        recorded_at: epoch ms.
        space: name of its wing.
        emblem: name of an icon in `resources/icons`; None where the room has none yet.
        x: its place inside the room, plan units; `y` likewise.
        times: how often it was graded; 0 where it was never rehearsed.
        due_at: epoch ms, when it is to be recalled next; None where it was never rehearsed.
        is_due: whether that time has come.
        intervals: milliseconds until the next time, for each grade that could be given now.
        speaker: whose words these are.
    """

    memory_id: str
    text: str
    kind: Kind
    occurred: When | None
    recorded_at: int
    space: str
    room_id: str
    room: str
    emblem: str | None
    x: float
    y: float
    times: int
    due_at: int | None
    is_due: bool
    intervals: Mapping[Grade, int]
    speaker: SaidBy | None = None


@dataclass(frozen=True, slots=True)
class GradeReply:
    """What a grade did.

    Attributes:
        due_at: epoch ms, when the landmark is to be recalled next.
        intervals: milliseconds until the next time, for each grade that could be given now.
    """

    step_id: str
    due_at: int
    intervals: Mapping[Grade, int]


MEANING = "meaning"
"""Edge type: near in meaning (cosine of the stored vectors), computed, not stored."""
CONVERSATION = "conversation"
"""Edge type: said before, in the same conversation."""
PART = "part"
"""Edge type: parts of one split text."""
ABOUT, SAYS, MENTIONS, RELATION = "about", "says", "mentions", "relation"
"""Edge types with entities: from a memory to whom it is about; from a speaker to what it says; from a memory to whom it
names; from one entity to another, as a claim has it (its predicate is the edge's `label`)."""
STORED = (
    "caused_by", "instance_of", "inferred_from", "contradicts", "supports", "related_to", "supersedes",
    "coexists_with", "example_of", "derived_from",
)  # fmt: skip
"""Edge types that stand in the vault between two memories."""
EDGE_TYPES = (RELATION, ABOUT, SAYS, MENTIONS, *STORED, CONVERSATION, PART, MEANING)
"""All of them; `WholeGraph.edge_type` indexes this."""
USUAL_TYPES = tuple(name for name in EDGE_TYPES if name not in (MEANING, "coexists_with"))
"""Those that say what the relation is; shown unless others are asked for."""
ENTITY_TYPES = (
    "person", "organization", "place", "project", "pet", "work", "technology", "file", "service", "concept", "other",
)  # fmt: skip
NODE_KINDS = (*(kind.value for kind in Kind), *ENTITY_TYPES)
"""What a node may be: a kind of memory or a type of entity; `WholeGraph.kind` indexes this."""
OWNER_NODE = "owner"
"""The node of the vault's owner while no entity stands for the owner."""


@dataclass(frozen=True, slots=True)
class GraphFilter:
    """What the graph shows.

    Attributes:
        query: in the search syntax of the library; empty for all that stands. The centre always shows.
        edge_types: names of `EDGE_TYPES`; None for `USUAL_TYPES`.
        min_similarity: cosine from which two memories are near in meaning, 0 to 1.
        hides_small_talk: whether what was read and holds nothing worth keeping is left out; not of a query's answer.
        hides_messages: whether messages that were read for statements are left out, too: the statements say it.
        hides_outdated: whether what was replaced is left out beside what took its place, too.
    """

    query: str = ""
    edge_types: tuple[str, ...] | None = None
    min_similarity: float = 0.5
    hides_small_talk: bool = True
    hides_messages: bool = True
    hides_outdated: bool = False


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A memory or an entity of the graph; exactly one of the two.

    Attributes:
        row: the memory.
        entity: the entity; the owner of the vault is called "You".
        distance: edges from the centre; 0 for the centre.
        folded: how many of its neighbours are not drawn (over the cap, or a hub that was folded).
        community: number of the community it belongs to; -1 for none.
    """

    row: MemoryRow | None
    entity: EntityLine | None = None
    distance: int = 0
    folded: int = 0
    community: int = -1

    @property
    def id(self) -> str:
        """Of the memory or the entity."""
        return self.row.id if self.row is not None else "" if self.entity is None else self.entity.id

    @property
    def kind(self) -> str:
        """One of `NODE_KINDS`."""
        return self.row.kind.value if self.row is not None else "other" if self.entity is None else self.entity.type

    @property
    def text(self) -> str:
        """The beginning of the memory's text, or the entity's name."""
        return self.row.head if self.row is not None else "" if self.entity is None else self.entity.name


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge between two drawn nodes.

    Attributes:
        type: one of `EDGE_TYPES`.
        weight: 0 to 1.
        label: of a `RELATION` its predicate, such as `works_at`; "" for the others.
    """

    a: str
    b: str
    type: str
    weight: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class EgoGraph:
    """What lies round one memory or entity.

    Attributes:
        nodes: the centre first, then by distance; at most the cap.
        places: id to position, roughly within -1 to 1; the centre at 0, 0.
        left_out: neighbours that were found and not drawn.
    """

    centre: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    places: Mapping[str, tuple[float, float]]
    left_out: int


@dataclass(frozen=True, slots=True)
class GraphPaths:
    """The shortest paths between two nodes.

    Attributes:
        graph: all of their nodes and edges; the centre is the start, its places lead from left to right.
        paths: the edges of each path, the shortest first; none where nothing leads from one to the other.
        end: id of the other node.
    """

    graph: EgoGraph
    paths: tuple[tuple[GraphEdge, ...], ...]
    end: str


@dataclass(frozen=True, slots=True)
class WholeGraph:
    """The whole vault as columns, without places.

    Attributes:
        ids: one a node: entities, then memories.
        entities: those at the beginning of `ids`.
        kind: index into `NODE_KINDS`, int8. `trust` float32. `said_at` epoch ms int64; 0 for an entity.
        rank: how much each node counts when there is no room for all labels, 0 to 1, float32.
        group: index into `group_names`, int32: the community, the largest first.
        a: index of one end, int32; `b` of the other; `edge_type` index into `EDGE_TYPES`, int8; `weight` float32.
    """

    ids: tuple[str, ...]
    entities: tuple[EntityLine, ...]
    kind: NDArray[np.int8]
    trust: NDArray[np.float32]
    said_at: NDArray[np.int64]
    rank: NDArray[np.float32]
    group: NDArray[np.int32]
    group_names: tuple[str, ...]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    edge_type: NDArray[np.int8]
    weight: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Placed:
    """One step of a layout.

    Attributes:
        xy: positions, (nodes, 2) float32, roughly within -1 to 1.
        step: 1, 2, …; the last one has `is_last`.
    """

    xy: NDArray[np.float32]
    step: int
    is_last: bool


@dataclass(frozen=True, slots=True)
class GraphView:
    """A named view the person saved.

    Attributes:
        centre: id of a memory or an entity; None for the whole vault.
        depth: edges from the centre, 1 to 3.
    """

    name: str
    centre: str | None
    depth: int
    filter: GraphFilter
