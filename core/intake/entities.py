"""The verbs on entities: create, change, merge, or ask the person to merge. Each is one transaction and one undo step.

A merge unites names, moves mentions and points claims at the entity that stays, all through the verb's transaction, so
that an undo takes the two apart again (seed B, entity merge with fact conflict resolution). Must not do: decide whether
two are one, say who may (`core.engine.views.entities` does), or put a name into a label, an error or the audit.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.belief.claims import find_persons_words
from core.belief.extract.normal_form import value_key
from core.entities import registry
from core.entities.across_spaces import keep_apart
from core.entities.recognition import name_key
from core.entities.registry import add_alias, merge_metadata
from core.errors import BugError, Code, PreconditionError, UserError
from core.intake.claims import exclusive_rivals, replace_claim
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions import review_items
from core.intake.transitions.review_items import ItemSubject
from core.types.entities import EntityCard, EntityChange, EntityDraft, EntityMerged, EntityScope
from core.types.values import GLOBAL_SPACE, Actor, IdMaker
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

_ENTITY = "SELECT space_id FROM entities WHERE id = ?"
_NAMES = (
    "SELECT a.alias FROM entity_aliases a WHERE a.entity_id = :id AND NOT EXISTS (SELECT 1 FROM entity_aliases b "
    "JOIN entities o ON o.id = b.entity_id WHERE b.alias_key = a.alias_key AND o.merged_into_id IS NULL "
    "AND o.id NOT IN (:id, :with) AND o.space_id IN (:space, 'GLOBAL'))"
)
_ABOUT = (
    "SELECT c.id, c.space_id, c.subject_key, c.subject_entity_id, c.predicate, c.value_key, c.qualifiers, "
    "c.scope_session, c.valid_from, c.valid_to, c.confidence, c.state, c.exclusive AND c.polarity = 'positive' "
    "FROM claims c WHERE (c.subject_entity_id = :id OR (c.subject_entity_id IS NULL "
    "AND (:space = 'GLOBAL' OR c.space_id = :space) AND c.subject_key IN (SELECT value FROM json_each(:keys)))) "
    "AND c.state <> 'draft' ORDER BY c.confidence DESC, c.id"
)


@dataclass(frozen=True, slots=True)
class EntityClaim:
    """A claim about an entity, as far as two of them are compared.

    Attributes:
        by_name: its subject is a name; it does not point at the entity.
        line: what two claims that can exclude each other have in common: space, predicate, qualifiers, session.
        rules_out: whether it excludes another value.
    """

    id: str
    subject_key: str
    by_name: bool
    line: tuple[str, ...]
    value_key: str
    begin: int | None
    end: int | None
    confidence: float
    state: str
    rules_out: bool


@dataclass(frozen=True, slots=True)
class ClaimEnding:
    """A claim that ends when two entities become one, and the one that holds (seed B, fact conflict resolution).

    Attributes:
        loser: the claim that ends.
        winner: the claim that holds.
    """

    loser: str
    winner: str


def claims_about(rows: Rows, entity_id: str, beside: str = "") -> list[EntityClaim]:
    """The claims about an entity.

    A name that another entity of the space has too tells nothing.

    Args:
        beside: another one whose names count as this one's, for a merge of the two.

    Returns:
        The surest first.
    """
    space = rows.value(_ENTITY, (entity_id,))
    names = rows.all(_NAMES, {"id": entity_id, "with": beside or entity_id, "space": space})
    keys = sorted({value_key(str(alias)) for (alias,) in names} - {""})
    found = rows.all(_ABOUT, {"id": entity_id, "space": space, "keys": json.dumps(keys)})
    return [_entity_claim_from_row(row) for row in found]


def _entity_claim_from_row(row: tuple[Any, ...]) -> EntityClaim:
    return EntityClaim(
        id=str(row[0]),
        subject_key=str(row[2]),
        by_name=row[3] is None,
        line=(str(row[1]), str(row[4]), str(row[6]), str(row[7])),
        value_key=str(row[5]),
        begin=row[8],
        end=row[9],
        confidence=float(row[10]),
        state=str(row[11]),
        rules_out=bool(row[12]),
    )


def find_endings(rows: Rows, keep: str, merged: str) -> list[ClaimEnding]:
    """Which claims would end if one entity were merged into another.

    Of two that exclude each other the surer one holds; of two equals that of the entity that stays (seed B).

    Args:
        keep: the entity that stays.
        merged: the one that would lead to it.

    Returns:
        Each claim that ends once.
    """
    ruling_claims = [one for one in claims_about(rows, keep, merged) if _is_ruling_out(one)]
    ended: dict[str, ClaimEnding] = {}
    for incoming in claims_about(rows, merged, keep):
        if not _is_ruling_out(incoming):
            continue
        for existing in ruling_claims:
            if (
                existing.id in (incoming.id, *ended)
                or incoming.id in ended
                or not _exclude_each_other(existing, incoming)
            ):
                continue
            loser, winner = (incoming, existing) if existing.confidence >= incoming.confidence else (existing, incoming)
            ended[loser.id] = ClaimEnding(loser.id, winner.id)
    return list(ended.values())


def _is_ruling_out(one: EntityClaim) -> bool:
    return one.state == "asserted" and one.rules_out


def _exclude_each_other(existing: EntityClaim, incoming: EntityClaim) -> bool:
    same = existing.value_key == incoming.value_key and existing.by_name and incoming.by_name
    lasting = (existing.begin is None or incoming.end is None or existing.begin < incoming.end) and (
        incoming.begin is None or existing.end is None or incoming.begin < existing.end
    )
    return existing.line == incoming.line and lasting and not same


def merge_entities(tx: Tx, keep: str, merged: str) -> dict[str, int]:
    """Merge one entity into another.

    Args:
        keep: the entity that stays.
        merged: the one that leads to it from now on; neither is merged already.

    Returns:
        How many other names, mentions and claims moved, and how many claims ended: `aliases`, `mentions`, `claims`,
        `superseded`. A claim whose subject is a name moves with the name.
    """
    rows = [tx.row("entities", {"id": one}) for one in (keep, merged)]
    if keep == merged or any(row is None or row["merged_into_id"] is not None for row in rows):
        raise BugError("joining what is one already")
    settled = _settle_rival_claims(tx, keep, merged)
    counts = {"aliases": _unite_names(tx, keep, merged), "mentions": _move_mentions(tx, keep, merged)}
    counts |= _repoint_claims(tx, keep, merged)
    tx.update("entities", {"id": merged}, {"merged_into_id": keep})
    _unite_metadata(tx, keep, merged)
    return {**counts, **{name: counts[name] + more for name, more in settled.items()}}


def _settle_rival_claims(tx: Tx, keep: str, merged: str) -> dict[str, int]:
    """Decides between claims that cannot both stand of one thing; a claim told by its subject's name moves with it."""
    moved = [one for one in claims_about(tx, merged, keep) if one.by_name]
    ended = find_endings(tx, keep, merged)
    for one in ended:
        replace_claim(tx, one.loser, one.winner, None)
    own = {one.id for one in claims_about(tx, keep, merged)}
    return {"claims": sum(one.id not in own for one in moved), "superseded": len(ended)}


def _unite_metadata(tx: Tx, keep: str, merged: str) -> None:
    """What the one that leads away knew goes over; where both know something, the one that stays is right (seed B)."""
    into, merged_row = tx.row("entities", {"id": keep}) or {}, tx.row("entities", {"id": merged}) or {}
    kept, left = json.loads(into["extra"]), json.loads(merged_row["extra"])
    united = merge_metadata(kept, {**left.get("metadata", {}), **kept.get("metadata", {})}, tx.now_ms)
    tx.update("entities", {"id": keep}, {"extra": to_json(united)})
    tx.update("entities", {"id": merged}, {"extra": to_json({**left, "updated_at": tx.now_ms})})


def _unite_names(tx: Tx, keep: str, merged: str) -> int:
    names = tx.all("SELECT alias FROM entity_aliases WHERE entity_id = ? ORDER BY alias_key", (merged,))
    return sum(add_alias(tx, keep, str(alias)) for (alias,) in names)


def _move_mentions(tx: Tx, keep: str, merged: str) -> int:
    """The schema lets no mention move: it goes, and comes again under the other."""
    found = tx.all("SELECT memory_id, start_at FROM mentions WHERE entity_id = ? ORDER BY 1, 2", (merged,))
    for memory_id, start in found:
        key = {"memory_id": memory_id, "entity_id": merged, "start_at": start}
        row = tx.row("mentions", key)
        tx.delete("mentions", key)
        known = tx.one(
            "SELECT 1 FROM mentions WHERE memory_id = ? AND entity_id = ? AND (start_at < 0) = (? < 0)",
            (memory_id, keep, start),
        )
        if row is not None and known is None:
            tx.insert("mentions", {**row, "entity_id": keep})
    return len(found)


def _repoint_claims(tx: Tx, keep: str, merged: str) -> dict[str, int]:
    """Point claims at the entity that stays; where two then exclude each other the surer one holds (seed B)."""
    counts = {"claims": 0, "superseded": 0}
    for column in ("subject_entity_id", "object_entity_id"):
        for (claim_id,) in tx.all(f"SELECT id FROM claims WHERE {column} = ? ORDER BY id", (merged,)):  # noqa: S608
            claim = tx.row("claims", {"id": claim_id})
            if claim is None:
                continue
            counts["superseded"] += _make_room(tx, {**claim, column: keep})
            tx.update("claims", {"id": claim_id}, {column: keep})
            counts["claims"] += 1
    return counts


def _make_room(tx: Tx, claim: dict[str, Any]) -> int:
    if claim["state"] != "asserted":
        return 0
    ended = 0
    for other_id in exclusive_rivals(tx, claim):
        other = tx.row("claims", {"id": other_id}) or {}
        if other["confidence"] >= claim["confidence"]:
            replace_claim(tx, str(claim["id"]), other_id, None)
            return ended + 1
        replace_claim(tx, other_id, str(claim["id"]), None)
        ended += 1
    return ended


CREATE, UPDATE, MERGE, PROPOSE = "entity_create", "entity_update", "entity_merge", "entity_propose"
SEPARATE = "entity_separate"
LABELS: Mapping[str, str] = {
    CREATE: "Make an entity",
    UPDATE: "Change an entity",
    MERGE: "Merge two entities",
    PROPOSE: "Propose to merge two entities",
    SEPARATE: "Keep an entity apart from those of other spaces",
}
REASON = "wants_merge"
"""Why a proposal is on the desk: a key of `reasons` in resources/help/review.json."""

# A memory that names the one and, where there is one, not the other; the asker sees it too.
_WHERE = (
    "SELECT m.id FROM mentions x JOIN memories m ON m.id = x.memory_id WHERE x.entity_id = :one "
    "AND m.status IN ('active', 'disputed') AND m.part_of IS NULL AND m.security_tier = 'cleartext' "
    "AND (:seen IS NULL OR m.space_id IN (SELECT value FROM json_each(:seen))) "
    "AND (:channels IS NULL OR m.scope_channel IN (SELECT value FROM json_each(:channels))) "
    "ORDER BY EXISTS (SELECT 1 FROM mentions y WHERE y.memory_id = m.id AND y.entity_id = :other), m.n LIMIT 1"
)
_BEHIND = "SELECT DISTINCT memory_id FROM evidence WHERE claim_id IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class EntityCaller:
    """Who asks for a verb on entities, and which entities they may see.

    Attributes:
        actor: who asks.
        reach: whose entities exist for it.
    """

    actor: Actor
    reach: EntityScope


@dataclass(frozen=True, slots=True)
class EntityVerbs:
    """The verbs on entities: create, change, merge.

    Attributes:
        make_id: makes UUIDv7 ids.
        work: opens verbs.
    """

    make_id: IdMaker
    work: UnitOfWork

    def create_entity(self, tx: Tx, space: Callable[[], str], draft: EntityDraft, asked: EntityCaller) -> str:
        """Make an entity.

        Args:
            space: gives the id of the space it lives in, or refuses; asked within the verb.
            draft: from `keeping.check_draft`.

        Raises:
            UserError: INVALID_INPUT for a duplicate.
        """
        entity_id = self.make_id()
        with self.work.verb(tx, CREATE, LABELS[CREATE], asked.actor) as verb:
            made_by = "owner" if asked.actor.is_owner else "client"
            registry.insert_entity(tx, entity_id, space(), draft, made_by, asked.reach)
            verb.note_audit(entity_id, aliases=len(draft.aliases))
        return entity_id

    def change_entity(self, tx: Tx, entity_id: str, wanted: EntityChange, asked: EntityCaller) -> None:
        """Change an entity.

        Args:
            entity_id: an entity within reach.
            wanted: from `core.entities.registry.check_entity_change`.

        Raises:
            UserError: INVALID_INPUT where it leads to another, or for a duplicate.
        """
        self.change_entities(tx, {entity_id: wanted}, asked)

    def change_entities(self, tx: Tx, changes: Mapping[str, EntityChange], asked: EntityCaller) -> str | None:
        """Change entities that are one in several spaces, together.

        Args:
            changes: entity to its change; see `change_entity`.

        Returns:
            The undo step; None where nothing changed.

        Raises:
            UserError: INVALID_INPUT where one leads to another, or for a duplicate.
        """
        for entity_id in changes:
            _refuse_merged(registry.read_card(tx, entity_id, asked.reach), "it")
        with self.work.verb(tx, UPDATE, LABELS[UPDATE], asked.actor) as verb:
            for entity_id, wanted in changes.items():
                registry.change_entity(tx, entity_id, wanted, asked.reach)
            verb.note_audit(next(iter(changes)), changed=verb.changes)
        return verb.step_id if verb.changes else None

    def separate_entity(self, tx: Tx, entity_id: str, others: Sequence[str], asked: EntityCaller) -> str | None:
        """Keep an entity apart from those of the same name in other spaces.

        Args:
            others: the entities it was one with.

        Returns:
            The undo step; None where nothing changed.
        """
        rows = (tx.row("entities", {"id": one}) for one in others)
        spaces = [str(row["space_id"]) for row in rows if row is not None]
        with self.work.verb(tx, SEPARATE, LABELS[SEPARATE], asked.actor) as verb:
            keep_apart(tx, entity_id, spaces)
            verb.note_audit(entity_id, changed=verb.changes)
        return verb.step_id if verb.changes else None

    def merge_or_propose(
        self, tx: Tx, source_id: str, target_id: str, asked: EntityCaller, *, may_decide: bool, widen: bool = False
    ) -> EntityMerged:
        """Merge one entity into another, or leave it to the person (seed B, entity merge).

        Args:
            source_id: the entity that leads to the other from then on.
            target_id: the one that stays.
            may_decide: whether the asker may do more than propose.
            widen: the person knows that two of different spaces become one that stands in GLOBAL.

        Returns:
            What came of it; `target_id` is the one that stays.

        Raises:
            UserError: NOT_FOUND, INVALID_INPUT for two that cannot be one.
        """
        source, target = check_merge_pair(tx, source_id, target_id, asked.reach, widen=widen)
        decides = may_decide and (asked.actor.is_owner or not _is_persons(tx, source, target))
        return (
            self._merge_pair(tx, source, target, asked) if decides else self._propose_merge(tx, source, target, asked)
        )

    def _merge_pair(self, tx: Tx, source: EntityCard, target: EntityCard, asked: EntityCaller) -> EntityMerged:
        with self.work.verb(tx, MERGE, LABELS[MERGE], asked.actor) as verb:
            keep, counts = target.id, Counter[str]()
            if is_in_other_space(source, target):
                # The schema lets no entity leave GLOBAL again: a new one stands there, and an undo takes it away.
                keep = self._create_global_entity(tx, source, target, asked.reach)
                counts.update(merge_entities(tx, keep, target.id))
            counts.update(merge_entities(tx, keep, source.id))
            for item_id in _find_open_questions(tx, (source.id, target.id)):
                review_items.close_conflict(tx, item_id, "moot", None, "side_gone")
            done = EntityMerged(
                "MERGE",
                source.id,
                keep,
                facts_repointed=counts["claims"],
                facts_superseded=counts["superseded"],
                aliases_added=counts["aliases"],
                mentions=counts["mentions"],
                step_id=verb.step_id,
            )
            # The payload of seed B's `memory_events` row.
            verb.note_audit(
                keep,
                source_entity_id=source.id,
                target_entity_id=keep,
                facts_repointed=done.facts_repointed,
                facts_superseded=done.facts_superseded,
                aliases_added=done.aliases_added,
            )
        return done

    def _create_global_entity(self, tx: Tx, source: EntityCard, target: EntityCard, reach: EntityScope) -> str:
        """One in GLOBAL to which both may lead; a client sees it where it sees a memory that names it, as before."""
        kind = _merged_type(source, target)
        made_by = "owner" if "owner" in (source.made_by, target.made_by) else target.made_by
        entity_id = self.make_id()
        registry.insert_entity(tx, entity_id, GLOBAL_SPACE, EntityDraft(target.name, kind), made_by, reach)
        return entity_id

    def _propose_merge(self, tx: Tx, source: EntityCard, target: EntityCard, asked: EntityCaller) -> EntityMerged:
        reach = registry.reach_params(asked.reach)
        within = {name: reach[name] for name in ("seen", "channels")}
        incoming, existing = (
            tx.value(_WHERE, {"one": one.id, "other": other.id, **within})
            for one, other in ((source, target), (target, source))
        )
        if incoming is None or existing is None:
            raise UserError(
                Code.ACCESS_DENIED,
                "This client may only propose this merge, and it sees no memory that names each of the two.",
            )
        with self.work.verb(tx, PROPOSE, LABELS[PROPOSE], asked.actor) as verb:
            matter = ItemSubject(
                "entity_merge",
                str(incoming),
                None if incoming == existing else str(existing),
                reason=REASON,
                detail={"entities": [target.id, source.id], **_asked_by(asked.actor)},
                keys=[f"{one.space}\0{one.type}\0{name_key(one.name)}".encode() for one in (target, source)],
            )
            item = review_items.open_conflict(tx, self.make_id(), matter)
            verb.note_audit(item or "", source_entity_id=source.id, target_entity_id=target.id)
        step = verb.step_id if verb.changes else None
        return EntityMerged("NOOP" if item is None else "PROPOSED", source.id, target.id, conflict=item, step_id=step)


def _asked_by(actor: Actor) -> dict[str, str]:
    return {} if actor.client_id is None else {"client": actor.name}


def refuse_channel(actor: Actor) -> None:
    """Refuse a verb on entities that somebody asks for on a channel (X2).

    Trigger: a bridge makes, changes or merges an entity for a person of a channel. Why: an entity stands in its space,
    and its names and metadata are told to every channel of it. Outcome: nothing is written.

    Raises:
        UserError: ACCESS_DENIED on a channel.
    """
    if actor.channel:
        raise UserError(
            Code.ACCESS_DENIED, "An entity belongs to a space and not to a channel; ask for this without `channel`."
        )


def _merged_type(source: EntityCard, target: EntityCard) -> str:
    """The type of what two become: what is not known to be anything is what the other one is."""
    return source.type if target.type == "other" else target.type


def is_in_other_space(one: EntityCard, other: EntityCard) -> bool:
    """Whether two stand in different spaces, neither of them GLOBAL: only there can they be one."""
    return one.space != other.space and GLOBAL_SPACE not in (one.space, other.space)


def check_merge_pair(
    rows: Rows, source_id: str, target_id: str, reach: EntityScope, *, widen: bool = False
) -> tuple[EntityCard, EntityCard]:
    """The two entities of a merge, if they can be one (seed B, merge validation).

    Args:
        source_id: the one that would lead to the other.
        target_id: the one that would stay.
        widen: two of different spaces may become one in GLOBAL.

    Returns:
        Source and target.

    Raises:
        UserError: INVALID_INPUT for one and the same, for one that was merged already and for two whose spaces keep
            them apart; NOT_FOUND.
    """
    if source_id == target_id:
        raise UserError(Code.INVALID_INPUT, "An entity cannot be merged into itself.")
    source, target = registry.read_card(rows, source_id, reach), registry.read_card(rows, target_id, reach)
    _refuse_merged(source, "the source")
    _refuse_merged(target, "the target")
    if target.space not in (source.space, GLOBAL_SPACE) and not (widen and is_in_other_space(source, target)):
        raise UserError(Code.INVALID_INPUT, "Two entities of different spaces are merged only into one of GLOBAL.")
    if is_in_other_space(source, target) and registry.is_name_taken(
        rows, GLOBAL_SPACE, target.name, _merged_type(source, target), reach
    ):
        raise PreconditionError("GLOBAL has one of that name already: merge each of the two into that one.")
    return source, target


def _refuse_merged(one: EntityCard, which: str) -> None:
    """Refuse an entity that was merged into another one already."""
    if one.merged_into is not None:
        raise PreconditionError(f"That cannot be done: {which} was merged into another entity already.")


def _is_persons(rows: Rows, source: EntityCard, target: EntityCard) -> bool:
    """Whether a merge is for the person alone to decide.

    Trigger: a client that may curate merges two. Why: GLOBAL is the person's, as is what the person made or said
    (design section 4). Outcome: it becomes a question on the desk.
    """
    if GLOBAL_SPACE in (source.space, target.space) or "owner" in (source.made_by, target.made_by):
        return True
    losers = [one.loser for one in find_endings(rows, target.id, source.id)]
    behind = [str(row[0]) for row in rows.all(_BEHIND, (json.dumps(losers),))]
    return bool(behind) and bool(find_persons_words(rows, behind))


def _find_open_questions(rows: Rows, entity_ids: tuple[str, str]) -> list[str]:
    """Open items that ask whether these two are one."""
    found = rows.all("SELECT id, detail FROM conflicts WHERE kind = 'entity_merge' AND state = 'open' ORDER BY id")
    return [str(item) for item, detail in found if set(json.loads(detail).get("entities", ())) == set(entity_ids)]
