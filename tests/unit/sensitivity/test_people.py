"""Names, homes, addresses, mail and health of people; and brands, public persons, places, animals and topics."""

from __future__ import annotations

import pytest

from core.sensitivity.detector import find_sensitive

FOUND = [
    ("person_name", "My name is |Tancred|, with a c."),
    ("person_name", "The physiotherapist taking over in June is |Florian Hägg|."),
    ("person_name", "Transfer 300 to |Ambrose Finch|, reference drum kit"),
    ("person_name", "ellas teacher is called |henrietta vos| and she wants the form"),
    ("person_name", "Je m'appelle |Solène Vautrin|, enchantée."),
    ("person_name", "User goes by |Wren| and dislikes nicknames"),
    ("person_name", "Mrs |Garroway| rang about the raffle"),
    ("location", "I live in |Ljubljana|, a stone's throw away"),
    ("location", "After the divorce he went back to |Tromsø| and rents a room there."),
    ("location", "Ich wohne in |Tübingen|, gleich beim Markt"),
    ("location", "Home coordinates: |53.1420, 8.2210|"),
    ("location", "relocated from Berlin to |Oslo|"),
    ("address", "Ship it to |18 Pelican Wharf, Flat 2, Southmere SM4 9QX|."),
    ("address", "now at |Gartenzeile 7b, 04999 Musterhain|; the sign"),
    ("address", "Mon adresse: |8 rue des Tanneurs, 99123 Villeneuve|"),
    ("address", "mail goes to |Old Schoolhouse, Back Lane, Little Fenning LF2 0ZZ|."),
    ("email", "cc = |h.okafor@relay.example|, thanks"),
    ("email", "reach me: |jo (at) fernhill (dot) example|"),
    ("health", "His |HbA1c came back at 7.9|, doctor not thrilled"),
    ("health", "I was diagnosed with |rheumatoid arthritis| two winters ago"),
    ("health", "User takes |methotrexate| on Fridays"),
    ("health", "my son is |allergic to peanuts| so no snickers"),
    ("health", "Meine Mutter hat |Asthma|"),
    ("health", "I'm |allergic to cats|"),
]
CLEAN = [
    "If I'm late again my name is mud.",
    "The cat's name is Biscuit",
    "the variable's name is userCount",
    "Rembrandt never travelled to Italy, apparently.",
    "Virginia Woolf on the reading list",
    "Marie Curie won two prizes",
    "San Francisco is foggy in July",
    "Visual Studio Code eats my RAM",
    "Black Friday deals start Monday",
    "Lunch with Sarah on Friday",
    "I live in hope that the tram will be on time",
    "I live and breathe spreadsheets",
    "The company is headquartered in Zug",
    "We moved to Thursday",
    "moved to Postgres last year",
    "Coordinates of the trailhead 47.1120, 9.0021",
    "Weekend in Rome, then Naples",
    "Let's address the elephant in the room",
    "Let's meet on Juniper Street around noon",
    "clone with git@codehaven.example:tools/lathe.git",
    "pin lodash@4.17.21",
    "Our cat has diabetes, the vet says diet food will do.",
    "The dog is on antibiotics.",
    "Reading a book about the history of cancer treatment.",
    "Is diabetes hereditary?",
    "This codebase gives me a headache.",
    "The market is in a depression",
    "User is allergic to bad variable names.",
]


@pytest.mark.parametrize(("kind", "marked"), FOUND)
def test_a_person_is_found_at_the_place(kind: str, marked: str) -> None:
    before, value, _ = marked.split("|")
    spans = find_sensitive(marked.replace("|", ""))
    assert (kind, len(before), len(before) + len(value)) in {(span.type.value, span.start, span.end) for span in spans}


@pytest.mark.parametrize("text", CLEAN)
def test_what_is_nobodys_is_left(text: str) -> None:
    assert find_sensitive(text) == ()
