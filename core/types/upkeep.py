"""What a caller learns of the state and the work of the vault, as far as it may see it: frozen values.

Must not do: hold a text, or a count of what the caller may not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class OwnDeed:
    """One row of the audit about something that the asker did itself (E19b).

    Attributes:
        at: epoch ms.
        verb: what it did, or `refused`.
        id: what it did it to; "" for a search and for what lies out of its sight by now.
        kind: of that memory; "" where it is none, or out of sight.
        space: of that memory; "" likewise.
        detail: counts and words of Loci's own; never a text, never a figure of trust.
        success: False for what was refused.
    """

    at: int
    verb: str
    id: str = ""
    kind: str = ""
    space: str = ""
    detail: Mapping[str, int | bool | str] = field(default_factory=dict)
    success: bool = True


@dataclass(frozen=True, slots=True)
class Consolidation:
    """A consolidation as one asker sees it.

    Attributes:
        dry_run: whether nothing was written.
        planned: what the next run would do to memories that the asker sees, deed to count; empty behind a run.
        changed: memories that it sees and that the run changed, status to count; empty for a dry run.
    """

    dry_run: bool
    planned: Mapping[str, int] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tidied:
    """What a cleanup of notes did (seed B, cleanup returns statistics); it archives, whatever the names say.

    Attributes:
        expired: notes whose time was over.
        capacity: notes that were too many.
        remaining: notes that still stand.
    """

    expired: int
    capacity: int
    remaining: int
