"""What stands and tells a pursuit already: `core.talk.style.earlier_statements`."""

from __future__ import annotations

import pytest

from core.talk.style.earlier_statements import find_pursued

LATER = "Mara wants to open a small bakery in Leith."
STANDS = (
    ("a", "Mara has lived in Leith for years."),
    ("b", "Mara wants to open a small bakery in Perth."),
    ("c", "Mara wants to open her own small bakery in Leith."),
    ("d", LATER),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LATER, "c"),
        ("Mara wants to open a small bakery in Perth.", "b"),
        ("Mara wants to open a bakery in Cork.", None),
    ],
)
def test_the_first_that_tells_the_pursuit_is_found(text: str, found: str | None) -> None:
    assert find_pursued(text, STANDS) == found


def test_a_name_is_found_whatever_its_apostrophe() -> None:
    assert (
        find_pursued("Mara wants to buy O'Hara a green bike.", [("a", "Mara wants to buy O’Hara a green bike.")]) == "a"
    )
