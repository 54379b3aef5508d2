"""A file of a memory: how it is called and kept, what was read out of it, and the places that a memory's text is from.

Names, captions and texts are hostile: plain text only. Must not do: hold the bytes of a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ViewMethod(StrEnum):
    """By what way a text was read out of a file (`file_views.method`)."""

    PDF_TEXT = "pdf-text"
    PLAIN_TEXT = "plain-text"
    HTML_TEXT = "html-text"
    DOCX_TEXT = "docx-text"
    CAPTION = "caption"
    """What the person wrote of it when it was attached."""
    EXIF = "exif"
    """What a picture says of itself: its description and title."""


class AttachNote(StrEnum):
    """What was not read of a file, though the file is kept whole; the sentences are `resources/help/files.json`."""

    NO_TEXT = "no_text"
    """Nothing in it is text, such as a scan, a picture or a kind of file that Loci does not read."""
    LOCKED = "locked"
    """It is locked with a password."""
    DAMAGED = "damaged"
    """It is damaged, or another kind of file than it says."""
    TEXT_CUT = "text_cut"
    """It holds more pages or text than are read."""
    PAGES_LEFT_OUT = "pages_left_out"
    """Some pages could not be read or hold no text."""
    PICTURE_TOO_LARGE = "picture_too_large"
    """It has too many pixels for a small picture of it."""


@dataclass(frozen=True, slots=True)
class FileView:
    """One text that was read out of a file.

    Attributes:
        characters: how long it is.
        regions: how many stretches of it are known by their place, such as pages.
        is_cut: whether the file holds more than was read.
    """

    id: str
    method: ViewMethod
    characters: int
    regions: int
    is_cut: bool


@dataclass(frozen=True, slots=True)
class FileViewText:
    """A view with its text.

    Attributes:
        pages: of each stretch in order: the page it stands on from 1 (None where there are no pages), where it begins
            in the text and where it ends, in characters.
    """

    view: FileView
    text: str
    pages: tuple[tuple[int | None, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDescription:
    """What is known of a file beside its bytes.

    Attributes:
        name: as the file was called, without its folder.
        media_type: by content, never by name: `image/png`, `application/pdf`; `application/octet-stream` for others.
        caption: what the person wrote of it; "" for nothing.
        pages: of a document with pages; None for others. `width` and `height`, in pixels, of a picture likewise.
    """

    name: str
    media_type: str
    caption: str = ""
    pages: int | None = None
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile(FileDescription):
    """A file of a memory.

    Attributes:
        memory_id: the memory it belongs to; of a split text the first part.
        size: bytes.
        digest: SHA-256 of the bytes, hexadecimal.
        has_thumbnail: whether there is a small picture of it.
        attached_at: epoch ms.
        views: what was read out of it, by method.
    """

    id: str
    memory_id: str
    size: int
    digest: str
    has_thumbnail: bool
    attached_at: int
    views: tuple[FileView, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceRegion:
    """The place in a file that a stretch of a memory's text is from.

    Attributes:
        page: from 1; None where the file has no pages.
        memory_id: the memory, of a split text the part; its text from `start` to `end` is that of the view from
            `view_start` on, in characters.
    """

    file_id: str
    view_id: str
    method: ViewMethod
    page: int | None
    memory_id: str
    start: int
    end: int
    view_start: int


@dataclass(frozen=True, slots=True)
class AttachReply:
    """What came of attaching a file.

    Attributes:
        operation: `ADD`; `QUARANTINE` where its text reads like an instruction and waits in the review; `NOOP` where
            this file is attached in this space with this caption already.
        deduplicated: whether it was that already.
        conflict: the review item that waits; None where none does.
        notes: what was not read of it.
        step_id: the undo step; None where nothing changed.
    """

    operation: str
    memory_id: str
    file: AttachedFile
    deduplicated: bool = False
    conflict: str | None = None
    notes: tuple[AttachNote, ...] = ()
    step_id: str | None = None
