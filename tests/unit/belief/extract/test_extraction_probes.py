"""Probe sentences over all predicates: what is read from each, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.belief.extract.extraction import canonical_form, extract_claims
from core.belief.extract.frames import predicate_names
from core.belief.extract.normal_form import value_key

Claims = set[tuple[str, str, str, str]]
PROBES = Path(__file__).resolve().parents[3] / "fixtures" / "claims_probes.txt"


def _read() -> list[tuple[str, Claims]]:
    out: list[tuple[str, Claims]] = []
    for line in PROBES.read_text("utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        text, mark, claims = line.partition(" =>")
        assert mark, line
        parts = [claim.strip().split("|") for claim in claims.split(";") if claim.strip()]
        wanted = {(value_key(p[0]), p[1], value_key(p[2]), "negative" if p[3:] == ["-"] else "positive") for p in parts}
        out.append((text, wanted))
    return out


ALL = _read()


@pytest.mark.parametrize(("text", "wanted"), ALL, ids=[text[:60] for text, _ in ALL])
def test_what_is_read(text: str, wanted: Claims) -> None:
    assert {(*canonical_form(draft), draft.polarity) for draft in extract_claims(text)} == wanted


def test_every_predicate_is_probed() -> None:
    probed = {claim[1] for _, wanted in ALL for claim in wanted}
    assert probed == set(predicate_names())
    assert sum(not wanted for _, wanted in ALL) > len(ALL) / 6
