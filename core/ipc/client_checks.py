"""What is refused to a client before the engine is asked: spaces out of its reach, texts too long, another's word.

Must not do: decide what the engine decides; it looks at the scope of every query once more.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.errors import Code, UserError
from core.ipc.sessions import Session
from core.types.requests import StoreRequest
from core.types.words import GLOBAL_SPACE, Grant, Source

TEXT_BYTES = 8 * 1024  # design section 8, texts of store methods


def check_spaces(session: Session, names: Iterable[str]) -> None:
    """Refuse spaces that a client may not see.

    Args:
        session: who asks.
        names: of spaces.

    Raises:
        UserError: ACCESS_DENIED, in the same words whether or not there is such a space.
    """
    if not all(session.sees(name) for name in names):
        raise UserError(Code.ACCESS_DENIED, "This client has no grant for that space.")


def check_store(request: StoreRequest, session: Session) -> None:
    """Refuse what a client may not store; the owner may store anything.

    Args:
        request: what is asked.
        session: who asks.

    Raises:
        UserError: TEXT_TOO_LARGE, FORBIDDEN_FIELD, ACCESS_DENIED.
    """
    if session.owner:
        return
    size = len(request.text.encode("utf-8"))
    if size > TEXT_BYTES:
        raise UserError(
            Code.TEXT_TOO_LARGE, f"The text has {size} bytes; a client may store {TEXT_BYTES} at once, so split it."
        )
    if request.source is Source.USER_EXPLICIT and not session.may(Grant.SPEAK_FOR_USER.value):
        raise UserError(Code.FORBIDDEN_FIELD, "`source` may be user_explicit only with the grant speak_for_user.")
    if request.space is not None:
        check_spaces(session, [request.space])
        if request.space == GLOBAL_SPACE:
            raise UserError(Code.ACCESS_DENIED, "Only the person puts memories into GLOBAL.")
