"""Is the vault whole? Every check answers ok, failed or not checked, with a note free of content.

The log is checkpointed first: SQLCipher's own check reads the file alone and would call
every vault damaged that was not closed (B10). Must not do: repair, stop a writer for longer
than one check takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.errors import Code, LociError
from core.vault.audit import AuditChain
from core.vault.bootstrap import Doubt
from core.vault.database.connections import cipher_problems
from core.vault.database.rows import Rows
from core.vault.files.home import SubKeys
from core.vault.head import read_head
from core.vault.vault import Vault


class CheckOutcome(StrEnum):
    """What one check found."""

    OK = "ok"
    FAILED = "failed"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True)
class Check:
    """One check's answer.

    Attributes:
        outcome: what it found.
        note: counts and code words; never content.
    """

    outcome: CheckOutcome
    note: str = ""


@dataclass(frozen=True)
class VerificationReport:
    """All answers.

    Attributes:
        checks: by name, in the order they were run.
        not_looked_at: code words of what none of them can tell.
    """

    checks: Mapping[str, Check]
    not_looked_at: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """`damaged` when one failed, else `not_checked` when one could not be run, else `ok`."""
        found = {check.outcome for check in self.checks.values()}
        if CheckOutcome.FAILED in found:
            return "damaged"
        return "not_checked" if CheckOutcome.NOT_CHECKED in found else "ok"

    def as_json(self) -> dict[str, object]:
        """The shape of `verify --json` (design section 8)."""
        checks = {name: {"status": check.outcome.value, "note": check.note} for name, check in self.checks.items()}
        more = {"not_looked_at": list(self.not_looked_at)} if self.not_looked_at else {}
        return {"status": self.status, "checks": checks, **more}


OK = Check(CheckOutcome.OK)

_DOUBTS = {Doubt.OLDER: "older than last seen", Doubt.HEAD_MISSING: "missing", Doubt.HEAD_DAMAGED: "damaged"}

# These say that the check could not be run, not that it failed.
_NOT_RUN = frozenset(
    {
        Code.ACCESS_DENIED,
        Code.BUSY,
        Code.CANCELLED,
        Code.DISK_FULL,
        Code.READ_ONLY,
        Code.SEARCH_TIMEOUT,
        Code.VAULT_LOCKED,
        Code.WRITE_FAILED,
    }
)

_WRONG_COUNTS = (
    ("one_state_row", "SELECT count(*) <> 1 FROM vault_state"),
    ("gate_open", "SELECT count(*) FROM vault_state WHERE purge_open <> 0"),
    (
        "evidence_counts",
        "SELECT count(*) FROM claims c WHERE evidence_count <> (SELECT count(*) FROM evidence WHERE claim_id = c.id)",
    ),
    (
        "claims_without_evidence",
        (
            "SELECT count(*) FROM claims c WHERE state = 'asserted'"
            " AND NOT EXISTS (SELECT 1 FROM evidence WHERE claim_id = c.id AND stance = 'supporting')"
        ),
    ),
    (
        "vectors_without_memory",
        "SELECT count(*) FROM embeddings WHERE owner = 'memory' AND n NOT IN (SELECT n FROM memories)",
    ),
)

# A memory's terms are in the index from its first transaction on, whatever its status; only what was
# deleted may have left it.
_WRONG_TERMS = (
    ("terms_without_memory", "SELECT count(*) FROM memory_fts_docsize WHERE id NOT IN (SELECT n FROM memories)"),
    (
        "memories_without_terms",
        "SELECT count(*) FROM memories WHERE status <> 'deleted' AND n NOT IN (SELECT id FROM memory_fts_docsize)",
    ),
)


def verify_vault(
    vault: Vault,
    keys: SubKeys,
    extra: Mapping[str, Callable[[], Check]] | None = None,
    progress: Callable[[str], None] | None = None,
    not_looked_at: Sequence[str] = (),
) -> VerificationReport:
    """Check an open vault. Takes seconds for each gigabyte; call it on a worker thread.

    Args:
        extra: checks of other rooms by name (`index` of the engine).
        progress: gets each check's name before it is run; what it raises ends the checking.
        not_looked_at: code words of what no check here can tell.

    Returns:
        All answers; nothing is raised for a damaged vault.
    """
    runs: dict[str, Callable[[], Check]] = {
        "journal": lambda: _check_journal(vault),
        "cipher": lambda: _check_cipher(vault),
        "integrity": lambda: vault.read(_check_integrity, deadline_s=None),
        "foreign_keys": lambda: vault.read(_foreign_keys, deadline_s=None),
        "search": lambda: vault.read(_check_search, deadline_s=None),
        "counts": lambda: vault.read(lambda rows: _none_of(rows, _WRONG_COUNTS), deadline_s=None),
        "audit": lambda: vault.read(lambda rows: _check_audit(rows, keys.audit), deadline_s=None),
        "head": lambda: _check_head(vault, keys.head),
        **(extra or {}),
    }
    checks: dict[str, Check] = {}
    for name, run in runs.items():
        if progress is not None:
            progress(name)
        checks[name] = _run_vault_check(run)
    return VerificationReport(checks, tuple(not_looked_at))


def _run_vault_check(run: Callable[[], Check]) -> Check:
    try:
        return run()
    except LociError as error:
        if error.code in _NOT_RUN:
            return Check(CheckOutcome.NOT_CHECKED, error.code.value)
        return Check(CheckOutcome.FAILED, error.code.value)


def _check_journal(vault: Vault) -> Check:
    if vault.info.lost_commits:
        return Check(CheckOutcome.FAILED, f"{vault.info.lost_commits} changes lost when the vault was opened")
    if vault.checkpoint_log():
        return OK
    return Check(CheckOutcome.NOT_CHECKED, "busy")


def _check_cipher(vault: Vault) -> Check:
    problems = vault.read(lambda rows: len(rows.all("PRAGMA cipher_integrity_check")), deadline_s=None)
    if problems:
        # The writer may have been moving its log into the file just then: look again with it kept out.
        vault.checkpoint_log()
        problems = vault.with_writer(cipher_problems)
    return Check(CheckOutcome.FAILED, f"{problems} pages") if problems else OK


def _look_anew(rows: Rows) -> None:
    """Open a cursor on the lexical index: its check alone does not notice that another connection merged segments.

    Without it the check compares what this connection remembers of the index with today's rows, and calls a sound
    vault damaged.
    """
    rows.all("SELECT rowid FROM memory_fts LIMIT 1")


def _check_integrity(rows: Rows) -> Check:
    _look_anew(rows)
    found = rows.all("PRAGMA integrity_check")
    return OK if found == [("ok",)] else Check(CheckOutcome.FAILED, f"{len(found)} problems")


def _foreign_keys(rows: Rows) -> Check:
    found = rows.all("PRAGMA foreign_key_check")
    return Check(CheckOutcome.FAILED, f"{len(found)} rows") if found else OK


def _check_search(rows: Rows) -> Check:
    _look_anew(rows)
    found = rows.all("PRAGMA integrity_check(memory_fts)")
    if found != [("ok",)]:
        return Check(CheckOutcome.FAILED, f"{len(found)} problems")
    return _none_of(rows, _WRONG_TERMS)


def _none_of(rows: Rows, wrongs: tuple[tuple[str, str], ...]) -> Check:
    found = [f"{name} {count}" for name, sql in wrongs if (count := rows.value(sql))]
    return Check(CheckOutcome.FAILED, ", ".join(found)) if found else OK


def _check_audit(rows: Rows, key: bytes) -> Check:
    found = AuditChain(key).verify_chain(rows)
    if found.is_whole:
        return Check(CheckOutcome.OK, f"{found.rows} rows")
    return Check(CheckOutcome.FAILED, f"row {found.broken_at} does not fit")


def _check_head(vault: Vault, key: bytes) -> Check:
    if vault.older is not None:
        return Check(CheckOutcome.FAILED, _DOUBTS[vault.older.doubt])
    found = read_head(vault.home.head, key, vault.vault_id)
    if found.head is None:  # only just: the checkpoint before this check notes it
        return Check(CheckOutcome.FAILED if found.state == "damaged" else CheckOutcome.NOT_CHECKED, found.state)
    if found.head.seq > vault.seq:
        return Check(CheckOutcome.FAILED, "older than last seen")
    return OK
