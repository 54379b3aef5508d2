"""A folder or archive in which exports of several programs lie: each goes to its own importer, all are one import.

A folder or archive that one program wrote stays whole, whatever was sent or attached in it. Loose files of one kind
that lie in one folder are one source; archives within archives are opened; what nobody knows is named. Must not do:
know a format, or split an export.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from core.errors import Code, UserError
from core.importers.formats.pictures.pictures import ENDINGS, PICTURES
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import is_binary, is_hidden, read_head
from core.importers.records import Importer, Item, Part, SkippedPart, UnreadablePart
from core.types.values import IMPORT_FORMATS

_FORMAT = "mixed"
_DEEPEST = 12
_MANY = 3  # formats in one place that no single program writes
# What lies directly in the folder of an export; a folder of downloads may have it, too, but then beside many others.
_ROOTS = frozenset({"_chat.txt", "result.json", "conversations.json", "users.json", "cur", "projects.json"})
_VAULT = ".obsidian"
_TAKEOUT = "Takeout"
_MOST_ARCHIVES = 100
_FEW = 5  # files of one ending that are named one by one where nobody knows them
_PACKAGES = frozenset({"META-INF/MANIFEST.MF", "AndroidManifest.xml", "[Content_Types].xml", "content.xml"})
_PACKAGED = (".dist-info/METADATA", "/META-INF/MANIFEST.MF", ".app/Contents/Info.plist")
_MEDIA = (
    b"\xff\xd8\xff",
    b"\x89PNG",
    b"GIF8",
    b"RIFF",
    b"ID3",
    b"OggS",
    b"fLaC",
    b"MZ",
    b"\x7fELF",
    b"\x1f\x8b",
    b"II*\0",
)
_NOTHING = "; nothing was imported."
# What almost anything could be taken for, or what lies in many an export, is taken for it only where its name says so.
_LOOSE: Mapping[str, tuple[str, ...]] = {
    "pdf": (".pdf",),
    "html": (".html", ".htm", ".xhtml"),
    "org": (".org",),
    "jsonl": (".jsonl", ".ndjson"),
    "csv": (".csv", ".tsv"),
    "markdown": (".md", ".markdown", ".txt"),
    "text": (".txt",),
    PICTURES: ENDINGS,
}
# What is written with pictures in it: beside more of these, pictures are theirs, and a folder of both is one source.
_ILLUSTRATED = frozenset({"html", "org", "markdown", "text"})
# Each file of these is by itself: they own no folder, and what lies beside them is none of theirs.
_SINGLES = frozenset({"calendar", "contacts", "bookmarks", "kindle", "evernote"})


@dataclass(frozen=True, slots=True)
class _Found:
    """Files that one importer reads; none where nobody knows them, or where they cannot be opened, with the reason."""

    importer: Importer | None
    bundle: Bundle
    prefix: str
    name: str
    trouble: str = ""

    @property
    def part(self) -> Part:
        """The source as it is told."""
        # The members of an archive that is part of an export stand in a folder of its name.
        name = self.name[:-1] if self.name.lower().endswith(".zip/") else self.name
        return Part(name or self.bundle.label, self.importer.format if self.importer is not None else "")


class CollectionImporter:
    """Reads what lies side by side.

    Args:
        importers: all others, in the order in which they are asked.
    """

    def __init__(self, importers: tuple[Importer, ...]) -> None:
        self._exports = [one for one in importers if one.format not in _LOOSE]
        self._loose = [one for one in importers if one.format in _LOOSE]
        # What another maker's importer knows is its own; it takes no folder from ours.
        self._singles = _SINGLES.union(one.format for one in importers if one.format not in IMPORT_FORMATS)

    @property
    def format(self) -> str:
        """`mixed`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether importers of several formats find their own, or something is in archives of a folder or archive."""
        return bundle.kind != "file" and self._is_mixed(bundle)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield what each importer yields, source by source; see `records.Importer`."""
        for found in self._divide(bundle, "", 0):
            part = found.part
            if found.trouble:
                yield UnreadablePart(found.name, found.trouble, "refused_file", part)
                continue
            if found.importer is None:
                yield SkippedPart("unknown_file", part.name, len(found.bundle.files), part)
                continue
            try:
                for item in found.importer.read(found.bundle):
                    yield _told_with(item, found, part)
            except UserError as error:
                if error.code is not Code.IMPORT_REFUSED:
                    raise
                # One file that is refused does not take the others with it.
                yield UnreadablePart(found.name, _reason_of(error), "refused_file", part)

    # ---- what is in a place

    def _find_owners(self, bundle: Bundle) -> list[Importer]:
        return [one for one in self._exports if one.detects(bundle)]

    def _find_inner(self, bundle: Bundle) -> set[str]:
        """The formats of what lies in archives of a place; what cannot be opened is told when it is read."""
        found: set[str] = set()
        for file in [one for one in bundle.files if one.members is not None][:_MOST_ARCHIVES]:
            inner = _open_archive(file)
            if isinstance(inner, Bundle) and not self._is_package(inner):
                owner = next((one for one in self._exports if one.detects(inner)), None)
                found |= {owner.format} if owner is not None else self._find_inner(inner)
                found |= set() if owner is not None else set(self._divide_loose(inner))
        return found

    def _divide_loose(self, bundle: Bundle) -> dict[str, Bundle]:
        """Files that belong to no export, by what reads them."""
        found: dict[str, Bundle] = {}
        left = [file for file in bundle.files if file.members is None]
        for importer in self._loose:
            endings = _LOOSE[importer.format]
            own = [file for file in left if file.path.suffix.lower() in endings and file.size and _is_shown(file)]
            group = replace(bundle, kind="folder", files=tuple(own))
            if own and importer.detects(group):
                found[importer.format] = group
                names = {file.name for file in own}
                left = [file for file in left if file.name not in names]
        return found

    def _is_mixed(self, bundle: Bundle) -> bool:
        tops = {file.name.partition("/")[0] for file in bundle.files}
        if _VAULT in tops:
            return False
        owning = self._find_owners(bundle)
        owners = {one.format for one in owning}
        inner = self._find_inner(bundle)
        known = owners | inner
        if bundle.kind == "zip":
            if len(known) > 1 and tops == {_TAKEOUT}:
                return True
        elif len(known) >= _MANY or (len(known) > 1 and (inner - owners or not tops & _ROOTS)):
            return True
        if owners - self._singles:
            return False
        if inner or len(owners) > 1:
            return True
        free = [file for file in bundle.files if not any(one.detects(_bundle_of(file)) for one in owning)]
        return len(owners) + len(_without_illustrations(self._divide_loose(replace(bundle, files=tuple(free))))) > 1

    # ---- dividing

    def _divide(self, bundle: Bundle, prefix: str, depth: int) -> Iterator[_Found]:
        if bundle.kind == "file":
            yield from self._divide_file(bundle, prefix, depth)
        elif depth < _DEEPEST and (depth == 0 or self._is_mixed(bundle)):
            yield from self._divide_children(bundle, prefix, depth)
        else:
            owner = next(iter(self._find_owners(bundle)), None)
            yield from self._read_whole(bundle, prefix) if owner is None else [_Found(owner, bundle, prefix, prefix)]

    def _divide_file(self, bundle: Bundle, prefix: str, depth: int) -> Iterator[_Found]:
        file = bundle.files[0]
        if file.members is None:
            if _is_media(file):
                yield _Found(None, bundle, prefix, prefix)
                return
            owner = next(iter(self._find_owners(bundle)), None)
            yield _Found(owner, bundle, prefix, prefix)
            return
        inner = _open_archive(file)
        if isinstance(inner, str):
            yield _Found(None, bundle, prefix, prefix, inner)
            return
        found = [] if self._is_package(inner) else list(self._divide(inner, f"{prefix}/", max(1, depth + 1)))
        # An archive with nothing that is known in it is one unknown file, whatever its program keeps in it.
        is_known = any(one.importer is not None or one.trouble for one in found)
        yield from found if is_known else [_Found(None, bundle, prefix, prefix)]

    def _is_package(self, bundle: Bundle) -> bool:
        """Whether an archive is a program or a document of one that nobody reads; their texts are nobody's notes."""
        names = {file.name for file in bundle.files}
        is_marked = not names.isdisjoint(_PACKAGES) or any(name.endswith(_PACKAGED) for name in names)
        return is_marked and not self._find_owners(bundle)

    def _divide_children(self, bundle: Bundle, prefix: str, depth: int) -> Iterator[_Found]:
        loose: list[SourceFile] = []
        unknown: list[_Found] = []
        for name, child in _children_of(bundle):
            for found in self._divide(child, f"{prefix}{name}", depth + 1):
                if found.importer is None and not found.trouble and child.kind == "file" and found.bundle is child:
                    loose.append(child.files[0])
                    unknown.append(found)
                else:
                    yield found
        groups = self._divide_loose(replace(bundle, kind="folder", files=tuple(loose)))
        yield from self._list_groups(groups, prefix)
        taken = {file.name for group in groups.values() for file in group.files}
        yield from _join_unknown([one for one in unknown if one.bundle.files[0].name not in taken], prefix)

    def _read_whole(self, bundle: Bundle, prefix: str) -> Iterator[_Found]:
        """A folder that no program owns: notes with what lies beside them, tables, or nothing that is known."""
        groups = self._divide_loose(bundle)
        if len(groups) == 1 and (importer := self._named(next(iter(groups)))).detects(bundle):
            yield _Found(importer, bundle, prefix, prefix)
            return
        taken = {file.name for group in groups.values() for file in group.files}
        rest = tuple(file for file in bundle.files if file.name not in taken)
        yield from self._list_groups(groups, prefix)
        if rest:
            yield _Found(None, replace(bundle, files=rest), prefix, prefix)

    def _list_groups(self, groups: Mapping[str, Bundle], prefix: str) -> Iterator[_Found]:
        for name, group in groups.items():
            if len(group.files) > 1:
                yield _Found(self._named(name), group, prefix, f"{prefix}*{_LOOSE[name][0]}")
                continue
            one = replace(group, label=group.files[0].path.name, kind="file")
            importer = next((one_of for one_of in self._loose if _is_named(one, one_of) and one_of.detects(one)), None)
            yield _Found(importer, one, "", f"{prefix}{group.files[0].name}")

    def _named(self, name: str) -> Importer:
        return next(one for one in self._loose if one.format == name)


def _is_media(file: SourceFile) -> bool:
    """Whether a file is a picture, a sound, a film or a program, which no importer reads."""
    try:
        head = read_head(file, 512)
    except UserError:
        return False  # unreadable: the importer says so when it comes to it
    return (head.startswith(_MEDIA) or head[4:8] == b"ftyp") and is_binary(head)


def _join_unknown(unknown: list[_Found], prefix: str) -> Iterator[_Found]:
    """What nobody knows, one by one; many of one ending as one."""
    endings: dict[str, list[_Found]] = {}
    for one in unknown:
        endings.setdefault(one.bundle.files[0].path.suffix.lower(), []).append(one)
    for ending, found in sorted(endings.items()):
        if len(found) <= _FEW:
            yield from found
        else:
            files = tuple(one.bundle.files[0] for one in found)
            yield _Found(None, replace(found[0].bundle, kind="folder", files=files), prefix, f"{prefix}*{ending}")


def _without_illustrations(groups: Mapping[str, Bundle]) -> Mapping[str, Bundle]:
    """The kinds of loose files without pictures that belong to what is written beside them."""
    written = sum(len(group.files) for name, group in groups.items() if name in _ILLUSTRATED)
    if PICTURES not in groups or len(groups[PICTURES].files) > written:
        return groups
    return {name: group for name, group in groups.items() if name != PICTURES}


def _bundle_of(file: SourceFile) -> Bundle:
    return Bundle(file.path.name, "file", (file,), (), "")


def _is_named(bundle: Bundle, importer: Importer) -> bool:
    return bundle.files[0].path.suffix.lower() in _LOOSE[importer.format]


def _is_shown(file: SourceFile) -> bool:
    return not is_hidden(file.name)


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


def _told_with(item: Item, found: _Found, part: Part) -> Item:
    """The item with its source, and with the place of that before its own."""
    if found.bundle.kind == "file" or not found.prefix:
        return replace(item, part=part)
    return replace(item, part=part, where=f"{found.prefix}{item.where}")
