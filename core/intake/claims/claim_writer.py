"""Reading the claims of a text, writing them as drafts with their evidence, and removing what only a model read.

Must not do: assert a claim (`assertion` does), or remove what rules read or somebody gave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from core.belief.claims.claims import EvidenceSource, draft_claim, key_form
from core.belief.extract.normal_form import read_as_seen, strip_marks
from core.intake.transaction.text_readers import Extract
from core.intake.transaction.trust_inputs import refresh_claims
from core.types.belief import ClaimDraft
from core.vault.database.tx import Tx


def remove_model_claims(tx: Tx, memory_id: str) -> None:
    """Remove the claims that a local model alone read in a memory, and the questions it raised by them.

    Args:
        tx: the transaction of an undo that takes the memory away; each row is recorded in its step.
    """
    items = tx.all(
        "SELECT id FROM conflicts WHERE (incoming_id = :id OR existing_id = :id) AND state = 'open' "
        "AND json_extract(detail, '$.opened_by') = 'reading' ORDER BY id",
        {"id": memory_id},
    )
    for (item_id,) in items:
        tx.delete("conflicts", {"id": item_id})
    read = tx.all(
        "SELECT id, claim_id FROM evidence WHERE memory_id = ? AND method = 'model' ORDER BY id", (memory_id,)
    )
    for evidence_id, _ in read:
        tx.delete("evidence", {"id": evidence_id})
    for claim_id in dict.fromkeys(claim_id for _, claim_id in read):
        if tx.one("SELECT 1 FROM evidence WHERE claim_id = ?", (claim_id,)) is None:
            tx.delete("claims", {"id": claim_id})


_MOST = 1024
"""Claims of one memory, at most: more than 8 KiB can say, so that none is passed over behind many others."""


def read_claims(
    extract: Extract,
    text: str,
    given: Sequence[ClaimDraft],
    times: tuple[int | None, int | None],
    *,
    vouched: bool = True,
) -> tuple[ClaimDraft, ...]:
    """The claims of a text; one that was given stands for what would be read of the same predicate.

    Args:
        extract: the reader.
        text: the memory's text, or its first part.
        given: the claims that came with the text.
        times: the present, and when it was said, epoch ms; the present stands in for that of a text said now. Both
            None where nobody knows when it was said.
        vouched: the person gave them. Anybody else's stand only for what they say no less strictly: a claim that is
            told to exclude nothing, or to hold sometimes only, does not hide the plain words it comes with.

    Returns:
        The given claims first, then what was read, each once; spans lie in the text.
    """
    found: dict[tuple[str, str, str, str], ClaimDraft] = {_name(draft): draft for draft in given}
    for draft in _read(extract, text, times):
        if not any(_covers(one, draft, vouched=vouched) for one in given):
            name = _name(draft)
            found[name] = draft if name not in found or not vouched else found[name]
    return tuple(found.values())[:_MOST]


def _read(extract: Extract, text: str, times: tuple[int | None, int | None]) -> list[ClaimDraft]:
    """What a reader takes the text for, who does not see what is hidden in it."""
    now_ms, said_ms = times
    plain = read_as_seen(text)
    found = list(extract(plain, now_ms=now_ms, said_ms=said_ms))
    if not plain.isascii():
        known = {draft.predicate for draft in found}
        more = extract(strip_marks(plain), now_ms=now_ms, said_ms=said_ms)
        found += [replace(draft, start=0, end=len(plain)) for draft in more if draft.predicate not in known]
    if plain != text:  # the spans of another writing: the whole text is the quote
        return [replace(draft, start=0, end=len(text)) for draft in found]
    return [draft for draft in found if 0 <= draft.start < draft.end <= len(text)]


def _covers(given: ClaimDraft, read: ClaimDraft, *, vouched: bool) -> bool:
    if given.predicate != read.predicate:
        return False
    return vouched or (
        key_form(given.subject) == key_form(read.subject)
        and given.polarity == read.polarity
        and given.exclusive >= read.exclusive
        and dict(given.qualifiers) == dict(read.qualifiers)
        and (given.valid_from, given.valid_to) in ((None, None), (read.valid_from, read.valid_to))
    )


def write_claims(
    tx: Tx,
    make_id: Callable[[], str],
    drafts: Sequence[ClaimDraft],
    on: EvidenceSource,
    scope_session: str = "",
) -> tuple[str, ...]:
    """Write claims of a memory as drafts.

    Args:
        drafts: what was read or given.
        on: the memory.
        scope_session: the session they are limited to, or "".

    Returns:
        Ids of the new claims.
    """
    made = [draft_claim(tx, draft, on, (make_id(), make_id()), scope_session) for draft in drafts]
    ids = tuple(claim_id for claim_id in made if claim_id is not None)
    refresh_claims(tx, ids)
    return ids


def _name(draft: ClaimDraft) -> tuple[str, str, str, str]:
    return key_form(draft.subject), draft.predicate, key_form(draft.value), draft.polarity
