"""Checking an open vault: the vault's own checks, the index against it; and deeply, whatever there is to hold together.

The quick check compares some vectors with the index. The deep one compares all, holds certificates against the audit,
both key files against the vault, and opens every known copy. Must not do: repair; take for checked what could not be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.embed.embedder import from_blob
from core.engine.home.keys import sub_keys
from core.engine.runtime.search import Search
from core.engine.runtime.storage import Storage
from core.errors import CancelledError, LociError
from core.index.manager import IndexState
from core.intake.erase.certificates import list_certificates, read_certificate
from core.memory.stored_files import is_whole_or_gone, list_contents, list_incomplete, list_keyless
from core.security.keyfile import backup_of, intact_body, parse_body
from core.security.keys import Purpose
from core.types.memory import CopyState
from core.vault.backup import OpenedKeys
from core.vault.copies import known_copies, open_copy, state_of_fault
from core.vault.database.connections import cipher_problems, integrity_problems
from core.vault.database.rows import Rows
from core.vault.verification import Check, CheckOutcome
from core.vault.verification import verify_vault as verify_vault

_SAMPLE = 200
_ALIKE = 0.995  # float16 in the vault against float16 or float32 in memory
_TRIES = 5
_TURN_S = 5.0  # for the writer to come to us


def check_vault(storage: Storage, search: Search) -> dict[str, Any]:
    """Check the vault and, by samples, the index against it.

    Returns:
        `{status, checks}` in the shape of `verify --json`.
    """
    report = verify_vault(storage.vault, sub_keys(storage.root), {"index": lambda: _check_index(storage, search)})
    return dict(report.as_json())


def _check_index(storage: Storage, search: Search) -> Check:
    status = search.index.status()
    if status.state is not IndexState.READY:
        return Check(CheckOutcome.NOT_CHECKED, status.state.value)
    if status.needs_warm:
        return Check(CheckOutcome.NOT_CHECKED, "behind")
    for _ in range(_TRIES):
        try:
            # On the writer's thread everything committed before is in the index already.
            seq = storage.vault.seq if storage.vault.older else storage.write(lambda tx: tx.seq - 1).result(_TURN_S)
        except TimeoutError:
            break
        found = storage.vault.read(lambda rows: _compare_sample(search, rows, seq))  # noqa: B023 - called at once
        if found is not None:
            return found
    return Check(CheckOutcome.NOT_CHECKED, "busy")


def _compare_sample(search: Search, rows: Rows, settled: int) -> Check | None:
    """Compare, or None where a write came between: then the index and this snapshot are of two moments."""
    if int(rows.value("SELECT seq FROM vault_state")) != settled:
        return None
    found = rows.all(
        "SELECT n, vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? "
        "ORDER BY (n * 2654435761) % 1000003 LIMIT ?",
        (search.space.name, _SAMPLE),
    )
    total = int(
        rows.value("SELECT count(*) FROM embeddings WHERE owner = 'memory' AND vector_space = ?", (search.space.name,))
    )
    labels = np.array([row[0] for row in found], dtype=np.int64)
    found_labels, vectors = search.index.fetch(labels)
    stored = {int(n): from_blob(blob, search.space.dims) for n, blob in found}
    wrong = sum(float(stored[int(n)] @ vector) < _ALIKE for n, vector in zip(found_labels, vectors, strict=True))
    missing = len(found) - len(found_labels)
    index_total = search.index.status().total
    if search.index.revision > settled:
        return None
    if not found and not index_total:
        return Check(CheckOutcome.OK, "no vectors yet")
    if wrong or missing or index_total != total:
        return Check(CheckOutcome.FAILED, f"{wrong} wrong, {missing} missing of {len(found)}")
    return Check(CheckOutcome.OK, f"{len(found)} of {total} vectors compared")


_PAGE = 2_000
_VECTORS = "SELECT n, vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? AND n > ? ORDER BY n LIMIT ?"
_NORM_OFF = 0.02
_NOT_LOOKED_AT = ("texts", "copies_elsewhere", "both_put_back")
"""What no check here can tell, in code words."""

ReportCheck = Callable[[str, int, int | None], None]
"""Told the code word of a check, with done and total where it has many parts."""


def check_deeply(
    storage: Storage,
    search: Search,
    report: ReportCheck,
    is_cancelled: Callable[[], bool],
    check_sealed: Callable[[Rows], tuple[int, int, int]],
) -> dict[str, Any]:
    """Check everything that can be checked; takes minutes for a very large vault.

    Args:
        report: told what is checked.
        is_cancelled: asked between the parts.
        check_sealed: tells how many sealed memories open, are damaged, and are closed.

    Returns:
        As `check_vault`, with what no check can tell.

    Raises:
        CancelledError: it was cancelled.
    """

    def go_on(check: str, done: int = 0, total: int | None = None) -> None:
        if is_cancelled():
            raise CancelledError
        report(check, done, total)

    more: Mapping[str, Callable[[], Check]] = {
        "index": lambda: _check_index(storage, search),
        "vectors": lambda: _check_vectors(storage, search, lambda done, total: go_on("vectors", done, total)),
        "certificates": lambda: storage.vault.read(_check_certificates, deadline_s=None),
        "sealed": lambda: _note_sealed(*storage.vault.read(check_sealed, deadline_s=None)),
        "files": lambda: _check_files(storage, lambda done, total: go_on("files", done, total)),
        "key_files": lambda: _check_key_files(storage),
        "copies": lambda: _check_copies(storage, lambda done, total: go_on("copies", done, total)),
    }
    found = verify_vault(storage.vault, sub_keys(storage.root), more, go_on, _NOT_LOOKED_AT)
    if is_cancelled():
        raise CancelledError
    return dict(found.as_json())


def _note_sealed(sound: int, damaged: int, closed: int) -> Check:
    if damaged:
        return Check(CheckOutcome.FAILED, f"{damaged} of {sound + damaged} were changed")
    if closed:
        return Check(CheckOutcome.NOT_CHECKED, f"{sound} open; {closed} are closed, their key is not in memory")
    return Check(CheckOutcome.OK, f"{sound} sealed memories")


def _check_vectors(storage: Storage, search: Search, go_on: Callable[[int, int], None]) -> Check:
    """Every stored vector by itself, and against the index where that is ready and nothing is written meanwhile."""
    space, seq = search.space, storage.vault.seq
    total = storage.vault.read(
        lambda rows: int(
            rows.value("SELECT count(*) FROM embeddings WHERE owner = 'memory' AND vector_space = ?", (space.name,))
        )
    )
    is_indexed = search.index.status().state is IndexState.READY and not search.index.status().needs_warm
    unusable = differing = done = 0
    for labels, vectors in _vector_pages(storage, search):
        unusable += int(np.sum(~(np.abs(np.linalg.norm(vectors, axis=1) - 1) < _NORM_OFF)))
        if is_indexed:
            differing += _count_differing(search, labels, vectors)
        done += len(labels)
        go_on(done, total)
    if unusable or (differing and storage.vault.seq == seq):
        return Check(CheckOutcome.FAILED, f"{unusable} unusable, {differing} other than in the index, of {done}")
    if not is_indexed or storage.vault.seq != seq:
        return Check(CheckOutcome.NOT_CHECKED, f"{done} vectors are sound; the index was not ready or changed")
    return Check(CheckOutcome.OK, f"{done} vectors compared")


def _vector_pages(storage: Storage, search: Search) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    after, space = -1, search.space
    while page := storage.vault.read(lambda rows: rows.all(_VECTORS, (space.name, after, _PAGE))):  # noqa: B023 - at once
        after = int(page[-1][0])
        labels = np.array([row[0] for row in page], dtype=np.int64)
        yield labels, np.stack([from_blob(row[1], space.dims) for row in page])


def _count_differing(search: Search, labels: NDArray[np.int64], vectors: NDArray[np.float32]) -> int:
    found, indexed = search.index.fetch(labels)
    places = np.searchsorted(labels, found)
    alike = np.sum(vectors[places] * indexed, axis=1) >= _ALIKE
    return len(labels) - int(np.sum(alike))


def _check_certificates(rows: Rows) -> Check:
    lines = list_certificates(rows)
    wrong = sum(not read_certificate(rows, line.id).is_authentic for line in lines)
    if wrong:
        return Check(CheckOutcome.FAILED, f"{wrong} of {len(lines)} were changed")
    return Check(CheckOutcome.OK, f"{len(lines)} certificates")


def _check_files(storage: Storage, go_on: Callable[[int, int], None]) -> Check:
    """Every content of an attached file is opened and held against its digest; none may be nobody's, or lack chunks."""
    contents = storage.vault.read(list_contents)
    damaged = 0
    for done, content in enumerate(contents):
        go_on(done, len(contents))
        damaged += not storage.vault.read(lambda rows: is_whole_or_gone(rows, content), deadline_s=None)  # noqa: B023 - at once
    lacking, unheld = storage.vault.read(lambda rows: (len(list_incomplete(rows)), len(list_keyless(rows))))
    if damaged or lacking or unheld:
        return Check(CheckOutcome.FAILED, f"{damaged} damaged, {lacking} without content, {unheld} of nobody")
    return Check(CheckOutcome.OK, f"{len(contents)} files")


def _check_key_files(storage: Storage) -> Check:
    """Both copies of the key file, by what they say of themselves; a secret is not tried."""
    wrong = []
    for path in (storage.home.keys, backup_of(storage.home.keys)):
        body = intact_body(path.read_bytes()) if path.is_file() else None
        if body is None:
            wrong.append(f"{path.name} missing or damaged")
        elif parse_body(body).vault_id != storage.root.vault_id:
            wrong.append(f"{path.name} of another vault")
    return Check(CheckOutcome.FAILED, ", ".join(wrong)) if wrong else Check(CheckOutcome.OK, "2 copies")


def _check_copies(storage: Storage, go_on: Callable[[int, int], None]) -> Check:
    """Every known copy of the vault is opened and read page by page."""
    keys = OpenedKeys(storage.root.vault_id, sub_keys(storage.root), storage.root.derive(Purpose.BACKUP))
    found: Counter[CopyState] = Counter()
    copies = known_copies(storage.home)
    for done, copy in enumerate(copies):
        go_on(done, len(copies))
        try:
            with open_copy(storage.home, copy, keys) as reader:
                is_sound = not cipher_problems(reader) and not integrity_problems(reader)
            found[CopyState.CLEAN if is_sound else CopyState.DAMAGED] += 1
        except LociError as error:
            found[state_of_fault(copy, error)] += 1
    unread = found[CopyState.OTHER_KEYS] + found[CopyState.NOT_CHECKED]
    note = f"{found[CopyState.CLEAN]} sound, {found[CopyState.DAMAGED]} damaged, {unread} not readable with these keys"
    if found[CopyState.DAMAGED]:
        return Check(CheckOutcome.FAILED, note)
    return Check(CheckOutcome.NOT_CHECKED if unread else CheckOutcome.OK, note)
