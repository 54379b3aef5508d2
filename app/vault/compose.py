"""The only wiring of an engine: from what the environment says to one that is locked."""

from __future__ import annotations

from collections.abc import Callable

from app.parts import Parts
from core.engine.facade import Engine, RootKey, Setup, built_in_embedder


def build_engine(
    parts: Parts, tell: Callable[[str], None], take_over: Callable[[RootKey], None] | None = None
) -> Engine:
    """A locked engine for a home.

    Args:
        tell: says what the person should know.
        take_over: asks another process that owns the vault to hand it over; None where it may keep it.

    Returns:
        The engine; whoever asks closes it.
    """
    setup = Setup(
        parts.home,
        parts.make_clock(tell),
        built_in_embedder(),
        person_home=parts.environment.person_home,
        take_over=take_over,
    )
    return Engine(setup)
