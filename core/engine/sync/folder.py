"""The folder of the devices: which bundles lie in it, in what state, and putting new ones there.

Any program may copy, rename, double or cut files in it. So a bundle is known by what it says, not by its name, and
nothing is believed before its signature was checked. Files of others are never moved or removed: what is no good is
copied beside the vault and told. Must not do: open a bundle's content, follow a symbolic link.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from core.archive.bundle import (
    BundleFault,
    BundleFaultError,
    BundleHeader,
    CheckedBundle,
    check_bundle,
    read_bundle_header,
)
from core.errors import Code, EnvironmentFaultError, LociError
from core.security.atomic import clear_partial_files, file_write_error, sync_directory
from core.types.clock import Clock

SUFFIX = ".loci-bundle"
_OWN_NAME = re.compile(r"(?P<device>[0-9a-f]{16})-(?P<number>\d{8,16})\.loci-bundle", re.ASCII)
_MARK = "loci-bundle"
_MOST_KEPT = 64 * 1024 * 1024
"""A file that is no bundle is copied into quarantine up to this size."""
_MOST_COPIES = 100
_PART = 1 << 20
_TICK_MS = 2_000
"""The coarsest tick of a file's time: that of a stick with FAT."""
_MOST_CHECKS = 10_000


def bundle_name(device: str, number: int) -> str:
    """The name that a device gives a bundle."""
    return f"{device}-{number:08d}{SUFFIX}"


@dataclass(frozen=True, slots=True)
class FoundBundle:
    """A file of the folder whose header could be read; nothing of it is believed yet."""

    path: Path
    header: BundleHeader


@dataclass(frozen=True, slots=True)
class FoundFault:
    """A file of the folder that cannot be used.

    Attributes:
        kind: a key of `sync.problem` in `resources/help/commandline.json`.
    """

    path: Path
    kind: str


class SyncFolder:
    """One folder."""

    def __init__(self, path: Path) -> None:
        """Name it; touches nothing."""
        self.path = path

    @property
    def is_there(self) -> bool:
        """Whether it is there now."""
        try:
            return self.path.is_dir()
        except OSError:
            return False

    def require(self) -> None:
        """Refuse to go on without it.

        Raises:
            EnvironmentFaultError: SYNC_FOLDER_GONE.
        """
        if not self.is_there:
            raise gone_error()

    def read_bundles(self, taken: dict[str, int]) -> tuple[list[FoundBundle], list[FoundFault]]:
        """Every bundle that may be of use, and every file that looks like one and is none.

        Args:
            taken: of each device the number of the bundle that was taken last; those before it are passed over.

        Raises:
            EnvironmentFaultError: SYNC_FOLDER_GONE.
        """
        found: list[FoundBundle] = []
        faults: list[FoundFault] = []
        for path in self._list_files():
            named = _OWN_NAME.fullmatch(path.name)
            if named is not None and int(named["number"]) < taken.get(named["device"], 0):
                continue
            try:
                with open_plain(path) as file:
                    header = read_bundle_header(file)
            except BundleFaultError as error:
                faults.append(FoundFault(path, error.fault.value))
            except OSError:
                faults.append(FoundFault(path, "unreadable"))
            else:
                found.append(FoundBundle(path, header))
        return found, faults

    def _list_files(self) -> Iterator[Path]:
        try:
            names = sorted(
                entry.name
                for entry in os.scandir(self.path)
                if _MARK in entry.name and not entry.name.startswith(".") and not entry.is_symlink()
            )
        except OSError:
            raise gone_error() from None
        for name in names:
            path = self.path / name
            if _is_plain(path):
                yield path

    def publish(self, source: Path) -> None:
        """Put a file that was written elsewhere into the folder, whole or not at all.

        Raises:
            EnvironmentFaultError: SYNC_FOLDER_GONE, DISK_FULL, READ_ONLY, WRITE_FAILED; the source stays.
        """
        self.require()
        target = self.path / source.name
        partial = self.path / f".{source.name}.partial"
        failed: OSError | None = None
        try:
            with source.open("rb") as given, partial.open("wb") as file:
                shutil.copyfileobj(given, file, _PART)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
            sync_directory(self.path)
        except OSError as error:
            failed = error
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        if failed is not None:
            raise _folder_error(failed)

    def own_numbers(self, device: str) -> list[int]:
        """The numbers of a device's bundles that lie here under the name it gave them."""
        with suppress(OSError):
            found = [_OWN_NAME.fullmatch(path.name) for path in self.path.iterdir()]
            return sorted(int(one["number"]) for one in found if one is not None and one["device"] == device)
        return []

    def remove_own(self, device: str, number: int) -> bool:
        """Remove a bundle of this device that every device has taken."""
        try:
            (self.path / bundle_name(device, number)).unlink()
        except OSError:
            return False
        return True


@contextmanager
def open_plain(path: Path) -> Iterator[BinaryIO]:
    """Open a file of the folder for reading, unless it is anything but a file.

    Raises:
        OSError: it is no plain file, or cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError
        yield file


def _is_plain(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def check_file(path: Path) -> CheckedBundle:
    """Read a whole bundle without opening it.

    Raises:
        BundleFaultError: DAMAGED or NEWER.
        OSError: it cannot be read.
    """
    with open_plain(path) as file:
        return check_bundle(file)


@dataclass(frozen=True, slots=True)
class _FileStamp:
    """What changes when a file is written to or another takes its place; the time of its row cannot be set by hand."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


class FileChecks:
    """What the files of the folder were found to be, each for as long as it stays as it was.

    So a file of gigabytes that is no good, or not in its turn, is read once and not in every round.
    """

    def __init__(self, clock: Clock) -> None:
        """Know nothing yet.

        Args:
            clock: tells which files were written to a moment ago.
        """
        self._clock = clock
        self._found: dict[Path, tuple[_FileStamp, CheckedBundle | BundleFault]] = {}
        self._refused: dict[Path, BundleFault] = {}

    def check(self, path: Path) -> CheckedBundle:
        """`check_file`, unless the file is as it was when it was checked last.

        Raises:
            BundleFaultError: DAMAGED or NEWER; or what `refuse` was told.
            OSError: it cannot be read.
        """
        with open_plain(path) as file:
            stamp = _stamp_of(file)
            known = self._found.get(path)
            if known is not None and known[0] == stamp:
                found = self._refused.get(path, known[1])
            else:
                found = _check_open(file)
                self._keep(path, stamp, _stamp_of(file), found)
        if isinstance(found, BundleFault):
            raise BundleFaultError(found)
        return found

    def refuse(self, path: Path, fault: BundleFault) -> None:
        """Note what was found behind the signature of a file that was checked."""
        self._refused[path] = fault

    def forget_refused(self) -> None:
        """Another bundle was taken: what made no sense without it may make sense now."""
        self._refused.clear()

    def _keep(self, path: Path, before: _FileStamp, after: _FileStamp, found: CheckedBundle | BundleFault) -> None:
        # A file that was written to a moment ago may be written to again within one tick of its time.
        is_settled = abs(self._clock.now_ms() - after.modified_ns // 1_000_000) >= _TICK_MS
        self._found.pop(path, None)
        self._refused.pop(path, None)
        if before == after and is_settled:
            if len(self._found) >= _MOST_CHECKS:
                self._found.clear()
            self._found[path] = (after, found)


def _check_open(file: BinaryIO) -> CheckedBundle | BundleFault:
    try:
        return check_bundle(file)
    except BundleFaultError as error:
        return error.fault


def _stamp_of(file: BinaryIO) -> _FileStamp:
    found = os.fstat(file.fileno())
    return _FileStamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def keep_copy(path: Path, to: Path) -> bool:
    """Keep a copy of a file that was no bundle, for whoever wants to know what it was.

    Args:
        to: the folder of such copies.

    Returns:
        Whether there is a copy now; a file that is too large is told only.
    """
    try:
        size = path.lstat().st_size
        target = to / path.name
        if size > _MOST_KEPT:
            return False
        if target.exists() and target.stat().st_size == size:
            return True
        to.mkdir(mode=0o700, parents=True, exist_ok=True)
        if sum(1 for _ in to.iterdir()) >= _MOST_COPIES:
            return False
        clear_partial_files(target)
        with open_plain(path) as given, _private_file(target) as file:
            shutil.copyfileobj(given, file, _PART)
    except (OSError, LociError):
        return False
    return True


@contextmanager
def _private_file(path: Path) -> Iterator[BinaryIO]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file


def gone_error() -> LociError:
    """The folder is not there."""
    return EnvironmentFaultError(
        Code.SYNC_FOLDER_GONE,
        "The folder of your devices is not there; connect it, or name another with `loci sync now --folder`.",
    )


def _folder_error(error: OSError) -> LociError:
    made = file_write_error(error)
    if made.code is Code.DISK_FULL:
        return EnvironmentFaultError(
            Code.DISK_FULL, "The folder of your devices is full; nothing is lost, make room there and try again."
        )
    return EnvironmentFaultError(
        made.code, "A bundle could not be put into the folder of your devices; nothing is lost, try again later."
    )
