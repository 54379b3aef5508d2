"""Which importers of other makers are installed, and what they are once they are loaded.

An installed package names one under the entry point `loci.importers`. Finding one reads names alone; loading one runs
its code in this process, which the person has to allow. Must not do: load unasked, or fail because one of them does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from core.importers.extension.guard import GuardedImporter
from core.importers.records import Importer
from core.types.values import IMPORT_FORMATS

GROUP = "loci.importers"
"""The entry point under which a package names its importers."""

_NAME = re.compile(r"[a-z][a-z0-9-]{1,31}")
_TAKEN = "its name is that of a format of Loci's own"
_UNUSABLE = "its name is no small word of letters, digits and “-”"
_TWICE = "another package has an importer of that name"
_NOT_ONE = "it is not an importer: it needs format, detects and read, and its format has to be its name"
_RAISED = "loading it failed ({kind})"


@dataclass(frozen=True, slots=True)
class Extension:
    """One importer that a package names; nothing of it is loaded.

    Attributes:
        name: of its format.
        package: that brought it.
    """

    name: str
    package: str


@dataclass(frozen=True, slots=True)
class LoadedExtensions:
    """What came of loading them.

    Attributes:
        importers: those that can be used, by name.
        failures: name, and why it cannot be used; for the person, without a word of the package's.
    """

    importers: tuple[Importer, ...] = ()
    failures: tuple[tuple[str, str], ...] = ()


NONE = LoadedExtensions()
"""Nothing is loaded: the person has not allowed it."""


def find_extensions() -> tuple[Extension, ...]:
    """The importers that installed packages name, by name."""
    return tuple(Extension(one.name, one.dist.name if one.dist is not None else "") for one in _list_points())


def _list_points() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda one: one.name)


@cache
def load_extensions() -> LoadedExtensions:
    """Load the importers of other makers; this runs their code. Once in a process."""
    points = _list_points()
    importers: list[Importer] = []
    failures: list[tuple[str, str]] = []
    names = [point.name for point in points]
    for point in points:
        if names.count(point.name) > 1:
            found: Importer | str = _TWICE
        else:
            found = _load_one(point)
        if isinstance(found, str):
            failures.append((point.name, found))
        else:
            importers.append(found)
    return LoadedExtensions(tuple(importers), tuple(failures))


def _load_one(point: EntryPoint) -> Importer | str:
    """One importer, guarded; why it cannot be used, in words."""
    if point.name in IMPORT_FORMATS:
        return _TAKEN
    if not _NAME.fullmatch(point.name):
        return _UNUSABLE
    try:
        made = point.load()()
        is_importer = made.format == point.name and callable(made.detects) and callable(made.read)
    except Exception as error:  # noqa: BLE001 - whatever a stranger's code raises, the others go on
        return _RAISED.format(kind=type(error).__name__)
    return GuardedImporter(made, point.name) if is_importer else _NOT_ONE
