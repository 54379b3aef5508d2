"""The verbs on imports: import with its rehearsal, and unimport. Must not do: open a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.engine.facade import Engine
from core.errors import Code, UserError
from core.ipc.methods import memory_json
from core.ipc.methods.owner.base import Params, Progress, wait
from core.types.values import Actor


def absolute(text: str, field: str) -> Path:
    """A path that means the same in every process.

    Args:
        text: as sent.
        field: the parameter's name, for the error.

    Returns:
        The path.

    Raises:
        UserError: INVALID_INPUT for a relative one.
    """
    path = Path(text)
    if not path.is_absolute():
        raise UserError(Code.INVALID_INPUT, f"`{field}` must be an absolute path.")
    return path


async def import_(engine: Engine, params: Params, actor: Actor, progress: Progress) -> dict[str, Any]:
    """Bring in an export or notes, or only rehearse it."""
    path, form, space = absolute(params["path"], "path"), params.get("format"), params.get("space")
    rehearsal = params.get("dry_run", False)
    label = "Reading" if rehearsal else "Importing"

    def tell(done: int, total: int | None) -> None:
        progress.tell(label, done, total)

    work = (
        engine.imports.rehearse(path, form, actor, space, tell, progress.cancelled)
        if rehearsal
        else engine.imports.run(path, form, space, actor, tell, progress.cancelled)
    )
    return memory_json.imported(await wait(work))


async def unimport(engine: Engine, params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Take back exactly what one import brought."""
    report = await wait(engine.imports.undo(params["import_id"]))
    return {"import_id": params["import_id"], **memory_json.undone(report)}
