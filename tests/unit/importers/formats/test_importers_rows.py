"""Every fixture with rows: the format that is found, each record, what is left out; unpacked and packed alike."""

from __future__ import annotations

import json
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
from importer_checks import FIXTURES, reasons, records
from row_checker import cases_of, check_rows, read_case

from core.importers.detect import detect_format, list_importers
from core.importers.dry_run import import_items
from core.importers.input.source import open_bundle
from core.types.values import IMPORT_FORMATS

FOLDERS = sorted(path.parent.name for path in FIXTURES.glob("*/expected.json"))
CASES = [(folder, name) for folder in FOLDERS for name in cases_of(folder)]
REASONS = frozenset(json.loads(Path("resources/help/skips.json").read_text("utf-8"))["reasons"])


def test_the_contract_names_every_importer_once() -> None:
    assert sorted(IMPORT_FORMATS) == sorted(importer.format for importer in list_importers())


@pytest.mark.parametrize(("folder", "name"), CASES, ids=str)
def test_a_fixture_gives_its_rows(folder: str, name: str) -> None:
    check_rows(folder, name)


@pytest.mark.parametrize("folder", FOLDERS)
def test_rows_are_told_for_every_input(folder: str) -> None:
    expected = json.loads((FIXTURES / folder / "expected.json").read_text("utf-8"))
    assert sorted(expected) == cases_of(folder)


@pytest.mark.parametrize(("folder", "name"), CASES, ids=str)
def test_why_something_is_left_out_has_its_words(folder: str, name: str) -> None:
    _, items = read_case(folder, name)
    assert set(reasons(items)) <= REASONS


@pytest.mark.parametrize(("folder", "name"), CASES, ids=str)
def test_a_zip_gives_the_same_texts_as_what_was_packed_into_it(folder: str, name: str, tmp_path: Path) -> None:
    source = FIXTURES / folder / "input" / name
    if source.suffix in (".zip", ".docx"):
        with zipfile.ZipFile(source) as packed:
            for entry in packed.namelist():
                packed.extract(entry, tmp_path / source.stem)
        other = tmp_path / source.stem
    elif source.suffix == ".jex":
        with tarfile.open(source) as archive:
            for member in archive:
                archive.extract(member, tmp_path / source.stem, filter="data")
        other = tmp_path / source.stem
    else:
        files = sorted(source.rglob("*")) if source.is_dir() else [source]
        other = tmp_path / f"{source.name}.zip"
        with zipfile.ZipFile(other, "w") as made:
            for file in files:
                if file.is_file():
                    made.write(file, file.relative_to(source if source.is_dir() else source.parent))
    form, items = read_case(folder, name)
    with open_bundle(other) as bundle:
        importer = detect_format(bundle)
        found = list(import_items(bundle, importer))
    assert importer.format == form
    assert [one.text for one in records(found)] == [one.text for one in records(items)]


@pytest.mark.parametrize(("folder", "name"), CASES, ids=str)
def test_no_fixture_is_taken_for_another_format(folder: str, name: str, tmp_path: Path) -> None:
    """An input under a name that says nothing is found by what is in it; a folder keeps its inner names."""
    source = FIXTURES / folder / "input" / name
    other = tmp_path / "thing"
    if source.is_dir():
        shutil.copytree(source, other)
    else:
        shutil.copy(source, other)
    with open_bundle(other) as bundle:
        assert detect_format(bundle).format == read_case(folder, name)[0]
