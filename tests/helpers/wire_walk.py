"""A seeded walk over everything a caller can send: sound calls made from the protocol, and calls with wounds.

The calls are derived from `resources/protocol.json`, so a new method is walked as soon as it is listed there. Must not
do: look into the engine; know what a method answers beyond what the protocol says.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

PLANTED = "quinquagesima-Marzipanturm"
"""A word of the person's that no client may be told, and no call here holds."""

TOLD_BY = ("Traceback", '.py"', ".py:", "/home/", "/tmp/", "/root", "loci.sock", "sqlite", "Error(", PLANTED)
"""What an answer may never hold: where things lie, how the program is made, what is the person's."""

# Texts for places with a pattern; the first that fits is taken.
_SHAPED = ("lives_in", "discord", "read", "A" * 43)
_WORDS = ("lamp", "garden", "Graz", "Anna", "kettle", "the", "stands in", "likes", "blue", "Ümlaut", "旅", "7", "?")
_WOUNDS = (
    b'"', b"\\", b"{", b"}", b"[", b"]", b":", b",", b"null", b"NaN", b"1e999", b"\x00", b"\xff", b"\xed\xa0\x80",
    b"\\u0000", b"\\ud800", b"9" * 40, b"[" * 600, b'{"a":' * 40, b"\xef\xbb\xbf", b"\r", b"-0",
)  # fmt: skip
_HOSTILE: tuple[Any, ...] = (
    None, True, -1, 10**30, -0.0, 1e308, "", [], {}, [[]], {"": {}}, "\u202egnp.exe", "x" * 9000, "é" * 4097,
    "' OR 1=1 --", '" NEAR(a, b) *', "col:x", "\u200b" * 3000, "../../etc/passwd", "file:///etc/passwd",
    "<img src=file:///x>", "\x1b[31m", "</memory>", "9999-99-99", "0001-01-01", ["x"] * 500, "\U0010ffff", "a" * 129,
)  # fmt: skip
# Calls that go over the whole vault come seldom, so that a walk is of calls and not of consolidations.
_HEAVY = ("memory_run_consolidation", "memory_run_episode_cleanup")


class Walk:
    """Calls from a seed.

    Attributes:
        pool: ids that answers gave; calls name them now and then.
    """

    def __init__(self, document: Mapping[str, Any], seed: object, left_out: Sequence[str] = ()) -> None:
        """Make a walk.

        Args:
            document: the content of `resources/protocol.json`.
            seed: of all that follows.
            left_out: methods that are not called.
        """
        self._methods: Mapping[str, Any] = document["methods"]
        self._defs, self._forbidden = document["$defs"], document["forbidden"]
        self._dice = random.Random(repr(seed))
        self._names = [name for name in self._methods if name not in left_out]
        self._weights = [self._weight(name) for name in self._names]
        self.pool: list[str] = ["00000000-0000-7000-8000-000000000001"]

    def _weight(self, name: str) -> int:
        """How often a method is called: those a client may call most of all."""
        if name in _HEAVY:
            return 1
        return 4 if self._methods[name]["who"] == "owner" else 20

    # Sound

    def params(self, method: str) -> dict[str, Any]:
        """Parameters that the method's schema allows."""
        made = self._value(self._methods[method]["params"], 0)
        assert isinstance(made, dict)
        return made

    def _value(self, schema: Mapping[str, Any], depth: int, name: str = "") -> Any:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            schema = {**self._defs[name], **{key: value for key, value in schema.items() if key != "$ref"}}
        if name in ("id", "entity_id") or name.endswith("_id"):
            return self._dice.choice(self.pool) if name != "request_id" else f"r{self._dice.randrange(10**9)}"
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._dice.choice(schema["enum"])
        if "anyOf" in schema:
            return self._value(self._dice.choice(schema["anyOf"]), depth, name)
        kind = schema.get("type", "object")
        return self._of_kind(kind if isinstance(kind, str) else kind[0], schema, depth, name)

    def _of_kind(self, kind: str, schema: Mapping[str, Any], depth: int, name: str) -> Any:
        if kind == "string":
            return self._text(schema, name)
        if kind in ("integer", "number"):
            low, high = schema.get("minimum", 0), min(schema.get("maximum", 50), 2000)
            return self._dice.randint(int(low), int(high)) if kind == "integer" else self._dice.uniform(low, high)
        if kind == "boolean":
            return self._dice.random() < 0.5
        if kind == "array":
            count = self._dice.randint(schema.get("minItems", 0), min(schema.get("maxItems", 3), 3))
            return [self._value(schema.get("items", {"type": "string"}), depth + 1) for _ in range(count)]
        return self._object(schema, depth)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        known, needed = schema.get("properties", {}), schema.get("required", ())
        share = 0.3 if depth == 0 else 0.5
        made = {
            name: self._value(body, depth + 1, name)
            for name, body in known.items()
            if name in needed or self._dice.random() < share
        }
        if not known and isinstance(schema.get("additionalProperties"), dict) and self._dice.random() < 0.5:
            made["key"] = self._value(schema["additionalProperties"], depth + 1)
        return made

    def _text(self, schema: Mapping[str, Any], name: str) -> str:
        if "pattern" in schema:
            return next(text for text in _SHAPED if re.search(schema["pattern"], text))
        if name in ("time", "day", "since", "until", "as_of"):
            return self._dice.choice(("2026-01-31", "2024-02-29T10:00:00Z", "1999"))
        if name == "space_name":
            return self._dice.choice(("home", "home", "home", "GLOBAL", "attic"))
        words = " ".join(self._dice.choices(_WORDS, k=self._dice.randint(1, 6)))
        return words[: schema.get("maxLength", 8000)].strip() or "x"

    # Wounded

    def line(self, ident: int) -> bytes:
        """One line with its end; whole, wounded in its values, or in its bytes."""
        method = self._dice.choices(self._names, self._weights)[0]
        params, fate = self.params(method), self._dice.random()
        if 0.25 <= fate < 0.65:
            self._wound(params)
        body = {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}
        if fate > 0.98:
            body.pop(self._dice.choice(list(body)))
        line = json.dumps(body, ensure_ascii=self._dice.random() < 0.5).encode("utf-8", "surrogatepass")
        if 0.65 <= fate < 0.98:
            # The id stays whole: with another one the answer would be taken for that of another line.
            head = line.index(b'"method"')
            line = line[:head] + self._cut_into(line[head:])
        return line.replace(b"\n", b" ") + b"\n"

    def _wound(self, params: dict[str, Any]) -> None:
        kind, names = self._dice.randrange(6), list(params)
        if kind == 0 and names:
            del params[self._dice.choice(names)]
        elif kind == 1:
            params[self._dice.choice(("nothing", "id", "text", "a" * 500, "ключ", "\u202e"))] = self._hostile()
        elif kind == 2:
            params[self._dice.choice(self._forbidden)] = self._hostile()
        elif kind == 3 and names:
            params[self._dice.choice(names)] = _nested(self._dice.choice((5, 30, 200)))
        elif names:
            params[self._dice.choice(names)] = self._hostile()

    def _hostile(self) -> Any:
        return self._dice.choice(_HOSTILE)

    def _cut_into(self, line: bytes) -> bytes:
        body = bytearray(line)
        for _ in range(self._dice.choice((1, 1, 2, 4))):
            at, kind = self._dice.randrange(len(body) + 1), self._dice.randrange(5)
            if kind == 0 and body:
                body[min(at, len(body) - 1)] ^= 1 << self._dice.randrange(8)
            elif kind == 1:
                body[at:at] = self._dice.choice(_WOUNDS)
            elif kind == 2:
                del body[at : at + self._dice.choice((1, 2, 16))]
            elif kind == 3:
                body[at:at] = body[self._dice.randrange(len(body) + 1) :][: self._dice.choice((4, 64, 2000))]
            else:
                del body[at:]
        return bytes(body)


def _nested(depth: int) -> Any:
    made: Any = "x"
    for level in range(depth):
        made = [made] if level % 2 else {"a": made}
    return made


def wrong_with(answer: Mapping[str, Any]) -> str | None:
    """What an answer must not be.

    Args:
        answer: a message of the server's that is no notification.

    Returns:
        What is wrong, without the answer's words; None where nothing is.
    """
    told = json.dumps(answer, ensure_ascii=False)
    for word in TOLD_BY:
        if word in told:
            return f"it tells {word!r}"
    if "error" not in answer:
        return None if answer.keys() == {"jsonrpc", "id", "result"} else "it has other members"
    error = answer["error"]
    if answer.keys() != {"jsonrpc", "id", "error"} or error.keys() != {"code", "message", "data"}:
        return "an error with other members"
    if not error["data"].keys() <= {"code", "retry_after"}:
        return "an error with more data"
    if not re.fullmatch(r"E\d{4}", error["data"]["code"]) or error["data"]["code"] == "E5007":
        return f"an error that is none of Loci's own: {error['data']['code']}"
    return None if 0 < len(error["message"]) < 400 else "an error that is no sentence"
