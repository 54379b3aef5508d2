"""The questions that Loci has (E4.5): finding and closing them, and choosing which of them an assistant may put.

A run looks for missing fields, facts that may be out of date and open contradictions, closes what was answered, and
turns around the rules that earlier marks left to it. An assistant is given two in a session, each once in it and once a
week (C18), and only of memories that the asker may see and that stand. Must not do: ask twice about one thing, open a
second review item where one is open, or ask more than a person reads.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.belief.review.open_questions import contradiction_sentence, find_missing_fields, stale_sentence
from core.config.options import LifecycleOptions
from core.errors import LociError
from core.intake.revise.outcome_reports import (
    InvertedText,
    OutcomeReports,
    can_invert,
    inverted_text,
    may_invert_unasked,
    rules_to_invert,
    was_proposed,
)
from core.intake.transaction.unit_of_work import Verb
from core.intake.transitions.review_items import ItemSubject, close_conflict, make_fingerprint
from core.lifecycle.job_support.job_context import BatchResult, JobContext
from core.text.screening.egress import is_text_withheld
from core.text.screening.fences import escape_fenced
from core.text.screening.injection import ALLOWED
from core.text.terms import embedding_text
from core.types.lifecycle import JobAction, JobType, PlannedAction
from core.types.recall import Clarifying
from core.types.values import LIFECYCLE_ACTOR
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

MISSING, STALE, CONTRADICTION = "missing", "stale", "contradiction"
MOST_OPEN = 20
"""Open questions about missing fields and old facts: more than that nobody reads."""
ALIKE = 0.15
"""Trusts no further apart than this are similar (E4.5.3)."""
_LOOKED_AT = 2_000
_DAY_MS = 86_400_000
_REASONS = {kind: f"question_{kind}" for kind in (MISSING, STALE, CONTRADICTION)}
_CLOSED, _INVERTED = "question_closed", "rule_inverted"
_ITEM = {MISSING: ("gap", "missing"), STALE: ("stale", "old_and_used")}
"""Kind and reason of the review item."""
_AMONG = " AND {column} IN (SELECT value FROM json_each(:ids))"
_STALE = (
    "SELECT id, space_id, text, content_hash, max(recorded_at, last_confirmed_at) FROM memories "
    "WHERE status = 'active' AND kind IN ('fact', 'rule', 'procedure') AND coalesce(part_index, 0) = 0 "
    "AND access_count >= :uses AND max(recorded_at, last_confirmed_at) <= :before{among} "
    "ORDER BY access_count DESC, n LIMIT :most"
)
_CONFLICTS = (
    "SELECT c.fingerprint, c.incoming_id, c.existing_id, c.space_id, i.text, e.text, abs(i.trust - e.trust) "
    "FROM conflicts c JOIN memories i ON i.id = c.incoming_id JOIN memories e ON e.id = c.existing_id "
    "WHERE c.state = 'open' AND c.kind = 'contradiction' AND i.status IN ('active', 'disputed') "
    "AND e.status IN ('active', 'disputed') AND abs(i.trust - e.trust) <= :alike{among} "
    "ORDER BY c.opened_at, c.id LIMIT :most"
)
_OPEN = "SELECT id, memory_id, kind, fingerprint FROM gaps WHERE state = 'open' ORDER BY opened_at, id"
_OPEN_OF = (
    "SELECT id, memory_id, kind, fingerprint FROM gaps WHERE state = 'open' AND memory_id = ? ORDER BY opened_at, id"
)
_COUNT = "SELECT count(*) FROM gaps WHERE state = 'open' AND kind <> 'contradiction'"
_RESOLVED = (
    "SELECT resolution FROM conflicts WHERE fingerprint = ? AND state = 'resolved' "
    "AND NOT EXISTS (SELECT 1 FROM conflicts o WHERE o.fingerprint = conflicts.fingerprint AND o.state = 'open') "
    "ORDER BY closed_at DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """One question as the vault asks it now.

    Attributes:
        kind: `find_missing_fields`, `stale` or `contradiction`.
        memory_id: the memory it is about; of a contradiction the newcomer.
        other_id: of a contradiction what stands.
        schema: of a missing field the template's; `field` its name.
        name: the fingerprint; the same as that of the review item about it, 32 bytes.
        sentence: as it is put, with a memory's words as quotations.
        key: of the review item that is opened about it; empty for a contradiction, which has one.
    """

    kind: str
    memory_id: str
    space_id: str
    name: bytes
    sentence: str
    other_id: str | None = None
    schema: str = ""
    field: str = ""
    key: bytes = b""


@dataclass
class _Wanted:
    """What is to do about one memory."""

    opened: list[OpenQuestion] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    raised: bool = False


def find_questions(
    rows: Rows, options: LifecycleOptions, now_ms: int, ids: Sequence[str] | None = None
) -> tuple[OpenQuestion, ...]:
    """Everything that could be asked now, whatever was asked or answered before.

    Args:
        options: `stale_days` and `stale_uses`.
        ids: memories; None for all.

    Returns:
        Contradictions first, then old facts, then missing fields; each once.
    """
    named = {"ids": to_json([] if ids is None else list(ids)), "most": _LOOKED_AT}
    found = [*_find_contradictions(rows, named, ids), *_find_stale(rows, options, now_ms, named, ids)]
    for one in find_missing_fields(rows, _LOOKED_AT, ids):
        key = hashlib.sha256(one.key.encode()).digest()
        name = _question_name(rows, "gap", one.memory_id, key)
        about = (one.memory_id, one.space_id, name, one.sentence)
        found.append(OpenQuestion(MISSING, *about, schema=one.schema, field=one.field, key=key))
    return tuple({one.name: one for one in reversed(found)}.values())[::-1]


def _find_contradictions(rows: Rows, named: Mapping[str, Any], ids: Sequence[str] | None) -> list[OpenQuestion]:
    sql = _CONFLICTS.format(among="" if ids is None else _AMONG.format(column="c.incoming_id"))
    return [
        OpenQuestion(
            CONTRADICTION, incoming_id, space, bytes(name), contradiction_sentence(had, new_value), other_id=existing_id
        )
        for name, incoming_id, existing_id, space, new_value, had, _ in rows.all(sql, {**named, "alike": ALIKE})
    ]


def _find_stale(
    rows: Rows, options: LifecycleOptions, now_ms: int, named: Mapping[str, Any], ids: Sequence[str] | None
) -> list[OpenQuestion]:
    sql = _STALE.format(among="" if ids is None else _AMONG.format(column="id"))
    limits = {"uses": options.stale_uses, "before": now_ms - options.stale_days * _DAY_MS}
    found = []
    for memory_id, space, text, content, since in rows.all(sql, {**named, **limits}):
        # Confirmed, it is another question when it has grown old again.
        key = hashlib.sha256(bytes(content) + str(since).encode()).digest()
        name = _question_name(rows, "stale", memory_id, key)
        sentence = stale_sentence(text, (now_ms - since) / _DAY_MS)
        found.append(OpenQuestion(STALE, memory_id, space, name, sentence, key=key))
    return found


def _question_name(rows: Rows, kind: str, memory_id: str, key: bytes) -> bytes:
    return make_fingerprint(rows, ItemSubject(kind, memory_id, keys=(key,)))


class GapsJob:
    """The job that looks for questions (E4.5.6)."""

    type = JobType.GAPS

    def plan(self, context: JobContext) -> Sequence[PlannedAction]:
        """List what is to be asked, closed and turned around; see `Planner.plan`."""
        found: Sequence[PlannedAction] = context.read(
            lambda rows: _plan_questions(rows, context.options, context.now_ms)
        )
        return found

    def prepare(self, context: JobContext, actions: Sequence[PlannedAction]) -> Mapping[str, InvertedText]:
        """Embed the opposites of the rules that a few actions turn around; see `PreparingPlanner.prepare`."""
        rules = [action.memory_id for action in actions if action.action is JobAction.SUPERSEDE]
        return _invert_rules(context, rules) if rules else {}

    def apply_plan(
        self,
        tx: Tx,
        verb: Verb,
        context: JobContext,
        actions: Sequence[PlannedAction],
        prepared: Mapping[str, InvertedText] | None = None,
    ) -> BatchResult:
        """Carry a few actions out; see `PreparingPlanner.apply_plan`."""
        counts: Counter[str] = Counter()
        changed = []
        turned = prepared or {}
        for action in actions:
            if action.action is JobAction.SUPERSEDE:
                done = _invert_rule(tx, verb, context, action, turned.get(action.memory_id))
            else:
                done = _open_and_close(tx, verb, context, action)
            counts.update(done or {"skipped": 1})
            if done:
                changed.append(action.memory_id)
        return BatchResult(len(actions), dict(counts), tuple(changed))


def _plan_questions(rows: Rows, options: LifecycleOptions, now_ms: int) -> list[PlannedAction]:
    turned = [rule for rule in rules_to_invert(rows) if _read_opposite(rows, rule) is not None]
    open_rows = rows.all(_OPEN)
    # Asked of these memories themselves: a question of the whole vault may be left out for how many there are.
    live = {one.name for one in find_questions(rows, options, now_ms, sorted({str(row[1]) for row in open_rows}))}
    wanted: dict[str, _Wanted] = {}
    kept = 0
    for _, memory_id, kind, name in open_rows:
        if _is_over(rows, bytes(name), live):
            wanted.setdefault(memory_id, _Wanted()).closed.append(bytes(name).hex())
        else:
            kept += kind != CONTRADICTION
    for one in find_questions(rows, options, now_ms):
        if not _is_new_question(rows, one):
            continue
        kept += one.kind != CONTRADICTION
        if one.kind == CONTRADICTION or kept <= MOST_OPEN:
            wanted.setdefault(one.memory_id, _Wanted()).opened.append(one)
    for memory_id in _read_unraised(rows):
        wanted.setdefault(memory_id, _Wanted()).raised = True
    actions = [PlannedAction(JobAction.SUPERSEDE, rule, reason=_INVERTED) for rule in turned]
    return actions + [
        _plan_question(memory_id, memory_questions)
        for memory_id, memory_questions in wanted.items()
        if memory_id not in turned
    ]


def _plan_question(memory_id: str, memory_questions: _Wanted) -> PlannedAction:
    detail = {"open": [one.name.hex() for one in memory_questions.opened], "close": memory_questions.closed}
    first = memory_questions.opened[0] if memory_questions.opened else None
    others = () if first is None or first.other_id is None else (first.other_id,)
    reason = _REASONS[first.kind] if first is not None else (_CLOSED if memory_questions.closed else _REASONS[MISSING])
    return PlannedAction(JobAction.ASK, memory_id, others, reason=reason, detail=detail)


def _is_new_question(rows: Rows, one: OpenQuestion) -> bool:
    """Never asked, or answered once and a question again; what the person let rest stays at rest."""
    state = rows.value("SELECT state FROM gaps WHERE fingerprint = ?", (one.name,))
    return state in (None, "answered") and rows.value(_RESOLVED, (one.name,)) is None


def _is_over(rows: Rows, name: bytes, live: set[bytes]) -> bool:
    return name not in live or rows.value(_RESOLVED, (name,)) is not None


def _read_unraised(rows: Rows) -> list[str]:
    """Memories with an open missing field and without a review item: the one about another field was answered."""
    found = rows.all(
        "SELECT DISTINCT g.memory_id FROM gaps g WHERE g.state = 'open' AND g.kind = 'missing' AND NOT EXISTS ("
        "SELECT 1 FROM conflicts c WHERE c.incoming_id = g.memory_id AND c.kind = 'gap' AND c.state = 'open') "
        "ORDER BY g.memory_id"
    )
    return [str(row[0]) for row in found]


# ---- carrying out


def _open_and_close(tx: Tx, verb: Verb, context: JobContext, action: PlannedAction) -> dict[str, int]:
    live = {one.name: one for one in find_questions(tx, context.options, context.now_ms, [action.memory_id])}
    done = {"asked": 0, "answered": 0, "dismissed": 0}
    for name_hex in action.detail.get("close", ()):
        name = bytes.fromhex(name_hex)
        if _is_over(tx, name, set(live)):
            done[_close_question(tx, name)] += 1
    for name_hex in action.detail.get("open", ()):
        one = live.get(bytes.fromhex(name_hex))
        if one is not None and _is_new_question(tx, one) and _has_room(tx, one):
            _open_question(tx, context.make_id, one)
            done["asked"] += 1
    done["raised"] = _open_review_items(tx, verb, context, action.memory_id, live)
    return {name: count for name, count in done.items() if count}


def _has_room(tx: Tx, one: OpenQuestion) -> bool:
    return one.kind == CONTRADICTION or int(tx.value(_COUNT)) < MOST_OPEN


def _open_question(tx: Tx, make_id: Callable[[], str], one: OpenQuestion) -> None:
    about = {"memory_id": one.memory_id, "other_id": one.other_id, "space_id": one.space_id}
    asked = {**about, "state": "open", "opened_at": tx.now_ms, "closed_at": None}
    known = tx.value("SELECT id FROM gaps WHERE fingerprint = ?", (one.name,))
    if known is not None:
        tx.update("gaps", {"id": known}, asked)
        return
    named = {"kind": one.kind, "schema": one.schema, "field": one.field}
    tx.insert("gaps", {"id": make_id(), "fingerprint": one.name, **named, **asked})


def _close_question(tx: Tx, name: bytes) -> str:
    """Close a question and the review item about it.

    Returns:
        `dismissed` where the person let it rest, else `answered`.
    """
    row = tx.row("gaps", {"fingerprint": name})
    if row is None or row["state"] != "open":
        return "answered"
    rests = row["kind"] == MISSING and tx.value(_RESOLVED, (name,)) == "reject"
    state = "dismissed" if rests else "answered"
    tx.update("gaps", {"id": row["id"]}, {"state": state, "closed_at": tx.now_ms})
    if row["kind"] != CONTRADICTION:
        for (item_id,) in tx.all("SELECT id FROM conflicts WHERE fingerprint = ? AND state = 'open'", (name,)):
            close_conflict(tx, str(item_id), "moot", None, "answered")
    return state


def _open_review_items(
    tx: Tx, verb: Verb, context: JobContext, memory_id: str, live: Mapping[bytes, OpenQuestion]
) -> int:
    """Open the review items: of a memory's missing fields one after the other, so that one answer is one step."""
    transitions = context.make_transitions(tx, verb)
    for gap_id, _, kind, name in tx.all(_OPEN_OF, (memory_id,)):
        one = live.get(bytes(name))
        if kind not in _ITEM or one is None:
            continue
        item, reason = _ITEM[kind]
        detail = {"gap": gap_id, "schema": one.schema, "field": one.field}
        transitions.open_conflict(ItemSubject(item, memory_id, reason=reason, detail=detail, keys=(one.key,)))
    return len(transitions.opened)


def _invert_rules(context: JobContext, rules: Sequence[str]) -> dict[str, InvertedText]:
    """The opposites of rules with their vectors, off the writer."""
    found: dict[str, tuple[dict[str, Any], str] | None] = context.read(
        lambda rows: {one: _read_opposite(rows, one) for one in rules}
    )
    made = {}
    for rule_id, inversion in found.items():
        if inversion is None:
            continue
        rule, text = inversion
        try:
            vector = context.embed([embedding_text(text, author=rule["author"])])[0]
        except LociError:
            # Trigger: no embedder answers. Why: the questions of the run need none. Outcome: the rule stays marked, the
            # action counts as left, and the next run takes it up again.
            break
        made[rule_id] = InvertedText(text, vector)
    return made


def _invert_rule(
    tx: Tx, verb: Verb, context: JobContext, action: PlannedAction, ready: InvertedText | None
) -> dict[str, int]:
    turned = _read_opposite(tx, action.memory_id)
    if turned is None or ready is None or turned[1] != ready.text:
        return {}  # it was changed meanwhile: the next run takes it up again
    marks = OutcomeReports(context.make_id, context.work, context.space, context.stored)
    done = marks.invert_or_ask(tx, verb, turned[0], ready, LIFECYCLE_ACTOR)
    return {"inverted": 1} if done.in_place else ({"asked": 1} if done.conflict is not None else {})


def _read_opposite(rows: Rows, memory_id: str) -> tuple[dict[str, Any], str] | None:
    """A rule that still has to be turned around, with its opposite; None where it cannot be, or was asked about."""
    names = ("id", "text", "status", "part_of", "client_id", "space_id", "scope_session", "author")
    row = rows.one(
        "SELECT m.id, m.text, m.status, m.part_of, m.client_id, m.space_id, m.scope_session, m.author FROM memories m "
        "JOIN rules r ON r.memory_id = m.id AND r.needs_inversion = 1 AND r.is_antipattern = 0 WHERE m.id = ?",
        (memory_id,),
    )
    if row is None:
        return None
    rule = dict(zip(names, row, strict=True))
    text = inverted_text(rows, rule, LIFECYCLE_ACTOR)
    asked = was_proposed(rows, memory_id) and not may_invert_unasked(rows, rule, text, LIFECYCLE_ACTOR)
    return None if asked or not can_invert(rows, rule, text) else (rule, text)


A_SESSION = 2
"""Questions in one session at most."""
WEEK_MS = 7 * 86_400_000
_MOST_SIDES, _AT_ONCE = 40, 4
_READ, _SEEN_AT_ONCE = 2_000, 400
"""Open questions that are read at most, and of how many at a time it is asked whether the asker may see them."""
_ASKED = "SELECT count(DISTINCT gap_id) FROM gap_asks WHERE session = ? AND client_id IS ?"
_OPEN_WITHIN = (
    "SELECT g.id, g.memory_id, g.other_id FROM gaps g JOIN memories m ON m.id = g.memory_id "
    "LEFT JOIN memories o ON o.id = g.other_id WHERE g.state = 'open' "
    "AND (:spaces IS NULL OR m.space_id IN (SELECT value FROM json_each(:spaces))) "
    "AND m.scope_session IN ('', :session) "
    "AND coalesce(o.scope_session IN ('', :session), 1) "
    # A session may bear any name, also that of what limits a memory to a channel.
    "AND m.scope_channel = '' AND coalesce(o.scope_channel = '', 1) "
    "AND NOT EXISTS (SELECT 1 FROM gap_asks a WHERE a.gap_id = g.id AND (a.at > :week "
    "OR (a.session = :session AND a.client_id IS :client))) "
    "AND NOT EXISTS (SELECT 1 FROM conflicts c WHERE c.fingerprint = g.fingerprint "
    "AND (c.state = 'resolved' OR (c.state = 'open' AND c.later_until > :now))) "
    "ORDER BY g.kind <> 'contradiction', g.kind <> 'stale', g.opened_at, g.id LIMIT :most"
)
_SIDES = (
    "SELECT g.id, g.fingerprint, g.memory_id, m.text, m.flags, o.text, o.flags FROM json_each(?) w "
    "JOIN gaps g ON g.id = w.value JOIN memories m ON m.id = g.memory_id LEFT JOIN memories o ON o.id = g.other_id "
    "ORDER BY w.key"
)
Seen = Callable[[Collection[str]], frozenset[str]]


def select_questions(
    rows: Rows,
    options: LifecycleOptions,
    seen: Seen,
    client_id: str | None,
    session: str,
    now_ms: int,
    space_ids: Collection[str] | None = None,
) -> tuple[Clarifying, ...]:
    """The questions that may be put now.

    Args:
        options: `stale_days` and `stale_uses`.
        seen: which of these memories the asker may see and asks about; a question quotes none but such.
        client_id: the asker; None for the owner.
        session: its session; "" for none, which gets no questions.
        space_ids: the only spaces that it sees and asks about; None for all. What lies elsewhere is not read at all,
            so that it keeps nothing back, however much of it there is.

    Returns:
        None to two, contradictions first; each one line that is fenced as data.
    """
    left = A_SESSION - int(rows.value(_ASKED, (session, client_id))) if session else 0
    if left <= 0:
        return ()
    bounds = {"session": session, "client": client_id, "week": now_ms - WEEK_MS, "now": now_ms, "most": _READ}
    bounds["spaces"] = None if space_ids is None else to_json(sorted(space_ids))
    found = rows.all(_SIDES, (to_json(_filter_visible(rows.all(_OPEN_WITHIN, bounds), seen)),))
    found = [row for row in found if _may_be_quoted(row[3:])]
    selected: list[Clarifying] = []
    for at in range(0, len(found), _AT_ONCE):
        some = found[at : at + _AT_ONCE]
        live = {one.name: one for one in find_questions(rows, options, now_ms, [str(row[2]) for row in some])}
        names = [(str(row[0]), live[bytes(row[1])], row[3:]) for row in some if bytes(row[1]) in live]
        selected += [
            Clarifying(gap_id, escape_fenced(one.sentence))
            for gap_id, one, sides in names
            if _is_allowed_by_owner(sides) or not is_text_withheld(one.sentence)
        ]
        if len(selected) >= left:
            break
    return tuple(selected[:left])


def _filter_visible(open_ones: Sequence[Sequence[Any]], seen: Seen) -> list[str]:
    """The first questions that speak only of what the asker may see; the others are looked at only until enough are."""
    visible: list[str] = []
    for at in range(0, len(open_ones), _SEEN_AT_ONCE):
        some = [
            (str(gap), {str(one) for one in about if one is not None})
            for gap, *about in open_ones[at : at + _SEEN_AT_ONCE]
        ]
        known = seen({one for _, about in some for one in about})
        visible += [gap for gap, about in some if known >= about]
        if len(visible) >= _MOST_SIDES:
            break
    return visible[:_MOST_SIDES]


def _may_be_quoted(sides: Sequence[Any]) -> bool:
    """Whether neither memory reads like an instruction (E10.14.3): a question quotes what a context leaves out."""
    return not any(
        text is not None and is_text_withheld(str(text), json.loads(flags))
        for text, flags in zip(sides[::2], sides[1::2], strict=True)
    )


def _is_allowed_by_owner(sides: Sequence[Any]) -> bool:
    """Whether the person read and let through every memory the question is about."""
    return all(flags is None or ALLOWED in json.loads(flags) for flags in sides[1::2])


def note_asked(tx: Tx, gap_ids: Sequence[str], client_id: str | None, session: str) -> None:
    """Note that questions were handed out.

    Args:
        tx: the transaction; a journal, nothing that is undone.
        client_id: to whom; None for the owner.
    """
    recorder, tx.recorder = tx.recorder, None
    try:
        for gap_id in gap_ids:
            row = {"gap_id": gap_id, "client_id": client_id, "session": session, "at": tx.now_ms}
            tx.insert("gap_asks", row)
    finally:
        tx.recorder = recorder
