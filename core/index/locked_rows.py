"""What every index backend shares: counts, labels and vectors of the rows it keeps, under a fair readers-writer lock.

First come, first served: with a plain lock queries waited up to three seconds while vectors were added in a loop (stack
facts, section 6). Must not do: search.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from core.index.arrays import as_labels
from core.index.base import Labels, Vectors
from core.index.rows import RowStore


class _Waiter:
    """One thread in the queue."""

    __slots__ = ("admitted", "writes")

    def __init__(self, *, writes: bool) -> None:
        self.writes = writes
        self.admitted = threading.Event()


class FairLock:
    """Readers share, a writer is alone, nobody overtakes."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()  # guards the three below
        self._queue: deque[_Waiter] = deque()
        self._readers = 0
        self._writing = False

    @contextmanager
    def read(self) -> Iterator[None]:
        """Hold the lock together with other readers."""
        self._enter(_Waiter(writes=False))
        try:
            yield
        finally:
            self._leave(wrote=False)

    @contextmanager
    def write(self) -> Iterator[None]:
        """Hold the lock alone."""
        self._enter(_Waiter(writes=True))
        try:
            yield
        finally:
            self._leave(wrote=True)

    def _enter(self, waiter: _Waiter) -> None:
        with self._mutex:
            self._queue.append(waiter)
            self._admit()
        if waiter.admitted.is_set():
            return
        passed = False
        try:
            waiter.admitted.wait()
            passed = True
        finally:
            # An interrupt while waiting must not leave a place in the queue that nobody takes.
            if not passed:
                self._abandon(waiter)

    def _abandon(self, waiter: _Waiter) -> None:
        with self._mutex:
            if waiter in self._queue:
                self._queue.remove(waiter)
                self._admit()
                return
        self._leave(wrote=waiter.writes)

    def _leave(self, *, wrote: bool) -> None:
        with self._mutex:
            if wrote:
                self._writing = False
            else:
                self._readers -= 1
            self._admit()

    def _admit(self) -> None:
        """Let in whoever may enter from the head of the queue; the mutex is held."""
        while self._queue and not self._writing:
            head = self._queue[0]
            if head.writes and self._readers:
                return
            self._queue.popleft()
            if head.writes:
                self._writing = True
            else:
                self._readers += 1
            head.admitted.set()


class LockedRows:
    """The part of `core.index.base.VectorIndex` that needs the rows alone; see there for what each method promises."""

    def __init__(self, store: RowStore) -> None:
        """Keep rows."""
        self.revision = 0
        self._lock = FairLock()
        self._store = store

    @property
    def dims(self) -> int:
        """Length of a vector."""
        return self._store.dims

    @property
    def count(self) -> int:
        """How many labels can be found."""
        return self._store.count

    @property
    def dead(self) -> int:
        """Rows of removed or replaced vectors."""
        return self._store.used - self._store.count

    def labels(self) -> Labels:
        """All labels, ascending."""
        with self._lock.read():
            return self._store.labels()

    def fetch(self, labels: Labels) -> tuple[Labels, Vectors]:
        """The stored vectors of those labels that are here."""
        wanted = as_labels(labels)
        with self._lock.read():
            rows = self._store.rows_of(wanted)
            return self._store.labels_at(rows), self._store.vectors_at(rows)
