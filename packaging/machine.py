"""What the machine itself must bring: a compiler, headers, system libraries, a display.

Looks and says; the only thing it ever installs are system libraries, as root, with
apt-get, where nobody has to be asked. Must not touch the environment in `.venv`.
Standard library only.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

# What `ldd` names for QtGui and its offscreen plugin, and the Debian package each comes in.
QT_LIBRARIES = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libxkbcommon.so.0": "libxkbcommon0",
}
# What the xcb plugin wants beyond these.
X11_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
WAYLAND_LIBRARIES = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}
# Programs the window tests start. Without them those tests are skipped.
TEST_PROGRAMS = {"Xvfb": "xvfb", "xauth": "xauth"}

MEMORY = Path("/dev/shm")  # noqa: S108  what is put there lies in a folder of its own
MEMORY_BYTES = 4 << 30

_COMPILER_HINTS = {
    "apt-get": "apt-get install -y g++ python{major}.{minor}-dev",
    "dnf": "dnf install -y gcc-c++ python3-devel",
    "zypper": "zypper install -y gcc-c++ python3-devel",
    "pacman": "pacman -S --needed gcc",
    "apk": "apk add g++ python3-dev linux-headers",
}


class NotPossibleError(Exception):
    """The machine lacks something; the text is one sentence with the way out."""


def is_root() -> bool:
    """Whether this process may install system packages."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def has_display(system: str, env: Mapping[str, str]) -> bool:
    """Whether a window could be shown.

    Args:
        system: `sys.platform`.
        env: the environment; a `QT_QPA_PLATFORM` that draws nowhere counts as no display.
    """
    if env.get("QT_QPA_PLATFORM", "").split(":")[0] in {"offscreen", "minimal"}:
        return False
    if system in {"darwin", "win32"}:
        return True
    return bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY"))


def memory_folder(place: Path = MEMORY) -> Path | None:
    """A folder for temporary files that is kept in memory, where there is one with room from which programs may start.

    Args:
        place: where it would be.
    """
    if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK) and hasattr(os, "ST_NOEXEC")):
        return None
    found = os.statvfs(place)
    may_start = not found.f_flag & os.ST_NOEXEC
    return place if may_start and found.f_bavail * found.f_frsize >= MEMORY_BYTES else None


def window_libraries(env: Mapping[str, str]) -> dict[str, str]:
    """System libraries a window needs on the display that `env` names, with their packages."""
    wanted = dict(QT_LIBRARIES)
    if env.get("DISPLAY"):
        wanted |= X11_LIBRARIES
    if env.get("WAYLAND_DISPLAY"):
        wanted |= WAYLAND_LIBRARIES
    return wanted


def _loads(soname: str) -> bool:
    """Whether the dynamic loader finds a library; what `ldd` would say of it."""
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def missing(wanted: Mapping[str, str]) -> dict[str, str]:
    """Those of the wanted libraries (`lib*`) and programs that are not here.

    Args:
        wanted: library or program name to Debian package.

    Returns:
        The missing part. Always empty off Linux, where Qt brings its own.
    """
    if not sys.platform.startswith("linux"):
        return {}
    return {
        name: package
        for name, package in wanted.items()
        if not (_loads(name) if name.startswith("lib") else shutil.which(name))
    }


def install_command(packages: list[str]) -> str | None:
    """The apt-get line that brings these packages, or None where there is no apt-get."""
    if shutil.which("apt-get") is None:
        return None
    prefix = "" if is_root() else "sudo "
    return f"{prefix}apt-get install -y --no-install-recommends {' '.join(packages)}"


def lack_sentence(lacking: Mapping[str, str], purpose: str) -> str:
    """One sentence that names what is missing and how to get it."""
    names = ", ".join(sorted(lacking))
    command = install_command(sorted(set(lacking.values())))
    way_out = f"install with: {command}" if command else "install them with this system's package manager."
    return f"{purpose} needs what this system does not have: {names}; {way_out}"


def provide(wanted: Mapping[str, str], purpose: str) -> str | None:
    """Install what is missing where that needs no question, as root through apt-get.

    Args:
        wanted: library or program name to Debian package.
        purpose: what needs it, as the start of a sentence.

    Returns:
        None when everything is here, else the sentence that says what is not.
    """
    lacking = missing(wanted)
    if lacking and is_root() and shutil.which("apt-get"):
        packages = sorted(set(lacking.values()))
        print(f"  system libraries: {' '.join(packages)}", flush=True)
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (
            ["apt-get", "update", "-qq"],
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages],
        ):
            # An update with one unreachable source may still be enough: what counts is what is here in the end.
            subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        lacking = missing(wanted)
    return lack_sentence(lacking, purpose) if lacking else None


def _compiler_hint() -> str:
    """How to get a C++ compiler and Python's headers on this system."""
    if sys.platform == "darwin":
        return "install it with: xcode-select --install"
    for manager, hint in _COMPILER_HINTS.items():
        if shutil.which(manager):
            prefix = "" if is_root() else "sudo "
            return "install them with: " + prefix + hint.format(major=sys.version_info[0], minor=sys.version_info[1])
    return "install them with this system's package manager"


def require_compiler() -> None:
    """Make sure that hnswlib, which ships as source only, can be compiled.

    Raises:
        NotPossibleError: no C++ compiler or no Python headers.
    """
    if sys.platform == "win32":
        return  # the compiler is found through the registry; pip's own message is the best there
    named = os.environ.get("CXX") or sysconfig.get_config_var("CXX") or ""
    candidates = [named.split()[0]] if named.split() else []
    if not any(shutil.which(name) for name in [*candidates, "c++", "g++", "clang++"]):
        raise NotPossibleError(f"Loci compiles one library (hnswlib) and found no C++ compiler; {_compiler_hint()}")
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        raise NotPossibleError(f"Loci compiles one library (hnswlib) and found no Python headers; {_compiler_hint()}")


def require_venv() -> None:
    """Make sure that this Python can make an environment with pip in it.

    Raises:
        NotPossibleError: `venv` or `ensurepip` is missing, as on a Debian without python3-venv.
    """
    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        return
    package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
    prefix = "" if is_root() else "sudo "
    raise NotPossibleError(
        f"This Python cannot make an environment with pip; install its venv package, on Debian and Ubuntu "
        f"with: {prefix}apt-get install -y {package}"
    )


def compile_settings(system: str, processor: str, flags: frozenset[str] | None) -> dict[str, str]:
    """Environment for compiling hnswlib so that the result runs on every machine of its family.

    Trigger: hnswlib's setup compiles for the processor it finds. Why: an environment copied to, or a
    wheel cached for, a lesser processor dies with an illegal instruction. Outcome: a fixed AVX2
    baseline on x86-64, which costs 10 to 15 % against the native build; the plain baseline elsewhere.

    Args:
        system: `sys.platform`.
        processor: `platform.machine()`.
        flags: the processor's feature names, or None where they cannot be read.
    """
    if system == "win32":
        return {}
    extra = "-g0"
    if processor.lower() in {"x86_64", "amd64"} and (flags is None or {"avx2", "fma"} <= flags):
        extra = "-mavx2 -mfma -g0"
    return {"HNSWLIB_NO_NATIVE": "1", "CXXFLAGS": extra}


def compile_environment() -> dict[str, str]:
    """`compile_settings` for this machine."""
    flags: frozenset[str] | None = None
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
        flags = next((frozenset(line.split(":", 1)[1].split()) for line in lines if line.startswith("flags")), None)
    return compile_settings(sys.platform, platform.machine(), flags)
