"""What the command line's verbs ask: one conversation with an engine, in this process or beyond the socket."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from core.errors import Code, UserError
from core.ipc.protocol.document import protocol_document

Tell = Callable[[str], None]
Report = Callable[[str, int, int | None], None]


class VerbSession(Protocol):
    """Something that answers the command line's verbs."""

    def call(self, verb: str, params: Mapping[str, Any], progress: Report | None = None) -> dict[str, Any]:
        """Carry out one verb.

        Args:
            verb: the name behind `owner.` in `core.ipc.methods.table.METHODS`.
            progress: told (label, done, total).

        Returns:
            The reply in the shape of the contract.
        """
        ...

    def older_copy(self) -> dict[str, Any] | None:
        """What is known of an older copy of the vault that nobody has accepted; None where there is nothing to say."""
        ...

    def close(self) -> None:
        """End the conversation."""
        ...


def is_changing_verb(verb: str) -> bool:
    """Whether a verb of the command line changes what is kept.

    Args:
        verb: as for `VerbSession.call`.
    """
    method = protocol_document()["methods"][f"owner.{verb}"]
    return bool(method["effect"] == "write")


def absolute_path(path: str) -> Path:
    """A path as the person wrote it, made absolute, so that another process can open it.

    Raises:
        UserError: INVALID_INPUT for an empty one.
    """
    if not path:
        raise UserError(Code.INVALID_INPUT, "An empty path names no file.")
    return Path(path).expanduser().absolute()
