"""Who did something and when, in words that all rooms of the journal share.

The sentences are `resources/help/journal_page.json`. Must not do: decide or judge.
"""

from __future__ import annotations

from datetime import date, timedelta

from ui.strings import journal_strings
from ui.widgets.labels import date_of, to_local
from ui.widgets.plaintext import one_line

_CLIENT = "client:"


def describe_author(actor: str, client: str | None = None) -> str:
    """Who did it, in words.

    Args:
        actor: `owner`, `client`, `scheduler`, or as the audit writes it: `client:editor`.
        client: the client's name, where it is distinguished.
    """
    name = client or actor.removeprefix(_CLIENT)
    names = journal_strings()["actors"]
    return one_line(name, 60) if client or actor.startswith(_CLIENT) else str(names.get(actor, names["client"]))


def format_near_moment(ms: int, now_ms: int) -> str:
    """A moment near the present: `today at 14:05`, `tomorrow at 03:00`, else `3 Nov 2026, 14:05`."""
    strings, at = journal_strings()["days"], to_local(ms)
    name = _near_days(now_ms).get(at.date())
    return str(strings["near" if name else "far"]).format(day=name or date_of(ms), time=f"{at:%H:%M}")


def format_day(ms: int, now_ms: int) -> str:
    """A day near the present: `today`, `yesterday`, else `3 Nov 2026`."""
    return _near_days(now_ms).get(to_local(ms).date(), date_of(ms))


def _near_days(now_ms: int) -> dict[date, str]:
    strings, today = journal_strings()["days"], to_local(now_ms).date()
    tomorrow, yesterday = today + timedelta(days=1), today - timedelta(days=1)
    return {today: strings["today"], tomorrow: strings["tomorrow"], yesterday: strings["yesterday"]}
