"""Every fixture with rows in every hostile variant, by the kit that other makers use."""

from __future__ import annotations

import pytest
from importer_checks import FIXTURES
from row_checker import cases_of

from core.importers.detect import detect_format
from core.importers.extension.kit import list_faults
from core.importers.input.source import open_bundle

FOLDERS = sorted(path.parent.name for path in FIXTURES.glob("*/expected.json"))
# An archive in an archive is opened by what takes a drop apart; the kit keeps its variants in memory.
CASES = [(folder, name) for folder in FOLDERS for name in cases_of(folder) if "ExportBlock" not in name]


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "name"), CASES, ids=str)
def test_no_variant_of_a_fixture_is_a_fault(folder: str, name: str) -> None:
    path = FIXTURES / folder / "input" / name
    with open_bundle(path) as bundle:
        importer = detect_format(bundle)
    assert list_faults(importer, path) == []
