"""Turning a rule that harmed into its opposite (seed B, rule inversion to anti-pattern).

Where nobody's word stands against it the text is rewritten in place: the memory keeps its id, and the original stays
in its chain as a version that is over, with what it was read to say. A rule of the person's is turned around by the
person alone: the opposite waits beside it as a change that needs their word. Must not do: embed, or count a mark.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.claims.authorship import find_persons_words
from core.errors import BugError
from core.intake.claims import assertion
from core.intake.store.requests import default_role
from core.intake.transaction import version_numbers
from core.intake.transaction.sources import Lineage, add_source, standing_twin
from core.intake.transaction.text_parts import PART_BYTES
from core.intake.transaction.trust_inputs import refresh_trust
from core.intake.transitions.injection_hold import screen_text
from core.intake.transitions.review_items import ItemSubject, known_matter
from core.intake.transitions.transitions import Transitions
from core.memory.draft import Draft, content_hash, to_json
from core.memory.write import forget_vector, insert_memories, refresh_terms, reserve_labels, write_vectors
from core.score.trust import trust_terms
from core.text.screening.injection import reset_injection_marks
from core.types.values import Actor, Kind, Source, Status, When
from core.vault.database.rows import Rows
from core.vault.memory_sql import remove_mentions

INVERTED = "inverted"
"""Reason of the status of what a rule said before it was turned around."""
TWO_VOICES = 2
"""So many clients must have marked a rule as harmful before it is turned around without the one that brought it."""
_OPENING = "ANTI-PATTERN: Do NOT "
_REASONS_CHARACTERS = 1_000
_REASONS = (
    "SELECT reason FROM rule_applications WHERE memory_id = ? AND outcome = 'harmful' AND reason IS NOT NULL "
    "AND (client_id IS NULL OR NOT ?) ORDER BY applied_at, id"
)
_VOICES = (
    "SELECT count(DISTINCT coalesce(client_id, 'owner')) FROM rule_applications "
    "WHERE memory_id = ? AND outcome = 'harmful'"
)


@dataclass(frozen=True, slots=True)
class RuleInversion:
    """What became of a rule that needs to be turned around.

    Attributes:
        in_place: whether it was rewritten.
        conflict: the review item that asks the person; None where there is none, or it was refused before.
    """

    in_place: bool
    conflict: str | None = None


def reasons_of(rows: Rows, memory_id: str, *, owners: bool = False) -> tuple[str, ...]:
    """Why a rule harmed, each reason once, the oldest first.

    Args:
        owners: the owner's alone.

    Returns:
        Words of those who marked it.
    """
    found = (" ".join(str(row[0]).split()) for row in rows.all(_REASONS, (memory_id, owners)))
    return tuple(dict.fromkeys(reason for reason in found if reason))


def anti_pattern(original: str, reasons: Sequence[str], harmful: int) -> str:
    """The opposite of a rule, to seed B's letter.

    Args:
        original: the rule's text.
        reasons: why it harmed.
        harmful: how often it was marked so, for where nobody said why.

    Returns:
        The text; of many reasons as many as fit 1,000 characters, the latest among them.
    """
    kept: list[str] = []
    room = _REASONS_CHARACTERS
    for reason in reversed(reasons):
        if len(reason) > room:
            break
        kept.insert(0, reason)
        room -= len(reason) + 2
    told = "; ".join(kept) or f"it was marked as harmful {harmful} times"
    return f"{_OPENING}{original}. This caused problems because: {told}"


def inverted_text(rows: Rows, rule: dict[str, Any], actor: Actor, now: str | None = None) -> str:
    """What a rule becomes when somebody's mark turns it around.

    Trigger: the owner's mark makes a text that counts as the owner's word. Why: a client's reasons must not get into
    it that way. Outcome: it names the owner's reasons alone.

    Args:
        rule: its row of `memories`.
        actor: whose mark it is.
        now: the reason of a mark that is not written yet.

    Returns:
        The opposite; the caller knows that it needs one.
    """
    reasons = reasons_of(rows, str(rule["id"]), owners=actor.is_owner)
    latest = "" if now is None else " ".join(now.split())
    told = dict.fromkeys([*reasons, *([latest] if latest else [])])
    counted = rows.value("SELECT harmful FROM rules WHERE memory_id = ?", (rule["id"],))
    return anti_pattern(str(rule["text"]), tuple(told), int(counted or 0) + (now is not None))


def may_invert(rows: Rows, rule: dict[str, Any], actor: Actor) -> bool:
    """Whether somebody's marks turn a rule around without asking the person (design section 4).

    Args:
        rule: its row of `memories`.
        actor: whose mark it was; the scheduler where an older one is looked at.

    Returns:
        The owner always; of what is not the person's, who brought it, or two that marked it as harmful.
    """
    if actor.is_owner:
        return True
    if find_persons_words(rows, [str(rule["id"])]):
        return False
    own = actor.client_id is not None and actor.client_id == rule["client_id"]
    return own or int(rows.value(_VOICES, (rule["id"],))) >= TWO_VOICES


def stands_at_once(rows: Rows, rule: dict[str, Any], text: str, actor: Actor) -> bool:
    """Whether the opposite takes the rule's place without asking the person.

    A stranger's reasons may read like an order (E10.14.3): then the opposite waits.

    Args:
        rule: its row of `memories`.
        text: the opposite.
        actor: whose mark it was.

    Returns:
        Whether it does.
    """
    return may_invert(rows, rule, actor) and not screen_text(text, stranger=not actor.is_owner).waits


def can_invert(rows: Rows, rule: dict[str, Any], text: str) -> bool:
    """Whether the opposite can stand: the rule is one part, stands itself, and nothing else has these words.

    Args:
        rule: its row of `memories`.
        text: the opposite.

    Returns:
        Whether it can.
    """
    whole = rule["part_of"] is None and len(text.encode("utf-8")) <= PART_BYTES
    twin = standing_twin(rows, [text], Kind.RULE, str(rule["space_id"]), str(rule["scope_session"]))
    return whole and rule["status"] == Status.ACTIVE.value and twin is None


def invert_rule(
    transitions: Transitions, memory_id: str, text: str, vector: NDArray[np.float32], actor: Actor
) -> RuleInversion:
    """Turn a rule around, or ask the person to.

    Args:
        memory_id: a rule that needs to be turned around and whose opposite can stand.
        text: the opposite, from `anti_pattern`.
        vector: of that text, (dims,).
        actor: whose mark brought it about.

    Returns:
        What became of it.
    """
    rule = transitions.tx.row("memories", {"id": memory_id})
    if rule is None:
        raise BugError("a rule that is not there")
    if stands_at_once(transitions.tx, rule, text, actor):
        _rewrite(transitions, rule, text, vector)
        return RuleInversion(in_place=True)
    return RuleInversion(in_place=False, conflict=_propose(transitions, rule, text, vector, actor))


def _rewrite(transitions: Transitions, rule: dict[str, Any], text: str, vector: NDArray[np.float32]) -> None:
    tx, memory_id = transitions.tx, str(rule["id"])
    original_id = transitions.make_id()
    tx.insert(
        "memories",
        {
            **rule,
            "n": reserve_labels(tx, 1),
            "id": original_id,
            "status": Status.SUPERSEDED.value,
            "status_reason": INVERTED,
            "superseded_by_id": memory_id,
            "recorded_at": tx.now_ms,
            "retired_at": tx.now_ms,
            "pinned": 0,
            "access_count": 0,
            "last_accessed_at": None,
        },
    )
    version = version_numbers.newest_version(tx, str(rule["chain_id"]), memory_id) + 1
    tx.update(
        "memories",
        {"id": memory_id},
        {
            "text": text,
            "content_hash": content_hash(text),
            "flags": to_json(reset_injection_marks(json.loads(rule["flags"]), text)),
            "supersedes_id": original_id,
            "version": version,
        },
    )
    state = {"is_antipattern": 1, "needs_inversion": 0, "original_text": rule["text"]}
    tx.update("rules", {"memory_id": memory_id}, state)
    _move_readings(transitions, memory_id, original_id)
    label, vectors = int(rule["n"]), np.asarray(vector, np.float32).reshape(1, -1)
    forget_vector(tx, label)  # of every vector space: the others would keep the old words
    write_vectors(tx, [label], vectors, transitions.space)
    refresh_terms(tx, [memory_id, original_id])
    seq = tx.seq
    tx.after_commit(lambda: transitions.stored(seq, [label], vectors))
    assertion.sync_claims(tx, transitions.make_id, [memory_id, original_id])
    refresh_trust(tx, memory_id)
    transitions.touched.append(memory_id)
    transitions.log("SUPERSEDE", memory_id, original_id)
    transitions.close_moot([memory_id])


def _move_readings(transitions: Transitions, memory_id: str, original_id: str) -> None:
    """What the old words were read to say goes with them: the opposite says none of it."""
    tx = transitions.tx
    for (evidence_id,) in tx.all("SELECT id FROM evidence WHERE memory_id = ? ORDER BY id", (memory_id,)):
        evidence = tx.row("evidence", {"id": evidence_id}) or {}
        tx.insert("evidence", {**evidence, "id": transitions.make_id(), "memory_id": original_id})
        tx.delete("evidence", {"id": evidence_id})
    remove_mentions(tx, [memory_id])  # at other places now; made anew from the text


def proposal_of(rows: Rows, memory_id: str) -> str | None:
    """The open review item that asks to turn a rule around.

    Returns:
        Its id; None where there is none.
    """
    found = rows.value(
        "SELECT id FROM conflicts WHERE existing_id = ? AND kind = 'approval' AND +state = 'open' "
        "AND json_extract(detail, '$.inverts') = existing_id LIMIT 1",
        (memory_id,),
    )
    return None if found is None else str(found)


def was_proposed(rows: Rows, memory_id: str) -> bool:
    """Whether the person is asked to turn a rule around, or was and refused.

    Returns:
        Whether there is nothing more to ask.
    """
    return known_matter(rows, ItemSubject("approval", memory_id, keys=(_key(memory_id),))) is not None


def _key(memory_id: str) -> bytes:
    return hashlib.sha256(f"{INVERTED}:{memory_id}".encode()).digest()


def _propose(
    transitions: Transitions, rule: dict[str, Any], text: str, vector: NDArray[np.float32], actor: Actor
) -> str | None:
    """The opposite waits as a candidate that only the person lets take the rule's place."""
    tx, memory_id = transitions.tx, str(rule["id"])
    new_id = transitions.make_id()
    known = known_matter(tx, ItemSubject("approval", memory_id, keys=(_key(memory_id),)))
    if known is not None:
        return known.id if known.state == "open" else None
    ceiling = tx.value("SELECT trust_ceiling FROM clients WHERE id = ?", (actor.client_id,))
    lineage, source = Lineage.of_actor(actor, None), Source.INFERENCE
    draft = Draft(
        id=new_id,
        text=text,
        kind=Kind.RULE,
        status=Status.QUARANTINED,
        status_reason="proposed",
        space_id=str(rule["space_id"]),
        source=source,
        role=default_role(source),
        lineage=lineage.key,
        recorded_at=tx.now_ms,
        trust=trust_terms(source, client_ceiling=ceiling).trust,
        last_confirmed_at=tx.now_ms,
        client_id=actor.client_id,
        category=str(rule["category"]),
        importance=float(rule["importance"]),
        scope_session=str(rule["scope_session"]),
        origin={"by": actor.kind, "inverts": memory_id},
        flags=tuple(reset_injection_marks((), text)),
        occurred=When(tx.now_ms),
        read_at=tx.now_ms,
    )
    labels, vectors = insert_memories(tx, [draft]), np.asarray(vector, np.float32).reshape(1, -1)
    write_vectors(tx, labels, vectors, transitions.space)
    add_source(tx, new_id, lineage, source)
    seq = tx.seq
    tx.after_commit(lambda: transitions.stored(seq, labels, vectors))
    state = tx.row("rules", {"memory_id": memory_id}) or {}
    turned = {"maturity": "candidate", "needs_inversion": 0, "is_antipattern": 1, "original_text": rule["text"]}
    tx.insert("rules", {**state, **turned, "memory_id": new_id})
    detail = {"inverts": memory_id, "harmful": state.get("harmful", 0)}
    transitions.log("QUARANTINE", new_id, memory_id)
    return transitions.open_conflict(
        ItemSubject("approval", new_id, memory_id, reason="rule_harms", detail=detail, keys=(_key(memory_id),))
    )
