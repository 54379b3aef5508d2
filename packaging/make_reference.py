"""Write docs/socket-reference.md and docs/openrpc.json: all that a client needs, for people and for programs.

    .venv/bin/python packaging/make_reference.py            write them
    .venv/bin/python packaging/make_reference.py --check    end with 1 where one of them is out of date

Run it after every change of `resources/protocol.json` or `resources/reference/socket.json`, or of a number that the
page tells. Must not do: say anything of a method that is not in its schema.
"""

from __future__ import annotations

import base64
import hmac
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.config.options import ClientOptions, Options
from core.errors import Code, LociError
from core.ipc.protocol.contract import errors_of_method
from core.ipc.protocol.messages import make_failure
from core.ipc.socket.dispatch import CLIENT_ITEMS
from core.ipc.socket.limits import Caps
from example_values import Examples, Schema

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "socket-reference.md"
OPENRPC = ROOT / "docs" / "openrpc.json"
_OPENRPC_VERSION = "1.3.2"
_PROTOCOL = ROOT / "resources" / "protocol.json"
_WORDS = ROOT / "resources" / "reference" / "socket.json"
_WHO = {"anyone": "before the handshake is done", "client": "clients and the owner", "owner": "the owner alone"}
_EFFECTS = {
    "read": "reads; it is given up when the caller goes",
    "write": "writes; it is finished even when the caller goes",
    "session": "changes the connection",
}
_RULES = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "maxProperties": "at most {} members",
    "pattern": "of the form `{}`",
}


class Page:
    """The page of one document of schemas."""

    def __init__(self, protocol: Mapping[str, Any], words: Mapping[str, Any]) -> None:
        """Make a page.

        Args:
            protocol: the content of `resources/protocol.json`.
            words: the content of `resources/reference/socket.json`.
        """
        self._protocol, self._words = protocol, words
        self._examples = Examples(protocol["$defs"], words["examples"])

    def text(self) -> str:
        """The whole page, Markdown."""
        parts = [*self._head(), *self._handshake(), *self._limits(), *self._errors(), *self._notifications()]
        groups = (("Methods of clients", "client"), ("Methods of the owner's channel", "owner"))
        for title, who in groups:
            parts += [f"## {title}", ""]
            for name, method in self._protocol["methods"].items():
                if method["who"] == who:
                    parts += self._method(name, method)
        return "\n".join([*parts, *self._shapes()]).rstrip() + "\n"

    def example(self, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """A call of a method and its answer.

        Returns:
            The request and the reply, whole messages.
        """
        method = self._protocol["methods"][name]
        params = self._params(name, method)
        result = self._result(name, method)
        request = {"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
        return request, {"jsonrpc": "2.0", "id": 1, "result": result}

    def openrpc(self) -> dict[str, Any]:
        """The same methods as an OpenRPC document; what it has no word for stands under `x-`."""
        return {
            "openrpc": _OPENRPC_VERSION,
            "info": {
                "title": "Loci",
                "version": str(self._protocol["protocol"]),
                "description": " ".join(self._words["openrpc"]),
                "license": {"name": "GPL-3.0-or-later"},
            },
            "methods": [self._openrpc_method(name, method) for name, method in self._protocol["methods"].items()],
            "components": {
                "schemas": _component(self._protocol["$defs"]),
                "errors": {
                    code: make_failure(None, LociError(Code(code), sentence))["error"]
                    for code, sentence in self._words["errors"].items()
                },
            },
        }

    def _openrpc_method(self, name: str, method: Mapping[str, Any]) -> dict[str, Any]:
        request, reply = self.example(name)
        params = method["params"]
        return {
            "name": name,
            "summary": method["about"],
            "tags": [{"name": method["who"], "description": _WHO[method["who"]]}, {"name": method["effect"]}],
            "paramStructure": "by-name",
            "params": [
                {"name": key, "required": key in params.get("required", ()), "schema": _component(schema)}
                for key, schema in params["properties"].items()
            ],
            "result": {"name": "result", "schema": _component(method["result"])},
            "errors": [{"$ref": f"#/components/errors/{code}"} for code in errors_of_method(self._protocol, method)],
            "examples": [
                {
                    "name": name,
                    "params": [{"name": key, "value": value} for key, value in request["params"].items()],
                    "result": {"name": "result", "value": reply["result"]},
                }
            ],
            "x-grants": list(method["grants"]),
            "x-aliases": dict(method.get("aliases", {})),
        }

    def vectors(self) -> dict[str, bytes]:
        """The handshake of the page in raw bytes: token, nc, ns, vault, proof and mac."""
        given = {name: bytes.fromhex(self._words["vectors"][name]) for name in ("token", "nc", "ns", "vault")}
        token, nc, ns, vault = (given[name] for name in ("token", "nc", "ns", "vault"))
        proof = hmac.digest(token, b"s" + nc + ns + vault, "sha256")
        return {**given, "proof": proof, "mac": hmac.digest(token, b"c" + ns + nc + vault, "sha256")}

    def _params(self, name: str, method: Mapping[str, Any]) -> Any:
        made = self._examples.of(method["params"], f"{name}.params")
        return {**made, "mac": _wire(self.vectors()["mac"])} if name == "auth" else made

    def _result(self, name: str, method: Mapping[str, Any]) -> Any:
        made = self._examples.of(method["result"], f"{name}.result")
        if name == "hello":
            made |= {
                key: _wire(self.vectors()[of]) for key, of in (("nonce", "ns"), ("vault", "vault"), ("proof", "proof"))
            }
        return made

    def _head(self) -> Iterator[str]:
        yield from ("# The socket of Loci", "")
        yield from _paragraphs(self._words["intro"])
        yield from ("## The wire", "")
        yield from _paragraphs(self._words["wire"])
        yield from ("## Repeated requests", "")
        yield from _paragraphs([one.format_map(numbers()) for one in self._words["repeats"]])
        yield from ("## Pairing", "")
        yield from _paragraphs(self._words["pairing"])
        yield from ("| grant | what it allows |", "|---|---|")
        yield from (f"| `{name}` | {about} |" for name, about in self._words["grants"].items())
        yield from ("", self._words["grants_after"], "")

    def _handshake(self) -> Iterator[str]:
        yield from ("## The handshake", "")
        yield from _paragraphs(self._words["handshake"])
        yield from ("Test vectors:", "", "| value | hex | base64url |", "|---|---|---|")
        for name, raw in self.vectors().items():
            yield f"| {name} | `{raw.hex()}` | `{_wire(raw)}` |"
        yield ""
        for name in ("hello", "auth", "pair"):
            yield from self._method(name, self._protocol["methods"][name])

    def _limits(self) -> Iterator[str]:
        yield from ("## Limits and times", "")
        yield from (
            f"- A line has at most {self._protocol['line_bytes']} bytes with its end, both ways.",
            f"- The `text` of a store method has at most {self._protocol['text_bytes']} bytes of UTF-8.",
        )
        yield from (f"- {one.format_map(numbers())}" for one in self._words["limits"])
        names = ", ".join(f"`{name}`" for name in self._protocol["forbidden"])
        yield from ("", f"{self._protocol['forbidden_about']} They are: {names}.", "")

    def _errors(self) -> Iterator[str]:
        yield from ("## Errors", "", self._words["errors_about"], "")
        make_failure = {"code": -32602, "message": "`text` is missing.", "data": {"code": "E4005"}}
        yield from _code({"jsonrpc": "2.0", "id": 1, "error": make_failure})
        yield from ("| code | what it means |", "|---|---|")
        yield from (f"| `{code}` | {sentence} |" for code, sentence in self._words["errors"].items())
        yield ""

    def _notifications(self) -> Iterator[str]:
        yield from ("## Notifications", "", "Messages of the server without an `id`; they are not answered.", "")
        for name, one in self._protocol["notifications"].items():
            yield from (f"### `{name}`", "", one["about"], "", "| member | what it is |", "|---|---|")
            yield from (f"| `{member}` | {about} |" for member, about in one["params"].items())
            yield ""

    def _method(self, name: str, method: Mapping[str, Any]) -> Iterator[str]:
        yield from (f"### `{name}`", "", method["about"], "")
        yield f"- For: {_WHO[method['who']]}. It {_EFFECTS[method['effect']]}."
        if method["grants"]:
            yield f"- Needs one of: {', '.join(f'`{grant}`' for grant in method['grants'])}."
        if method.get("search"):
            yield "- Counts as a search."
        if method.get("paged"):
            yield "- A reply that was cut carries `next`; the same call with `after` goes on."
        if method.get("long"):
            yield "- May send `progress` while it runs."
        spelled = ", ".join(f"`{alias}` for `{target}`" for alias, target in method.get("aliases", {}).items())
        if spelled:
            yield f"- Other spellings: {spelled}."
        yield from ("", *self._table("parameter", method["params"]), *self._answer(method))
        yield from (f"Errors: {', '.join(f'`{code}`' for code in errors_of_method(self._protocol, method))}.", "")
        request, reply = self.example(name)
        yield from _code(request, reply)

    def _answer(self, method: Mapping[str, Any]) -> Iterator[str]:
        named = [_type(one) for one in method["result"].get("allOf", [method["result"]]) if "$ref" in one]
        if named:
            more = " with more members" if "allOf" in method["result"] else ""
            yield from (f"Result: {' and '.join(named)}{more}.", "")
        if "allOf" in method["result"]:
            yield from self._table("result", self._examples.resolved(method["result"]))
        elif "$ref" in method["result"]:
            return
        else:
            yield from self._table("result", method["result"])

    def _table(self, title: str, schema: Schema) -> Iterator[str]:
        rows = list(self._rows(schema, ""))
        if not rows:
            yield from ("No parameters." if title == "parameter" else "An object.", "")
            return
        head = ["type", "required", "default", "limits and meaning"]
        if not any(row[3] for row in rows):  # a column for nothing
            head.remove("default")
            rows = [(*row[:3], *row[4:]) for row in rows]
        yield from (f"| {' | '.join([title, *head])} |", "|---" * (len(head) + 1) + "|")
        yield from (f"| {' | '.join(row)} |" for row in rows)
        yield ""

    def _rows(self, schema: Schema, path: str) -> Iterator[tuple[str, ...]]:
        """Name, type, whether it is required, what stands for it where it is left out, and its meaning."""
        required = schema.get("required", ())
        inner = schema.get("properties", {})
        for name in (*inner, *(one for one in required if one not in inner)):
            one = inner.get(name, {})
            whole, needed = self._examples.resolved(one), "yes" if name in required else "no"
            default = f"`{_cell(json.dumps(whole['default'], ensure_ascii=False))}`" if "default" in whole else ""
            yield f"`{path}{name}`", _type(one), needed, default, self._meaning(one)
            below = one.get("items", one) if isinstance(one.get("items", one), Mapping) else {}
            if "properties" in below:
                yield from self._rows(below, f"{path}{name}{'[]' if 'items' in one else ''}.")

    def _meaning(self, schema: Schema) -> str:
        found = self._examples.resolved(schema)
        rules = [words.format(_cell(found[rule])) for rule, words in _RULES.items() if rule in found]
        about = _cell(found.get("description", ""))
        limits = ", ".join(rules)
        return " ".join(part for part in (about, f"({limits})" if limits else "") if part)

    def _shapes(self) -> Iterator[str]:
        yield from ("## Shapes", "", "What the tables above name.", "")
        for name, schema in self._protocol["$defs"].items():
            yield from (f"### {name}", "", f"{_type(schema)}. {self._meaning(schema)}".rstrip(), "")
            entry = schema.get("items", schema)
            if "properties" in entry or "required" in entry:
                yield from self._table("member of an entry" if "items" in schema else "member", entry)


def numbers() -> dict[str, float]:
    """The limits that the page tells, as the program has them unless the person set others."""
    caps, options = Caps(), Options()
    return {
        **{name: getattr(caps, name) for name in Caps.__dataclass_fields__},
        **options.model_dump(include={"undo_days", "searches_minute", "searches_session", *ClientOptions.model_fields}),
        "items": CLIENT_ITEMS,
    }


def _component(schema: Any) -> Any:
    """A schema with its references as an OpenRPC document has them."""
    if isinstance(schema, list):
        return [_component(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _component(value) for key, value in schema.items()}
    return {**found, "$ref": found["$ref"].replace("#/$defs/", "#/components/schemas/")} if "$ref" in found else found


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return _link(schema)
    for alternatives, word in (("anyOf", " or "), ("oneOf", " or "), ("allOf", " and ")):
        if alternatives in schema:
            return word.join(_type(one) for one in schema[alternatives])
    if "enum" in schema:
        return "one of " + ", ".join(f"`{_cell(one)}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    kinds = schema.get("type", "any value")
    if kinds == "array" and isinstance(schema.get("items"), Mapping):
        return f"list of {_type(schema['items'])}"
    return " or ".join([kinds] if isinstance(kinds, str) else kinds)


def _link(schema: Schema) -> str:
    name = str(schema["$ref"]).rpartition("/")[2]
    return f"[{name}](#{name})"


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def _paragraphs(texts: list[str]) -> Iterator[str]:
    for text in texts:
        yield from (text, "")


def _code(*messages: Mapping[str, Any]) -> Iterator[str]:
    lines = [json.dumps(message, ensure_ascii=False) for message in messages]
    yield from ("```json", *lines, "```", "")


def _wire(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def page() -> Page:
    """The page of this checkout."""
    return Page(json.loads(_PROTOCOL.read_text("utf-8")), json.loads(_WORDS.read_text("utf-8")))


def main(arguments: list[str]) -> int:
    """Write both, or say whether they are up to date.

    Args:
        arguments: of the command line.

    Returns:
        The exit code.
    """
    made = page()
    texts = {PAGE: made.text(), OPENRPC: json.dumps(made.openrpc(), ensure_ascii=False, indent=1) + "\n"}
    if arguments == ["--check"]:
        return int(any(not path.exists() or path.read_text("utf-8") != text for path, text in texts.items()))
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
