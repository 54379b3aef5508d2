"""The owner's method on other devices: pairing, joining, one round, how it stands, leaving.

Must not do: keep a code, or answer a client.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from core.errors import Code, UserError
from core.ipc.methods.definition.entry import Answer, MethodCall, Params, await_future, owner_method
from core.ipc.methods.definition.results import flag, list_of, nullable, record, text, whole_number
from core.ipc.protocol.contract import format_wire_time
from core.types.folders.sync import RemovedDevice, SyncProblem, SyncReport, SyncStatus

_OWN_NAME = "this device"


class SyncParams(Params):
    """The parameters of `owner.sync`."""

    action: Literal["pair", "join", "now", "status", "remove", "leave", "name"]
    folder: str | None = Field(None, min_length=1, max_length=4096, description="The folder that the devices share.")
    code: str | None = Field(None, min_length=1, max_length=64, description="Of `join`: the code the other one shows.")
    name: str | None = Field(
        None, min_length=1, max_length=256, description="Of `pair`, `join` and `name`: how the others list this device."
    )
    device: str | None = Field(
        None, min_length=1, max_length=64, description="Of `remove`: the device to take out, by name or id."
    )
    whole: bool = Field(default=False, description="Of `now`: tell everything, and not only what is new.")


async def sync_devices(call: MethodCall, params: SyncParams) -> Answer:
    """Pair, join, take and tell, say how it stands, or leave."""
    if params.action != "status":
        call.progress.report_progress("Looking into the folder", 0, None)
    done = await _ACTIONS[params.action](call, params)
    return {**_status_json(await await_future(call.engine.devices.read_status())), **done}


async def _pair(call: MethodCall, params: SyncParams) -> dict[str, object]:
    offer = await await_future(call.engine.devices.pair(_folder_of(params), params.name or _OWN_NAME))
    return {"code": offer.code, "expires_at": format_wire_time(offer.expires_at)}


async def _join(call: MethodCall, params: SyncParams) -> dict[str, object]:
    folder = _folder_of(params)
    if params.code is None or folder is None:
        raise UserError(Code.INVALID_INPUT, "Joining needs the code and the folder.")
    return {
        "report": _report_json(
            await await_future(call.engine.devices.join(params.code, folder, params.name or _OWN_NAME))
        )
    }


async def _exchange(call: MethodCall, params: SyncParams) -> dict[str, object]:
    return {
        "report": _report_json(await await_future(call.engine.devices.run(_folder_of(params), is_whole=params.whole)))
    }


async def _remove(call: MethodCall, params: SyncParams) -> dict[str, object]:
    if params.device is None:
        raise UserError(Code.INVALID_INPUT, "Name the device to take out, or give its id.")
    done: RemovedDevice = await await_future(call.engine.devices.remove(params.device))
    told = {} if done.report is None else {"report": _report_json(done.report)}
    return {"removed": done.name, **told}


async def _rename(call: MethodCall, params: SyncParams) -> dict[str, object]:
    if params.name is None:
        raise UserError(Code.INVALID_INPUT, "Name how this device shall be called.")
    name: str = await await_future(call.engine.devices.rename(params.name))
    return {"named": name}


async def _leave(call: MethodCall, _params: SyncParams) -> dict[str, object]:
    return {"report": _report_json(await await_future(call.engine.devices.leave()))}


async def _say_nothing(_call: MethodCall, _params: SyncParams) -> dict[str, object]:
    return {}


_ACTIONS: Mapping[str, Callable[[MethodCall, SyncParams], Awaitable[dict[str, object]]]] = {
    "pair": _pair,
    "join": _join,
    "now": _exchange,
    "status": _say_nothing,
    "remove": _remove,
    "leave": _leave,
    "name": _rename,
}


def _folder_of(params: SyncParams) -> Path | None:
    return None if params.folder is None else Path(params.folder)


def _report_json(done: SyncReport) -> dict[str, object]:
    return {
        "told": done.told,
        "wrote": done.wrote,
        "bundles": done.bundles,
        "rows": done.rows,
        "new": done.new,
        "gone": done.gone,
        "asked": done.asked,
        "refused": done.refused,
        "admitted": list(done.admitted),
        "removed": done.removed,
        "problems": [_problem_json(one) for one in done.problems],
    }


def _problem_json(found: SyncProblem) -> dict[str, object]:
    return {"kind": found.kind, "file": found.name, "device": found.device, "number": found.number}


def _status_json(found: SyncStatus) -> dict[str, object]:
    return {
        "is_on": found.is_on,
        "folder": found.folder,
        "is_there": found.is_there,
        "synced_at": None if found.synced_at is None else format_wire_time(found.synced_at),
        "pending": found.pending,
        "kept": found.kept,
        "devices": [
            {
                "id": one.id,
                "name": one.name,
                "is_own": one.is_own,
                "since": format_wire_time(one.added_at),
                "left_at": None if one.left_at is None else format_wire_time(one.left_at),
                "number": one.number,
                "behind": one.behind,
            }
            for one in found.devices
        ],
        "problems": [_problem_json(one) for one in found.problems],
        "quarantine": found.quarantine,
        "trouble": found.trouble,
    }


_PROBLEMS = list_of(
    record(
        {
            "kind": text("What is wrong; the sentences stand in `resources/help/commandline.json`."),
            "file": text(),
            "device": text(),
            "number": whole_number("Of the bundle; 0 for none.", least=0),
        }
    )
)
_REPORT = record(
    {
        "told": whole_number("Rows in this device's new bundle.", least=0),
        "wrote": flag("Whether there is a new bundle."),
        "bundles": whole_number("Bundles of others that were taken.", least=0),
        "rows": whole_number("Rows in them that were new.", least=0),
        "new": whole_number("Memories that came; parts counted.", least=0),
        "gone": whole_number("Memories that went; parts counted.", least=0),
        "asked": whole_number("Questions that came of it and wait in the review.", least=0),
        "refused": whole_number("Rows that could not be beside what is here and are nowhere now.", least=0),
        "admitted": list_of(text("A device that was let in.")),
        "removed": whole_number("Bundles that every device has taken and that left the folder.", least=0),
        "problems": _PROBLEMS,
    }
)

METHODS = (
    owner_method(
        "sync",
        "Other devices: pair one, join, take and tell changes, say how it stands, take one out, or leave.",
        SyncParams,
        record(
            {
                "is_on": flag("False where the vault is on this device alone."),
                "folder": text(),
                "is_there": flag("Whether the folder can be read now."),
                "synced_at": nullable(text()),
                "pending": whole_number("Rows that the others have not been told of.", least=0),
                "kept": whole_number("Bundles of this device in the folder.", least=0),
                "devices": list_of(
                    record(
                        {
                            "id": text(),
                            "name": text(),
                            "is_own": flag(),
                            "since": text(),
                            "left_at": nullable(text()),
                            "number": whole_number("Of the last of its bundles that is in this vault.", least=0),
                            "behind": whole_number("Bundles of this device that it has not taken.", least=0),
                        }
                    )
                ),
                "problems": _PROBLEMS,
                "quarantine": text("The folder with copies of files that were no bundles; empty for none."),
                "trouble": text("What hindered the last round that began by itself; empty for nothing."),
                "code?": text("Of `pair`: shown once."),
                "expires_at?": text("Of `pair`: when the code ends."),
                "report?": _REPORT,
                "named?": text("Of `name`: how this device is called now."),
                "removed?": text("Of `remove`: the name of the device."),
            }
        ),
        sync_devices,
        effect="write",
        errors=(
            Code.SYNC_OFF,
            Code.SYNC_FOLDER_GONE,
            Code.SYNC_FORKED,
            Code.SYNC_CODE_REFUSED,
            Code.NOT_FOUND,
            Code.DISK_FULL,
            Code.READ_ONLY,
            Code.WRITE_FAILED,
        ),
        long=True,
    ),
)
