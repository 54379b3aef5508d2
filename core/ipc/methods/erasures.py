"""The owner's methods that erase for good, and those on certificates of it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from core.errors import Code, UserError
from core.ipc.methods.definition.entry import (
    Answer,
    ClientName,
    Entry,
    MemoryId,
    MethodCall,
    NoParams,
    Params,
    absolute_path,
    await_future,
    owner_method,
    unpublished_field,
)
from core.ipc.methods.definition.results import (
    Schema,
    flag,
    list_of,
    map_of,
    nullable,
    one_of,
    record,
    ref,
    text,
    whole_number,
)
from core.ipc.protocol.contract import format_wire_time
from core.types.memory import (
    CopyState,
    ErasureCertificate,
    ErasureRequest,
    ErasureState,
    ErasureSubject,
)

_MOST_IDS = 500
_NAMED = 8


class EraseParams(Params):
    """The parameters of `owner.erase`; exactly one of `id`, `about`, `import_id`, `client` says what goes."""

    id: MemoryId | None = None
    about: str | None = Field(None, min_length=1, max_length=1024, description="An entity: its id, or a name of it.")
    import_id: MemoryId | None = Field(None, description="All that an import brought.")
    client: ClientName | None = Field(None, description="All that a client stored.")
    whole_chain: bool = unpublished_field(default=False)
    dry_run: bool = unpublished_field(default=False)
    rewrite_backups: bool = Field(default=False, description="Rewrite the backups in the home without it.")


class CertificateParams(Params):
    """The parameters of `owner.rewrite_backups`."""

    id: MemoryId


class ReadCertificateParams(CertificateParams):
    """The parameters of `owner.certificate`."""

    to: str | None = Field(
        None,
        min_length=1,
        description="Also write it to a file: a page to read (`.html`), text (`.txt`), else JSON. An absolute path.",
    )


async def erase_memories(call: MethodCall, params: EraseParams) -> Answer:
    """Remove memories for good; with `dry_run` only tell what would go. No text is in the reply."""
    erasures, request = call.engine.erasures, await _request_of(call, params)
    preview = await await_future(erasures.preview(request))
    reply: Answer = {
        "id": request.ids[0],
        "erased": False,
        "memories": preview.memories,
        "items": [{"id": one.id, "kind": one.kind, "space": one.space, "why": one.why} for one in preview.items],
        "back": list(preview.back),
        "versions": preview.versions,
        "same_words": preview.same_words,
        "backups": list(preview.backups),
        "kinds": dict(preview.kinds),
        "statements": preview.statements,
        "claims": preview.claims,
        "entities": preview.entities,
    }
    if params.dry_run:
        return reply
    progress = call.progress

    def report(step: str, done: int, total: int | None) -> None:
        progress.report_progress(_LABELS[step], done, total)

    done = await await_future(
        erasures.erase(request, call.actor(), report, progress.is_cancelled, rewrites_backups=params.rewrite_backups)
    )
    held = [one.name for one in done.copies if one.state is CopyState.HOLDS]
    certificate = certificate_json(done)
    return reply | {"erased": True, "memories": done.memories, "backups": held, "certificate": certificate}


_LABELS = {
    "erase": "Erasing",
    "scrub": "Clearing the search index",
    "rows": "Searching the tables",
    "copy": "Copying the pages",
    "pages": "Searching the pages",
    "backups": "Looking into the backups",
    "rewrite": "Rewriting the backups",
}


async def _request_of(call: MethodCall, params: EraseParams) -> ErasureRequest:
    named = {
        ErasureSubject.MEMORY: params.id,
        ErasureSubject.ENTITY: params.about,
        ErasureSubject.IMPORT: params.import_id,
        ErasureSubject.CLIENT: params.client,
    }
    given = [(subject, value) for subject, value in named.items() if value is not None]
    if len(given) != 1:
        raise UserError(Code.INVALID_INPUT, "Name one thing to erase: a memory, an entity, an import or a client.")
    subject, value = given[0]
    found = await await_future(call.engine.erasures.find_subject(subject, value))
    if len(found) > 1:
        ids = ", ".join(found[:_NAMED])
        raise UserError(Code.INVALID_INPUT, f"Several entities have that name; give the id of one: {ids}.")
    return ErasureRequest(subject, found or (value,), params.whole_chain)


async def read_certificate(call: MethodCall, params: ReadCertificateParams) -> Answer:
    """An erasure certificate."""
    erasures = call.engine.erasures
    found = await await_future(erasures.read_certificate(params.id))
    if params.to is not None:
        await await_future(erasures.save_certificate(found, absolute_path(params.to, "to")))
    return certificate_json(found)


async def list_certificates(call: MethodCall, _params: NoParams) -> Answer:
    """All certificates, newest first."""
    found = await await_future(call.engine.erasures.list_certificates())
    return {
        "items": [
            {
                "id": one.id,
                "at": format_wire_time(one.at),
                "subject": one.subject.value,
                "memories": one.memories,
                "state": one.state.value,
            }
            for one in found
        ]
    }


async def rewrite_backups(call: MethodCall, params: CertificateParams) -> Answer:
    """Rewrite the backups in the home without what a certificate names."""
    progress = call.progress

    def report(step: str, done: int, total: int | None) -> None:
        progress.report_progress(_LABELS[step], done, total)

    work = call.engine.erasures.rewrite_backups(params.id, report, progress.is_cancelled)
    return certificate_json(await await_future(work))


def certificate_json(certificate: ErasureCertificate) -> dict[str, Any]:
    """A certificate as JSON; of very many ids the first."""
    values = certificate.as_json()
    return {
        **values,
        "at": format_wire_time(certificate.at),
        "subject": certificate.subject.value,
        "state": certificate.state.value,
        "ids": list(certificate.ids[:_MOST_IDS]),
        "ids_total": len(certificate.ids),
        "marks": list(certificate.marks[:_MOST_IDS]),
        "reasons": dict(certificate.reasons),
        "named": dict(certificate.named),
        "copies": [
            {"name": one.name, "state": one.state.value, "memories": one.memories} for one in certificate.copies
        ],
        "places": list(values["places"]),
        "not_checked": list(certificate.not_checked),
        "is_authentic": certificate.is_authentic,
    }


_COUNT = whole_number(least=0)
_CERTIFICATE: Schema = record(
    {
        "id": text(),
        "at": text(),
        "subject": one_of(*(one.value for one in ErasureSubject)),
        "subject_id": text("Empty where several memories were named."),
        "memories": _COUNT,
        "ids": list_of(text(), "Of the memories, and of claims, entities and questions that went with them."),
        "ids_total": _COUNT,
        "marks": list_of(text(), "Keyed digests of the erased texts."),
        "reasons": map_of(ref("count"), "How many memories went, by why."),
        "places": list_of(
            record(
                {
                    "place": text("A table, or `index`."),
                    "removed": _COUNT,
                    "changed": _COUNT,
                    "left": whole_number("What still holds an erased text whole.", least=0),
                    "words": whole_number("Rows that stay and share words with an erased text.", least=0),
                }
            )
        ),
        "same_words": whole_number("Other memories with exactly the same words, which stay.", least=0),
        "holders?": whole_number("Other memories that say the same, or have the same number, and stay.", least=1),
        "holder_ids?": list_of(text(), "Of the first of those."),
        "named": map_of(ref("count"), "Rows that have an id of it and no word, by table."),
        "pages": whole_number("Pages of the database that were searched; 0 where they were not.", least=0),
        "free_pages": _COUNT,
        "fragments": whole_number("Pieces of the texts and vectors that were looked for.", least=0),
        "pages_left": whole_number("Pages in which one was found.", least=0),
        "copies": list_of(
            record({"name": text(), "state": one_of(*(one.value for one in CopyState)), "memories": _COUNT})
        ),
        "not_checked": list_of(text("A code word.")),
        "state": one_of(*(one.value for one in ErasureState)),
        "digest": text("It stands in the audit, too."),
        "is_authentic": nullable(flag(), "Whether the digest fits, and is the one in the audit."),
    }
)
METHODS: tuple[Entry, ...] = (
    owner_method(
        "erase",
        "Remove memories for good, with every trace of their text: one, all about an entity, all of an import or of a "
        "client. Nothing brings them back. `dry_run` only tells.",
        EraseParams,
        record(
            {
                "id": text("Of what was named."),
                "erased": flag(),
                "memories": _COUNT,
                "items": list_of(
                    record(
                        {
                            "id": text(),
                            "kind": text(),
                            "space": text(),
                            "why": one_of("asked", "version", "beneath", "made_of_it"),
                        }
                    )
                ),
                "back": list_of(text()),
                "versions": _COUNT,
                "same_words": _COUNT,
                "backups": list_of(text()),
                "kinds": map_of(ref("count"), "Whole texts that go, by kind."),
                "statements": whole_number("Those of them that were made of talk.", least=0),
                "claims": _COUNT,
                "entities": _COUNT,
                "certificate?": ref("erasure_certificate"),
            }
        ),
        erase_memories,
        effect="write",
        errors=(Code.NOT_FOUND, Code.BUSY, Code.DISK_FULL, Code.CANCELLED),
        aliases={"memory_id": "id"},
        long=True,
        short_ids={"id": "memory", "import_id": "import"},
    ),
    owner_method(
        "certificate",
        "An erasure certificate, held against its line in the audit; the end of its id is enough.",
        ReadCertificateParams,
        ref("erasure_certificate"),
        read_certificate,
        errors=(Code.NOT_FOUND, Code.DISK_FULL, Code.WRITE_FAILED),
    ),
    owner_method(
        "certificates",
        "All erasure certificates, newest first.",
        NoParams,
        record(
            {
                "items": list_of(
                    record({"id": text(), "at": text(), "subject": text(), "memories": _COUNT, "state": text()})
                )
            }
        ),
        list_certificates,
    ),
    owner_method(
        "rewrite_backups",
        "Rewrite the backups in the home without what a certificate names; each is the old one or the new one, whole.",
        CertificateParams,
        ref("erasure_certificate"),
        rewrite_backups,
        effect="write",
        errors=(Code.NOT_FOUND, Code.DISK_FULL, Code.READ_ONLY, Code.WRITE_FAILED, Code.CANCELLED),
        long=True,
    ),
)
DEFINITIONS = {"erasure_certificate": _CERTIFICATE}
"""What several answers are made of."""
