"""The owner's methods on sealed memories: the seal key, sealing, reading, putting back and erasing.

Must not do: keep a secret, or answer a client.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from core.errors import Code, UserError
from core.ipc.methods.definition.entry import (
    Answer,
    MemoryId,
    MethodCall,
    NoParams,
    Params,
    SpaceName,
    await_future,
    owner_memory_method,
    owner_method,
    unpublished_field,
)
from core.ipc.methods.definition.results import flag, list_of, nullable, one_of, record, text, whole_number
from core.ipc.protocol.contract import format_wire_time
from core.types.memory import CopyState, ErasePreview
from core.types.sensitivity import SealedRow, SealReport, SealState

_SECRET = "The passphrase or the recovery code of the seal key."  # noqa: S105 - a description


class SealParams(Params):
    """The parameters of `owner.seal`."""

    id: MemoryId
    label: str = Field("", max_length=1024, description="What it is listed by; readable without the key.")
    summary: str = Field("", max_length=4096, description="What is said of it in the clear; it is found by that.")
    dry_run: bool = unpublished_field(default=False)


class SealFoundParams(Params):
    """The parameters of `owner.seal_found`."""

    space: SpaceName | None = None
    dry_run: bool = unpublished_field(default=False)


class FindSealedParams(Params):
    """The parameters of `owner.find_sealed`."""

    query: str = Field(min_length=1, max_length=4096, description="The question.")
    limit: int = Field(20, ge=1, le=200)
    in_clear: bool = Field(default=False, description="By labels and summaries alone, which needs no key.")


class SealedParams(Params):
    """The parameters of `owner.unseal`, `owner.sealed_text` and `owner.erase_sealed`: one sealed memory."""

    id: str = Field(min_length=1, max_length=64, description="The id that `owner.sealed` lists.")


class SealKeyParams(Params):
    """The parameters of `owner.seal_key`."""

    action: Literal["state", "new", "open", "close", "passphrase", "recovery"]
    secret: str | None = Field(None, min_length=1, max_length=4096, description=_SECRET)
    passphrase: str | None = Field(None, min_length=1, max_length=4096, description="The new passphrase.")


async def use_seal_key(call: MethodCall, params: SealKeyParams) -> Answer:
    """Say how the seal key is, make it, put it into memory or take it out, or change what opens it."""
    sealed, code = call.engine.seal, None
    if params.action in ("new", "open", "passphrase", "recovery"):
        call.progress.report_progress("Deriving the key", 0, None)
    if params.action == "new":
        code = await await_future(sealed.set_up(_require(params.passphrase)))
    elif params.action == "open":
        await await_future(sealed.open(_require(params.secret)))
    elif params.action == "close":
        sealed.close()
    elif params.action == "passphrase":
        await await_future(sealed.change_passphrase(_require(params.secret), _require(params.passphrase)))
    elif params.action == "recovery":
        code = await await_future(sealed.renew_recovery_code(_require(params.secret)))
    state = _state_json(await await_future(sealed.read_state()))
    return state if code is None else {**state, "recovery_code": code}


def _require(given: str | None) -> str:
    if given is None:
        raise UserError(Code.INVALID_INPUT, "This needs a passphrase.")
    return given


def _state_json(state: SealState) -> dict[str, object]:
    return {
        "is_set_up": state.is_set_up,
        "is_open": state.is_open,
        "closes_in_s": state.closes_in_s,
        "sealed": state.count,
    }


async def seal_memory(call: MethodCall, params: SealParams) -> Answer:
    """Seal one memory with its versions, or only tell what goes along."""
    if params.dry_run:
        preview = await await_future(call.engine.seal.preview([params.id]))
        return {"id": params.id, "sealed": False, **_preview_json(preview)}
    done = await await_future(call.engine.seal.seal([params.id], params.label, params.summary))
    return {"id": done.ids[0], "sealed": True, **_report_json(done)}


async def seal_found(call: MethodCall, params: SealFoundParams) -> Answer:
    """Seal all that is confidential, in one step, or only tell how much that is."""
    sealed = call.engine.seal
    ids = await await_future(sealed.find_confidential(params.space))
    if not ids:
        nothing = {"memories": 0, "made": 0, "same_words": 0, "backups": []}
        return {"found": 0, "sealed": 0, **nothing}
    if params.dry_run:
        return {"found": len(ids), "sealed": 0, **_preview_json(await await_future(sealed.preview(ids)))}
    done = await await_future(sealed.seal(ids))
    return {"found": len(ids), "sealed": len(done.ids), **_report_json(done)}


async def unseal_memory(call: MethodCall, params: SealedParams) -> Answer:
    """Put one sealed memory back."""
    done = await await_future(call.engine.seal.unseal([params.id]))
    return {"id": params.id, "sealed": False, **_report_json(done)}


def _preview_json(found: ErasePreview) -> dict[str, object]:
    made = sum(item.why == "made_of_it" for item in found.items)
    return {
        "memories": found.memories - made,
        "made": made,
        "same_words": found.same_words,
        "backups": list(found.backups),
    }


def _report_json(done: SealReport) -> dict[str, object]:
    return {
        "memories": done.rows,
        "made": done.made,
        "same_words": done.same_words,
        "backups": list(done.backups),
    }


async def find_sealed(call: MethodCall, params: FindSealedParams) -> Answer:
    """The sealed memories that a question means, by their labels."""
    find = call.engine.find_sealed if params.in_clear else call.engine.seal.find
    return _rows_json(await await_future(find(params.query, params.limit)))


async def list_sealed(call: MethodCall, _params: NoParams) -> Answer:
    """Every sealed memory by its label, and the copies of the vault that may hold one of them unsealed."""
    older = await await_future(call.engine.seal.copies.list_older())
    found = _rows_json(await await_future(call.engine.seal.list_rows()))
    return {**found, "older_copies": list(older.names), "away": list(older.away)}


async def rewrite_copies(call: MethodCall, _params: NoParams) -> Answer:
    """Rewrite the backups from before a seal."""
    progress = call.progress

    def report(_: str, done: int, total: int | None) -> None:
        progress.report_progress("Rewriting the backups", done, total)

    done = await await_future(call.engine.seal.copies.rewrite(report, progress.is_cancelled))
    copies = [{"name": one.name, "state": one.state.value, "memories": one.memories} for one in done.copies]
    return {"copies": copies, "away": list(done.away), "unopened": done.unopened}


def _rows_json(rows: tuple[SealedRow, ...]) -> dict[str, object]:
    return {
        "items": [
            {
                "id": row.id,
                "label": row.label,
                "summary": row.summary,
                "space": row.space,
                "kind": row.kind,
                "sealed_at": format_wire_time(row.sealed_at),
                "can_open": row.can_open,
            }
            for row in rows
        ]
    }


async def read_sealed(call: MethodCall, params: SealedParams) -> Answer:
    """One sealed memory in plain words."""
    found = await await_future(call.engine.seal.read_text(params.id))
    return {
        "id": found.id,
        "label": found.label,
        "text": found.text,
        "space": found.space,
        "kind": found.kind,
        "time": None if found.occurred_at is None else format_wire_time(found.occurred_at),
        "sealed_at": format_wire_time(found.sealed_at),
        "made": list(found.made),
    }


async def erase_sealed(call: MethodCall, params: SealedParams) -> Answer:
    """Erase one sealed memory for good."""
    await await_future(call.engine.seal.discard([params.id]))
    return {"id": params.id, "erased": True}


_REPORT = {
    "id": text(),
    "sealed": flag(),
    "memories": whole_number("Rows; versions and the parts of a split text counted.", least=0),
    "made": whole_number("Texts made of it, which go too and are kept in it.", least=0),
    "same_words": whole_number("Other memories of the very same words, which stay readable.", least=0),
    "backups": list_of(text("A backup that holds it unsealed.")),
}
_LISTED = {
    "id": text(),
    "label": text(),
    "space": text(),
    "kind": text(),
    "sealed_at": text(),
}
_ROW = {
    **_LISTED,
    "summary": text("What is said of it in the clear; empty for nothing."),
    "can_open": flag("Whether its key is in memory."),
}
_AWAY = list_of(text("A backup that was written elsewhere and is not there now."))
_SECRET_ERRORS = (Code.WRONG_SECRET, Code.TOO_MANY_GUESSES, Code.MEMORY_PRESSURE, Code.NOT_FOUND)
_OPEN_ERRORS = (Code.SEALED, Code.NOT_FOUND, Code.ENCRYPTION_FAILED)

METHODS = (
    owner_method(
        "seal_key",
        "The key of sealed memories: how it is, make it, put it into memory, take it out, or change what opens it.",
        SealKeyParams,
        record(
            {
                "is_set_up": flag(),
                "is_open": flag("Whether it is in memory."),
                "closes_in_s": whole_number("Seconds until it leaves memory by itself.", least=0),
                "sealed": whole_number("Sealed memories.", least=0),
                "recovery_code?": text("Shown once."),
            }
        ),
        use_seal_key,
        effect="write",
        errors=_SECRET_ERRORS,
        long=True,
    ),
    owner_memory_method(
        "seal",
        "Seal one memory with its versions: nothing of it stays readable without the seal key. `dry_run` only tells.",
        SealParams,
        record(_REPORT),
        seal_memory,
        effect="write",
        errors=(Code.SEALED,),
    ),
    owner_method(
        "seal_found",
        "Seal all memories that are confidential, in one step. `dry_run` only tells how many they are.",
        SealFoundParams,
        record(
            {
                **{name: one for name, one in _REPORT.items() if name not in ("id", "sealed")},
                "found": whole_number("Confidential memories.", least=0),
                "sealed": whole_number("How many were sealed.", least=0),
            }
        ),
        seal_found,
        effect="write",
        errors=(Code.SEALED,),
    ),
    owner_method(
        "unseal",
        "Put one sealed memory back among the others, as it was.",
        SealedParams,
        record(_REPORT),
        unseal_memory,
        effect="write",
        errors=_OPEN_ERRORS,
        short_ids={"id": "sealed"},
    ),
    owner_method(
        "sealed",
        "Every sealed memory by its label, the newest first.",
        NoParams,
        record(
            {
                "items": list_of(record(_ROW)),
                "older_copies": list_of(text("A copy of the vault that may hold one of them unsealed.")),
                "away": _AWAY,
            }
        ),
        list_sealed,
        may_be_wrong=False,
    ),
    owner_method(
        "rewrite_sealed_copies",
        "Seal in the backups too what is sealed in the vault; only while the seal key is in memory. A backup is the "
        "old one or the new one, whole.",
        NoParams,
        record(
            {
                "copies": list_of(
                    record(
                        {
                            "name": text(),
                            "state": one_of(*(one.value for one in CopyState)),
                            "memories": whole_number("Rows of them that it still holds.", least=0),
                        }
                    )
                ),
                "away": _AWAY,
                "unopened": whole_number("Sealed memories that were not looked for: another key seals them.", least=0),
            }
        ),
        rewrite_copies,
        effect="write",
        errors=(Code.SEALED, Code.ENCRYPTION_FAILED, Code.DISK_FULL),
        long=True,
    ),
    owner_method(
        "find_sealed",
        "The sealed memories that a question means, the nearest first; only while their key is in memory. That they "
        "were searched stands in the audit, and nothing of the question.",
        FindSealedParams,
        record({"items": list_of(record(_ROW))}),
        find_sealed,
        effect="write",
        errors=(Code.SEALED, Code.INVALID_QUERY, Code.ENCRYPTION_FAILED),
    ),
    owner_method(
        "sealed_text",
        "One sealed memory in plain words; that it was read stands in the audit.",
        SealedParams,
        record(
            {
                **_LISTED,
                "text": text(),
                "time": nullable(text()),
                "made": list_of(text("What was made of it and went with it.")),
            }
        ),
        read_sealed,
        effect="write",
        errors=_OPEN_ERRORS,
        short_ids={"id": "sealed"},
    ),
    owner_method(
        "erase_sealed",
        "Erase one sealed memory for good; needs no key.",
        SealedParams,
        record({"id": text(), "erased": flag()}),
        erase_sealed,
        effect="write",
        errors=(Code.NOT_FOUND,),
        short_ids={"id": "sealed"},
    ),
)
