"""Which spaces a grant of the person makes: a new one may be a slip of the pen, so it is told.

Must not do: grant anything, or say to a client which spaces there are.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.engine.facade import Engine
from core.ipc.methods.owner.base import wait

_SPACE = "space:"


async def new_spaces(engine: Engine, grants: Iterable[str]) -> list[str]:
    """The spaces that do not exist before something is granted; granting makes them (design section 8).

    Args:
        engine: the engine.
        grants: as the person named them.

    Returns:
        Their names, in the order of the grants.
    """
    named = [grant.removeprefix(_SPACE) for grant in grants if grant.startswith(_SPACE)]
    if not named:
        return []
    there = (await wait(engine.vault.status())).values["spaces"]
    return [name for name in dict.fromkeys(named) if name not in there]
