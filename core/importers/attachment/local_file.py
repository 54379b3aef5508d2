"""The bytes of one file on this machine, read whole and once: an ordinary file, within a limit.

Must not do: follow a link, wait for a pipe, or say more of a path than its last component.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import Code, UserError
from core.importers.input.files import UNREADABLE, clean_name, inspect_file, printable_name

MB = 1_000_000
_LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file as it was read.

    Attributes:
        name: the last component of its path, as it can be stored.
        data: all of it; not empty.
    """

    name: str
    data: bytes = field(repr=False)


def read_local_file(path: Path, most_mb: int) -> LocalFile:
    """Read a file.

    Args:
        path: where it is.
        most_mb: how many megabytes it may have.

    Raises:
        UserError: NOT_FOUND; FILE_REFUSED for what is no ordinary file, is empty or cannot be read; FILE_TOO_LARGE;
            IMPORT_CHANGED where it changes while it is read.
    """
    name = printable_name(path.name or str(path))
    if not _is_there(path):
        raise UserError(Code.NOT_FOUND, f"There is no file “{name}”.")
    found = inspect_file(path)
    if found is None:
        raise _refused_error(name, "is a folder; attach the files in it, or import it")
    if isinstance(found, str):
        why = "cannot be read" if found == UNREADABLE else "is a link, a pipe or a device; attach the file itself"
        raise _refused_error(name, why)
    if not found.size:
        raise _refused_error(name, "is empty")
    if found.size > most_mb * MB:
        raise UserError(
            Code.FILE_TOO_LARGE,
            f"“{name}” has {-(-found.size // MB):,} MB and an attached file may have {most_mb:,} MB; attach a smaller "
            "one, or allow larger ones in the settings.",
        )
    try:
        with closing(found.open_bounded()) as stream:
            data = stream.read()
    except UserError as error:
        fault = error
    else:
        return LocalFile(_storable_name(path.name), data)
    if fault.code is Code.IMPORT_REFUSED:
        fault = _refused_error(name, "cannot be read")
    elif fault.code is Code.IMPORT_CHANGED:
        fault = UserError(Code.IMPORT_CHANGED, f"“{name}” changed while it was read; try again.")
    raise fault


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def _storable_name(name: str) -> str:
    return clean_name(name).replace("\0", "\ufffd")[:_LONGEST_NAME] or "file"


def _refused_error(name: str, trouble: str) -> UserError:
    return UserError(Code.FILE_REFUSED, f"“{name}” {trouble}. Nothing was attached.")
