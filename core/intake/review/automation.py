"""What happens at the desk by itself: items that close or open again, and rules that repeat a decision.

A rule speaks of what it was made for: a kind of item, the channel and the client of the newcomer; it never touches what
the person said. What closes by itself are questions that are none any more, and old ones that nobody is harmed by: that
decides nothing and is no undo step, and it opens again as soon as its memories are as they were. Must not do: apply a
rule to an item twice or to one that was there before it, or close what the person still has to decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.belief.claims import PERSONS
from core.belief.review.queue import LOW, QueueEntry, read_waiting
from core.belief.trust_gate import AT_ODDS
from core.errors import Code, UserError
from core.intake.review.case import ReviewCase
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions.review_items import find_lapsed, find_reopened, find_restated
from core.score.trust import age_days
from core.types.reviews import ReviewRule
from core.types.values import Action, Actor
from core.vault.database.rows import EXPIRED, LAPSED, NO_QUESTION, STANDS, Rows, to_json
from core.vault.database.tx import Tx

EXPIRES_DAYS = 90
"""Days an unimportant question waits; the spec is silent, our choice."""
_AT_ONCE = 500
# What concerns the owner's word is the owner's to decide, however old and of whatever kind.
_OWNERS = (
    "SELECT c.id FROM json_each(?) w JOIN conflicts c ON c.id = w.value "  # noqa: S608 - constants only
    "WHERE EXISTS (SELECT 1 FROM memories m WHERE m.id IN (c.incoming_id, c.existing_id) AND " + PERSONS + ")"
)

# Whoever is held back waits for a person all the same.
_UNSURE = (
    "SELECT c.id FROM conflicts c JOIN memories i ON i.id = c.incoming_id "
    "WHERE c.state = 'open' AND c.kind = 'classification' AND c.reason IN ('unsure', 'ends_several') "
    "AND i.status IN ('active', 'disputed') AND json_extract(c.detail, '$.why') IS NOT NULL "
    "AND json_extract(c.detail, '$.why') NOT IN (SELECT value FROM json_each(?)) ORDER BY c.id LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class StaleItems:
    """Ids of the review items that close, reopen, expire, or are no question but a note (`unsure`)."""

    lapsed: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lapsed or self.returned or self.expired or self.unsure)


def find_stale(rows: Rows, now_ms: int, *, expiry: bool) -> StaleItems:
    """Find the review items that close, reopen or expire now.

    Args:
        expiry: whether to look for what expired too; that reads the whole queue.
    """
    over = find_expired(rows, now_ms) if expiry else ()
    again = [*find_reopened(rows, LAPSED), *find_reopened(rows, STANDS)]
    return StaleItems(
        tuple(find_lapsed(rows)[:_AT_ONCE]), tuple(again[:_AT_ONCE]), over[:_AT_ONCE], find_unsure(rows, _AT_ONCE)
    )


def find_unsure(rows: Rows, most: int) -> tuple[str, ...]:
    """Open items, of an older version, that only say that nobody was sure: no two values are at odds.

    Args:
        most: items at most.
    """
    return tuple(str(row[0]) for row in rows.all(_UNSURE, (to_json(sorted(AT_ODDS)), most)))


def find_expired(rows: Rows, now_ms: int) -> tuple[str, ...]:
    """Items that nobody decided for ninety days and whose harm is low."""
    old = [item.id for item in read_waiting(rows, now_ms) if _is_over(item, now_ms)]
    kept = {row[0] for row in rows.all(_OWNERS, (to_json(old),))} if old else set()
    return tuple(item_id for item_id in old if item_id not in kept)


def _is_over(item: QueueEntry, now_ms: int) -> bool:
    return -item.weight < LOW and age_days(now_ms, -item.newer) > EXPIRES_DAYS


def revalidate_items(tx: Tx, *, expiry: bool = False) -> int:
    """Close what is no longer a question, open again what is one after all.

    Args:
        tx: the transaction; nothing is recorded for undo.
        expiry: whether to close what expired too.
    """
    found = find_stale(tx, tx.now_ms, expiry=expiry)
    recorder, tx.recorder = tx.recorder, None
    try:
        restated = find_restated(tx, found.lapsed)
        _close_items(tx, restated, STANDS)
        _close_items(tx, [one for one in found.lapsed if one not in restated], LAPSED)
        _close_items(tx, found.expired, EXPIRED)
        _close_items(tx, found.unsure, NO_QUESTION)
        tx.update_many("conflicts", "id", found.returned, {"state": "open", "note": None, "closed_at": None})
    finally:
        tx.recorder = recorder
    return len(found.lapsed) + len(found.expired) + len(found.returned) + len(found.unsure)


def _close_items(tx: Tx, ids: Sequence[str], note: str) -> None:
    changes = {"state": "moot", "note": note, "closed_at": tx.now_ms, "later_until": None}
    tx.update_many("conflicts", "id", ids, changes)


def has_stale(rows: Rows, now_ms: int, *, expiry: bool) -> bool:
    """Whether `revalidate_items` would change anything; so that the writer is not asked for nothing.

    Args:
        expiry: whether to look for what expired too.
    """
    return bool(find_stale(rows, now_ms, expiry=expiry))


SEEN = "review_rules_seen"
"""A key of `settings`: the newest item that rules have looked at; one that is undone is not decided again."""
_ALL = (
    "SELECT r.id, r.kind, r.action, r.source, k.name, r.created_at, r.applied FROM review_rules r "
    "LEFT JOIN clients k ON k.id = r.client_id ORDER BY r.created_at, r.id"
)
# The oldest rule decides; what the person said is left to the person, on either side.
_MATCHED = (
    "SELECT c.id, min(r.created_at || ' ' || r.id), r.id, r.action FROM conflicts c "  # noqa: S608 - constants only
    "JOIN memories i ON i.id = c.incoming_id "
    "JOIN review_rules r ON r.kind = c.kind AND r.source IS i.source AND r.client_id IS i.client_id "
    "WHERE c.state = 'open' AND c.id > ? AND c.opened_at >= r.created_at AND c.later_until IS NULL "
    "AND (r.action = 'reject' OR i.status_reason IS NOT 'held') "
    "AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.id IN (c.incoming_id, c.existing_id) AND " + PERSONS + ") "
    "GROUP BY c.id ORDER BY c.id LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class RuleMatches:
    """Items that one rule decides alike."""

    rule_id: str
    action: Action
    items: tuple[str, ...]


def make_rule(tx: Tx, rule_id: str, case: ReviewCase, action: Action) -> None:
    """Make a decision a rule, unless the same rule stands.

    Args:
        rule_id: the id it gets.
        case: the item it was made for.
    """
    item, incoming = case.item, case.incoming
    known = tx.value(
        "SELECT id FROM review_rules WHERE kind = ? AND source IS ? AND client_id IS ?",
        (item.kind, incoming["source"], incoming["client_id"]),
    )
    if known is not None:
        tx.update("review_rules", {"id": known}, {"action": action.value, "created_at": tx.now_ms})
        return
    tx.insert(
        "review_rules",
        {
            "id": rule_id,
            "kind": item.kind,
            "action": action.value,
            "source": incoming["source"],
            "client_id": incoming["client_id"],
            "created_at": tx.now_ms,
        },
    )


def count_decisions(tx: Tx, rule_id: str, items: int) -> None:
    """Count what a rule decided.

    Args:
        items: how many items.
    """
    row = tx.row("review_rules", {"id": rule_id})
    if row is not None:
        tx.update("review_rules", {"id": rule_id}, {"applied": int(row["applied"]) + items})


def list_rules(rows: Rows) -> tuple[ReviewRule, ...]:
    """All rules, the oldest first."""
    return tuple(
        ReviewRule(rule_id, kind, Action(action), source, client, created_at, applied)
        for rule_id, kind, action, source, client, created_at, applied in rows.all(_ALL)
    )


def forget_rule(tx: Tx, work: UnitOfWork, rule_id: str, actor: Actor) -> str:
    """Remove a rule; what it decided stays.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND where there is no such rule.
    """
    if tx.row("review_rules", {"id": rule_id}) is None:
        raise UserError(Code.NOT_FOUND, "There is no such rule.")
    with work.verb(tx, "forget_rule", "Remove a rule of the desk", actor) as verb:
        tx.delete("review_rules", {"id": rule_id})
        verb.note_audit(rule_id)
    return verb.step_id


def has_due_rules(rows: Rows) -> bool:
    """Whether rules have items to look at.

    Returns:
        False at once where there is no rule.
    """
    if rows.one("SELECT 1 FROM review_rules LIMIT 1") is None:
        return False
    return bool(rows.all(_MATCHED, (_last_seen_item(rows), 1)))


def find_due(rows: Rows, most: int) -> tuple[RuleMatches, ...]:
    """The items that rules decide now.

    Args:
        most: items at most.

    Returns:
        One for each rule that has any.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for item_id, _, rule_id, action in rows.all(_MATCHED, (_last_seen_item(rows), most)):
        found.setdefault((rule_id, action), []).append(item_id)
    return tuple(RuleMatches(rule_id, Action(action), tuple(items)) for (rule_id, action), items in found.items())


def mark_seen(tx: Tx, items: Sequence[str]) -> None:
    """Note that rules have had their turn with items, so that an undo is not undone by a rule.

    Args:
        items: from `find_due`.
    """
    if items:
        tx.run(
            "INSERT INTO settings (key, value, changed_at) VALUES (?, json_quote(?), ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
            (SEEN, max(items), tx.now_ms),
        )


def _last_seen_item(rows: Rows) -> str:
    return str(rows.value("SELECT json_extract(value, '$') FROM settings WHERE key = ?", (SEEN,), default=""))
