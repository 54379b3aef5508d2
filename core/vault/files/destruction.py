"""The end of a home: its keys are overwritten, then every file that Loci made there is removed.

A note (`wipe.next`) is written first and decides: from then on the vault opens no more, and a wipe that was killed is
finished at the next start. What Loci did not make stays and is named; of a symbolic link only the link goes. Loads
nothing of the database. Must not do: follow a link, touch anything outside the home, decide that a vault shall go.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from core.security.atomic import sync_directory, write_atomic
from core.security.keys import VAULT_ID_BYTES
from core.vault.files.home import Home

_PART = 1024 * 1024
_BACKUP_KEYS_END = 256 * 1024
"""In a backup the key file stands behind a manifest, both of at most 64 KiB (`core.vault.backup`)."""
_MOST_NOTE = 4096

_VAULT = r"vault\.(db(-wal|-shm|-journal)?|keys(\.bak)?|head|lock)(\.before-(restore|rotation)(-wal|-shm)?)?"
_REST = (
    r"index\.snap|reserve\.bin(\.partial)?|((seal-)?guesses|key-events)\.json|window\.json(\.broken)?|wipe\.next|"
    r"(restore|rotate)\.next|\.(restore|rotate)-[a-z0-9_]{8}|backups|logs|run|sync"
)
_OWN = re.compile(rf"{_VAULT}|{_REST}|\.({_VAULT}|{_REST})\.[a-z0-9_]{{8}}\.partial")
_BACKUP = re.compile(
    r"loci-\d{8}-\d{6}-\d+\.tar(\.partial)?|vault-v\d+-\d+\.db(-wal|-shm|-journal|\.partial)?|\.work-[a-z0-9_]{8}|"
    r"(journal-damaged\.bin|\.journal-damaged\.bin\.[a-z0-9_]{8})(\.partial)?"
)
_LOG = re.compile(r"loci\.log(\.\d+)?")
_BUNDLE = re.compile(r"\.?[0-9a-f]{16}-\d{8,16}\.loci-bundle(\.[a-z0-9_]{8})?(\.partial)?|quarantine")
_IGNORE, _IGNORED = ".gitignore", b"*\n"
_BACKUP_MAGIC, _BACKUP_MARK, _MANIFEST_END = b"manifest.json\0", b'"vault_id"', 65_536


class WipeStep(StrEnum):
    """What a wipe is doing, in its order."""

    MARK = "mark"
    KEYS = "keys"
    FILES = "files"
    HOME = "home"


@dataclass(frozen=True, slots=True)
class WipeNote:
    """What a wipe needs to know when the keys are gone.

    Attributes:
        vault_id: whose wipe it is; 16 bytes.
        backend: of the keyring that has an entry for the vault; "" for none.
    """

    vault_id: bytes
    backend: str = ""

    def to_bytes(self) -> bytes:
        """As the file holds it."""
        return json.dumps({"v": 1, "vault": self.vault_id.hex(), "backend": self.backend}).encode("ascii")


@dataclass(frozen=True, slots=True)
class HomeContents:
    """What lies in a home.

    Attributes:
        own: files and links that Loci made, without folders; of `links` the targets lie somewhere else.
        folders: those that Loci made, the deepest first.
        foreign: relative names of everything else.
        size: bytes of the files.
    """

    own: tuple[Path, ...]
    folders: tuple[Path, ...]
    foreign: tuple[str, ...]
    size: int

    @property
    def links(self) -> tuple[Path, ...]:
        """Links under the names of Loci's files."""
        return tuple(path for path in self.own if path.is_symlink())


@dataclass(slots=True)
class Destruction:
    """What was done, also by a wipe that could not remove all of it.

    Attributes:
        removed: files; `size` is their bytes.
        overwritten: files with key slots whose slots were overwritten.
        left: relative names of what could not be removed.
        kept: relative names of what Loci did not make.
        links: relative names of links that went; what they lead to stays.
        is_home_gone: whether the folder itself is removed.
    """

    removed: int = 0
    size: int = 0
    overwritten: int = 0
    left: list[str] = field(default_factory=list)
    kept: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    is_home_gone: bool = False


ReportWipe = Callable[[WipeStep], None]


def read_wipe_note(home: Home) -> WipeNote | None:
    """The note of a wipe that was begun; None where there is none, or nothing that this module wrote."""
    try:
        with _open_plain(home.wiping, os.O_RDONLY) as file:
            body = json.loads(file.read(_MOST_NOTE))
        vault_id, backend = bytes.fromhex(body["vault"]), body["backend"]
    except (OSError, ValueError, RecursionError, TypeError, KeyError):
        return None
    return WipeNote(vault_id, str(backend)) if body["v"] == 1 and len(vault_id) == VAULT_ID_BYTES else None


def survey_home(home: Home) -> HomeContents:
    """Tell Loci's own files from others; opens none but what has the name of a backup or of `.gitignore`.

    Raises:
        OSError: the home cannot be read.
    """
    own: list[Path] = []
    folders: list[Path] = []
    foreign: list[str] = []
    for entry in sorted(os.scandir(home.path), key=lambda one: one.name):
        path = Path(entry.path)
        if not (_OWN.fullmatch(entry.name) or _is_own_ignore(path)):
            foreign.append(entry.name)
        elif entry.is_dir(follow_symlinks=False):
            _survey_folder(home, path, own, folders, foreign)
        else:
            own.append(path)
    return HomeContents(tuple(own), tuple(folders), tuple(foreign), sum(map(_size_of, own)))


def _survey_folder(home: Home, folder: Path, own: list[Path], folders: list[Path], foreign: list[str]) -> None:
    """A folder of the home: where others may put things too, only what has the names that Loci gives."""
    checks = {
        home.backups: _is_own_backup,
        home.logs: _is_own_log,
        home.sync: _is_bundle,
        home.path / "run": _is_socket,
    }
    is_own = checks.get(folder)
    before = len(foreign)
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        path = Path(entry.path)
        if is_own is not None and not is_own(path):
            foreign.append(str(path.relative_to(home.path)))
        elif entry.is_dir(follow_symlinks=False):
            _survey_folder(home, path, own, folders, foreign)
        else:
            own.append(path)
    if len(foreign) == before:
        folders.append(folder)


def _is_own_backup(path: Path) -> bool:
    """Whether it is a copy of a vault: one that the person gave a name of its own begins as all do."""
    if _BACKUP.fullmatch(path.name) is not None:
        return True
    with suppress(OSError), _open_plain(path, os.O_RDONLY) as file:
        head = file.read(_MANIFEST_END)
        return head.startswith(_BACKUP_MAGIC) and _BACKUP_MARK in head
    return False


def _is_bundle(path: Path) -> bool:
    return _BUNDLE.fullmatch(path.name) is not None


def _is_socket(path: Path) -> bool:
    with suppress(OSError):
        return stat.S_ISSOCK(path.lstat().st_mode)
    return False


def _is_own_log(path: Path) -> bool:
    return _LOG.fullmatch(path.name) is not None


def _is_own_ignore(path: Path) -> bool:
    if path.name == _IGNORE:
        with suppress(OSError), _open_plain(path, os.O_RDONLY) as file:
            return file.read(len(_IGNORED) + 1) == _IGNORED
    return False


def mark_home(home: Home, note: WipeNote) -> None:
    """Decide: from here on the vault opens no more.

    Args:
        home: the caller holds its lock, and its vault is closed.

    Raises:
        EnvironmentFaultError: READ_ONLY, DISK_FULL or WRITE_FAILED; the vault is as it was.
    """
    home.need_writable()
    with suppress(OSError):
        home.reserve.unlink()  # the note needs room on a full disk
    write_atomic(home.wiping, note.to_bytes())


def destroy_home(home: Home, report: ReportWipe = lambda _: None, *, is_served: bool = False) -> Destruction:
    """Overwrite the keys of a marked home and remove all that Loci made in it; killed anywhere, calling it goes on.

    Args:
        home: the caller holds its lock.
        report: told each step before it.
        is_served: whether this process listens at sockets in the home; they and the folder stay for `tidy_home`.

    Returns:
        What was done. Where something could not be removed, the note stays, and the next start tries again.

    Raises:
        OSError: the home cannot be read.
    """
    done, found = Destruction(), survey_home(home)
    done.links = tuple(str(path.relative_to(home.path)) for path in found.links)
    report(WipeStep.KEYS)
    _destroy_keys(home, found, done)
    report(WipeStep.FILES)
    run = home.path / "run"
    last = {home.wiping, home.lock, home.path / _IGNORE}
    for path in found.own:
        if path not in last and not (is_served and path.parent == run):
            _remove_file(home, path, done)
    for folder in found.folders:
        if not (is_served and folder == run):
            _remove_folder(home, folder, done)
    report(WipeStep.HOME)
    done.kept = found.foreign
    if not done.left:
        _remove_last(home, done)
    return done


def tidy_home(home: Home) -> bool:
    """Remove the folders of a home that was wiped, where nothing is left in them.

    Returns:
        Whether the home is gone.
    """
    with suppress(OSError):
        (home.path / "run").rmdir()
    try:
        home.path.rmdir()
    except OSError:
        return not home.path.exists()
    with suppress(OSError):
        sync_directory(home.path.parent)
    return True


def _destroy_keys(home: Home, found: HomeContents, done: Destruction) -> None:
    """Overwrite every key slot on the disk, those in backups too, before anything else goes."""
    for path in found.own:
        is_key_file = "vault.keys" in path.name
        is_copy = path.suffix in (".tar", ".partial") or (path.parent == home.backups and _is_own_backup(path))
        if not (is_key_file or is_copy):
            continue
        with suppress(OSError):
            done.overwritten += _overwrite_file(path, None if is_key_file else _BACKUP_KEYS_END)
        if is_key_file:
            _remove_file(home, path, done)
    with suppress(OSError):
        sync_directory(home.path)


def _overwrite_file(path: Path, most: int | None) -> bool:
    """Write random bytes over the beginning of a file.

    Args:
        most: bytes; None for the whole file.

    Returns:
        False for what is no ordinary file, and where a second name holds the same content: that is not Loci's.
    """
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        return False
    if not found.st_mode & stat.S_IWUSR:
        path.chmod(0o600)
    with _open_plain(path, os.O_RDWR) as file:
        left = found.st_size if most is None else min(most, found.st_size)
        while left > 0:
            left -= file.write(os.urandom(min(_PART, left)))
        file.flush()
        os.fsync(file.fileno())
    return True


def _remove_file(home: Home, path: Path, done: Destruction) -> None:
    size = _size_of(path)
    try:
        path.unlink()
    except FileNotFoundError:
        return
    except OSError:
        done.left.append(str(path.relative_to(home.path)))
        return
    done.removed += 1
    done.size += size


def _remove_folder(home: Home, folder: Path, done: Destruction) -> None:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return
    except OSError:
        done.left.append(str(folder.relative_to(home.path)))


def _remove_last(home: Home, done: Destruction) -> None:
    """The note, and with it the wipe; then the lock, which nobody else can hold, and the folder where it is empty."""
    with suppress(OSError):
        sync_directory(home.path)
    for path in (home.path / _IGNORE, home.wiping, home.lock):
        if path.name != _IGNORE or _is_own_ignore(path):
            _remove_file(home, path, done)
    with suppress(OSError):
        sync_directory(home.path)
    done.is_home_gone = tidy_home(home)


@contextmanager
def _open_plain(path: Path, flags: int) -> Iterator[BinaryIO]:
    """Open an ordinary file, never through a link.

    Raises:
        OSError: it is something else, or the system refused.
    """
    more = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | more | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(descriptor, "rb" if flags == os.O_RDONLY else "r+b") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError
        yield file


def _size_of(path: Path) -> int:
    with suppress(OSError):
        found = path.lstat()
        return found.st_size if stat.S_ISREG(found.st_mode) else 0
    return 0
