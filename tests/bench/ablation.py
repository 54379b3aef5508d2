"""The default way to rank with one stage off at a time, by its numbers alone.

Must not do: replace code of the pipeline; what its numbers cannot switch off is told in the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.score.profile import LOCI, Profile, Trades

DEFAULT = "default"


def _without_list(name: str, **more: object) -> Profile:
    return replace(LOCI, lists=replace(LOCI.lists, **{name: 0.0}), **more)  # type: ignore[arg-type]  # by name


VARIANTS: Mapping[str, Profile] = {
    DEFAULT: LOCI,
    "no windows": replace(LOCI, window_cosine=(0.0, 0.0), window_terms=(0.0, 0.0)),
    "no neighbours as candidates": replace(LOCI, expand_from=0),
    # Coverage has no weight of its own in the evidence: a text weight of 0 takes it out there.
    "no coverage (meaning alone is evidence)": _without_list("coverage", text_weight=0.0, auto_text_weight=False),
    # Without a budget nothing is scored; the list's own length never falls under the limit that is asked for.
    "no BM25": _without_list("bm25", bm25_budget=0),
    "no list of the vectors' own": _without_list("vector"),
    "no RRF: evidence, then MMR": replace(LOCI, rerank="mmr"),
    "RRF alone: no evidence beside it": replace(LOCI, strength=0.0),
    "no MMR": replace(LOCI, trades=Trades(1, 1, 1, 1, 1, 1)),
    "no time (its candidates stay)": _without_list("time", time_bonus=0.0),
    "no graph": _without_list("graph", graph_worth=0.0),
    "no asking, no saying": replace(LOCI, asking=0.0, saying=0.0),
    "fixed text weight": replace(LOCI, auto_text_weight=False),
    "no side signals": replace(LOCI, side_bound=0.0),
    "no abstention, no floor": replace(LOCI, least_chance=0.0, floor=0.0),
}
"""Name to profile, the default first."""
