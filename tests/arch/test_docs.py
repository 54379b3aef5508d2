"""A newcomer can find any room: every module says what it is for, every package what it must not do."""

from __future__ import annotations

import ast
import re

from arch_tree import PRODUCT, ROOT, name_of, parsed, python_files

SHORTEST = 40
MUST_NOT = re.compile(r"\b(must not|never|no)\b", re.IGNORECASE)


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        name_of(path)
        for path in python_files(*PRODUCT, "packaging", "resources")
        if len(ast.get_docstring(parsed(path)) or "") < SHORTEST
    ]
    assert not silent, f"a docstring of at least {SHORTEST} characters is missing in: {silent}"


def test_every_package_says_what_it_must_not_do() -> None:
    packages = [path for path in python_files(*PRODUCT, "resources") if path.name == "__init__.py"]
    assert len(packages) > 3
    lax = [
        name_of(path)
        for path in packages
        if not MUST_NOT.search(" ".join((ast.get_docstring(parsed(path)) or "").split()))
    ]
    assert not lax, f"say what these must not do: {lax}"


def test_data_folder_is_told_by_a_readme() -> None:
    assert len((ROOT / "resources" / "README.md").read_text(encoding="utf-8")) >= SHORTEST


def test_readme_names_every_room() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    inside = [path for path in (ROOT / "core").iterdir() if not path.name.startswith("_")]
    rooms = {path.stem for path in inside if path.is_dir() or path.suffix == ".py"}
    told = {word for line in readme.splitlines() for word in re.findall(r"[a-z]+", line)}
    assert rooms <= told, f"the map in README.md lacks: {sorted(rooms - told)}"


def test_every_place_that_the_architecture_page_names_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:app|core|ui|packaging|resources|tests)/[\w/]+(?:\.\w+)?", page))
    assert len(named) > 30
    gone = sorted(place for place in named if "NNN" not in place and not (ROOT / place).exists())
    assert not gone, f"docs/architecture.md names what is not there: {gone}"
