"""Every text is looked at before it is stored: its tier, who is kept from it, and the person's word over the rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from engine_rig import Rig, differences, error_of, later, refused

from core.errors import Code
from core.types.clients import Change, Moves
from core.types.sensitivity import SensitiveType
from core.types.values import Actor, Kind, SecurityTier, Source
from core.types.views import Revision

CARD = "My card for the boatyard is 4111 1111 1111 1111."
HEALTH = "I was diagnosed with asthma last spring."
CONTACT = "Mail the boatyard at office@example.org."
HOME = "space:home"
SCAN = "SELECT security_tier, extra FROM memories WHERE id = ?"


def tier_of(rig: Rig, memory_id: str) -> tuple[str, str | None]:
    """The tier of a memory, and who chose it."""
    tier, extra = rig.rows(SCAN, memory_id)[0]
    return str(tier), json.loads(str(extra)).get("tier_by")


def set_tier(rig: Rig, memory_id: str, tier: SecurityTier) -> str | None:
    report = rig.engine.library.revise_memories([memory_id], Revision(tier=tier)).result(30)
    rig.settle()
    return report.step_id


def option(rig: Rig, **values: object) -> None:
    for name, value in values.items():
        rig.engine.settings.set_option(name, value).result(30)


@pytest.fixture
def reader(rig: Rig) -> Actor:
    return rig.client("reader", "read", "write", "sensitive", HOME)


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        (CARD, ("confidential", "rules")),
        ("Her SSN is 219-09-9999.", ("confidential", "rules")),
        ("The router password is kW7-pfel-ABC9 since May", ("confidential", "rules")),
        ("Pay into DE89 3704 0044 0532 0130 00.", ("confidential", "rules")),
        (HEALTH, ("cleartext", None)),
        (CONTACT, ("cleartext", None)),
        ("The lamp in the hall is green.", ("cleartext", None)),
    ],
)
@pytest.mark.parametrize("kind", [Kind.FACT, Kind.EPISODE])
def test_a_text_is_stored_at_the_tier_that_it_asks_for(
    rig: Rig, text: str, tier: tuple[str, str | None], kind: Kind
) -> None:
    assert tier_of(rig, rig.store(text, kind=kind).memory_id) == tier


def test_another_client_gets_nothing_of_it_and_its_author_does(rig: Rig, reader: Actor) -> None:
    author = rig.client("author", "read", "write", HOME)
    memory_id = rig.store(CARD, author, space="home").memory_id
    assert rig.found("card for the boatyard", author) == [CARD]
    assert rig.get(memory_id, author).text == CARD
    assert rig.found("card for the boatyard", reader) == []
    assert rig.found("card for the boatyard") == [CARD]
    with refused(Code.NOT_FOUND):
        rig.get(memory_id, reader)


def test_the_author_is_told_that_it_is_known_and_another_is_not(rig: Rig, reader: Actor) -> None:
    author = rig.client("author", "read", "write", HOME)
    first = rig.store(CARD, author, space="home")
    again = rig.store(CARD, author, space="home")
    assert (again.operation, again.memory_id, again.deduplicated) == ("NOOP", first.memory_id, True)
    assert rig.store(CARD, reader, space="home").memory_id != first.memory_id


def test_the_word_of_the_person_goes_before_the_rules_both_ways(rig: Rig, reader: Actor) -> None:
    author = rig.client("author", "read", "write", HOME)
    memory_id = rig.store(CARD, author, space="home").memory_id
    step = set_tier(rig, memory_id, SecurityTier.CLEARTEXT)
    assert tier_of(rig, memory_id) == ("cleartext", "owner")
    assert rig.found("card for the boatyard", reader) == [CARD]
    before = rig.dump()
    assert set_tier(rig, memory_id, SecurityTier.CONFIDENTIAL) is not None
    assert tier_of(rig, memory_id) == ("confidential", "owner")
    assert rig.found("card for the boatyard", author) == []  # who the person keeps it from, it is kept from
    rig.undo(None)
    assert differences(before, rig.dump()) == {}
    rig.undo(step)
    assert tier_of(rig, memory_id) == ("confidential", "rules")


def test_a_new_version_keeps_the_word_of_the_person_for_what_it_was_said_of(rig: Rig) -> None:
    memory_id = rig.store(CARD).memory_id
    set_tier(rig, memory_id, SecurityTier.CLEARTEXT)
    library = rig.engine.library
    (second,) = library.revise_memories([memory_id], Revision(text=CARD.replace("My", "The"))).result(30).ids
    assert tier_of(rig, second) == ("cleartext", "owner")
    told = f"{CARD} The PIN code is 4711."
    (third,) = library.revise_memories([second], Revision(text=told)).result(30).ids
    assert tier_of(rig, third) == ("confidential", "rules")


def test_a_new_version_without_the_number_is_in_the_clear_again(rig: Rig) -> None:
    memory_id = rig.store(CARD).memory_id
    change = Revision(text="My card for the boatyard is blue.")
    (second,) = rig.engine.library.revise_memories([memory_id], change).result(30).ids
    assert (tier_of(rig, second), tier_of(rig, memory_id)) == (("cleartext", None), ("confidential", "rules"))


def test_what_rules_found_is_sensitive_where_the_settings_say_so(rig: Rig, reader: Actor) -> None:
    option(rig, protect_health=True)
    option(rig, protected_spaces="work, clinic")
    option(rig, protected_sources="document")
    assert tier_of(rig, rig.store(HEALTH).memory_id) == ("sensitive", "rules")
    assert tier_of(rig, rig.store(CONTACT).memory_id) == ("cleartext", None)
    assert tier_of(rig, rig.store(CONTACT, space="work").memory_id) == ("sensitive", "rules")
    assert tier_of(rig, rig.store("The door squeaks.", space="work").memory_id) == ("cleartext", None)
    letter = rig.store("Write to the office at desk@example.org.", source=Source.DOCUMENT).memory_id
    assert tier_of(rig, letter) == ("sensitive", "rules")
    assert rig.found("diagnosed with asthma", reader) == []
    option(rig, protect_contacts=True)
    assert tier_of(rig, rig.store("Call Vera at +49 170 1234567.").memory_id) == ("sensitive", "rules")


def test_an_import_is_looked_at_text_by_text(rig: Rig, reader: Actor) -> None:
    rig.bring([{"text": CARD, "kind": "fact"}, {"text": "The hall is green.", "kind": "fact"}], "home")
    found = {str(text): str(tier) for text, tier in rig.rows("SELECT text, security_tier FROM memories")}
    assert found == {CARD: "confidential", "The hall is green.": "cleartext"}
    assert CARD not in rig.found("card for the boatyard", reader)


def test_all_parts_of_a_long_text_are_protected_alike(rig: Rig) -> None:
    filler = "The hall is green and the lamp is old. " * 300
    rig.store(f"{filler}{CARD} {filler}", kind=Kind.EPISODE)
    found = rig.rows("SELECT DISTINCT security_tier FROM memories")
    assert [str(one) for (one,) in found] == ["confidential"]


def test_nothing_of_it_is_in_a_list_a_count_or_an_event_of_another_client(rig: Rig, reader: Actor) -> None:
    ears = rig.client("ears", "read", HOME)
    moves: list[Moves] = []
    rig.engine.hub.watch(moves.append)
    count = rig.engine.maintenance.count_by_state
    before = count("home", reader).result(30)
    memory_id = rig.store(CARD, space="home").memory_id
    rig.settle()
    told = [rig.engine.subscriptions.visible_changes(one, ears).result(30) for one in moves]
    assert [one for one in told if one] == []
    assert count("home", reader).result(30) == before
    assert memory_id not in str(rig.recall("card", reader))


def test_with_the_yes_of_the_person_a_client_gets_it_for_a_time(rig: Rig, reader: Actor) -> None:
    memory_id = rig.store(CARD, space="home").memory_id
    hidden = rig.store("My private matter.", space="home").memory_id
    set_tier(rig, hidden, SecurityTier.SENSITIVE)
    clients = rig.engine.clients
    assert clients.disclose("reader", 10).result(30) == 600
    assert rig.get(memory_id, reader).text == CARD
    assert rig.get(hidden, reader).text == "My private matter."
    assert clients.disclose("reader", 0).result(30) == 0
    with refused(Code.NOT_FOUND):
        rig.get(memory_id, reader)
    clients.disclose("reader", 10).result(30)
    later(rig, 11 / (24 * 60))
    assert rig.found("card for the boatyard", reader) == []


def test_the_grant_alone_and_the_yes_alone_give_nothing(rig: Rig, reader: Actor) -> None:
    memory_id = rig.store(CARD, space="home").memory_id
    with refused(Code.NOT_FOUND):
        rig.get(memory_id, reader)  # the grant without the yes
    clients = rig.engine.clients
    plain = rig.client("plain", "read", "write", HOME)
    refusal = error_of(clients.disclose("plain", 10))
    assert (refusal.code, "lacks the grant sensitive" in refusal.sentence) == (Code.INVALID_INPUT, True)
    rig.engine.authority.disclose_to(str(plain.client_id), 600)  # the yes without the grant, however it came
    with refused(Code.NOT_FOUND):
        rig.get(memory_id, plain)
    clients.disclose("reader", 10).result(30)
    assert rig.get(memory_id, reader).text == CARD
    clients.change_terms("reader", Change((), ("sensitive",))).result(30)
    with refused(Code.NOT_FOUND):
        rig.get(memory_id, reader)  # the grant was taken within the minutes
    assert clients.disclose("plain", 0).result(30) == 0


def test_the_yes_ends_with_a_pause_and_with_the_lock(rig: Rig, reader: Actor) -> None:
    memory_id = rig.store(CARD, space="home").memory_id
    clients = rig.engine.clients
    clients.disclose("reader", 10).result(30)
    clients.pause("reader").result(30)
    clients.resume("reader").result(30)
    with refused(Code.NOT_FOUND):
        rig.get(memory_id, reader)
    clients.disclose("reader", 10).result(30)
    rig.lock()
    rig.unlock()
    with refused(Code.NOT_FOUND):
        rig.get(memory_id, reader)


@pytest.mark.parametrize("minutes", [-1, 241])
def test_a_yes_is_for_a_few_minutes_only(rig: Rig, reader: Actor, minutes: int) -> None:
    with refused(Code.INVALID_INPUT):
        rig.engine.clients.disclose(reader.name, minutes)
    assert error_of(rig.engine.clients.disclose("nobody", 5)).code is Code.NOT_FOUND


def test_nothing_is_written_down_of_what_was_found(rig: Rig) -> None:
    memory_id = rig.store(CARD).memory_id
    extra = rig.value("SELECT extra FROM memories WHERE id = ?", memory_id)
    assert json.loads(str(extra)) == {"tier_by": "rules"}


def test_an_import_cannot_say_who_chose_its_tier(rig: Rig, tmp_path: Path) -> None:
    row = {"text": "The hall is green.", "kind": "fact", "tier_by": "owner", "extra": {"tier_by": "owner"}}
    rig.bring([row])
    assert rig.rows("SELECT extra ->> '$.tier_by', security_tier FROM memories") == [(None, "cleartext")]


def test_what_was_stored_before_is_protected_as_if_it_were_stored_now(rig: Rig) -> None:
    bare = "UPDATE memories SET security_tier = 'cleartext', extra = '{}' WHERE id = ?"
    ids = [rig.store(text).memory_id for text in (CARD, HEALTH, "The hall is green.")]
    rig.write(lambda tx: tx.run_many(bare, [(one,) for one in ids]))
    before = rig.dump()
    done = rig.engine.library.protect_found().result(30)
    assert (done.protected, done.looked_at, done.next) == (1, 3, None)
    assert [tier_of(rig, one) for one in ids] == [("confidential", "rules"), ("cleartext", None), ("cleartext", None)]
    rig.undo(done.step_id)
    assert differences(before, rig.dump()) == {}
    set_tier(rig, ids[0], SecurityTier.SENSITIVE)
    set_tier(rig, ids[0], SecurityTier.CLEARTEXT)
    again = rig.engine.library.protect_found().result(30)
    assert (again.protected, again.looked_at, again.step_id) == (0, 2, None)  # the person's word is not looked at


def test_the_owner_is_told_the_tier_that_a_memory_has_now(rig: Rig, reader: Actor) -> None:
    first = rig.store(CARD, request_id="a")
    assert first.protection == (SecurityTier.CONFIDENTIAL, frozenset({SensitiveType.CREDIT_CARD}))
    set_tier(rig, first.memory_id, SecurityTier.CLEARTEXT)
    again = rig.store(CARD, request_id="a")
    assert (again, again.protection) == (first, (SecurityTier.CLEARTEXT, frozenset()))
    assert rig.store("The boatyard opens at eight.", reader).protection is None
