"""The owner's methods on files of memories: attach one, show it with what was read out of it, save it again.

Must not do: take a path from anybody but the owner, or send the bytes of a file over the socket.
"""

from __future__ import annotations

from pydantic import Field

from core.errors import Code, UserError
from core.ipc.methods.definition.entry import (
    AbsolutePath,
    Answer,
    MethodCall,
    Params,
    SpaceName,
    absolute_path,
    await_future,
    owner_method,
)
from core.ipc.methods.definition.results import flag, list_of, nullable, one_of, record, text, whole_number
from core.ipc.protocol.contract import format_wire_time
from core.types.files.attachments import AttachedFile, AttachNote, FileView, FileViewText, ViewMethod

_MOST_TEXT = 16_000
"""Characters of all texts of an answer, however many bytes each has: a message has room for no more."""
_FILE_ID = "A file, or a memory that has one: its id, or the end of it."


class AttachParams(Params):
    """The parameters of `owner.attach`."""

    path: AbsolutePath
    caption: str = Field("", max_length=16_000, description="What is said of the file.")
    space: SpaceName | None = None
    session: str | None = Field(None, min_length=1, max_length=1024, description="The session it belongs to.")


class FileParams(Params):
    """The parameters of `owner.file`."""

    id: str = Field(min_length=1, max_length=64, description=_FILE_ID)
    views: bool = Field(default=False, description="With the text that was read out of it.")
    start: int = Field(0, ge=0, description="The character each text begins with, to go on behind the last answer.")


class SaveFileParams(Params):
    """The parameters of `owner.save_file`."""

    id: str = Field(min_length=1, max_length=64, description=_FILE_ID)
    path: AbsolutePath


async def attach_file(call: MethodCall, params: AttachParams) -> Answer:
    """Make a memory of a file on this machine."""
    path = absolute_path(params.path, "path")
    call.progress.report_progress("Reading", 0, None)
    done = await await_future(
        call.engine.files.attach(path, call.actor(), caption=params.caption, space=params.space, session=params.session)
    )
    return {
        "operation": done.operation,
        "memory_id": done.memory_id,
        "deduplicated": done.deduplicated,
        "conflict": done.conflict,
        "notes": [one.value for one in done.notes],
        "step": done.step_id,
        "file": _file_json(done.file),
    }


async def show_file(call: MethodCall, params: FileParams) -> Answer:
    """The file of that id, or the files of the memory of that id."""
    files = call.engine.files
    found = await await_future(files.find_files(params.id))
    reply: Answer = {"files": [_file_json(one) for one in found]}
    if not params.views:
        return reply
    views = [(one.id, view) for one in found for view in await await_future(files.read_views(one.id))]
    most = _MOST_TEXT // max(sum(len(view.text) > params.start for _, view in views), 1)
    return {**reply, "views": [_view_text_json(file_id, view, params.start, most) for file_id, view in views]}


async def save_file(call: MethodCall, params: SaveFileParams) -> Answer:
    """Write a file where the person says; what exists there stays."""
    found = await await_future(call.engine.files.find_files(params.id))
    if len(found) > 1:
        raise UserError(Code.INVALID_INPUT, "That memory has several files; give the id of one.")
    path = absolute_path(params.path, "path")
    saved = await await_future(call.engine.files.save_to(found[0].id, path))
    return {"id": found[0].id, "path": str(saved), "size": found[0].size}


def _file_json(file: AttachedFile) -> dict[str, object]:
    return {
        "id": file.id,
        "memory_id": file.memory_id,
        "name": file.name,
        "media_type": file.media_type,
        "size": file.size,
        "digest": file.digest,
        "caption": file.caption,
        "pages": file.pages,
        "width": file.width,
        "height": file.height,
        "thumbnail": file.has_thumbnail,
        "attached_at": format_wire_time(file.attached_at),
        "views": [_view_json(one) for one in file.views],
    }


def _view_json(view: FileView) -> dict[str, object]:
    return {
        "id": view.id,
        "method": view.method.value,
        "characters": view.characters,
        "is_cut": view.is_cut,
    }


def _view_text_json(file_id: str, view: FileViewText, start: int, most: int) -> dict[str, object]:
    """A view with a part of its text; places are counted in that part."""
    text = view.text[start : start + most]
    places = ((page, max(first - start, 0), min(last - start, len(text))) for page, first, last in view.pages)
    return {
        "file": file_id,
        **_view_json(view.view),
        "text": text,
        "stretches": [{"page": page, "start": first, "end": last} for page, first, last in places if first < last],
        "left": max(len(view.text) - start - len(text), 0),
    }


_VIEW = {
    "id": text(),
    "method": one_of(*(one.value for one in ViewMethod), about="By what way it was read."),
    "characters": whole_number(least=0),
    "is_cut": flag("The file holds more than was read."),
}
_FILE = record(
    {
        "id": text(),
        "memory_id": text("The memory it belongs to."),
        "name": text(),
        "media_type": text("By its content, never by its name."),
        "size": whole_number("In bytes.", least=1),
        "digest": text("SHA-256 of the bytes, hexadecimal."),
        "caption": text(),
        "pages": nullable(whole_number(least=0)),
        "width": nullable(whole_number("In pixels.", least=1)),
        "height": nullable(whole_number("In pixels.", least=1)),
        "thumbnail": flag("There is a small picture of it."),
        "attached_at": text(),
        "views": list_of(record(_VIEW), "What was read out of it."),
    }
)

METHODS = (
    owner_method(
        "attach",
        "Makes a memory of a file on this machine: its bytes sealed in the vault, its words found by recall.",
        AttachParams,
        record(
            {
                "operation": one_of("ADD", "QUARANTINE", "NOOP"),
                "memory_id": text(),
                "deduplicated": flag("This file was attached there with this caption already."),
                "conflict": nullable(text("The review item that waits.")),
                "notes": list_of(one_of(*(one.value for one in AttachNote)), "What was not read of it."),
                "step": nullable(text("What takes it back.")),
                "file": _FILE,
            }
        ),
        attach_file,
        effect="write",
        errors=(
            Code.NOT_FOUND,
            Code.FILE_REFUSED,
            Code.FILE_TOO_LARGE,
            Code.IMPORT_CHANGED,
            Code.INVALID_INPUT,
            Code.DISK_FULL,
            Code.WRITE_FAILED,
        ),
        long=True,
    ),
    owner_method(
        "file",
        "Shows a file of a memory, or the files of a memory, with what was read out of them.",
        FileParams,
        record(
            {
                "files": list_of(_FILE),
                "views?": list_of(
                    record(
                        {
                            "file": text(),
                            **_VIEW,
                            "text": text(),
                            "stretches": list_of(
                                record(
                                    {
                                        "page": nullable(whole_number(least=1)),
                                        "start": whole_number("In characters.", least=0),
                                        "end": whole_number(least=0),
                                    }
                                ),
                                "Where the parts of `text` stand in the file.",
                            ),
                            "left": whole_number("Characters that follow behind `text`.", least=0),
                        }
                    )
                ),
            }
        ),
        show_file,
        errors=(Code.NOT_FOUND, Code.INVALID_INPUT),
    ),
    owner_method(
        "save_file",
        "Writes a file of a memory where the person says; what exists there is not replaced.",
        SaveFileParams,
        record({"id": text(), "path": text(), "size": whole_number(least=1)}),
        save_file,
        errors=(
            Code.NOT_FOUND,
            Code.FILE_REFUSED,
            Code.INVALID_INPUT,
            Code.ENCRYPTION_FAILED,
            Code.DISK_FULL,
            Code.READ_ONLY,
            Code.WRITE_FAILED,
        ),
        long=True,
    ),
)
