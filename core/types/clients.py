"""Clients: the engine's record of each, and what the person sees: cards, activity, previews (E12a, E12b); changes.

Must not do: hold a text of a memory, or a token in anything but the record, which never leaves the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import StrEnum

from core.types.values import OWNER_CHANNEL, Grant

Place = tuple[str | None, ...]
"""Where a memory lies, by the columns that sight is judged by; no listener is ever told it."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Memories that went the same way.

    Attributes:
        before: where they were; None where they were not.
        after: where they are; None where they are no longer.
        ids: the memories.
    """

    before: Place | None
    after: Place | None
    ids: tuple[str, ...]


Moves = tuple[Moved, ...]
"""What one transaction did."""


SLEEPS_AFTER_MS = 90 * 86_400_000
"""A client that did not come for so long sleeps until the person wakes it (reliability study, D P8)."""


def is_asleep(now_ms: int, *times: int | None) -> bool:
    """Whether nothing was heard of a client for so long that it sleeps.

    Args:
        *times: when it was last seen, woken and paired; None for never.

    Returns:
        Whether all of these lie more than 90 days back.
    """
    return now_ms - max(0, *(at for at in times if at is not None)) > SLEEPS_AFTER_MS


@dataclass(frozen=True, slots=True)
class ClientRecord:
    """A paired client as the server needs it.

    Attributes:
        token: 32 bytes; never logged, never sent again.
        grants: words of `core.types.values.Grant`.
        space_ids: ids of the spaces it may see besides GLOBAL and its own.
        spaces: the names of those spaces.
        own_space_id: its `client:<name>` space.
        limit_minute: searches a minute; None for no limit.
        limit_session: searches a session; None for no limit.
        woken_at: when the person last woke it, epoch ms; None for never.
        asleep: it was away for so long that it is not let in until the person wakes it.
    """

    id: str
    name: str
    token: bytes = field(repr=False)
    grants: frozenset[str]
    space_ids: frozenset[str]
    spaces: tuple[str, ...]
    own_space_id: str
    trust_ceiling: float
    limit_minute: int | None
    limit_session: int | None
    paired_at: int
    last_seen_at: int | None
    paused: bool
    revoked: bool
    woken_at: int | None = None
    asleep: bool = False


def owner_record(token: bytes = b"") -> ClientRecord:
    """The owner as a client, with every grant and no limit.

    Args:
        token: of the owner's channel; none where nothing is to be authenticated.
    """
    return ClientRecord(
        id=OWNER_CHANNEL,
        name=OWNER_CHANNEL,
        token=token,
        grants=frozenset(grant.value for grant in Grant),
        space_ids=frozenset(),
        spaces=(),
        own_space_id="",
        trust_ceiling=1.0,
        limit_minute=None,
        limit_session=None,
        paired_at=0,
        last_seen_at=None,
        paused=False,
        revoked=False,
    )


class ClientState(StrEnum):
    """Whether a client may come in, and if not, why."""

    AWAKE = "awake"
    ASLEEP = "asleep"
    PAUSED = "paused"
    UNPAIRED = "unpaired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class ClientCard:
    """One client with what it has and did.

    Attributes:
        id: the client.
        name: its name.
        standing: whether it may come in.
        grants: words of `core.types.values.Grant`, in the order of that enumeration.
        spaces: names of the spaces it may see besides GLOBAL and its own.
        trust_ceiling: the most its memories can be trusted, 0 to 1.
        limit_minute: searches a minute; None for no limit.
        limit_session: searches a session; None for no limit.
        paired_at: epoch ms; 0 for one that is to be paired anew.
        seen_at: when it last proved itself, epoch ms; None for never.
        asked_by: the process that redeemed its code, as reported; "" where the person made the token.
        stands: memories it brought that stand.
        waits: its proposals and requests that wait for a decision.
        answers: receipts of the last 30 days.
        refusals: calls that were refused it in the last 30 days.
        steps: undo steps of its doing that can be taken back.
        sensitive_s: for so many more seconds it gets what is sensitive too.
    """

    id: str
    name: str
    standing: ClientState
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
    sensitive_s: int = 0


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


@dataclass(frozen=True, slots=True)
class Change:
    """What a client may do beside what it may, or no more; its limits stay.

    Its ceiling stays too, unless it may now speak for the person, or may no more: then it has the usual one.

    Attributes:
        more: grants it gets.
        less: grants that are taken from it.
    """

    more: tuple[str, ...]
    less: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Denied:
    """A name the person said no to.

    Attributes:
        name_key: the name, folded.
        denied_at: epoch ms.
    """

    name_key: str
    denied_at: int


class Did(StrEnum):
    """Kinds of lines in a client's activity."""

    ASKED = "asked"
    WROTE = "wrote"
    REFUSED = "refused"


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
        memory_id: of a change, the first memory it was about; "" for none, or one that is gone.
        words: how that memory begins, at most 200 characters; hostile text.
        space: where it lies.
        reasons: why memories were withheld, each code of a receipt with how many, the commonest first.
        operation: of a change, what was answered at the time: `ADD`, `PROPOSED`, `QUARANTINE` …; "" where no such
            answer was noted.
        is_warned: that memory reads like an instruction, and nobody let it through; so it is now, not at the time.
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
    memory_id: str = ""
    words: str = ""
    space: str = ""
    reasons: tuple[tuple[str, int], ...] = ()
    operation: str = ""
    is_warned: bool = False


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
        by_verb: of these steps, how many of each verb.
        expired: memories it brought since then that would stand on, because the step that brought them is too old.
        left: steps that would stand on, because what they changed was changed since.
        archived: memories that removing all it ever did would send to the archive; 0 where less was asked about.
        left_removing: steps that would stand on even then; 0 where less was asked about.
        untried: older steps that were not tried, so as not to hold up who writes meanwhile; where there are any, the
            counts are the least.
    """

    steps: int
    memories: int
    by_verb: Mapping[str, int]
    expired: int
    left: int = 0
    archived: int = 0
    left_removing: int = 0
    untried: int = 0


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
class Before:
    """What is known of a name before its bearer is paired; neither case nor the number of blanks makes it another.

    Attributes:
        denied: the person said no to it, and has not opened pairing for it since.
        taken: a paired client has it.
        former: a client had it that was revoked; whoever gets it takes up that one's space and what it brought.
    """

    denied: bool = False
    taken: bool = False
    former: bool = False


@dataclass(frozen=True, slots=True)
class ContextPreview:
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


@dataclass(frozen=True, slots=True)
class Removal:
    """What was taken away of all a client ever did.

    Attributes:
        step_id: the one step that did it; "" where nothing was to be taken away.
        steps: steps taken back.
        left: steps left as they are, because what they changed was changed since.
        archived: memories that could not be taken back any more and went to the archive.
        left_ids: memories that such steps changed and that stand.
    """

    step_id: str
    steps: int
    left: int
    archived: int
    left_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairingCode:
    """The code that is shown.

    Attributes:
        code: 16 characters of base32; show it in groups of four.
        expires_s: seconds it can be redeemed for.
        missed: how many wrong codes were given for it so far; may be asked on any thread.
    """

    code: str
    expires_s: float
    missed: Callable[[], int] = field(default=lambda: 0, compare=False)


@dataclass(frozen=True, slots=True)
class PairingQuestion:
    """What the person is asked once somebody redeemed the code. All of it may be shown as it stands.

    Attributes:
        id: for `answer`.
        client: what it calls itself, escaped and cut.
        name: what it will be called here.
        grants: words of `Grant` and `space:<name>`.
        asked_by: the process, as reported; "" where unknown.
        code_end: the last four characters of the code.
        answer_s: seconds until it counts as denied.
        former: a client of that name was revoked; this one would take up its space and what it brought.
    """

    id: str
    client: str
    name: str
    grants: tuple[str, ...]
    asked_by: str
    code_end: str
    answer_s: float
    former: bool = False


class PairingOutcome(StrEnum):
    """How a pairing ended."""

    PAIRED = "paired"
    DENIED = "denied"
    DENIED_BEFORE = "denied_before"
    EXPIRED = "expired"
    UNANSWERED = "unanswered"
    TAKEN = "taken"
    WRONG_CODES = "wrong_codes"
    REPLACED = "replaced"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PairingEnd:
    """How a pairing ended, told to the person only.

    Attributes:
        outcome: how. `denied_before`: that name has a remembered no, until pairing is opened for that very name.
            `taken`: a paired client has that name. `failed`: the client went away, or asked for nothing it may have.
        name: of the client; "" where none asked.
        grants: what it got; empty unless it was paired.
        missed: how many wrong codes were given.
    """

    outcome: PairingOutcome
    name: str = ""
    grants: tuple[str, ...] = ()
    missed: int = 0


@dataclass(frozen=True)
class PairingTurn:
    """One opening of pairing: three things to wait for. Cancelling a future changes nothing but that nobody hears.

    Attributes:
        code: the code; fails with what `open_pairing` can fail with.
        asked: the question; is cancelled where it ends without one.
        ended: how it ended; never fails.
    """

    code: Future[PairingCode]
    asked: Future[PairingQuestion]
    ended: Future[PairingEnd]
