"""A list through the engine: offered, brought line by line or as one memory, again, the other way, and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, rig_at

from core.config.options import Options
from core.types.replies import ImportReport
from core.types.values import OWNER_ACTOR

LIST = "My sister is Ana.\nDentist: Dr Hale\nBlood type 0+\nI am allergic to nuts.\n"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        rig.opened.options = Options(import_batch=3)
        yield rig


@pytest.fixture(params=["list.txt", "list.md"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = tmp_path / str(request.param)
    made.write_text(LIST, encoding="utf-8")
    return made


def rehearse(rig: Rig, path: Path, form: str | None = None) -> ImportReport:
    return rig.engine.imports.rehearse(path, form, OWNER_ACTOR).result(30)


def bring(rig: Rig, path: Path, form: str | None = None) -> ImportReport:
    return rig.engine.imports.run(path, form, None, OWNER_ACTOR).result(30)


def texts(rig: Rig) -> list[str]:
    return [row[0] for row in rig.rows("SELECT text FROM memories ORDER BY rowid")]


def test_a_rehearsal_says_how_many_lines_a_list_has(rig: Rig, path: Path, tmp_path: Path) -> None:
    assert (rehearse(rig, path).list_lines, rehearse(rig, path).stored) == (4, 1)
    assert (rehearse(rig, path, "lines").list_lines, rehearse(rig, path, "lines").stored) == (4, 4)
    prose = tmp_path / "prose.md"
    prose.write_text("A long walk with\nmany turns and\nno end to it.\n", encoding="utf-8")
    assert rehearse(rig, prose).list_lines == 0
    assert texts(rig) == []


def test_lines_come_in_once_and_only_new_ones_later(rig: Rig, path: Path) -> None:
    assert bring(rig, path, "lines").stored == 4
    assert texts(rig) == LIST.splitlines()
    again = bring(rig, path, "lines")
    assert (again.stored, again.skipped) == (0, {"known": 4})
    path.write_text("Rent: 3rd\r\n" + LIST.replace("\n", "\r\n"), encoding="utf-8")
    more = bring(rig, path, "lines")
    assert (more.stored, more.skipped) == (1, {"known": 4})
    assert sorted(texts(rig)) == sorted([*LIST.splitlines(), "Rent: 3rd"])


@pytest.mark.parametrize(("first", "second"), [("lines", None), (None, "lines")])
def test_the_other_choice_brings_no_doubles_and_works_once_the_first_is_taken_back(
    rig: Rig, path: Path, first: str | None, second: str | None
) -> None:
    done = bring(rig, path, first)
    before = texts(rig)
    left_out = {"known_otherwise": 1 if second is None else 4}
    told = rehearse(rig, path, second)
    assert (told.stored, told.skipped, told.list_lines) == (0, left_out, 4)
    other = bring(rig, path, second)
    assert (other.stored, other.skipped) == (0, left_out)
    assert texts(rig) == before
    rig.unimport(str(done.import_id))
    assert rehearse(rig, path, second).stored == (1 if second is None else 4)
    bring(rig, path, second)
    assert "".join(f"{text.strip()}\n" for text in texts(rig)) == LIST


def test_another_space_is_another_place(rig: Rig, path: Path) -> None:
    bring(rig, path, "lines")
    there = rig.engine.imports.run(path, None, "harbour", OWNER_ACTOR).result(30)
    assert (there.stored, there.skipped) == (1, {})


def test_taking_the_import_back_takes_all_its_lines(rig: Rig, path: Path) -> None:
    done = bring(rig, path, "lines")
    rig.unimport(str(done.import_id))
    assert texts(rig) == []
