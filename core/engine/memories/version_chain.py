"""When each version of a memory held: the chain on the axis of the time it speaks of.

Must not do: read rows, or guess a time that nothing tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.types.memory import Chain, Gap, VersionHeld
from core.types.values import Precision, Status

_DAY_MS = 86_400_000
_STANDS = frozenset({Status.ACTIVE, Status.DISPUTED})
_NEVER_HELD = frozenset({Status.QUARANTINED})


@dataclass(frozen=True, slots=True)
class Written:
    """A version as its row tells it; all times in epoch ms.

    Attributes:
        value: what it says; "" where no claim was read.
        valid_from: true from, where it says so; `valid_to` until when, exclusive.
        said: when it was said; None where unknown.
        recorded_at: when Loci learned it; `retired_at` when it stopped believing it.
    """

    memory_id: str
    version: int
    status: Status
    value: str
    valid_from: int | None
    valid_prec: Precision
    valid_to: int | None
    said: int | None
    said_prec: Precision
    recorded_at: int
    retired_at: int | None

    @property
    def begin(self) -> tuple[int, Precision, str]:
        """From when on it was true, how exactly that is known, and by what."""
        if self.valid_from is not None:
            return self.valid_from, self.valid_prec, "valid"
        if self.said is not None:
            return self.said, self.said_prec, "said"
        return self.recorded_at, Precision.MS, "recorded"


def chain_of(written: Sequence[Written], now_ms: int) -> Chain:
    """Put versions on the axis of valid time.

    A version holds from its `valid_from`, else from when it was said, else from when it was learned; until its
    `valid_to`, else, once it does not stand any more, until the version after it begins, else until it was retired
    (design section 4, superseding; seed D, temporal queries).

    Args:
        written: versions of one chain, in any order.
        now_ms: the present, epoch ms.

    Returns:
        The versions in the order in which they held, and the times between them of which none says anything; a gap
        shorter than a day is none.
    """
    ordered = sorted(written, key=lambda one: (one.begin[0], one.version, one.recorded_at))
    held = [one for one in ordered if one.status not in _NEVER_HELD]
    ends = {one.memory_id: _end(one, held[nr + 1 :]) for nr, one in enumerate(held)}
    current = _current(held)
    versions = tuple(_held(one, ends.get(one.memory_id), current) for one in ordered)
    return Chain(versions, _gaps([v for v in versions if v.ever_held]), now_ms)


def _held(one: Written, end: int | None, current: str | None) -> VersionHeld:
    begin, precision, known_by = one.begin
    return VersionHeld(
        memory_id=one.memory_id,
        version=one.version,
        status=one.status,
        value=one.value,
        begin=begin,
        precision=precision,
        begin_by=known_by,
        end=end,
        recorded_at=one.recorded_at,
        retired_at=one.retired_at,
        is_current=one.memory_id == current,
        ever_held=one.status not in _NEVER_HELD,
    )


def _end(one: Written, later: Sequence[Written]) -> int | None:
    begin = one.begin[0]
    if one.valid_to is not None:
        return max(begin, one.valid_to)
    if one.status in _STANDS:
        return None
    after = next((other.begin[0] for other in later if other.begin[0] > begin), one.retired_at)
    return None if after is None else max(begin, after)


def _current(held: Sequence[Written]) -> str | None:
    standing = [one for one in held if one.status in _STANDS]
    return standing[-1].memory_id if standing else None


def _gaps(versions: Sequence[VersionHeld]) -> tuple[Gap, ...]:
    found: list[Gap] = []
    reached: int | None = None
    for nr, version in enumerate(versions):
        if nr and reached is not None and version.begin - reached >= _DAY_MS:
            found.append(Gap(reached, version.begin))
        if version.end is None:
            return tuple(found)  # what has no end leaves no gap behind it
        reached = version.end if reached is None else max(reached, version.end)
    return tuple(found)
