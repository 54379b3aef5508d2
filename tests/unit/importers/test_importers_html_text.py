"""HTML as text: lines, lists, characters, what is hidden or quoted, and markup that is broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.importers.html_text import html_tokens, read_html_words


@pytest.mark.parametrize(
    ("markup", "want"),
    [
        ("plain words", "plain words"),
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<ul><li>one<li>two</ul>end", "- one\n- two\n\nend"),
        ("<div>a</div><div>b</div>", "a\nb"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a\tb\nc"),
        ("fish &amp; chips &lt;3 &#8217;&eacute;", "fish & chips <3 ’é"),
        ("  many \n\n blanks\t here ", "many blanks here"),
        ("<pre>  kept\n   so</pre>", "  kept\n   so".strip()),
        ("<head><title>t</title></head><style>p{}</style><script>x<y</script>seen", "seen"),
        ('<div style="display: none">preheader</div>seen', "seen"),
        ("<!-- a > b -->seen<!-- never > closed", "seen"),
        ('<img alt="a heron"> <img src="data:image/png;base64,AAAA">seen', "a heron seen"),
        ("1 < 2 and <3", "1 < 2 and <3"),
        ('<a title="x > y" href=z>link</a>', "link"),
        ("<b", "<b"),
        ("", ""),
    ],
)
def test_words_are_what_a_person_reads(markup: str, want: str) -> None:
    assert read_html_words(markup) == want


def test_quotations_go_only_where_they_are_not_wanted() -> None:
    markup = '<p>Mine</p><div class="gmail_quote">On Mon<div class="gmail_quote">x</div> theirs</div>after'
    assert read_html_words(markup, quotes=False) == "Mine\n\nafter"
    assert "theirs" in read_html_words(markup)


def test_attributes_are_resolved_and_the_first_of_two_counts() -> None:
    (token,) = [one for one in html_tokens("<A HREF='a&amp;b' add_date=12 href=c disabled>") if one.tag]
    assert token.attributes() == {"href": "a&b", "add_date": "12", "disabled": ""}


@given(st.text(st.sampled_from("<>/!-\"'= abpdivscrt&;#\n"), max_size=300))
def test_any_markup_is_survived_and_nothing_outside_tags_is_invented(markup: str) -> None:
    words = read_html_words(markup)
    assert len(words) <= 2 * len(markup) + 2
    assert words == read_html_words(markup)


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8), min_size=1, max_size=12))
def test_every_word_of_a_page_is_kept(words: list[str]) -> None:
    markup = "".join(f"<p><b>{word}</b>" for word in words)
    assert read_html_words(markup).split("\n\n") == words
