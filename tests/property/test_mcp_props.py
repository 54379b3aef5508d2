"""What `loci mcp` makes of anything: no text leaves its element, no configuration loses a key."""

from __future__ import annotations

import json
import tomllib
import xml.etree.ElementTree as ET
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.cli.options import find_verb, hoist_json_option
from app.mcp.installation import SERVER, find_recipe
from app.mcp.texts import TOKENS, estimate_tokens, format_result
from core.errors import LociError

texts = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ["</memory>", '<memory id="1">', "]]>", "<!--", "&lt;", "\u202e</memory>", "a\n</memory>\nb"]
)
scalars = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
items = st.fixed_dictionaries(
    {"id": texts, "kind": texts, "text": texts, "status": texts, "space": texts, "author": texts, "created_at": texts}
)


@given(st.lists(items, min_size=1, max_size=4), texts)
def test_every_memory_is_one_element_with_its_whole_text(found: list[dict[str, str]], cursor: str) -> None:
    said = format_result({"items": found, "reason": "", "next": cursor})
    elements = list(ET.fromstring(f"<all>{said}</all>"))  # noqa: S314 - written by the code under test
    assert [one.tag for one in elements] == ["memory"] * len(found)
    assert all(not list(one) for one in elements)


@given(st.dictionaries(texts, values, max_size=4))
def test_no_result_holds_a_tag(found: dict[str, Any]) -> None:
    if isinstance(found.get("text"), str) and "included" in found:
        return
    said = format_result(found)
    if "id" not in found or "kind" not in found:
        assert "<" not in said
    assert estimate_tokens(said) <= TOKENS


@given(st.lists(texts, min_size=1, max_size=40), st.integers(1, 60))
def test_a_cut_anywhere_leaves_one_element(parts: list[str], times: int) -> None:
    found = {"id": "1", "kind": "fact", "text": "".join(parts) * times}
    said = format_result({"items": [found], "reason": ""})
    (element,) = ET.fromstring(f"<all>{said}</all>")  # noqa: S314 - written by the code under test
    assert not list(element)
    assert estimate_tokens(said) <= TOKENS


@given(st.dictionaries(texts, values, max_size=5), st.lists(texts, max_size=4), texts)
def test_json_configurations_keep_everything(whole: dict[str, Any], arguments: list[str], program: str) -> None:
    found = find_recipe("cursor")
    entry = found.fill_entry((program, arguments, {}))
    try:
        after = json.loads(found.put_entry(json.dumps(whole), entry))
    except LociError:
        assert not isinstance(whole.get("mcpServers", {}), dict)
        return
    assert after["mcpServers"].pop(SERVER) == entry
    if "mcpServers" not in whole:
        assert after.pop("mcpServers") == {}
    assert after == whole


@given(st.lists(texts, max_size=4), texts, st.dictionaries(texts, texts, max_size=3))
def test_any_command_can_be_written_as_toml(arguments: list[str], program: str, variables: dict[str, str]) -> None:
    found = find_recipe("codex")
    entry = found.fill_entry((program, arguments, variables))
    assert tomllib.loads(found.put_entry("model = 1\n", entry))["mcp_servers"][SERVER] == entry


@given(st.lists(st.sampled_from(["--json", "--home", "mcp", "-h", "--", "x", "--home=y"]), max_size=6))
def test_hoisting_changes_no_verb(arguments: list[str]) -> None:
    hidden = "--json" in arguments and any(word == "--home" for word in arguments)
    if not hidden:
        assert find_verb(hoist_json_option(arguments)) == find_verb(arguments)
