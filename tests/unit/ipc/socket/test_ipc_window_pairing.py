"""Pairing from a window in the engine's own process: three futures, and every way it can end."""

from __future__ import annotations

from concurrent.futures import CancelledError as Dropped
from concurrent.futures import ThreadPoolExecutor

import pytest
from ipc_peers import code_of
from ipc_served import Served, client_names

from core.errors import Code, LociError
from core.ipc.socket.pairing import WindowPairing, failed_turn, no_socket_error
from core.types.clients import PairingEnd, PairingOutcome


def port_of(served: Served) -> WindowPairing:
    port = served.server.pairing
    assert port is not None
    return port


def denied(served: Served) -> set[str]:
    """The names the person said no to."""
    return {one.name_key for one in served.engine.clients.list_denied().result(60)}


def redeem(served: Served, code: str, name: str = "plug") -> Code | None:
    client = served.client()
    return code_of(lambda: client.call("pair", {"client": name, "code": code}))


def test_a_yes_makes_a_client(served: Served) -> None:
    port = port_of(served)
    turn = port.open_pairing(None, ("read", "space:work"))
    shown = turn.code.result(60)
    assert (len(shown.code), shown.expires_s) == (16, 120.0)
    with ThreadPoolExecutor(1) as pool:
        redeemed = pool.submit(redeem, served, shown.code, "plug\n\u202e")
        asked = turn.asked.result(60)
        assert (asked.name, asked.code_end, asked.answer_s) == ("plug", shown.code[-4:], 120.0)
        assert "\n" not in asked.client
        assert "\u202e" not in asked.client
        assert asked.grants == ("read", "space:work")
        assert port.answer_question("another", allow=True).result(60) is False
        assert port.answer_question(asked.id, allow=True).result(60) is True
        assert redeemed.result(60) is None
    ended = turn.ended.result(60)
    assert (ended.outcome, ended.name) == (PairingOutcome.PAIRED, "plug")
    assert port.answer_question(asked.id, allow=True).result(60) is False
    assert served.engine.clients.read_card("plug").result(60).asked_by


def test_a_no_is_remembered_and_told(served: Served) -> None:
    port = port_of(served)
    turn = port.open_pairing(None, None)
    with ThreadPoolExecutor(1) as pool:
        redeemed = pool.submit(redeem, served, turn.code.result(60).code)
        port.answer_question(turn.asked.result(60).id, allow=False)
        assert redeemed.result(60) is Code.PAIRING_REFUSED
    assert turn.ended.result(60) == PairingEnd(PairingOutcome.DENIED, "plug")
    assert denied(served) == {"plug"}
    again = port.open_pairing(None, None)
    assert redeem(served, again.code.result(60).code) is Code.PAIRING_REFUSED
    assert again.ended.result(60) == PairingEnd(PairingOutcome.DENIED_BEFORE, "plug")
    with pytest.raises(Dropped):
        again.asked.result(60)
    named = port.open_pairing("plug", None)
    with ThreadPoolExecutor(1) as pool:
        redeemed = pool.submit(redeem, served, named.code.result(60).code)
        port.answer_question(named.asked.result(60).id, allow=True)
        assert redeemed.result(60) is None


def test_what_the_person_chooses_is_what_it_gets(served: Served) -> None:
    port = port_of(served)
    turn, client = port.open_pairing(None, None), served.client()
    with ThreadPoolExecutor(1) as pool:
        params = {"client": "plug", "code": turn.code.result(60).code, "grants": ["read", "curate", "space:work"]}
        redeemed = pool.submit(lambda: client.call("pair", params))
        asked = turn.asked.result(60)
        port.answer_question(asked.id, allow=True, grants=("read", "write", "all_spaces", "space:home")).result(60)
        assert redeemed.result(60)["client"] == "plug"
    made = served.record()
    assert (made.grants, made.spaces) == (frozenset({"read"}), ("home",))
    assert sorted(turn.ended.result(60).grants) == ["read", "space:home"]


def test_who_is_not_answered_in_time_was_not_denied(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.ipc.socket.pairing.ANSWER_S", 0.05)
    turn = port_of(served).open_pairing(None, None)
    assert redeem(served, turn.code.result(60).code) is Code.PAIRING_REFUSED
    assert turn.ended.result(60) == PairingEnd(PairingOutcome.UNANSWERED, "plug")
    assert denied(served) == set()


def test_leaving_while_it_asks_is_no_remembered_no(served: Served) -> None:
    port = port_of(served)
    turn = port.open_pairing(None, None)
    with ThreadPoolExecutor(1) as pool:
        redeemed = pool.submit(redeem, served, turn.code.result(60).code)
        turn.asked.result(60)
        port.cancel_pairing().result(60)
        assert redeemed.result(60) is Code.PAIRING_REFUSED
    assert turn.ended.result(60).outcome is PairingOutcome.CANCELLED
    assert denied(served) == set()


def test_a_redeemer_that_goes_is_given_up_and_nobody_is_made(served: Served) -> None:
    port = port_of(served)
    turn, client = port.open_pairing(None, None), served.client()
    with ThreadPoolExecutor(1) as pool:
        params = {"client": "plug", "code": turn.code.result(60).code}
        redeemed = pool.submit(lambda: code_of(lambda: client.call("pair", params, timeout_s=0.2)))
        asked = turn.asked.result(60)
        redeemed.result(60)
    client.close()
    assert turn.ended.result(60).outcome is PairingOutcome.FAILED
    assert port.answer_question(asked.id, allow=True).result(60) is False
    assert (client_names(served.engine), denied(served)) == ([], set())


def test_a_lock_while_it_asks_ends_the_question_on_both_sides(served: Served) -> None:
    port = port_of(served)
    turn = port.open_pairing(None, None)
    with ThreadPoolExecutor(1) as pool:
        redeemed = pool.submit(redeem, served, turn.code.result(60).code)
        asked = turn.asked.result(60)
        served.rig.lock()
        assert redeemed.result(60) is Code.VAULT_LOCKED
    assert turn.ended.result(60).outcome is PairingOutcome.CANCELLED
    assert port.answer_question(asked.id, allow=True).result(60) is False


def test_a_name_in_use_is_refused_before_anybody_is_asked(served: Served) -> None:
    served.pair("plug")
    for name in (None, "plug"):
        turn = port_of(served).open_pairing(name, None)
        assert redeem(served, turn.code.result(60).code, "PLUG") is Code.PAIRING_REFUSED
        assert turn.ended.result(60) == PairingEnd(PairingOutcome.TAKEN, name or "PLUG")
        assert turn.asked.cancelled()


def test_who_comes_back_under_a_revoked_name_is_told_of(served: Served) -> None:
    served.pair("gone")
    served.engine.clients.revoke("gone").result(60)
    port = port_of(served)
    turn = port.open_pairing(None, None)
    with ThreadPoolExecutor(1) as pool:
        redeemed = pool.submit(redeem, served, turn.code.result(60).code, "gone")
        asked = turn.asked.result(60)
        assert asked.former
        port.answer_question(asked.id, allow=False)
        redeemed.result(60)


def test_every_other_end_has_its_word(served: Served) -> None:
    port = port_of(served)
    first, second = port.open_pairing(None, None), port.open_pairing(None, None)
    assert first.ended.result(60).outcome is PairingOutcome.REPLACED
    second.code.result(60)
    for _ in range(3):
        assert redeem(served, "A" * 16) is Code.PAIRING_REFUSED
    assert second.ended.result(60).outcome is PairingOutcome.WRONG_CODES
    third = port.open_pairing(None, None)
    shown = third.code.result(60)
    assert shown.missed() == 0
    redeem(served, "A" * 16)
    assert shown.missed() == 1  # while the code stands
    served.advance(120_000)
    assert third.ended.result(60) == PairingEnd(PairingOutcome.EXPIRED, missed=1)
    fourth = port.open_pairing(None, None)
    fourth.code.result(60)
    served.rig.lock()
    assert fourth.ended.result(60).outcome is PairingOutcome.CANCELLED


def test_what_cannot_be_opened_says_why(served: Served) -> None:
    port = port_of(served)
    for name, code in (("a\nb", Code.INVALID_INPUT), ("ok", Code.VAULT_LOCKED)):
        if code is Code.VAULT_LOCKED:
            served.rig.lock()
        turn = port.open_pairing(name, None)
        with pytest.raises(LociError) as caught:
            turn.code.result(60)
        assert caught.value.code is code
        assert turn.ended.result(60).outcome is PairingOutcome.FAILED
        assert turn.asked.cancelled()
    assert failed_turn(no_socket_error()).code.exception(60) is not None


def test_a_window_that_went_is_not_waited_for(served: Served) -> None:
    turn = port_of(served).open_pairing(None, None)
    assert turn.code.cancel() or turn.code.done()
    turn.asked.cancel()
    turn.ended.cancel()
    port_of(served).cancel_pairing().result(60)
    assert port_of(served).open_pairing(None, None).code.result(60).code
