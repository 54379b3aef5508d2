"""Storing one file of the person's as a memory: its words through the gate, its bytes, and what was read of it.

The memory is an episode of way `document`, as a page of an imported document is: what a file says is its author's word,
not the person's. It is split where pages begin, so that a question finds the page; the parts are one memory. A text
that reads like an instruction waits for the person. Must not do: read a file, or store bytes without a memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from core.intake.store.requests import reply_if_tombstoned
from core.intake.transaction.admission import SplitDraft, cut_text, split_draft
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions.injection_hold import REASON, raise_review
from core.memory.files import FileDraft, Region, ViewDraft, find_attached, insert_file, read_file
from core.memory.protection import SensitiveFindings, TierRules
from core.memory.stored_files import SealedContent, store_content
from core.memory.write import Draft, Stored, VectorSpace, ensure_space, insert_memories, write_new_vectors
from core.score.trust import age_days, trust_terms
from core.text.screening.injection import scan_text, screen_text
from core.types.files.attachments import AttachNote, AttachReply, FileDescription, ViewMethod
from core.types.values import HOME_SPACE, Actor, Kind, Role, Source, Status, When
from core.vault.database.tx import Tx

VERB, LABEL = "attach", "Attach a file"
_GAP = "\n\n"
"""Between what the person says of a file and its words, and between its pages."""


@dataclass(frozen=True, slots=True)
class ReadText:
    """Words that were read out of a file.

    Attributes:
        pages: each stretch with its page; None where there are no pages.
        is_cut: whether the file holds more.
    """

    method: ViewMethod
    pages: tuple[tuple[int | None, str], ...]
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileToAttach(FileDescription):
    """A file as it was read, to be attached.

    Attributes:
        content: all of it, encrypted to be stored.
        read: what was read out of it, in the order in which the memory says it.
        title: what it calls itself; "" for nothing. `author` likewise.
        occurred: when it was written or taken.
        thumbnail: a small picture of it, PNG.
        notes: what was not read.
    """

    content: SealedContent = field(repr=False)
    read: tuple[ReadText, ...] = ()
    title: str = ""
    author: str = ""
    occurred: When | None = None
    thumbnail: bytes | None = field(default=None, repr=False)
    notes: tuple[AttachNote, ...] = ()
    space: str = HOME_SPACE
    session: str | None = None


@dataclass(frozen=True, slots=True)
class ComposedText:
    """The text of a file's memory.

    Attributes:
        parts: it is stored in; joined they are the whole.
        views: what was read, with the places in the parts.
        findings: what is sensitive in it; None where it was not looked through yet.
    """

    parts: tuple[str, ...]
    views: tuple[ViewDraft, ...]
    findings: SensitiveFindings | None = None

    @property
    def text(self) -> str:
        """The whole."""
        return "".join(self.parts)


def compose_text(file: FileToAttach) -> ComposedText:
    """Put together what the memory of a file says: the person's words, then the file's; its name where there are none.

    Args:
        file: as it was read.
    """
    whole: list[str] = []
    length, breaks = 0, list[int]()
    spans: list[tuple[ReadText, list[tuple[int | None, int, int]]]] = []
    for read in file.read:
        stretches = []
        for number, (page, text) in enumerate(read.pages):
            if length:
                whole.append(_GAP)
                length += len(_GAP)
            if page is not None and number:
                breaks.append(length)
            whole.append(text)
            stretches.append((page, length, length + len(text)))
            length += len(text)
        spans.append((read, stretches))
    parts = cut_text("".join(whole) or file.name, breaks)
    starts = [0, *accumulate(len(part) for part in parts)]
    return ComposedText(parts, tuple(_make_view(read, stretches, starts) for read, stretches in spans if stretches))


def look_through(text: ComposedText, rules: TierRules, space_id: str) -> ComposedText:
    """Look through a text before the transaction that stores it: a long one would hold up other writers.

    Args:
        text: what the memory of a file says.
        rules: as the settings have them now; the transaction asks them anew.
        space_id: where it will lie; "" where that space is not there yet.

    Returns:
        The text with what is sensitive in it.
    """
    scan_text(text.text)  # its score is known then
    return replace(text, findings=rules.find_types(text.text, space_id, Source.DOCUMENT.value))


def _make_view(read: ReadText, stretches: Sequence[tuple[int | None, int, int]], starts: Sequence[int]) -> ViewDraft:
    begin = stretches[0][1]
    regions: list[Region] = []
    for page, start, end in stretches:
        for part, (low, high) in enumerate(pairwise(starts)):
            first, last = max(start, low), min(end, high)
            if first < last:
                regions.append(Region(page, first - begin, last - begin, part, first - low))
    return ViewDraft(read.method, _GAP.join(text for _, text in read.pages), tuple(regions), read.is_cut)


class AttachmentWriter:
    """Writes the memory of a file, its bytes and its views: one verb, one step."""

    def __init__(self, make_id: Callable[[], str], work: UnitOfWork, space: VectorSpace) -> None:
        self._make_id, self._work, self._space = make_id, work, space

    def attach(
        self,
        tx: Tx,
        file: FileToAttach,
        composed: ComposedText,
        vectors: NDArray[np.float32] | None,
        actor: Actor,
        stored: Stored,
    ) -> AttachReply:
        """Attach a file.

        Args:
            composed: from `compose_text`.
            vectors: unit rows of its first parts; None where the embedder is away. The others wait for theirs.
            actor: the owner.
            stored: told sequence, labels and vectors, for the index.

        Returns:
            The memory and its file, or those that were there already.
        """
        known = find_attached(tx, file.content.digest, file.space, file.caption)
        if known is not None:
            store_content(tx, file.content, file.thumbnail)  # what was damaged of it is stored anew
            return AttachReply("NOOP", known.memory_id, known, deduplicated=True, notes=file.notes)
        # The person brings it anew, so what was erased of these words may be stored again.
        reply_if_tombstoned(tx, self._work, self._make_id, composed.parts, LABEL, actor)
        with self._work.verb(tx, VERB, LABEL, actor) as verb:
            seen = screen_text(composed.text, None, stranger=True)
            space_id = ensure_space(tx, file.space, self._make_id())
            file_id, stored_id = self._make_id(), store_content(tx, file.content, file.thumbnail)
            draft = self._make_draft(tx, file, composed, space_id, file_id)
            if seen.flags:
                draft = _with_marks(draft, seen.flags, waits=seen.waits)
            whole = split_draft(draft, composed.parts, self._make_id)
            self._insert_memories(tx, whole, composed.findings, vectors, stored)
            insert_file(tx, self._make_file(file, composed, whole.head.id, file_id, stored_id))
            conflict = raise_review(tx, self._make_id(), whole.head.id, seen) if seen.waits else None
            verb.note_audit(whole.head.id, parts=len(whole.drafts), bytes=file.content.size)
            verb.log_consolidation("QUARANTINE" if seen.waits else "ADD", whole.head.id, None, None, "owner")
        return AttachReply(
            "QUARANTINE" if seen.waits else "ADD",
            whole.head.id,
            read_file(tx, file_id),
            conflict=conflict,
            notes=file.notes,
            step_id=verb.step_id,
        )

    def _insert_memories(
        self,
        tx: Tx,
        whole: SplitDraft,
        findings: SensitiveFindings | None,
        vectors: NDArray[np.float32] | None,
        stored: Stored,
    ) -> None:
        known = {} if findings is None else {whole.head.id: findings}
        labels = insert_memories(tx, whole.drafts, findings=known)
        count = 0 if vectors is None else len(vectors)
        write_new_vectors(tx, labels[:count], vectors, self._space, stored)

    def _make_file(
        self, file: FileToAttach, composed: ComposedText, memory_id: str, file_id: str, stored_id: str
    ) -> FileDraft:
        return FileDraft(
            id=file_id,
            memory_id=memory_id,
            stored_id=stored_id,
            name=file.name,
            media_type=file.media_type,
            caption=file.caption,
            pages=file.pages,
            width=file.width,
            height=file.height,
            views=tuple((self._make_id(), view) for view in composed.views),
        )

    def _make_draft(self, tx: Tx, file: FileToAttach, composed: ComposedText, space_id: str, file_id: str) -> Draft:
        said_ms = tx.now_ms if file.occurred is None else file.occurred.ms
        extra = {"title": file.name, "document_title": file.title, "media_type": file.media_type}
        return Draft(
            id=self._make_id(),
            text=composed.text,
            kind=Kind.EPISODE,
            status=Status.ACTIVE,
            space_id=space_id,
            source=Source.DOCUMENT,
            role=Role.SOURCE,
            author=file.author or "source",
            lineage=f"file:{file.content.digest.hex()}",
            recorded_at=tx.now_ms,
            trust=trust_terms(Source.DOCUMENT, age_days=age_days(tx.now_ms, said_ms)).trust,
            last_confirmed_at=tx.now_ms,
            session=file.session,
            origin={"by": "file", "file": file_id, "name": file.name},
            extra={name: value for name, value in extra.items() if value},
            occurred=file.occurred,
        )


def _with_marks(draft: Draft, flags: Sequence[str], *, waits: bool) -> Draft:
    status, reason = (Status.QUARANTINED, REASON) if waits else (draft.status, draft.status_reason)
    return replace(draft, flags=(*draft.flags, *flags), status=status, status_reason=reason)
