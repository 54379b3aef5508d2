"""Sealing memories, and putting them back (E10.5.3, E10.5.5).

A sealed memory is erased with every trace of its text, and what cannot be made anew of it is kept as one encrypted
body. So no search, list, context, job or client can come by it whatever they ask for, and nothing has to leave it out.
There is no undo, since its images would hold the text; a sealed memory is put back instead. Must not do: keep a key, or
put a text into the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import Code, IntegrityError, PreconditionError, UserError
from core.intake.erase.erasure import Backups, erase_named, erase_preview
from core.intake.erase.row_erasure import MADE, erasure_scope_of
from core.intake.erase.subjects import NamedRows
from core.intake.seal.sealed_body import SealedBody, read_body, write_body
from core.intake.transaction.admission import lift_records
from core.intake.transaction.sources import KINDS_BY_TEXT, find_active_duplicate, refresh_trust
from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory.stored_files import StoredContent, remove_unheld
from core.security.keys import Purpose, RootKey, field_open, field_seal
from core.sensitivity.detector import find_sensitive, tier_of
from core.types.files.attachments import AttachedFile
from core.types.sensitivity import SealedText, SealReport, SensitiveType
from core.types.values import Actor, Kind, SecurityTier, Status
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx, without_recorder

SEAL, UNSEAL, DISCARD = "seal", "unseal", "discard_sealed"
MAX_LABEL, MAX_SUMMARY = 200, 1_000
VERSIONS_NOTE = "sealed_versions:"
"""Before the id of a sealed memory the key of the setting with the ids of its other rows, so that a backup that has
only an older version can be told to hold it while its body is closed."""
_STANDS = (Status.ACTIVE.value, Status.DISPUTED.value)


@dataclass(frozen=True, slots=True)
class SealKey:
    """A key that is in memory.

    Attributes:
        id: as the rows name it.
        root: what the field key is derived from.
    """

    id: str
    root: RootKey

    def encrypt(self, body: SealedBody) -> bytes:
        """A body as its row holds it."""
        return field_seal(self.root.derive(Purpose.FIELD), body.to_text(), self._bind(body.head))

    def decrypt(self, memory_id: str, body: bytes) -> SealedBody:
        """Undo `encrypt`.

        Raises:
            IntegrityError: ENCRYPTION_FAILED; it was changed, or is another row's.
        """
        try:
            return SealedBody.from_text(field_open(self.root.derive(Purpose.FIELD), body, self._bind(memory_id)))
        except (ValueError, KeyError, TypeError):
            raise IntegrityError(
                Code.ENCRYPTION_FAILED, "A sealed memory was written by another version of Loci; nothing was changed."
            ) from None

    def _bind(self, memory_id: str) -> bytes:
        return f"sealed_memories.body:{self.id}:{memory_id}".encode("ascii")


def check_label(label: str) -> str:
    """A label that may be read without the key.

    Returns:
        It, in one line.

    Raises:
        UserError: INVALID_INPUT; too long, or sensitive itself.
    """
    line = " ".join(label.split())
    if len(line) > MAX_LABEL:
        raise UserError(Code.INVALID_INPUT, f"A label has at most {MAX_LABEL} characters.")
    if tier_of(find_sensitive(line)) is SecurityTier.CONFIDENTIAL:
        raise UserError(
            Code.INVALID_INPUT, "The label stays readable, but it contains a number or a password. Choose another one."
        )
    return line


def check_summary(summary: str) -> str:
    """A summary that may be read without the key: the person wrote it, and it gives away nothing that is sensitive.

    Returns:
        It, in one line.

    Raises:
        UserError: INVALID_INPUT; too long, or it holds what rules find sensitive, names of people aside.
    """
    line = " ".join(summary.split())
    if len(line) > MAX_SUMMARY:
        raise UserError(Code.INVALID_INPUT, f"A summary has at most {MAX_SUMMARY:,} characters.")
    if any(span.type is not SensitiveType.PERSON_NAME for span in find_sensitive(line)):
        raise UserError(
            Code.INVALID_INPUT,
            "The summary stays readable, but it contains something sensitive, such as a number, an address or "
            "health information. Write it without that.",
        )
    return line


def seal_memories(
    tx: Tx,
    work: UnitOfWork,
    labels: Mapping[str, str],
    key: SealKey,
    actor: Actor,
    removed: Callable[[int, Sequence[int]], None],
    backups: Backups = (),
    summary: str = "",
) -> SealReport:
    """Seal memories, each with its versions.

    Args:
        labels: id of each memory to the label it is listed by, checked by `check_label`.
        summary: of each, in the clear, checked by `check_summary`.
        actor: the owner.
        removed: as for `core.intake.erase.erasure.erase_named`; `backups` likewise.

    Raises:
        UserError: ACCESS_DENIED for a client, NOT_FOUND for what is not there.
    """
    if not actor.is_owner:
        raise UserError(Code.ACCESS_DENIED, "Only the person may seal.")
    preview = erase_preview(tx, NamedRows(tuple(labels), whole_chain=True))
    sealed: list[str] = []
    rows, made_count = 0, 0
    holding: dict[str, None] = {}
    for asked, label in labels.items():
        row = tx.row("memories", {"id": asked})
        if row is None:
            continue  # it went with one before it
        head = str(row["part_of"] or asked)
        reach = erasure_scope_of(tx, [head], whole_chain=True)
        kept = [one for one, why in reach.why.items() if why != MADE]
        made = [one for one, why in reach.why.items() if why == MADE]
        _need_own_files(tx, kept)
        body = read_body(tx, head, kept, made)
        with without_recorder(tx):
            tx.insert(
                "sealed_memories",
                {
                    "id": head,
                    "key_id": key.id,
                    "space_id": row["space_id"],
                    "kind": row["kind"],
                    "label": label,
                    "summary": summary,
                    "body": key.encrypt(body),
                    "sealed_at": tx.now_ms,
                },
            )
            _note_versions(tx, head, kept)
            tx.insert_many("sealed_files", [{"memory_id": head, "file_id": one} for one in body.contents])
        named = NamedRows((head,), whole_chain=True, is_sealed=True)
        done = erase_named(tx, work, named, actor, removed).summarize(backups)
        sealed.append(head)
        rows += len(kept)
        made_count += len(made)
        holding |= dict.fromkeys(done.backups)
    return SealReport(tuple(sealed), rows, made_count, preview.same_words, tuple(holding))


def unseal_memories(
    tx: Tx,
    work: UnitOfWork,
    ids: Sequence[str],
    key_of: Callable[[str], SealKey],
    actor: Actor,
    add_vectors: Callable[[Tx, Sequence[str]], None],
) -> SealReport:
    """Put sealed memories back where they were; their claims and names are to be made anew.

    Args:
        key_of: gives the key by its id, or raises SEALED.
        add_vectors: given the ids of the memories that are there again.

    Raises:
        UserError: ACCESS_DENIED, NOT_FOUND.
        IntegrityError: ENCRYPTION_FAILED.
    """
    if not actor.is_owner:
        raise UserError(Code.ACCESS_DENIED, "Only the person may put a sealed memory back.")
    rows = 0
    for memory_id in ids:
        body = _open_row(tx, memory_id, key_of)
        _need_contents(tx, body)
        with work.verb(tx, UNSEAL, "Put a sealed memory back", actor) as verb, without_recorder(tx):
            lift_records(tx, [bytes(row["identity"]) for row in body.kept.get("fingerprints", ())])
            written = write_body(tx, _without_duplicates(tx, body))
            for one in written:
                refresh_trust(tx, one)
            add_vectors(tx, written)
            _delete_row(tx, memory_id)
            remove_unheld(tx)  # where the same bytes were attached anew meanwhile
            verb.note_audit(memory_id, memories=len(written))
        rows += len(written)
    return SealReport(tuple(ids), rows, 0, 0, ())


def discard_sealed(tx: Tx, work: UnitOfWork, ids: Sequence[str], actor: Actor) -> int:
    """Remove sealed memories for good; needs no key.

    Returns:
        How many there were.

    Raises:
        UserError: ACCESS_DENIED, NOT_FOUND.
    """
    if not actor.is_owner:
        raise UserError(Code.ACCESS_DENIED, "Only the person may erase.")
    for memory_id in ids:
        if tx.row("sealed_memories", {"id": memory_id}) is None:
            raise _not_sealed_error()
        with work.verb(tx, DISCARD, "Erase a sealed memory", actor) as verb, without_recorder(tx):
            _delete_row(tx, memory_id)
            remove_unheld(tx)
            verb.note_audit(memory_id)
    return len(ids)


def read_sealed(rows: Rows, memory_id: str, key_of: Callable[[str], SealKey]) -> SealedText:
    """One sealed memory in plain words.

    Raises:
        UserError: NOT_FOUND, SEALED.
        IntegrityError: ENCRYPTION_FAILED.
    """
    body = _open_row(rows, memory_id, key_of)
    label, space, sealed_at = rows.one(
        "SELECT s.label, p.name, s.sealed_at FROM sealed_memories s JOIN spaces p ON p.id = s.space_id WHERE s.id = ?",
        (memory_id,),
    ) or ("", "", 0)
    row = body.row
    return SealedText(memory_id, label, body.text, space, str(row["kind"]), row["occurred_at"], sealed_at, body.made)


def read_sealed_files(
    rows: Rows, memory_id: str, key_of: Callable[[str], SealKey]
) -> tuple[tuple[AttachedFile, StoredContent], ...]:
    """The files of one sealed memory, and how their contents open.

    Raises:
        UserError: NOT_FOUND, SEALED.
        IntegrityError: ENCRYPTION_FAILED.
    """
    kept = _open_row(rows, memory_id, key_of).kept
    contents = {row["id"]: row for row in kept.get("stored_files", ())}
    found = []
    for row in kept.get("files", ()):
        content = contents[row["stored_id"]]
        described = {name: row[name] for name in ("name", "media_type", "caption", "pages", "width", "height")}
        file = AttachedFile(
            id=row["id"],
            memory_id=row["memory_id"],
            size=content["size"],
            digest=content["digest"].hex(),
            has_thumbnail=False,
            attached_at=row["attached_at"],
            **described,
        )
        found.append((file, StoredContent(content["id"], content["digest"], content["size"], content["key"])))
    return tuple(found)


def read_texts(rows: Rows, ids: Sequence[str], key_of: Callable[[str], SealKey]) -> dict[str, tuple[str, str | None]]:
    """What the memories of some bodies are embedded by.

    Returns:
        Id to text and author, versions and parts among them.

    Raises:
        UserError: NOT_FOUND, SEALED.
        IntegrityError: ENCRYPTION_FAILED.
    """
    found = (row for one in ids for row in _open_row(rows, one, key_of).memories)
    return {str(row["id"]): (str(row["text"]), row["author"]) for row in found}


def _open_row(rows: Rows, memory_id: str, key_of: Callable[[str], SealKey]) -> SealedBody:
    found = rows.one("SELECT key_id, body FROM sealed_memories WHERE id = ?", (memory_id,))
    if found is None:
        raise _not_sealed_error()
    return key_of(str(found[0])).decrypt(memory_id, bytes(found[1]))


def _note_versions(tx: Tx, head: str, kept: Sequence[str]) -> None:
    if len(kept) > 1:
        row = {"key": VERSIONS_NOTE + head, "value": to_json(sorted(kept)), "changed_at": tx.now_ms}
        tx.insert("settings", row)


def _delete_row(tx: Tx, memory_id: str) -> None:
    tx.delete("sealed_memories", {"id": memory_id})
    tx.delete("settings", {"key": VERSIONS_NOTE + memory_id})


def _need_own_files(rows: Rows, ids: Sequence[str]) -> None:
    """A file that another device has alone would be lost there with the memory that is sealed here."""
    lacking = rows.value(
        "SELECT 1 FROM memories m WHERE m.id IN (SELECT value FROM json_each(?)) "
        "AND json_extract(m.origin, '$.by') = 'file' AND coalesce(m.part_index, 0) = 0 "
        "AND NOT EXISTS (SELECT 1 FROM files f WHERE f.memory_id = m.id) AND m.supersedes_id IS NULL LIMIT 1",
        (to_json(list(ids)),),
    )
    if lacking is not None:
        raise PreconditionError("The file of that memory is on another device. Seal the memory there.")


def _need_contents(rows: Rows, body: SealedBody) -> None:
    """Likewise: what is put back here goes from the other device, with the only key of the file."""
    for one in body.contents:
        if rows.one("SELECT 1 FROM stored_chunks WHERE file_id = ? LIMIT 1", (one,)) is None:
            raise PreconditionError("The file of that memory is on another device. Unseal the memory there.")


def _not_sealed_error() -> UserError:
    return UserError(Code.NOT_FOUND, "There is no such sealed memory.")


def _without_duplicates(rows: Rows, body: SealedBody) -> SealedBody:
    """The same words may have been told again meanwhile: then the sealed ones lie beneath those."""
    row = body.row
    if row["status"] not in _STANDS or Kind(row["kind"]) not in KINDS_BY_TEXT:
        return body
    parts = sorted((one for one in body.memories if body.head in (one["id"], one["part_of"])),
                   key=lambda one: one["part_index"] or 0)  # fmt: skip
    twin = find_active_duplicate(
        rows, [one["text"] for one in parts], Kind(row["kind"]), row["space_id"], row["scope_session"]
    )
    if twin is None:
        return body
    beneath = {"status": Status.CONSOLIDATED.value, "status_reason": "duplicate", "consolidated_into": twin}
    own = {one["id"] for one in parts}
    memories = tuple({**one, **beneath} if one["id"] in own else one for one in body.memories)
    return SealedBody(body.head, memories, body.kept, body.made)
