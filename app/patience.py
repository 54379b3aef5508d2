"""Waiting for another command: two that start together want one vault, and the second has its turn a moment later."""

from __future__ import annotations

import threading

from app.parts import Parts
from app.session import Session, Tell, open_session
from core.engine.home.keys import HomeKeys
from core.errors import Code, LociError
from core.types.clock import SystemClock

_PATIENCE_S = 2.0
_POLL_S = 0.05


def patient_session(parts: Parts, tell: Tell) -> Session:
    """Open a session; where another process has the vault and does not answer yet, wait a little for it.

    Args:
        parts: the process's parts.
        tell: says what the person should know, on standard error; nothing is said twice.

    Returns:
        A session; the caller closes it.

    Raises:
        LociError: VAULT_BUSY where it is still held after two seconds; as `open_session`.
    """
    said: set[str] = set()

    def tell_once(text: str) -> None:
        if text not in said:
            said.add(text)
            tell(text)

    clock = SystemClock()
    until: float | None = None
    while True:
        try:
            return open_session(parts, tell_once)
        except LociError as error:
            if error.code is not Code.VAULT_BUSY:
                raise
            if until is None:
                until = clock.monotonic() + _PATIENCE_S
            if not _freed(parts, clock, until):
                raise


def _freed(parts: Parts, clock: SystemClock, until: float) -> bool:
    """Wait until the lock is free or a socket answers; False when the time is over."""
    keys = HomeKeys(parts.home)
    while clock.monotonic() < until:
        threading.Event().wait(_POLL_S)
        if keys.lock_holder() is None or parts.is_answered:
            return True
    return False
