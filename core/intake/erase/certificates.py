"""Erasure certificates: kept in the vault, with their digest in the audit, so that neither can be changed alone.

The first one is written in the transaction of the erasure and says that nothing was checked yet: a process that is
killed behind it leaves no erasure without a certificate. The last one that was written counts. Must not do: hold a
text.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace

from core.errors import Code, UserError
from core.intake.erase.erasure import ErasureOutcome
from core.intake.transaction.admission import text_marks
from core.intake.transaction.unit_of_work import UnitOfWork
from core.types.memory import (
    CertificateLine,
    ErasedPlace,
    ErasureCertificate,
    ErasureRequest,
    ErasureState,
    ErasureSubject,
)
from core.types.values import Actor
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

CERTIFICATE_VERB, CERTIFICATE_LABEL = "erase_certificate", "Certify an erasure"
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PREFIX = "erasure_certificate:"
_ALL = "SELECT value FROM settings WHERE key GLOB ? ORDER BY key DESC"
_PUT = (
    "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at"
)
_AUDITED = "SELECT detail FROM audit WHERE object = ? AND verb = ? ORDER BY nr DESC LIMIT 1"
_MOST_MARKS = 1_000


def draft_certificate(
    rows: Rows, certificate_id: str, at: int, request: ErasureRequest, done: ErasureOutcome
) -> ErasureCertificate:
    """The certificate of what a transaction removed, before anything was checked.

    Args:
        rows: the transaction of the erasure.
        certificate_id: its id.
        at: epoch ms.
        request: what was asked.
        done: what was done.
    """
    taken = done.taken
    removed, changed = taken.removed_by_place, taken.changed_by_place
    reasons: dict[str, int] = {}
    for why in done.reach.why.values():
        reasons[why] = reasons.get(why, 0) + 1
    return ErasureCertificate(
        id=certificate_id,
        at=at,
        subject=request.subject,
        subject_id=request.ids[0] if len(request.ids) == 1 else "",
        memories=len(done.reach.ids),
        ids=tuple(sorted(one for one in taken.ids if _ID.fullmatch(one))),
        marks=tuple(text_marks(rows, taken.texts)[:_MOST_MARKS]),
        reasons=reasons,
        places=tuple(ErasedPlace(name, removed[name], changed[name]) for name in sorted({*removed, *changed})),
        same_words=done.same_words,
        not_checked=("interrupted",),
    )


def write_certificate(tx: Tx, work: UnitOfWork, certificate: ErasureCertificate, actor: Actor) -> ErasureCertificate:
    """Keep a certificate, or a later state of it, and put its digest into the audit.

    Returns:
        The certificate with its digest.
    """
    signed = replace(certificate, digest=digest_of(certificate), is_authentic=True)
    with work.verb(tx, CERTIFICATE_VERB, CERTIFICATE_LABEL, actor) as verb:
        tx.run(_PUT, (f"{_PREFIX}{signed.id}", to_json(signed.as_json()), tx.now_ms))
        verb.note_audit(signed.id, digest=signed.digest, memories=signed.memories, state=signed.state.value)
    return signed


def digest_of(certificate: ErasureCertificate) -> str:
    """SHA-256 of all that a certificate says, hexadecimal; it holds nothing that could be guessed from it."""
    values = {**certificate.as_json(), "digest": ""}
    return hashlib.sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def read_certificate(rows: Rows, certificate_id: str) -> ErasureCertificate:
    """A certificate, held against its line in the audit.

    Args:
        certificate_id: its id, or the end of it.

    Raises:
        UserError: NOT_FOUND; INVALID_INPUT where several end so.
    """
    found = [str(row[0]) for row in rows.all(_ALL, (f"{_PREFIX}*{_no_pattern(certificate_id)}",))]
    if len(found) > 1:
        raise UserError(Code.INVALID_INPUT, "Several certificates end like that; give more of the id.")
    if not found:
        raise UserError(Code.NOT_FOUND, "There is no such certificate.")
    certificate = ErasureCertificate.from_json(json.loads(found[0]))
    line = rows.one(_AUDITED, (certificate.id, CERTIFICATE_VERB))
    audited = None if line is None else json.loads(line[0]).get("digest")
    return replace(certificate, is_authentic=certificate.digest == audited == digest_of(certificate))


def list_certificates(rows: Rows) -> tuple[CertificateLine, ...]:
    """All certificates, newest first."""
    found = (json.loads(row[0]) for row in rows.all(_ALL, (f"{_PREFIX}*",)))
    return tuple(
        CertificateLine(
            one["id"], one["at"], ErasureSubject(one["subject"]), one["memories"], ErasureState(one["state"])
        )
        for one in found
    )


def _no_pattern(typed: str) -> str:
    """A text in which nothing stands for anything else."""
    return "".join(sign for sign in typed if sign.isalnum() or sign == "-")
