"""Strict JSON, requests, answers and errors as they cross the wire."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from core.errors import (
    BugError,
    CancelledError,
    Code,
    EnvironmentFaultError,
    IntegrityError,
    PreconditionError,
    UserError,
)
from core.ipc.protocol.messages import (
    BadMessage,
    RateLimitedError,
    check_message_text,
    encode_message,
    error_from_json,
    escape_text,
    make_failure,
    parse_message,
    parse_request_line,
)

GOOD = b'{"jsonrpc":"2.0","id":1,"method":"health","params":{}}'


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"", "JSON"),
        (b"[]", "object"),
        (b"null", "object"),
        (b"17", "object"),
        (b'{"a":1,"a":2}', "twice"),
        (b'{"a":{"b":1,"b":1}}', "twice"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":-Infinity}', "NaN"),
        (b'{"a":1e999}', "too large"),
        (b'{"a":12345678901234567890}', "digits"),
        (b'{"a":-' + b"9" * 100_000 + b"}", "digits"),
        (b'{"a":"\\u0000"}', "NUL"),
        (b'{"\\u0000":1}', "NUL"),
        (b'{"a":"\x00"}', "JSON"),
        (b'{"a":"\\ud800"}', "half of a character"),
        (b'{"a":["\\udc00x"]}', "half of a character"),
        (b'{"a":"\xff"}', "UTF-8"),
        (b'{"a":"\xed\xa0\x80"}', "UTF-8"),
        (b'\xef\xbb\xbf{"a":1}', "JSON"),
        (b"\xff\xfe{\x00}\x00", "UTF-8"),
        (b"[" * 100_000, "deeper"),
        (b'{"a":' * 17 + b"1" + b"}" * 17, "deeper"),
        (b'{"a":"', "JSON"),
        (b'{"a":"' + b'\\"' * 100_000, "JSON"),
        (b"{} {}", "JSON"),
        (b"{'a':1}", "JSON"),
    ],
)
def test_refused_without_the_text(line: bytes, word: str) -> None:
    with pytest.raises(BadMessage) as caught:
        parse_message(line)
    assert caught.value.code is Code.MALFORMED_MESSAGE
    assert word in caught.value.sentence
    assert caught.value.__cause__ is None
    assert len(caught.value.sentence) < 100


def test_what_is_allowed() -> None:
    assert parse_message('{"a":[1,-1.5,true,null,"é\U0001f600"],"b":{}}\r'.encode()) == {
        "a": [1, -1.5, True, None, "é\U0001f600"],
        "b": {},
    }
    assert parse_message(b'{"a":"\\ud83d\\ude00"}') == {"a": "\U0001f600"}
    assert parse_message(b'{"a":9223372036854775807}') == {"a": 2**63 - 1}
    assert parse_message(b'{"a":' * 16 + b'"[[[[[[[[["' + b"}" * 16)


def test_texts_of_a_tree_are_checked() -> None:
    check_message_text({"a": ["ok", {"b": "fine"}]})
    with pytest.raises(BadMessage, match="NUL"):
        check_message_text({"a": ["ok", ("x\0",)]})


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"jsonrpc": "1.0"}, "2.0"),
        ({"id": None}, "id"),
        ({"id": True}, "id"),
        ({"id": 1.5}, "id"),
        ({"id": "x" * 65}, "id"),
        ({"method": 7}, "method"),
        ({"params": []}, "object"),
        ({"extra": 1}, "nothing else"),
    ],
)
def test_requests_that_are_none(change: dict[str, object], word: str) -> None:
    with pytest.raises(BadMessage, match=word):
        parse_request_line(json.dumps({**json.loads(GOOD), **change}).encode())


def test_a_request() -> None:
    found = parse_request_line(GOOD)
    assert (found.ident, found.method, found.params) == (1, "health", {})
    assert parse_request_line(b'{"jsonrpc":"2.0","id":"a","method":"m"}').params == {}


def test_the_id_of_an_unfit_request_is_given_back() -> None:
    with pytest.raises(BadMessage) as caught:
        parse_request_line(b'{"jsonrpc":"2.0","id":9,"method":"m","params":1}')
    body = make_failure(caught.value.ident, caught.value)
    assert (body["id"], body["error"]["code"]) == (9, -32600)
    assert make_failure(None, BadMessage("x"))["error"]["code"] == -32700


@pytest.mark.parametrize(
    ("error", "family"),
    [
        (UserError(Code.NOT_FOUND, "No."), UserError),
        (EnvironmentFaultError(Code.DISK_FULL, "Full."), EnvironmentFaultError),
        (IntegrityError(Code.VAULT_DAMAGED, "Hurt."), IntegrityError),
        (CancelledError(), CancelledError),
    ],
)
def test_errors_come_back_as_what_they_were(error: UserError, family: type) -> None:
    back = error_from_json(make_failure(1, error)["error"])
    assert type(back) is family
    assert (back.code, back.sentence) == (error.code, error.sentence)
    assert back.exit_code == error.exit_code


def test_retry_after_crosses() -> None:
    back = error_from_json(make_failure(1, RateLimitedError("Wait.", 12.3456))["error"])
    assert isinstance(back, RateLimitedError)
    assert back.retry_after == 12.346


@pytest.mark.parametrize("body", [None, 3, {}, {"data": 1}, {"data": {"code": "E9999"}}])
def test_answers_of_no_known_shape(body: object) -> None:
    assert isinstance(error_from_json(body), BugError)


def test_a_line_is_one_line() -> None:
    assert encode_message({"a": "x\ny\u2028"}).count(b"\n") == 1
    with pytest.raises(ValueError, match="JSON"):
        encode_message({"a": float("nan")})


def test_shown_escapes_and_cuts() -> None:
    assert escape_text("Claude Desktop") == "Claude Desktop"
    assert escape_text("a\nb\u202e<b>") == "a\\u000ab\\u202e\\u003cb\\u003e"
    assert escape_text("a\u00a0b\u200b") == "a\\u00a0b\\u200b"
    assert len(escape_text("x" * 1_000_000)) == 40
    assert escape_text("x" + "\n" * 50 + "y").endswith("a…")
    assert escape_text("x" * 38 + "\ny") == "x" * 38 + "…"


def test_an_answer_may_hold_integers_of_any_length() -> None:
    line = b'{"extra":' + b"9" * 4000 + b"}"
    assert parse_message(line, is_reply=True) == {"extra": int("9" * 4000)}
    with pytest.raises(BadMessage, match="digits"):
        parse_message(line)


def test_a_caller_encodes_strictly() -> None:
    assert encode_message({"a": "\ud800"}) == b'{"a":"?"}\n'
    with pytest.raises(UnicodeEncodeError):
        encode_message({"a": "\ud800"}, strict=True)


@pytest.mark.parametrize(
    ("line", "ident"),
    [
        (b'{"id":9,"params":{"text":"a\\u0000"}}', 9),
        (b'{"params":{"text":"a\\ud800b"},"id":"s"}', "s"),
        (b'{"id":9,"params":{"a":1,"a":2}}', 9),
        (b'{"id":9,"params":{"a":NaN}}', 9),
        (b'{"id":9,"params":{"a":1e999}}', 9),
        (b'{"id":9,"params":' + b'{"a":' * 17 + b"1" + b"}" * 18, 9),
        (b'{"id":9,"id":9}', None),
        (b'{"id":[9],"a":NaN}', None),
        (b'{"id":true,"a":NaN}', None),
        (b'{"id":' + b"9" * 20 + b"}", None),
        (b'{"id":"\\ud800"}', None),
        (b'{"id":"' + b"x" * 65 + b'","a":NaN}', None),
        (b'[{"id":9}]', None),
        (b'[["id",9]]', None),
        (b'{"id":9', None),
        (b'{"id":9,"a":' + b"[" * 100_000, None),
    ],
)
def test_the_id_of_a_refused_line_is_read_where_it_can_be(line: bytes, ident: object) -> None:
    with pytest.raises(BadMessage) as caught:
        parse_request_line(line)
    assert caught.value.ident == ident
    assert caught.value.__cause__ is None


def test_what_waits_for_the_person_is_not_tried_again_after_a_time() -> None:
    told = make_failure(1, UserError(Code.RATE_LIMITED, "500 questions wait for the person already."))["error"]
    assert told["data"] == {"code": "E2003"}
    back = error_from_json(told)
    assert (type(back), back.code) == (UserError, Code.RATE_LIMITED)
    reference = json.loads(files("resources").joinpath("reference", "socket.json").read_text(encoding="utf-8"))
    assert "waits for the person" in str(reference["errors"]["E2003"])


def test_a_refusal_as_things_stand_is_told_from_a_wrong_value() -> None:
    """Both have the code that clients know; the number of the error keeps the command line's exit code apart."""
    for error, number, exit_code in (
        (UserError(Code.INVALID_INPUT, "That is no day."), -32602, 2),
        (PreconditionError("That was decided already."), -32000, 1),
    ):
        body = make_failure(1, error)["error"]
        assert (body["code"], body["data"]["code"]) == (number, "E4005")
        back = error_from_json(body)
        assert (type(back), back.code, back.sentence, back.exit_code) == (
            type(error), Code.INVALID_INPUT, error.sentence, exit_code,
        )  # fmt: skip
