"""The facade's group for the timeline: how much was said when, what of it, what held then, how a topic evolved.

All of it is the owner's. The columns of the vault are kept as long as it does not change. Must not do: write.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import tzinfo

from core.engine.runtime.search import Embedded, Search
from core.engine.runtime.storage import Storage, chain_work
from core.recall.browse import timeline as reading
from core.recall.browse.evolution import check_topic, trace_evolution
from core.recall.browse.timeline import Spans, TimeColumns
from core.recall.vectors import SnapshotVectors
from core.types.values import Pressure
from core.types.views import Density, Evolution, TimeCursor, TimeFilter, TimePage
from core.vault.database.rows import Rows

PAGE = 200
LIMIT = 100
_SEQ = "SELECT seq FROM vault_state"
_ALL = TimeFilter()


@dataclass(frozen=True, slots=True)
class _Kept:
    """Columns of one state of one vault; nothing of them outlives it."""

    of: weakref.ReferenceType[Storage]
    seq: int
    columns: TimeColumns
    spans: Spans | None = None


class Timeline:
    """The vault in the order of time. Each method returns at once with a Future."""

    def __init__(
        self, storage: Callable[[], Storage], search: Callable[[], Search], zone: tzinfo | None = None
    ) -> None:
        """Wire the group.

        Args:
            zone: whose days count; None for the system's.
        """
        self._storage, self._search = storage, search
        self._zone = zone
        self._kept: _Kept | None = None  # replaced whole: readers on several threads may each make it

    def count_by_period(
        self,
        grain: str,
        first_ms: int | None = None,
        last_ms: int | None = None,
        filters: TimeFilter = _ALL,
        top: int = 5,
    ) -> Future[Density]:
        """How many memories were said in each period of the local zone (E39.1).

        Args:
            grain: `day`, `week`, `month` or `year`.
            first_ms: a moment of the first period, epoch ms; None for the first memory's.
            last_ms: a moment of the last one; None for the last memory's.
            filters: which memories count.
            top: how many of the busiest periods are named.

        Returns:
            The counts; the future raises INVALID_INPUT, or NOT_FOUND for an unknown space.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()
        return storage.read(
            lambda rows: reading.count_by_period(
                self._get_columns(storage, rows).columns, grain, first_ms, last_ms, filters, top, self._zone
            )
        )

    def list_period(
        self,
        first_ms: int,
        last_ms: int,
        filters: TimeFilter = _ALL,
        after: TimeCursor | None = None,
        limit: int = PAGE,
    ) -> Future[TimePage]:
        """The memories that were said in a period, oldest first; what has no date of its own is in none.

        Args:
            first_ms: epoch ms, inside.
            last_ms: epoch ms, outside.
            filters: which memories count.
            after: where the page before ended.
            limit: 1 to 1,000.

        Returns:
            The page; the future raises INVALID_INPUT, or NOT_FOUND for an unknown space.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()

        def read(rows: Rows) -> TimePage:
            columns = self._get_columns(storage, rows).columns
            places = reading.places_between(columns, first_ms, last_ms, filters)
            return reading.read_period_page(rows, columns, places, after, limit, storage.clock.now_ms())

        return storage.read(read)

    def list_valid_at(
        self,
        at_ms: int,
        axis: str,
        filters: TimeFilter = _ALL,
        after: TimeCursor | None = None,
        limit: int = PAGE,
    ) -> Future[TimePage]:
        """What was believed, or was true, at a moment; in the order of when it was said.

        Args:
            axis: `believed` (record time) or `true` (valid time).
            filters: which kinds and spaces; `with_over` does not matter.
            after: where the page before ended.
            limit: 1 to 1,000.

        Returns:
            The page; the future raises INVALID_INPUT, or NOT_FOUND for an unknown space.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()

        def read(rows: Rows) -> TimePage:
            kept = self._get_columns(storage, rows)
            spans = kept.spans
            if spans is None:
                spans = reading.read_spans(rows, kept.columns)
                self._kept = replace(kept, spans=spans)
            places = reading.places_valid_at(kept.columns, spans, at_ms, axis, filters)
            return reading.read_period_page(rows, kept.columns, places, after, limit, storage.clock.now_ms())

        return storage.read(read)

    def trace_evolution(self, topic: str, limit: int = LIMIT) -> Future[Evolution]:
        """How what is remembered of a topic came about (E39.5).

        Args:
            topic: some words, as typed.
            limit: memories at most, 1 to 500.

        Returns:
            The line of the topic, oldest first; the future raises INVALID_INPUT for the limit.

        Raises:
            UserError: VAULT_LOCKED, or INVALID_INPUT for a topic that is empty or too long.
        """
        storage, search = self._storage(), self._search()
        wanted = check_topic(topic)
        begun_at = storage.clock.monotonic()

        def read(embedded: Embedded) -> Future[Evolution]:
            active_space = embedded.active_space

            def run(rows: Rows) -> Evolution:
                stored = SnapshotVectors(rows, active_space.index, active_space.space.name, active_space.space.dims)
                found = trace_evolution(rows, stored, wanted, embedded.first, limit, storage.clock.now_ms())
                return replace(found, took_ms=(storage.clock.monotonic() - begun_at) * 1000)

            return storage.read(run)

        return chain_work(search.embed_texts([wanted]), read)

    def release_memory(self, level: Pressure) -> None:
        """Drop the columns that are kept between readings where memory is short; the next reading reads them anew."""
        if level is not Pressure.NORMAL:
            self._kept = None

    def _get_columns(self, storage: Storage, rows: Rows) -> _Kept:
        """The columns of the snapshot; those of the reading before where nothing was written since."""
        seq = int(rows.value(_SEQ))
        kept = self._kept
        if kept is None or kept.of() is not storage or kept.seq != seq:
            kept = _Kept(weakref.ref(storage, self._drop_columns), seq, reading.read_columns(rows))
            self._kept = kept
        return kept

    def _drop_columns(self, of: weakref.ReferenceType[Storage]) -> None:
        kept = self._kept
        if kept is not None and kept.of is of:
            self._kept = None
