"""Claims on the store path: reading them from a text, writing them as drafts with evidence, asserting and ending them.

A claim is asserted while a memory that it rests on stands. A late arrival, said before what stands, is placed by the
time it was said: what it ends, and what ended it. `TextReaders` are the readers that are handed in, so that the store
path depends on no model. Must not do: judge which of two claims is right (`core.belief.trust_gate` does), give a
version its number, or remove what rules read or somebody gave.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.belief.extract.normal_form import key_of_draft, read_as_seen, statement_key, strip_marks, value_key
from core.intake.transaction.sources import claims_backed_by, refresh_claims
from core.types.belief import ClaimDraft, ComparedText, Relation
from core.types.talk import Reading
from core.types.values import Status, When
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx


def remove_model_claims(tx: Tx, memory_id: str) -> None:
    """Remove the claims that a local model alone read in a memory, and the questions it raised by them.

    Args:
        tx: the transaction of an undo that takes the memory away; each row is recorded in its step.
    """
    items = tx.all(
        "SELECT id FROM conflicts WHERE (incoming_id = :id OR existing_id = :id) AND state = 'open' "
        "AND json_extract(detail, '$.opened_by') = 'reading' ORDER BY id",
        {"id": memory_id},
    )
    for (item_id,) in items:
        tx.delete("conflicts", {"id": item_id})
    read = tx.all(
        "SELECT id, claim_id FROM evidence WHERE memory_id = ? AND method = 'model' ORDER BY id", (memory_id,)
    )
    for evidence_id, _ in read:
        tx.delete("evidence", {"id": evidence_id})
    for claim_id in dict.fromkeys(claim_id for _, claim_id in read):
        if tx.one("SELECT 1 FROM evidence WHERE claim_id = ?", (claim_id,)) is None:
            tx.delete("claims", {"id": claim_id})


_MOST = 1024
"""Claims of one memory, at most: more than 8 KiB can say, so that none is passed over behind many others."""


def read_claims(
    extract: Extract,
    text: str,
    given: Sequence[ClaimDraft],
    times: tuple[int | None, int | None],
    *,
    vouched: bool = True,
) -> tuple[ClaimDraft, ...]:
    """The claims of a text; one that was given stands for what would be read of the same predicate.

    Args:
        text: the memory's text, or its first part.
        given: the claims that came with the text.
        times: the present, and when it was said, epoch ms; the present stands in for that of a text said now. Both
            None where nobody knows when it was said.
        vouched: the person gave them. Anybody else's stand only for what they say no less strictly: a claim that is
            told to exclude nothing, or to hold sometimes only, does not hide the plain words it comes with.

    Returns:
        The given claims first, then what was read, each once; spans lie in the text.
    """
    found: dict[tuple[str, str, str, str], ClaimDraft] = {statement_key(draft): draft for draft in given}
    for draft in _read_drafts(extract, text, times):
        if not any(_covers_draft(one, draft, vouched=vouched) for one in given):
            name = statement_key(draft)
            found[name] = draft if name not in found or not vouched else found[name]
    return tuple(found.values())[:_MOST]


def read_claims_ahead(extract: Extract, text: str) -> None:
    """Read the claims of a text that is about to be stored, with a reader that keeps what it read last.

    Args:
        text: as `read_claims` will be given it.
    """
    _read_drafts(extract, text, (None, None))


def _read_drafts(extract: Extract, text: str, times: tuple[int | None, int | None]) -> list[ClaimDraft]:
    """What a reader takes the text for, who does not see what is hidden in it."""
    now_ms, said_ms = times
    plain = read_as_seen(text)
    found = list(extract(plain, now_ms=now_ms, said_ms=said_ms))
    if not plain.isascii():
        known = {draft.predicate for draft in found}
        more = extract(strip_marks(plain), now_ms=now_ms, said_ms=said_ms)
        found += [replace(draft, start=0, end=len(plain)) for draft in more if draft.predicate not in known]
    if plain != text:  # the spans of another writing: the whole text is the quote
        return [replace(draft, start=0, end=len(text)) for draft in found]
    return [draft for draft in found if 0 <= draft.start < draft.end <= len(text)]


def _covers_draft(given: ClaimDraft, read: ClaimDraft, *, vouched: bool) -> bool:
    """Whether a given claim makes the one that was read superfluous."""
    if given.predicate != read.predicate:
        return False
    return vouched or (
        value_key(given.subject) == value_key(read.subject)
        and given.polarity == read.polarity
        and given.exclusive >= read.exclusive
        and dict(given.qualifiers) == dict(read.qualifiers)
        and (given.valid_from, given.valid_to) in ((None, None), (read.valid_from, read.valid_to))
    )


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """The memory a claim rests on.

    Attributes:
        memory_id: its id.
        text: its exact text; the quote is a part of it.
        space_id: its space.
        lineage: its independent source.
        observed_at: when it was said, epoch ms.
    """

    memory_id: str
    text: str
    space_id: str
    lineage: str
    observed_at: int


def draft_supplied_claim(claim: Mapping[str, Any], text: str, validity: tuple[When | None, When | None]) -> ClaimDraft:
    """A claim that came with its text: the whole text is its evidence.

    Args:
        claim: a claim with its defaults filled in (`core.intake.transaction.claim_checks.check_claim`).
        validity: from when and until when it holds.
    """
    return ClaimDraft(
        subject=claim["subject"],
        predicate=claim["predicate"],
        value=claim["value"],
        exclusive=bool(claim["exclusive"]),
        polarity=claim["polarity"],
        valid_from=validity[0],
        valid_to=validity[1],
        qualifiers=claim["qualifiers"],
        start=0,
        end=len(text),
        method="given",
    )


def write_claims(
    tx: Tx,
    make_id: Callable[[], str],
    drafts: Sequence[ClaimDraft],
    on: EvidenceSource,
    scope_session: str = "",
) -> tuple[str, ...]:
    """Write claims of a memory as drafts.

    Args:
        drafts: what was read or given.
        scope_session: the session they are limited to, or "".

    Returns:
        Ids of the new claims.
    """
    made = [draft_claim(tx, draft, on, (make_id(), make_id()), scope_session) for draft in drafts]
    ids = tuple(claim_id for claim_id in made if claim_id is not None)
    refresh_claims(tx, ids)
    return ids


def draft_claim(
    tx: Tx, draft: ClaimDraft, on: EvidenceSource, ids: tuple[str, str], scope_session: str = ""
) -> str | None:
    """Write a claim as a draft, with its quote as evidence.

    Args:
        draft: what was read or given; its span must lie in the text.
        on: the memory it rests on.
        ids: the ids of the claim and of its evidence.
        scope_session: the session it is limited to, or "".

    Returns:
        The claim's id; None where this memory backs the same claim already, or the span is no quote of the text.
    """
    quote = on.text[draft.start : draft.end]
    if not quote or draft.start < 0:
        return None
    key = key_of_draft(on.space_id, draft, scope_session)
    if tx.one(
        "SELECT 1 FROM claims c JOIN evidence e ON e.claim_id = c.id WHERE e.memory_id = ? AND c.claim_key = ?",
        (on.memory_id, key),
    ):
        return None
    tx.insert("claims", _claim_row(draft, on, ids[0], key, scope_session, tx.now_ms))
    tx.insert("evidence", _evidence_row(draft, on, ids, quote, tx.now_ms))
    return ids[0]


def _claim_row(
    draft: ClaimDraft, on: EvidenceSource, claim_id: str, key: bytes, scope_session: str, now_ms: int
) -> dict[str, object]:
    begin, end = draft.valid_from, draft.valid_to
    return {
        "id": claim_id,
        "space_id": on.space_id,
        "claim_key": key,
        "subject": draft.subject,
        "subject_key": value_key(draft.subject),
        "predicate": draft.predicate,
        "value": draft.value,
        "value_key": value_key(draft.value),
        "exclusive": int(draft.exclusive),
        "polarity": draft.polarity,
        "qualifiers": json.dumps(dict(draft.qualifiers), sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        "scope_session": scope_session,
        "valid_from": None if begin is None else begin.ms,
        "valid_from_prec": None if begin is None else begin.precision.value,
        "valid_to": None if end is None else end.ms,
        "valid_to_prec": None if end is None else end.precision.value,
        "confidence": 0.0,
        "extracted_by": draft.method,
        "recorded_at": now_ms,
    }


def _evidence_row(
    draft: ClaimDraft, on: EvidenceSource, ids: tuple[str, str], quote: str, now_ms: int
) -> dict[str, object]:
    return {
        "id": ids[1],
        "claim_id": ids[0],
        "memory_id": on.memory_id,
        "space_id": on.space_id,
        "quote": quote,
        "start_at": draft.start,
        "end_at": draft.start + len(quote),
        "span_hash": hashlib.sha256(quote.encode("utf-8")).digest(),
        "confidence": draft.confidence,
        "method": draft.method,
        "lineage": on.lineage,
        "observed_at": on.observed_at,
        "recorded_at": now_ms,
    }


class Extract(Protocol):
    """Reads the claims of a text (`core.belief.extract.extraction.extract_claims`)."""

    def __call__(self, text: str, *, now_ms: int | None = None, said_ms: int | None = None) -> tuple[ClaimDraft, ...]:
        """The claims of a text, each with the span that says it."""
        ...


class FindStatements(Protocol):
    """Finds what speakers state of themselves (`core.belief.extract.lasting_statements.find_statements`)."""

    def __call__(self, text: str) -> Sequence[tuple[int, int]]:
        """The spans of the sentences."""
        ...


class Relate(Protocol):
    """Tells how a newcomer relates to what stands (`core.belief.relate.relation_model.RelationModel`)."""

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """One relation for each pair (existing, incoming)."""
        ...


class ReadSentence(Protocol):
    """Reads what a sentence states (`core.talk.reader_model.ReaderModel`)."""

    def __call__(self, text: str) -> Reading:
        """The reading of one sentence."""
        ...


def no_claims(text: str, *, now_ms: int | None = None, said_ms: int | None = None) -> tuple[ClaimDraft, ...]:
    """Reads nothing: for vaults and tests without extraction."""
    del text, now_ms, said_ms
    return ()


def no_statements(text: str) -> Sequence[tuple[int, int]]:
    """Finds nothing: as `no_claims`."""
    del text
    return ()


@dataclass(frozen=True, slots=True)
class TextReaders:
    """The readers of one open vault.

    Attributes:
        extract: claims of a text, at a cost that every comparison can pay.
        extract_stored: claims of a text that is stored, read with more care; None: as `extract`.
        read_ahead: reads with that care what is about to be stored, so that who writes it does not wait; None where
            nothing would be kept of it.
        rest: lets go of what `extract_stored` loaded; None where it holds nothing.
        statements: what whoever speaks states of themself, of which no claim need be read.
        relate: relations of pairs; None where there is no model: then structure alone decides.
        weigh_answers: how well memories answer a question (`core.recall.answer_fit`); None where there is no model.
        read_sentence: what a sentence states, and whether it states it; None where there is no model for that.
        embed: the unit vector of a text, (dims,); for united texts.
        gate: the least cosine of a neighbour that is looked at, 0 to 1 (calibrated for the embedder).
        most: neighbours that are looked at, at most.
    """

    extract: Extract = no_claims
    extract_stored: Extract | None = None
    read_ahead: Callable[[str], None] | None = None
    rest: Callable[[], None] | None = None
    statements: FindStatements = no_statements
    relate: Relate | None = None
    weigh_answers: Callable[[str, Sequence[str]], Sequence[float]] | None = None
    read_sentence: ReadSentence | None = None
    embed: Callable[[str], NDArray[np.float32]] | None = None
    gate: float = 0.25
    most: int = 5

    @property
    def stored(self) -> Extract:
        """What reads the claims of a text that is stored."""
        return self.extract_stored or self.extract


_AT = "coalesce(m.valid_from, m.occurred_at, m.recorded_at)"
# Whether a version speaks of the same as the newcomer: of what it says nothing is known, or all of it.
_SAME = (
    "(NOT EXISTS (SELECT 1 FROM evidence e WHERE e.memory_id = :id AND e.stance = 'supporting') "
    "OR NOT EXISTS (SELECT 1 FROM evidence e JOIN claims c ON c.id = e.claim_id WHERE e.memory_id = m.id "
    "AND e.stance = 'supporting' AND NOT EXISTS (SELECT 1 FROM evidence f JOIN claims o ON o.id = f.claim_id "
    "WHERE f.memory_id = :id AND f.stance = 'supporting' AND o.subject_key = c.subject_key "
    "AND o.predicate = c.predicate)))"
)
_VERSION = (
    "FROM memories m WHERE m.chain_id = :chain AND m.id <> :id AND coalesce(m.part_index, 0) = 0 "
    "AND (m.status IN ('active', 'disputed') "
    "OR (m.status = 'superseded' AND m.status_reason IN ('replaced', 'older'))) "
    "AND " + _SAME + " "
)
_NEXT = "SELECT m.id " + _VERSION + "AND " + _AT + " > :at ORDER BY " + _AT + ", m.version LIMIT 1"
_LAST = (
    "SELECT m.id " + _VERSION + "AND +m.status = 'superseded' AND " + _AT + " < :at "
    "ORDER BY " + _AT + " DESC, m.version DESC LIMIT 1"
)
_CLAIMS = (
    "SELECT c.id FROM evidence f JOIN claims o ON o.id = f.claim_id JOIN claims c ON c.space_id = o.space_id "  # noqa: S608
    "AND c.subject_key = o.subject_key AND c.predicate = o.predicate AND c.scope_session = o.scope_session "
    "AND c.qualifiers = o.qualifiers AND c.value_key <> o.value_key "
    "WHERE f.memory_id = :id AND f.stance = 'supporting' "
    "AND o.exclusive = 1 AND c.exclusive = 1 AND c.state = 'superseded' AND c.valid_to > :at "
    "AND coalesce(c.valid_from, (SELECT min(" + _AT + ") FROM evidence e JOIN memories m ON m.id = e.memory_id "
    "WHERE e.claim_id = c.id AND e.stance = 'supporting')) < :at ORDER BY c.id"
)


def find_next_version(tx: Tx, chain_id: str, new: dict[str, Any], otherwise: str) -> str:
    """The version that ended a late newcomer: the one said next after it.

    Args:
        chain_id: the chain it enters.
        new: its row of `memories`.

    Returns:
        The version's id; what stands, where none was said after it.
    """
    found = tx.value(_NEXT, {"chain": chain_id, "id": new["id"], "at": _statement_time(new)})
    return otherwise if found is None else str(found)


def close_earlier_version(tx: Tx, chain_id: str, new: dict[str, Any]) -> None:
    """What was said before a late newcomer held until it was said, and no longer.

    Args:
        chain_id: the chain it enters.
        new: its row of `memories`.
    """
    at = _statement_time(new)
    known = {"id": new["id"], "at": at}
    for (claim_id,) in tx.all(_CLAIMS, known):
        tx.update("claims", {"id": claim_id}, {"valid_to": at, "valid_to_prec": "ms"})
    before = tx.value(_LAST, {**known, "chain": chain_id})
    for part, until in tx.all("SELECT id, valid_to FROM memories WHERE id = ? OR part_of = ?", (before, before)):
        if until is None or until > at:
            changes = {"valid_to": at, "valid_to_prec": "ms", "superseded_by_id": new["id"]}
            tx.update("memories", {"id": part}, changes)


def _statement_time(row: dict[str, Any]) -> int:
    """When a claim began to hold: its start, else when it was said, else when it was recorded (epoch ms)."""
    times = (row["valid_from"], row["occurred_at"], row["recorded_at"])
    return int(next(at for at in times if at is not None))


_ACTIVE = frozenset({Status.ACTIVE.value, Status.CONSOLIDATED.value})
_FROM = {
    "draft": frozenset({"asserted", "retracted"}),
    "asserted": frozenset({"disputed", "retracted", "superseded"}),
    "disputed": frozenset({"asserted", "retracted", "superseded"}),
    "retracted": frozenset({"asserted"}),
    "superseded": frozenset({"asserted"}),
}


def claims_of(rows: Rows, memory_ids: Iterable[str]) -> list[str]:
    """Ids of the claims that memories support.

    Returns:
        The ids, in a fixed order.
    """
    found = rows.all(
        "SELECT DISTINCT e.claim_id FROM json_each(?) w JOIN evidence e ON e.memory_id = w.value "
        "WHERE e.stance = 'supporting' ORDER BY 1",
        (to_json(list(memory_ids)),),
    )
    return [str(row[0]) for row in found]


def sync_claims(tx: Tx, make_id: Callable[[], str], memory_ids: Iterable[str]) -> None:
    """Bring the status of claims in step with the memories they rest on.

    A claim is asserted while a memory that backs it is active (or is stacked under one that is); it is not asserted
    again where another claim replaced it, nor where it would stand beside one that excludes it.

    Args:
        make_id: makes ids of evidence.
        memory_ids: the memories that changed.
    """
    memories = list(memory_ids)
    wanted = claims_of(tx, memories)
    # What leaves first, what comes after it: one exclusive claim at a time.
    for arriving in (False, True):
        for claim_id in wanted:
            claim = tx.row("claims", {"id": claim_id})
            if claim is not None:
                state = _derive_claim_state(tx, claim)
                if (state == "asserted") is arriving and state != claim["state"]:
                    _change_claim_state(tx, make_id, claim, state)
    # Also of claims that they speak against: what does not stand speaks no more.
    refresh_claims(tx, claims_backed_by(tx, memories))


def _derive_claim_state(tx: Tx, claim: Mapping[str, Any]) -> str:
    """The state that the memories behind a claim ask for."""
    found = tx.all(
        # What the lifecycle archived after it was replaced or absorbed is so still.
        "SELECT CASE WHEN m.status <> 'archived' THEN m.status WHEN m.superseded_by_id IS NOT NULL THEN 'superseded' "
        "WHEN m.consolidated_into IS NOT NULL THEN 'consolidated' ELSE m.status END, o.status "
        "FROM evidence e JOIN memories m ON m.id = e.memory_id "
        "LEFT JOIN memories o ON o.id = m.consolidated_into WHERE e.claim_id = ? AND e.stance = 'supporting'",
        (claim["id"],),
    )
    statuses = {over if status == Status.CONSOLIDATED.value and over is not None else status for status, over in found}
    stacked = all(status == Status.CONSOLIDATED.value and over is not None for status, over in found)
    if stacked and claim["state"] == "draft" and statuses & _ACTIVE:
        # It was taken for a copy of what stands: then it says nothing new, and where it does it was no copy.
        return "draft"
    if statuses & _ACTIVE:
        return "superseded" if _is_replaced(tx, claim) else "asserted"
    if Status.DISPUTED.value in statuses:
        return "draft" if claim["state"] == "draft" else "disputed"
    if Status.SUPERSEDED.value in statuses:
        return "retracted" if claim["state"] == "draft" else "superseded"
    return "draft" if claim["state"] == "draft" else "retracted"


def _is_replaced(tx: Tx, claim: Mapping[str, Any]) -> bool:
    """Another claim took its place, and still holds it."""
    if claim["state"] != "superseded" or claim["superseded_by_id"] is None:
        return False
    by = tx.value("SELECT state FROM claims WHERE id = ?", (claim["superseded_by_id"],))
    return by in ("asserted", "disputed")


def _change_claim_state(tx: Tx, make_id: Callable[[], str], claim: Mapping[str, Any], state: str) -> None:
    if state not in _FROM[claim["state"]]:
        return
    if state == "asserted":
        _assert_claim(tx, make_id, claim)
        return
    retired = None if state == "disputed" else tx.now_ms
    tx.update("claims", {"id": claim["id"]}, {"state": state, "retired_at": retired})


def _assert_claim(tx: Tx, make_id: Callable[[], str], claim: Mapping[str, Any]) -> None:
    """Assert a claim, or move its evidence to the asserted claim that says the same."""
    twin = find_asserted(tx, claim["space_id"], claim["claim_key"])
    if twin is not None and twin != claim["id"]:
        copy_evidence(tx, make_id, str(claim["id"]), twin)
        if claim["state"] == "draft":
            tx.update("claims", {"id": claim["id"]}, {"state": "retracted", "retired_at": tx.now_ms})
        return
    if exclusive_rivals(tx, claim):
        return  # the other one is asserted; this one waits until a person, or the gate, has decided
    tx.update(
        "claims",
        {"id": claim["id"]},
        {"state": "asserted", "asserted_at": tx.now_ms, "retired_at": None, "superseded_by_id": None},
    )


def find_asserted(rows: Rows, space_id: str, key: bytes) -> str | None:
    """The claim that says exactly this and stands, if any.

    Args:
        key: `core.belief.extract.normal_form.claim_key`.
    """
    found = rows.value(
        "SELECT id FROM claims WHERE space_id = ? AND claim_key = ? AND state IN ('asserted', 'disputed')",
        (space_id, key),
    )
    return None if found is None else str(found)


def copy_evidence(tx: Tx, make_id: Callable[[], str], from_claim: str, to_claim: str) -> None:
    """Give a claim the evidence of another that says the same; the other keeps its own.

    Args:
        from_claim: where the evidence is.
        to_claim: what it shall back too.
    """
    for (evidence_id,) in tx.all("SELECT id FROM evidence WHERE claim_id = ? ORDER BY id", (from_claim,)):
        row = tx.row("evidence", {"id": evidence_id}) or {}
        known = tx.one(
            "SELECT 1 FROM evidence WHERE claim_id = ? AND memory_id = ? AND start_at = ? AND end_at = ? "
            "AND stance = ?",
            (to_claim, row["memory_id"], row["start_at"], row["end_at"], row["stance"]),
        )
        if known is None:
            tx.insert("evidence", {**row, "id": make_id(), "claim_id": to_claim})


def exclusive_rivals(rows: Rows, claim: Mapping[str, Any]) -> list[str]:
    """Asserted claims beside which this one cannot be asserted (the schema's invariant).

    Args:
        claim: a row of `claims`.
    """
    if not claim["exclusive"] or claim["polarity"] != "positive":
        return []
    found = rows.all(
        "SELECT id FROM claims WHERE space_id = ? AND predicate = ? AND scope_session = ? AND qualifiers = ? "
        "AND state = 'asserted' AND exclusive = 1 AND polarity = 'positive' AND id <> ? "
        "AND coalesce(subject_entity_id, subject_key) = ? "
        "AND coalesce(valid_from, -9223372036854775807) < coalesce(?, 9223372036854775807) "
        "AND coalesce(?, -9223372036854775807) < coalesce(valid_to, 9223372036854775807)",
        (
            claim["space_id"],
            claim["predicate"],
            claim["scope_session"],
            claim["qualifiers"],
            claim["id"],
            claim["subject_entity_id"] or claim["subject_key"],
            claim["valid_to"],
            claim["valid_from"],
        ),
    )
    return [str(row[0]) for row in found]


def replace_claim(tx: Tx, old_claim: str, new_claim: str | None, at_ms: int | None) -> bool:
    """A claim is replaced by another; its memory may go on standing for what else it says.

    Args:
        old_claim: the claim that no longer holds.
        new_claim: what holds instead, if it is a claim.
        at_ms: from when on, epoch ms.

    Returns:
        Whether it stood until now.
    """
    row = tx.row("claims", {"id": old_claim})
    if row is None or row["state"] not in ("asserted", "disputed"):
        return False
    changes: dict[str, object] = {"state": "superseded", "superseded_by_id": new_claim, "retired_at": tx.now_ms}
    if at_ms is not None and (row["valid_to"] is None or row["valid_to"] > at_ms):
        changes |= {"valid_to": max(at_ms, row["valid_from"] or at_ms), "valid_to_prec": "ms"}
    tx.update("claims", {"id": old_claim}, changes)
    return True


def qualify_claim(tx: Tx, claim_id: str, qualifiers: Mapping[str, object], key: bytes) -> None:
    """Tell a claim from another of the same subject and predicate (the desk's keep both, dates, scope split).

    Args:
        qualifiers: all of them, old and new.
    """
    text = json.dumps(dict(qualifiers), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    tx.update("claims", {"id": claim_id}, {"qualifiers": text, "claim_key": key})


def find_counterpart(tx: Tx, claim_id: str, new_id: str) -> str | None:
    """The claim in which a newcomer says something else of the same subject and predicate.

    Args:
        claim_id: the claim that stood.

    Returns:
        Its id, one that denies the claim first; None where the newcomer says nothing of it, or both may hold.
    """
    found = tx.value(
        "SELECT c.id FROM evidence e JOIN claims c ON c.id = e.claim_id JOIN claims o ON o.id = ? "
        "WHERE e.memory_id = ? AND e.stance = 'supporting' AND c.id <> o.id AND c.subject_key = o.subject_key "
        "AND c.predicate = o.predicate AND (c.exclusive = 1 OR c.polarity <> o.polarity) "
        "ORDER BY c.polarity <> o.polarity, c.id LIMIT 1",
        (claim_id, new_id),
    )
    return None if found is None else str(found)
