"""Named loggers that never hold memory text, queries, paths below the home, tokens or SQL.

What is logged: what happened, counts, ids and codes. The level does not change
that. `core.log.to_files` is called once by the engine when a home is known.
"""

from __future__ import annotations

import logging
import logging.handlers
import os
from pathlib import Path

ROOT = "loci"
_MAX_BYTES = 1_000_000
_FILES = 5


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """A rotating file that is born with mode 0600, whatever the umask."""

    def _open(self):  # type: ignore[no-untyped-def]  # noqa: ANN202 - the base's own return type is a private TextIOWrapper
        fd = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(fd, "a", encoding="utf-8")


class _NoTracebackText(logging.Formatter):
    """Prints the types of an exception chain, never its messages: those may carry data."""

    def formatException(self, ei: object) -> str:  # noqa: N802 - name of the standard library
        """Reduce an exception to its type and place.

        Args:
            ei: the `exc_info` triple.

        Returns:
            One line such as `ValueError at module.py:12`.
        """
        if not isinstance(ei, tuple) or ei[0] is None:
            return ""
        trace, place = ei[2], "?"
        while trace is not None:
            place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
            trace = trace.tb_next
        return f"{ei[0].__name__} at {place}"


def get(name: str) -> logging.Logger:
    """The logger of one room.

    Args:
        name: the room, such as `vault.writer`.

    Returns:
        A logger below `loci`.
    """
    return logging.getLogger(f"{ROOT}.{name}")


def to_files(folder: Path) -> logging.Handler:
    """Send everything to `loci.log` in a folder: 0600, five files of 1 MB.

    Args:
        folder: an existing directory with mode 0700.

    Returns:
        The handler; hand it to `remove_log_handler` when the engine closes.
    """
    handler = _PrivateFile(folder / "loci.log", maxBytes=_MAX_BYTES, backupCount=_FILES - 1, delay=True)
    handler.setFormatter(_NoTracebackText("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logger = logging.getLogger(ROOT)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    return handler


def remove_log_handler(handler: logging.Handler) -> None:
    """Detach and close a handler made by `to_files`."""
    logging.getLogger(ROOT).removeHandler(handler)
    handler.close()
