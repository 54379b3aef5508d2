"""What counts as the same value."""

from __future__ import annotations

import pytest

from core.belief.extract.normal_form import fold_to_skeleton, value_key


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Вergen", "Bergen"),  # the first letter is Cyrillic
        ("Βergen", "bergen"),  # and Greek
        ("Ber\u200bgen", "Bergen"),
        ("Ｂｅｒｇｅｎ", "BERGEN"),
        ("the second floor", "Second floor"),
        ("“Miso”", "Miso."),
        ("eleven", "11"),
        ("twenty-one", "21"),
        ("two hundred and five", "205"),
        ("four thousand", "4,000"),
        ("9,500 pounds", "£9,500"),
        ("€3k", "3,000 euros"),
        ("50 micrograms", "50 mcg"),
        ("20mg", "20 mg"),
        ("9 november 1987", "1987-11-09"),
        ("November 9th, 1987", "9.11.1987"),
        ("17 October", "the 17th of October"),
        ("07700 900461", "(07700) 900-461"),
        ("0044 7700 900461", "+44 7700 900461"),
        ("Ros@Mail.Example", "ros@mail.example"),
        ("5.0", "5"),
        ("Straße", "STRASSE"),
    ],
)
def test_the_same(left: str, right: str) -> None:
    assert value_key(left) == value_key(right)
    assert value_key(left) == value_key(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("46", "47"),
        ("5.2.0", "5.2"),
        ("3.8", "38"),
        ("9 November 1987", "11 September 1987"),
        ("1,200 euros", "1,200 pounds"),
        ("07700 900461", "07700 900462"),
        ("Bergen", "Bergamo"),
        ("", "a"),
        ("nuts", "not nuts"),
    ],
)
def test_not_the_same(left: str, right: str) -> None:
    assert value_key(left) != value_key(right)


def test_a_word_with_a_letter_of_its_own_keeps_its_script() -> None:
    assert fold_to_skeleton("Ярославль") == "ярославль"
    assert fold_to_skeleton("Αθήνα") == "αθήνα"
