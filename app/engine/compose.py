"""The only wiring of an engine: from what the environment says to one that is locked."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.context import AppContext
from app.environment import Environment
from core.engine.facade import Engine, RootKey, Setup, built_in_embedder

if TYPE_CHECKING:
    from app.mcp.registrations import AssistantRegistrations
    from core.types.files.wipe import Registered


class _LazyRegistrations:
    """What stands outside the home; nothing of it is loaded before somebody wipes."""

    def __init__(self, found: Environment) -> None:
        self._found = found

    def find(self) -> tuple[str, ...]:
        """Files that name the vault."""
        return self._make().find()

    def remove(self) -> Registered:
        """Take the vault out of them."""
        return self._make().remove()

    def _make(self) -> AssistantRegistrations:
        from app.mcp.registrations import AssistantRegistrations

        return AssistantRegistrations(self._found, os.environ)


def build_engine(
    app_context: AppContext,
    tell: Callable[[str], None],
    take_over: Callable[[RootKey], None] | None = None,
    *,
    is_for_one_command: bool = False,
) -> Engine:
    """A locked engine for a home.

    Args:
        tell: says what the person should know.
        take_over: asks another process that owns the vault to hand it over; None where it may keep it.
        is_for_one_command: whether it ends behind one answer, and loads no more than that needs.

    Returns:
        The engine; whoever asks closes it.
    """
    setup = Setup(
        app_context.home,
        app_context.make_clock(tell),
        built_in_embedder(),
        person_home=app_context.environment.person_home,
        take_over=take_over,
        is_for_one_command=is_for_one_command,
        registrations=_LazyRegistrations(app_context.environment),
    )
    return Engine(setup)
