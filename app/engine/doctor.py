"""Whether everything Loci needs is there (Python, the home, the window, a model server), and restoring a backup.

Must not do: open the vault or change anything to look, or call a server beyond this machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from app.chat.model_server import host_at
from app.cli.messages import format_count, load_words
from app.context import AppContext
from app.engine.connection import ask_secret
from app.qt import load_qt
from core.engine.facade import Finding, HomeKeys, examine_home, make_finding, restore_vault
from core.errors import LociError
from core.ipc.protocol.contract import format_wire_time
from core.types.clock import SystemClock

_SILENCE_S = 3.0


def examine_all(app_context: AppContext) -> list[Finding]:
    """Look at everything, in the order in which things depend on each other."""
    seen = examine_home(app_context.home, HomeKeys(app_context.home))
    return [_check_python(), *seen, _check_window(app_context), _check_engine(app_context), _model_server()]


def _check_python() -> Finding:
    try:
        least = str(metadata("loci-palace")["Requires-Python"] or "").lstrip(">=~ ").split(",")[0]
    except PackageNotFoundError:
        least = ""
    wanted = tuple(int(part) for part in least.split(".") if part.isdecimal())
    is_old = sys.version_info[: len(wanted)] < wanted
    version = ".".join(map(str, sys.version_info[:3]))
    return make_finding("python", "old" if is_old else "ok", version=version, least=least)


def _check_window(app_context: AppContext) -> Finding:
    try:
        load_qt()
        import PySide6.QtWidgets  # noqa: F401 - its system libraries are what may be missing
    except ImportError:
        return make_finding("window", "unusable")
    return make_finding("window", "ok" if app_context.environment.has_display else "no_display")


def _check_engine(app_context: AppContext) -> Finding:
    try:
        place = app_context.place
    except LociError as error:
        return make_finding("engine", "unfit", sentence=error.sentence)
    if app_context.is_answered:
        return make_finding("engine", "ok")
    return make_finding("engine", "left" if os.path.lexists(place.path) else "none")


def _model_server() -> Finding:
    try:
        server = host_at(os.environ.get("LOCI_OLLAMA", ""), _SILENCE_S)
    except LociError as error:
        return make_finding("model_server", "unfit", sentence=error.sentence)
    try:
        count = len(server.list_models())
    except LociError:
        return make_finding("model_server", "none")
    if not count:
        return make_finding("model_server", "empty")
    return make_finding("model_server", "ok", count=format_count(_read_forms(), count))


def _read_forms() -> Mapping[str, Any]:
    forms: Mapping[str, Any] = load_words("doctor")["models"]
    return forms


def restore_backup(app_context: AppContext, archive: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """Restore a backup into the home.

    Args:
        tell: says what the person should know.

    Returns:
        `{made_at, seq, rows, dropped_clients, kept_old}`.

    Raises:
        LociError: BACKUP_INVALID, WRONG_SECRET, VAULT_BUSY; the present vault is untouched.
    """
    info = restore_vault(app_context.home, archive, ask_secret(app_context), SystemClock())
    if info.has_old:
        tell("The vault that was here is kept beside the new one, with the ending .before-restore.")
    return {
        "made_at": format_wire_time(info.made_at_ms),
        "seq": info.seq,
        "rows": dict(info.counts),
        "dropped_clients": info.dropped_clients,
        "kept_old": info.has_old,
    }
