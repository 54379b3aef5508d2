"""The second half of a wipe, which needs no vault any more: keyring, keys and files go, and what was done is told.

It is what a start finds to do where a wipe was interrupted. Must not do: begin one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from core.config.wipe_wording import report_lines
from core.errors import BugError, LociError
from core.security.atomic import file_write_error, write_atomic
from core.security.keyring_client import Keyring, KeyringCause, KeyringFaultError
from core.types.clock import Clock, SystemClock
from core.types.files.wipe import WipeReport
from core.vault.files.destruction import Destruction, ReportWipe, WipeNote, destroy_home, read_wipe_note
from core.vault.files.home import Home


def resume_wipe(home: Home, keyring: Keyring, read_vault_id: Callable[[], bytes]) -> WipeReport | None:
    """Finish a wipe that was interrupted; a note that speaks of another vault than the one that is here is removed.

    Args:
        home: the caller holds its lock.
        keyring: the system's.
        read_vault_id: tells whose keys are here; raises where there are none.

    Returns:
        What was done; None where there was nothing to finish.

    Raises:
        EnvironmentFaultError: READ_ONLY or WRITE_FAILED; call it again later.
    """
    note = read_wipe_note(home)
    if note is None or _has_other_vault(note, read_vault_id):
        with suppress(OSError):
            home.wiping.unlink()
        return None
    return finish_wipe(home, keyring, SystemClock())


def _has_other_vault(note: WipeNote, read_vault_id: Callable[[], bytes]) -> bool:
    """Whether whole keys of another vault are here: somebody put it there since, and it is not to go."""
    try:
        return read_vault_id() != note.vault_id
    except LociError:
        return False


def finish_wipe(
    home: Home, keyring: Keyring, clock: Clock, report: ReportWipe = lambda _: None, *, is_served: bool = False
) -> WipeReport:
    """Carry out a wipe that was decided.

    Args:
        home: it is marked, and the caller holds its lock.
        keyring: the system's.
        report: told each step before it.
        is_served: as for `destroy_home`.

    Raises:
        EnvironmentFaultError: READ_ONLY or WRITE_FAILED; call it again later.
    """
    note = read_wipe_note(home)
    if note is None:
        raise BugError("a wipe without its note")
    is_clear = _clear_keyring(home, keyring, note)
    try:
        done = destroy_home(home, report, is_served=is_served)
    except OSError as error:
        fault = file_write_error(error)
    else:
        return _make_report(home, clock, done, is_clear)
    raise fault


def _clear_keyring(home: Home, keyring: Keyring, note: WipeNote) -> bool | None:
    """Remove the vault's entries; None where it had none. The counter is no secret, and may never have been kept."""
    if not note.backend:
        return None
    with suppress(KeyringFaultError):
        keyring.remove_counter(note.vault_id, home.digest, note.backend)
    try:
        keyring.remove(note.vault_id, note.backend)
    except KeyringFaultError as error:
        return error.cause is KeyringCause.MISSING
    return True


def _make_report(home: Home, clock: Clock, done: Destruction, is_clear: bool | None) -> WipeReport:
    return WipeReport(
        home=str(home.path),
        at=clock.now_ms(),
        preview=None,
        removed=done.removed,
        size=done.size,
        overwritten=done.overwritten,
        kept=printable_names(done.kept),
        links=printable_names(done.links),
        left=printable_names(done.left),
        is_home_gone=done.is_home_gone,
        is_keyring_clear=is_clear,
    )


def write_wipe_report(report: WipeReport, to: Path) -> None:
    """Write a report to a file that only this person may read.

    Args:
        to: the file; one that is there is replaced.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY, WRITE_FAILED.
    """
    write_atomic(to, ("\n".join(report_lines(report)) + "\n").encode("utf-8"))


def printable_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names and paths that cannot steer a terminal."""
    return tuple("".join(sign if sign.isprintable() else "?" for sign in name) for name in names)
