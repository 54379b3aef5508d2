"""On how many examples a property is tried, and how many cases of a long table: all of them in a full run.

In `bootstrap.py test --fast` they are a fifth of the examples, and a third of the cases of a long table.

The profiles are made here and chosen with `--hypothesis-profile`, which `packaging/jobs.py` gives for a quick run. A
test that wants another number than the profile's asks for it by `count_examples`. Must not know any test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from hypothesis import HealthCheck, settings

FULL, QUICK = "loci", "loci-quick"
_EXAMPLES = 60
_SHARE = 5
_FEWEST = 3
_LONG_TABLE = 12
_EACH = 3


def register_profiles() -> None:
    """Make both profiles known, and choose that of a full run until an option chooses."""
    # How long it takes to draw an example says how fast the machine is and nothing about the property.
    slow = [HealthCheck.too_slow]
    settings.register_profile(FULL, deadline=None, derandomize=True, max_examples=_EXAMPLES, suppress_health_check=slow)
    settings.register_profile(QUICK, settings.get_profile(FULL), max_examples=_EXAMPLES // _SHARE)
    settings.load_profile(FULL)


def count_examples(full: int) -> int:
    """How many examples to try now.

    Args:
        full: in a full run.

    Returns:
        That many, or a fifth of it in a quick run, at least three.
    """
    return max(min(full, _FEWEST), full // _SHARE) if is_quick_run() else full


def is_quick_run() -> bool:
    """Whether this is `test --fast`."""
    return settings.get_current_profile_name() == QUICK


def left_out(tables: Sequence[str]) -> Iterable[bool]:
    """Which cases a quick run leaves out: of a table of more than twelve, all but every third from the first one on.

    Args:
        tables: for each case in order, the test it is a case of.
    """
    lengths, seen = Counter(tables), Counter[str]()
    for table in tables:
        yield lengths[table] > _LONG_TABLE and seen[table] % _EACH > 0
        seen[table] += 1
