"""Whose word a memory can be, and how two memories can relate: what the tests of the trust gate are made of."""

from __future__ import annotations

from dataclasses import replace

from core.belief.trust_gate import SourceAuthority
from core.intake.candidate import counts_as_owner
from core.score.trust import SOURCE_WEIGHT
from core.types.belief import LABELS, Label, Relation
from core.types.values import Source

DAY_MS = 86_400_000


def by_owner(source: Source = Source.USER_EXPLICIT, *, day: int = 0, vouched: bool = False) -> SourceAuthority:
    """What the owner brought: the owner's word only where it is said in so many words, or vouched for."""
    word = source is Source.USER_EXPLICIT or vouched
    said = word or source is Source.USER_IMPLICIT
    return SourceAuthority(word, said, said, source, None, "owner", SOURCE_WEIGHT[source], day * DAY_MS)


def by_client(
    source: Source = Source.INFERENCE,
    *,
    client: str = "aster",
    day: int = 0,
    ceiling: float = 0.85,
    vouched: bool = False,
) -> SourceAuthority:
    """What a client brought, under its ceiling."""
    persons = vouched or counts_as_owner(source, imported=False, by_client=True)
    trust = min(ceiling, SOURCE_WEIGHT[source])
    return SourceAuthority(vouched, vouched, persons, source, client, "client", trust, day * DAY_MS)


def by_import(
    source: Source = Source.USER_IMPLICIT, *, store: str = "import:notes", day: int = 0, vouched: bool = False
) -> SourceAuthority:
    """What came in a file of the person's."""
    persons = vouched or counts_as_owner(source, imported=True, by_client=False)
    return SourceAuthority(vouched, vouched, persons, source, None, store, SOURCE_WEIGHT[source], day * DAY_MS)


def later(standing: SourceAuthority, days: int = 1) -> SourceAuthority:
    """The same, said that much later."""
    return replace(standing, at_ms=standing.at_ms + days * DAY_MS)


def relation(label: Label, confidence: float = 0.95, by: str = "rules", **shares: float) -> Relation:
    """A relation; what is left goes to the other labels in equal shares."""
    given = {Label(name.upper()): share for name, share in shares.items()}
    if not given:
        given = {one: confidence if one is label else (1 - confidence) / 3 for one in LABELS}
    return Relation(label, confidence, {one: given.get(one, 0.0) for one in LABELS}, by, "by_test")
