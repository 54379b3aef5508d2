"""The private environment: `.venv` in the checkout, made from the locks, repaired when broken.

Every step leaves a stamp once it is whole, so a second start has nothing to do and
an interrupted one is noticed. Must not install anything that is not in a lock, and
must not run when another set-up of the same checkout does. Standard library only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parent.parent
COMPILED = "hnswlib"
PACKAGES = ("app", "core", "ui", "resources")

# Settings of the person's pip that would send the locked install elsewhere or refuse the one source package.
_FOREIGN = (
    "PIP_USER",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ONLY_BINARY",
    "PIP_NO_BINARY",
    "PIP_CONSTRAINT",
    "PYTHONPATH",
    "PYTHONHOME",
)


class SetUpError(Exception):
    """The set-up could not be finished; the text says at which step and why."""


@dataclass(frozen=True)
class Step:
    """One part of the set-up.

    Attributes:
        name: what it gives, as shown while it runs.
        fingerprint: what it was made from; another one means it must be done again.
        action: does it.
    """

    name: str
    fingerprint: str
    action: Callable[[], None]


@dataclass(frozen=True)
class Environment:
    """One `.venv` and the checkout it belongs to.

    Attributes:
        root: the checkout.
        held: the lock of the set-up while it runs. Children inherit it: where the set-up is killed and its pip
            lives on, the next start waits for that pip too.
    """

    root: Path
    held: tuple[int, ...] = ()

    @property
    def home(self) -> Path:
        """The environment's directory."""
        return self.root / ".venv"

    @property
    def scripts(self) -> Path:
        """Where its commands lie."""
        return self.home / ("Scripts" if os.name == "nt" else "bin")

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.scripts / ("python.exe" if os.name == "nt" else "python")

    @property
    def stamp(self) -> Path:
        """What has been done, and what was being done."""
        return self.home / "loci-setup.json"


def child_environment(**extra: str) -> dict[str, str]:
    """The environment for anything that runs in `.venv`.

    Bytecode may be written: with `PYTHONDONTWRITEBYTECODE`, which containers often set, every start would
    compile every module again, 0.3 s of a command's life.

    Args:
        extra: what to set beside that.
    """
    kept = {key: value for key, value in os.environ.items() if key not in {*_FOREIGN, "PYTHONDONTWRITEBYTECODE"}}
    return kept | extra


def split_lock(text: str, name: str) -> tuple[str, str]:
    """Divide a lock file.

    Args:
        text: a requirements file with one requirement and its hashes per entry.
        name: the distribution to take out.

    Returns:
        The lock without that distribution, and its own entries alone.
    """
    rest: list[str] = []
    own: list[str] = []
    target = rest
    for line in text.splitlines(keepends=True):
        if line[:1].strip() and not line.startswith("#"):
            target = own if line.split("==")[0].strip().lower() == name else rest
        target.append(line)
    return "".join(rest), "".join(own)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _pip(env: Environment, *arguments: str, **extra: str) -> None:
    """Run the environment's pip quietly.

    Raises:
        SetUpError: with the last lines of what pip said.
    """
    command = [str(env.python), "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    if os.name != "nt":
        command.append("--root-user-action=ignore")
    done = subprocess.run(
        [*command, *arguments],
        cwd=env.home,
        env=child_environment(**extra),
        pass_fds=env.held,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SetUpError("\n".join(done.stdout.strip().splitlines()[-15:]))


def _install_locked(env: Environment, lock: str, *arguments: str, **extra: str) -> None:
    with tempfile.TemporaryDirectory(prefix="loci-lock-") as directory:
        path = Path(directory) / "part.lock"
        path.write_text(lock, encoding="utf-8")
        _pip(env, "--require-hashes", *arguments, "-r", str(path), **extra)


def _install_compiled(env: Environment, lock: str) -> None:
    # No cache and no ready wheel: either may hold a build for the processor of another machine.
    machine.require_compiler()
    fresh = ("--no-deps", "--no-build-isolation", "--no-cache-dir", "--force-reinstall", "--no-binary", COMPILED)
    _install_locked(env, lock, *fresh, **machine.compile_environment())


def _make(env: Environment) -> None:
    """Make the environment anew, in place of whatever was there."""
    machine.require_venv()
    if env.home.exists():
        shutil.rmtree(env.home)
    env.home.mkdir()
    _write_stamp(env, {"unfinished": "environment"})
    base = getattr(sys, "_base_executable", sys.executable)  # the real one, when started from `.venv` itself
    done = subprocess.run(
        [base, "-m", "venv", str(env.home)],
        env=child_environment(),
        pass_fds=env.held,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SetUpError("\n".join((done.stdout + done.stderr).strip().splitlines()[-15:]))


def steps(env: Environment) -> list[Step]:
    """The parts of the set-up, in order, with what each is made from."""
    build = (env.root / "packaging" / "build.lock").read_text(encoding="utf-8")
    rest, compiled = split_lock((env.root / "requirements.lock").read_text(encoding="utf-8"), COMPILED)
    project = (env.root / "pyproject.toml").read_text(encoding="utf-8")
    rooms = ",".join(name for name in PACKAGES if (env.root / name).is_dir())
    settings = json.dumps(machine.compile_environment(), sort_keys=True)
    here = str(env.root)
    return [
        Step("build tools", _digest(build), lambda: _install_locked(env, build)),
        Step("libraries", _digest(rest), lambda: _install_locked(env, rest, "--no-build-isolation")),
        Step(f"{COMPILED}, compiled", _digest(compiled, settings), lambda: _install_compiled(env, compiled)),
        Step(
            "the loci command",
            _digest(project, rooms, here),
            lambda: _pip(env, "--no-deps", "--no-build-isolation", "-e", here),
        ),
    ]


def _read_stamp(env: Environment) -> dict[str, str]:
    """Steps done, by name. Anything unreadable counts as nothing done."""
    try:
        stamp = json.loads(env.stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def _write_stamp(env: Environment, stamp: dict[str, str]) -> None:
    partial = env.stamp.with_suffix(".partial")
    partial.write_text(json.dumps(stamp, indent=1), encoding="utf-8")
    partial.replace(env.stamp)


def _whole(env: Environment, stamp: dict[str, str]) -> bool:
    """Whether the environment was made for this place and not left half way."""
    return "unfinished" not in stamp and stamp.get("root", str(env.root)) == str(env.root)


def _runs(env: Environment) -> bool:
    """Whether the environment's interpreter starts, is new enough and has pip."""
    probe = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    try:
        return subprocess.run([env.python, "-I", "-c", probe], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[tuple[int, ...]]:
    """Wait until no other set-up of this checkout runs; gives what children must inherit."""
    if os.name == "nt":
        yield ()
        return
    import fcntl

    held = os.open(root / "packaging", os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another set-up of this checkout is running; waiting for it.", flush=True)
            fcntl.flock(held, fcntl.LOCK_EX)
        yield (held,)
    finally:
        os.close(held)


def _do(env: Environment, stamp: dict[str, str], step: Step) -> None:
    """Do one step between two stamps.

    Trigger: power or patience ends in the middle. Why: pip may then take a half-copied library for
    installed. Outcome: the stamp says `unfinished` and the next start makes the environment anew; a step
    that merely failed, as with no network, is tried again where it stood.
    """
    print(f"  {step.name} ...", end="", flush=True)
    started = time.monotonic()
    _write_stamp(env, stamp | {"unfinished": step.name})
    try:
        step.action()
    except (SetUpError, machine.NotPossibleError) as problem:
        print(" failed", flush=True)
        _write_stamp(env, stamp)
        if isinstance(problem, machine.NotPossibleError):
            raise
        raise SetUpError(f"{problem}\nThe set-up stopped at: {step.name}. Run the same command to try again.") from None
    stamp[step.name] = step.fingerprint
    _write_stamp(env, stamp)
    print(f" {time.monotonic() - started:.0f} s", flush=True)


def ensure(root: Path = ROOT) -> Environment:
    """Bring `.venv` to what the locks and pyproject say.

    Args:
        root: the checkout.

    Returns:
        The finished environment.

    Raises:
        SetUpError: a step failed; the next call tries it again.
        machine.NotPossibleError: the machine lacks a compiler, headers or the venv module.
    """
    with _alone(root) as held:
        env = Environment(root, held)
        stamp = _read_stamp(env)
        wanted = steps(env)
        todo = [step for step in wanted if stamp.get(step.name) != step.fingerprint]
        if not todo and _whole(env, stamp) and env.python.exists():
            return Environment(root)
        usable = _whole(env, stamp) and _runs(env)
        todo = todo if usable else wanted
        if any(step.name.startswith(COMPILED) for step in todo):
            machine.require_compiler()  # before anything is fetched
        print("Setting up .venv (the first time takes a minute or two and 700 MB).", flush=True)
        if not usable:
            stamp = {}
            _make(env)
        stamp["root"] = str(root)
        for step in todo:
            _do(env, stamp, step)
    return Environment(root)
