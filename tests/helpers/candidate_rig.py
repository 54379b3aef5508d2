"""Candidates of a recall without a vault."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.recall.candidates import CandidateFacts, Candidates


def make_candidates(
    evidence: Sequence[float],
    *,
    confidence: Sequence[float] | None = None,
    claims: Sequence[bool] | None = None,
    answers: Sequence[float] | None = None,
) -> Candidates:
    """Facts that may all be returned.

    Args:
        answers: log odds of each that it answers; None where they are not weighed.
    """
    size = len(evidence)
    facts = tuple(
        CandidateFacts("active", f"id{n}", ("home", "fact", bytes([n])), f"id{n}", None, 0) for n in range(size)
    )
    none, ones, yes = np.full(size, np.nan), np.ones(size), np.ones(size, np.bool_)
    sides = np.zeros((size, 6))
    sides[:, 1] = 0.9 if confidence is None else confidence
    return Candidates(
        labels=np.arange(size),
        ok=yes,
        facts=facts,
        sides=sides,
        vector=none,
        window=none,
        coverage=np.zeros(size),
        own=np.zeros((size, 1), np.bool_),
        near=np.zeros((size, 1), np.bool_),
        plain=np.array(evidence),
        evidence=np.array(evidence),
        lifted=np.zeros(size),
        lends=~yes,
        time=none,
        graph=none,
        fit=ones,
        claims=~yes if claims is None else np.array(claims),
        answers=none if answers is None else np.array(answers),
    )
