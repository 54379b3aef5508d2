"""The MCP server itself: the official SDK's low-level server, its handlers, and an orderly end.

A line that is no message is answered too: the SDK drops it in silence, and its sender would wait for ever. Must not
do: let an exception's text or a value that was sent out, print; whatever fails is a code and a sentence.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import version
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from app.mcp.link import ClientReach, EngineLink
from app.mcp.messages import format_sentence, load_words
from app.mcp.texts import SHOWN, format_result
from app.mcp.tools import Tool, callable_tools, common_words, list_tools
from core.errors import BugError, LociError
from core.ipc.protocol.messages import RateLimitedError
from core.text.screening.fences import escape_fenced
from core.types.values import Grant

Context = ServerRequestContext[Any, Any]

_PLAIN = "text/plain"
_GET = "memory_get"
_DIGITS = 10
_PEEK_S = 0.3  # an assistant waits for this server; a busy engine is not worth more


class AssistantBridge:
    """Answers an assistant's requests by calls of the engine."""

    def __init__(self, link: EngineLink, profile: str) -> None:
        """Make it.

        Args:
            link: the way to the engine.
            profile: one of `PROFILES`.
        """
        self._link, self._profile, self._tools = link, profile, callable_tools(profile)
        way = "whole_by_tool" if _GET in self._tools else "whole_by_resource"
        self._whole = format_sentence(way, shown=str(SHOWN))

    def make_server(self, spaces: str = "") -> Server[Any]:
        """A server with this bridge's handlers.

        Args:
            spaces: what is told of the spaces it sees; "" where that is not known yet.
        """
        told = (str(load_words()["instructions"]), common_words(self._profile), spaces)
        return Server(
            "loci",
            version=version("loci-palace"),
            title="Loci",
            instructions=" ".join(part for part in told if part),
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
        )

    async def list_tools(self, _: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """The tools of the profile; the same whether the engine runs or not."""
        return types.ListToolsResult(tools=[_declare_tool(tool) for tool in list_tools(self._profile).values()])

    async def call_tool(self, _: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call one method; what the engine refuses is a tool error, which the assistant reads."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS, format_sentence("unknown_tool", tools=", ".join(list_tools(self._profile)))
            )
        arguments = tool.arguments(params.arguments)
        try:
            result = await self._link.call(tool.name, arguments, repeatable=tool.repeatable)
            text = format_result(result, self._whole, int(arguments.get("offset", 0)))
        except LociError as error:
            return _make_failed_result(error)
        except Exception as error:  # noqa: BLE001 - the last keeper: its text could hold what was sent
            return _make_failed_result(_bug_error(error))
        # No structured content: no tool promises an output schema, and the same twice would be twice the tokens.
        return types.CallToolResult(content=[types.TextContent(text=text)])

    async def list_resources(
        self, _: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Resources that need no argument."""
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=uri, name=said["title"], description=said["about"], mime_type=_PLAIN)
                for uri, said in load_words()["resources"].items()
                if "{" not in uri
            ]
        )

    async def list_templates(
        self, _: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Resources that need one."""
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=uri, name=said["title"], description=said["about"], mime_type=_PLAIN
                )
                for uri, said in load_words()["resources"].items()
                if "{" in uri
            ]
        )

    async def read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read one resource."""
        method, arguments = _method_for_resource(str(params.uri))
        text = await self._call_reader(method, arguments)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, mime_type=_PLAIN, text=text)]
        )

    async def list_prompts(self, _: Context, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """The two prompts."""
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=name,
                    title=said["title"],
                    description=said["about"],
                    arguments=[
                        types.PromptArgument(name=said["argument"], description=said["argument_about"], required=True)
                    ],
                )
                for name, said in load_words()["prompts"].items()
            ]
        )

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Fill one prompt."""
        said = load_words()["prompts"].get(params.name)
        if said is None:
            raise MCPError(types.INVALID_PARAMS, format_sentence("unknown_prompt"))
        given = (params.arguments or {}).get(said["argument"])
        if not given:
            raise MCPError(types.INVALID_PARAMS, format_sentence("missing_argument", name=said["argument"]))
        context = await self._call_reader("memory_context", {"prompt": given}) if "{context}" in said["says"] else ""
        text = said["says"].format(context=context, given=escape_fenced(given))
        return types.GetPromptResult(
            description=said["about"],
            messages=[types.PromptMessage(role="user", content=types.TextContent(text=text))],
        )

    async def _call_reader(self, method: str, arguments: Mapping[str, Any]) -> str:
        """Call a reading method where MCP has no tool error."""
        try:
            result = await self._link.call(method, arguments, repeatable=True)
            return format_result(result, self._whole, arguments.get("offset", 0))
        except LociError as error:
            raise MCPError(types.INTERNAL_ERROR, _error_sentence(error), {"code": error.code.value}) from None
        except Exception as error:  # noqa: BLE001 - the last keeper, as above
            raise MCPError(types.INTERNAL_ERROR, _error_sentence(_bug_error(error))) from None


def _method_for_resource(uri: str) -> tuple[str, dict[str, Any]]:
    """The method a resource stands for."""
    try:
        parts = urlsplit(uri)
        path, query = unquote(parts.path).strip("/"), parse_qs(parts.query)
    except ValueError:
        raise MCPError(types.INVALID_PARAMS, format_sentence("unknown_resource")) from None
    if parts.scheme == "loci" and parts.netloc == "status" and not path:
        return "health", {}
    if parts.scheme == "loci" and parts.netloc == "memory" and path:
        offset = query.get("offset", ["0"])[-1]
        if offset.isascii() and offset.isdigit() and len(offset) < _DIGITS:
            return _GET, {"id": path, **({"offset": int(offset)} if int(offset) else {})}
    if parts.scheme == "loci" and parts.netloc == "context" and not path and len(query.get("prompt", ())) == 1:
        return "memory_context", {"prompt": query["prompt"][0]}
    raise MCPError(types.INVALID_PARAMS, format_sentence("unknown_resource"))


def _declare_tool(tool: Tool) -> types.Tool:
    # What is so unless it is said stays unsaid: a model reads each word of it in every conversation.
    return types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=dict(tool.schema),
        annotations=types.ToolAnnotations(
            read_only_hint=True if tool.reads else None,
            destructive_hint=None if tool.reads else tool.destroys,
            open_world_hint=False,
        ),
    )


def _make_failed_result(error: LociError) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=_error_sentence(error))], is_error=True)


def _error_sentence(error: LociError) -> str:
    after = f" Try again in {error.retry_after:.0f} s." if isinstance(error, RateLimitedError) else ""
    return f"{error.code.value}: {escape_fenced(error.sentence)}{after}"


def _bug_error(error: Exception) -> LociError:
    sys.stderr.write(f"loci mcp: {type(error).__name__}\n")
    return BugError(type(error).__name__)


def run_server(make_link: Callable[[], EngineLink], profile: str) -> None:
    """Serve standard input and output until input ends.

    Args:
        make_link: makes the way to the engine, on the loop.
        profile: one of `PROFILES`.
    """
    logging.disable(logging.CRITICAL)  # the SDK logs what it could not read; that is the person's text
    asyncio.run(_serve_stdio(make_link, profile))


def describe_spaces(client: str, welcome: ClientReach | None) -> str:
    """What an assistant is told of the spaces it sees.

    Args:
        welcome: what the engine said; None where it did not say it in time.

    Returns:
        A sentence or two; "" where nothing is known.
    """
    if welcome is None:
        return ""
    if Grant.ALL_SPACES.value in welcome.grants:
        name = "you_see_all"
    else:
        name = "you_see_some" if welcome.spaces else "you_see_none"
    return format_sentence(name, spaces=escape_fenced(", ".join(welcome.spaces)), own=f"client:{client}", client=client)


async def _serve_stdio(make_link: Callable[[], EngineLink], profile: str) -> None:
    link = make_link()
    try:
        async with stdio_server() as (read, write):
            sys.stdout = sys.stderr  # what anything prints would be flushed onto the wire at the end
            server = AssistantBridge(link, profile).make_server(
                describe_spaces(link.client, await link.read_reach(_PEEK_S))
            )
            await server.run(StrictStream(read, write), write, server.create_initialization_options())
    finally:
        await link.close()


class StrictStream:
    """The messages of a stream; for a line that is none, its sender gets a JSON-RPC error."""

    def __init__(
        self,
        inner: ContextReceiveStream[SessionMessage | Exception],
        answers: ContextSendStream[SessionMessage],
    ) -> None:
        """Make it.

        Args:
            inner: what `stdio_server` read.
            answers: where it writes.
        """
        self._inner, self._answers = inner, answers

    @property
    def last_context(self) -> contextvars.Context | None:
        """The context in which the last message was read; the SDK looks for it by this name."""
        return self._inner.last_context

    async def receive(self) -> SessionMessage | Exception:
        """The next message.

        Raises:
            anyio.EndOfStream: input has ended.
        """
        while True:
            item = await self._inner.receive()
            if isinstance(item, SessionMessage):
                return item
            error = types.ErrorData(code=types.PARSE_ERROR, message=format_sentence("not_json"))
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._answers.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        """The stream itself."""
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        """Use as a context manager."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
