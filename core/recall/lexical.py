"""Words: document frequencies, the memories that have a term, BM25, and coverage.

Two lists come from here. BM25 is the full-text table's own, over the rarest words only, so that no query scores the
whole vault. Coverage knows for each memory which words of the query it has, so that a word found next door in the
conversation can count (`core.recall.vectors`). Must not do: hand a person's text to the full-text syntax unquoted.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from core.recall.scope import Labels
from core.score.profile import Profile
from core.score.ranking import term_weight
from core.text.terms import QueryTerm, query_terms
from core.vault.database.rows import Rows, parse_labels

_FREQUENCIES = "SELECT term, doc FROM memory_terms WHERE term IN (SELECT value FROM json_each(?))"
_POSTINGS = (
    "SELECT group_concat(rowid) FROM (SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rowid LIMIT ?)"
)
_BM25 = "SELECT rowid, bm25(memory_fts) AS b FROM memory_fts WHERE memory_fts MATCH ? ORDER BY b LIMIT ?"
# The plus: left to itself SQLite may ask the full-text table once for each label.
_BM25_AMONG = (
    "SELECT rowid, bm25(memory_fts) AS b FROM memory_fts WHERE memory_fts MATCH ? "
    "AND +rowid IN (SELECT value FROM json_each(?)) ORDER BY b LIMIT ?"
)
# Record 1 holds the counts of the whole index, which every removal lowers; record 10 its structure, whose counter of
# written pages every addition raises ("FTS5 Data Format" of SQLite's documentation): the same two, the same index.
_STATE = "SELECT block FROM memory_fts_data WHERE id IN (1, 10) ORDER BY id"
_CACHED_TERMS = 4096
_CACHED_BYTES = 8 << 20


class TermStatistics:
    """What the lexical index tells of terms, remembered as long as that index does not change.

    Every receipt raises the vault's sequence and changes no word, so a new sequence alone forgets nothing: the index's
    own counters are looked at then.
    """

    def __init__(self, most_bytes: int = _CACHED_BYTES) -> None:
        """Remember nothing yet.

        Args:
            most_bytes: of postings that are kept.
        """
        self._most_bytes = most_bytes
        self._lock = threading.Lock()  # guards all below
        self._seq = -1
        self._state: tuple[bytes, ...] = ()
        self._known: OrderedDict[str, int] = OrderedDict()
        self._postings: OrderedDict[tuple[str, int], Labels] = OrderedDict()
        self._bytes = 0

    def count_memories(self, rows: Rows, seq: int, terms: tuple[str, ...]) -> dict[str, int]:
        """How many memories have each term.

        Args:
            seq: its sequence.
            terms: terms of the index.

        Returns:
            One number each, 0 for a term that nothing has.
        """
        self._check_snapshot(rows, seq)
        with self._lock:
            known = {term: self._known[term] for term in terms if term in self._known} if self._seq == seq else {}
        missing = [term for term in terms if term not in known]
        if missing:
            found = dict.fromkeys(missing, 0)
            found.update((str(term), int(count)) for term, count in rows.all(_FREQUENCIES, (json.dumps(missing),)))
            self._cache_frequencies(seq, found)
            known |= found
        return known

    def find_postings(self, rows: Rows, seq: int, term: str, most: int) -> Labels:
        """The memories that have a term.

        Args:
            seq: its sequence.
            term: a term of the index.
            most: labels at most, the lowest.

        Returns:
            Labels, ascending; not to be written to.
        """
        self._check_snapshot(rows, seq)
        with self._lock:
            known = self._postings.get((term, most)) if self._seq == seq else None
            if known is not None:
                self._postings.move_to_end((term, most))
                return known
        found = parse_labels(rows.value(_POSTINGS, (_quote_term(term), most)))
        found.setflags(write=False)
        self._cache_postings(seq, (term, most), found)
        return found

    def _check_snapshot(self, rows: Rows, seq: int) -> None:
        """Forget what a newer snapshot contradicts; an older one is answered without what is remembered."""
        if seq <= self._seq:  # a whole number is read at once; a late look costs a statement and nothing else
            return
        state = tuple(bytes(row[0]) for row in rows.all(_STATE))
        with self._lock:
            if seq <= self._seq:
                return
            if state != self._state:
                self._known, self._postings, self._bytes = OrderedDict(), OrderedDict(), 0
            self._seq, self._state = seq, state

    def _cache_frequencies(self, seq: int, found: dict[str, int]) -> None:
        with self._lock:
            if seq != self._seq:
                return
            self._known.update(found)
            while len(self._known) > _CACHED_TERMS:
                self._known.popitem(last=False)

    def _cache_postings(self, seq: int, key: tuple[str, int], found: Labels) -> None:
        with self._lock:
            if seq != self._seq or key in self._postings:
                return
            self._postings[key] = found
            self._bytes += found.nbytes
            while self._bytes > self._most_bytes:
                self._bytes -= self._postings.popitem(last=False)[1].nbytes


@dataclass(frozen=True, slots=True)
class QueryWords:
    """What the vault knows of a query's words, rarest first.

    Attributes:
        terms: the words that are searched.
        weights: how much each tells, (t,).
        unknown: weight of the words that no memory has.
        postings: the labels that have each, ascending.
        frequencies: how many memories have each in the whole vault.
        matches: each as the full-text table is asked for it, other names of the same thing with it.
    """

    terms: tuple[QueryTerm, ...]
    weights: NDArray[np.float64]
    unknown: float
    postings: tuple[Labels, ...]
    frequencies: tuple[int, ...]
    matches: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """The weight of all words; 0 for a query without any."""
        return float(self.weights.sum()) + self.unknown

    def presence_matrix(self, labels: Labels) -> NDArray[np.bool_]:
        """Which memories have which words.

        Returns:
            Shape (labels, terms).
        """
        here = np.zeros((labels.size, len(self.postings)), np.bool_)
        for column, having in enumerate(self.postings):
            if having.size:
                at = np.searchsorted(having, labels)
                at[at == having.size] = 0
                here[:, column] = having[at] == labels
        return here


def read_query_words(
    rows: Rows,
    query: str,
    frequencies: TermStatistics,
    seq: int,
    profile: Profile,
    allowed: Labels | None,
    documents: int,
    others: Mapping[str, Sequence[str]] = MappingProxyType({}),
    *,
    by_words: bool = True,
) -> QueryWords:
    """Look a query's words up.

    Args:
        query: as it was asked.
        frequencies: what is remembered of the index.
        seq: the snapshot's sequence.
        profile: its posting budget and least number of documents.
        allowed: labels in scope, ascending; their own frequencies weigh the words then, so that what the asker may not
            see does not show in the scores. None where the scope is too large for that.
        documents: memories in scope.
        others: name in the query to other names of the same thing; who has all words of one has every word of the name.

        by_words: whether words alone are searched: beside meaning, "the" and "of" tell nothing.

    Returns:
        The words. Function words are used only in a query that has nothing else, and `by_words` then.
    """
    all_terms = query_terms(query)
    content = tuple(term for term in all_terms if not term.stop) or (all_terms if by_words else ())
    counts = frequencies.count_memories(rows, seq, tuple(term.term for term in content))
    counted = max(documents, profile.least_documents)
    variants = _NameVariants(rows, frequencies, seq, profile.posting_budget, others)
    ordered = sorted(content, key=lambda term: (counts[term.term], term.term))
    terms: list[QueryTerm] = []
    postings: list[Labels] = []
    left = profile.posting_budget
    unknown = 0.0
    for term in ordered:
        more = variants.memories_with(term.term)
        if counts[term.term] == 0 and not more.size:
            unknown += term_weight(counted, 0)
        elif not terms or counts[term.term] <= left:
            own = frequencies.find_postings(rows, seq, term.term, profile.posting_budget)
            terms.append(term)
            postings.append(np.union1d(own, more) if more.size else own)
            left -= counts[term.term]
    weights = [term_weight(counted, _count_allowed(having, allowed)) for having in postings]
    named = tuple(variants.match_expression(term.term) for term in terms)
    frequency = tuple(counts[term.term] for term in terms)
    return QueryWords(tuple(terms), np.array(weights), unknown, tuple(postings), frequency, named)


class _NameVariants:
    """Other names of what a query names, as an alternative to each word of the name."""

    def __init__(
        self, rows: Rows, frequencies: TermStatistics, seq: int, most: int, others: Mapping[str, Sequence[str]]
    ) -> None:
        self._by_term: dict[str, list[tuple[str, ...]]] = {}
        self._rows, self._frequencies, self._seq, self._most = rows, frequencies, seq, most
        for name, aliases in others.items():
            alias_terms = [tuple(one.term for one in query_terms(alias)) for alias in aliases]
            for term in query_terms(name):
                self._by_term.setdefault(term.term, []).extend(words for words in alias_terms if words)

    def memories_with(self, term: str) -> Labels:
        """The memories that have all words of one of the other names."""
        found = np.empty(0, np.int64)
        for words in self._by_term.get(term, ()):
            having = self._read_postings(words[0])
            for word in words[1:]:
                having = np.intersect1d(having, self._read_postings(word), assume_unique=True)
            found = np.union1d(found, having)
        return found

    def _read_postings(self, term: str) -> Labels:
        return self._frequencies.find_postings(self._rows, self._seq, term, self._most)

    def match_expression(self, term: str) -> str:
        """The term with its alternatives, quoted, for the full-text syntax."""
        names = [f"({' AND '.join(map(_quote_term, words))})" for words in self._by_term.get(term, ())]
        return f"({' OR '.join([_quote_term(term), *names])})" if names else _quote_term(term)


def find_best_covered(words: QueryWords, allowed: Labels | None, k: int) -> Labels:
    """The memories that have most of a query's words by weight.

    Args:
        words: the query's words.
        allowed: labels in scope, ascending; None for no filter.
        k: how many.

    Returns:
        At most k labels; among equals the newest.
    """
    if not words.postings or k <= 0:
        return np.empty(0, np.int64)
    size = max(int(having[-1]) for having in words.postings if having.size) + 1
    weight = np.zeros(size)
    for having, value in zip(words.postings, words.weights, strict=True):
        weight[having] += value
    found = np.flatnonzero(weight > 0) if allowed is None else allowed[allowed < size]
    found = found if allowed is None else found[weight[found] > 0]
    if found.size > k:
        covered = weight[found]
        kth = np.partition(covered, found.size - k)[found.size - k]
        above, equal = found[covered > kth], found[covered == kth]
        found = np.concatenate((above, equal[equal.size - (k - above.size) :]))
    return found


def score_bm25(
    rows: Rows, words: QueryWords, profile: Profile, limit: int, allowed: Labels | None = None
) -> tuple[Labels, NDArray[np.float64]]:
    """BM25 of the memories that have at least one of a query's rarest words.

    Args:
        words: the query's words.
        profile: its row budget.
        limit: rows at most.
        allowed: labels in scope, ascending; what lies elsewhere takes no place and makes no word common then. None
            where the scope is too large for that.

    Returns:
        Labels and scores (higher is better), best first. Nothing where even the rarest word is everywhere: scoring it
        would read the vault for a word that tells nothing.
    """
    counts = words.frequencies
    if allowed is not None:
        counts = tuple(_count_allowed(having, allowed) for having in words.postings)
    rare, budget = 0, profile.bm25_budget
    seen = 0
    for count in counts:
        # Common words come in only while too few rows are found without them.
        if seen + count > budget and (rare and (seen >= limit or seen + count > 5 * budget)):
            break
        rare, seen = rare + 1, seen + count
    if rare == 0 or counts[0] > 5 * budget:
        return np.empty(0, np.int64), np.empty(0)
    quoted = words.matches
    match = " OR ".join(quoted[:rare])
    if rare < len(quoted):
        match = f"({match}) AND ({' OR '.join(quoted)})"
    if allowed is None:
        found = rows.all(_BM25, (match, limit))
    else:
        found = rows.all(_BM25_AMONG, (match, json.dumps(allowed.tolist()), limit))
    return np.array([row[0] for row in found], np.int64), np.array([-row[1] for row in found])


def _quote_term(term: str) -> str:
    # Terms hold no quote, but nothing that reaches the full-text syntax may rest on that.
    return '"' + term.replace('"', '""') + '"'


def _count_allowed(having: Labels, allowed: Labels | None) -> int:
    if allowed is None:
        return int(having.size)
    if allowed.size == 0:
        return 0
    at = np.searchsorted(allowed, having)
    at[at == allowed.size] = 0
    return int(np.count_nonzero(allowed[at] == having))
