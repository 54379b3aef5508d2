"""A folder in which exports of several programs lie: each goes to its own importer, all of them are one import.

A folder or zip that one program wrote stays whole, whatever was sent or attached in it. Loose files are taken one by
one; what nobody knows is counted. Must not do: know a format, split an export, or unpack an archive in an archive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from core.errors import Code, UserError
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import is_hidden
from core.importers.records import Importer, Item, SkippedPart, UnreadablePart

_FORMAT = "mixed"
_DEEPEST = 6
_MANY = 3  # formats in one place that no single program writes
# What lies directly in the folder of an export; a folder of downloads may have it, too, but then beside many others.
_ROOTS = frozenset(
    {"_chat.txt", "result.json", "conversations.json", "users.json", ".obsidian", "cur", "projects.json"}
)
_TAKEOUT = "Takeout"
_MOST_ARCHIVES = 100
_NOTHING = "; nothing was imported."
# What almost anything could be taken for is taken for it only where its name says so.
_LOOSE = {"jsonl": (".jsonl", ".ndjson"), "csv": (".csv", ".tsv"), "markdown": (".md", ".markdown"), "text": (".txt",)}


@dataclass(frozen=True, slots=True)
class _Part:
    """Files that one importer reads; none where nobody knows them, or where they cannot be opened, with the reason."""

    importer: Importer | None
    bundle: Bundle
    prefix: str
    trouble: str = ""


class CollectionImporter:
    """Reads what lies side by side.

    Args:
        importers: all others, in the order in which they are asked.
    """

    def __init__(self, importers: tuple[Importer, ...]) -> None:
        self._importers = importers
        self._known = [one for one in importers if one.format not in _LOOSE]

    @property
    def format(self) -> str:
        """`mixed`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether importers of several formats find their own in a folder, or in a zip of Google Takeout."""
        return bundle.kind != "file" and self._is_mixed(bundle, self._find_known(bundle))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield what each importer yields, part by part; see `records.Importer`."""
        for part in self._divide(bundle, "", 0):
            if part.trouble:
                yield UnreadablePart(part.prefix, part.trouble, "refused_file")
                continue
            if part.importer is None:
                yield SkippedPart("unknown_file", part.prefix or bundle.label, len(part.bundle.files))
                continue
            try:
                for item in part.importer.read(part.bundle):
                    yield _told_with(item, part)
            except UserError as error:
                if error.code is not Code.IMPORT_REFUSED:
                    raise
                # One file that is refused does not take the others with it.
                yield UnreadablePart(part.prefix, _reason_of(error), "refused_file")

    def _find_known(self, bundle: Bundle) -> list[Importer]:
        """Whose exports are in a bundle, those of archives in it among them."""
        found = {one.format: one for one in self._known if one.detects(bundle)}
        for file in [one for one in bundle.files if one.members is not None][:_MOST_ARCHIVES]:
            inner = _open_archive(file)
            knows = (one for one in self._known if isinstance(inner, Bundle) and one.detects(inner))
            importer = next(knows, None)
            if importer is not None:
                found.setdefault(importer.format, importer)
        return list(found.values())

    def _is_mixed(self, bundle: Bundle, known: list[Importer]) -> bool:
        tops = {file.name.partition("/")[0] for file in bundle.files}
        if bundle.kind == "zip":
            return len(known) > 1 and tops == {_TAKEOUT}
        return len(known) >= _MANY or (len(known) > 1 and not tops & _ROOTS)

    def _divide(self, bundle: Bundle, prefix: str, depth: int) -> Iterator[_Part]:
        known = self._find_known(bundle) if bundle.kind != "file" else []
        if bundle.kind != "file" and (depth == 0 or self._is_mixed(bundle, known)) and depth < _DEEPEST:
            for name, child in _children_of(bundle):
                yield from self._divide(child, f"{prefix}{name}", depth + 1)
            return
        if bundle.kind == "file" and bundle.files[0].members is not None:
            inner = _open_archive(bundle.files[0])
            if isinstance(inner, str):
                yield _Part(None, bundle, prefix, inner)
            else:
                yield from self._divide(inner, f"{prefix}/", max(1, depth))
            return
        importer = next(iter(known), None) or self._find_loose(bundle)
        yield _Part(importer, bundle, prefix)

    def _find_loose(self, bundle: Bundle) -> Importer | None:
        """The importer of a loose file, or of a folder of notes or tables."""
        if bundle.kind == "file":
            suffix = bundle.files[0].path.suffix.lower()
            fitting = (one for one in self._importers if suffix in _LOOSE.get(one.format, (suffix,)))
            return next((one for one in fitting if bundle.files[0].size and one.detects(bundle)), None)
        return next((one for one in self._importers if one.format in _LOOSE and one.detects(bundle)), None)


def _reason_of(error: UserError) -> str:
    return error.sentence.removesuffix(_NOTHING)


def _open_archive(file: SourceFile) -> Bundle | str:
    """An archive as a bundle; why not, in words, where it is damaged, dangerous or empty."""
    try:
        members = file.members() if file.members is not None else ()
    except UserError as error:
        return _reason_of(error)
    return Bundle(file.path.name, "zip", members, (), "") if members else "this archive is empty"


def _children_of(bundle: Bundle) -> Iterator[tuple[str, Bundle]]:
    """What lies directly in a bundle: its files one by one, its folders as bundles of their own, in order."""
    folders: dict[str, list[SourceFile]] = {}
    for file in bundle.files:
        top, mark, rest = file.name.partition("/")
        if is_hidden(top) and not mark:
            continue
        folders.setdefault(top if mark else file.name, []).append(replace(file, name=rest) if mark else file)
    for name, files in sorted(folders.items()):
        is_file = len(files) == 1 and files[0].name == name
        yield name if is_file else f"{name}/", Bundle(name, "file" if is_file else "folder", tuple(files), (), "")


def _told_with(item: Item, part: _Part) -> Item:
    """The item, with the place of its part before its own."""
    if part.bundle.kind == "file" or not part.prefix:
        return item
    return replace(item, where=f"{part.prefix}{item.where}")
