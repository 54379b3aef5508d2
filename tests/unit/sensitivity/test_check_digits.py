"""Check digits: right numbers pass, and where the scheme promises it, no number with one sign changed does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sensitivity import check_digits as checks

RIGHT = [
    (checks.is_luhn, "4111111111111111"),
    (checks.is_luhn, "378282246310005"),
    (checks.is_mod97, "GB82WEST12345698765432"),
    (checks.is_mod97, "DE89370400440532013000"),
    (checks.is_verhoeff, "234123412346"),
    (checks.is_german_tax_id, "86095742719"),
    (checks.is_dutch_bsn, "111222333"),
    (checks.is_french_nir, "255081416802538"),
    (checks.is_spanish_id, "12345678Z"),
    (checks.is_spanish_id, "X1234567L"),
    (checks.is_codice_fiscale, "RSSMRA85T10A562S"),
    (checks.is_polish_pesel, "44051401359"),
    (checks.is_brazilian_cpf, "52998224725"),
    (checks.is_swiss_ahv, "7569217076985"),
    (checks.is_nhs_number, "9434765919"),
    (checks.is_social_security, "219099999"),
]


@pytest.mark.parametrize(("check", "number"), RIGHT)
def test_a_published_example_passes(check: object, number: str) -> None:
    assert callable(check)
    assert check(number)


@pytest.mark.parametrize(
    ("check", "number"),
    [
        (checks.is_brazilian_cpf, "11111111111"),
        (checks.is_dutch_bsn, "000000000"),
        (checks.is_german_tax_id, "06095742719"),
        (checks.is_social_security, "000123456"),
        (checks.is_social_security, "666123456"),
        (checks.is_social_security, "900123456"),
        (checks.is_social_security, "219009999"),
        (checks.is_social_security, "219090000"),
    ],
)
def test_a_number_that_is_never_issued_fails(check: object, number: str) -> None:
    assert callable(check)
    assert not check(number)


ONE_CHANGE = [
    (check, number)
    for check, number in RIGHT
    if check not in {checks.is_social_security, checks.is_spanish_id, checks.is_codice_fiscale}
]


@pytest.mark.parametrize(("check", "number"), ONE_CHANGE)
@given(data=st.data())
def test_one_changed_digit_is_refused(check: object, number: str, data: st.DataObject) -> None:
    assert callable(check)
    place = data.draw(st.sampled_from([n for n, sign in enumerate(number) if sign.isdigit()]))
    other = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != number[place]]))
    assert not check(number[:place] + other + number[place + 1 :])


@given(st.integers(0, 10**8 - 1), st.integers(0, 7), st.integers(1, 9))
def test_one_changed_digit_of_a_spanish_number_is_refused(number: int, place: int, step: int) -> None:
    digits = f"{number:08}"
    letter = "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]
    changed = digits[:place] + str((int(digits[place]) + step) % 10) + digits[place + 1 :]
    assert checks.is_spanish_id(digits + letter)
    assert not checks.is_spanish_id(changed + letter)
