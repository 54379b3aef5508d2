"""What the journal knows of the local model: whether one was chosen, whether it answers, and what work needs it.

Must not do: look for a server; the engine does.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from PySide6.QtCore import QObject

from core.types.belief import Server
from core.types.lifecycle import JobType
from core.types.replies import OptionRow
from ui.context import Context
from ui.tasks import Task, query

NEED_MODEL = frozenset({JobType.DISTILL})
"""Work that no rule can do in the place of a model."""
_NAME = "model_name"
_MET = frozenset({Server.READY, Server.FAILING})


@dataclass(frozen=True, slots=True)
class Model:
    """What is known of it.

    Attributes:
        server: how its server is.
        name: the model that the person named; "" for one that fits.
    """

    server: Server = Server.ABSENT
    name: str = ""

    @property
    def is_ready(self) -> bool:
        """Whether it answers."""
        return self.server is Server.READY

    @property
    def is_chosen(self) -> bool:
        """Whether work may wait for it: one was named, or a server is there; what is turned off is not."""
        return self.server in _MET or (bool(self.name) and self.server is not Server.OFF)


def model_asked(
    context: Context, owner: QObject, label: str, key: str, then: Callable[[Model], None]
) -> Task[tuple[OptionRow, ...]]:
    """A reading of what is known of the model.

    Args:
        context: of the window.
        owner: the answer is dropped once it is gone.
        label: what the reading is called.
        key: a later task of the owner with the same key makes the answer void.
        then: is told.

    Returns:
        The task; its failure is the caller's.
    """
    engine, met = context.bridge.engine, list[Server]()

    def begin() -> Future[tuple[OptionRow, ...]]:
        met.append(engine.model.state.server)
        return engine.settings.rows()

    def tell(rows: tuple[OptionRow, ...]) -> None:
        name = next((str(row.value) for row in rows if row.name == _NAME), "")
        then(Model(met[-1], name.strip()))

    return query(label, begin).within(owner, key).success(tell)
