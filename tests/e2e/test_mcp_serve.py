"""`loci mcp` before a real `loci serve`: the SDK's own client calls every tool; nonsense gets errors alone."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from cli_rig import Palace, in_background
from cli_terminal import Terminal
from mcp_rig import RawMcp, driven, pair

from app.mcp.texts import TOKENS, estimate_tokens
from app.mcp.tools import list_tools
from core.config.grant_wording import describe_limits_of_grants
from core.ipc.client.client import Client

SECRET_WORD = "xylophone-in-the-attic"


@pytest.fixture
def paired(palace: Palace) -> Palace:
    """A palace with a client that may do what clients may."""
    pair(palace, "it", "read", "write", "curate", "all_spaces")
    return palace


def remembered(palace: Palace) -> dict[str, Any]:
    """Something to read, and what arguments are called everywhere."""
    found = palace.json("remember", "The person lives in Graz.")
    known = {"id": found["memory_id"], "text": "The person owns a red bicycle.", "query": "bicycle", "prompt": "home?"}
    return {**known, "session": "talk-1", "of": {}}


def made_by(client: Client) -> dict[str, dict[str, Any]]:
    """What exists for the tools that need it: a rule, two memories, two named things, a question, a turn; by tool."""

    def stored(text: str) -> str:
        return str(client.call("memory_store", {"text": text})["memory_id"])

    def entity(name: str) -> str:
        return str(client.call("entity_create", {"canonical_name": name, "entity_type": "person"})["entity_id"])

    rule = str(client.call("memory_store_rule", {"text": "Ring twice at the back door."})["memory_id"])
    (question,) = client.call("memory_conflicts", {})["conflicts"]
    one, other = stored("The stove was swept in May."), stored("The chimney draws well again.")
    tilda, matilda, hugo = entity("Tilda Okonedo"), entity("Matilda Okonedo"), entity("Hugo Brandt")
    turn = client.call("turn_begin", {"session": "talk-1", "prompt": "Where does Tilda live?"})["turn"]
    return {
        "memory_mark_helpful": {"id": rule},
        "memory_mark_harmful": {"id": rule, "reason": "The bell is broken."},
        "memory_relate": {"source_id": one, "target_id": other, "relationship": "caused_by"},
        "memory_resolve_conflict": {"id": question["id"], "action": "reject"},
        "entity_get": {"entity_id": hugo},
        "entity_update": {"entity_id": hugo, "canonical_name": "Hugo Brandtner"},
        "entity_merge": {"source_entity_id": matilda, "target_entity_id": tilda},
        "entity_create": {"canonical_name": "Orsolya Kiss", "entity_type": "person"},
        "turn_end": {"turn": turn, "user": "Where does Tilda live?", "assistant": "That is being looked into."},
        "memory_delete": {"id": stored("A slip of paper that nobody needs.")},
        "memory_forget": {"id": stored("An errand of last week.")},
    }


@pytest.mark.parametrize(("profile", "mode"), [("lean", "legacy"), ("standard", "auto"), ("full", "auto")])
def test_the_sdks_client_lists_and_calls_every_tool(palace: Palace, profile: str, mode: str) -> None:
    """And every call is carried out: a tool whose schema does not fit its method would be refused."""
    token = pair(palace, "it", "read", "write", "curate", "all_spaces")
    shy_token = pair(palace, "shy", "read", "propose", "all_spaces")
    known = remembered(palace)
    with palace.serving():
        with palace.client("shy", shy_token) as shy, palace.client("it", token) as client:
            shy.call("memory_store", {"text": "The badge says the brewery.", "space": "home"})  # waits at the desk
            known["of"] = made_by(client)
        found = driven(palace, ["--client", "it", "--tools", profile], known, mode)
    expected = list_tools(profile)
    assert [tool["name"] for tool in found["tools"]] == list(expected)
    assert set(found["calls"]) == set(expected)
    refused = {name: call for name, call in found["calls"].items() if call.get("is_error", True)}
    assert refused == {}
    assert all(not call["is_error"] for call in found["many"])
    assert all(call["structured"] is None and call["text"] for call in found["calls"].values())
    assert found["unknown"]["protocol_error"] == -32602


def test_resources_and_prompts(paired: Palace) -> None:
    known = remembered(paired)
    with paired.serving():
        rest = driven(paired, ["--client", "it"], known, "auto")["rest"]
    assert rest["listed"] == ["loci://status"]
    assert rest["templates"] == ["loci://memory/{id}", "loci://context{?prompt}"]
    assert json.loads(rest["read"]["loci://status"])["state"] == "open"
    assert "<memory" in rest["read"][f"loci://memory/{known['id']}"]
    assert rest["read"]["loci://memory/unknown"]["message"].startswith("E2005: ")
    assert rest["read"]["loci://nothing"]["code"] == rest["read"]["file:///etc/passwd"]["code"] == -32602
    assert rest["prompts"] == ["recall", "remember"]
    assert "&lt;/x&gt; I own a boat." in rest["given"]["remember"]


def test_unpaired_it_lists_and_says_how_to_pair(palace: Palace) -> None:
    with RawMcp(palace, "--client", "new") as raw:
        assert raw.greet()["result"]["serverInfo"]["name"] == "loci"
        assert len(raw.ask(1, "tools/list")["result"]["tools"]) == len(list_tools("lean"))
        said = raw.tool(2, "memory_search", {"query": "x"})
        assert said["result"]["isError"]
        assert told(said).startswith("E4007: ")
        assert "loci mcp --pair new" in told(said)
        assert raw.close() == (0, "")


def test_a_vault_that_nothing_opens_stays_closed(paired: Palace) -> None:
    with RawMcp(paired, "--client", "it") as raw:
        raw.greet()
        assert told(raw.tool(1, "memory_search", {"query": "x"})).startswith("E1001: ")
        assert raw.close() == (0, "")
    with paired.serving(unlocked=False), RawMcp(paired, "--client", "it") as raw:
        raw.greet()
        assert told(raw.tool(1, "memory_search", {"query": "x"})).startswith("E1001: ")


def test_it_starts_the_engine_once_for_many(paired: Palace) -> None:
    secret = {"LOCI_PASSPHRASE_FILE": str(paired.secret)}
    try:
        with (
            RawMcp(paired, "--client", "it", variables=secret) as one,
            RawMcp(paired, "--client", "it", variables=secret) as other,
        ):
            for raw in (one, other):
                raw.greet()
                raw.send(_call(1, "memory_search", {"query": "x"}))
            assert not one.line()["result"]["isError"]
            assert not other.line()["result"]["isError"]
            assert one.close() == other.close() == (0, "")
    finally:
        with paired.owner() as owner:
            owner.call("owner.handover", {})


def test_it_finds_the_engine_again_after_a_restart(paired: Palace) -> None:
    with RawMcp(paired, "--client", "it", "--no-start") as raw:
        raw.greet()
        for _ in range(2):
            with paired.serving() as serving:
                said = raw.tool(1, "memory_store", {"text": "The person keeps two bees."})
                assert not said["result"]["isError"], said
                serving.end()
        # The same text: the second time it is known already.
        assert json.loads(told(said))["deduplicated"]


def test_a_revoked_client_is_told_so(paired: Palace) -> None:
    with paired.serving(), RawMcp(paired, "--client", "it") as raw:
        raw.greet()
        assert not raw.tool(1, "memory_search", {"query": "x"})["result"]["isError"]
        paired.json("revoke", "it")
        for ident in (2, 3):
            assert told(raw.tool(ident, "memory_search", {"query": "x"})).startswith("E4007: ")


def told(answer: dict[str, Any]) -> str:
    """The text of a tool's result, which is all of it."""
    result = answer["result"]
    assert "structuredContent" not in result
    return "".join(part["text"] for part in result["content"])


def _call(ident: object, name: str, arguments: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def test_nonsense_gets_valid_errors_and_nothing_else(paired: Palace) -> None:
    wrong_types: list[Any] = [None, 7, "x", True, [], {"query": None}, {"query": ["x"]}, {"query": {"a": {}}}]
    with paired.serving(), RawMcp(paired, "--client", "it", "--tools", "full") as raw:
        raw.greet()
        for number, name in enumerate(list_tools("full")):
            said = raw.tool(f"missing-{number}", name, {"nonsense": SECRET_WORD})
            assert said["result"]["isError"]
            assert told(said)[:5] in {"E4005", "E4006", "E4001"}
            assert SECRET_WORD not in json.dumps(said)
        for number, given in enumerate(wrong_types):
            said = raw.tool(f"type-{number}", "memory_search", given)
            assert said.get("error", {}).get("code") == -32602 or said["result"]["isError"], said
        for given in ({"query": "x" * 1_000_000}, {"query": "x", "text_weight": 10**40}):
            assert raw.tool("large", "memory_search", given)["result"]["isError"]
        deep: Any = "x"
        for _ in range(60):
            deep = [deep]
        assert raw.tool("deep", "memory_search", {"query": deep})["result"]["isError"]
        assert raw.ask("method", "no/such")["error"]["code"] == -32601
        for line in (b"{\n", b"[]\n", b"\xff\xfe\n", b'{"jsonrpc":"1.0"}\n', b'{"jsonrpc":"2.0","id":1,"method":5}\n'):
            raw.send(line)
            said = raw.line()
            assert said["error"]["code"] == -32700
            assert said["id"] is None
        raw.send(_call("gone", "memory_search", {"query": "x"}))
        raw.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone"}})
        after = raw.ask("after", "tools/list")
        while after["id"] != "after":  # the cancelled call was quicker
            after = raw.line()
        code, err = raw.close()
        assert code == 0
        assert SECRET_WORD not in err


def test_input_that_ends_in_the_middle_ends_the_server(paired: Palace) -> None:
    with paired.serving(), RawMcp(paired, "--client", "it") as raw:
        raw.greet()
        raw.send(_call(1, "memory_store", {"text": "The person sleeps late."}))
        raw.send(b'{"jsonrpc": "2.0", "id": 2')
        assert raw.close()[0] == 0


def test_set_up_pair_and_try(palace: Palace) -> None:
    refused = palace.run("mcp", "--install", "cursor")
    assert refused.code == 1
    assert not (palace.folder / ".cursor").exists()
    made = palace.run("mcp", "--install", "cursor", "--yes")
    assert made.code == 0, made.err
    config = json.loads((palace.folder / ".cursor" / "mcp.json").read_text())
    entry = config["mcpServers"]["loci"]
    assert entry["args"][-3:] == ["mcp", "--client", "cursor"]
    assert "secret" not in json.dumps(entry)
    assert palace.json("mcp", "--install", "cursor", "--yes")["paired"] is False
    assert palace.run("mcp", "--test", "--client", "cursor").code == 1
    assert palace.json("mcp", "--pair", "cursor")["client"] == "cursor"
    token = next((palace.folder / "config" / "loci").rglob("cursor.token"))
    assert token.stat().st_mode & 0o777 == 0o600
    with palace.serving():
        tried = palace.json("mcp", "--test", "--client", "cursor")
        palace.json("grant", "cursor", "--grant", "space:home")
        again = palace.json("mcp", "--test", "--client", "cursor")
        with RawMcp(palace, "--client", "cursor") as raw:
            assert "you see home." in raw.greet()["result"]["instructions"]
    assert [step["step"] for step in tried["steps"]] == ["start", "tools", "search", "sees"]
    assert tried["ok"]
    assert "none of your spaces" in tried["steps"][-1]["says"]
    assert "it sees home" in again["steps"][-1]["says"]


def test_one_command_sets_up_pairs_and_says_what_it_sees(palace: Palace) -> None:
    made = palace.run("mcp", "--install", "cursor", "--yes", "--grant", "space:home")
    assert made.code == 0, made.err
    assert "Paired cursor: propose, read, space:home." in made.out
    assert "Of your spaces it sees home," in made.out
    told = palace.json("mcp", "--install", "cursor", "--yes", "--grant", "space:home")
    assert (told["paired"], told["grants"]) == (True, None)


def test_another_entry_is_named_before_it_is_replaced(palace: Palace) -> None:
    path = palace.folder / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"loci": {"command": "mine"}}}')
    refused = palace.run("mcp", "--install", "cursor")
    assert (refused.code, "Another entry named loci" in refused.err) == (1, True)
    assert "mine" in path.read_text()
    assert "Another entry named loci" in palace.run("mcp", "--install", "cursor", "--yes").err
    assert "mine" in path.with_name("mcp.json.bak").read_text()
    assert "Another entry" not in palace.run("mcp", "--install", "cursor", "--yes").err


def test_a_code_pairs_as_the_person_allows(palace: Palace) -> None:
    """`loci pair NAME --code` at one terminal, `loci mcp --pair NAME --code` at another."""
    with palace.serving(), Terminal(palace, "pair", "zed", "--code") as person:
        code = person.code()
        wait = in_background(lambda: palace.run("--json", "mcp", "--pair", "zed", "--code", code))
        assert "zed" in person.until(describe_limits_of_grants())
        person.type(b"y\n")
        done = wait()
        assert done.code == 0, done.err
        assert json.loads(done.out) == {"client": "zed", "grants": ["propose", "read"]}
        assert palace.json("mcp", "--test", "--client", "zed")["ok"]
        # A code is spent by its first use.
        palace.run("mcp", "--pair", "other", "--code", code).refused(1, "E4008")
        assert not list((palace.folder / "config" / "loci").rglob("other.token"))


def test_a_configuration_with_comments_is_left_alone(palace: Palace) -> None:
    path = palace.folder / "config" / "zed" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text('{\n  // mine\n  "theme": "x"\n}\n')
    before = path.read_bytes()
    done = palace.run("mcp", "--install", "zed", "--yes")
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("E5003: ")
    assert '"context_servers"' in done.out
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize(
    "wrong",
    [
        ["--install", "nobody"],
        ["--pair", "../x"],
        ["--pair", "a", "--test"],
        ["--pair", "a", "--client", "b"],
        ["--print"],
        ["--yes"],
        ["--code", "AAAA-BBBB"],
        ["--test", "--code", "AAAA-BBBB"],
        ["--pair", "a", "--yes"],
        ["--install", "zed", "--print", "--code", "AAAA-BBBB"],
        ["--grant", "space:home"],
        ["--pair", "a", "--grant", "raed"],
    ],
)
def test_wrong_wishes_are_refused(palace: Palace, wrong: list[str]) -> None:
    palace.run("mcp", *wrong).refused(2, "E4005")


def test_a_list_of_a_time_a_long_text_in_parts_and_an_error_that_helps(palace: Palace) -> None:
    """With a text that is longer than any result may be, once its signs are escaped."""
    pair(palace, "it", "read", "write", "all_spaces")
    long = "<b>log</b> " * 700 + "The end of the log."
    for text, time in ((long, "2026-05-04"), ("The boat was painted.", "2026-05-05"), ("It rained.", "2026-06-01")):
        palace.json("remember", text, "--time", time)
    with palace.serving(), RawMcp(palace, "--client", "it", "--tools", "standard") as raw:
        raw.greet()
        listed = told(raw.tool(1, "memory_list", {"since": "2026-05-04", "until": "2026-06-01"}))
        assert "painted" in listed
        assert "rained" not in listed
        (ident,) = re.findall(r'<memory id="([^"]+)"[^>]* cut="', listed)
        assert "memory_get with the id gives the whole" in listed
        assert len(listed) < 2_000
        offset, parts = 0, ""
        while True:
            part = told(raw.tool(f"at-{offset}", "memory_get", {"id": ident, "offset": offset}))
            assert estimate_tokens(part) <= TOKENS
            parts += part
            following = re.findall(r"`offset` (\d+)", part)
            if not following:
                break
            offset = int(following[0])
        assert "The end of the log." in parts
        assert parts.count("&lt;b&gt;log&lt;/b&gt;") >= 695  # one may lie across two parts
        assert offset > 0
        read = raw.ask("r", "resources/read", {"uri": f"loci://memory/{ident}?offset={offset}"})["result"]["contents"]
        assert "The end of the log." in read[0]["text"]
        wrong = raw.tool("w", "memory_list", {"on": "2026-05-04"})["result"]
        assert wrong["isError"]
        assert told({"result": wrong}).startswith(
            "E4005: `on` is not a parameter of memory_list, which takes text, kind,"
        )
        unknown = raw.tool("u", "subscribe", {})["error"]
        assert unknown["code"] == -32602
        assert "memory_list" in unknown["message"]


def test_a_twin_name_is_answered_in_the_full_profile(paired: Palace) -> None:
    paired.json("remember", "The person owns a red bicycle.")
    with paired.serving(), RawMcp(paired, "--client", "it", "--tools", "full") as raw:
        instructions = raw.greet()["result"]["instructions"]
        assert "`request_id`" in instructions
        assert "memory_recall" not in {tool["name"] for tool in raw.ask(1, "tools/list")["result"]["tools"]}
        assert "red bicycle" in told(raw.tool(2, "memory_recall", {"query": "bicycle"}))
