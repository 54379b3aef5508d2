"""The facade's group for entities: the register of named things, who a name means, two that are one (seed B).

A client sees the entities of its spaces and of GLOBAL, and of what rules found only what a memory names that it may
see. Must not do: make an entity because a name was looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict

from core.engine.authority import Authority
from core.engine.runtime.storage import Storage
from core.engine.views.entity_reader import list_entities, preview_merge, read_entity, resolve_entities
from core.entities import registry
from core.entities.across_spaces import read_groups
from core.entities.recognition import name_key
from core.entities.resolution import EntityCandidate
from core.errors import Code, UserError
from core.intake.entities import CREATE, MERGE, SEPARATE, UPDATE, EntityCaller, EntityVerbs, refuse_channel
from core.intake.transaction.admission import check_space_name
from core.intake.transaction.unit_of_work import IdempotentCall
from core.intake.transitions.injection_hold import refuse_imperatives
from core.memory.write import ensure_space, find_space_id
from core.text.screening.egress import collect_texts, prefetch_scans, sanitize_map
from core.types.clients import ClientRecord
from core.types.entities import (
    EntityCard,
    EntityChange,
    EntityDraft,
    EntityList,
    EntityMerged,
    EntityQuery,
    EntityRevised,
    EntityScope,
    EntityView,
    MergePreview,
    Resolving,
)
from core.types.values import GLOBAL_SPACE, HOME_SPACE, OWNER_ACTOR, Actor, Grant, seen_from
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_ALL = EntityScope()
_EVERY = EntityQuery()


class Entities:
    """Everything a caller does with entities. Each method returns at once with a Future."""

    def __init__(self, storage: Callable[[], Storage], authority: Authority) -> None:
        self._storage = storage
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
        storage = self._storage()
        client, reach = self._authority.require_grant(actor, Grant.WRITE), self._entity_scope(actor)
        refuse_channel(actor)
        registry.check_draft(draft)

        def write(tx: Tx) -> EntityCard:
            self._authority.check_terms_hold(actor, client)
            if client is not None:
                refuse_imperatives((draft.name, *draft.aliases), collect_texts(draft.metadata))

            def choose_space() -> str:
                return _writable_space_for(tx, draft.space, client, storage.make_id)

            call = IdempotentCall(actor, draft.request_id, {"verb": CREATE, **asdict(draft)})
            with storage.verb(tx, actor, CREATE, call) as verb:
                if verb.earlier is not None:
                    return _prefetch_card_scans(registry.read_card(tx, str(verb.earlier["id"]), reach), actor)
                made = _make_verbs(storage).create_entity(tx, choose_space, draft, EntityCaller(actor, reach))
                verb.set_outcome((), {"id": made})
                return _prefetch_card_scans(registry.read_card(tx, made, reach), actor)

        return storage.write(write)

    def get(self, entity_id: str, actor: Actor = OWNER_ACTOR) -> Future[EntityCard]:
        """One entity; one that was merged away says where it leads.

        Returns:
            It; the future raises NOT_FOUND where there is none the actor may see.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED without `read`.
        """
        storage, reach = self._storage(), self._entity_scope(actor)
        return storage.read(lambda rows: _prefetch_card_scans(registry.read_card(rows, entity_id, reach), actor))

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
        storage = self._storage()
        client, reach = self._authority.require_grant(actor, Grant.CURATE), self._entity_scope(actor)
        refuse_channel(actor)
        registry.check_entity_change(change)
        if client is not None and change.type is not None:
            raise UserError(Code.ACCESS_DENIED, "Only the person changes what kind of thing an entity is.")

        def write(tx: Tx) -> EntityCard:
            self._authority.check_terms_hold(actor, client)
            if client is not None:
                refuse_imperatives((change.name or "", *(change.aliases or ())), collect_texts(change.metadata or {}))
            found = registry.read_card(tx, entity_id, reach)
            if client is not None and (found.space == GLOBAL_SPACE or found.made_by == "owner"):
                raise UserError(Code.ACCESS_DENIED, "Only the person changes an entity of GLOBAL or of their own.")
            call = IdempotentCall(actor, change.request_id, {"verb": UPDATE, "id": entity_id, **asdict(change)})
            with storage.verb(tx, actor, UPDATE, call) as verb:
                if verb.earlier is None:
                    _make_verbs(storage).change_entity(tx, entity_id, change, EntityCaller(actor, reach))
                    verb.set_outcome((), {"id": entity_id})
            return _prefetch_card_scans(registry.read_card(tx, entity_id, reach), actor)

        return storage.write(write)

    def resolve(self, wanted: Resolving, actor: Actor = OWNER_ACTOR) -> Future[tuple[EntityCandidate, ...]]:
        """Which entities a name may mean (seed B, entity resolution with tiered candidate discovery).

        Args:
            wanted: the name and what is known of it.

        Returns:
            The best first, 200 at most; none where nothing fits.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED without `read`.
        """
        storage, reach = self._storage(), self._entity_scope(actor)

        def read(rows: Rows) -> tuple[EntityCandidate, ...]:
            found = resolve_entities(rows, wanted, reach)
            if not actor.is_owner:
                prefetch_scans((), (name for one in found for name in (one.canonical_name, *one.aliases)))
            return found

        return storage.read(read)

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
        storage = self._storage()
        client, reach = self._authority.client_of(actor), self._entity_scope(actor)
        may_decide = client is None or Grant.CURATE.value in client.grants
        if client is not None and not client.grants & {Grant.CURATE.value, Grant.WRITE.value, Grant.PROPOSE.value}:
            raise UserError(Code.ACCESS_DENIED, "This client may read but not write; ask the person to grant it.")

        refuse_channel(actor)
        if client is not None and widen:
            raise UserError(Code.ACCESS_DENIED, "Only the person puts an entity into GLOBAL.")

        wider = {"widen": True} if widen else {}
        call = IdempotentCall(actor, request_id, {"verb": MERGE, "source": source_id, "target": target_id, **wider})

        def write(tx: Tx) -> EntityMerged:
            self._authority.check_terms_hold(actor, client)
            with storage.verb(tx, actor, MERGE, call) as verb:
                if verb.earlier is not None:
                    return EntityMerged(**verb.earlier)
                caller = EntityCaller(actor, reach)
                done = _make_verbs(storage).merge_or_propose(
                    tx, source_id, target_id, caller, may_decide=may_decide, widen=widen
                )
                verb.set_outcome((), asdict(done))
                return done

        return storage.write(write)

    # ---- the page

    def list_entities(self, query: EntityQuery = _EVERY) -> Future[EntityList]:
        """The entities of the vault, those named most often first; the owner's.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._storage().read(lambda rows: list_entities(rows, query))

    def read_detail(self, entity_id: str) -> Future[EntityView]:
        """One entity with where it is mentioned, what is said of it and what was merged into it; the owner's.

        Returns:
            It; the future raises NOT_FOUND.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()
        now = storage.clock.now_ms()
        return storage.read(lambda rows: read_entity(rows, entity_id, now))

    def revise(self, entity_id: str, change: EntityChange) -> Future[EntityRevised]:
        """Change an entity in all spaces that have it: one undo step; the owner's.

        A name or a type that changed changes in each of them; another name that came or went comes or goes in each.
        What one space alone knew besides stays its own, so that whoever sees another learns nothing of it.

        Args:
            change: what shall be different, of the entity as `read_detail` shows it.

        Returns:
            What `undo` takes; the future raises NOT_FOUND, INVALID_INPUT.

        Raises:
            UserError: VAULT_LOCKED, INVALID_INPUT.
        """
        storage = self._storage()
        registry.check_entity_change(change)

        def write(tx: Tx) -> EntityRevised:
            shown = read_entity(tx, entity_id, tx.now_ms).card
            members = [registry.read_card(tx, one, _ALL) for one in read_groups(tx).members_of(shown.id)]
            changes = {one.id: _change_of_part(one, shown, change) for one in members}
            with storage.verb(tx, OWNER_ACTOR, UPDATE) as verb:
                step_id = _make_verbs(storage).change_entities(tx, changes, EntityCaller(OWNER_ACTOR, _ALL))
                verb.set_outcome(())
            return EntityRevised(shown.id, step_id)

        return storage.write(write)

    def separate(self, entity_id: str) -> Future[EntityRevised]:
        """Say that what one space has is another thing than what others of the same name are: one undo step.

        It stays so until it is undone, or the two are merged; the owner's.

        Args:
            entity_id: the entity of the one space.

        Returns:
            What `undo` takes; None where nothing was joined to it. The future raises NOT_FOUND.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()

        def write(tx: Tx) -> EntityRevised:
            registry.read_card(tx, entity_id, _ALL)
            others = [one for one in read_groups(tx).members_of(entity_id) if one != entity_id]
            if not others:
                return EntityRevised(entity_id, None)
            with storage.verb(tx, OWNER_ACTOR, SEPARATE) as verb:
                step_id = _make_verbs(storage).separate_entity(tx, entity_id, others, EntityCaller(OWNER_ACTOR, _ALL))
                verb.set_outcome(())
            return EntityRevised(entity_id, step_id)

        return storage.write(write)

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
        return self._storage().read(lambda rows: preview_merge(rows, keep_id, other_id, _ALL))

    def _entity_scope(self, actor: Actor) -> EntityScope:
        scope = self._authority.make_scope(actor)
        is_client = scope.client_id is not None
        channels = seen_from(scope.channel) if is_client else None
        return EntityScope(None if scope.unrestricted else scope.space_ids, is_client=is_client, channels=channels)


def _make_verbs(storage: Storage) -> EntityVerbs:
    return EntityVerbs(storage.make_id, storage.work)


def _change_of_part(part: EntityCard, shown: EntityCard, change: EntityChange) -> EntityChange:
    """What a change of an entity that several spaces have means for the one of one space."""
    name = part.name
    if change.name is not None and change.name.strip() != shown.name and name_key(part.name) == name_key(shown.name):
        name = change.name.strip()
    aliases = list(part.aliases)
    if change.aliases is not None:
        before, after = ({name_key(one) for one in some} for some in (shown.aliases, change.aliases))
        aliases = [one for one in aliases if name_key(one) in after or name_key(one) not in before]
        aliases += [one for one in change.aliases if name_key(one) not in before]
    elif name != part.name:
        aliases = [one for one in aliases if name_key(one) != name_key(name)]
    kind = change.type if change.type not in (None, shown.type) or part.type != shown.type else None
    return EntityChange(name, tuple(aliases), change.metadata, kind)


def _prefetch_card_scans(card: EntityCard, actor: Actor) -> EntityCard:
    """A card whose words a client is told: scanned on the thread that read it, so that whoever shapes it need not."""
    if not actor.is_owner:
        prefetch_scans((), (card.name, *card.aliases))
        sanitize_map(card.metadata)
    return card


def _writable_space_for(tx: Tx, name: str | None, client: ClientRecord | None, make_id: Callable[[], str]) -> str:
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
