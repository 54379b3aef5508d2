"""Links and tags in the text of notes: what counts, what stands in code, what a link means."""

from __future__ import annotations

import pytest
from importer_checks import items_of, records

from core.importers.formats.notes.markdown import MarkdownImporter
from core.importers.notes.links import NoteIndex, RawLink, links_in
from core.importers.notes.tags import tags_in
from core.importers.records import Record
from core.text.markdown import blank_code


def note(text: str, **others: str) -> Record:
    items = items_of(MarkdownImporter(), {"n.md": text, **others}, "folder")
    return next(r for r in records(items) if r.where == "n.md")


@pytest.mark.parametrize(
    "text",
    [
        "```\n#no [[no]]\n```",
        "~~~~ js\n#no\n~~~\n[[no]]\n~~~~",
        "```\nunclosed #no [[no]]",
        "> ```\n> #no [[no]]\n> ```",
        "- item\n  ```\n  #no [[no]]\n  ```",
        "`#no [[no]]`",
        "``#no ` [[no]]``",
        "`two\nlines #no [[no]]`",
        "text\n\n    #no [[no]]\n\n\t#no",
        "<!-- #no\n[[no]] -->",
        "$$\n#no [[no]]\n$$",
        "\\#no word#no #1 #2026 # no ## no https://x.org/#no",
    ],
)
def test_neither_tags_nor_links(text: str) -> None:
    record = note(text)
    assert (record.tags, record.extra["links"]) == ((), [])


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#a", ["a"]),
        ("(#a) #b, #c; #d.", ["a", "b", "c", "d"]),
        ("#a/b/ #c-d_e #2x", ["a/b", "c-d_e", "2x"]),
        ("> ```\n> no\nafter #a", ["a"]),
        ("- item\n\n    #a still the item", ["a"]),
        ("a ` lone tick #a", ["a"]),
        ("- one ` tick\n- other ` #a", ["a"]),
        ("#blå #日本 #🚢", ["blå", "日本", "🚢"]),
        ("- [ ] #a\n- [x] 07:10 #b", ["a", "b"]),
        ("[#a](x.md#b) [[n#c]]", ["a"]),
    ],
)
def test_tags_in_text(text: str, tags: list[str]) -> None:
    assert tags_in(blank_code(text)) == tags


def test_links_in_text() -> None:
    text = (
        "[[a]] ![[b.png|300]] [[c#H1#H2|al\\|ias]] [[d#^blk]] | [[e\\|x]] | [[#Here]] [w](f%20g.md#h) [u](https://x.y)"
    )
    assert links_in(text) == [
        RawLink("a", "link"),
        RawLink("b.png", "embed", alias="300"),
        RawLink("c", "link", heading="H1#H2", alias="al\\|ias"),
        RawLink("d", "link", block="blk"),
        RawLink("e", "link", alias="x"),
        RawLink("", "link", heading="Here"),
        RawLink("f g.md", "link", heading="h", alias="w", markdown=True),
    ]


@pytest.mark.parametrize(
    ("target", "to", "state"),
    [
        ("One", "One.md", "resolved"),
        ("one.md", "One.md", "resolved"),
        ("deep", "A/B/Deep.md", "resolved"),
        ("B/Deep", "A/B/Deep.md", "resolved"),
        ("/A/B/Deep", "A/B/Deep.md", "resolved"),
        ("Twin", None, "ambiguous"),
        ("A/Twin", "A/Twin.md", "resolved"),
        ("./Twin", "A/Twin.md", "resolved"),
        ("../B2/Twin", "B2/Twin.md", "resolved"),
        ("eep", None, "unresolved"),
        ("pic.PNG", "A/pic.png", "resolved"),
        ("pic", None, "unresolved"),
        ("v1.2", "v1.2.md", "resolved"),
        ("Cafe\u0301", "Café.md", "resolved"),
        ("case", None, "ambiguous"),
        ("Case", "X/Case.md", "resolved"),
    ],
)
def test_what_a_link_means(target: str, to: str | None, state: str) -> None:
    index = NoteIndex(
        [
            "One.md",
            "A/B/Deep.md",
            "A/Twin.md",
            "B2/Twin.md",
            "A/pic.png",
            "v1.2.md",
            "Café.md",
            "X/Case.md",
            "Y/CASE.md",
        ]
    )
    assert index.resolve_link(RawLink(target, "link"), "A/from.md") == (to, state)


def test_markdown_links_are_kept_where_they_mean_a_note() -> None:
    record = note("[a](sub/x.md) [b](gone.md) [c](no/page) [d](mailto:x@y.z)", **{"sub/x.md": "x"})
    assert [(r["target"], r["to"], r["state"]) for r in record.extra["links"]] == [
        ("sub/x.md", "sub/x.md", "resolved"),
        ("gone.md", None, "unresolved"),
    ]


def test_links_in_front_matter_count() -> None:
    record = note('---\nrelated: ["[[a|A]]", "[[b]]"]\n---\n[[c]]', **{"a.md": "x"})
    assert [(r["target"], r["to"], r["alias"]) for r in record.extra["links"]] == [
        ("a", "a.md", "A"),
        ("b", None, None),
        ("c", None, None),
    ]


@pytest.mark.slow
def test_hostile_texts_take_no_longer_than_their_length() -> None:
    # Each of these is quadratic or worse for a careless pattern; at this size that would be hours.
    for piece in ("[[", "`", "``` ", "<!--", "$$", "![](", "[a](", "> ", "- ", "#", "\\", "((", "`a``b```c"):
        plain = blank_code(piece * 100_000)
        assert len(plain) == len(piece) * 100_000
        links_in(plain)
        tags_in(plain)
