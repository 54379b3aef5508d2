"""The Debian package: the frozen program in /usr/lib/loci, its command, and what a desktop finds it by.

Nothing runs when it is installed or removed: menus, types of files and manual pages are noticed by the system itself.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import integration

NAME = "loci-palace"
DEPENDS = (
    "libc6 (>= {libc})", "libegl1", "libgcc-s1", "libgl1", "libstdc++6 (>= 12)", "libx11-6", "libxcb1", "zlib1g",
)  # fmt: skip
"""What the frozen program leaves to the system: the C and C++ libraries, the graphics drivers' door, the X protocol."""
CONTROL = """\
Package: {name}
Version: {version}
Architecture: {architecture}
Maintainer: The Loci developers <loci@localhost.invalid>
Installed-Size: {size}
Depends: {depends}
Recommends: fonts-dejavu-core | fonts-noto-core, libwayland-cursor0
Section: utils
Priority: optional
Description: private memory palace for a person and their AI assistants
 Loci keeps what your assistants learn about you in one encrypted vault on
 your own machine. It brings in chat exports and notes, finds things in them
 again with the reasons why they were found, and lets you correct, undo or
 forget. Local assistants may plug in and get what you granted them, no more.
 .
 No server, no account, no telemetry.
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Loci

Files: *
Copyright: the Loci developers
License: GPL-3.0-or-later
 On Debian systems the whole text of the licence is in
 /usr/share/common-licenses/GPL-3. The licences of the libraries that come
 along are in /usr/lib/loci/_internal, in the folders named *.dist-info, those
 of icons, fonts and models beside them in /usr/lib/loci/_internal/resources.
"""


def write_control(version: str, architecture: str, libc: str, size_kib: int) -> str:
    """The package's description.

    Args:
        version: of Loci.
        architecture: in Debian's words.
        libc: the least version of the C library.
        size_kib: of everything it installs.
    """
    depends = ", ".join(DEPENDS).format(libc=libc)
    return CONTROL.format(name=NAME, version=version, architecture=architecture, size=size_kib, depends=depends)


def lay_tree(program: Path, files: Mapping[str, bytes], tree: Path) -> None:
    """Lay out what is installed.

    Args:
        program: the frozen program's folder.
        files: of `integration.list_files`.
        tree: does not exist yet.
    """
    shutil.copytree(program, tree / "usr" / "lib" / "loci", symlinks=True)
    integration.lay_files(files, tree / "usr", packed_man=True)
    zsh = tree / "usr" / "share" / "zsh"
    (zsh / "site-functions").rename(zsh / "vendor-completions")  # Debian's zsh looks there
    (tree / "usr" / "bin").mkdir()
    (tree / "usr" / "bin" / "loci").symlink_to("../lib/loci/loci")
    papers = tree / "usr" / "share" / "doc" / NAME
    papers.mkdir(parents=True, exist_ok=True)
    (papers / "copyright").write_text(COPYRIGHT, encoding="utf-8")
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink():
            is_program = path.is_dir() or path == tree / "usr" / "lib" / "loci" / "loci"
            path.chmod(0o755 if is_program else 0o644)


def write_changelog(version: str, changed: str) -> bytes:
    """The list of changes that every package carries, compressed.

    Args:
        version: of Loci.
        changed: the day, as in a mail's head.
    """
    text = f"{NAME} ({version}) unstable; urgency=medium\n\n  * Release {version}.\n\n"
    return gzip.compress(f"{text} -- The Loci developers <loci@localhost.invalid>  {changed}\n".encode(), mtime=0)


def build_deb(tree: Path, version: str, changed: str, libc: str, out: Path) -> Path:
    """Build the package.

    Args:
        tree: from `lay_tree`.
        version: of Loci.
        changed: the day of the release, as in a mail's head.
        libc: the least version of the C library.
        out: the folder for it.

    Returns:
        Its path.
    """
    (tree / "usr" / "share" / "doc" / NAME / "changelog.gz").write_bytes(write_changelog(version, changed))
    asked = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    architecture = asked.stdout.strip()
    files = sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink())
    size = sum(-(-path.stat().st_size // 1024) for path in files)
    sums = "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n" for path in files)  # noqa: S324  the format asks for it
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN" / "control").write_text(write_control(version, architecture, libc, size), encoding="utf-8")
    (tree / "DEBIAN" / "md5sums").write_text(sums, encoding="utf-8")
    path = out / f"{NAME}_{version}_{architecture}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z4", "--build", str(tree), str(path)], check=True)
    return path
