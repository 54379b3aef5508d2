"""Erasing for good as the engine does it: rows and traces in one transaction, then what lies beside the vault.

Must not do: decide what goes; `core.intake.erase.erasure` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path

from core import log
from core.engine.runtime.open_vault import OpenVault
from core.errors import Code, UserError
from core.intake.erase.erasure import VERB, erase, erase_preview
from core.types.lifecycle import Erased
from core.types.memory import ErasePreview
from core.types.values import Actor
from core.vault.database.tx import Tx
from core.vault.files.home import Home

_STAMP = re.compile(r"loci-(\d{8}-\d{6})-\d+\.tar")
_BESIDE = "*.before-restore"
_SECOND_MS = 999  # the name of a backup tells whole seconds
_log = log.get("engine")


def preview_erasure(opened: OpenVault, ids: Sequence[str], *, whole_chain: bool) -> Future[ErasePreview]:
    """What `erase_for_good` would remove.

    Args:
        whole_chain: whether all versions of their chains go too.

    Returns:
        What goes and what would still hold it; the future raises NOT_FOUND.
    """
    held = backups_of(opened.home)
    return opened.read(lambda rows: erase_preview(rows, ids, whole_chain=whole_chain, backups=held))


def erase_for_good(opened: OpenVault, ids: Sequence[str], actor: Actor, *, whole_chain: bool) -> Future[Erased]:
    """Remove memories and every trace of their text.

    Args:
        whole_chain: whether all versions of their chains go too.

    Returns:
        How many rows went, and which backups still hold them; the future raises NOT_FOUND.

    Raises:
        UserError: ACCESS_DENIED for anybody but the owner.
    """
    if not actor.is_owner:
        raise UserError(Code.ACCESS_DENIED, "Only the person may erase.")
    held = backups_of(opened.home)
    waiting = opened.read_log.take()

    def write(tx: Tx) -> Erased:
        # What was read of them a moment ago is written first, so that it is cleared with the rest.
        opened.read_log.write(tx, waiting)
        done = erase(tx, opened.work, ids, actor, vector_remover(opened), held, whole_chain=whole_chain)
        opened.announce_after(tx, VERB, tuple(ids), actor)
        return done

    def put_back(done: Future[Erased]) -> None:
        if done.cancelled() or done.exception() is not None:
            opened.read_log.put_back(waiting)

    erased = opened.write(write)
    erased.add_done_callback(put_back)
    return erased


def vector_remover(opened: OpenVault) -> Callable[[int, Sequence[int]], None]:
    """What to tell of vanished rows after the commit, for an erasure: index and snapshot let go of their vectors.

    Returns:
        Takes the vault's sequence and the labels; on the writer's thread.
    """

    def removed(seq: int, labels: Sequence[int]) -> None:
        opened.search.drop_vectors(seq, labels)
        # The next lock writes another; until then the index is built from the vault.
        opened.search.saved = None
        opened.search.probe_vectors.clear()
        try:
            opened.home.snapshot.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("the index snapshot could not be removed (%s)", type(error).__name__)

    return removed


def backups_of(home: Home) -> tuple[tuple[str, int], ...]:
    """Copies of the vault that lie in the home, oldest first; those elsewhere nobody knows of.

    Returns:
        Name of each, and when it was made at the latest, epoch ms: as its name says, else as the file does.
    """
    found = list(home.backups.iterdir()) if home.backups.is_dir() else []
    files = [path for path in (*found, *home.path.glob(_BESIDE)) if path.is_file()]
    return tuple(sorted(((path.name, _made_at(path)) for path in files), key=lambda one: (one[1], one[0])))


def _made_at(path: Path) -> int:
    named = _STAMP.fullmatch(path.name)
    if named is None:
        return int(path.stat().st_mtime * 1000)
    return int(datetime.strptime(named[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp() * 1000) + _SECOND_MS
