"""The facade's group for files of memories: attach one, list them, show what was read out of them, save one again.

All of it is the owner's: a client is never given a file, and never names a path. A file is read once, whole, within the
size that the options allow; what is stored is what was read. Must not do: keep a path, follow a link, or open a file
with another program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from core.engine.archive.file_copy import check_copy, write_copy
from core.engine.memories.memories import embed_restored
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.search import Embedded
from core.engine.runtime.storage import chain_work, map_result
from core.errors import Code, UserError
from core.importers.attachment.file_text import read_file_text
from core.importers.attachment.local_file import read_local_file
from core.intake.store.attachment import (
    VERB,
    AttachmentWriter,
    ComposedText,
    FileToAttach,
    ReadText,
    compose_text,
    look_through,
)
from core.intake.transaction.admission import check_space_name, is_plain_label
from core.memory.files import (
    count_files,
    find_files,
    list_files,
    list_regions,
    read_file,
    read_thumbnail,
    read_views,
    stored_id_of,
)
from core.memory.protection import read_tier_rules
from core.memory.stored_files import read_content, require_content, seal_content
from core.memory.write import find_space_id
from core.text.terms import embedding_text
from core.types.files.attachments import AttachedFile, AttachReply, FileViewText, SourceRegion, ViewMethod
from core.types.values import HOME_SPACE, Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

LONGEST_CAPTION = 4_000
"""Characters."""
_EMBEDDED_AT_ONCE = 32
"""Parts whose vectors the person waits for; those of a longer document are made afterwards."""
T = TypeVar("T")


class Files:
    """Files of memories."""

    def __init__(self, open_vault: Callable[[], OpenVault]) -> None:
        """Tie the ends together.

        Args:
            open_vault: gives the open vault, or raises VAULT_LOCKED.
        """
        self._open_vault = open_vault

    def attach(
        self, path: Path, actor: Actor, *, caption: str = "", space: str | None = None, session: str | None = None
    ) -> Future[AttachReply]:
        """Make a memory of a file: its bytes sealed in the vault, its text found by recall; one undo step.

        Args:
            path: a regular file; no folder, pipe or link.
            actor: who asks; the owner.
            caption: what the person says of it; it stands before the text that is read out of the file.
            space: the space's name; `home` if None.
            session: the session it belongs to.

        Returns:
            The memory and its file. The future raises NOT_FOUND where no file is there, FILE_REFUSED for what is no
            ordinary file or is empty, FILE_TOO_LARGE, DISK_FULL.

        Raises:
            UserError: VAULT_LOCKED; ACCESS_DENIED for anybody but the owner; INVALID_INPUT for a caption that is too
                long, or a name that no space can have.
        """
        if not actor.is_owner:
            raise UserError(Code.ACCESS_DENIED, "Only the person may attach a file.")
        open_vault = self._open_vault()
        caption = _check_caption(caption)
        within = HOME_SPACE if space is None else check_space_name(space)

        def read() -> tuple[FileToAttach, ComposedText]:
            file = _read_to_attach(open_vault, path, caption, within, session)
            rules, space_id = open_vault.storage.vault.read(
                lambda rows: (read_tier_rules(rows), find_space_id(rows, within) or "")
            )
            return file, look_through(compose_text(file), rules, space_id)

        def embed(found: tuple[FileToAttach, ComposedText]) -> Future[AttachReply]:
            file, composed = found
            texts = [embedding_text(one, author=file.author or None) for one in composed.parts[:_EMBEDDED_AT_ONCE]]
            return chain_work(
                open_vault.search.embed_texts(texts), lambda meant: _store(open_vault, file, composed, meant, actor)
            )

        storage = open_vault.storage
        return chain_work(storage.run_on(storage.threads.reads, read), embed)

    def list_files(self, memory_id: str) -> Future[tuple[AttachedFile, ...]]:
        """The files of a memory, with those of its other parts and versions, oldest first; empty where it has none."""
        return self._read(lambda rows: list_files(rows, memory_id))

    def count_files(self, memory_ids: Sequence[str]) -> Future[Mapping[str, int]]:
        """How many files memories have, for the marks of a list; memories without any are left out."""
        return self._read(lambda rows: count_files(rows, memory_ids))

    def find_files(self, typed: str) -> Future[tuple[AttachedFile, ...]]:
        """What a person means by an id or the end of one: a file, or the files of a memory.

        Returns:
            One or more; the future raises NOT_FOUND, INVALID_INPUT where several end so.
        """
        return self._read(lambda rows: find_files(rows, typed))

    def read_info(self, file_id: str) -> Future[AttachedFile]:
        """One file; the future raises NOT_FOUND, also while its memory is sealed."""
        return self._read(lambda rows: read_file(rows, file_id))

    def read_thumbnail(self, file_id: str) -> Future[bytes | None]:
        """A small picture of a file, PNG of at most 256 pixels a side; None where there is none."""
        return self._read(lambda rows: read_thumbnail(rows, file_id))

    def read_views(self, file_id: str) -> Future[tuple[FileViewText, ...]]:
        """What was read out of a file, with its text and its pages; the future raises NOT_FOUND."""
        return self._read(lambda rows: read_views(rows, file_id))

    def list_regions(self, memory_id: str) -> Future[tuple[SourceRegion, ...]]:
        """The places in files that a memory's own text is from, in the order of the text; empty where it is of none."""
        return self._read(lambda rows: list_regions(rows, memory_id))

    def read_bytes(self, file_id: str) -> Future[bytes]:
        """The whole file as it was attached, for showing it.

        Returns:
            Its bytes; the future raises NOT_FOUND, ENCRYPTION_FAILED where what is stored was changed.
        """
        return self._read_whole(
            lambda rows: b"".join(read_content(rows, require_content(rows, stored_id_of(rows, file_id))))
        )

    def save_to(self, file_id: str, path: Path) -> Future[Path]:
        """Write a file where the person says; what exists there is not replaced.

        Args:
            path: the new file, or a folder, in which it gets the name it had.

        Returns:
            Where it was written. The future raises FILE_REFUSED where something has that name, NOT_FOUND, DISK_FULL,
            READ_ONLY, WRITE_FAILED, ENCRYPTION_FAILED.
        """
        home = self._open_vault().storage.home.path
        return self._read_whole(lambda rows: _save(rows, file_id, path, home))

    def _read(self, read: Callable[[Rows], T]) -> Future[T]:
        return self._open_vault().storage.read(read)

    def _read_whole(self, read: Callable[[Rows], T]) -> Future[T]:
        """As `_read`, for what takes as long as the file is large."""
        storage = self._open_vault().storage
        storage.activity.note_call()
        return storage.run_on(storage.threads.reads, lambda: storage.vault.read(read, deadline_s=None))


def _check_caption(caption: str) -> str:
    plain = caption.strip()
    if len(plain) > LONGEST_CAPTION or not is_plain_label(plain):
        raise UserError(Code.INVALID_INPUT, f"A caption has up to {LONGEST_CAPTION:,} characters of plain text.")
    return plain


def _read_to_attach(open_vault: OpenVault, path: Path, caption: str, space: str, session: str | None) -> FileToAttach:
    """Read a file and what is in it; nothing is written."""
    local = read_local_file(path, open_vault.options.file_limit_mb)
    found = read_file_text(local.name, local.data)
    said = [ReadText(ViewMethod.CAPTION, ((None, caption),))] if caption else []
    words = [] if found.method is None else [ReadText(found.method, found.pages, found.is_cut)]
    picture = found.picture
    return FileToAttach(
        name=local.name,
        content=seal_content(open_vault.storage.make_id(), local.data),
        media_type=found.media_type,
        read=(*said, *words),
        caption=caption,
        title=found.title,
        author=found.author,
        occurred=found.occurred,
        pages=found.page_count,
        width=None if picture is None else picture.width,
        height=None if picture is None else picture.height,
        thumbnail=None if picture is None else picture.thumbnail,
        notes=tuple(sorted(found.notes)),
        space=space,
        session=session,
    )


def _store(
    open_vault: OpenVault, file: FileToAttach, composed: ComposedText, embedded: Embedded, actor: Actor
) -> Future[AttachReply]:
    storage, search = open_vault.storage, open_vault.search

    def write(tx: Tx) -> AttachReply:
        vectors = embedded.vectors_in(search.active_space)
        writer = AttachmentWriter(storage.make_id, storage.work, search.space)
        with storage.verb(tx, actor, VERB) as verb:
            reply = writer.attach(tx, file, composed, vectors, actor, search.add_vectors)
            verb.set_outcome((reply.memory_id,))
        return reply

    def embed_others(reply: AttachReply) -> AttachReply:
        if not reply.deduplicated and len(composed.parts) > _EMBEDDED_AT_ONCE:
            embed_restored(storage, search)
        return reply

    return map_result(storage.write(write), embed_others)


def _save(rows: Rows, file_id: str, path: Path, home: Path) -> Path:
    name = read_file(rows, file_id).name
    target = path / _own_name(name) if path.is_dir() else path
    check_copy(target, home)
    return write_copy(target, read_content(rows, require_content(rows, stored_id_of(rows, file_id))))


def _own_name(name: str) -> str:
    """A name without anything that would lead elsewhere."""
    plain = name.replace("/", "_").replace("\\", "_").strip(". ")
    return plain or "file"
