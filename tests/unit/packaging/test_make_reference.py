"""The socket's reference: up to date, whole, true, and enough to write a client from."""

from __future__ import annotations

import base64
import hmac
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ipc_peers import REGISTRY, code_of
from ipc_served import Served, served_at
from jsonschema import Draft202012Validator

import make_reference
from core.config.options import Options
from core.errors import Code, LociError
from core.ipc.client.wire import Greeting
from core.ipc.socket.limits import Caps
from core.security import handshake
from core.types.clients import Terms

PAGE = make_reference.page()
TEXT = PAGE.text()
OPENRPC = PAGE.openrpc()
VECTOR = re.compile(r"^\| (\w+) \| `([0-9a-f]+)` \| `([\w-]+)` \|$", re.MULTILINE)
METHODS = sorted(REGISTRY.methods)
GRANTS = ("read", "propose", "write", "curate", "speak_for_user", "all_spaces")


@pytest.fixture
def served(empty_home: Path) -> Iterator[Served]:
    with served_at(empty_home) as made:
        yield made


def section(title: str) -> str:
    return TEXT.partition(f"\n### {title}\n")[2].partition("\n### ")[0]


def test_the_page_is_up_to_date() -> None:
    assert make_reference.PAGE.read_text("utf-8") == TEXT, "run packaging/make_reference.py"
    assert json.loads(make_reference.OPENRPC.read_text("utf-8")) == OPENRPC, "run packaging/make_reference.py"
    assert make_reference.main(["--check"]) == 0


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_told_with_all_its_parameters_and_errors(name: str) -> None:
    method, told = REGISTRY.methods[name], section(f"`{name}`")
    assert method.about in told
    for parameter in method.params["properties"]:
        assert f"| `{parameter}` |" in told
    for word in (*method.grants, *method.errors, *method.aliases):
        assert f"`{word}`" in told


@pytest.mark.parametrize("name", METHODS)
def test_every_example_is_what_the_schemas_allow(name: str) -> None:
    request, reply = PAGE.example(name)
    assert json.dumps(request, ensure_ascii=False) in TEXT
    assert json.dumps(reply, ensure_ascii=False) in TEXT
    REGISTRY.methods[name].check_params(request["params"])
    assert [problem.message for problem in REGISTRY.result_checker(name).iter_errors(reply["result"])] == []


@pytest.mark.parametrize("name", METHODS)
def test_every_method_refuses_an_unknown_field_by_its_name(name: str) -> None:
    request, _ = PAGE.example(name)
    with pytest.raises(LociError) as caught:
        REGISTRY.methods[name].check_params({**request["params"], "zeal": "planted"})
    assert caught.value.code is Code.INVALID_INPUT
    assert "`zeal`" in caught.value.sentence
    assert "planted" not in caught.value.sentence


def test_what_auth_answers_is_told_to_the_last_member(served: Served) -> None:
    record = served.pair("notes-plugin")
    for greeting in (Greeting("notes-plugin", record.token), Greeting("@owner", served.owner_token)):
        client = served.client()
        told = client.call("auth", greeting.auth_params(client.call("hello", greeting.hello_params())))
        checker = REGISTRY.result_checker("auth")
        assert [problem.message for problem in checker.iter_errors(told)] == []
        for part in ("limits", "server"):
            assert {f"| `{member}` |" for member in told[part]} == set(
                re.findall(r"^(\| `\w+` \|)", section(part), re.MULTILINE)
            )


@pytest.mark.parametrize("name", sorted(name for name, method in REGISTRY.methods.items() if method.who == "client"))
def test_the_codes_of_the_gate_are_told_of_every_method_they_can_come_from(name: str, served: Served) -> None:
    """What is refused before a method is reached: a forbidden field, too many calls."""
    method, (request, _) = REGISTRY.methods[name], PAGE.example(name)
    client = served.paired("plug", GRANTS)
    assert code_of(lambda: client.call(name, {**request["params"], "trust": 1})) is Code.FORBIDDEN_FIELD
    assert Code.FORBIDDEN_FIELD.value in method.errors
    served.choose(writes_minute=1, reads_minute=1)
    served.engine.clients.change_terms("plug", Terms(GRANTS, 1, 200)).result(60)
    for spending, params in (("memory_store", {"text": "x"}), ("memory_list", {}), ("memory_search", {"query": "x"})):
        client.call(spending, params)
    limited = code_of(lambda: client.call(name, request["params"])) is Code.RATE_LIMITED
    assert limited is (Code.RATE_LIMITED.value in method.errors)


def test_a_default_is_told_in_a_column_of_its_own() -> None:
    table = section("`memory_list`")
    assert "| parameter | type | required | default | limits and meaning |" in table
    (row,) = (line for line in table.splitlines() if line.startswith("| `limit` |"))
    schema = REGISTRY.methods["memory_list"].params["properties"]["limit"]
    assert row.split(" | ")[3] == f"`{schema['default']}`"


def test_every_member_of_a_reply_has_a_type() -> None:
    assert [line for line in TEXT.splitlines() if "any value" in line] == []


def test_an_item_is_told_to_the_last_member_a_client_gets() -> None:
    told = section("item")
    for member in ("occurred_precision", "importance", "tags", "session", "signals", "ranks", "why", "signals.utility"):
        assert f"| `{member}` |" in told
    assert "[MEMORY BLOCKED" in told
    assert "SUPERSEDE: " in section("stored")


def test_what_tools_gave_and_what_a_verb_did_are_told_to_the_last_member() -> None:
    tools = section("tool_results")
    assert {f"| `{member}` |" in tools for member in ("name", "text")} == {True}
    for name, members in {
        "undone": ("step", "label", "undo_step", "restored", "left", "unpaired"),
        "left": ("table", "key", "then", "now"),
        "held": ("client", "paused", "step"),
        "`owner.backup`": ("path", "bytes", "seq", "rows"),
        "`owner.revoke`": ("client", "revoked", "wrote", "wrote.memories", "removed", "removed.left_ids", "step"),
    }.items():
        assert {f"| `{member}` |" in section(name) for member in members} == {True}, name
    assert "report" not in PAGE.openrpc()["components"]["schemas"]


def chapter(title: str) -> str:
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_limits_that_are_told_are_those_of_the_program(served: Served) -> None:
    """What `auth` answers to a client that the person set no limits for, and the caps of the server."""
    told, options, caps = chapter("Limits and times"), Options(), Caps()
    for words in (
        f"searches ({options.searches_minute} a minute and {options.searches_session} in any 24 hours)",
        f"calls that write ({options.writes_minute} a minute)",
        f"calls that read without searching ({options.reads_minute} a minute)",
        f"may hold {caps.per_client} connections, all clients together {caps.connections}",
        f"{caps.calls} calls are carried out at a time",
        f"{caps.handshake_s:g} from connecting",
        f"begins more than {caps.hellos} handshakes or sends {caps.malformed} lines",
    ):
        assert words in told
    record = served.pair("notes-plugin")
    greeting = Greeting("notes-plugin", record.token)
    client = served.client()
    limits = client.call("auth", greeting.auth_params(client.call("hello", greeting.hello_params())))["limits"]
    _, example = PAGE.example("auth")
    for name in ("writes_per_minute", "reads_per_minute", "line_bytes", "text_bytes", "items"):
        assert example["result"]["limits"][name] == limits[name], name
    assert example["result"]["limits"]["searches_per_minute"] == options.searches_minute
    assert example["result"]["limits"]["searches_per_session"] == options.searches_session
    assert limits["reads_per_minute"] == options.reads_minute
    assert f"may name at most {limits['items']} items" in told


def test_the_rule_about_repeats_is_told_and_every_write_keeps_to_it() -> None:
    told = chapter("Repeated requests")
    assert f"for {Options().undo_days} days" in told
    writes = [one for one in REGISTRY.methods.values() if one.who == "client" and one.effect == "write"]
    assert len(writes) > 20
    assert all("request_id" in one.params["properties"] for one in writes)


def schemas_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from schemas_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from schemas_in(part)


def test_the_openrpc_document_is_whole() -> None:
    """By the rules of OpenRPC 1.3: names, required members, references, what a parameter and an error must have."""
    assert OPENRPC["openrpc"].startswith("1.3.")
    assert {"title", "version"} <= OPENRPC["info"].keys()
    assert sorted(one["name"] for one in OPENRPC["methods"]) == METHODS
    components = OPENRPC["components"]
    references = {one["$ref"] for one in schemas_in(OPENRPC) if "$ref" in one}
    assert references
    for reference in references:
        hash_sign, top, kind, name = reference.split("/")
        assert (hash_sign, top) == ("#", "components")
        assert name in components[kind], reference
    for one in OPENRPC["methods"]:
        names = [param["name"] for param in one["params"]]
        assert names == list(REGISTRY.methods[one["name"]].params["properties"])
        assert len(names) == len(set(names))
        assert all(isinstance(param["schema"], dict) and param["schema"] for param in one["params"])
        assert {param["name"] for param in one["params"] if param["required"]} == set(
            REGISTRY.methods[one["name"]].params.get("required", ())
        )
        assert one["result"]["name"]
        assert one["result"]["schema"]
        assert [error["$ref"].rpartition("/")[2] for error in one["errors"]] == list(
            REGISTRY.methods[one["name"]].errors
        )
    for code, error in components["errors"].items():
        assert isinstance(error["code"], int)
        assert error["data"]["code"] == code
        assert error["message"].endswith(".")


@pytest.mark.parametrize("method", OPENRPC["methods"], ids=lambda one: one["name"])
def test_the_schemas_of_the_openrpc_document_take_its_examples(method: dict[str, Any]) -> None:
    def valid(schema: dict[str, Any], value: Any) -> bool:
        Draft202012Validator.check_schema(schema)
        return Draft202012Validator({**schema, "components": OPENRPC["components"]}).is_valid(value)

    (example,) = method["examples"]
    schemas = {param["name"]: param["schema"] for param in method["params"]}
    assert all(valid(schemas[given["name"]], given["value"]) for given in example["params"])
    assert valid(method["result"]["schema"], example["result"]["value"])


def test_every_code_has_its_sentence() -> None:
    told = dict(re.findall(r"^\| `(E\d{4})` \| (.+) \|$", TEXT, re.MULTILINE))
    assert told.keys() == {code.value for code in Code}
    assert all(sentence.endswith(".") for sentence in told.values())


def test_every_link_leads_somewhere() -> None:
    headings = set(re.findall(r"^### (\w+)$", TEXT, re.MULTILINE))
    assert set(re.findall(r"\]\(#(\w+)\)", TEXT)) <= headings
    anchors = [heading.lower() for heading in re.findall(r"^##+ `?([\w. ]+?)`?$", TEXT, re.MULTILINE)]
    assert len(anchors) == len(set(anchors))


def test_the_vectors_of_the_page_are_those_of_the_handshake() -> None:
    found = {name: bytes.fromhex(raw) for name, raw, _ in VECTOR.findall(TEXT)}
    assert {name: wire for name, _, wire in VECTOR.findall(TEXT)} == {
        name: base64.urlsafe_b64encode(raw).decode().rstrip("=") for name, raw in found.items()
    }
    token, nc, ns, vault = (found[name] for name in ("token", "nc", "ns", "vault"))
    assert found["proof"] == hmac.new(token, b"s" + nc + ns + vault, "sha256").digest()
    assert found["mac"] == hmac.new(token, b"c" + ns + nc + vault, "sha256").digest()
    assert found["proof"] == handshake.server_proof(token, nc, ns, vault)
    assert found["mac"] == handshake.client_mac(token, nc, ns, vault)


def test_a_client_made_from_the_page_alone_is_served(served: Served) -> None:
    """Nothing of Loci is used on this side: a socket, JSON and HMAC, with the lines of the page."""
    record = served.pair("notes-plugin", ("read", "write", "all_spaces"))
    lines = [json.loads(line) for line in re.findall(r"^\{\"jsonrpc\".*\}$", TEXT, re.MULTILINE)]
    calls = {line["method"]: line for line in lines if "method" in line}
    with socket.socket(socket.AF_UNIX) as sock, sock.makefile("rb") as answers:
        sock.settimeout(10)
        sock.connect(str(served.place.path))

        def call(method: str, **more: Any) -> dict[str, Any]:
            line = {**calls[method], "params": {**calls[method]["params"], **more}}
            sock.sendall(json.dumps(line).encode() + b"\n")
            found: dict[str, Any] = json.loads(answers.readline())
            assert found["id"] == line["id"]
            return found

        def raw(text: str) -> bytes:
            return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

        hello = call("hello")["result"]
        nc, ns, vault = raw(calls["hello"]["params"]["nonce"]), raw(hello["nonce"]), raw(hello["vault"])
        assert vault == served.vault_id
        assert hmac.compare_digest(raw(hello["proof"]), hmac.digest(record.token, b"s" + nc + ns + vault, "sha256"))
        mac = base64.urlsafe_b64encode(hmac.digest(record.token, b"c" + ns + nc + vault, "sha256"))
        welcome = call("auth", mac=mac.decode().rstrip("="))["result"]
        assert "memory_store" in welcome["server"]["methods"]
        stored = call("memory_store")["result"]
        assert stored["operation"] == "ADD"
        assert call("memory_get", id=stored["memory_id"])["result"]["text"] == calls["memory_store"]["params"]["text"]
        assert call("memory_store", zeal=1)["error"]["data"]["code"] == "E4005"
