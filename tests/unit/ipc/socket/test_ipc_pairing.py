"""The one-time code and the person's answer."""

from __future__ import annotations

import asyncio

import pytest
from ipc_values import START_MS

from core.errors import Code, LociError, UserError
from core.ipc.socket.pairing import Answer, Granted, Invitation, PairingDesk, PairRequest, usable_name
from core.types.clients import Before
from core.types.clock import ManualClock


class Person:
    """Answers as told and remembers what was asked."""

    def __init__(self, allow: Answer = True) -> None:
        self.allow = allow
        self.asked: list[PairRequest] = []

    async def __call__(self, request: PairRequest) -> Answer:
        self.asked.append(request)
        return self.allow


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START_MS)


async def refused(desk: PairingDesk, code: str, name: str = "plug") -> str:
    with pytest.raises(LociError) as caught:
        await desk.redeem_code(name, code, None, "")
    assert caught.value.code is Code.PAIRING_REFUSED
    return caught.value.sentence


async def test_a_code_is_redeemed_once(clock: ManualClock) -> None:
    desk, person = PairingDesk(clock), Person()
    invitation = desk.open(person)
    assert len(invitation.code) == 16
    granted = await desk.redeem_code("plug", invitation.code, None, "python3 17")
    assert granted == Granted("plug", ("read", "propose"), None, invitation)
    assert person.asked == [PairRequest("plug", "plug", ("read", "propose"), "python3 17", invitation.code[-4:])]
    await refused(desk, invitation.code)
    assert len(person.asked) == 1


async def test_the_way_a_code_is_typed_does_not_matter(clock: ManualClock) -> None:
    desk = PairingDesk(clock)
    code = desk.open(Person()).code
    typed = code.lower().replace("o", "0").replace("i", "1").replace("b", "8")
    assert await desk.redeem_code("plug", f" {typed[:4]}-{typed[4:8]} {typed[8:]}", None, "")


async def test_nobody_is_asked_without_an_open_code(clock: ManualClock) -> None:
    desk = PairingDesk(clock)
    closed = await refused(desk, "A" * 16)
    person = Person()
    invitation = desk.open(person)
    assert await refused(desk, "A" * 16) == closed
    assert await refused(desk, "ключ🔑") == closed
    assert await refused(desk, "") == closed
    assert await refused(desk, invitation.code) == closed  # three wrong ones killed it
    assert person.asked == []
    with pytest.raises(LociError):
        await invitation.outcome


async def test_a_code_lives_120_seconds(clock: ManualClock) -> None:
    desk = PairingDesk(clock)
    invitation = desk.open(Person())
    clock.advance(119_999)
    desk.end_expired()
    assert not invitation.outcome.done()
    clock.advance(1)
    desk.end_expired()
    await refused(desk, invitation.code)
    with pytest.raises(LociError):
        await invitation.outcome


async def test_a_new_code_ends_the_old(clock: ManualClock) -> None:
    desk = PairingDesk(clock)
    old, new = desk.open(Person()), desk.open(Person())
    assert old.code != new.code
    with pytest.raises(LociError):
        await old.outcome
    assert (await desk.redeem_code("plug", new.code, None, "")).name == "plug"


async def test_no_is_remembered_until_the_person_names_it(clock: ManualClock) -> None:
    desk, no = PairingDesk(clock), Person(allow=False)
    await refused(desk, desk.open(no).code)
    assert len(no.asked) == 1
    yes = Person()
    await refused(desk, desk.open(yes).code)
    assert yes.asked == []
    granted = await desk.redeem_code("whatever", desk.open(yes, name="plug").code, None, "")
    assert granted.name == "plug"


async def test_a_person_who_does_not_answer_says_no(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.ipc.socket.pairing.ANSWER_S", 0.01)

    async def away(_request: PairRequest) -> bool:
        await asyncio.Event().wait()
        return True

    desk = PairingDesk(clock)
    invitation = desk.open(away)
    await refused(desk, invitation.code)
    with pytest.raises(UserError, match="You did not answer in time"):
        await invitation.outcome


async def test_a_side_that_goes_is_not_remembered_as_a_no(clock: ManualClock) -> None:
    desk, asked = PairingDesk(clock), asyncio.Event()

    async def slow(_request: PairRequest) -> bool:
        asked.set()
        await asyncio.Event().wait()
        return True

    invitation: Invitation = desk.open(slow)
    redeeming = asyncio.create_task(desk.redeem_code("plug", invitation.code, None, ""))
    await asked.wait()
    redeeming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await redeeming
    with pytest.raises(LociError):
        await invitation.outcome
    assert (await desk.redeem_code("plug", desk.open(Person()).code, None, "")).name == "plug"


async def test_the_person_is_told_of_a_wrong_code_when_the_time_is_over(clock: ManualClock) -> None:
    desk = PairingDesk(clock)
    for tried, told in ((None, "The time was over"), ("A" * 16, "A wrong code was given")):
        invitation = desk.open(Person())
        if tried is not None:
            await refused(desk, tried)
        clock.advance(120_000)
        desk.end_expired()
        with pytest.raises(UserError, match=told):
            await invitation.outcome


@pytest.mark.parametrize(
    ("offered", "wanted", "got"),
    [
        (None, None, ("read", "propose")),
        (None, ["read", "write", "read"], ("read", "write")),
        (["read"], ["read", "write"], ("read",)),
        (["read", "space:work"], None, ("read", "space:work")),
    ],
)
async def test_the_person_bounds_the_grants(
    clock: ManualClock, offered: list[str] | None, wanted: list[str] | None, got: tuple[str, ...]
) -> None:
    desk = PairingDesk(clock)
    invitation = desk.open(Person(), grants=offered)
    assert (await desk.redeem_code("plug", invitation.code, wanted, "")).grants == got


@pytest.mark.parametrize(
    ("answer", "got"),
    [
        (("read",), ("read",)),
        (("read", "space:home", "space:home"), ("read", "space:home")),
        (("read", "speak_for_user", "all_spaces"), ("read",)),
    ],
)
async def test_a_yes_can_give_less_and_more_spaces_but_no_other_deeds(
    clock: ManualClock, answer: tuple[str, ...], got: tuple[str, ...]
) -> None:
    desk = PairingDesk(clock)
    invitation = desk.open(Person(answer))
    assert (await desk.redeem_code("plug", invitation.code, ["read", "curate"], "")).grants == got


async def test_a_yes_to_nothing_is_a_no(clock: ManualClock) -> None:
    desk = PairingDesk(clock)
    invitation = desk.open(Person(("all_spaces",)))
    await refused(desk, invitation.code)
    with pytest.raises(UserError, match="You said no"):
        await invitation.outcome


class Taken:
    """Every name is somebody's."""

    async def look_up(self, _name: str) -> Before:
        return Before(taken=True)

    async def add(self, _name: str) -> None:
        raise AssertionError


async def test_a_name_in_use_is_told_to_the_person_alone(clock: ManualClock) -> None:
    desk, person = PairingDesk(clock, Taken()), Person()
    wrong = await refused(desk, "A" * 16)
    invitation = desk.open(person)
    assert await refused(desk, invitation.code) == wrong
    assert person.asked == []
    with pytest.raises(UserError, match="plug is paired already"):
        await invitation.outcome


async def test_nothing_in_common_is_refused_without_a_question(clock: ManualClock) -> None:
    desk, person = PairingDesk(clock), Person()
    invitation = desk.open(person, grants=["read"])
    with pytest.raises(LociError):
        await desk.redeem_code("plug", invitation.code, ["curate"], "")
    assert person.asked == []


async def test_hostile_names_are_shown_escaped_and_cut(clock: ManualClock) -> None:
    desk, person = PairingDesk(clock), Person()
    granted = await desk.redeem_code("Evil\n\u202e<b>" + "x" * 1_000_000, desk.open(person).code, None, "a\x1b[31m")
    (asked,) = person.asked
    assert asked.client.startswith("Evil\\u000a\\u202e\\u003cb\\u003e")
    assert len(asked.client) == 40
    assert asked.asked_by == "a\\u001b[31m"
    assert granted.name == asked.name == "Evil-b-" + "x" * 33


@pytest.mark.parametrize("text", ["", "@owner", "   ", "日本語", "..", "\u202e", "a" * 99, "x\0y"])
def test_names_become_usable(text: str) -> None:
    found = usable_name(text)
    assert 1 <= len(found) <= 40
    assert found[0].isalnum()
    assert not found.startswith("@")


async def test_the_person_is_told_how_it_ended_and_the_client_is_not(clock: ManualClock) -> None:
    desk = PairingDesk(clock)
    invitation = desk.open(Person(allow=False))
    told_client = await refused(desk, invitation.code)
    with pytest.raises(LociError, match="You said no; nothing was paired"):
        await invitation.outcome
    assert "said no" not in told_client


async def test_what_was_asked_for_in_vain_is_shown_to_the_person(clock: ManualClock) -> None:
    desk, person = PairingDesk(clock), Person()
    await desk.redeem_code("plug", desk.open(person, grants=["read"]).code, ["read", "curate", "all_spaces"], "")
    assert person.asked[0].withheld == ("curate", "all_spaces")
