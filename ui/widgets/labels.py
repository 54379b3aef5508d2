"""Words for what the engine names by a code: kinds, statuses, sources, times, counts, claims, reasons.

Pure but for the local zone; the sentences are files of `resources/help`. Must not do: decide anything, or show a
memory's text that is not made visible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import TypeVar

from core.config.claim_wording import is_owner_named, word_predicate
from core.types.reviews import ClaimSeen
from core.types.values import GLOBAL_SPACE, Kind, Memory, Precision, Role, SecurityTier, Source, Status, When
from core.types.views import MemoryRow
from ui.strings import (
    Labels,
    format_count,
    inspector_strings,
    label_strings,
    lifecycle_strings,
    skip_strings,
    window_strings,
)
from ui.widgets.plaintext import one_line

T = TypeVar("T")

TIER_MARKS: Mapping[SecurityTier, tuple[str, str]] = {
    SecurityTier.CLEARTEXT: ("info", "muted"),
    SecurityTier.SENSITIVE: ("eye-off", "muted"),
    SecurityTier.CONFIDENTIAL: ("lock", "warning"),
}
"""Icon and ink of each security tier."""


@dataclass(frozen=True, slots=True)
class SkippedRecords:
    """Records that an import leaves out for one reason: how many, and why.

    Attributes:
        count: how many; what: in words; why: the reason, as a sentence without its full stop.
    """

    count: int
    what: str
    why: str

    @property
    def sentence(self) -> str:
        """How many records an import leaves out and why, in one line."""
        return f"{self.count:,} {self.what}: {self.why[:1].lower()}{self.why[1:]}."


def describe_omissions(skipped: Mapping[str, int]) -> tuple[SkippedRecords, ...]:
    """Which records an import leaves out and why, the most first.

    Args:
        skipped: reason to count, as importers name reasons.
    """
    known = skip_reasons()
    found = []
    for reason, count in skipped.items():
        words = known.get(reason)
        if words is None:
            found.append(SkippedRecords(count, reason.replace("_", " "), str(skip_strings()["unknown"])))
        elif count:
            why = words["why"]
            found.append(SkippedRecords(count, words["one" if count == 1 else "many"], why[:1].upper() + why[1:]))
    return tuple(sorted(found, key=lambda one: -one.count))


def skip_sentences(skipped: Mapping[str, int]) -> tuple[str, ...]:
    """One sentence for each reason, the most frequent first.

    Args:
        skipped: reason to count.
    """
    return tuple(left.sentence for left in describe_omissions(skipped))


@cache
def skip_reasons() -> Mapping[str, Mapping[str, str]]:
    """The words for the importers' reasons; read once."""
    found: Mapping[str, Mapping[str, str]] = skip_strings()["reasons"]
    return found


def describe_reason(key: str) -> str:
    """The reason of a lifecycle action as a sentence (`resources/help/lifecycle.json`).

    Args:
        key: of `lifecycle.json`; one that is not there is said by its own words. "" for none.
    """
    found = lifecycle_strings().get(key)
    return str(found) if isinstance(found, str) else f"{key.replace('_', ' ').capitalize()}." if key else ""


def capitalize_first(text: str) -> str:
    """A text with a capital at its beginning, as a sentence has."""
    return text[:1].upper() + text[1:]


def lower_sentence(sentence: str) -> str:
    """A sentence as the part of another one: without its stop, its first letter small.

    Args:
        sentence: such as `You said so.`
    """
    cut = sentence.rstrip(".")
    return cut if cut[1:2].isupper() else f"{cut[:1].lower()}{cut[1:]}"


def describe_reasons(keys: Sequence[str]) -> str:
    """Reasons as one list of clauses, without a stop: `it is pinned; you said so`.

    Args:
        keys: of `lifecycle.json`.
    """
    return "; ".join(lower_sentence(describe_reason(key)) for key in keys)


_NAME, _VALUE = 40, 120


def describe_claim(claim: ClaimSeen) -> str:
    """A claim as a sentence: `You live in Lisbon`.

    Args:
        claim: the claim; its words are made visible and cut.
    """
    is_owner, is_denied = is_owner_named(claim.subject), claim.polarity == "negative"
    value = one_line(claim.value, _VALUE)
    strings = label_strings()["claim"]
    subject = strings["you"] if is_owner else one_line(claim.subject, _NAME)
    worded = word_predicate(claim.predicate, claim.value, is_owner=is_owner, is_denied=is_denied)
    if worded is None:
        name = one_line(claim.predicate, _NAME).replace("_", " ")
        return str(strings["denied" if is_denied else "stated"]).format(subject=subject, predicate=name, value=value)
    return f"{subject} {worded} {value}"


KIND_WORDS = Labels("kinds", Kind)
KIND_PLURALS = Labels("kind_plurals", Kind)
STATUS_WORDS = Labels("statuses", Status)
SOURCE_WORDS = Labels("sources", Source)
ROLE_WORDS = Labels("roles", Role)
FORMAT_WORDS = Labels("formats", str)
NAME = 40
"""Characters of a client's name on a line of other words."""


def name_space(space: str, most: int = 60) -> str:
    """A space as people call it.

    Args:
        space: its name on the wire.
        most: characters at most.
    """
    return str(window_strings()["spaces"]["shared"]) if space == GLOBAL_SPACE else one_line(space, most)


def read_space_name(shown: str) -> str:
    """The name on the wire of a space that somebody chose or typed.

    Args:
        shown: as `name_space` tells it.
    """
    return GLOBAL_SPACE if shown == name_space(GLOBAL_SPACE) else shown


def name_with_client(who: str, client: str | None) -> str:
    """Whose words something is and which client reports it: `You, via notes-plugin`.

    Args:
        who: the words for the person, an assistant or a name.
        client: the client's name; None where none brought it.
    """
    return who if client is None else str(label_strings()["via"]).format(who=who, client=one_line(client, NAME))


_HOUR_MS = 3_600_000
_DAY_MS = 86_400_000
_YEAR_DAYS, _MONTH_DAYS = 730, 60
_FORMS: Mapping[Precision, str] = {
    Precision.YEAR: "%Y",
    Precision.MONTH: "%B %Y",
    Precision.DAY: "%-d %b %Y",
}


def count_of(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 memory`, `3,214 memories`.

    Args:
        many: the noun for another number; None for `one` and an s.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def count_unit(number: int, unit: str) -> str:
    """A number with a noun of the units: `1 minute`, `24 rooms`.

    Args:
        unit: of `labels.json`.
    """
    return format_count(label_strings()["units"][unit], number)


def count_memories(number: int) -> str:
    """`1 memory`, `3,214 memories`."""
    return count_unit(number, "memory")


def to_local(ms: int) -> datetime:
    """A moment in the local zone; the nearest representable one where it lies outside the calendar."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        return datetime(9999, 12, 31, tzinfo=UTC) if ms > 0 else datetime(1, 1, 2, tzinfo=UTC)


def date_of(ms: int) -> str:
    """`3 Nov 2026`, in the local zone."""
    at = to_local(ms)
    return f"{at.day} {at:%b} {at.year}"


def time_of(ms: int) -> str:
    """`3 Nov 2026, 14:05`, in the local zone."""
    at = to_local(ms)
    return f"{date_of(ms)}, {at:%H:%M}"


def format_said_at(when: When | None) -> str:
    """A moment as exactly as it is known; "" where it is not.

    Args:
        when: from the memory; shown in the zone it was written with, else in the local one.
    """
    if when is None:
        return ""
    at = to_local(when.ms)
    if when.offset_min is not None and -1440 < when.offset_min < 1440:
        at = at.astimezone(timezone(timedelta(minutes=when.offset_min)))
    elif when.precision in _FORMS:  # a whole day, month or year has no zone
        at = at.astimezone(UTC)
    if when.precision is Precision.YEAR:
        return str(at.year)
    if when.precision is Precision.MONTH:
        return f"{at:%B} {at.year}"
    day = f"{at.day} {at:%b} {at.year}"
    return day if when.precision is Precision.DAY else f"{day}, {at:%H:%M}"


def format_said_or_noted(when: When | None, recorded_at: int) -> str:
    """When something was said, as exactly as it is known; where nobody knows, `recorded 24 Nov 2026`.

    Args:
        when: when it was said; None where unknown.
        recorded_at: when Loci learned it, epoch ms.
    """
    return format_said_at(when) or str(inspector_strings()["date"]["recorded"]).format(date=date_of(recorded_at))


def describe_date(when: When | None, recorded_at: int) -> str:
    """When a memory was said, in words: `Said 3 May 2025`; where only that is known, when it was added.

    Args:
        when: when it was said; None where unknown.
        recorded_at: when Loci learned it, epoch ms.
    """
    strings, said = inspector_strings()["date"], format_said_at(when)
    return str(strings["said"]).format(date=said) if said else str(strings["added"]).format(date=date_of(recorded_at))


def describe_source(memory: Memory, client: str | None = None) -> str:
    """Who said it and when: `You, 9 Oct 2026`."""
    return describe_speaker(
        memory.author, memory.role, memory.occurred, memory.recorded_at, client, is_edited=memory.is_edited
    )


def describe_speaker(
    author: str | None,
    role: Role,
    occurred: When | None,
    recorded_at: int,
    client: str | None = None,
    *,
    is_edited: bool = False,
) -> str:
    """Who said something, and when.

    Args:
        author: the name of whoever's words these are.
        occurred: when it was said; None where unknown.
        recorded_at: when Loci learned it, epoch ms.
        client: the name of the client that reports it; None where none does.
        is_edited: whether the person wrote these words anew, though they were somebody else's.
    """
    when = format_said_or_noted(occurred, recorded_at)
    who = name_speaker(author, role, is_edited=is_edited)
    if not who and client is None and role is Role.OTHER:
        return capitalize_first(when)  # nobody knows who: "Other" would say no more
    return f"{name_with_client(who or ROLE_WORDS[role], client)}, {when}"


def name_speaker(author: str | None, role: Role, *, is_edited: bool = False) -> str:
    """Who said something: a name, `You` or `Assistant`; "" where nobody is known.

    Args:
        author: the name of whoever's words these are.
        is_edited: whether the person wrote these words anew, though they were somebody else's.
    """
    name = one_line(author or "", NAME)
    if role is Role.USER or name.casefold() in {"", role.value}:
        name = "" if role in {Role.SOURCE, Role.OTHER} else ROLE_WORDS[role]
    return name_edited(name) if name and is_edited else name


def name_edited(who: str) -> str:
    """Whose words they were before the person wrote them anew: `Mara, edited by you`."""
    return str(label_strings()["edited"]).format(who=who)


def speaker_in_talk(memory: MemoryRow) -> str:
    """Who said something in a conversation; "" where that is the person, or nobody is named."""
    is_said = memory.kind is Kind.EPISODE and memory.role is not Role.USER and memory.author
    return name_speaker(memory.author, memory.role, is_edited=memory.is_edited) if is_said else ""


def format_ago(ms: int, now_ms: int) -> str:
    """How long ago in plain words: `just now`, `5 minutes ago`, `yesterday`, else the date."""
    seconds, strings = (now_ms - ms) // 1000, label_strings()["ago"]
    if seconds < 60:
        return str(strings["now"]) if seconds >= -60 else date_of(ms)
    if seconds < 3600:
        return format_count(strings["minutes"], seconds // 60)
    if seconds < 86_400:
        return format_count(strings["hours"], seconds // 3600)
    days = seconds // 86_400
    return format_count(strings["days"], days) if days < 7 else date_of(ms)


def format_days(days: float) -> str:
    """A length of time in words: `12 days`, `5 months`, `3 years`.

    Args:
        days: 0 or more.
    """
    whole = round(days)
    if whole >= _YEAR_DAYS:
        return count_unit(round(whole / 365), "year")
    return count_unit(round(whole / 30.4), "month") if whole >= _MONTH_DAYS else count_unit(whole, "day")


def format_span(ms: int) -> str:
    """A length of time in words: `10 minutes`, `3 hours`, `12 days`, `5 months`.

    Args:
        ms: milliseconds, 0 or more.
    """
    if ms < _HOUR_MS:
        return count_unit(max(1, round(ms / 60_000)), "minute")
    return count_unit(round(ms / _HOUR_MS), "hour") if ms < _DAY_MS else format_days(ms / _DAY_MS)


def size_of(octets: int) -> str:
    """`812 bytes`, `4.2 MB`."""
    if octets < 1000:
        return count_unit(octets, "byte")
    size = float(octets)
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 1000:
            return f"{size:.1f} {unit}" if size < 10 else f"{size:.0f} {unit}"
    return f"{size / 1000:.1f} TB"


def format_day_heading(ms: int, now_ms: int) -> str:
    """The heading of a day: `Today`, `Yesterday`, `14 November 2026`, in the local zone."""
    at, today = to_local(ms).date(), to_local(now_ms).date()
    if at == today:
        return str(label_strings()["days"]["today"])
    if at == today - timedelta(days=1):
        return str(label_strings()["days"]["yesterday"])
    return f"{at.day} {at:%B} {at.year}"


def format_clock(ms: int) -> str:
    """`14:05`, in the local zone."""
    return f"{to_local(ms):%H:%M}"
