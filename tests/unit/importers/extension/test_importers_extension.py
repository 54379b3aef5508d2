"""Importers of other makers: found without being loaded, loaded without being trusted, and the guide's own example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig
from importer_checks import memory_bundle, records

from core.engine.facade import Home, HomeKeys, examine_home
from core.errors import Code, UserError
from core.importers.detect import detect_format, list_importers
from core.importers.extension import discovery
from core.importers.extension.discovery import Extension, find_extensions, load_extensions
from core.importers.extension.guard import GuardedImporter
from core.importers.extension.kit import list_faults
from core.importers.input.source import Bundle
from core.importers.records import Item, Record
from core.types.values import OWNER_ACTOR, Source

GUIDE = Path("docs/importers.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", GUIDE, re.DOTALL)
CODE = next(text for kind, text in BLOCKS if kind == "python")
LOG = next(text for kind, text in BLOCKS if not kind)


def example() -> Any:
    made: dict[str, Any] = {}
    exec(compile(CODE, "guide", "exec"), made)  # noqa: S102 - what the guide tells people to write
    return made["LogbookImporter"]


class Plain:
    """The least an importer can be."""

    format = "plain"

    def detects(self, bundle: Bundle) -> bool:
        return bundle.files[0].name == "a.plain"

    def read(self, bundle: Bundle) -> Iterator[Item]:
        yield Record(identity="1", text="words", where=bundle.label, source=Source.USER_EXPLICIT)


class Failing(Plain):
    """One that fails at everything."""

    format = "failing"

    def detects(self, bundle: Bundle) -> bool:
        raise ZeroDivisionError("secret words")

    def read(self, bundle: Bundle) -> Iterator[Item]:
        yield from super().read(bundle)
        raise ZeroDivisionError("secret words")


class Odd(Plain):
    """One that yields what is no item."""

    format = "odd"

    def read(self, bundle: Bundle) -> Iterator[Any]:
        yield "words"


def broken() -> None:
    raise RuntimeError("secret words")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """Entry points as if packages with them were installed."""
    points: list[EntryPoint] = []
    monkeypatch.setattr(discovery, "entry_points", lambda group: [one for one in points if one.group == group])
    load_extensions.cache_clear()
    yield points
    load_extensions.cache_clear()


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{value}", discovery.GROUP)


def test_the_example_of_the_guide_is_an_importer_without_a_fault(tmp_path: Path) -> None:
    fixture = tmp_path / "fixture.log"
    fixture.write_text(LOG, encoding="utf-8")
    assert list_faults(example()(), fixture) == []
    with_pages = records(list(example()().read(memory_bundle({"fixture.log": LOG}))))
    assert [(one.author, one.text) for one in with_pages] == [
        ("me", "Cast off at eight, fog over the sound."),
        ("Ivar", "Buoy four is out again."),
    ]


@pytest.mark.starts_process
def test_finding_loads_nothing(installed: list[EntryPoint], tmp_path: Path) -> None:
    installed += [EntryPoint("logbook", "no_such_package:Importer", discovery.GROUP)]
    assert find_extensions() == (Extension("logbook", ""),)
    (finding,) = [one for one in examine_home(Home(tmp_path), HomeKeys(Home(tmp_path))) if one.check == "importers"]
    assert (finding.state, finding.sentence.partition(".")[0]) == ("ok", "logbook ()")
    installed.clear()
    assert "importers" not in {one.check for one in examine_home(Home(tmp_path), HomeKeys(Home(tmp_path)))}


def test_what_cannot_be_used_is_told_and_the_others_go_on(installed: list[EntryPoint]) -> None:
    installed += [
        point("plain", "Plain"),
        point("mail", "Plain"),
        point("Bad name", "Plain"),
        point("other", "Plain"),
        point("broken", "broken"),
        EntryPoint("missing", "no_such_package:Importer", discovery.GROUP),
        point("odd", "Odd"),
        point("odd", "Failing"),
    ]
    loaded = load_extensions()
    assert [one.format for one in loaded.importers] == ["plain"]
    assert dict(loaded.failures) == {
        "mail": "its name is that of a format of Loci's own",
        "Bad name": "its name is no small word of letters, digits and “-”",
        "other": "it is not an importer: it needs format, detects and read, and its format has to be its name",
        "broken": "loading it failed (RuntimeError)",
        "missing": "loading it failed (ModuleNotFoundError)",
        "odd": "another package has an importer of that name",
    }


def test_it_is_asked_after_what_shows_itself_and_before_plain_text() -> None:
    class Greedy(Plain):
        def detects(self, bundle: Bundle) -> bool:
            return True

    guarded = (GuardedImporter(Greedy(), "plain"),)
    names = [one.format for one in list_importers(guarded)]
    assert names.index("mem0") < names.index("plain") < names.index("jsonl")
    card = "BEGIN:VCARD\nFN:Ana\nEND:VCARD\n"
    assert detect_format(memory_bundle({"a.vcf": card}), None, guarded).format == "contacts"
    assert detect_format(memory_bundle({"a.txt": "words"}), None, guarded).format == "plain"
    assert detect_format(memory_bundle({"a.txt": "words"})).format == "text"


def test_it_takes_no_folder_of_notes_from_ours() -> None:
    guarded = (GuardedImporter(example()(), "logbook"),)
    bundle = memory_bundle({"a.log": LOG, "one.md": "words", "two.md": "more"}, "folder")
    importer = detect_format(bundle, None, guarded)
    assert importer.format == "mixed"
    assert sorted({record.part.format for record in records(list(importer.read(bundle))) if record.part}) == [
        "logbook",
        "markdown",
    ]


def test_its_records_are_its_own_and_never_the_persons_explicit_word() -> None:
    (record,) = records(list(GuardedImporter(Plain(), "plain").read(memory_bundle({"a.plain": "x"}))))
    assert (record.identity, record.source) == ("x-plain:1", Source.USER_IMPLICIT)


@pytest.mark.parametrize(("maker", "sentence"), [(Failing, r"failed \(ZeroDivisionError\)"), (Odd, "no item")])
def test_one_that_fails_refuses_its_source_and_says_nothing_of_it(maker: type[Plain], sentence: str) -> None:
    guarded = GuardedImporter(maker(), maker.format)
    with pytest.raises(UserError, match=sentence) as error:
        list(guarded.read(memory_bundle({"a.plain": "x"})))
    assert error.value.code is Code.IMPORT_REFUSED
    assert "secret" not in error.value.sentence
    assert error.value.__cause__ is None


def test_one_that_fails_at_looking_is_passed_over() -> None:
    bundle = memory_bundle({"a.txt": "words"})
    assert detect_format(bundle, None, (GuardedImporter(Failing(), "failing"),)).format == "text"


def test_it_is_used_only_where_the_person_allows_it(rig: Rig, installed: list[EntryPoint]) -> None:
    installed += [point("plain", "Plain"), point("broken", "broken")]
    path = rig.folder / "a.plain"
    path.write_text("words of a file", encoding="utf-8")

    def rehearse() -> Any:
        return rig.engine.imports.rehearse(path, None, OWNER_ACTOR).result(30)

    report = rehearse()
    assert (report.format, report.errors) == ("text", ())
    rig.engine.settings.set_option("import_extensions", value=True).result(30)
    report = rehearse()
    assert (report.format, report.stored) == ("plain", 1)
    assert [dict(one) for one in report.errors] == [
        {"where": "broken", "message": "this importer is not used: loading it failed (RuntimeError)"}
    ]
    done = rig.bring(path)
    assert (done.format, rig.texts()) == ("plain", ["words"])


def test_the_kit_finds_what_it_looks_for(tmp_path: Path) -> None:
    (tmp_path / "a.plain").write_text("x")
    assert "as it is: a record claims to be the person's explicit word" in list_faults(Plain(), tmp_path / "a.plain")
    faults = list_faults(Failing(), tmp_path / "a.plain")
    assert "as it is: detects raises ZeroDivisionError" in faults
    assert "as it is: read raises ZeroDivisionError" in faults
    assert "as it is: it yields a str, which is no item" in list_faults(Odd(), tmp_path / "a.plain")
