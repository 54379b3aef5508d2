"""The two commands' decisions: what is installed when, what runs where, and that counts are honest."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from example_counts import QUICK

import environment
import jobs
import machine
from environment import Environment, SetUpError, Step

ROOT = Path(__file__).resolve().parents[3]
BOOTSTRAP = ROOT / "packaging" / "bootstrap.py"


def bootstrap(*arguments: str, prelude: str = "") -> subprocess.CompletedProcess[str]:
    """Start the bootstrap in a fresh interpreter without anything installed."""
    code = (
        f"import runpy, sys; sys.path.insert(0, {str(BOOTSTRAP.parent)!r}); {prelude}\n"
        f"sys.argv = ['bootstrap.py', *{list(arguments)!r}]; runpy.run_path({str(BOOTSTRAP)!r}, run_name='__main__')"
    )
    return subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.starts_process
@pytest.mark.parametrize("arguments", [(), ("dance",), ("--run",)])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    done = bootstrap(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage:")


@pytest.mark.starts_process
def test_an_old_python_gets_one_sentence() -> None:
    done = bootstrap("run", prelude="sys.version_info = (3, 9, 18, 'final', 0)")
    assert done.returncode == 1
    assert done.stderr == "Loci needs Python 3.11 or newer and this is 3.9.\n"


@pytest.mark.starts_process
def test_it_needs_the_standard_library_only() -> None:
    done = bootstrap("--help")
    assert (done.returncode, done.stderr) == (0, "")


def test_split_lock_loses_nothing() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    rest, own = environment.split_lock(text, "hnswlib")
    assert own.startswith("hnswlib==")
    assert own.count("--hash=") >= 1
    assert not [line for line in rest.splitlines() if line.startswith("hnswlib")]
    assert sorted((rest + own).splitlines()) == sorted(text.splitlines())
    assert environment.split_lock(text, "hnsw") == (text, "")


DISPLAYS = [
    ("linux", {}, False),
    ("linux", {"DISPLAY": ":0"}, True),
    ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
    ("linux", {"DISPLAY": ""}, False),
    ("linux", {"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, False),
    ("linux", {"DISPLAY": ":0", "QT_QPA_PLATFORM": "minimal"}, False),
    ("linux", {"DISPLAY": ":0", "QT_QPA_PLATFORM": "xcb"}, True),
    ("darwin", {}, True),
    ("darwin", {"QT_QPA_PLATFORM": "offscreen:size=1x1"}, False),
    ("win32", {}, True),
]


@pytest.mark.parametrize(("system", "env", "expected"), DISPLAYS)
def test_display(system: str, env: dict[str, str], *, expected: bool) -> None:
    assert machine.has_display(system, env) is expected


def test_run_opens_the_window_or_gives_the_tour_and_says_why() -> None:
    assert jobs.choose([], display=True) == (None, [])
    assert jobs.choose(["--home", "x"], display=True) == (None, ["--home", "x"])
    line, rest = jobs.choose([], display=False)
    assert line is not None
    assert "no display" in line
    assert rest == ["demo"]
    assert jobs.choose(["list"], display=False) == (None, ["list"])


def test_the_compiled_library_is_never_built_for_one_processor() -> None:
    new, old = frozenset({"avx2", "fma", "avx512f"}), frozenset({"sse2"})
    for system, processor, flags, avx in (
        ("linux", "x86_64", new, True),
        ("linux", "x86_64", old, False),
        ("linux", "aarch64", None, False),
        ("darwin", "x86_64", None, True),
        ("darwin", "arm64", None, False),
    ):
        settings = machine.compile_settings(system, processor, flags)
        assert settings["HNSWLIB_NO_NATIVE"] == "1"
        assert ("-mavx2" in settings["CXXFLAGS"]) is avx
        assert "native" not in settings["CXXFLAGS"]
    assert machine.compile_settings("win32", "AMD64", None) == {}


def test_missing_names_what_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    wanted = {"libsurely-not-here.so.9": "libsurely9", "surely-no-program": "surely", "sh": "dash"}
    assert machine.missing(wanted) == {"libsurely-not-here.so.9": "libsurely9", "surely-no-program": "surely"}
    monkeypatch.setattr(sys, "platform", "darwin")
    assert machine.missing(wanted) == {}


def test_what_cannot_be_installed_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "is_root", lambda: False)
    monkeypatch.setattr(machine, "missing", lambda wanted: wanted)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    said = machine.provide({"libGL.so.1": "libgl1", "libEGL.so.1": "libegl1"}, "The window")
    assert said is not None
    assert said.startswith("The window needs")
    assert said.endswith("sudo apt-get install -y --no-install-recommends libegl1 libgl1")
    assert "\n" not in said
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    said = machine.provide({"libGL.so.1": "libgl1"}, "The window")
    assert said is not None
    assert "package manager" in said


def test_as_root_the_missing_packages_are_installed_without_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    here: set[str] = set()

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
        calls.append(command)
        env = options["env"]
        assert isinstance(env, dict)
        assert env["DEBIAN_FRONTEND"] == "noninteractive"
        assert options["stdin"] == subprocess.DEVNULL
        here.update(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(machine, "is_root", lambda: True)
    monkeypatch.setattr(shutil, "which", lambda _name: "/usr/bin/apt-get")
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(machine, "missing", lambda wanted: {k: v for k, v in wanted.items() if v not in here})
    assert machine.provide({"libGL.so.1": "libgl1"}, "The window") is None
    assert [call[:2] for call in calls] == [["apt-get", "update"], ["apt-get", "install"]]
    assert machine.provide({"libGL.so.1": "libgl1"}, "The window") is None
    assert len(calls) == 2, "nothing is missing any more"


def test_no_compiler_and_no_headers_get_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(machine.NotPossibleError, match=r"no C\+\+ compiler"):
        machine.require_compiler()
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path))
    with pytest.raises(
        machine.NotPossibleError, match=r"headers; install them with: .*apt-get install -y g\+\+ python3"
    ):
        machine.require_compiler()


def test_no_ensurepip_gets_a_sentence_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ensurepip" else object())
    with pytest.raises(machine.NotPossibleError, match=rf"python3\.{sys.version_info[1]}-venv"):
        machine.require_venv()


class Workshop:
    """A checkout in which steps only leave notes."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.done: list[str] = []
        self.fingerprints = {"tools": "1", "hnswlib, compiled": "1"}
        self.action: Callable[[str], None] = self.done.append
        (root / "packaging").mkdir()
        monkeypatch.setattr(environment, "steps", self.steps)
        monkeypatch.setattr(environment, "_make", self.make)
        monkeypatch.setattr(environment, "_runs", lambda env: env.python.exists())
        monkeypatch.setattr(machine, "require_compiler", lambda: None)

    def steps(self, _env: Environment) -> list[Step]:
        return [Step(name, print_, lambda n=name: self.action(n)) for name, print_ in self.fingerprints.items()]  # type: ignore[misc]

    def make(self, env: Environment) -> None:
        self.done.append("made")
        env.python.parent.mkdir(parents=True, exist_ok=True)
        env.python.touch()

    def ensure(self) -> list[str]:
        """Run the set-up; what it did this time."""
        self.done.clear()
        environment.ensure(self.root)
        return list(self.done)


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    return Workshop(tmp_path, monkeypatch)


def test_a_second_start_does_nothing(workshop: Workshop) -> None:
    assert workshop.ensure() == ["made", "tools", "hnswlib, compiled"]
    assert workshop.ensure() == []


def test_only_what_changed_is_done_again(workshop: Workshop) -> None:
    workshop.ensure()
    workshop.fingerprints["tools"] = "2"
    assert workshop.ensure() == ["tools"]


def test_a_failed_step_is_tried_again_where_it_stood(workshop: Workshop) -> None:
    def fail(name: str) -> None:
        if name != "tools":
            raise SetUpError("no network")

    workshop.action = fail
    with pytest.raises(SetUpError, match=r"no network\n.*stopped at: hnswlib"):
        workshop.ensure()
    workshop.action = workshop.done.append
    assert workshop.ensure() == ["hnswlib, compiled"]


def test_an_interrupted_set_up_starts_anew(workshop: Workshop) -> None:
    def stop(_name: str) -> None:
        raise KeyboardInterrupt

    workshop.action = stop
    with pytest.raises(KeyboardInterrupt):
        workshop.ensure()
    workshop.action = workshop.done.append
    assert workshop.ensure() == ["made", "tools", "hnswlib, compiled"]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"root": "/elsewhere"}'])
def test_a_lost_damaged_or_foreign_stamp_is_repaired(workshop: Workshop, damage: str) -> None:
    workshop.ensure()
    Environment(workshop.root).stamp.write_text(damage, encoding="utf-8")
    assert workshop.ensure()[-2:] == ["tools", "hnswlib, compiled"]
    assert workshop.ensure() == []


def test_a_lost_interpreter_is_repaired(workshop: Workshop) -> None:
    workshop.ensure()
    Environment(workshop.root).python.unlink()
    assert workshop.ensure() == ["made", "tools", "hnswlib, compiled"]


REPORT = """<?xml version="1.0"?><testsuites><testsuite name="pytest">
<testcase classname="a" name="good"/>
<testcase classname="a" name="bad"><failure message="x">x</failure></testcase>
<testcase classname="a" name="twice"><failure message="x">x</failure></testcase>
<testcase classname="a" name="twice"><error message="x">x</error></testcase>
<testcase classname="a" name="torn_down"><error message="x">x</error></testcase>
<testcase classname="a" name="left_out"><skipped message="x"/></testcase>
</testsuite></testsuites>"""


def test_counts_are_those_of_the_report(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert jobs.count_cases(report) == (0, 0, 0)
    report.write_text(REPORT, encoding="utf-8")
    assert jobs.count_cases(report) == (1, 3, 1)
    report.write_text(REPORT[:80], encoding="utf-8")
    assert jobs.count_cases(report) == (0, 0, 0)


@pytest.mark.parametrize(
    ("codes", "report", "last", "code"),
    [
        ({}, '<t><testcase name="a"/></t>', "5 passed, 0 failed", 0),
        ({"mypy": 1}, '<t><testcase name="a"/></t>', "4 passed, 1 failed", 1),
        ({"pytest": 1}, '<t><testcase name="a"><failure/></testcase></t>', "4 passed, 1 failed", 1),
        ({"pytest": 3}, "", "4 passed, 1 failed", 1),
        ({"pytest": 5}, "<t/>", "4 passed, 1 failed", 1),
    ],
)
def test_the_last_line_and_the_exit_code_are_honest(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    codes: dict[str, int],
    report: str,
    last: str,
    code: int,
) -> None:
    def checked(name: str, command: list[str], _env: Environment, **_extra: str) -> int:
        for argument in command:
            if argument.startswith("--junitxml="):
                assert command[-2:] == ["-k", "word"]
                assert "tests/unit" not in command
                Path(argument.removeprefix("--junitxml=")).write_text(report, encoding="utf-8")
        return codes.get(name, 0)

    stand_in(monkeypatch, checked)
    assert jobs.test(["-k", "word"]) == code
    assert capsys.readouterr().out.splitlines()[-1] == last


def stand_in(monkeypatch: pytest.MonkeyPatch, checked: Callable[[str, list[str], Environment], int]) -> None:
    """Nothing is started: `checked` says how each tool went."""

    @contextmanager
    def beside(name: str, command: list[str], env: Environment) -> Iterator[Callable[[], int]]:
        yield lambda: checked(name, command, env)

    monkeypatch.setattr(environment, "ensure", lambda: Environment(ROOT))
    monkeypatch.setattr(machine, "provide", lambda _wanted, _purpose: None)
    monkeypatch.setattr(jobs, "_checked", checked)
    monkeypatch.setattr(jobs, "_beside", beside)


def test_fast_runs_every_check_and_the_quick_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: dict[str, list[str]] = {}

    def checked(name: str, command: list[str], _env: Environment, **_extra: str) -> int:
        ran[name] = command
        return 1 if name == "pytest" else 0

    stand_in(monkeypatch, checked)
    assert jobs.test(["--fast", "-x"]) == 1
    assert set(ran) == {"ruff check", "ruff format", "import contracts", "mypy", "pytest"}
    asked = ["tests/arch", "tests/unit", "tests/property", "-m", "not starts_process and not slow"]
    asked += [f"--hypothesis-profile={QUICK}", "-x"]
    assert ran["pytest"][-len(asked) :] == asked
    assert all((ROOT / folder).is_dir() for folder in asked[:3])


@pytest.mark.parametrize(
    ("free", "flags", "is_taken"),
    [
        (machine.MEMORY_BYTES, 0, True),
        (machine.MEMORY_BYTES - 1, 0, False),
        (machine.MEMORY_BYTES, os.ST_NOEXEC, False),
    ],
)
def test_temporary_files_are_kept_in_memory_where_they_fit_and_programs_may_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, flags: int, is_taken: bool
) -> None:
    size = 4096
    found = os.statvfs_result((size, size, 0, 0, free // size, 0, 0, 0, flags, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: found)
    assert machine.memory_folder(tmp_path) == (tmp_path if is_taken else None)
    assert machine.memory_folder(tmp_path / "missing") is None


@pytest.mark.starts_process
@pytest.mark.parametrize("code", [0, 3])
def test_what_runs_beside_the_tests_is_shown_in_one_piece(capsys: pytest.CaptureFixture[str], code: int) -> None:
    command = [sys.executable, "-I", "-c", f"print('seen'); raise SystemExit({code})"]
    with jobs._beside("a tool", command, Environment(ROOT)) as end:
        print("tests go on")
        assert end() == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["tests go on", "== a tool, which ran beside the tests", "seen"]
    assert lines[3].startswith("== a tool: ok, " if code == 0 else "== a tool: failed (3), ")


@pytest.mark.starts_process
def test_what_runs_beside_the_tests_ends_with_them() -> None:
    waits = [sys.executable, "-I", "-c", "import time; time.sleep(600)"]
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), jobs._beside("a tool", waits, Environment(ROOT)):
        raise KeyboardInterrupt
    assert time.monotonic() - started < 60


def test_the_ci_command_is_the_test_command() -> None:
    ci = ROOT / ".ci" / "run"
    assert ci.stat().st_mode & 0o111
    assert "exec python3 packaging/bootstrap.py test" in ci.read_text(encoding="utf-8").splitlines()
