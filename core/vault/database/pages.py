"""Searching the decrypted pages of a database for pieces of texts: also where no row is any more.

A row that was deleted may live on in a page that nothing refers to. Only whoever reads every page, free ones too, can
say that a text is gone. `Fragments` are pieces of eight bytes, each from the beginning of a word, so that many texts
are looked for at once. Pages are decrypted here as SQLCipher 4 writes them with a raw key: AES-256 in CBC mode, the
vector of each page in its reserved tail, which ends with the page's authentication code.

Must not do: read a file that a connection of this process has open (its locks would be lost: B21 of the reliability
study); give out what a page holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from core.vault.files.home import PAGE_SIZE

PIECE = 8
"""Bytes of a fragment."""
_TAIL, _VECTOR, _SALT = 80, 16, 16
_BATCH = 512
_FILTER_BITS = 20
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_LETTERS = frozenset(range(0x80, 0x100)) | frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def fragments_of_text(text: str) -> set[bytes]:
    """The pieces of a text that are looked for: from the beginning of each word on, as long as they end in a word.

    A piece that ends with a blank could be a word of another text with a number behind it.
    """
    data = text.encode("utf-8", "surrogatepass")
    starts = (at for at in range(len(data)) if data[at] in _LETTERS and (at == 0 or data[at - 1] not in _LETTERS))
    pieces = (data[at : at + PIECE] for at in starts)
    return {piece for piece in pieces if len(piece) == PIECE and piece[-1] in _LETTERS}


class Fragments:
    """Pieces of eight bytes, and finding out which of them stand in some bytes."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        """Take them.

        Args:
            pieces: each of `PIECE` bytes.
        """
        self.pieces = frozenset(pieces)
        self._sorted = np.sort(np.frombuffer(b"".join(self.pieces), dtype="<u8"))
        self._filter = np.zeros(1 << _FILTER_BITS, dtype=np.bool_)
        self._filter[_mix(self._sorted)] = True

    def __len__(self) -> int:
        """How many there are."""
        return len(self.pieces)

    def without(self, pieces: Collection[bytes]) -> Fragments:
        """The others."""
        return Fragments(self.pieces.difference(pieces))

    def find_in(self, data: bytes) -> frozenset[bytes]:
        """Those that stand anywhere in some bytes."""
        return frozenset(piece for piece, _ in self.find_places(data))

    def find_places(self, data: bytes) -> Iterator[tuple[bytes, int]]:
        """Every place in some bytes where one stands.

        Args:
            data: of any length.

        Yields:
            The piece, and at which byte it begins.
        """
        if not self.pieces:
            return
        for shift in range(min(PIECE, len(data))):
            read = np.frombuffer(data, dtype="<u8", count=(len(data) - shift) // PIECE, offset=shift)
            likely = np.flatnonzero(self._filter[_mix(read)])
            at_most = np.searchsorted(self._sorted, read[likely])
            hits = likely[self._sorted[np.minimum(at_most, len(self._sorted) - 1)] == read[likely]]
            for at in hits.tolist():
                begin = shift + at * PIECE
                yield data[begin : begin + PIECE], begin


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (values * _MIXER) >> np.uint64(64 - _FILTER_BITS)


@dataclass(frozen=True)
class PageSearch:
    """What a search of all pages found.

    Attributes:
        pages: how many were read.
        found: how many of them hold a fragment.
        fragments: how many different ones were found.
    """

    pages: int
    found: int
    fragments: int


def search_pages(
    path: Path,
    key: bytes,
    fragments: Fragments,
    report_pages: Callable[[int, int], None] = lambda *_: None,
) -> PageSearch:
    """Look for fragments in every page of a database file, free pages among them.

    Args:
        path: a copy that no connection has open.
        key: 32 raw bytes.
        report_pages: told pages done and in all; what it raises ends the search.

    Returns:
        Counts; what was found is not told.

    Raises:
        OSError: it cannot be read.
    """
    total = path.stat().st_size // PAGE_SIZE
    done, holding, seen = 0, 0, set[bytes]()
    with path.open("rb") as file:
        while block := file.read(_BATCH * PAGE_SIZE):
            plain = b"".join(
                _decrypt_page(block[at : at + PAGE_SIZE], key, is_first=not (done or at))
                for at in range(0, len(block) - PAGE_SIZE + 1, PAGE_SIZE)
            )
            hits = list(fragments.find_places(plain))
            seen.update(piece for piece, _ in hits)
            holding += len({at // PAGE_SIZE for _, at in hits})
            done += len(block) // PAGE_SIZE
            report_pages(done, total)
    return PageSearch(done, holding, len(seen))


def _decrypt_page(page: bytes, key: bytes, *, is_first: bool) -> bytes:
    """One page in the clear, as long as it was; of the first one the salt before it stays."""
    begin, end = (_SALT if is_first else 0), PAGE_SIZE - _TAIL
    vector = page[end : end + _VECTOR]
    reader = Cipher(algorithms.AES(key), modes.CBC(vector)).decryptor()
    return page[:begin] + reader.update(page[begin:end]) + reader.finalize() + bytes(_TAIL)


def log_bytes(path: Path) -> int:
    """How long the log beside a database is; 0 where there is none, so that nothing of an old page is in it.

    Args:
        path: the database file.
    """
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size
    except FileNotFoundError:
        return 0
