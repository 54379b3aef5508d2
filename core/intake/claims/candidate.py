"""The newcomer and the memories beside it, as the store path looks at them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.claims.authorship import IN_PASSING, OWNERS_WORD, PERSONS
from core.belief.extract.normal_form import read_as_seen
from core.belief.gate import SourceAuthority
from core.intake.transaction.trust_inputs import base_trusts
from core.memory.draft import to_json
from core.memory.read import said_at_sql
from core.types.belief import ClaimDraft, Told
from core.types.values import Kind, Precision, Source, When
from core.vault.database.rows import Rows

OWNER_LINEAGE = "owner"
_SAID = (Source.USER_EXPLICIT, Source.USER_IMPLICIT)


@dataclass(frozen=True, slots=True)
class StoreCandidate:
    """A text on its way in, or a stored one that is judged now.

    Attributes:
        memory_id: its id, given before it is written.
        texts: its parts; the first is compared.
        claims: what it says, given claims first.
        standing: whose word it is.
        vector: of the first part, (dims,); None where it has none yet.
    """

    memory_id: str
    texts: Sequence[str]
    kind: Kind
    space_id: str
    claims: tuple[ClaimDraft, ...]
    standing: SourceAuthority
    vector: NDArray[np.float32] | None

    @property
    def told(self) -> Told:
        """This side of a pair."""
        return Told(read_as_seen(self.texts[0]), self.standing.at_ms, self.claims)

    @property
    def stranger(self) -> str | None:
        """The client whose word it is; None where it counts as the person's, or nobody's in particular."""
        return None if self.standing.owner_said else self.standing.client_id


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory beside a newcomer.

    Attributes:
        cosine: how near its vector is, -1 to 1; 1 where structure brought it up.
        head_id: the standing version of its chain, where it is itself over; else its own id.
        was: its status reason: why it is over, if it is.
    """

    id: str
    text: str
    status: str
    space_id: str
    standing: SourceAuthority
    claims: tuple[ClaimDraft, ...]
    cosine: float
    head_id: str
    was: str | None

    @property
    def told(self) -> Told:
        """This side of a pair."""
        return Told(read_as_seen(self.text), self.standing.at_ms, self.claims)

    @property
    def is_over(self) -> bool:
        """Whether another version stands in its place."""
        return self.status == "superseded"


_BESIDE = (
    "SELECT m.id, m.text, m.status, m.space_id, m.status_reason, m.source, m.client_id, m.import_id, m.lineage, "  # noqa: S608 - constants only
    f"{said_at_sql('m')}, m.scope_session, " + OWNERS_WORD + ", " + IN_PASSING + ", " + PERSONS + ", "
    "CASE WHEN m.status <> 'superseded' THEN m.id ELSE coalesce((SELECT h.id FROM memories h "
    "WHERE h.chain_id = m.chain_id AND h.status IN ('active', 'disputed') ORDER BY h.version DESC, h.n DESC LIMIT 1), "
    "'') END FROM json_each(?) w JOIN memories m ON m.id = w.value"
)


def load_neighbours(rows: Rows, cosines: dict[str, float]) -> dict[str, Neighbour]:
    """Load memories with all that the gate and the relation model ask of them.

    Args:
        cosines: memory id to nearness.

    Returns:
        Id to memory; one that is over and whose chain has no standing version is left out.
    """
    found: dict[str, Neighbour] = {}
    if not cosines:
        return found
    claims, trusts = load_claims(rows, cosines), base_trusts(rows, cosines)
    for row in rows.all(_BESIDE, (to_json(list(cosines)),)):
        memory_id, text, status, space_id, was, *_rest = row
        if not row[14]:
            continue
        found[memory_id] = Neighbour(
            id=memory_id,
            text=text,
            status=status,
            space_id=space_id,
            standing=_standing(row, trusts[memory_id]),
            claims=tuple(draft for _, draft in claims.get(memory_id, ())),
            cosine=cosines[memory_id],
            head_id=row[14],
            was=was,
        )
    return found


def _standing(row: tuple[Any, ...], trusts: tuple[float, float]) -> SourceAuthority:
    trust, source_weight = trusts
    return SourceAuthority(
        owners_word=bool(row[11]),
        owner_said=bool(row[11] or row[12]),
        persons=bool(row[13]),
        source=Source(row[5]),
        client_id=row[6],
        brought_by=_brought_by(row[6], row[7], row[8]),
        trust=trust,
        at_ms=int(row[9]),
        scope_session=row[10],
        source_weight=source_weight,
    )


def authority_of(rows: Rows, memory_id: str) -> SourceAuthority:
    """The authority of a stored memory: whose word it is, and since when.

    Returns:
        Its standing.
    """
    row = rows.all(_BESIDE, (to_json([memory_id]),))[0]
    return _standing(row, base_trusts(rows, [memory_id])[memory_id])


def is_owners_word(source: Source, *, imported: bool, by_client: bool) -> bool:
    """Whether a text passes for the person's own, to be protected from others (not to displace what the owner said).

    What is stored is asked by `core.belief.claims.authorship.PERSONS`, which says the same.

    Args:
        source: by what way it came.
        imported: from a file of the person's.
        by_client: a client brought it; it may say `user_explicit` only with the grant `speak_for_user`.

    Returns:
        Whether nobody but the person may displace it.
    """
    if by_client:
        return source is Source.USER_EXPLICIT
    return imported and source in _SAID


def _brought_by(client_id: str | None, import_id: str | None, lineage: str) -> str:
    if client_id is not None:
        return "client"
    # One export is one source, whichever of its files a record was in; two formats are two stores.
    return ":".join(lineage.split(":")[:2]) if import_id is not None else "owner"


def load_claims(
    rows: Rows, memory_ids: Iterable[str], *, back: bool = False
) -> dict[str, list[tuple[str, ClaimDraft]]]:
    """The claims that were read in memories, with their ids.

    Args:
        back: whether they are to come back: then what was retracted with them is told too.

    Returns:
        Memory id to (claim id, claim), in the order of the text; else retracted claims are left out.
    """
    found: dict[str, list[tuple[str, ClaimDraft]]] = {}
    for row in rows.all(
        "SELECT e.memory_id, c.id, c.subject, c.predicate, c.value, c.exclusive, c.polarity, c.valid_from, "
        "c.valid_from_prec, c.valid_to, c.valid_to_prec, c.qualifiers, e.start_at, e.end_at, c.extracted_by, "
        "e.confidence FROM json_each(?) w JOIN evidence e ON e.memory_id = w.value JOIN claims c ON c.id = e.claim_id "
        "WHERE e.stance = 'supporting' AND (c.state <> 'retracted' OR ?) ORDER BY e.memory_id, e.start_at, c.id",
        (to_json(list(memory_ids)), back),
    ):
        draft = ClaimDraft(
            subject=row[2],
            predicate=row[3],
            value=row[4],
            exclusive=bool(row[5]),
            polarity=row[6],
            valid_from=_when(row[7], row[8]),
            valid_to=_when(row[9], row[10]),
            qualifiers=json.loads(row[11]),
            start=row[12],
            end=row[13],
            method=row[14],
            confidence=row[15],
        )
        found.setdefault(row[0], []).append((row[1], draft))
    return found


def _when(at: int | None, precision: str | None) -> When | None:
    return None if at is None else When(int(at), Precision(precision or "ms"))
