"""Storing the records of an import: batches, each one transaction, all of one undo step."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError
from core.intake.claims import EvidenceSource, draft_supplied_claim, write_claims
from core.intake.transaction.admission import SplitDraft, check_space_name, erased_digests, erased_texts, split_draft
from core.intake.transaction.claim_checks import check_claim, claim_validity, is_exclusive, is_ordered
from core.intake.transaction.sources import KINDS_BY_TEXT, Lineage, add_corroboration, add_source, find_active_duplicate
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions.injection_hold import REASON, raise_review, screen_claim
from core.intake.transitions.review_items import open_review
from core.memory.write import (
    Draft,
    ImportedMemory,
    Stored,
    VectorSpace,
    ensure_space,
    insert_memories,
    write_new_vectors,
)
from core.score.trust import age_days, trust_terms
from core.text.screening.injection import ScreenedText, screen_text
from core.types.values import GLOBAL_SPACE, OWNER_ACTOR, Kind, Source, Status, When
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

VERB = "import"
LABEL = "Import memories"

_KNOWN = "SELECT identity FROM fingerprints WHERE identity IN (SELECT unhex(value) FROM json_each(?))"

_Talks = dict[str, tuple[str, str | None]]
"""Conversations met in a batch: identity to id and title."""


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One record of an importer, with its parts and their vectors.

    Attributes:
        memory: as the importer read it, with what cannot be stored taken out of its fields.
        conversation: (identity, title, started, extra) of its conversation, if any.
        texts: the parts it is stored in.
        times: when each part was said.
        vectors: one unit row a part, (parts, dims); None where the embedder is away: they are made later.
    """

    memory: ImportedMemory
    conversation: tuple[str, str | None, When | None, Mapping[str, Any]] | None
    texts: tuple[str, ...]
    times: tuple[When | None, ...]
    vectors: NDArray[np.float32] | None


@dataclass
class ImportTally:
    """What the batches stored so far; it lives in the import's row, so a resumed job goes on counting."""

    stored: int = 0
    proposals: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class ImportRun:
    """One running import.

    Attributes:
        id: the import's id.
        format: the format's name.
        label: the last component of the path.
        space_id: where records without a space of their own go.
        space_name: that space's name.
        step_id: the undo step all batches share.
    """

    id: str
    format: str
    label: str
    space_id: str
    space_name: str
    step_id: str


def identity_digest(space_name: str, identity: str) -> bytes:
    """The key of an identity in `fingerprints` and `tombstones`.

    A space is a boundary: the same export may be brought into two spaces on purpose, but into one only once.

    Args:
        space_name: name of the space the record itself asks for; "" for the import's own.
        identity: stable across exports.

    Returns:
        SHA-256, 32 bytes.
    """
    return hashlib.sha256(f"{space_name}\0{identity}".encode("utf-8", "surrogatepass")).digest()


def known_digests(rows: Rows, digests: Sequence[bytes]) -> set[bytes]:
    """Which records the vault has already.

    Args:
        digests: from `identity_digest`.
    """
    return {row[0] for row in rows.all(_KNOWN, (_digests_to_json(digests),))}


def find_other_form(rows: Rows, space_name: str, memory: ImportedMemory) -> str | None:
    """Why a record is left out that the vault has in another form: a list as one memory, or line by line.

    Args:
        space_name: where it would go.
        memory: a record that is not known by its own identity.

    Returns:
        `known_otherwise`; `erased` where some of the other form was erased; None where it is to be stored.
    """
    if not memory.same_as:
        return None
    keys = [identity_digest(space_name, one) for one in memory.same_as]
    known = known_digests(rows, keys)
    left = [key for key in keys if key not in known]
    if not left:
        return "known_otherwise"
    return "erased" if erased_digests(rows, left).issuperset(left) else None


def _digests_to_json(digests: Sequence[bytes]) -> str:
    return to_json([one.hex() for one in digests])


def _identity_key(run: ImportRun, item: ImportRecord) -> bytes:
    return identity_digest(item.memory.space or run.space_name, item.memory.identity)


class ImportWriter:
    """Writes batches of records."""

    def __init__(self, make_id: Callable[[], str], work: UnitOfWork, space: VectorSpace) -> None:
        self._make_id = make_id
        self._work = work
        self._space = space

    def begin_import(self, tx: Tx, run: ImportRun, location: str, fingerprint: str, total: int | None) -> ImportRun:
        """Open the import's row and its undo step; a space that is new is made within that step.

        Args:
            run: the import; its `space_id` is the one a new space gets.
            location: the absolute path, kept inside the vault only.
            fingerprint: of the files, compared before a resume.
            total: records counted by the rehearsal.
        """
        with self._work.verb(tx, VERB, LABEL, OWNER_ACTOR, step_id=run.step_id, keep_open=True) as verb:
            run = replace(run, space_id=ensure_space(tx, run.space_name, run.space_id))
            tx.run(
                "INSERT INTO imports (id, format, label, location, fingerprint, space_id, state, total, started_at, "
                "step_id) VALUES (?, ?, ?, ?, ?, ?, 'running', ?, ?, ?)",
                (run.id, run.format, run.label, location, fingerprint, run.space_id, total, tx.now_ms, run.step_id),
            )
            verb.note_audit(run.id, phase="begin")
        return run

    def store_batch(
        self,
        tx: Tx,
        run: ImportRun,
        items: Sequence[ImportRecord],
        position: int,
        tally: ImportTally,
        stored: Stored,
    ) -> None:
        """Store one batch.

        Args:
            items: at most 500 records.
            position: records of the file consumed after this batch.
            tally: counted up; written into the import's row.
            stored: told sequence, labels and vectors of new rows, for the index.
        """
        with self._work.verb(tx, VERB, LABEL, OWNER_ACTOR, step_id=run.step_id, keep_open=True) as verb:
            fresh = [_with_screening_marks(item) for item in self._select_unknown(tx, run, items, tally)]
            self._write_items(tx, run, fresh, tally, stored)
            verb.note_audit(run.id, phase="batch", position=position)
        tx.run(
            "UPDATE imports SET position = ?, summary = ? WHERE id = ?",
            (position, to_json(tally_json(tally)), run.id),
        )

    def finish_import(self, tx: Tx, run: ImportRun, tally: ImportTally) -> None:
        """Close the import's row and its undo step."""
        with self._work.verb(tx, VERB, LABEL, OWNER_ACTOR, step_id=run.step_id) as verb:
            verb.note_audit(run.id, phase="end", stored=tally.stored)
        tx.run(
            "UPDATE imports SET state = 'done', finished_at = ?, summary = ? WHERE id = ?",
            (tx.now_ms, to_json(tally_json(tally)), run.id),
        )

    def _select_unknown(
        self, tx: Tx, run: ImportRun, items: Sequence[ImportRecord], tally: ImportTally
    ) -> list[ImportRecord]:
        fresh: list[ImportRecord] = []
        keys = [_identity_key(run, item) for item in items]
        seen = known_digests(tx, keys)
        erased, erased_words = erased_digests(tx, keys), erased_texts(tx, (item.memory.text for item in items))
        for item, key in zip(items, keys, strict=True):
            if key in seen:
                tally.skipped["known"] += 1
            elif key in erased or item.memory.text in erased_words:
                tally.skipped["erased"] += 1
            elif reason := find_other_form(tx, item.memory.space or run.space_name, item.memory):
                tally.skipped[reason] += 1
            else:
                seen.add(key)
                fresh.append(item)
        return fresh

    def _write_items(
        self,
        tx: Tx,
        run: ImportRun,
        items: Sequence[ImportRecord],
        tally: ImportTally,
        stored: Stored,
    ) -> None:
        wholes: list[tuple[ImportRecord, SplitDraft]] = []
        again: list[tuple[ImportRecord, str]] = []
        talks: _Talks = {}
        twins: dict[tuple[str, str], str] = {}
        for item in items:
            # Every client reads GLOBAL: what is put there the person chooses, not a row of a file.
            own = item.memory.space is not None and item.memory.space != GLOBAL_SPACE
            space_id = ensure_space(tx, str(item.memory.space), self._make_id()) if own else run.space_id
            conversation_id = self._ensure_conversation(tx, run, item, space_id, talks)
            twin = self._find_duplicate(tx, item, space_id, twins)
            if twin is not None:
                again.append((item, twin))
                continue
            draft = self._make_draft(tx, run, item, space_id, conversation_id)
            if item.memory.kind in KINDS_BY_TEXT and item.memory.status is Status.ACTIVE:
                twins[(space_id, f"{item.memory.kind.value}:{draft.text}")] = draft.id
            wholes.append(
                (item, _with_trust_by_age(tx, item, split_draft(draft, item.texts, self._make_id, item.times)))
            )
        self._insert_memories(tx, run, wholes, dict(talks.values()), stored)
        for item, twin in again:  # after the insertion: a twin may be of this very batch
            add_corroboration(tx, twin, _lineage_of(run, item), item.memory.source)
            tx.insert("fingerprints", {"identity": _identity_key(run, item), "memory_id": twin})
            if tx.value("SELECT import_id IS ? FROM memories WHERE id = ?", (run.id, twin)):
                # What stood before says what it said: a row with its words puts no claim beneath it.
                self._write_given_claim(tx, run, item, twin, item.texts[0])
                screen_claim(tx, self._make_id, twin, item.memory.claim, stranger=True)
        tally.skipped["duplicate_text"] += len(again)
        tally.stored += len(wholes)
        tally.proposals += sum(item.memory.status is Status.QUARANTINED for item, _ in wholes)

    def _find_duplicate(
        self, tx: Tx, item: ImportRecord, space_id: str, twins: Mapping[tuple[str, str], str]
    ) -> str | None:
        if item.memory.kind not in KINDS_BY_TEXT or item.memory.status is not Status.ACTIVE:
            return None
        key = (space_id, f"{item.memory.kind.value}:{item.memory.text}")
        return find_active_duplicate(tx, item.texts, item.memory.kind, space_id) or twins.get(key)

    def _insert_memories(
        self,
        tx: Tx,
        run: ImportRun,
        wholes: Sequence[tuple[ImportRecord, SplitDraft]],
        titles: Mapping[str, str | None],
        stored: Stored,
    ) -> None:
        if not wholes:
            return
        drafts = [draft for _, whole in wholes for draft in whole.drafts]
        labels = insert_memories(tx, drafts, titles)
        self._write_vectors(tx, wholes, labels, stored)
        tx.insert_many(
            "fingerprints",
            [{"identity": _identity_key(run, item), "memory_id": whole.head.id} for item, whole in wholes],
        )
        for item, whole in wholes:
            self._attach_source(tx, run, item, whole)

    def _write_vectors(
        self, tx: Tx, wholes: Sequence[tuple[ImportRecord, SplitDraft]], labels: Sequence[int], stored: Stored
    ) -> None:
        """Of those that have any; a batch may have met an embedder that was away."""
        labels_of_vectors: list[int] = []
        vectors: list[NDArray[np.float32]] = []
        at = 0
        for item, whole in wholes:
            if item.vectors is not None:
                labels_of_vectors += labels[at : at + len(whole.drafts)]
                vectors.append(item.vectors)
            at += len(whole.drafts)
        write_new_vectors(tx, labels_of_vectors, np.concatenate(vectors) if vectors else None, self._space, stored)

    def _attach_source(self, tx: Tx, run: ImportRun, item: ImportRecord, whole: SplitDraft) -> None:
        first_part = whole.head
        lineage = _lineage_of(run, item)
        if item.memory.kind is not Kind.EPISODE:  # an episode is its own and only source
            for part in whole.drafts:
                add_source(tx, part.id, lineage, item.memory.source)
        if item.memory.status is Status.QUARANTINED:
            seen = _screen_record(item)
            if seen.waits:
                raise_review(tx, self._make_id(), first_part.id, seen)
            else:
                open_review(tx, self._make_id(), first_part.id, "proposal", "proposed_by_import")
        self._write_given_claim(tx, run, item, first_part.id, first_part.text)

    def _write_given_claim(self, tx: Tx, run: ImportRun, item: ImportRecord, memory_id: str, text: str) -> None:
        if item.memory.claim is None:
            return
        claim = check_claim(item.memory.claim)
        claim["exclusive"] = is_exclusive(claim)
        own = claim_validity(claim)
        validity = own if any(own) else (item.memory.valid_from, item.memory.valid_to)
        row = tx.one("SELECT space_id FROM memories WHERE id = ?", (memory_id,))
        if row is not None:
            on = EvidenceSource(memory_id, text, row[0], _lineage_of(run, item).key, tx.now_ms)
            write_claims(tx, self._make_id, [draft_supplied_claim(claim, text, validity)], on)

    def _ensure_conversation(
        self, tx: Tx, run: ImportRun, item: ImportRecord, space_id: str, talks: _Talks
    ) -> str | None:
        if item.conversation is None:
            return None
        key, title, started, extra = item.conversation
        identity = f"{run.format}:{space_id}:{key}"
        if identity in talks:
            return talks[identity][0]
        found = tx.one("SELECT id, title FROM conversations WHERE identity = ?", (identity,))
        if found is not None:
            talks[identity] = (str(found[0]), found[1])
            return str(found[0])
        conversation_id = self._make_id()
        tx.insert(
            "conversations",
            {
                "id": conversation_id,
                "identity": identity,
                "title": title,
                "space_id": space_id,
                "import_id": run.id,
                "started_at": None if started is None else started.ms,
                "recorded_at": tx.now_ms,
                "extra": to_json(dict(extra)),
            },
        )
        talks[identity] = (conversation_id, title)
        return conversation_id

    def _make_draft(
        self, tx: Tx, run: ImportRun, item: ImportRecord, space_id: str, conversation_id: str | None
    ) -> Draft:
        return Draft(
            id=self._make_id(),
            text=item.memory.text,
            kind=item.memory.kind,
            status=item.memory.status,
            status_reason=_status_reason(item),
            space_id=space_id,
            source=item.memory.source,
            role=item.memory.role,
            author=item.memory.author,
            lineage=_lineage_of(run, item).key,
            recorded_at=tx.now_ms,
            trust=_trust_of_source(tx, item.memory.source, item.memory.occurred),
            last_confirmed_at=tx.now_ms,
            category=item.memory.category,
            importance=0.5 if item.memory.importance is None else item.memory.importance,
            tags=item.memory.tags,
            session=item.memory.session,
            conversation_id=conversation_id,
            position=item.memory.position,
            ref=item.memory.ref,
            import_id=run.id,
            origin={"by": "import", "format": run.format, "file": run.label, "where": item.memory.where},
            flags=item.memory.flags,
            extra=item.memory.extra,
            occurred=item.memory.occurred,
            valid_from=item.memory.valid_from,
            valid_to=item.memory.valid_to,
        )


def _trust_of_source(tx: Tx, source: Source, occurred: When | None) -> float:
    return trust_terms(source, age_days=age_days(tx.now_ms, None if occurred is None else occurred.ms)).trust


def _with_trust_by_age(tx: Tx, item: ImportRecord, whole: SplitDraft) -> SplitDraft:
    """The parts, each with the trust of its own age."""
    return SplitDraft(
        tuple(replace(part, trust=_trust_of_source(tx, item.memory.source, part.occurred)) for part in whole.drafts)
    )


_REASONS = {Status.QUARANTINED: "proposed", Status.ARCHIVED: "hidden_at_source"}


def scan_ahead(items: Sequence[ImportRecord]) -> None:
    """Scan a batch before its transaction, which then finds the scores known: a scan must not hold up other writers."""
    for item in items:
        _screen_record(item)


def _screen_record(item: ImportRecord) -> ScreenedText:
    return screen_text(item.memory.text, item.memory.claim, stranger=True)


def _with_screening_marks(item: ImportRecord) -> ImportRecord:
    """The record with its marks; what reads like an instruction waits for the person, unless it was hidden anyway."""
    seen = _screen_record(item)
    status = Status.QUARANTINED if seen.waits and item.memory.status is Status.ACTIVE else item.memory.status
    if not seen.flags:
        return item
    return replace(item, memory=replace(item.memory, status=status, flags=(*item.memory.flags, *seen.flags)))


def _status_reason(item: ImportRecord) -> str | None:
    if item.memory.status is Status.QUARANTINED and _screen_record(item).waits:
        return REASON
    return _REASONS.get(item.memory.status)


def _lineage_of(run: ImportRun, item: ImportRecord) -> Lineage:
    within = item.conversation[0] if item.conversation is not None else item.memory.where.split(":", 1)[0]
    return Lineage(f"import:{run.format}:{within}", session=item.memory.session, import_id=run.id)


def tally_json(tally: ImportTally) -> dict[str, object]:
    """The tally as it is kept in the import's row."""
    return {"stored": tally.stored, "proposals": tally.proposals, "skipped": dict(tally.skipped)}


def tally_from(stored: Mapping[str, Any]) -> ImportTally:
    """The tally of a resumed import."""
    return ImportTally(
        int(stored.get("stored", 0)), int(stored.get("proposals", 0)), Counter(dict(stored.get("skipped", {})))
    )


def parse_usable_claim(claim: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A row's own claim, if it is one; a row with an unusable claim is stored without it.

    Args:
        claim: as the row gives it.

    Returns:
        The claim, or None.
    """
    if claim is None:
        return None
    try:
        checked = check_claim(claim)
        claim_validity(checked)
    except UserError:
        return None
    # A row knows its conversation, not the session that such a claim is limited to.
    return None if checked.get("scope") == "session" else checked


def usable_space(name: str | None) -> str | None:
    """The space a row names, if a space can be called that; else the row goes where the import goes.

    Args:
        name: as the row gives it.

    Returns:
        The name, or None.
    """
    if name is None:
        return None
    try:
        return check_space_name(name)
    except UserError:
        return None


def usable_validity(begin: When | None, end: When | None) -> tuple[When | None, When | None]:
    """The window a row gives, if it does not end before it begins.

    Args:
        begin: valid from.
        end: valid to.

    Returns:
        The window, or two Nones; the row keeps both as written in its `extra`.
    """
    return (begin, end) if is_ordered(begin, end) else (None, None)
