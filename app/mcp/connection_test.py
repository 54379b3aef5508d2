"""`loci mcp --test`: starts the server as an assistant would, with as little around it, and says how each step goes.

Must not do: store anything, print what was remembered.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from app.mcp.client_setup import ClientSetup
from app.mcp.messages import format_sentence
from core.types.values import Grant

_ALL_S = 60.0
_QUERY = "connection test"
_STATUS = "loci://status"


class _StepFailedError(Exception):
    """A step did not go well; the rest is not tried."""


@dataclass(slots=True)
class _Steps:
    """What was tried and how it went."""

    setup: ClientSetup
    done: list[dict[str, object]] = field(default_factory=list)

    def record_step(self, step: str, says: str, *, ok: bool, mark: str = "ok") -> None:
        self.done.append({"step": step, "ok": ok, "says": says})
        self.setup.out.print_line(f"{mark if ok else 'failed':<8}{step:<16}{says}")
        if not ok:
            raise _StepFailedError


def run_trial(setup: ClientSetup) -> bool:
    """Start the server, shake hands, list its tools, search once, look what it sees.

    Args:
        setup: of the client.

    Returns:
        Whether all went well.
    """
    steps = _Steps(setup)
    with _report_test_end(steps):
        asyncio.run(_run_steps_in_time(steps))
    went_well = all(step["ok"] for step in steps.done)
    if setup.out.as_json:
        setup.out.print_document({"ok": went_well, "client": setup.client, "steps": steps.done})
    return went_well


@contextmanager
def _report_test_end(steps: _Steps) -> Iterator[None]:
    """Whatever ends the trial is its last step."""
    try:
        yield
    except* _StepFailedError:
        pass
    except* (MCPError, OSError, TimeoutError) as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        says = format_sentence("no_answer") if isinstance(first, TimeoutError) else format_sentence("not_tried")
        steps.done.append({"step": "start", "ok": False, "says": says})
        steps.setup.out.print_line(f"{'failed':<8}{'start':<16}{says}")


async def _run_steps_in_time(steps: _Steps) -> None:
    async with asyncio.timeout(_ALL_S):
        await _run_test_steps(steps)


async def _run_test_steps(steps: _Steps) -> None:
    program, arguments, variables = steps.setup.server_command()
    secret = steps.setup.variables.get("LOCI_PASSPHRASE_FILE") or steps.setup.found.secret_file
    if secret:  # so that the engine may be started as `loci serve` would be here; assistants are not given it
        variables = {**variables, "LOCI_PASSPHRASE_FILE": str(secret)}
    started = StdioServerParameters(command=program, args=arguments, env=variables)
    async with stdio_client(started, errlog=sys.stderr) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        steps.record_step(
            "start", f"{hello.server_info.name} {hello.server_info.version}, MCP {hello.protocol_version}", ok=True
        )
        tools = await session.list_tools()
        steps.record_step("tools", f"{len(tools.tools)} tools: {', '.join(tool.name for tool in tools.tools)}", ok=True)
        found = await session.call_tool("memory_search", {"query": _QUERY, "limit": 1})
        said = " ".join(part.text for part in found.content if isinstance(part, TextContent))
        steps.record_step("search", said if found.is_error else "Loci answers.", ok=not found.is_error)
        status = await session.read_resource(_STATUS)
        told = json.loads("".join(part.text for part in status.contents if isinstance(part, TextResourceContents)))
        is_blind, says = describe_visibility(steps.setup.client, told)
        steps.record_step("sees", says, ok=True, mark="look" if is_blind else "ok")


def describe_visibility(client: str, status: Mapping[str, Any]) -> tuple[bool, str]:
    """What a client sees, for the person who set it up.

    Args:
        status: the reply of `health`, its texts fenced.

    Returns:
        Whether it sees none of the person's spaces, and a sentence.
    """
    grants, spaces = status.get("grants", ()), status.get("spaces", ())
    if Grant.ALL_SPACES.value in grants:
        return False, format_sentence("sees_all", grants=", ".join(grants))
    name = "sees_some" if spaces else "sees_none"
    return not spaces, format_sentence(name, spaces=", ".join(spaces), grants=", ".join(grants), client=client)
