"""Handshake, sessions, and the limits on searches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ipc_peers import code_of
from ipc_values import START_MS, make_client

from core.errors import Code, LociError
from core.ipc.protocol.messages import RateLimitedError
from core.ipc.protocol.sessions import Handshake, client_session
from core.ipc.socket.limits import SearchLimits
from core.security.handshake import client_mac, decode_value, encode_value, server_proof
from core.types.clients import ClientRecord
from core.types.clock import ManualClock
from core.types.values import OWNER_ACTOR, Actor

NC = bytes(range(32))

VAULT_ID = bytes(range(16))


class Book:
    """Clients by name."""

    def __init__(self, *records: ClientRecord) -> None:
        self.records = {record.name: record for record in records}

    def __call__(self, name: str) -> ClientRecord | None:
        return self.records.get(name)


def mac_for(token: bytes, hello: dict[str, str]) -> str:
    return encode_value(client_mac(token, NC, decode_value(hello["nonce"], 32), VAULT_ID))


def test_both_sides_prove() -> None:
    record = make_client("plug")
    handshake = Handshake(VAULT_ID, Book(record))
    hello = handshake.answer_hello("plug", encode_value(NC) + "=")
    assert decode_value(hello["vault"], 16) == VAULT_ID
    ns = decode_value(hello["nonce"], 32)
    assert decode_value(hello["proof"], 32) == server_proof(record.token, NC, ns, VAULT_ID)
    session = handshake.answer_auth(mac_for(record.token, hello))
    assert session.record is record
    assert session.actor == Actor("client", "id-plug", "plug")


@pytest.mark.parametrize("state", ["unknown", "paused", "revoked", "wrong token", "other vault"])
def test_who_is_refused_sees_the_same(state: str) -> None:
    record = make_client("plug")
    token, vault, book = record.token, VAULT_ID, Book(record)
    if state == "unknown":
        book = Book()
    elif state == "paused":
        book = Book(replace(record, paused=True))
    elif state == "revoked":
        book = Book(replace(record, revoked=True))
    elif state == "wrong token":
        token = b"x" * 32
    else:
        vault = b"v" * 16
    handshake = Handshake(VAULT_ID, book)
    hello = handshake.answer_hello("plug", encode_value(NC))
    assert {key: len(value) for key, value in hello.items()} == {"nonce": 43, "vault": 22, "proof": 43}
    mac = client_mac(token, NC, decode_value(hello["nonce"], 32), vault)
    with pytest.raises(LociError) as caught:
        handshake.answer_auth(encode_value(mac))
    assert caught.value.code is Code.UNAUTHENTICATED
    assert caught.value.sentence == "This client is not paired with this vault, or its proof is wrong."


def test_nonces_are_used_once() -> None:
    record = make_client("plug")
    handshake = Handshake(VAULT_ID, Book(record))
    hello = handshake.answer_hello("plug", encode_value(NC))
    right = mac_for(record.token, hello)
    assert code_of(lambda: handshake.answer_auth(encode_value(b"w" * 32))) is Code.UNAUTHENTICATED
    assert code_of(lambda: handshake.answer_auth(right)) is Code.UNAUTHENTICATED
    again = handshake.answer_hello("plug", encode_value(NC))
    assert again["nonce"] != hello["nonce"]
    assert code_of(lambda: handshake.answer_auth(right)) is Code.UNAUTHENTICATED


def test_revoked_between_hello_and_auth() -> None:
    record = make_client("plug")
    book = Book(record)
    handshake = Handshake(VAULT_ID, book)
    hello = handshake.answer_hello("plug", encode_value(NC))
    book.records["plug"] = replace(record, revoked=True)
    assert code_of(lambda: handshake.answer_auth(mac_for(record.token, hello))) is Code.UNAUTHENTICATED


@pytest.mark.parametrize("nonce", ["", "AA", "!" * 43, encode_value(NC + b"x"), "A" * 42 + "B"])
def test_nonces_of_another_form(nonce: str) -> None:
    assert code_of(lambda: Handshake(VAULT_ID, Book()).answer_hello("x", nonce)) is Code.MALFORMED_MESSAGE


def test_only_the_name_owner_makes_an_owner() -> None:
    owner = make_client("@owner")
    handshake = Handshake(VAULT_ID, Book(owner))
    session = handshake.answer_auth(mac_for(owner.token, handshake.answer_hello("@owner", encode_value(NC))))
    assert session.actor == OWNER_ACTOR
    assert session.has_any_grant("anything")


def test_grants_and_spaces() -> None:
    session = client_session(make_client("plug", ["read", "space:work"]))
    assert session.has_any_grant("write", "read")
    assert not session.has_any_grant("write", "propose")
    assert [session.may_see(space) for space in ("GLOBAL", "client:plug", "work", "home", "client:other")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert client_session(make_client("plug", ["read", "all_spaces"])).may_see("home")


def test_a_session_follows_its_client() -> None:
    record = make_client("plug")
    book, session = Book(record), client_session(record)
    assert session.is_still_valid(book)
    book.records["plug"] = replace(record, limit_minute=99)
    assert session.refresh_record(book).record.limit_minute == 99
    book.records["plug"] = replace(record, token=b"n" * 32)
    assert not session.is_still_valid(book)
    book.records.clear()
    assert not session.is_still_valid(book)


def test_the_minute_slides() -> None:
    clock = ManualClock(START_MS)
    limits = SearchLimits(clock)
    for _ in range(20):
        limits.spend_search("a", 20, 200)
        clock.advance(1000)
    with pytest.raises(RateLimitedError) as caught:
        limits.spend_search("a", 20, 200)
    assert caught.value.code is Code.RATE_LIMITED
    assert caught.value.retry_after == 40
    limits.spend_search("b", 20, 200)
    clock.advance(39_999)
    assert code_of(lambda: limits.spend_search("a", 20, 200)) is Code.RATE_LIMITED
    clock.advance(1)
    limits.spend_search("a", 20, 200)
    assert code_of(lambda: limits.spend_search("a", 20, 200)) is Code.RATE_LIMITED


def test_the_session_has_a_limit_of_its_own() -> None:
    clock = ManualClock(START_MS)
    limits = SearchLimits(clock)
    for _ in range(200):
        limits.spend_search("a", 20, 200)
        clock.advance(60_000)
    with pytest.raises(RateLimitedError, match="200 times a session"):
        limits.spend_search("a", 20, 200)
    clock.advance(24 * 3_600_000 - 200 * 60_000)
    limits.spend_search("a", 20, 200)


def test_no_limit() -> None:
    limits = SearchLimits(ManualClock(START_MS))
    for _ in range(1000):
        limits.spend_search("a", None, None)
    limits.spend_search("a", 1, None)
    assert code_of(lambda: limits.spend_search("a", 1, None)) is Code.RATE_LIMITED
