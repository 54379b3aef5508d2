"""One member of an archive as a file in which one can go back and forth, so that an archive within it can be read.

Why: the directory of an archive is at its end and its files are all over it. Nothing is unpacked to disk, and a large
member not into memory; so the state of the unpacking is kept at a few places, and reading goes on from the nearest.

Must not do: keep unpacked bytes beyond one block, or trust the size that an archive tells.
"""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from core.importers.input.files import Member, Opener, find_content, refused_file_error
from core.importers.input.window import FileWindow

if TYPE_CHECKING:
    from zlib import _Decompress

_STORED = 0
_BLOCK = 1 << 16
_MOST_MARKS = 256  # of about 50 KiB each
_LEAST_STEP = 1 << 20
_DAMAGED = "is damaged: an archive inside it cannot be unpacked"


@dataclass(frozen=True, slots=True)
class _Mark:
    """The unpacking as it was at one place: bytes given so far, bytes taken so far, what was taken and not used."""

    given: int
    taken: int
    waiting: bytes
    unpacker: _Decompress


class MemberAccess:
    """Opens one member as often as it is asked, seekable; what was learned of it serves every opening.

    Args:
        opener: opens the archive, unbuffered and seekable.
        member: from `list_members` of the same archive.
        label: the archive's name for messages.
        start: where the member's content begins; None where its own header tells that.
    """

    __slots__ = ("label", "marks", "member", "opener", "start")

    def __init__(self, opener: Opener, member: Member, label: str, start: int | None = None) -> None:
        self.opener, self.member, self.label, self.start = opener, member, label, start
        self.marks: list[_Mark] = []

    def open_seekable(self) -> BinaryIO:
        """Open it; reading beyond what the archive says ends.

        Raises:
            UserError: IMPORT_REFUSED where the member's own header is damaged, later for its content.
        """
        file = self.opener()
        try:
            start = find_content(file, self.member, self.label) if self.start is None else self.start
            is_packed = self.member.method != _STORED
            raw = _PackedMember(file, self, start) if is_packed else FileWindow(file, start, self.member.size)
            return io.BufferedReader(raw, _BLOCK)
        except BaseException:
            file.close()
            raise


class _PackedMember(FileWindow):
    """A member that is unpacked as far as it is read."""

    def __init__(self, file: BinaryIO, access: MemberAccess, start: int) -> None:
        super().__init__(file, start, access.member.size)
        self._access = access
        self._step = max(_LEAST_STEP, access.member.size // _MOST_MARKS)
        self._state = self._first_mark()

    @staticmethod
    def _first_mark() -> _Mark:
        return _Mark(0, 0, b"", zlib.decompressobj(-zlib.MAX_WBITS))

    def _read_at(self, wanted: int) -> bytes:
        self._go_near()
        while wanted and self._state.given < self._at:
            if not self._unpack(min(_BLOCK, self._at - self._state.given)):
                return b""
        return self._unpack(min(_BLOCK, wanted)) if wanted else b""

    def _go_near(self) -> None:
        """Take the nearest place at or before the one that is wanted, where that is a shorter way."""
        usable = [mark for mark in self._access.marks if mark.given <= self._at]
        nearest = max(usable, key=lambda mark: mark.given, default=None)
        is_behind = self._state.given <= self._at
        if nearest is not None and not (is_behind and self._state.given >= nearest.given):
            self._state = _Mark(nearest.given, nearest.taken, nearest.waiting, nearest.unpacker.copy())
        elif not is_behind:
            self._state = self._first_mark()

    def _unpack(self, wanted: int) -> bytes:
        """The next bytes from where the unpacking is; none at its end."""
        state, unpacker = self._state, self._state.unpacker
        given, taken, waiting = state.given, state.taken, state.waiting
        piece = b""
        while not piece and not unpacker.eof:
            if not waiting:
                self._file.seek(self._start + taken)
                waiting = self._file.read(min(_BLOCK, self._access.member.packed - taken))
                taken += len(waiting)
            if not waiting:
                raise refused_file_error(self._access.label, _DAMAGED)
            try:
                piece = unpacker.decompress(waiting, wanted)
            except zlib.error:
                raise refused_file_error(self._access.label, _DAMAGED) from None
            waiting = unpacker.unconsumed_tail
        given += len(piece)
        if given > self._access.member.size:
            raise refused_file_error(self._access.label, "is longer inside than its directory says")
        self._state = _Mark(given, taken, waiting, unpacker)
        self._keep_mark()
        return piece

    def _keep_mark(self) -> None:
        state, marks = self._state, self._access.marks
        last = marks[-1].given if marks else 0
        if state.given >= last + self._step and len(marks) < _MOST_MARKS and not state.unpacker.eof:
            marks.append(_Mark(state.given, state.taken, state.waiting, state.unpacker.copy()))
