"""PDF and HTML: pages and their place, what is locked, damaged, scanned or endless; charsets, hidden words, dates."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import FIXTURES, items_of, memory_bundle, reasons, records, troubles
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, NameObject

from core.importers.formats.documents import pdf as pdf_module
from core.importers.formats.documents import pdf_document
from core.importers.formats.documents.pdf import PdfImporter
from core.importers.formats.documents.web_page import WebPageImporter

PDF, PAGE = PdfImporter(), WebPageImporter()
RULES = (FIXTURES / "pdf" / "input" / "Rules of the slip.pdf").read_bytes()


def written(change: Any = None, source: bytes = RULES) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(source)))
    if change is not None:
        change(writer)
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def read(data: bytes) -> list[Any]:
    return items_of(PDF, {"a.pdf": data})


def test_each_page_is_a_record_with_its_number() -> None:
    found = records(read(written()))
    assert [(one.extra["page"], one.extra["pages"]) for one in found] == [(1, 3), (3, 3)]
    assert len({one.identity for one in found}) == 2


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_a_locked_document_is_told_and_one_that_opens_without_a_password_is_read(algorithm: str) -> None:
    locked = written(lambda writer: writer.encrypt("secret", "owner", algorithm=algorithm))
    (trouble,) = troubles(read(locked))
    assert trouble.message.startswith("this PDF is locked with a password")
    free = written(lambda writer: writer.encrypt("", "owner", algorithm=algorithm))
    assert len(records(read(free))) == 2


@pytest.mark.parametrize("cut", [60, 300, 900])
def test_a_cut_document_is_told_or_read_as_far_as_it_goes(cut: int) -> None:
    items = read(RULES[: len(RULES) - cut])
    assert records(items) or [one.reason for one in troubles(items)] == ["refused_file"]


def test_a_document_of_pictures_is_told_in_one_sentence() -> None:
    items = read(written(lambda writer: [page.pop("/Contents", None) for page in writer.pages]))
    (trouble,) = troubles(items)
    assert (trouble.reason, len(items)) == ("refused_file", 1)
    assert "pictures of pages and no text" in trouble.message


def test_pages_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_module, "MOST_PAGES", 2)
    assert reasons(read(RULES)) == {"empty_page": 1, "page_beyond_limit": 1}


@pytest.mark.slow
def test_a_document_of_five_thousand_pages_is_read_whole() -> None:
    def grow(writer: PdfWriter) -> None:
        for _ in range(4_998):
            writer.add_page(writer.pages[0])

    items = read(written(grow))
    assert len(records(items)) == pdf_module.MOST_PAGES - 1
    assert reasons(items) == {"empty_page": 1, "page_beyond_limit": 1}


@pytest.mark.parametrize("words", [b"", b"(first words) Tj 0 -14 Td (second) Tj "])
def test_a_page_that_draws_without_end_is_cut_or_told(words: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(writer: PdfWriter) -> None:
        endless = DecodedStreamObject()
        endless.set_data(b"BT /F1 12 Tf " + words + b"0 -14 Td " * 2_000 + b"(last words) Tj ET")
        writer.pages[0][NameObject("/Contents")] = writer._add_object(endless)

    monkeypatch.setattr(pdf_document, "MOST_STEPS", 500)
    first, *_ = items = read(written(draw))
    assert [one.where for one in troubles(items)] == ([] if words else ["a.pdf:page 1"])
    if words:
        assert (first.text, first.flags) == ("first words\nsecond", ("page_cut",))


def test_a_page_whose_drawing_unpacks_to_much_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_document, "MOST_DRAWING", 110)
    items = read(RULES)
    assert [(one.where, one.message) for one in troubles(items)] == [
        ("a.pdf:page 1", "this page is damaged or draws too much")
    ]
    assert [record.extra["page"] for record in records(items)] == [3]


def test_nothing_of_a_document_reaches_the_log(caplog: pytest.LogCaptureFixture) -> None:
    read(RULES.replace(b"endobj", b"endofj", 2))
    assert caplog.records == []


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(RULES) - 1), st.binary(min_size=1, max_size=30))
def test_any_damage_is_told_or_survived(at: int, noise: bytes) -> None:
    damaged = bytearray(RULES)
    damaged[at : at + len(noise)] = noise
    items = read(bytes(damaged))
    assert items == read(bytes(damaged))


@pytest.mark.parametrize("text", ["", "PDF", "<html><p>%PDF</p>", "word"])
def test_other_files_are_no_documents(text: str) -> None:
    assert not PDF.detects(memory_bundle({"a.pdf": text}))


def page(head: str, body: str = "<p>words</p>") -> Any:
    return records(items_of(PAGE, {"a.html": f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"}))[0]


@pytest.mark.parametrize(
    ("head", "title", "day"),
    [
        ("<title> A \n B </title>", "A B", None),
        ("", "a", None),
        ('<meta name="date" content="2024-03-01"><title>x</title>', "x", "2024-03-01"),
        (
            '<meta property="article:published_time" content="nonsense"><meta name="dc.date" content="2020-01-02">',
            "a",
            "2020",
        ),
        ("<title><b>&lt;script&gt;</b></title>", "<script>", None),
    ],
)
def test_title_and_date_of_a_page_are_what_it_says(head: str, title: str, day: str | None) -> None:
    found = page(head)
    assert found.extra["title"] == title
    assert (found.occurred is None) == (day is None)


@pytest.mark.parametrize(
    "charset", ["utf-8", "iso-8859-2", "windows-1252", "shift_jis", "zlib", "unicode_escape", "utf-16"]
)
def test_a_page_is_read_in_the_charset_it_names_or_as_any_text(charset: str) -> None:
    head = f'<!doctype html><html><head><meta charset="{charset}"></head><body>'
    raw = head.encode() + b"na\xc3\xafve words" + b"</body></html>"
    (record,) = records(items_of(PAGE, {"a.html": raw}))
    assert record.text.startswith("na")
    assert record.text.endswith("ve words")


def test_what_a_page_hides_is_no_part_of_it() -> None:
    found = page("", "<p>seen</p><div style='display: none'>not</div><template>not</template><script>not</script>")
    assert found.text == "seen"


@pytest.mark.parametrize("text", ["", "words", "<p>fragment</p>", "<!DOCTYPE NETSCAPE-Bookmark-file-1>", "# <html>"])
def test_other_texts_are_no_pages(text: str) -> None:
    assert not PAGE.detects(memory_bundle({"a.html": text}))


@settings(max_examples=80, deadline=None)
@given(st.text(st.sampled_from('<>"/= htmlbodyp!-&;#\n'), max_size=200))
def test_any_page_is_survived(text: str) -> None:
    assert len(items_of(PAGE, {"a.html": "<html>" + text})) == 1
