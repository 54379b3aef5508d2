"""The facade's group for files of memories: attach one, list them, show what was read out of them, save one again.

All of it is the owner's: a client is never given a file, and never names a path. A file is read once, whole, within the
size that the options allow; what is stored is what was read. Must not do: keep a path, follow a link, or open what is in
a file with another program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from core.types.files.attached import AttachedFile, AttachReply, FileViewText, SourceRegion

if TYPE_CHECKING:
    from core.engine.runtime.open_vault import OpenVault
    from core.types.values import Actor


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
            The memory and its file. The future raises NOT_FOUND where no file is there, INVALID_INPUT for what is no
            ordinary file or is empty, TEXT_TOO_LARGE for one that is larger than the options allow, DISK_FULL.

        Raises:
            UserError: VAULT_LOCKED; ACCESS_DENIED for anybody but the owner.
        """
        raise NotImplementedError

    def list_files(self, memory_id: str) -> Future[tuple[AttachedFile, ...]]:
        """The files of a memory, with those of its other parts and versions, oldest first; empty where it has none."""
        raise NotImplementedError

    def count_files(self, memory_ids: Sequence[str]) -> Future[Mapping[str, int]]:
        """How many files memories have, for the marks of a list; memories without any are left out."""
        raise NotImplementedError

    def read_info(self, file_id: str) -> Future[AttachedFile]:
        """One file; the future raises NOT_FOUND, also while its memory is sealed."""
        raise NotImplementedError

    def read_thumbnail(self, file_id: str) -> Future[bytes | None]:
        """A small picture of a file, PNG of at most 256 pixels a side; None where there is none."""
        raise NotImplementedError

    def read_views(self, file_id: str) -> Future[tuple[FileViewText, ...]]:
        """What was read out of a file, with its text and its pages; the future raises NOT_FOUND."""
        raise NotImplementedError

    def list_regions(self, memory_id: str) -> Future[tuple[SourceRegion, ...]]:
        """The places in files that a memory's own text is from, in the order of the text; empty where it is of none."""
        raise NotImplementedError

    def read_bytes(self, file_id: str) -> Future[bytes]:
        """The whole file as it was attached, for showing it.

        Returns:
            Its bytes; the future raises NOT_FOUND, ENCRYPTION_FAILED where what is stored was changed.
        """
        raise NotImplementedError

    def save_to(self, file_id: str, path: Path) -> Future[Path]:
        """Write a file where the person says; what exists there is not replaced.

        Returns:
            Where it was written. The future raises INVALID_INPUT where something has that name, NOT_FOUND,
            DISK_FULL, READ_ONLY, WRITE_FAILED, ENCRYPTION_FAILED.
        """
        raise NotImplementedError

    # The sealed tier: while a memory is sealed its file is in no list; `SealedMemories.unseal` brings both back.
