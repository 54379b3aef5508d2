"""Clients as the person sees them: cards, what they did, what they would see. Frozen values.

Must not do: hold a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    """Whether a client may come in, and if not, why."""

    AWAKE = "awake"
    ASLEEP = "asleep"
    PAUSED = "paused"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class ClientCard:
    """One client with what it has and did.

    Attributes:
        id: the client.
        name: its name.
        standing: whether it may come in.
        grants: words of `core.types.words.Grant`, in the order of that enumeration.
        spaces: names of the spaces it may see besides GLOBAL and its own.
        trust_ceiling: the most its memories can be trusted, 0 to 1.
        limit_minute: searches a minute; None for no limit.
        limit_session: searches a session; None for no limit.
        paired_at: epoch ms.
        seen_at: when it last proved itself, epoch ms; None for never.
        asked_by: the process that redeemed its code, as reported; "" where the person made the token.
        stands: memories it brought that stand.
        waits: its proposals and requests that wait for a decision.
        answers: receipts of the last 30 days.
        refusals: calls that were refused it in the last 30 days.
        steps: undo steps of its doing that can be taken back.
    """

    id: str
    name: str
    standing: Standing
    grants: tuple[str, ...]
    spaces: tuple[str, ...]
    trust_ceiling: float
    limit_minute: int | None
    limit_session: int | None
    paired_at: int
    seen_at: int | None
    asked_by: str
    stands: int
    waits: int
    answers: int
    refusals: int
    steps: int


@dataclass(frozen=True, slots=True)
class Terms:
    """What the person grants a client from now on.

    Attributes:
        grants: words of `Grant` and `space:<name>`.
        limit_minute: searches a minute; None for no limit.
        limit_session: searches a session; None for no limit.
        trust_ceiling: 0 to 1; None for the usual one of the grants.
    """

    grants: tuple[str, ...]
    limit_minute: int | None
    limit_session: int | None
    trust_ceiling: float | None = None


class Did(StrEnum):
    """Kinds of lines in a client's activity."""

    ASKED = "asked"
    WROTE = "wrote"
    REFUSED = "refused"
    CAME = "came"


@dataclass(frozen=True, slots=True)
class ActivityLine:
    """One thing a client did, newest first in a page.

    Attributes:
        at: epoch ms.
        did: what kind of thing.
        verb: `memory_search`, `store` …
        client: its name.
        receipt_id: of an answer; "" otherwise.
        step_id: of a change; "" otherwise.
        count: memories handed out or changed.
        withheld: memories that were found and not handed out.
        code: of a refusal; "" otherwise.
        is_undone: the change was taken back.
    """

    at: int
    did: Did
    verb: str
    client: str
    receipt_id: str = ""
    step_id: str = ""
    count: int = 0
    withheld: int = 0
    code: str = ""
    is_undone: bool = False


@dataclass(frozen=True, slots=True)
class ActivityPage:
    """A page of activity.

    Attributes:
        lines: newest first.
        next: `after` of the next page; None at the end.
    """

    lines: tuple[ActivityLine, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Undoable:
    """What taking back a client's doings since a time would do.

    Attributes:
        steps: undo steps that would be taken back.
        memories: memories they touch.
        by_verb: steps for each verb.
        expired: steps that are too old to be taken back.
    """

    steps: int
    memories: int
    by_verb: Mapping[str, int]
    expired: int


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What was taken back of a client's doings.

    Attributes:
        step_id: the step that took it back; "" where nothing was to be taken back.
        steps: steps taken back.
        left: steps left as they are, because what they changed was changed since.
    """

    step_id: str
    steps: int
    left: int


@dataclass(frozen=True, slots=True)
class Sight:
    """What a client would be given for a prompt, without giving it.

    Attributes:
        text: the whole context, as it would be sent.
        tokens: of the text.
        budget: the tokens it had to fit in.
        given: ids of the memories in it, in the order of the text.
        withheld: id to the reason, of what was found and would not be handed out.
    """

    text: str
    tokens: int
    budget: int
    given: tuple[str, ...]
    withheld: Mapping[str, str]
