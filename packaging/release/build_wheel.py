"""Build the wheel that needs no compiler: Loci with hnswlib, the one library that comes as source, compiled into it.

    python3 packaging/bootstrap.py setup
    .venv/bin/python packaging/release/build_wheel.py [--out dist]

The compiled library is made from the source that `requirements.lock` names by its hash, with the tools of
`packaging/build.lock`; the wheel is for this Python, this system and this kind of processor, and says so.
build_linux.py puts the pages of the manual into it as well. Must not do: change what is in `.venv`, or put anything
into the wheel that is in no lock and not in the checkout.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Mapping
from email.parser import BytesParser
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

import environment  # noqa: E402
import integration  # noqa: E402
import machine  # noqa: E402

ROOT = environment.ROOT
TIME = (2026, 1, 1, 0, 0, 0)
"""Of every file in the wheel, so that the day of the build is not in it."""
_SYMBOLS = re.compile(rb"\b(GLIBC|GLIBCXX)_([0-9]+(?:\.[0-9]+)+)\0")
_GLIBC_OF_GLIBCXX = {"3.4.21": 23, "3.4.22": 24, "3.4.25": 28, "3.4.28": 31, "3.4.29": 34, "3.4.30": 36, "3.4.32": 39}
"""The newest symbols of the C++ library that every system with a certain C library (2.x) has."""


def build_wheel(out: Path, python: Path, share: Mapping[str, bytes]) -> Path:
    """Build it.

    Args:
        out: the folder for it.
        python: the interpreter of the set-up environment.
        share: from `integration.list_files`.

    Returns:
        The wheel's path.
    """
    machine.require_compiler()
    with tempfile.TemporaryDirectory(prefix="loci-wheel-") as folder:
        compiled, own = Path(folder) / "compiled", Path(folder) / "own"
        _, lock = environment.split_lock((ROOT / "requirements.lock").read_text(encoding="utf-8"), environment.COMPILED)
        part = Path(folder) / "part.lock"
        part.write_text(lock, encoding="utf-8")
        fresh = ("--no-cache-dir", "--no-binary", environment.COMPILED, "--require-hashes", "-r", str(part))
        _wheel(python, compiled, *fresh)
        _wheel(python, own, str(copy_sources(Path(folder) / "sources")))
        pure, library = _read(next(own.glob("*.whl"))), _read(next(compiled.glob("*.whl")))
    files = join_wheels(pure, library, share)
    (info,) = {name.split("/")[0] for name in files if name.endswith(".dist-info/WHEEL")}
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{info.removesuffix('.dist-info')}-{_tag(files)}.whl"
    _write(path, files, info)
    return path


def copy_sources(target: Path) -> Path:
    """Copy what Loci's own wheel is made of; a build in the checkout would take along what an earlier one left there.

    Args:
        target: a folder that does not exist yet.

    Returns:
        The folder.
    """
    for name in environment.PACKAGES:
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, target / name)
    return target


def _wheel(python: Path, out: Path, *what: str) -> None:
    command = [str(python), "-I", "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    kept = environment.child_environment(**machine.compile_environment())
    subprocess.run([*command, "--wheel-dir", str(out), *what], env=kept, check=True)


def _read(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def join_wheels(
    pure: Mapping[str, bytes], library: Mapping[str, bytes], share: Mapping[str, bytes]
) -> dict[str, bytes]:
    """The files of the joint wheel, all but its RECORD and its tag.

    Args:
        pure: files of Loci's own wheel.
        library: files of hnswlib's.
        share: what goes below the prefix it is installed in.

    Returns:
        Path in the wheel to content. The metadata no longer asks for hnswlib; it says that the wheel provides it.
    """
    (info,) = {name.split("/")[0] for name in pure if ".dist-info/" in name}
    (other,) = {name.split("/")[0] for name in library if ".dist-info/" in name}
    described = BytesParser().parsebytes(library[f"{other}/METADATA"])
    files = {name: content for name, content in pure.items() if not name.endswith("/RECORD")}
    files[f"{info}/METADATA"] = _provide(files[f"{info}/METADATA"], described["Name"], described["Version"])
    for name, content in library.items():
        if not name.startswith(f"{other}/"):
            files[name] = content
        elif "LICENSE" in name.upper():
            files[f"{info}/licenses/{described['Name']}/{Path(name).name}"] = content
    files |= {f"{info.removesuffix('.dist-info')}.data/data/{place}": content for place, content in share.items()}
    return files


def _provide(metadata: bytes, name: str, number: str) -> bytes:
    head, blank, text = metadata.partition(b"\n\n")
    lines = head.decode().splitlines()
    kept = [line for line in lines if not re.match(rf"Requires-Dist: {re.escape(name)}\b", line)]
    if len(kept) == len(lines):
        raise ValueError(f"{name} is not asked for")
    return "\n".join([*kept, f"Provides-Dist: {name} ({number})"]).encode() + blank + text


def newest_glibc(library: bytes) -> int:
    """The C library (2.x) that a compiled library needs, by the versions of the symbols it names.

    Args:
        library: the content of an ELF file.

    Raises:
        ValueError: it names a version that is not known here.
    """
    least = 17
    for kind, version in _SYMBOLS.findall(library):
        parts = tuple(map(int, version.decode().split(".")))
        if kind == b"GLIBC":
            least = max(least, parts[1])
        else:
            known = [glibc for name, glibc in _GLIBC_OF_GLIBCXX.items() if parts <= tuple(map(int, name.split(".")))]
            if not known:
                raise ValueError(f"GLIBCXX {version.decode()} is not known")
            least = max(least, min(known) if parts > (3, 4, 19) else 17)
    return least


def _tag(files: Mapping[str, bytes]) -> str:
    """Python, ABI and platform of the compiled part."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if platform.startswith("linux_"):
        libraries = [content for name, content in files.items() if name.endswith(".so")]
        platform = f"manylinux_2_{max(map(newest_glibc, libraries))}_{platform.removeprefix('linux_')}"
    return f"{python}-{python}-{platform}"


def _write(path: Path, files: Mapping[str, bytes], info: str) -> None:
    tag = path.stem.split("-", 2)[2]
    wheel = f"Wheel-Version: 1.0\nGenerator: loci\nRoot-Is-Purelib: false\nTag: {tag}\n"
    whole = {**files, f"{info}/WHEEL": wheel.encode()}
    record = "".join(f"{name},sha256={_hash(content)},{len(content)}\n" for name, content in sorted(whole.items()))
    whole[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        # The metadata last, as the format recommends.
        for name in sorted(whole, key=lambda name: (name.startswith(f"{info}/"), name)):
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, whole[name])


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def main() -> int:
    """Build it and say where it lies.

    Returns:
        0.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the wheel")
    python = environment.Environment(ROOT).python
    share = integration.list_files(integration.write_generated(python, ROOT))
    made = build_wheel(parser.parse_args().out.absolute(), python, share)
    print(f"{made} ({made.stat().st_size / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
