"""The locks say exactly what is installed: names, versions, hashes; no address; everything pyproject asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from arch_tree import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGING = ROOT / "packaging"
TOOLS = (PACKAGING / "build.lock", PACKAGING / "release" / "release.lock", PACKAGING / "release" / "manual.lock")
LOCKS = (ROOT / "requirements.lock", *TOOLS, PACKAGING / "release" / "runtime.lock")
ENTRY = re.compile(r"[a-z0-9][a-z0-9._-]*==[A-Za-z0-9.+!]+( ; [^\\]+)?( \\)?")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")


def entries(lock: Path) -> dict[str, list[str]]:
    """Requirement lines of a lock, by canonical name."""
    found: dict[str, list[str]] = {}
    for line in lock.read_text(encoding="utf-8").splitlines():
        if line[:1].isalnum():
            requirement = line.removesuffix("\\").strip()
            found.setdefault(canonicalize_name(Requirement(requirement).name), []).append(requirement)
    return found


def pyproject() -> dict[str, list[str]]:
    """What pyproject asks for: by `dependencies` and each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"dependencies": project["dependencies"], **project["optional-dependencies"]}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_holds_names_versions_and_hashes_only(lock: Path) -> None:
    lines = [line for line in lock.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    strange = [line for line in lines if not (ENTRY.fullmatch(line) or HASH.fullmatch(line))]
    assert not strange
    assert "://" not in lock.read_text(encoding="utf-8")
    assert ENTRY.fullmatch(lines[0])
    bare = [
        line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
        if ENTRY.fullmatch(line) and not HASH.fullmatch(after)
    ]
    assert not bare, "entries without a hash"


@pytest.mark.parametrize("group", ["dependencies", "dev"])
def test_every_dependency_is_locked_at_an_allowed_version(group: str) -> None:
    locked = entries(LOCKS[0])
    for line in pyproject()[group]:
        wanted = Requirement(line)
        name = canonicalize_name(wanted.name)
        assert name in locked, f"{name} is in pyproject and in no lock"
        for entry in map(Requirement, locked[name]):
            if wanted.marker is None or entry.marker is None or wanted.marker.evaluate() == entry.marker.evaluate():
                version = str(entry.specifier).removeprefix("==")
                applies = wanted.marker is None or wanted.marker.evaluate()
                assert not applies or wanted.specifier.contains(version), f"{entry} is not {wanted}"


def test_qt_that_loses_references_is_not_locked_for_python_3_11() -> None:
    for line in entries(LOCKS[0])["pyside6-essentials"]:
        entry = Requirement(line)
        if entry.marker is None or entry.marker.evaluate({"python_full_version": "3.11.9", "python_version": "3.11"}):
            assert entry.specifier.contains("6.12.0") is False


@pytest.mark.parametrize("lock", TOOLS, ids=lambda lock: lock.name)
def test_tools_are_locked_and_agree_with_the_libraries(lock: Path) -> None:
    tools, libraries = entries(lock), entries(LOCKS[0])
    asked = [line for line in lock.with_suffix(".in").read_text(encoding="utf-8").splitlines() if line.strip()]
    named = {canonicalize_name(Requirement(line).name) for line in asked}
    assert named <= set(tools)
    assert named == set(tools) or lock.name != "build.lock", "what compiling takes is asked for by name, all of it"
    versions = {name: {str(Requirement(line).specifier) for line in lines} for name, lines in libraries.items()}
    for name in tools.keys() & libraries.keys():
        assert {str(Requirement(line).specifier) for line in tools[name]} <= versions[name]


def test_nothing_is_locked_that_only_builds_the_model() -> None:
    assert not {"torch", "transformers", "onnx"} & set(entries(LOCKS[0]))
