"""Make resources/fonts, resources/icons and its emblems from published packages: unpack, convert, pick, check.

Run by hand when a version changes, outside the project and with fontTools and brotli beside the standard library:

    npm pack inter-ui@4.1.1 lucide-static@1.62.0
    python packaging/vendor_assets.py --fonts inter-ui-4.1.1.tgz --icons lucide-static-1.62.0.tgz

The result is committed, so nobody else ever needs the packages. Must not do: fetch anything, or accept other
archives than those named below.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.metadata
import io
import json
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FONTS = ROOT / "resources" / "fonts"
ICONS = ROOT / "resources" / "icons"
EMBLEMS = ICONS / "emblems"
EMBLEM_WORDS = ROOT / "resources" / "palace" / "emblems.json"

FONT_PACKAGE = "inter-ui 4.1.1"
FONT_SHA256 = "e392e4d71f18a7c1f23dfecd833d68fa05eeab41862686584e80fd2b5d87e9c0"
FONT_LICENCE = "package/LICENSE.txt"
FACES = (
    "web/Inter-Regular",
    "web/Inter-Medium",
    "web/Inter-SemiBold",
    "web/Inter-Bold",
    "display/InterDisplay-Medium",
    "display/InterDisplay-SemiBold",
)
# One letter of every script the window promises, and the signs it writes itself.
MUST_HAVE = "Aéőžß Ωώ Жїґ ệưđ €−–—…“”‘’·×→←↑↓⌘"
FEATURES = {"tnum", "kern"}

ICON_PACKAGE = "lucide-static 1.62.0"
ICON_SHA256 = "386f9080c440d6f5049cefe3456ae8357f7a0c7f76e59670cd1cb83bc7050a44"
ICON_LICENCE = "package/LICENSE"
ICON_NAMES = (
    "activity", "archive", "archive-restore", "arrow-left-right", "arrow-up-down", "bot", "calendar", "check",
    "chevron-down", "chevron-left", "chevron-right", "chevron-up", "circle", "circle-alert", "circle-check",
    "circle-help", "circle-x", "clock", "columns-3", "command", "copy", "database", "diamond", "download",
    "ellipsis", "external-link", "eye", "eye-off", "file", "filter", "folder", "folder-search", "git-merge",
    "hard-drive", "hexagon", "history", "house", "import", "info", "key-round", "keyboard", "landmark", "layers",
    "library", "link", "list", "loader-circle", "lock", "lock-open", "maximize", "message-square", "minus",
    "monitor", "moon", "move", "move-right", "notebook", "palette", "panel-right", "pause", "pencil", "pin",
    "pin-off", "play", "plus", "power", "quote", "redo-2", "rotate-ccw", "save", "scale", "scan-search", "search",
    "settings-2", "share-2", "shield-check", "sliders-horizontal", "sparkles", "square", "star", "sun", "tag",
    "telescope", "timer", "trash-2", "triangle", "triangle-alert", "undo-2", "upload", "user", "users", "waypoints",
    "x", "zoom-in", "zoom-out",
)  # fmt: skip


def sha256(data: bytes) -> str:
    """SHA-256 of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def members(archive: Path, digest: str, names: Sequence[str]) -> dict[str, bytes]:
    """Read named files of a package's archive and refuse any other archive.

    Args:
        archive: what `npm pack` left.
        digest: the SHA-256 it must have, in hex.
        names: the files, as the archive names them.

    Returns:
        Name to content.

    Raises:
        SystemExit: another archive, or a file is missing.
    """
    data = archive.read_bytes()
    if sha256(data) != digest:
        sys.exit(f"{archive.name} is not the archive this script was written for; nothing was made.")
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for name in names:
            try:
                file = tar.extractfile(name)
            except KeyError:
                file = None
            if file is None:
                sys.exit(f"{archive.name} has no {name}; nothing was made.")
            found[name] = file.read()
    return found


def to_ttf(woff2: bytes) -> bytes:
    """Take a font out of its web container; outlines, features and time stamps stay as they are.

    Args:
        woff2: the web font.

    Returns:
        The same font as a plain TrueType file, byte for byte the same on every run.

    Raises:
        SystemExit: it lacks a letter or a feature that the window needs.
    """
    tt_font = importlib.import_module("fontTools.ttLib").TTFont
    font = tt_font(io.BytesIO(woff2), recalcTimestamp=False, recalcBBoxes=False)
    lost = {letter for letter in MUST_HAVE if ord(letter) not in font.getBestCmap()}
    offered = {
        record.FeatureTag for table in ("GSUB", "GPOS") for record in font[table].table.FeatureList.FeatureRecord
    }
    if lost or not offered >= FEATURES:
        sys.exit(f"A font lacks letters {sorted(lost)} or features {sorted(FEATURES - offered)}; nothing was made.")
    font.flavor = None
    out = io.BytesIO()
    font.save(out)
    return out.getvalue()


def digests(files: Mapping[str, bytes]) -> str:
    """The files and their SHA-256 as Markdown lines, by name."""
    return "\n".join(f"- `{name}` {sha256(data)}" for name, data in sorted(files.items()))


def replace_files(folder: Path, suffix: str, files: Mapping[str, bytes]) -> None:
    """Write the files and drop what an older run left.

    Args:
        folder: made when it is missing.
        suffix: of the files that this script owns there.
        files: name to content.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"*{suffix}"):
        old.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def vendor_fonts(archive: Path) -> int:
    """Fill resources/fonts.

    Args:
        archive: the package of `FONT_PACKAGE`.

    Returns:
        Bytes of all fonts.
    """
    sources = [f"package/{face}.woff2" for face in FACES]
    found = members(archive, FONT_SHA256, [*sources, FONT_LICENCE])
    made = {f"{Path(name).stem}.ttf": to_ttf(found[name]) for name in sources}
    replace_files(FONTS, ".ttf", made)
    (FONTS / "LICENSE").write_bytes(found[FONT_LICENCE])
    text = f"""# Where these fonts come from

**Inter** (400, 500, 600, 700) and **Inter Display** (500, 600), version 4.001, by The Inter Project Authors. Licence:
SIL Open Font License 1.1, no reserved font name (LICENSE in this folder).

Source: the published npm package `{FONT_PACKAGE}` (archive SHA-256 {FONT_SHA256}),
its whole static faces: Latin, extended Latin, Vietnamese, Greek, Cyrillic, signs and arrows, 2,937 glyphs each. They
are not assembled from subsets, so kerning works across scripts.

Made by `packaging/vendor_assets.py` with fonttools {importlib.metadata.version("fonttools")}: each face was taken out
of its web container (WOFF2 to TrueType). Outlines, names, features (`tnum`, `kern`, ...) and time stamps are unchanged.

Result (SHA-256):

{digests(made)}
"""
    (FONTS / "PROVENANCE.md").write_text(text, "utf-8")
    return sum(map(len, made.values()))


def vendor_icons(archive: Path, folder: Path, names: Sequence[str]) -> int:
    """Fill a folder of icons.

    Args:
        archive: the package of `ICON_PACKAGE`.
        names: of the icons, without their ending.

    Returns:
        How many icons there are.
    """
    sources = {f"{name}.svg": f"package/icons/{name}.svg" for name in names}
    found = members(archive, ICON_SHA256, [*sources.values(), ICON_LICENCE])
    made = {name: found[source] for name, source in sources.items()}
    plain = sorted(name for name, data in made.items() if b"currentColor" not in data)
    if plain:
        sys.exit(f"These icons cannot be coloured: {plain}; nothing was made.")
    replace_files(folder, ".svg", made)
    (folder / "LICENSE").write_bytes(found[ICON_LICENCE])
    text = f"""# Where these icons come from

**Lucide** by the Lucide Contributors. Licence: ISC; the icons that derive from Feather: MIT, Cole Bemis (LICENSE in
this folder, unchanged; it lists them).

Source: the published npm package `{ICON_PACKAGE}`
(archive SHA-256 {ICON_SHA256}).
{len(made)} of its icons were copied byte for byte by `packaging/vendor_assets.py`; the names there are the list.

SHA-256:

{digests(made)}
"""
    (folder / "PROVENANCE.md").write_text(text, "utf-8")
    return len(made)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fonts", type=Path, metavar="ARCHIVE", help=f"the package {FONT_PACKAGE}")
    parser.add_argument("--icons", type=Path, metavar="ARCHIVE", help=f"the package {ICON_PACKAGE}")
    wanted = parser.parse_args(argv)
    if wanted.fonts is None and wanted.icons is None:
        parser.error("name at least one archive")
    if wanted.fonts is not None:
        print(f"fonts: {vendor_fonts(wanted.fonts) / 1e6:.1f} MB")
    if wanted.icons is not None:
        emblems = sorted(json.loads(EMBLEM_WORDS.read_text("utf-8")))
        print(f"icons: {vendor_icons(wanted.icons, ICONS, ICON_NAMES)}")
        print(f"emblems: {vendor_icons(wanted.icons, EMBLEMS, emblems)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
