"""Every way Loci says no: four families, one code each, one sentence each.

No message here or made here may hold memory text, a query, a secret or a path
below the home. Codes are E34.11 of the Engram plan and their additions.
"""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """Error codes; the text is stable, tests and clients rely on it."""

    VAULT_LOCKED = "E1001"
    VAULT_DAMAGED = "E1002"
    DISK_FULL = "E1003"
    MIGRATION_FAILED = "E1004"
    WRITE_FAILED = "E1005"
    WRONG_SECRET = "E1006"  # noqa: S105 - a code, not a secret
    KEY_FILE_DAMAGED = "E1007"
    NEWER_VERSION = "E1008"
    VAULT_BUSY = "E1009"
    NO_VAULT = "E1010"
    VAULT_EXISTS = "E1011"
    KEYRING_UNAVAILABLE = "E1012"
    READ_ONLY = "E1013"
    BACKUP_INVALID = "E1014"
    VAULT_REPLACED = "E1015"
    OLDER_VAULT = "E1016"
    TOO_MANY_GUESSES = "E1017"
    OLDER_SCHEMA = "E1018"
    SEALED = "E1019"
    SEARCH_TIMEOUT = "E2001"
    NO_INDEX = "E2002"
    RATE_LIMITED = "E2003"
    INVALID_QUERY = "E2004"
    NOT_FOUND = "E2005"
    EMBEDDER_UNAVAILABLE = "E3001"
    EMBEDDING_FAILED = "E3002"
    DIMENSION_MISMATCH = "E3003"
    MODEL_CHANGED = "E3004"
    MODEL_SERVER_FAILED = "E3005"
    ACCESS_DENIED = "E4001"
    ENCRYPTION_FAILED = "E4002"
    INJECTION_BLOCKED = "E4003"
    TEXT_TOO_LARGE = "E4004"
    INVALID_INPUT = "E4005"
    FORBIDDEN_FIELD = "E4006"
    UNAUTHENTICATED = "E4007"
    PAIRING_REFUSED = "E4008"
    MALFORMED_MESSAGE = "E4009"
    UNKNOWN_METHOD = "E4010"
    MEMORY_PRESSURE = "E5001"
    BACKGROUND_STALLED = "E5002"
    CONFIG_INVALID = "E5003"
    BUSY = "E5004"
    CYCLE = "E5005"
    CANCELLED = "E5006"
    BUG = "E5007"
    NOT_HERE = "E5008"
    OUTPUT_FAILED = "E5009"
    ANSWER_FAILED = "E5010"
    IMPORT_REFUSED = "E6001"
    IMPORT_UNKNOWN_FORMAT = "E6002"
    IMPORT_CHANGED = "E6003"
    IMPORT_SECRET_NEEDED = "E6004"  # noqa: S105 - a code, not a secret
    FILE_REFUSED = "E6005"
    FILE_TOO_LARGE = "E6006"
    SYNC_OFF = "E7001"
    SYNC_FOLDER_GONE = "E7002"
    SYNC_FORKED = "E7003"
    SYNC_CODE_REFUSED = "E7004"
    BUNDLE_REFUSED = "E7005"


_EXIT = {
    Code.INVALID_INPUT: 2,
    Code.INVALID_QUERY: 2,
    Code.TEXT_TOO_LARGE: 2,
    Code.VAULT_BUSY: 3,
    Code.VAULT_LOCKED: 4,
    Code.WRONG_SECRET: 4,
    Code.TOO_MANY_GUESSES: 4,
    Code.SEALED: 4,
    Code.KEYRING_UNAVAILABLE: 4,
    Code.IMPORT_SECRET_NEEDED: 4,
    Code.KEY_FILE_DAMAGED: 5,
    Code.VAULT_DAMAGED: 6,
    Code.NEWER_VERSION: 7,
    Code.DISK_FULL: 8,
}


class LociError(Exception):
    """Base of everything Loci raises on purpose.

    Attributes:
        code: the stable code.
        sentence: one sentence for the person, with what to do; never memory text.
    """

    def __init__(self, code: Code, sentence: str) -> None:
        super().__init__(f"{code.value}: {sentence}")
        self.code = code
        self.sentence = sentence

    @property
    def exit_code(self) -> int:
        """The command line's exit code for this error (design section 8)."""
        return _EXIT.get(self.code, 1)


class UserError(LociError):
    """The request cannot be carried out as asked; show the sentence."""


class PreconditionError(UserError):
    """What was asked makes sense, but not as things stand: decided already, taken, of another kind.

    Its code is that of a wrong value, as clients know it; on the command line it is a refusal and no wrong usage.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(Code.INVALID_INPUT, sentence)

    @property
    def exit_code(self) -> int:
        """1: refused."""
        return 1


class EnvironmentFaultError(LociError):
    """Disk full, file locked, no keyring: show it and offer to retry."""


class IntegrityError(LociError):
    """The vault or its keys are damaged; fail closed."""


class BugError(LociError):
    """A fault of Loci's own; shown without content."""

    def __init__(self, where: str, *, is_done: bool = False) -> None:
        """Make one.

        Args:
            where: the place in the program.
            is_done: whether what was asked had been carried out before.
        """
        told = "what you asked for was done, but not told" if is_done else "nothing was changed"
        super().__init__(Code.BUG, f"Something went wrong inside Loci ({where}); {told}.")


class CancelledError(LociError):
    """The person stopped it; silent."""

    def __init__(self) -> None:
        super().__init__(Code.CANCELLED, "Stopped on request.")
