"""Lists: which texts are one, and what each line becomes where the person wants each to be a memory of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importer_checks import items_of, memory_bundle, reasons, records

from core.errors import Code, UserError
from core.importers.detect import detect_format
from core.importers.dry_run import import_items
from core.importers.formats.notes.markdown import LinesImporter, MarkdownImporter, TextImporter, count_list_lines
from core.importers.notes.lines import read_list_lines
from core.importers.records import Record
from core.types.values import Precision, When

LINES = LinesImporter()
LIST = (
    "My sister is Ana.\nDentist: Dr Hale\nBlood type 0+\nI am allergic to nuts.\nCar: the blue Fiat\n"
    "Rent is due on the 3rd\n"
)
WRAPPED = (
    "The garden was green when we\ncame, and Ana walked along the\nriver with Ben, who had come\nfrom Oslo to see it.\n"
)
DAY = When(1_714_521_600_000, Precision.DAY)


def words(text: str) -> list[str]:
    return [line.text for line in read_list_lines(text)]


def lines_of(text: str, name: str = "list.txt") -> list[Record]:
    return records(items_of(LINES, {name: text}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LIST, LIST.splitlines()),
        ("milk\neggs\nrye bread\n", ["milk", "eggs", "rye bread"]),
        ("* Ana\n  - Ben\n• Cleo\n", ["Ana", "Ben", "Cleo"]),
        ("1. Wake\n2. Eat\n3) Walk\n", ["Wake", "Eat", "Walk"]),
        ("1. Wake\n1. Eat\n1. Walk\n", ["Wake", "Eat", "Walk"]),
        ("1. Mai: frei\n12. Juni: Ana\n3. Oktober: frei\n", ["1. Mai: frei", "12. Juni: Ana", "3. Oktober: frei"]),
        ("A. Smith: doctor\nB. Hale: dentist\nC. Roe: vet\n", ["A. Smith: doctor", "B. Hale: dentist", "C. Roe: vet"]),
        ("# People\n\nAna\n***\nBen\n\n\nCleo", ["Ana", "Ben", "Cleo"]),
        ("母は東京にいる\n父は医者\n犬はポチ", ["母は東京にいる", "父は医者", "犬はポチ"]),
        ("Call:\n- Ana\n- Ben\nNeeds a key:\nCleo\n", ["Ana", "Ben", "Needs a key:", "Cleo"]),
        ("\ufeffAna\nBen\nCleo", ["Ana", "Ben", "Cleo"]),
    ],
)
def test_a_list_is_told_by_its_lines(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "Ana\nBen\n",
        WRAPPED,
        "Dear Ana,\n\nThank you for the letter.\n\nSee you soon\n",
        "- milk\n- eggs\n- bread\n\n" + WRAPPED,
        "- milk\n- eggs\nand what else we need\n- bread\n",
        "- milk\n- eggs\n\nWe went home. It was late. Nobody was there.\n",
        LIST + "x" * 10_000,
        "x" * 10_000,
        "Ana\nBen\n" + "A word of prose. " * 12,
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n",
        "```\nA = 1\nB = 2\nC = 3\n```\n",
        "> Ana\n> Ben\n> Cleo\n",
        "# One\n## Two\n### Three\n#### Four\n",
    ],
)
def test_anything_else_is_no_list(text: str) -> None:
    assert read_list_lines(text) == ()


@given(st.text(alphabet=st.sampled_from("aB1é母.,:;-*+[]x#>|` \t\r\n\ufeff\u2028"), max_size=400))
def test_a_line_is_always_a_piece_of_its_own_line(text: str) -> None:
    whole = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = read_list_lines(text)
    assert len(found) == 0 or len(found) >= 3
    numbers = [line.number for line in found]
    assert numbers == sorted(set(numbers))
    for line in found:
        assert line.text
        assert line.text == line.text.strip()
        assert line.text in whole[line.number - 1]


def test_each_line_is_a_record_with_its_place_and_the_date_of_its_file() -> None:
    made = lines_of(LIST, "2024-05-01 facts.txt")
    assert [record.text for record in made] == LIST.splitlines()
    assert made[1].where == made[1].ref == "2024-05-01 facts.txt:2"
    assert {record.occurred for record in made} == {DAY}
    assert made[1].extra == {"path": "2024-05-01 facts.txt", "title": "2024-05-01 facts", "line": 2}


def test_tags_headings_and_boxes_stay_with_their_lines() -> None:
    text = "---\ntags: home\n---\n## 2024-05-01\n- [x] Pay rent #money\n- [ ] Call Ana\n## Later\n- Paint\n"
    made = lines_of(text, "todo.md")
    assert [(one.text, one.extra.get("task"), one.extra["heading"], one.extra["line"]) for one in made] == [
        ("Pay rent #money", "done", "2024-05-01", 5),
        ("Call Ana", "open", "2024-05-01", 6),
        ("Paint", None, "Later", 8),
    ]
    assert [one.occurred for one in made] == [DAY, DAY, None]
    assert [one.tags for one in made] == [("home", "money"), ("home",), ("home",)]


def test_a_line_is_known_wherever_it_stands_and_however_it_ends() -> None:
    plain = {record.identity for record in lines_of(LIST)}
    turned = "".join(f"- {line}\r\n\r\n" for line in reversed(LIST.splitlines()))
    assert {record.identity for record in lines_of(turned)} == plain
    assert {record.identity for record in lines_of(LIST, "other.txt")}.isdisjoint(plain)


def test_the_same_words_twice_are_one_record() -> None:
    items = list(import_items(memory_bundle({"list.txt": "Ana\nBen\nAna\nCleo\n"}), LINES))
    assert [record.text for record in records(items)] == ["Ana", "Ben", "Cleo"]
    assert reasons(items) == {"repeated": 1}
    assert count_list_lines(memory_bundle({"list.txt": "Ana\nBen\nAna\nCleo\n"}), "text") == 3


def test_a_list_is_one_memory_unless_the_person_says_otherwise() -> None:
    for name, importer in (("list.md", MarkdownImporter()), ("list.txt", TextImporter())):
        bundle = memory_bundle({name: LIST})
        assert not LINES.detects(bundle)
        assert detect_format(bundle).format == importer.format
        (whole,) = records(items_of(importer, {name: LIST}))
        lines = lines_of(LIST, name)
        assert whole.text == LIST
        assert whole.same_as == tuple(line.identity for line in lines)
        assert {line.same_as for line in lines} == {(whole.identity,)}
        assert count_list_lines(bundle, importer.format) == count_list_lines(bundle, "lines") == 6


@pytest.mark.parametrize(
    ("files", "kind", "form"),
    [
        ({"a.txt": WRAPPED}, "file", "text"),
        ({"a.md": LIST, "b.md": LIST}, "folder", "markdown"),
        ({"a.csv": LIST.replace(":", ",")}, "folder", "csv"),
    ],
)
def test_what_is_no_single_list_is_not_offered_and_refused(files: dict[str, str], kind: str, form: str) -> None:
    bundle = memory_bundle(files, kind)
    assert count_list_lines(bundle, form) == 0
    with pytest.raises(UserError) as caught:
        list(LINES.read(bundle))
    assert caught.value.code is Code.IMPORT_REFUSED
    assert "nothing was imported" in caught.value.sentence


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(UserError) as caught:
        list(LINES.read(memory_bundle({"a.txt": b"Ana\n\0\0\0Ben\nCleo\n"})))
    assert caught.value.code is Code.IMPORT_REFUSED


def test_an_empty_file_is_left_out() -> None:
    assert reasons(items_of(LINES, {"a.txt": ""})) == {"empty_file": 1}
