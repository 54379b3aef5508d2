"""Check digits of cards, accounts and national numbers. Each function takes the bare signs, without separators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

_DIHEDRAL = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_PERMUTED = (
    "0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip
_SPANISH = "TRWAGMYFPDXBNJZSQVHLCKE"
# What a sign at an odd place of a codice fiscale counts; digits count as the letters A to J.
_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def is_luhn(digits: str) -> bool:
    """Cards, Canadian SIN, Swedish personal numbers."""
    total = 0
    for n, sign in enumerate(reversed(digits)):
        value = int(sign) * (1 + n % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def is_mod97(account: str) -> bool:
    """International bank account numbers (ISO 7064), upper case."""
    return int("".join(str(int(sign, 36)) for sign in account[4:] + account[:4])) % 97 == 1


def is_verhoeff(digits: str) -> bool:
    """Indian Aadhaar numbers."""
    check = 0
    for n, sign in enumerate(reversed(digits)):
        check = int(_DIHEDRAL[check][int(_PERMUTED[n % 8][int(sign)])])
    return check == 0


def is_german_tax_id(digits: str) -> bool:
    """The Steuer-Identifikationsnummer: eleven digits (ISO 7064 mod 11, 10)."""
    product = 10
    for sign in digits[:10]:
        product = ((int(sign) + product) % 10 or 10) * 2 % 11
    return len(digits) == 11 and digits[0] != "0" and (11 - product) % 10 == int(digits[10])


def is_dutch_bsn(digits: str) -> bool:
    """The burgerservicenummer: nine digits, the eleven test."""
    return (
        len(digits) == 9 and digits != "0" * 9 and _weighted_digit_sum(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0
    )


def is_french_nir(signs: str) -> bool:
    """The French number of social security: thirteen signs and a key of two."""
    body = signs[:13].replace("2A", "19").replace("2B", "18")
    return len(signs) == 15 and body.isdigit() and signs[13:].isdigit() and 97 - int(body) % 97 == int(signs[13:])


def is_spanish_id(signs: str) -> bool:
    """DNI and NIE: a letter told by the number."""
    number = signs[:-1].translate(str.maketrans("XYZ", "012"))
    return number.isdigit() and _SPANISH[int(number) % 23] == signs[-1]


def is_codice_fiscale(signs: str) -> bool:
    """The Italian tax code of sixteen signs."""
    values = [int(sign, 36) - 10 if sign.isalpha() else int(sign) for sign in signs]
    total = sum(_ODD[value] if n % 2 == 0 else value for n, value in enumerate(values[:-1]))
    return len(signs) == 16 and total % 26 == values[-1]


def is_polish_pesel(digits: str) -> bool:
    """The Polish number of a person: eleven digits."""
    return len(digits) == 11 and _weighted_digit_sum(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def is_brazilian_cpf(digits: str) -> bool:
    """The Brazilian number of a taxpayer: eleven digits, the last two check."""
    if len(digits) != 11 or len(set(digits)) == 1:
        return False
    for length in (9, 10):
        rest = _weighted_digit_sum(digits[:length], range(length + 1, 1, -1)) % 11
        if int(digits[length]) != (0 if rest < 2 else 11 - rest):
            return False
    return True


def is_swiss_ahv(digits: str) -> bool:
    """The Swiss number of insurance: thirteen digits, as a product code."""
    return len(digits) == 13 and _weighted_digit_sum(digits, (1, 3) * 6 + (1,)) % 10 == 0


def is_nhs_number(digits: str) -> bool:
    """The number of a patient in England: ten digits."""
    return len(digits) == 10 and _weighted_digit_sum(digits, (10, 9, 8, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def is_social_security(digits: str) -> bool:
    """Numbers the United States may issue: no area 000, 666 or 900 and above, no group 00, no serial 0000."""
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in {"000", "666"} and area < "900" and group != "00" and serial != "0000"


CHECKS: Mapping[str, Callable[[str], bool]] = {
    "ahv": is_swiss_ahv,
    "codice_fiscale": is_codice_fiscale,
    "cpf": is_brazilian_cpf,
    "nir": is_french_nir,
    "spanish": is_spanish_id,
    "tax_id": is_german_tax_id,
}
"""By the names that `resources/sensitivity/identity.json` gives to shapes that prove themselves."""


def _weighted_digit_sum(digits: str, weights: Sequence[int]) -> int:
    return sum(int(sign) * weight for sign, weight in zip(digits, weights, strict=True))
