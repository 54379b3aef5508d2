"""Pictures with a caption: what it says is the memory, and when the picture was taken is its time.

The pictures stay where they are, their names are kept. A picture is known by its caption and its time, so that the same
one in two sizes comes in once. Must not do: decode a picture, keep one, or take a file's date for the day it was taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from core.importers.document import Document
from core.importers.formats.pictures.picture_words import FAULTS, PictureWords, is_picture, open_picture, read_words
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import is_binary, open_seekable, read_head, visible_files
from core.importers.records import Item, SkippedPart, UnreadablePart

PICTURES = "pictures"
"""The name of the format."""
ENDINGS = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".gif")
"""Of files that are looked into; the first stands for them all."""
_SNIFFED = 512
_MOST_BYTES = 64 << 20
_HUGE = "this picture is larger than 64 MiB; save a smaller copy and import that"
_DAMAGED = "this picture is damaged and cannot be read"


class PicturesImporter:
    """Reads captions, of one picture or a folder of them."""

    @property
    def format(self) -> str:
        """`pictures`."""
        return PICTURES

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file begins as a picture does."""
        return any(_begins_as_picture(file) for file in _likely_files(bundle))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the captions, picture by picture; see `records.Importer`."""
        likely = _likely_files(bundle)
        for file in likely:
            yield _read_file(file)
        if len(bundle.files) > len(likely):
            yield SkippedPart("not_a_picture", bundle.label, len(bundle.files) - len(likely))


def _likely_files(bundle: Bundle) -> list[SourceFile]:
    files = visible_files(bundle)
    return files if bundle.kind == "file" else [one for one in files if one.path.suffix.lower() in ENDINGS]


def _begins_as_picture(file: SourceFile) -> bool:
    head = read_head(file, _SNIFFED)
    return is_picture(head) and is_binary(head)


def _read_file(file: SourceFile) -> Item:
    if not file.size:
        return SkippedPart("empty_file", file.name)
    if not _begins_as_picture(file):
        return SkippedPart("not_a_picture", file.name)
    if file.size > _MOST_BYTES:
        return UnreadablePart(file.name, _HUGE, "refused_file")
    with closing(open_seekable(file)) as stream:
        try:
            with open_picture(stream) as image:
                words = read_words(image)
        except FAULTS:
            return UnreadablePart(file.name, _DAMAGED, "bad_picture")
    return _make_item(file, words)


def _make_item(file: SourceFile, words: PictureWords) -> Item:
    if not words.caption:
        return SkippedPart("no_caption", file.name)
    return Document(
        form=PICTURES,
        text=words.caption,
        where=file.name,
        occurred=words.taken,
        attachments=(file.path.name,),
    ).to_item()
