"""What this room needs of the engine, as shapes: `core.engine.facade.Engine` fits them, and so does a test's stand-in.

Must not do: anything; there is no code here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol

from core.config.options import Options
from core.events import Hub
from core.types.clients import ActivityPage, Before, Change, ClientCard, Denied, Moves, Removal, Undoable
from core.types.clock import Clock
from core.types.entities import EntityCard, EntityChange, EntityDraft, EntityMerged, Resolving
from core.types.lifecycle import (
    Consolidation,
    Erased,
    JobRow,
    Jobs,
    JobType,
    Marked,
    OutcomeTaken,
    OwnDeed,
    Preview,
    Tidied,
)
from core.types.memory import ChangeReply, ErasePreview, Judgement, Related, Relationship, Wish
from core.types.recall import ContextQuery, ContextReply, Trace
from core.types.replies import (
    ClientRecord,
    ImportReport,
    MemoryDetail,
    Page,
    Paired,
    StatusReport,
    Steps,
    StoreReply,
    UndoReport,
    VerdictReply,
)
from core.types.requests import PLAIN, Extras, FactRequest, ListRequest, RecallQuery, StoreRequest
from core.types.reviews import Decided, Decision, ListedConflict, TurnedDown
from core.types.sessions import (
    Captured,
    CaptureRequest,
    SessionClosed,
    SummaryRequest,
    TurnBegun,
    TurnEnd,
    TurnEnded,
    TurnQuery,
)
from core.types.values import OWNER_ACTOR, Actor, Kind, Memory, Source
from core.types.views import Facets, FindRequest, Found, Revision, RevisionReport

Counted = Callable[[int, int | None], None]
Asked = Callable[[], bool]


class SignalsLike(Protocol):
    """The five signals of a recall item, 0 to 1."""

    @property
    def relevance(self) -> float: ...  # noqa: D102 - the class says it
    @property
    def confidence(self) -> float: ...  # noqa: D102
    @property
    def recency(self) -> float: ...  # noqa: D102
    @property
    def importance(self) -> float: ...  # noqa: D102
    @property
    def utility(self) -> float: ...  # noqa: D102


class RecallItemLike(Protocol):
    """One found memory (core.recall)."""

    @property
    def memory(self) -> Memory: ...  # noqa: D102
    @property
    def score(self) -> float: ...  # noqa: D102
    @property
    def signals(self) -> SignalsLike: ...  # noqa: D102
    @property
    def ranks(self) -> Mapping[str, tuple[int, float]]: ...  # noqa: D102
    @property
    def why(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def refs(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def contradicts(self) -> str | None: ...  # noqa: D102


class RecallResultLike(Protocol):
    """What a recall found (core.recall)."""

    @property
    def items(self) -> Sequence[RecallItemLike]: ...  # noqa: D102
    @property
    def abstained(self) -> bool: ...  # noqa: D102
    @property
    def reason(self) -> str: ...  # noqa: D102
    @property
    def near_misses(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def strategy(self) -> str: ...  # noqa: D102
    @property
    def took_ms(self) -> float: ...  # noqa: D102
    @property
    def trace(self) -> Trace: ...  # noqa: D102


class Authenticator(Protocol):
    """Paired clients by name, answered from memory; nobody while the vault is locked."""

    def token_for(self, name: str) -> ClientRecord | None:
        """The client of a name, also a paused or revoked one; `@owner` is the owner's channel."""
        ...

    def name_of(self, client_id: str) -> str | None:
        """The name of a client, also of a revoked one."""
        ...


class Memories(Protocol):
    """The verbs on memories."""

    def store(self, request: StoreRequest, actor: Actor) -> Future[StoreReply]: ...  # noqa: D102
    def store_fact(self, fact: FactRequest, actor: Actor) -> Future[StoreReply]: ...  # noqa: D102
    def get(self, memory_id: str, actor: Actor, kind: Kind | None = None) -> Future[Memory]: ...  # noqa: D102
    def list(self, request: ListRequest, actor: Actor) -> Future[Page]: ...  # noqa: D102
    def recall(self, query: RecallQuery, actor: Actor) -> Future[Any]:
        """`result` (a `RecallResultLike`), `receipt_id`, and `metrics` (None unless the query asks to explain)."""
        ...

    def context(self, query: ContextQuery, actor: Actor) -> Future[ContextReply]: ...  # noqa: D102
    def show(self, memory_id: str, actor: Actor) -> Future[MemoryDetail]: ...  # noqa: D102
    def history(self, memory_id: str, actor: Actor) -> Future[tuple[Memory, ...]]: ...  # noqa: D102
    def forget(self, memory_id: str, actor: Actor) -> Future[str]: ...  # noqa: D102
    def erase_preview(  # noqa: D102
        self, memory_ids: Sequence[str], *, whole_chain: bool = False
    ) -> Future[ErasePreview]: ...
    def erase(  # noqa: D102
        self, memory_ids: Sequence[str], actor: Actor, *, whole_chain: bool = False
    ) -> Future[Erased]: ...
    def undo(self, step_id: str | None, actor: Actor) -> Future[UndoReport]: ...  # noqa: D102
    def confirm(self, memory_id: str, actor: Actor, extras: Extras = PLAIN) -> Future[VerdictReply]: ...  # noqa: D102
    def reinforce(self, memory_id: str, actor: Actor, extras: Extras = PLAIN) -> Future[VerdictReply]: ...  # noqa: D102
    def dispute(  # noqa: D102
        self, memory_id: str, actor: Actor, reason: str | None = None, extras: Extras = PLAIN
    ) -> Future[VerdictReply]: ...
    def corroborate(  # noqa: D102
        self,
        memory_id: str,
        actor: Actor,
        source: Source | None = None,
        session: str | None = None,
        extras: Extras = PLAIN,
    ) -> Future[VerdictReply]: ...


class Practice(Protocol):
    """How rules serve and procedures go."""

    def helpful(self, memory_id: str, actor: Actor) -> Future[Marked]: ...  # noqa: D102
    def harmful(self, memory_id: str, actor: Actor, reason: str | None = None) -> Future[Marked]: ...  # noqa: D102
    def outcome(  # noqa: D102
        self, memory_id: str, actor: Actor, *, success: bool, took_ms: int | None = None
    ) -> Future[OutcomeTaken]: ...


class Changes(Protocol):
    """What clients wish to have changed."""

    def update(  # noqa: D102
        self,
        memory_id: str,
        text: str,
        actor: Actor,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[ChangeReply]: ...
    def remove(  # noqa: D102
        self,
        memory_id: str,
        actor: Actor,
        wish: Wish = Wish.FORGET,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[ChangeReply]: ...
    def feedback(  # noqa: D102
        self,
        memory_id: str,
        actor: Actor,
        *,
        helpful: bool,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[Judgement]: ...
    def mark(  # noqa: D102
        self,
        memory_id: str,
        actor: Actor,
        *,
        helpful: bool,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[Judgement]: ...
    def relate(  # noqa: D102
        self,
        source_id: str,
        target_id: str,
        relationship: Relationship,
        actor: Actor,
        request_id: str | None = None,
    ) -> Future[Related]: ...


class Library(Protocol):
    """What the person does with many memories."""

    def find(self, request: FindRequest) -> Future[Found]: ...  # noqa: D102
    @staticmethod
    def with_term(query: str, key: str, value: str, *, negated: bool = False) -> str: ...  # noqa: D102
    def facets(self) -> Future[Facets]: ...  # noqa: D102
    def revise(self, ids: Sequence[str], revision: Revision) -> Future[RevisionReport]: ...  # noqa: D102
    def full_id(self, what: str, text: str) -> Future[str]: ...  # noqa: D102
    def export(self, ids: Sequence[str], to: Path, format: str) -> Future[int]: ...  # noqa: A002, D102
    def handed_out(self, ids: Sequence[str], format: str) -> Future[tuple[str, ...]]: ...  # noqa: A002, D102
    def fields(self, ids: Sequence[str]) -> Future[tuple[tuple[str, Mapping[str, Any]], ...]]: ...  # noqa: D102


class Conflicts(Protocol):
    """The conflict desk."""

    def listed(self, actor: Actor, *, everything: bool = False) -> Future[tuple[ListedConflict, ...]]: ...  # noqa: D102
    def resolve(  # noqa: D102
        self, item_id: str, decision: Decision, actor: Actor, request_id: str | None = None
    ) -> Future[Decided]: ...
    def turn_down(self, name: str) -> Future[TurnedDown]: ...  # noqa: D102


class Journals(Protocol):
    """What happened."""

    def steps(  # noqa: D102
        self, after: str | None = None, limit: int = 100, include_undone: bool = True
    ) -> Future[Steps]: ...
    def handed(  # noqa: D102
        self,
        actor: Actor,
        verb: str,
        query: str,
        memory_ids: Sequence[str],
        entity_ids: Sequence[str] = (),
        blocked_ids: Sequence[str] = (),
    ) -> str: ...


class Imports(Protocol):
    """The verbs on imports."""

    def rehearse(  # noqa: D102
        self,
        path: Path,
        format: str | None,  # noqa: A002 - the contract's word
        actor: Actor,
        space: str | None = None,
        progress: Counted | None = None,
        cancelled: Asked | None = None,
    ) -> Future[ImportReport]: ...
    def run(  # noqa: D102
        self,
        path: Path,
        format: str | None,  # noqa: A002 - the contract's word
        space: str | None,
        actor: Actor,
        progress: Counted | None = None,
        cancelled: Asked | None = None,
    ) -> Future[ImportReport]: ...
    def undo(self, import_id: str) -> Future[UndoReport]: ...  # noqa: D102


class Clients(Protocol):
    """The verbs on clients."""

    def pair(  # noqa: D102
        self,
        name: str,
        grants: Sequence[str],
        limit: int | str | None = None,
        actor: Actor = OWNER_ACTOR,
        asked_by: str = "",
    ) -> Future[Paired]: ...
    def before(self, name: str) -> Future[Before]: ...  # noqa: D102
    def deny(self, name: str) -> Future[str]: ...  # noqa: D102
    def denied(self) -> Future[tuple[Denied, ...]]: ...  # noqa: D102
    def allow_again(self, name: str) -> Future[str]: ...  # noqa: D102
    def regrant(self, name: str, terms: Change, actor: Actor = OWNER_ACTOR) -> Future[str]: ...  # noqa: D102
    def pause(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[str]: ...  # noqa: D102
    def resume(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[str]: ...  # noqa: D102
    def stop_all(self, actor: Actor = OWNER_ACTOR) -> Future[str]: ...  # noqa: D102
    def resume_all(self, actor: Actor = OWNER_ACTOR) -> Future[str]: ...  # noqa: D102
    def revoke(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[str]: ...  # noqa: D102
    def undoable(self, name: str, since_ms: int) -> Future[Undoable]: ...  # noqa: D102
    def remove_all(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[Removal]: ...  # noqa: D102
    def cards(self) -> Future[tuple[ClientCard, ...]]: ...  # noqa: D102
    def list(self) -> Future[tuple[ClientRecord, ...]]: ...  # noqa: D102
    def activity(  # noqa: D102
        self, name: str | None = None, after: str | None = None, limit: int = 50
    ) -> Future[ActivityPage]: ...
    def authenticator(self) -> Authenticator: ...  # noqa: D102


class Watching(Protocol):
    """What a listener may be told."""

    def told(self, moves: Moves, actor: Actor) -> Future[Mapping[str, tuple[str, ...]]]: ...  # noqa: D102


class OlderLike(Protocol):
    """An older copy of the vault, or one of which it cannot be told, that nobody has accepted."""

    @property
    def doubt(self) -> str: ...  # noqa: D102 - the class says it
    @property
    def vault_seq(self) -> int: ...  # noqa: D102
    @property
    def head_seq(self) -> int: ...  # noqa: D102
    @property
    def head_time_ms(self) -> int | None: ...  # noqa: D102


class VaultGroup(Protocol):
    """The verbs on the vault as a whole."""

    def status(self) -> Future[StatusReport]: ...  # noqa: D102
    def verify(self) -> Future[dict[str, Any]]: ...  # noqa: D102
    def backup(self, to: Path | None = None) -> Future[dict[str, Any]]: ...  # noqa: D102
    def lock(self) -> Future[None]: ...  # noqa: D102
    def change_passphrase(self, old: str, new: str) -> Future[None]: ...  # noqa: D102
    def new_recovery_code(self, secret: str) -> Future[str]: ...  # noqa: D102
    def confirm_recovery_code(self, code: str) -> Future[bool]: ...  # noqa: D102
    def unlock(self, root: bytes) -> Future[Any]:
        """Open the vault; WRONG_SECRET when the root is not this vault's."""
        ...


class JobsGroup(Protocol):
    """The verbs on scheduled work."""

    def state(self, limit: int = 50) -> Future[Jobs]: ...  # noqa: D102
    def preview(self, limit: int = 200, kinds: Sequence[JobType] = ()) -> Future[Preview]: ...  # noqa: D102
    def run(self, kind: JobType, actor: Actor = OWNER_ACTOR) -> Future[JobRow]: ...  # noqa: D102


class Upkeep(Protocol):
    """What a caller may know and do about upkeep."""

    def stats(self, space: str | None, actor: Actor) -> Future[Mapping[str, Mapping[str, Any]]]: ...  # noqa: D102
    def audit(self, limit: int, actor: Actor) -> Future[tuple[OwnDeed, ...]]: ...  # noqa: D102
    def consolidate(  # noqa: D102
        self, actor: Actor, *, dry_run: bool = False, request_id: str | None = None
    ) -> Future[Consolidation]: ...
    def tidy(self, most: int | None, actor: Actor, request_id: str | None = None) -> Future[Tidied]: ...  # noqa: D102


class EntityCandidateLike(Protocol):
    """An entity that a name may mean (core.entities.resolution)."""

    @property
    def entity_id(self) -> str: ...  # noqa: D102
    @property
    def canonical_name(self) -> str: ...  # noqa: D102
    @property
    def entity_type(self) -> str: ...  # noqa: D102
    @property
    def score(self) -> float: ...  # noqa: D102
    @property
    def name_match(self) -> str: ...  # noqa: D102
    @property
    def aliases(self) -> Sequence[str]: ...  # noqa: D102


class Entities(Protocol):
    """The register of named things."""

    def create(self, draft: EntityDraft, actor: Actor) -> Future[EntityCard]: ...  # noqa: D102
    def get(self, entity_id: str, actor: Actor) -> Future[EntityCard]: ...  # noqa: D102
    def update(self, entity_id: str, change: EntityChange, actor: Actor) -> Future[EntityCard]: ...  # noqa: D102
    def resolve(self, wanted: Resolving, actor: Actor) -> Future[Any]:
        """Several `EntityCandidateLike`, the best first."""
        ...

    def merge(  # noqa: D102
        self, source_id: str, target_id: str, actor: Actor, request_id: str | None = None
    ) -> Future[EntityMerged]: ...


class Sessions(Protocol):
    """What assistants do in turns."""

    def begin(self, query: TurnQuery, actor: Actor) -> Future[TurnBegun]: ...  # noqa: D102
    def end(self, request: TurnEnd, actor: Actor) -> Future[TurnEnded]: ...  # noqa: D102
    def capture(self, request: CaptureRequest, actor: Actor) -> Future[Captured]: ...  # noqa: D102
    def summary(self, request: SummaryRequest, actor: Actor) -> Future[Captured]: ...  # noqa: D102
    def close(  # noqa: D102
        self, session: str, actor: Actor, request_id: str | None = None
    ) -> Future[SessionClosed]: ...
    def in_use(self, client_id: str | None) -> frozenset[tuple[str | None, str]]: ...  # noqa: D102
    def leave(self, names: Iterable[tuple[str | None, str]]) -> None:
        """Clients and sessions that are gone; never fails, never waits."""
        ...


class Engine(Protocol):
    """The engine's facade, as far as this room uses it.

    Attributes:
        state: `locked`, `opening`, `open` or `closing`.
        vault_id: the 16 raw bytes, known while locked too.
        clock: the one clock.
        hub: events.
    """

    state: str
    hub: Hub

    @property
    def vault_id(self) -> bytes: ...  # noqa: D102
    @property
    def older(self) -> OlderLike | None: ...  # noqa: D102
    def accept_older(self) -> Future[int]: ...  # noqa: D102
    @property
    def clock(self) -> Clock: ...  # noqa: D102
    @property
    def memories(self) -> Memories: ...  # noqa: D102
    @property
    def conflicts(self) -> Conflicts: ...  # noqa: D102
    @property
    def library(self) -> Library: ...  # noqa: D102
    @property
    def journal(self) -> Journals: ...  # noqa: D102
    @property
    def imports(self) -> Imports: ...  # noqa: D102
    @property
    def clients(self) -> Clients: ...  # noqa: D102
    @property
    def watching(self) -> Watching: ...  # noqa: D102
    @property
    def options(self) -> Options: ...  # noqa: D102
    @property
    def vault(self) -> VaultGroup: ...  # noqa: D102
    @property
    def jobs(self) -> JobsGroup: ...  # noqa: D102
    @property
    def practice(self) -> Practice: ...  # noqa: D102
    @property
    def sessions(self) -> Sessions: ...  # noqa: D102
    @property
    def changes(self) -> Changes: ...  # noqa: D102
    @property
    def entities(self) -> Entities: ...  # noqa: D102
    @property
    def upkeep(self) -> Upkeep: ...  # noqa: D102
