"""The raw sub-keys that the vault works with. Must not do: derive them; `core.security` does."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.errors import BugError

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
