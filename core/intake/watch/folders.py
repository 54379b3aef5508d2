"""The rows of watched folders, of their files and of what came; none of them is part of undo.

A step of what came can be taken back, and the folder still knows that it has read the file: what was taken back does
not come again until the file changes. Must not do: change a memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.errors import Code, UserError
from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory.write import ensure_space
from core.types.folders.watch import GoneFile, WatchEntry
from core.types.values import LIFECYCLE_ACTOR, OWNER_ACTOR
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

VERB, LABEL = "watched", "What came from a watched folder"
ADDED, PAUSED, RESUMED, CAME, GONE, LEFT, KEPT, ARCHIVED, ACCEPTED, REJECTED = (
    "added", "paused", "resumed", "came", "gone", "left", "kept", "archived", "accepted", "rejected",
)  # fmt: skip
MOST_FOLDERS = 50
_MOST_ENTRIES = 2_000
_STAMPS_AT_ONCE = 5_000

_FOLDERS = (
    "SELECT w.id, w.path, w.format, w.space_id, s.name, w.import_id, w.root, w.added_at, w.paused_at, w.looked_at, "
    "w.step_id FROM watched_folders w JOIN spaces s ON s.id = w.space_id"
)
# What the person forgot, edited, archived, sealed or erased is not asked about any more.
_ASKED = "+m.status IN ('active', 'disputed', 'quarantined', 'consolidated')"
_GONE = (
    "WITH few (n) AS (SELECT n FROM watched_files INDEXED BY ix_watched_files_gone "  # noqa: S608
    "WHERE folder_id = :folder AND gone_at IS NOT NULL UNION SELECT g.file_n FROM watched_records g "
    "INDEXED BY ix_watched_records_gone JOIN watched_files o ON o.n = g.file_n "
    "WHERE g.gone_at IS NOT NULL AND o.folder_id = :folder) "
    "SELECT f.name, count(*), min(coalesce(f.gone_at, r.gone_at)), f.gone_at IS NULL FROM few "
    "JOIN watched_files f ON f.n = few.n JOIN watched_records r ON r.file_n = f.n "
    f"JOIN memories m ON m.id = r.memory_id AND {_ASKED} "
    "WHERE f.gone_at IS NOT NULL OR r.gone_at IS NOT NULL GROUP BY f.n ORDER BY f.name"
)
_HAS_SAID = (
    "SELECT 1 FROM watched_records r JOIN memories m ON m.id = r.memory_id "  # noqa: S608
    f"WHERE r.file_n = ? AND {_ASKED} LIMIT 1"
)
_COUNT = (
    "SELECT count(*) FROM memories WHERE import_id = ? AND (part_of IS NULL OR part_of = id) "
    "AND status NOT IN ('superseded', 'deleted')"
)
# What another file of the folder says as well has not vanished with this one.
_VANISHED = (
    "SELECT DISTINCT r.memory_id FROM watched_files f JOIN watched_records r ON r.file_n = f.n "  # noqa: S608
    f"JOIN memories m ON m.id = r.memory_id AND {_ASKED} "
    "WHERE f.folder_id = :folder AND (:name IS NULL OR f.name = :name) "
    "AND (f.gone_at IS NOT NULL OR r.gone_at IS NOT NULL) AND NOT EXISTS ("
    "SELECT 1 FROM watched_records o JOIN watched_files g ON g.n = o.file_n WHERE o.memory_id = r.memory_id "
    "AND g.folder_id = f.folder_id AND g.gone_at IS NULL AND o.gone_at IS NULL) ORDER BY 1"
)


@dataclass(frozen=True, slots=True)
class FolderRow:
    """One watched folder as the vault keeps it.

    Attributes:
        root: device and inode of the folder that was named.
        step_id: the undo step that is open for it; None between two rounds.
    """

    id: str
    path: str
    format: str
    space_id: str
    space: str
    import_id: str
    root: str
    added_at: int
    paused_at: int | None
    looked_at: int | None
    step_id: str | None

    @property
    def label(self) -> str:
        """The folder's own name."""
        return self.path.rstrip("/").rpartition("/")[2] or self.path


def read_folders(rows: Rows) -> tuple[FolderRow, ...]:
    """All watched folders, in the order in which they were added."""
    return tuple(FolderRow(*row) for row in rows.all(f"{_FOLDERS} ORDER BY w.added_at, w.id"))


def require_folder(rows: Rows, folder_id: str) -> FolderRow:
    """One watched folder, by its id or the end of it.

    Raises:
        UserError: NOT_FOUND.
    """
    fitting = [one for one in read_folders(rows) if folder_id and one.id.endswith(folder_id.lower())]
    if len(fitting) != 1:
        raise UserError(Code.NOT_FOUND, "There is no such watched folder; `loci watch list` names them.")
    return fitting[0]


@dataclass(frozen=True, slots=True)
class NewFolder:
    """A folder that the person names.

    Attributes:
        path: absolute, without links.
        label: its own name, for provenance.
        space: the name of the space that everything of it goes to.
        root: device and inode.
    """

    path: str
    label: str
    format: str
    space: str
    root: str


def add_folder(tx: Tx, work: UnitOfWork, make_id: Callable[[], str], new: NewFolder) -> str:
    """Watch a folder from here on.

    Returns:
        Its id.

    Raises:
        UserError: INVALID_INPUT; it is watched already, lies in one that is, holds one, or there are too many.
    """
    known = read_folders(tx)
    for one in known:
        if new.path == one.path or new.path.startswith(one.path + "/") or one.path.startswith(new.path + "/"):
            raise UserError(Code.INVALID_INPUT, "That folder is watched already, or one in it or around it is.")
    if len(known) >= MOST_FOLDERS:
        raise UserError(Code.INVALID_INPUT, f"At most {MOST_FOLDERS} folders can be watched.")
    space_id = ensure_space(tx, new.space, make_id())
    folder_id, import_id = make_id(), make_id()
    with work.verb(tx, "watch_add", "Watch a folder", OWNER_ACTOR) as verb:
        tx.run(
            "INSERT INTO imports (id, format, label, location, fingerprint, space_id, state, started_at, finished_at) "
            "VALUES (?, ?, ?, ?, '', ?, 'done', ?, ?)",
            (import_id, new.format, new.label, new.path, space_id, tx.now_ms, tx.now_ms),
        )
        tx.run(
            "INSERT INTO watched_folders (id, path, format, space_id, import_id, root, added_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (folder_id, new.path, new.format, space_id, import_id, new.root, tx.now_ms),
        )
        write_entry(tx, folder_id, ADDED)
        verb.note_audit(folder_id)
    return folder_id


def pause_folder(tx: Tx, work: UnitOfWork, folder: FolderRow, *, is_paused: bool) -> None:
    """Switch a folder off or on again."""
    if (folder.paused_at is not None) is is_paused:
        return
    with work.verb(tx, "watch_pause" if is_paused else "watch_resume", "Switch a watched folder", OWNER_ACTOR) as verb:
        now = tx.now_ms if is_paused else None
        tx.run("UPDATE watched_folders SET paused_at = ? WHERE id = ?", (now, folder.id))
        write_entry(tx, folder.id, PAUSED if is_paused else RESUMED)
        verb.note_audit(folder.id)


def remove_folder(tx: Tx, work: UnitOfWork, folder: FolderRow) -> None:
    """Do not watch a folder any more; what came of it stays."""
    close_step(tx, work, folder)
    with work.verb(tx, "watch_remove", "Watch a folder no more", OWNER_ACTOR) as verb:
        tx.run(
            "DELETE FROM watched_records WHERE file_n IN (SELECT n FROM watched_files WHERE folder_id = ?)",
            (folder.id,),
        )
        tx.run("DELETE FROM watched_files WHERE folder_id = ?", (folder.id,))
        tx.run("DELETE FROM watched_log WHERE folder_id = ?", (folder.id,))
        tx.run("DELETE FROM watched_folders WHERE id = ?", (folder.id,))
        verb.note_audit(folder.id)


# ---- one round


def open_step(tx: Tx, work: UnitOfWork, folder_id: str) -> str:
    """The undo step of a round; begun with the first thing that comes, continued after a crash."""
    step_id = tx.value("SELECT step_id FROM watched_folders WHERE id = ?", (folder_id,))
    if step_id is not None:
        return str(step_id)
    begun = work.begin_step(tx, VERB, LABEL, LIFECYCLE_ACTOR)
    tx.run("UPDATE watched_folders SET step_id = ? WHERE id = ?", (begun, folder_id))
    return begun


def close_step(tx: Tx, work: UnitOfWork, folder: FolderRow) -> None:
    """End the undo step of a round, if one was begun."""
    step_id = tx.value("SELECT step_id FROM watched_folders WHERE id = ?", (folder.id,))
    if step_id is not None:
        with work.verb(tx, VERB, LABEL, LIFECYCLE_ACTOR, step_id=str(step_id)) as verb:
            verb.note_audit(folder.id, phase="end")
        tx.run("UPDATE watched_folders SET step_id = NULL WHERE id = ?", (folder.id,))


def end_round(tx: Tx, work: UnitOfWork, folder: FolderRow, root: str) -> None:
    """The folder was read to its end."""
    close_step(tx, work, folder)
    tx.run("UPDATE watched_folders SET looked_at = ?, root = ? WHERE id = ?", (tx.now_ms, root, folder.id))
    tx.run(
        "DELETE FROM watched_log WHERE folder_id = :folder AND n <= "
        "(SELECT max(n) FROM watched_log WHERE folder_id = :folder) - :most",
        {"folder": folder.id, "most": _MOST_ENTRIES},
    )


def read_stamps(rows: Rows, folder_id: str) -> Iterator[tuple[str, str, bool]]:
    """How each file of a folder was when it was last read to its end, some thousand at a time.

    Yields:
        Name, stamp, and whether it is known to have vanished.
    """
    last = 0
    while found := rows.all(
        "SELECT n, name, stamp, gone_at IS NOT NULL FROM watched_files WHERE +folder_id = ? AND n > ? "
        "ORDER BY n LIMIT ?",
        (folder_id, last, _STAMPS_AT_ONCE),
    ):
        for _, name, stamp, is_gone in found:
            yield str(name), str(stamp), bool(is_gone)
        last = int(found[-1][0])


def read_said(rows: Rows, folder_id: str, name: str) -> frozenset[bytes]:
    """What a file said by the last time: identities, as `fingerprints` has them."""
    found = rows.all(
        "SELECT r.identity FROM watched_files f JOIN watched_records r ON r.file_n = f.n "
        "WHERE f.folder_id = ? AND f.name = ? AND r.gone_at IS NULL",
        (folder_id, name),
    )
    return frozenset(bytes(row[0]) for row in found)


def note_vanished(tx: Tx, folder: FolderRow, names: Iterable[str]) -> int:
    """Files are not there any more. One of which nothing stands is forgotten, the others are asked about.

    Returns:
        How many are asked about.
    """
    gone: list[str] = []
    for name in names:
        n = tx.value("SELECT n FROM watched_files WHERE folder_id = ? AND name = ?", (folder.id, name))
        if tx.value(_HAS_SAID, (n,)) is None:
            tx.run("DELETE FROM watched_records WHERE file_n = ?", (n,))
            tx.run("DELETE FROM watched_files WHERE n = ?", (n,))
        else:
            tx.run("UPDATE watched_files SET gone_at = ? WHERE n = ?", (tx.now_ms, n))
            gone.append(name)
    if gone:
        write_entry(tx, folder.id, GONE, gone[0] if len(gone) == 1 else "", Counter(files=len(gone)))
    return len(gone)


def forget_files(tx: Tx, folder: FolderRow, name: str | None) -> None:
    """What vanished is decided: it is not asked about again.

    Args:
        name: of one file; None for all that vanished.
    """
    narrow = {"folder": folder.id, "name": name}
    tx.run(
        "DELETE FROM watched_records WHERE file_n IN (SELECT n FROM watched_files WHERE folder_id = :folder "
        "AND (:name IS NULL OR name = :name)) AND (gone_at IS NOT NULL OR file_n IN (SELECT n FROM watched_files "
        "WHERE folder_id = :folder AND gone_at IS NOT NULL))",
        narrow,
    )
    tx.run(
        "DELETE FROM watched_files WHERE folder_id = :folder AND gone_at IS NOT NULL "
        "AND (:name IS NULL OR name = :name)",
        narrow,
    )


def read_gone(rows: Rows, folder_id: str) -> tuple[GoneFile, ...]:
    """Files that vanished or say less than before, of which nothing is decided."""
    return tuple(
        GoneFile(str(name), int(count), int(at), bool(is_there))
        for name, count, at, is_there in rows.all(_GONE, {"folder": folder_id})
    )


def vanished_memories(rows: Rows, folder_id: str, name: str | None) -> list[str]:
    """Memories that no file of the folder says any more.

    Args:
        name: of one file; None for all that vanished.
    """
    return [str(row[0]) for row in rows.all(_VANISHED, {"folder": folder_id, "name": name})]


# ---- what was done


def write_entry(tx: Tx, folder_id: str, event: str, name: str = "", counts: Mapping[str, int] | None = None) -> None:
    """Write one line of what was done."""
    tx.run(
        "INSERT INTO watched_log (folder_id, at, event, name, counts) VALUES (?, ?, ?, ?, ?)",
        (folder_id, tx.now_ms, event, name, to_json(dict(counts or {}))),
    )


def count_arrival(tx: Tx, folder_id: str, step_id: str, name: str, counts: Counter[str]) -> None:
    """Add to the line of a round.

    Args:
        step_id: of the round; its line is found by it.
        name: the file; a line about several names none.
    """
    row = tx.one(
        "SELECT n, counts, name FROM watched_log WHERE folder_id = ? AND step_id = ? AND event = ?",
        (folder_id, step_id, CAME),
    )
    if row is None:
        tx.run(
            "INSERT INTO watched_log (folder_id, at, event, name, counts, step_id) VALUES (?, ?, ?, ?, ?, ?)",
            (folder_id, tx.now_ms, CAME, name, to_json(dict(counts)), step_id),
        )
        return
    total = Counter(json.loads(row[1])) + counts
    tx.run(
        "UPDATE watched_log SET counts = ?, name = ?, at = ? WHERE n = ?",
        (to_json(dict(total)), name if name == row[2] else "", tx.now_ms, row[0]),
    )


def read_entries(rows: Rows, folder_id: str, limit: int, before: int | None = None) -> tuple[WatchEntry, ...]:
    """What was done, the newest first.

    Args:
        limit: at most so many.
        before: the number of the entry they come after; None for the newest.
    """
    found = rows.all(
        "SELECT n, at, event, name, counts, step_id FROM watched_log WHERE folder_id = :folder "
        "AND (:before IS NULL OR n < :before) ORDER BY n DESC LIMIT :limit",
        {"folder": folder_id, "before": before, "limit": limit},
    )
    return tuple(
        WatchEntry(int(n), int(at), str(event), str(name), json.loads(counts), step_id)
        for n, at, event, name, counts, step_id in found
    )


@dataclass(frozen=True, slots=True)
class FolderFigures:
    """How much of a folder is in the vault; see `core.types.folders.watch.WatchedFolder`."""

    files: int
    memories: int
    asked: int
    came_at: int | None


def read_figures(rows: Rows, folder: FolderRow) -> FolderFigures:
    """How much of a folder is in the vault."""
    files = "SELECT count(*) FROM watched_files WHERE folder_id = ? AND gone_at IS NULL AND stamp <> ''"
    came = rows.value("SELECT max(at) FROM watched_log WHERE folder_id = ? AND event = ?", (folder.id, CAME))
    return FolderFigures(
        int(rows.value(files, (folder.id,))),
        int(rows.value(_COUNT, (folder.import_id,))),
        len(read_gone(rows, folder.id)),
        None if came is None else int(came),
    )
