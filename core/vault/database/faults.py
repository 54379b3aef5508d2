"""What the database says, turned into Loci's errors.

Exceptions of sqlcipher3 never leave the room: their messages hold SQL, search text, values
and paths. Raise the translation *outside* the `except` block, so that it does not carry the
original along as its context. Must not do: decide what happens next.
"""

from __future__ import annotations

from sqlcipher3 import dbapi2

from core.errors import (
    BugError,
    CancelledError,
    Code,
    EnvironmentFaultError,
    IntegrityError,
    LociError,
    PreconditionError,
    UserError,
)

RAISED = (dbapi2.Error, dbapi2.Warning, UnicodeEncodeError, OverflowError)
"""Everything a statement with bound values can raise."""

_CIRCLES = frozenset({"that relation would close a circle", "that derivation would close a circle"})

# The words of the schema's own RAISE calls; they are constants of ours and hold no data.
_REFUSALS = frozenset(
    {
        "a claim cannot go from that state to this one",
        "a claim keeps its space",
        "a claim starts as draft",
        "a claim stays within one space or GLOBAL",
        "a conflict cannot move",
        "a conflict stays within one space or GLOBAL",
        "a derivation cannot move",
        "a derivation stays within one space or GLOBAL",
        "a memory keeps its id and the time it was recorded",
        "a memory with relations keeps its space",
        "a mention cannot move",
        "a mention stays within one space or GLOBAL",
        "a relation cannot move",
        "a relation stays within one space or GLOBAL",
        "an asserted claim keeps its last evidence",
        "an entity keeps its space or moves to GLOBAL",
        "evidence cannot move",
        "evidence stays within one space or GLOBAL",
        "memories are deleted by the purge verb only",
        "no claim is asserted without evidence",
        "one asserted exclusive claim per subject, predicate, scope and time",
        "the audit is append-only",
        "the state of the vault stays",
    }
)

_FULL = frozenset({"SQLITE_FULL"})
_BUSY = frozenset({"SQLITE_BUSY", "SQLITE_LOCKED"})
_DAMAGED = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB"})
_REFUSED_BY_SYSTEM = frozenset({"SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"})


def disk_full_error() -> EnvironmentFaultError:
    """The disk is full; the change was rolled back."""
    return EnvironmentFaultError(
        Code.DISK_FULL, "The disk is full and the last change was not saved; make room and try again."
    )


def vault_damaged_error() -> IntegrityError:
    """The vault's file does not read as it was written."""
    return IntegrityError(
        Code.VAULT_DAMAGED, "The vault is damaged: it cannot be read with its key; restore the latest backup."
    )


def read_only_error() -> EnvironmentFaultError:
    """The system does not let Loci write."""
    return EnvironmentFaultError(Code.READ_ONLY, "Loci may not write to its home; check the permissions and try again.")


def busy_error() -> EnvironmentFaultError:
    """Something else holds the vault for the moment."""
    return EnvironmentFaultError(Code.BUSY, "The vault is busy; try again in a moment.")


def vault_locked_error() -> EnvironmentFaultError:
    """The vault is being closed or is closed."""
    return EnvironmentFaultError(Code.VAULT_LOCKED, "The vault is locked; unlock it and try again.")


def translate_error(error: BaseException, stopped: LociError | None = None) -> LociError:
    """Turn what a statement raised into an error of Loci without its words.

    Args:
        error: one of `RAISED`.
        stopped: what to say when the statement was interrupted; None stands for cancelled.
    """
    if isinstance(error, UnicodeEncodeError):
        return UserError(Code.INVALID_INPUT, "The text holds broken characters (lone surrogates) and was not stored.")
    if not isinstance(error, dbapi2.Error):
        return BugError("vault value")
    if isinstance(error, dbapi2.IntegrityError):
        return _constraint_error(str(error))
    return _condition_error(error, stopped)


def _constraint_error(words: str) -> LociError:
    if words in _CIRCLES:
        return UserError(Code.CYCLE, f"{words.capitalize()}; nothing was changed.")
    if words in _REFUSALS:
        return PreconditionError(f"{words[0].upper()}{words[1:]}; nothing was changed.")
    if words.startswith("UNIQUE constraint failed"):
        return PreconditionError("The same thing is stored already; nothing was changed.")
    if words.startswith("FOREIGN KEY constraint failed"):
        return PreconditionError("That refers to something the vault does not hold; nothing was changed.")
    return BugError("vault constraint")


def _condition_error(error: dbapi2.Error, stopped: LociError | None) -> LociError:
    name = getattr(error, "sqlite_errorname", "")
    primary = "_".join(name.split("_")[:2])
    if primary == "SQLITE_INTERRUPT":
        return stopped or CancelledError()
    # RLIMIT and quotas come as an I/O error: the person sees one screen for both (B18).
    if primary in _FULL or primary == "SQLITE_IOERR":
        return disk_full_error()
    if primary in _DAMAGED:
        return vault_damaged_error()
    if primary in _BUSY:
        return busy_error()
    if primary in _REFUSED_BY_SYSTEM:
        return read_only_error()
    return _fault_from_words(error, primary)


def _fault_from_words(error: dbapi2.Error, primary: str) -> LociError:
    words = str(error)
    if primary == "SQLITE_CANTOPEN":
        return EnvironmentFaultError(Code.WRITE_FAILED, "The vault's file cannot be opened; check its permissions.")
    if primary == "SQLITE_ERROR" and words.startswith(("fts5: syntax error", "unterminated string")):
        return UserError(Code.INVALID_QUERY, "That search cannot be read.")
    if words.startswith("Cannot operate on a closed database"):
        return vault_locked_error()
    return BugError("vault statement")
