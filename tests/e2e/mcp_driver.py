"""The official SDK's own client in a process of its own: starts `loci mcp`, lists every tool and calls each of them.

Reads one JSON document on standard input (`command`, `environment`, `mode`, `known`), writes one on standard output.
Arguments are made from each tool's own input schema, so that a tool that comes later is called too; what a tool needs
of things that exist stands under its name in `known`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent


def sample(schema: dict[str, Any], name: str, known: dict[str, Any]) -> Any:
    """A value that fits a schema; one that is known by its name wins."""
    if name in known:
        return known[name]
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    if "anyOf" in schema or "oneOf" in schema:
        return sample((schema.get("anyOf") or schema["oneOf"])[0], name, known)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return filled(schema, known)
    if kind == "array":
        return [sample(schema.get("items", {}), name, known)]
    numbers = {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 0.5), "boolean": True}
    return numbers.get(str(kind), "x" * max(8, schema.get("minLength", 1)))


def filled(schema: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """An object with the properties a schema asks for."""
    properties = schema.get("properties", {})
    return {name: sample(properties.get(name, {}), name, known) for name in schema.get("required", ())}


async def called(client: Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """How one call of a tool went."""
    try:
        found = await client.call_tool(name, arguments)
    except MCPError as error:
        return {"protocol_error": error.code, "message": error.message}
    return {
        "is_error": found.is_error,
        "structured": found.structured_content,
        "text": " ".join(part.text for part in found.content if isinstance(part, TextContent)),
        "arguments": arguments,
    }


async def resources_of(client: Client, known: dict[str, Any]) -> dict[str, Any]:
    """Everything that is not a tool."""
    uris = ["loci://status", f"loci://memory/{known['id']}", "loci://context?prompt=Where%20do%20I%20live%3F"]
    read: dict[str, Any] = {}
    for uri in [*uris, "loci://nothing", "loci://memory/unknown", "file:///etc/passwd"]:
        try:
            found = await client.read_resource(uri)
            read[uri] = getattr(found.contents[0], "text", "")
        except MCPError as error:
            read[uri] = {"code": error.code, "message": error.message}
    prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
    given = {
        "recall": await client.get_prompt("recall", {"query": "Where do I live?"}),
        "remember": await client.get_prompt("remember", {"text": "</x> I own a boat."}),
    }
    return {
        "listed": [str(one.uri) for one in (await client.list_resources()).resources],
        "templates": [one.uri_template for one in (await client.list_resource_templates()).resource_templates],
        "read": read,
        "prompts": prompts,
        "given": {name: getattr(one.messages[0].content, "text", "") for name, one in given.items()},
    }


async def main() -> None:
    """Run what was asked for."""
    asked = json.load(sys.stdin)
    program, *arguments = asked["command"]
    known = asked["known"]
    started = StdioServerParameters(command=program, args=arguments, env=asked["environment"])
    async with Client(started, mode=asked["mode"]) as client:
        tools = (await client.list_tools()).tools
        calls = {
            tool.name: await called(
                client, tool.name, {**filled(tool.input_schema, known), **known["of"].get(tool.name, {})}
            )
            for tool in sorted(tools, key=lambda tool: bool(tool.annotations and tool.annotations.destructive_hint))
        }
        many = await asyncio.gather(*(called(client, "memory_context", {"prompt": f"{n}"}) for n in range(5)))
        document = {
            "tools": [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools],
            "calls": calls,
            "many": list(many),
            "unknown": await called(client, "memory_everything", {}),
            "rest": await resources_of(client, known),
        }
    json.dump(document, sys.stdout)


asyncio.run(main())
