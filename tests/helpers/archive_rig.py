"""Vaults that are exported and imported: the golden one, and new ones that are other vaults."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine_rig import RESERVE, HandClock, Rig, rig_at

from core.engine.facade import Home, HomeKeys, create_vault
from core.intake.archive.tables import TABLES
from core.security.passphrase import KdfCost
from core.types.clock import Clock
from core.types.replies import ImportReport
from core.types.values import OWNER_ACTOR

GOLDEN = Path(__file__).resolve().parents[1] / "vaults" / "v7"
GOLDEN_ROOT = bytes(range(32))
LATER_MS = 1_762_000_000_000
PASSPHRASE = "twelve o'clock in the kitchen"


@contextmanager
def golden_rig(folder: Path) -> Iterator[Rig]:
    """The golden vault, which has rows in nearly all tables."""
    shutil.copytree(GOLDEN, folder / "home")
    (folder / "home").chmod(0o700)
    for path in (folder / "home").iterdir():
        path.chmod(0o600)
    with rig_at(folder, clock=HandClock(LATER_MS), root=GOLDEN_ROOT) as made:
        yield made


@contextmanager
def other_rig(folder: Path, clock: Clock | None = None) -> Iterator[Rig]:
    """A new vault with keys of its own."""
    folder.mkdir(exist_ok=True)
    home = Home(folder / "home", reserve_bytes=RESERVE)
    keys = HomeKeys(home)
    create_vault(keys, PASSPHRASE, clock or HandClock(LATER_MS), cost=KdfCost.lowest())
    with keys.open(PASSPHRASE) as root:
        secret = root.expose_copy()
    with rig_at(folder, clock=clock or HandClock(LATER_MS), root=secret) as made:
        yield made


def export_all(rig: Rig, to: Path, passphrase: str = PASSPHRASE) -> Path:
    """Write an archive, cheaply."""
    rig.engine.library.archive_cost = KdfCost.lowest()
    rig.engine.library.export_archive(to, passphrase).result(3600)
    return to


def import_all(rig: Rig, path: Path, passphrase: str | None = PASSPHRASE) -> ImportReport:
    """Bring an archive in, and wait for what follows it."""
    report = rig.engine.imports.run(path, None, None, OWNER_ACTOR, passphrase=passphrase).result(3600)
    rig.opened.storage.threads.jobs.submit(bool).result(3600)
    return report


def preview(rig: Rig, path: Path, passphrase: str | None = PASSPHRASE) -> ImportReport:
    """What importing it would change."""
    return rig.engine.imports.rehearse(path, None, OWNER_ACTOR, passphrase=passphrase).result(3600)


def archived_rows(rig: Rig, *, leave: frozenset[str] = frozenset()) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table of an archive, without what is another one in every vault."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, table in TABLES.items():
        if name in leave:
            continue
        columns = [row[0] for row in rig.rows("SELECT name FROM pragma_table_info(?) ORDER BY cid", name)]
        rows = [dict(zip(columns, row, strict=True)) for row in rig.rows(f"SELECT * FROM {name}")]  # noqa: S608
        for row in rows:
            for column in ("n", *table.blank):
                row.pop(column, None)
        found[name] = sorted(rows, key=repr)
    return found
