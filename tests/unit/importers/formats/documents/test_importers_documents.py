"""Kindle, bookmarks and Word: dates of devices, folders, what was struck out, and archives that only look alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import items_of, memory_bundle, reasons, records

from core.errors import Code, UserError
from core.importers.formats.documents.bookmarks import BookmarksImporter
from core.importers.formats.documents.kindle import KindleImporter
from core.importers.formats.documents.word import WordImporter
from core.importers.records import Importer
from core.text.times import format_time

KINDLE, BOOKMARKS, WORD = KindleImporter(), BookmarksImporter(), WordImporter()


def clipping(about: str, words: str = "words", book: str = "Book (Author)") -> list[Any]:
    return items_of(KINDLE, {"c.txt": f"\ufeff{book}\r\n- {about}\r\n\r\n{words}\r\n==========\r\n"})


@pytest.mark.parametrize(
    ("written", "want"),
    [
        ("Added on Friday, May 3, 2024 10:12:33 PM", "2024-05-03T22:12:33+00:00"),
        ("Added on Friday, 3 May 2024 00:12:33", "2024-05-03T00:12:33+00:00"),
        ("Added on Friday, May 3, 2024 12:12:33 AM", "2024-05-03T00:12:33+00:00"),
        ("Hinzugefügt am Samstag, 4. März 2024 08:01:02", "2024-03-04T08:01:02+00:00"),
        ("Añadido el viernes, 3 de mayo de 2024 10:12:33", "2024-05-03T10:12:33+00:00"),
        ("Ajouté le vendredi 3 août 2024 10:12:33", "2024-08-03T10:12:33+00:00"),
        ("添加于 2024年5月3日 10:12:33", "2024-05-03T10:12:33+00:00"),
        ("Добавлено: пятница, 3 мая 2024 г. в 10:12:33", None),
        ("Added on Friday, May 43, 2024 10:12:33 PM", None),
        ("Added on some day", None),
    ],
)
def test_dates_of_devices_are_read_where_their_words_are_known(written: str, want: str | None) -> None:
    (record,) = records(clipping(f"Your Highlight on Location 1-2 | {written}"))
    assert (format_time(record.occurred) if record.occurred else None) == want
    assert record.extra["time_written"] == written


@pytest.mark.parametrize(
    ("book", "title", "author"),
    [
        ("Book (Author)", "Book", "Author"),
        ("Book (Part 2) (A. Uthor (Ed.))", "Book (Part 2)", "A. Uthor (Ed.)"),
        ("Book", "Book", None),
        ("(Author)", "(Author)", None),
        ("Book (" * 300, ("Book (" * 300)[:1000].strip(), None),
    ],
)
def test_a_book_is_told_from_its_author(book: str, title: str, author: str | None) -> None:
    (record,) = records(clipping("Your Highlight | Added on x", book=book))
    assert (record.extra["title"], record.extra.get("author")) == (title, author)


def test_bookmarks_and_broken_clippings_are_told() -> None:
    assert reasons(clipping("Your Bookmark on page 3 | Added on x", "")) == {"bookmark": 1}
    assert reasons(items_of(KINDLE, {"c.txt": "Book\n==========\nBook\n- Your Note | x\n\nwords"})) == {
        "bad_clipping": 1
    }


HEAD = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n"


@pytest.mark.parametrize(
    ("lines", "want"),
    [
        ('<DT><A HREF="https://a/">A</A>', [("A\nhttps://a/", [])]),
        (
            '<DT><H3>F &amp; G</H3>\n<DL><p>\n<DT><A HREF="https://a/">A\n</DL><p>\n<DT><A HREF="https://b/">B</A>',
            [("A\nhttps://a/", ["F & G"]), ("B\nhttps://b/", [])],
        ),
        (
            '<DT><A HREF="https://a/">A</A><DT><A HREF="https://b/">B</A><DD>note\nmore',
            [("A\nhttps://a/", []), ("B\nhttps://b/\nnote more", [])],
        ),
        ('<DT><A HREF="javascript:x">A</A>\n<DT><A HREF="place:x">B</A>\n<DT><A>C</A>', []),
        ("</DL></DL></DL>", []),
    ],
)
def test_bookmarks_stand_in_their_folders(lines: str, want: list[tuple[str, list[str]]]) -> None:
    found = records(items_of(BOOKMARKS, {"b.html": HEAD + lines}))
    assert [(r.text, r.extra.get("folders", [])) for r in found] == want


def word(body: str, **more: str) -> list[Any]:
    files = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f'<w:document xmlns:w="w"><w:body>{body}</w:body></w:document>',
    }
    return items_of(WORD, files | {name.replace("__", "/") + ".xml": text for name, text in more.items()}, "zip")


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ("<w:p><w:r><w:t>a</w:t></w:r></w:p><w:p><w:r><w:t>b</w:t></w:r></w:p>", "a\nb"),
        ("<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>", "a\tb\nc"),
        (
            "<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>",
            "new",
        ),
        ("<w:p><w:r><w:instrText>PAGE</w:instrText><w:t>x</w:t></w:r></w:p>", "x"),
        ("<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl><w:p/>", "a"),
        ("<w:p><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink></w:p>", "link"),
    ],
)
def test_a_document_is_its_words(body: str, want: str) -> None:
    (record,) = records(word(body))
    assert record.text.strip("\t\n") == want


def test_what_is_broken_beside_the_pages_does_not_matter_and_broken_pages_do() -> None:
    (record,) = records(word("<w:p><w:r><w:t>a</w:t></w:r></w:p>", docProps__core="<not closed"))
    assert (record.author, record.occurred) == ("source", None)
    with pytest.raises(UserError) as error:
        word("<w:p>")
    assert error.value.code is Code.IMPORT_REFUSED
    assert [record.text for record in records(word("<w:p/>"))] == ["[Content_Types]"]


@pytest.mark.parametrize("importer", [KINDLE, BOOKMARKS, WORD])
@pytest.mark.parametrize(
    "text", ["", "words\n- dash\n\nmore", "==========", "<html><a href='https://x'>x</a></html>", "PK\x03\x04"]
)
def test_other_files_are_left_to_others(importer: Importer, text: str) -> None:
    assert not importer.detects(memory_bundle({"a.txt": text}))
    assert not importer.detects(memory_bundle({"a.txt": text, "word/document.xml": text}, "zip"))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(["==========", "- Your Note | x", "", "Book (A)", "words", "- ", "=="]), max_size=20))
def test_any_clippings_are_read_or_told(lines: list[str]) -> None:
    items = items_of(KINDLE, {"c.txt": "\n".join(lines)})
    assert len(items) <= lines.count("==========") + 1


@settings(max_examples=80, deadline=None)
@given(st.text(st.sampled_from('<>"/= ADLHRTFdlt3hra:\n&;'), max_size=200))
def test_any_list_is_survived(text: str) -> None:
    assert all(record.extra["address"] for record in records(items_of(BOOKMARKS, {"b.html": HEAD + text})))
