"""Numbers: social security, cards, accounts, government ids, phones; and what only looks like one."""

from __future__ import annotations

import pytest

from core.sensitivity.detector import find_sensitive

FOUND = [
    ("ssn", "her social is |501 22 3347|, keep it off email"),
    ("ssn", "SSN |219-09-9999| for the 1099"),
    ("ssn", "put |613459921| as the social security number"),
    ("ssn", "|521-07-4418| is on the old form"),
    ("credit_card", "|4111 1111 1111 1111| for the ferry"),
    ("credit_card", "Amex |3782-822463-10005| for travel"),
    ("credit_card", "visa |4242424242424242|"),
    ("iban", "rent to |DE89 3704 0044 0532 0130 00| please"),
    ("iban", "acct |gb82west12345698765432| now"),
    ("government_id", "Passport no. |X0000417K|, valid until 2031-05."),
    ("government_id", "Mi DNI es |12345678Z|"),
    ("government_id", "mine is |12345678Z| he wrote"),
    ("government_id", "Codice fiscale |RSSMRA85T10A562S|"),
    ("government_id", "driver's licence: |OLAND 750101 BQ9ZZ| (UK)"),
    ("government_id", "Steuer-ID ist |86 095 742 719|"),
    ("government_id", "NINO |QQ 12 34 56 C|"),
    ("government_id", "|X0000417| is my passport number"),
    ("phone", "ring |+44 20 7946 0712| until six"),
    ("phone", "the line (|(212) 555-0147|) answered"),
    ("phone", "concierge: |01 99 00 42 17|."),
    ("phone", "call |555.0183.2210 ext 14|, I'm in"),
    ("phone", "Handy von Oma: |0171 0000 4432|"),
    ("phone", "her landline |555-0142|"),
]
CLEAN = [
    "Part 000-12-3456 is the rubber gasket.",
    "Part no. 219-44-1188 back-ordered",
    "SSN 000-12-3456 is a placeholder",
    "his ssn ends in 4418",
    "Dummy number 1234 5678 1234 5678, looks silly",
    "visa 4111 1111 1111 1112 failed the checksum",
    "Order 4512-8834-2210 shipped",
    "IBAN DE88 3704 0044 0532 0130 00 bounced",
    "DE89 is how they start",
    "ISBN 978-0-00-123456-1",
    "build 10.0.19045.4291",
    "The log starts at 1717430400 and ends later.",
    "MAC 02:1A:4F:00:9C:7E",
    "at 192.168.4.17 and 10.0.0.12",
    "Passport renewal takes six weeks",
    "Passport photos, 35 x 45 mm",
    "passport valid until 2031-05-12",
    "Bus 4242 only runs on school days",
    "call 112 in an emergency",
    "2024-02-09 to 2024-03-01",
    "Invoice 2024-00871, due 14/06/2024",
    "sensor range 555-0100 mm",
    "123e4567-e89b-12d3-a456-426614174000",
    "See RFC 2119 section 4",
]


@pytest.mark.parametrize(("kind", "marked"), FOUND)
def test_a_number_is_found_at_its_place(kind: str, marked: str) -> None:
    before, value, _ = marked.split("|")
    spans = find_sensitive(marked.replace("|", ""))
    assert (kind, len(before), len(before) + len(value)) in {(span.type.value, span.start, span.end) for span in spans}


@pytest.mark.parametrize("text", CLEAN)
def test_what_only_looks_like_a_number_is_left(text: str) -> None:
    assert find_sensitive(text) == ()
