"""The claims of a text that is read only when they are first asked for.

A newcomer without a claim contradicts none: then nobody reads the sentences of what it is compared with, which took as
long as everything else that rules ask of them. Must not do: say what a claim means, or keep more than one text's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from core.types.belief import ClaimDraft


class UnreadClaims(Sequence[ClaimDraft]):
    """Claims in the order of their text, read once. Not for several threads."""

    def __init__(self, read: Callable[[], Sequence[ClaimDraft]]) -> None:
        """Read nothing yet.

        Args:
            read: reads the text.
        """
        self._read = read
        self._claims: Sequence[ClaimDraft] | None = None

    @property
    def is_read(self) -> bool:
        """Whether the text was read."""
        return self._claims is not None

    @overload
    def __getitem__(self, at: int) -> ClaimDraft: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[ClaimDraft]: ...

    def __getitem__(self, at: int | slice) -> ClaimDraft | Sequence[ClaimDraft]:
        """One claim, or some."""
        return self._load()[at]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._load())

    def __repr__(self) -> str:
        """As what was read."""
        return repr(tuple(self._load()))

    def _load(self) -> Sequence[ClaimDraft]:
        if self._claims is None:
            self._claims = self._read()
        return self._claims


def is_unread(claims: Sequence[ClaimDraft]) -> bool:
    """Whether a text must be read to tell how many they are."""
    return isinstance(claims, UnreadClaims) and not claims.is_read


def is_known_empty(claims: Sequence[ClaimDraft]) -> bool:
    """Whether there are none, as far as that is known without reading a text."""
    return not is_unread(claims) and not claims
