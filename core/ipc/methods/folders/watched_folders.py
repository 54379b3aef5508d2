"""The owner's method on watched folders: add, list, switch, remove, what came, and what becomes of what vanished.

Must not do: open a file, or answer a client.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from pydantic import Field

from core.errors import Code, UserError
from core.ipc.methods import memory_json
from core.ipc.methods.definition.entry import (
    AbsolutePath,
    Answer,
    FormatName,
    MethodCall,
    Params,
    SpaceName,
    absolute_path,
    await_future,
    owner_method,
)
from core.ipc.methods.definition.results import (
    IMPORT_REPORT,
    flag,
    list_of,
    map_of,
    nullable,
    one_of,
    record,
    text,
    whole_number,
)
from core.ipc.protocol.contract import format_wire_time
from core.types.folders.watch import GoneChoice, GoneFile, WatchedFolder, WatchEntry, WatchMeans, WatchState

Action = Literal["add", "list", "look", "pause", "resume", "remove", "log", "keep", "archive"]


class WatchParams(Params):
    """The parameters of `owner.watch`."""

    action: Action
    path: AbsolutePath | None = Field(None, description="Of `add`: the folder.")
    format: FormatName | None = Field(None, description="Of `add`: of its files; detected where it is left out.")
    space: SpaceName | None = Field(None, description="Of `add`: where everything of it goes.")
    dry_run: bool = Field(default=False, description="Of `add`: only tell what it would bring.")
    id: str | None = Field(None, min_length=1, max_length=64, description="A watched folder, or the end of its id.")
    file: str | None = Field(
        None, min_length=1, max_length=4096, description="Of `keep` and `archive`: one file; all that vanished without."
    )
    limit: int = Field(50, ge=1, le=500, description="Of `log`: entries, at most.")
    before: int | None = Field(None, ge=1, description="Of `log`: the `number` of the entry that the list comes after.")


async def use_watches(call: MethodCall, params: WatchParams) -> Answer:
    """Add, list, switch or remove watched folders; tell what came; decide what vanished."""
    done = await _ACTIONS[params.action](call, params)
    folders = await await_future(call.engine.watches.list_folders())
    return {"folders": [_folder_json(one) for one in folders], **done}


async def _add(call: MethodCall, params: WatchParams) -> dict[str, object]:
    if params.path is None:
        raise UserError(Code.INVALID_INPUT, "Name the folder to watch.")
    path, progress, watches = absolute_path(params.path, "path"), call.progress, call.engine.watches

    def report_reading(done: int, total: int | None) -> None:
        progress.report_progress("Reading", done, total)

    def report_storing(done: int, total: int | None) -> None:
        progress.report_progress("Bringing in", done, total)

    form: str | None = params.format
    if form is None or params.dry_run:
        report = await await_future(
            watches.rehearse(path, form, params.space, call.actor(), report_reading, progress.is_cancelled)
        )
        if params.dry_run:
            return {"report": memory_json.import_json(report)}
        form = report.format
    added = await await_future(watches.add(path, form, params.space, call.actor(), report_storing))
    return {"folder": _folder_json(added)}


async def _list(_call: MethodCall, _params: WatchParams) -> dict[str, object]:
    return {}


async def _look(call: MethodCall, params: WatchParams) -> dict[str, object]:
    await await_future(call.engine.watches.look(params.id))
    return {}


async def _switch(call: MethodCall, params: WatchParams) -> dict[str, object]:
    done = call.engine.watches.pause(_id_of(params), is_paused=params.action == "pause")
    return {"folder": _folder_json(await await_future(done))}


async def _remove(call: MethodCall, params: WatchParams) -> dict[str, object]:
    return {"folder": _folder_json(await await_future(call.engine.watches.remove(_id_of(params))))}


async def _log(call: MethodCall, params: WatchParams) -> dict[str, object]:
    entries, gone = await await_future(call.engine.watches.read_log(_id_of(params), params.limit, params.before))
    return {"entries": [_entry_json(one) for one in entries], "gone": [_gone_json(one) for one in gone]}


async def _decide(call: MethodCall, params: WatchParams) -> dict[str, object]:
    done = call.engine.watches.decide_gone(_id_of(params), GoneChoice(params.action), params.file)
    return {"folder": _folder_json(await await_future(done))}


_ACTIONS: Mapping[str, Callable[[MethodCall, WatchParams], Awaitable[dict[str, object]]]] = {
    "add": _add,
    "list": _list,
    "look": _look,
    "pause": _switch,
    "resume": _switch,
    "remove": _remove,
    "log": _log,
    "keep": _decide,
    "archive": _decide,
}


def _id_of(params: WatchParams) -> str:
    if params.id is None:
        raise UserError(Code.INVALID_INPUT, "Name the watched folder by its id; `loci watch list` tells it.")
    return params.id


def _folder_json(folder: WatchedFolder) -> dict[str, object]:
    return {
        "id": folder.id,
        "path": folder.path,
        "format": folder.format,
        "space": folder.space,
        "import_id": folder.import_id,
        "added_at": format_wire_time(folder.added_at),
        "state": folder.state.value,
        "means": folder.means.value,
        "reason": folder.reason,
        "code": folder.code,
        "files": folder.files,
        "memories": folder.memories,
        "asked": folder.asked,
        "looked_at": None if folder.looked_at is None else format_wire_time(folder.looked_at),
        "came_at": None if folder.came_at is None else format_wire_time(folder.came_at),
    }


def _entry_json(entry: WatchEntry) -> dict[str, object]:
    return {
        "number": entry.number,
        "at": format_wire_time(entry.at),
        "event": entry.event,
        "file": entry.name,
        "counts": dict(entry.counts),
        "step": entry.step_id,
    }


def _gone_json(gone: GoneFile) -> dict[str, object]:
    return {
        "file": gone.name,
        "memories": gone.memories,
        "gone_at": format_wire_time(gone.gone_at),
        "is_there": gone.is_there,
    }


_FOLDER = record(
    {
        "id": text(),
        "path": text(),
        "format": text(),
        "space": text(),
        "import_id": text("All its memories are of this import."),
        "added_at": text(),
        "state": one_of(*(one.value for one in WatchState)),
        "means": one_of(*(one.value for one in WatchMeans), about="How its changes are noticed now."),
        "reason": text("Why it is looked at instead: `remote`, `limit`, or nothing."),
        "code": text("The code of what went wrong last; empty for nothing."),
        "files": whole_number("Files of it that were read to their end.", least=0),
        "memories": whole_number("Memories of it in the vault.", least=0),
        "asked": whole_number("Files that vanished, of which nothing is decided.", least=0),
        "looked_at": nullable(text()),
        "came_at": nullable(text()),
    }
)

METHODS = (
    owner_method(
        "watch",
        "Watched folders: add, list, look now, pause, resume, remove, what came, and what becomes of what vanished.",
        WatchParams,
        record(
            {
                "folders": list_of(_FOLDER),
                "folder?": _FOLDER,
                "report?": IMPORT_REPORT,
                "entries?": list_of(
                    record(
                        {
                            "number": whole_number(least=1),
                            "at": text(),
                            "event": text("`added`, `came`, `gone`, `left`, `kept`, `archived`, `paused`, `resumed`."),
                            "file": text("Where it is about one file."),
                            "counts": map_of(
                                whole_number(least=0), "What was done; `left.` and a reason for the rest."
                            ),
                            "step": nullable(text("What takes it back.")),
                        }
                    ),
                    "Of `log`: what was done, the newest first.",
                ),
                "gone?": list_of(
                    record(
                        {
                            "file": text(),
                            "memories": whole_number(least=0),
                            "gone_at": text(),
                            "is_there": flag("The file is there and says less than before."),
                        }
                    ),
                    "Of `log`: files of which it is asked what becomes of their memories.",
                ),
            }
        ),
        use_watches,
        effect="write",
        errors=(
            Code.NOT_FOUND,
            Code.IMPORT_REFUSED,
            Code.IMPORT_UNKNOWN_FORMAT,
            Code.IMPORT_CHANGED,
            Code.DISK_FULL,
            Code.WRITE_FAILED,
        ),
        long=True,
    ),
)
