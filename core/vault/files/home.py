"""The files of one home: their names, their modes, what kind of thing `vault.db` is, and the room set aside on disk.

A `.gitignore` keeps a vault out of somebody's repository. There is no CACHEDIR.TAG: it would keep the vault out of
somebody's backups. `reserve.bin` lets a vault be closed on a full disk, since checkpoints and deletions need a little
room themselves (B18 of the reliability study). `SubKeys` are the raw keys that the vault works with.

Must not do: open `vault.db` once a connection exists (see the room's words), write into files it did not make, follow
a symbolic link under the vault's name, derive a key (`core.security` does).
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from core.errors import BugError, Code, EnvironmentFaultError, IntegrityError, LociError, PreconditionError, UserError
from core.security.atomic import file_write_error

_SPARE_TIMES = 3
"""The reserve is made only where the disk has this many times its size left."""


class Reserve:
    """The reserve of one home."""

    def __init__(self, home: Home) -> None:
        """Name it; touches nothing."""
        self._path = home.reserve
        self._bytes = home.reserve_bytes

    def ensure_file(self) -> bool:
        """Make the reserve where it is missing and there is room.

        Returns:
            Whether it stands. Not having it is no fault: the disk may be small.
        """
        try:
            if self._path.lstat().st_size == self._bytes:
                return True
        except FileNotFoundError:
            pass
        except OSError:
            return False
        return self._make_file()

    def release_file(self) -> bool:
        """Give the room back.

        Returns:
            Whether there was anything to give.
        """
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

    def _make_file(self) -> bool:
        partial = self._path.with_name(self._path.name + ".partial")
        try:
            if shutil.disk_usage(self._path.parent).free < _SPARE_TIMES * self._bytes:
                return False
            partial.unlink(missing_ok=True)
            # Random bytes: a compressing file system would keep zeros in no room at all.
            new_file(partial, os.urandom(self._bytes))
            partial.replace(self._path)
        except OSError:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            return False
        return True


KEY_BYTES = 32


@dataclass(frozen=True)
class SubKeys:
    """Sub-keys of one vault, 32 bytes each; never shown.

    Attributes:
        db: the raw key of the database (`Purpose.VAULT`).
        head: signs `vault.head` (`Purpose.HEAD`).
        audit: chains the audit (`Purpose.AUDIT`).
    """

    db: bytes = field(repr=False)
    head: bytes = field(repr=False)
    audit: bytes = field(repr=False)

    def __post_init__(self) -> None:
        # SQLCipher takes a key of any other length for a passphrase and goes on without a word.
        if not len(self.db) == len(self.head) == len(self.audit) == KEY_BYTES:
            raise BugError("sub-key length")


PAGE_SIZE = 8192
"""Bytes of a page of the vault, its reserved tail included."""

RESERVE_BYTES = 8 * 1024 * 1024
"""What `reserve.bin` gives back on a full disk."""

_PLAINTEXT = b"SQLite format 3\0"
_GITIGNORE = b"*\n"
_OWN_NAMES = frozenset(
    {
        ".gitignore",
        "backups",
        "guesses.json",
        "key-events.json",
        "seal-guesses.json",
        "index.snap",
        "logs",
        "reserve.bin",
        "restore.next",
        "rotate.next",
        "run",
        "sync",
        "vault.db",
        "vault.head",
        "vault.keys",
        "vault.keys.bak",
        "vault.lock",
        "window.json",
        "window.json.broken",
        "wipe.next",
    }
)

_OWN_BEGINNINGS = ("vault.", "restore", "rotate", "reserve.", "index.")


class Home:
    """Where one vault lives.

    Attributes:
        path: the directory.
        vault: `vault.db`; `wal` and `shm` are SQLite's files beside it.
        keys: `vault.keys`.
        head: `vault.head`.
        guesses: `guesses.json`; there only after wrong secrets.
        seal_guesses: `seal-guesses.json`; the same for sealed memories.
        key_events: `key-events.json`; what happened to the keys and is not in the audit yet.
        snapshot: `index.snap`.
        lock: `vault.lock`.
        reserve: `reserve.bin`.
        backups: the directory of backups.
        logs: the directory of logs.
        restoring: holds a checked restore until it has taken its place.
        rotating: holds the checked vault under its new keys until it has taken its place.
        wiping: `wipe.next`; there while the home is wiped, and only what remains of it is to be removed.
        sync: bundles of changes on their way to the folder of the devices, and copies of files that were no such.
    """

    def __init__(self, path: Path, *, reserve_bytes: int = RESERVE_BYTES) -> None:
        """Name the files; touches nothing.

        Args:
            path: the directory, existing or not.
            reserve_bytes: size of `reserve.bin`.
        """
        self.path = path
        self.vault = path / "vault.db"
        self.wal = path / "vault.db-wal"
        self.shm = path / "vault.db-shm"
        self.keys = path / "vault.keys"
        self.head = path / "vault.head"
        self.guesses = path / "guesses.json"
        self.seal_guesses = path / "seal-guesses.json"
        self.key_events = path / "key-events.json"
        self.snapshot = path / "index.snap"
        self.lock = path / "vault.lock"
        self.reserve = path / "reserve.bin"
        self.backups = path / "backups"
        self.logs = path / "logs"
        self.restoring = path / "restore.next"
        self.rotating = path / "rotate.next"
        self.wiping = path / "wipe.next"
        self.sync = path / "sync"
        self.reserve_bytes = reserve_bytes

    @property
    def digest(self) -> str:
        """Tells this home from another one with a copy of the same vault; 16 hexadecimal digits."""
        return sha256(str(self.path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    @property
    def has_replacement(self) -> bool:
        """Whether a restore or a rotation of the keys was decided and has not taken its place yet."""
        return self.restoring.is_dir() or self.rotating.is_dir()

    def prepare_folders(self) -> None:
        """Make the directories with mode 0700, whatever the umask. Safe to call again.

        A home that holds nothing but Loci's own files is tightened to 0700; a directory with other
        things in it keeps its mode, they are not ours.

        Raises:
            UserError: INVALID_INPUT; something else has the home's name.
            EnvironmentFaultError: READ_ONLY or DISK_FULL.
        """
        try:
            self._make_folders()
        except FileExistsError:
            fault: LociError = PreconditionError("The home of the vault must be a directory.")
        except NotADirectoryError:
            fault = PreconditionError("The home of the vault must be a directory.")
        except OSError as error:
            fault = file_write_error(error)
        else:
            return
        raise fault

    def need_writable(self) -> None:
        """Refuse a home that cannot be written to.

        Raises:
            EnvironmentFaultError: READ_ONLY.
        """
        files = [self.path, *(one for one in (self.vault, self.wal, self.shm) if one.exists())]
        if not all(os.access(one, os.W_OK) for one in files):
            raise EnvironmentFaultError(
                Code.READ_ONLY, "The home of the vault is read-only; Loci needs to write there to open it."
            )

    def need_vault(self) -> None:
        """Refuse anything under the vault's name that cannot be one. Only before the first connection.

        Raises:
            UserError: NO_VAULT; there is neither a vault nor a key file.
            IntegrityError: VAULT_DAMAGED; with a sentence for each case.
            EnvironmentFaultError: ACCESS_DENIED.
        """
        try:
            found = os.lstat(self.vault)
        except FileNotFoundError:
            found = None
        except NotADirectoryError:
            found = None
        except PermissionError:
            raise _unreadable_home_error() from None
        if found is None:
            raise self._vault_missing()
        # A checkpoint that was stopped may leave half a page at the end; the log still has the whole one.
        has_log = self.wal.exists() and self.wal.stat().st_size > 0
        problem = _kind_problem(found, has_log=has_log) or _content_problem(self.vault)
        if problem:
            raise IntegrityError(Code.VAULT_DAMAGED, problem)

    def is_free(self) -> bool:
        """Whether nothing has the vault's name, be it a broken link."""
        return not os.path.lexists(self.vault)

    def _vault_missing(self) -> LociError:
        if os.path.lexists(self.keys):
            return IntegrityError(
                Code.VAULT_DAMAGED,
                "The vault's file is missing though its keys are here; put vault.db back or restore a backup.",
            )
        return UserError(Code.NO_VAULT, "There is no vault here yet; make one with `loci init`.")

    def _make_folders(self) -> None:
        is_new = not self.path.exists()
        if is_new:
            for parent in reversed(self.path.parents):
                with suppress(FileExistsError):
                    parent.mkdir(mode=0o700)
            self.path.mkdir(mode=0o700)
        if is_new or self._belongs_to_vault():
            self.path.chmod(0o700)
        for directory in (self.backups, self.logs):
            with suppress(FileExistsError):
                directory.mkdir(mode=0o700)
            directory.chmod(0o700)
        with suppress(FileExistsError):
            new_file(self.path / ".gitignore", _GITIGNORE)

    def _belongs_to_vault(self) -> bool:
        # The WAL and what else SQLite or Loci puts beside a file begins with that file's name.
        return all(
            entry.name in _OWN_NAMES
            or entry.name.lstrip(".").startswith(("vault.", "restore", "rotate", "reserve.", "index."))
            for entry in self.path.iterdir()
        )


def new_file(path: Path, content: bytes = b"") -> None:
    """Make a file that did not exist, with mode 0600 from its first moment.

    Raises:
        FileExistsError: something has that name, be it a broken link.
        OSError: the disk refused.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _kind_problem(found: os.stat_result, *, has_log: bool) -> str | None:
    mode = found.st_mode
    if stat.S_ISLNK(mode):
        return "vault.db is a symbolic link; Loci opens only the file itself. Put the file in its place."
    if stat.S_ISDIR(mode):
        return "vault.db is a directory, not a vault; restore a backup."
    if not stat.S_ISREG(mode):
        return "vault.db is not an ordinary file; restore a backup."
    if found.st_size == 0:
        return "vault.db is empty; restore a backup."
    if found.st_size % PAGE_SIZE and not has_log:
        return "vault.db is not a whole vault: it was cut or is another kind of file; restore a backup."
    return None


def _content_problem(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            first = file.read(len(_PLAINTEXT))
    except OSError:
        raise _unreadable_home_error() from None
    if first == _PLAINTEXT:
        return "vault.db is an unencrypted database, not a vault; restore a backup."
    return None


def _unreadable_home_error() -> EnvironmentFaultError:
    return EnvironmentFaultError(Code.ACCESS_DENIED, "The vault may not be read; check its permissions.")
