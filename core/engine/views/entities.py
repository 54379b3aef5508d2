"""The facade's group for entities: the register of named things, who a name means, two that are one (seed B).

A client sees the entities of its spaces and of GLOBAL, and of what rules found only what a memory names that it may
see. Must not do: make an entity because a name was looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from core.engine.access.authority import Authority
from core.engine.runtime.open_vault import OpenVault
from core.engine.views import entity_reader
from core.entities import entity_rows
from core.entities.resolution import EntityCandidate
from core.errors import Code, UserError
from core.intake.entities.entity_verbs import EntityCaller, EntityVerbs, refuse_channel
from core.intake.transaction.validation import check_space_name
from core.intake.transitions.injection_hold import refuse_imperatives
from core.memory.spaces import ensure_space, find_space_id
from core.text.screening.egress import collect_texts, prefetch_scans, sanitize_map
from core.types.clients import seen_from
from core.types.entities import (
    EntityCard,
    EntityChange,
    EntityDraft,
    EntityList,
    EntityMerged,
    EntityQuery,
    EntityView,
    MergePreview,
    Reach,
    Resolving,
)
from core.types.replies import ClientRecord
from core.types.values import GLOBAL_SPACE, HOME_SPACE, OWNER_ACTOR, Actor, Grant
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_ALL = Reach()
_EVERY = EntityQuery()


class Entities:
    """Everything a caller does with entities. Each method returns at once with a Future."""

    def __init__(self, opened: Callable[[], OpenVault], authority: Authority) -> None:
        self._opened = opened
        self._authority = authority

    # ---- the register

    def create(self, draft: EntityDraft, actor: Actor = OWNER_ACTOR) -> Future[EntityCard]:
        """Make an entity: one undo step.

        Args:
            draft: what shall be made; without a space it lives in `home`, a client's in the client's own.
            actor: the person, or a client with `write`.

        Returns:
            The entity; the future raises INVALID_INPUT for a duplicate of name, type and space.

        Raises:
            UserError: VAULT_LOCKED, INVALID_INPUT, ACCESS_DENIED without `write`, on a channel, for a space out of
                reach.
        """
        opened = self._opened()
        client, reach = self._authority.require(actor, Grant.WRITE), self._reach(actor)
        refuse_channel(actor)
        entity_rows.check_draft(draft)

        def write(tx: Tx) -> EntityCard:
            self._authority.need_terms(actor, client)
            if client is not None:
                refuse_imperatives((draft.name, *draft.aliases), collect_texts(draft.metadata))

            def home() -> str:
                return _space_for(tx, draft.space, client, opened.make_id)

            made = _verbs(opened).create(tx, home, draft, EntityCaller(actor, reach, draft.request_id))
            self._tell(tx, opened, "entity_create", actor)
            return _looked_at(entity_rows.read_card(tx, made, reach), actor)

        return opened.write(write)

    def get(self, entity_id: str, actor: Actor = OWNER_ACTOR) -> Future[EntityCard]:
        """One entity; one that was merged away says where it leads.

        Returns:
            It; the future raises NOT_FOUND where there is none the actor may see.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED without `read`.
        """
        opened, reach = self._opened(), self._reach(actor)
        return opened.read(lambda rows: _looked_at(entity_rows.read_card(rows, entity_id, reach), actor))

    def update(self, entity_id: str, change: EntityChange, actor: Actor = OWNER_ACTOR) -> Future[EntityCard]:
        """Change an entity: name and other names are replaced, metadata is laid over; one undo step.

        Args:
            change: what shall be different.
            actor: the person, or a client with `curate`, which changes nothing of GLOBAL or of the person's making.

        Returns:
            The entity as it is now; the future raises NOT_FOUND, INVALID_INPUT, ACCESS_DENIED.

        Raises:
            UserError: VAULT_LOCKED, INVALID_INPUT, ACCESS_DENIED without `curate` or on a channel.
        """
        opened = self._opened()
        client, reach = self._authority.require(actor, Grant.CURATE), self._reach(actor)
        refuse_channel(actor)
        entity_rows.check_change(change)
        if client is not None and change.type is not None:
            raise UserError(Code.ACCESS_DENIED, "Only the person changes what kind of thing an entity is.")

        def write(tx: Tx) -> EntityCard:
            self._authority.need_terms(actor, client)
            if client is not None:
                refuse_imperatives((change.name or "", *(change.aliases or ())), collect_texts(change.metadata or {}))
            found = entity_rows.read_card(tx, entity_id, reach)
            if client is not None and (found.space == GLOBAL_SPACE or found.made_by == "owner"):
                raise UserError(Code.ACCESS_DENIED, "Only the person changes an entity of GLOBAL or of their own.")
            _verbs(opened).change(tx, entity_id, change, EntityCaller(actor, reach, change.request_id))
            self._tell(tx, opened, "entity_update", actor)
            return _looked_at(entity_rows.read_card(tx, entity_id, reach), actor)

        return opened.write(write)

    def resolve(self, wanted: Resolving, actor: Actor = OWNER_ACTOR) -> Future[tuple[EntityCandidate, ...]]:
        """Which entities a name may mean (seed B, entity resolution with tiered candidate discovery).

        Args:
            wanted: the name and what is known of it.

        Returns:
            The best first, 200 at most; none where nothing fits.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED without `read`.
        """
        opened, reach = self._opened(), self._reach(actor)

        def read(rows: Rows) -> tuple[EntityCandidate, ...]:
            found = entity_reader.resolve_entities(rows, wanted, reach)
            if not actor.is_owner:
                prefetch_scans((), (name for one in found for name in (one.canonical_name, *one.aliases)))
            return found

        return opened.read(read)

    def merge(
        self,
        source_id: str,
        target_id: str,
        actor: Actor = OWNER_ACTOR,
        request_id: str | None = None,
        *,
        widen: bool = False,
    ) -> Future[EntityMerged]:
        """Merge one entity into another: one undo step, which takes them apart again (seed B, entity merge).

        Args:
            source_id: the one that leads to the other from then on.
            target_id: the one that stays.
            actor: the person; a client with `curate`, for what is neither of GLOBAL nor the person's; any other that
                may propose or write asks the person.
            request_id: makes the call idempotent.
            widen: two of different spaces both lead to a new one in GLOBAL; the person's alone (`merge_preview`).

        Returns:
            What came of it; the future raises NOT_FOUND, INVALID_INPUT, ACCESS_DENIED.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED on a channel, or for a client that may only read.
        """
        opened = self._opened()
        client, reach = self._authority.of(actor), self._reach(actor)
        may_decide = client is None or Grant.CURATE.value in client.grants
        if client is not None and not client.grants & {Grant.CURATE.value, Grant.WRITE.value, Grant.PROPOSE.value}:
            raise UserError(Code.ACCESS_DENIED, "This client may read but not write; ask the person to grant it.")

        refuse_channel(actor)
        if client is not None and widen:
            raise UserError(Code.ACCESS_DENIED, "Only the person puts an entity into GLOBAL.")

        def write(tx: Tx) -> EntityMerged:
            self._authority.need_terms(actor, client)
            asked = EntityCaller(actor, reach, request_id)
            done = _verbs(opened).merge(tx, source_id, target_id, asked, may_decide=may_decide, widen=widen)
            self._tell(tx, opened, "entity_merge", actor)
            return done

        return opened.write(write)

    # ---- the page

    def listed(self, query: EntityQuery = _EVERY) -> Future[EntityList]:
        """The entities of the vault, those named most often first; the owner's.

        Returns:
            The list.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._opened().read(lambda rows: entity_reader.list_entities(rows, query))

    def detail(self, entity_id: str) -> Future[EntityView]:
        """One entity with where it is mentioned, what is said of it and what was merged into it; the owner's.

        Returns:
            It; the future raises NOT_FOUND.

        Raises:
            UserError: VAULT_LOCKED.
        """
        opened = self._opened()
        now = opened.clock.now_ms()
        return opened.read(lambda rows: entity_reader.read_entity(rows, entity_id, _ALL, now))

    def merge_preview(self, keep_id: str, other_id: str) -> Future[MergePreview]:
        """What merging two would do; nothing is written.

        Args:
            keep_id: the one that would stay.
            other_id: the one that would lead to it.

        Returns:
            Counts, names and claims that would end; the future raises NOT_FOUND.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._opened().read(lambda rows: entity_reader.preview_merge(rows, keep_id, other_id, _ALL))

    def _reach(self, actor: Actor) -> Reach:
        scope = self._authority.scope(actor)
        is_client = scope.client_id is not None
        channels = seen_from(scope.channel) if is_client else None
        return Reach(None if scope.unrestricted else scope.space_ids, is_client=is_client, channels=channels)

    @staticmethod
    def _tell(tx: Tx, opened: OpenVault, verb: str, actor: Actor) -> None:
        opened.announce_after(tx, verb, (), actor)


def _verbs(opened: OpenVault) -> EntityVerbs:
    return EntityVerbs(opened.make_id, opened.work)


def _looked_at(card: EntityCard, actor: Actor) -> EntityCard:
    """A card whose words a client is told: scanned on the thread that read it, so that whoever shapes it need not."""
    if not actor.is_owner:
        prefetch_scans((), (card.name, *card.aliases))
        sanitize_map(card.metadata)
    return card


def _space_for(tx: Tx, name: str | None, client: ClientRecord | None, make_id: Callable[[], str]) -> str:
    """The space a new entity lives in; a space that a client may not write into looks like one that is not there."""
    if client is None:
        if name is not None:
            check_space_name(name)
        return ensure_space(tx, name or HOME_SPACE, make_id())
    if name is None:
        return client.own_space_id
    known = find_space_id(tx, name)
    reach = {client.own_space_id, *client.space_ids}
    allowed = known is not None and (known in reach or Grant.ALL_SPACES.value in client.grants)
    if known is None or not allowed or name == GLOBAL_SPACE:
        raise UserError(Code.ACCESS_DENIED, "This client may not write into that space.")
    return known
