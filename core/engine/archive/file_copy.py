"""A copy of an attached file where the person says: whole or not at all, and never over something that is there.

Must not do: know where the bytes are from, or write into Loci's own folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from core.engine.archive.export import open_export
from core.engine.export.formats import check_destination
from core.errors import Code, UserError


def check_copy(to: Path, home: Path) -> None:
    """Refuse a place for a copy of a file.

    Args:
        home: of the vault.

    Raises:
        UserError: INVALID_INPUT within Loci's own folder; FILE_REFUSED where something has that name.
    """
    check_destination(to, home)
    if os.path.lexists(to):
        raise UserError(
            Code.FILE_REFUSED, "Something has that name already, and was left as it is; choose another name."
        )


def write_copy(to: Path, pieces: Iterable[bytes]) -> Path:
    """Write a copy, readable by this person alone.

    Args:
        to: as `check_copy` lets it pass.

    Returns:
        Where it is.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY, WRITE_FAILED.
    """
    with open_export(to) as file:
        for piece in pieces:
            file.write(piece)
    return to
