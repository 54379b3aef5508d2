"""The owner's methods on the vault as a whole: status, verify, older copies, lock, unlock, secrets, backup, export."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from core.engine.facade import Engine
from core.errors import Code, UserError
from core.ipc.methods.definition.entry import (
    AbsolutePath,
    Answer,
    Base64Text,
    Cursor,
    Entry,
    MemoryId,
    MethodCall,
    NoParams,
    Params,
    SpaceName,
    StatusParam,
    absolute_path,
    await_future,
    items_after,
    owner_method,
    unpublished_field,
)
from core.ipc.methods.definition.results import (
    any_object,
    flag,
    list_of,
    map_of,
    one_of,
    record,
    ref,
    text,
    whole_number,
)
from core.ipc.methods.memory_json import to_json_value
from core.ipc.protocol.contract import format_wire_time
from core.security.handshake import decode_value
from core.security.keys import KEY_BYTES, VAULT_ID_BYTES
from core.types.views import FindRequest


class UnlockParams(Params):
    """The parameters of `owner.unlock`."""

    vault: Base64Text = Field(description="The vault's id, 16 bytes.")
    key: Base64Text = Field(description="The root key, 32 bytes.")


class VerifyParams(Params):
    """The parameters of `owner.verify`."""

    deep: bool = Field(default=False, description="Compare every vector, and look into key files and backups too.")


class BackupParams(Params):
    """The parameters of `owner.backup`."""

    to: AbsolutePath | None = None


class ExportParams(Params):
    """The parameters of `owner.export`."""

    to: AbsolutePath | None = None
    format: Literal["jsonl", "json", "markdown", "csv", "obsidian", "mem0"] = unpublished_field("jsonl")
    space: SpaceName | None = None
    status: Annotated[tuple[StatusParam, ...], Field(min_length=1, max_length=8)] | Literal["all"] | None = Field(
        None, description="What stands, or is disputed, where it is left out."
    )
    after: Cursor | None = None


class ArchiveParams(Params):
    """The parameters of `owner.export_encrypted`."""

    to: AbsolutePath
    passphrase: str = Field(min_length=1, max_length=4096, description="The archive's own, of 12 characters at least.")


class ExportedParams(Params):
    """The parameters of `owner.exported`."""

    ids: tuple[MemoryId, ...] = Field(min_length=1, max_length=500)
    after: Cursor | None = None


class PassphraseParams(Params):
    """The parameters of `owner.passphrase`."""

    old: str = Field(min_length=1, max_length=4096, description="The passphrase or the recovery code.")
    new: str = Field(min_length=1, max_length=4096)


class RecoveryCodeParams(Params):
    """The parameters of `owner.recovery_code`."""

    secret: str | None = Field(None, min_length=1, max_length=4096, description="The passphrase or the recovery code.")
    confirm: str | None = Field(None, min_length=1, max_length=4096, description="The new code as it was kept.")


class RotateKeysParams(Params):
    """The parameters of `owner.rotate_keys`."""

    secret: str | None = Field(
        None, min_length=1, max_length=4096, description="The passphrase; without one the recovery code."
    )
    confirm: str | None = Field(None, min_length=1, max_length=4096, description="The new code as it was kept.")


class KeyringParams(Params):
    """The parameters of `owner.keyring`."""

    secret: str = Field(min_length=1, max_length=4096, description="The passphrase or the recovery code.")
    use: bool = Field(description="Whether the system's keyring opens the vault from now on.")


async def read_status(call: MethodCall, _params: NoParams) -> Answer:
    """How the vault and the engine are."""
    values: Answer = to_json_value((await await_future(call.engine.vault.read_status())).values)
    return values


async def verify_vault(call: MethodCall, params: VerifyParams) -> Answer:
    """Check the vault."""
    progress = call.progress
    progress.report_progress("Checking the vault", 0, None)

    def report(check: str, done: int, total: int | None) -> None:
        progress.report_progress(f"Checking the vault: {check.replace('_', ' ')}", done, total)

    vault = call.engine.vault
    found = await await_future(vault.verify(deep=params.deep, report=report, is_cancelled=progress.is_cancelled))
    shaped: Answer = to_json_value(found)
    return shaped


def older_of(engine: Engine) -> dict[str, Any] | None:
    """What is known of an older copy that nobody has accepted, as JSON tells it.

    Returns:
        None where the vault is the newest, or accepted.
    """
    older = engine.older
    if older is None:
        return None
    return {
        "doubt": str(older.doubt),
        "vault_seq": older.vault_seq,
        "seen_seq": older.head_seq,
        "seen_at": format_wire_time(older.head_time_ms),
        "do": "loci verify --accept-older",
    }


async def older_copy(call: MethodCall, _params: NoParams) -> Answer:
    """Whether the vault is an older copy that nobody has accepted."""
    return {"older_copy": older_of(call.engine)}


async def accept_older(call: MethodCall, _params: NoParams) -> Answer:
    """Go on with an older copy of the vault, on its owner's word."""
    was_older = call.engine.older is not None
    return {"accepted": was_older, "retired_clients": await await_future(call.engine.accept_older())}


async def lock_vault(call: MethodCall, _params: NoParams) -> Answer:
    """Lock the vault."""
    await await_future(call.engine.vault.lock())
    return {"state": call.engine.state}


async def unlock_vault(call: MethodCall, params: UnlockParams) -> Answer:
    """Unlock the vault with its root key, if the key is this vault's; an open vault stays open."""
    engine = call.engine
    vault, root = decode_value(params.vault, VAULT_ID_BYTES), decode_value(params.key, KEY_BYTES)
    if vault != engine.vault_id:
        raise UserError(Code.WRONG_SECRET, "That key belongs to another vault.")
    if engine.state != "open":
        call.progress.report_progress("Opening the vault", 0, None)
        await await_future(engine.vault.unlock(root))
    return {"state": engine.state}


async def change_passphrase(call: MethodCall, params: PassphraseParams) -> Answer:
    """Put another passphrase in the place of the old one."""
    call.progress.report_progress("Changing the passphrase", 0, None)
    await await_future(call.engine.vault.change_passphrase(params.old, params.new))
    return {"changed": True}


async def recovery_code(call: MethodCall, params: RecoveryCodeParams) -> Answer:
    """Make a recovery code, which opens nothing yet; or put the one that was made last in force."""
    if params.confirm is not None:
        return {"holds": await await_future(call.engine.vault.confirm_recovery_code(params.confirm))}
    if params.secret is None:
        raise UserError(Code.INVALID_INPUT, "Give the passphrase, or the code that is to be put in force.")
    call.progress.report_progress("Making a recovery code", 0, None)
    return {"recovery_code": await await_future(call.engine.vault.new_recovery_code(params.secret))}


_ROTATION_LABELS = {
    "copy": "Encrypting under the new keys",
    "audit": "Binding the audit to the new keys",
    "check": "Checking the new vault",
    "switch": "Putting it in place",
}


async def rotate_keys(call: MethodCall, params: RotateKeysParams) -> Answer:
    """Make new keys, which open nothing yet; or put the vault under those that were made last."""
    keys, progress = call.engine.keys, call.progress
    if params.confirm is None:
        if params.secret is None:
            raise UserError(Code.INVALID_INPUT, "Give the passphrase, or the code of the keys that are made already.")
        progress.report_progress("Making new keys", 0, None)
        return {"recovery_code": await await_future(keys.prepare_rotation(params.secret))}

    def report_step(step: str, done: int, total: int | None) -> None:
        progress.report_progress(_ROTATION_LABELS[step], done, total)

    done = await await_future(keys.rotate(params.confirm, report_step, progress.is_cancelled))
    if done is None:
        return {"holds": False}
    return {
        "holds": True,
        "rows": done.rows,
        "bytes": done.vault_bytes,
        "old_backups": list(done.old_backups),
        "closed_copies": list(done.closed_copies),
    }


async def switch_keyring(call: MethodCall, params: KeyringParams) -> Answer:
    """Let the system's keyring open the vault, or no more."""
    call.progress.report_progress("Asking the keyring", 0, None)
    if params.use:
        await await_future(call.engine.keys.turn_keyring_on(params.secret))
        return {"in_keyring": True, "is_removed": False}
    return {"in_keyring": False, "is_removed": await await_future(call.engine.keys.turn_keyring_off(params.secret))}


async def write_backup(call: MethodCall, params: BackupParams) -> Answer:
    """Write a verified backup."""
    call.progress.report_progress("Backing up", 0, None)
    to = None if params.to is None else absolute_path(params.to, "to")
    made = await await_future(call.engine.vault.backup(to))
    shaped: Answer = to_json_value(made)
    return shaped


async def export_memories(call: MethodCall, params: ExportParams) -> Answer:
    """Write memories to a file; without one give their ids, whose fields `exported` then hands out."""
    form, library = params.format, call.engine.library
    call.progress.report_progress("Exporting", 0, None)
    found = await await_future(library.find_memories(FindRequest(await _export_search(call, params), descending=False)))
    if params.to is not None:
        path = absolute_path(params.to, "to")
        return {
            "path": str(path),
            "format": form,
            "memories": await await_future(library.export_memories(found.ids, path, form)),
        }
    order = await await_future(library.record_export(found.ids, form))
    return {"format": form, "memories": len(order), "items": [{"id": one} for one in order]}


async def export_archive(call: MethodCall, params: ArchiveParams) -> Answer:
    """Write everything into an encrypted archive."""
    progress = call.progress

    def report_progress(done: int, total: int | None) -> None:
        progress.report_progress("Exporting", done, total)

    work = call.engine.library.export_archive(
        absolute_path(params.to, "to"), params.passphrase, report_progress, progress.is_cancelled
    )
    receipt = await await_future(work)
    return {
        "path": receipt.path,
        "memories": receipt.memories,
        "sealed": receipt.sealed,
        "rows": dict(receipt.rows),
        "bytes": receipt.size,
    }


async def _export_search(call: MethodCall, params: ExportParams) -> str:
    """The library's search for what is exported: what stands, where no status is named."""
    query, with_term = "", call.engine.library.with_term
    if params.space is not None:
        if params.space not in (await await_future(call.engine.vault.read_status())).values["spaces"]:
            raise UserError(Code.NOT_FOUND, "There is no such space.")
        query = with_term(query, "space", params.space)
    for value in ["all"] if params.status == "all" else params.status or ():
        query = with_term(query, "status", value)
    return query


async def list_exported(call: MethodCall, params: ExportedParams) -> Answer:
    """The fields of an export, part by part."""
    parts = await await_future(call.engine.library.export_fields(params.ids))
    first_ids = set(params.ids)
    items = [{"id": one, "continues": one not in first_ids, "fields": dict(fields)} for one, fields in parts]
    return {"items": items_after(items, params.after)}


METHODS: tuple[Entry, ...] = (
    owner_method("status", "How the vault and the engine are.", NoParams, any_object(), read_status),
    owner_method(
        "verify",
        "Check the vault: cipher, pages, search, audit chain, index.",
        VerifyParams,
        record({"status": one_of("ok", "damaged", "not_checked"), "checks": any_object()}, is_open=True),
        verify_vault,
        errors=(Code.CANCELLED,),
        long=True,
    ),
    owner_method(
        "older_copy",
        "Whether the vault is an older copy than the one last seen, or it cannot be told, and nobody has accepted it.",
        NoParams,
        record(
            {
                "older_copy": {
                    "type": ["object", "null"],
                    "properties": {
                        "doubt": {"enum": ["older", "missing", "damaged"]},
                        "vault_seq": {"type": "integer"},
                        "seen_seq": {"type": "integer"},
                        "seen_at": {"type": ["string", "null"]},
                        "do": {"type": "string"},
                    },
                }
            }
        ),
        older_copy,
        may_be_wrong=False,
    ),
    owner_method(
        "accept_older",
        "Go on with an older copy of the vault: clients are let in again and it is "
        "written. Clients that were revoked or given other terms since are revoked.",
        NoParams,
        record({"accepted": flag(), "retired_clients": whole_number(least=0)}),
        accept_older,
        effect="write",
        errors=(Code.DISK_FULL, Code.READ_ONLY),
        may_be_wrong=False,
    ),
    owner_method(
        "lock", "Lock the vault; every session ends.", NoParams, record({"state": text()}), lock_vault, effect="write"
    ),
    owner_method(
        "unlock",
        "Unlock a locked engine with the vault's root key. The only call a locked engine carries out.",
        UnlockParams,
        record({"state": text()}),
        unlock_vault,
        effect="write",
        errors=(Code.VAULT_DAMAGED, Code.WRONG_SECRET, Code.NEWER_VERSION),
        long=True,
    ),
    owner_method(
        "backup",
        "Write a verified backup.",
        BackupParams,
        record(
            {
                "path": text("The file that was written and verified."),
                "bytes": whole_number(least=0),
                "seq": whole_number("The vault's count of changes that it holds.", least=0),
                "rows": map_of(ref("count"), "Table to rows."),
            }
        ),
        write_backup,
        effect="write",
        errors=(Code.DISK_FULL, Code.BACKUP_INVALID),
        long=True,
    ),
    owner_method(
        "export",
        "Write memories to a file that only the person may read; without `to` their ids, in the order of an export.",
        ExportParams,
        record(
            {
                "path?": text(),
                "format": text(),
                "memories": whole_number(least=0),
                "items?": list_of(record({"id": text()})),
                "next?": text(),
            }
        ),
        export_memories,
        effect="write",
        errors=(Code.NOT_FOUND, Code.DISK_FULL, Code.WRITE_FAILED),
        long=True,
        paged="id",
    ),
    owner_method(
        "export_encrypted",
        "Write everything into an encrypted archive (docs/archive-format.md) that only the person may read.",
        ArchiveParams,
        record(
            {
                "path": text("The file that was written."),
                "memories": whole_number("A text in parts counts once.", least=0),
                "sealed": whole_number("Of them, those that are sealed, and stay so.", least=0),
                "rows": map_of(ref("count"), "Table to rows."),
                "bytes": whole_number(least=0),
            }
        ),
        export_archive,
        effect="write",
        errors=(Code.DISK_FULL, Code.WRITE_FAILED, Code.READ_ONLY, Code.MEMORY_PRESSURE, Code.CANCELLED),
        long=True,
    ),
    owner_method(
        "exported",
        "The fields of an export, part by part: of a later part of a long text, which "
        "`continues` the one before, its text alone.",
        ExportedParams,
        record(
            {"items": list_of(record({"id": text(), "continues": flag(), "fields": any_object()})), "next?": text()}
        ),
        list_exported,
        paged="id",
    ),
    owner_method(
        "passphrase",
        "Put another passphrase in the place of the old one.",
        PassphraseParams,
        record({"changed": flag()}),
        change_passphrase,
        effect="write",
        errors=(Code.WRONG_SECRET, Code.TOO_MANY_GUESSES, Code.DISK_FULL),
        long=True,
    ),
    owner_method(
        "recovery_code",
        "Make a recovery code, which opens nothing yet; with `confirm` put the one made "
        "last in force, and the old one opens nothing any more.",
        RecoveryCodeParams,
        record({"recovery_code?": text("Shown once."), "holds?": flag()}),
        recovery_code,
        effect="write",
        errors=(Code.WRONG_SECRET, Code.TOO_MANY_GUESSES, Code.DISK_FULL),
        long=True,
    ),
    owner_method(
        "rotate_keys",
        "Make new keys, which open nothing yet; with `confirm` encrypt the whole vault under the ones made last. The "
        "vault is closed meanwhile, and every session ends.",
        RotateKeysParams,
        record(
            {
                "recovery_code?": text("Shown once."),
                "holds?": flag("Whether the new keys hold; false where the code is another one."),
                "rows?": whole_number("Rows of all tables that were compared.", least=0),
                "bytes?": whole_number("Size of the vault's file.", least=0),
                "old_backups?": list_of(text("A backup that opens with the secrets of before.")),
                "closed_copies?": list_of(text("A copy from before an update, which opens no more.")),
            }
        ),
        rotate_keys,
        effect="write",
        errors=(
            Code.WRONG_SECRET,
            Code.TOO_MANY_GUESSES,
            Code.KEYRING_UNAVAILABLE,
            Code.VAULT_DAMAGED,
            Code.DISK_FULL,
            Code.READ_ONLY,
            Code.WRITE_FAILED,
            Code.CANCELLED,
        ),
        long=True,
    ),
    owner_method(
        "keyring",
        "Let the system's keyring open the vault, or no more.",
        KeyringParams,
        record({"in_keyring": flag(), "is_removed": flag("Whether the keyring's entry is gone.")}),
        switch_keyring,
        effect="write",
        errors=(Code.WRONG_SECRET, Code.TOO_MANY_GUESSES, Code.KEYRING_UNAVAILABLE, Code.DISK_FULL),
        long=True,
    ),
)
