"""A certificate to read and hand on: plain text and a page, both with the JSON, neither with anything that acts."""

from __future__ import annotations

import json
from html import unescape
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.config.erasure_wording import certificate_lines, certificate_page, certificate_text

HOSTILE = "<img src=x onerror=alert(1)>&\u202e\x1b[31m.tar"
VALUES: dict[str, Any] = {
    "id": "018bcfe5-6800-7343-85d5-48b25d3b8afe",
    "at": 1_700_000_000_000,
    "subject": "memory",
    "subject_id": "",
    "memories": 1,
    "ids": ["018bcfe5-6800-7346-9953-62b8ab34c71a"],
    "marks": ["00"],
    "reasons": {"asked": 1},
    "places": [{"place": "memories", "removed": 1, "changed": 0, "left": 0, "words": 0}],
    "same_words": 0,
    "named": {},
    "pages": 12,
    "free_pages": 1,
    "fragments": 3,
    "pages_left": 0,
    "copies": [{"name": HOSTILE, "state": "holds", "memories": 1}],
    "not_checked": ["copies_elsewhere"],
    "state": "held_by_backups",
    "digest": "abcd",
    "is_authentic": True,
}


class _Tags(HTMLParser):
    """Which elements a page has, and what it shows."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.shown = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.shown += data


def test_a_page_shows_the_lines_and_the_json_and_runs_nothing() -> None:
    page = certificate_page(VALUES, "2026-11-30 01:00")
    seen = _Tags()
    seen.feed(page)
    assert seen.tags == {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "pre"}
    assert "1 memory was erased on 2026-11-30 01:00." in seen.shown
    assert "default-src 'none'" in page
    body = unescape(page[page.index("<pre>") + 5 : page.index("</pre>")])
    found = json.loads(body)
    assert found == {name: value for name, value in VALUES.items() if name != "is_authentic"}


def test_a_text_has_the_lines_and_the_json_and_steers_no_terminal() -> None:
    text = certificate_text(VALUES, "2026-11-30 01:00")
    assert "1 memory was erased on 2026-11-30 01:00." in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert json.loads(text[text.index("{\n") :])["digest"] == "abcd"


@given(st.text(max_size=60))
def test_no_name_of_a_file_becomes_part_of_a_page(name: str) -> None:
    values = {**VALUES, "copies": [{"name": name, "state": "clean", "memories": 0}]}
    seen = _Tags()
    seen.feed(certificate_page(values, "now"))
    assert seen.tags == {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "pre"}
    assert all(sign.isprintable() or sign == "\n" for sign in certificate_text(values, "now"))


def test_it_says_which_copies_hold_it_and_which_nobody_could_check() -> None:
    def told(*states: str) -> str:
        copies = [{"name": "one.tar", "state": state, "memories": 1} for state in states]
        return certificate_lines({**VALUES, "copies": copies}, "2026-11-30 01:00")[2]

    left = "Nothing of it is left in the vault."
    assert told("holds", "clean", "rewritten") == f"{left} 1 copy of the vault still holds it."
    assert told("other_keys", "damaged") == f"{left} 2 copies of the vault could not be checked."
    assert told("holds", "holds", "not_checked") == (
        f"{left} 2 copies of the vault still hold it. 1 copy of the vault could not be checked."
    )


def test_words_that_stay_elsewhere_are_no_part_of_what_was_done() -> None:
    places = [{"place": "memories", "removed": 1, "changed": 0, "left": 0, "words": 2}]
    lines = certificate_lines({**VALUES, "places": places, "named": {"audit": 2}}, "2026-11-30 01:00")
    assert "  memories: 1 removed" in lines
    assert "  Some of its words also occur in entries that were not erased: memories (2)." in lines
    assert "  IDs of it, without any text, remain in: audit log (2)." in lines
