"""When recall keeps silent: the bar that the best candidate must clear.

The best of N unrelated memories looks the better the more there are, because it is the maximum of N chances; so the
bar rises with ln N. Must not do: rank.
"""

from __future__ import annotations

import math

from core.score.profile import Profile


def bar(profile: Profile, mode: str, in_scope: int) -> float:
    """The evidence the best candidate must have.

    Args:
        profile: the numbers.
        mode: `hybrid`, `semantic` (cosine only) or `keyword` (coverage only).
        in_scope: memories searched, 0 or more.

    Returns:
        A threshold on `core.score.fusion.evidence`.
    """
    if mode == "keyword":
        return profile.keyword_bar
    level = min(profile.bar_cap, profile.bar_base + profile.bar_slope * math.log(max(1, in_scope)))
    return level * profile.semantic_bar_share if mode == "semantic" else level
