"""What the command line says about one memory: who said it and when, how it stands, what it claims, what trust it has.

The sentences are `resources/help/commandline.json`, and those of the window's inspector and review beside it. Must not
do: decide anything, or hand out text that is not made visible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from app.cli.output import one_line
from core.config.claim_wording import is_owner_named, word_predicate
from core.config.help_strings import format_count as format_count
from core.config.help_strings import read_help_strings

_NAME, _VALUE, _WORDS = 40, 80, 60
_FORMS = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}
_IDLE = 0.005
_OLDER_FIELDS = ("doubt", "vault_seq", "seen_seq")

Item = Mapping[str, Any]


def load_words(name: str = "commandline") -> Mapping[str, Any]:
    """The sentences of one file of `resources/help`.

    Args:
        name: its name without the ending.
    """
    found: Mapping[str, Any] = read_help_strings(name)
    return found


def older_words(older: Mapping[str, Any]) -> str:
    """What a person is told of an older copy of the vault that nobody has accepted.

    Args:
        older: as `VerbSession.older_copy` gives it.

    Returns:
        One line.
    """
    sentences = load_words()["accept_older"]
    sentence = sentences["older" if older["doubt"] == "older" else "unknown"].format(
        seen=f", {format_minute(older['seen_at'])}" if older["seen_at"] else "",
        **{name: older[name] for name in _OLDER_FIELDS},
    )
    return f"{sentence} {sentences['until'].format(do=older['do'])}"


# ---- times


def format_day(moment: str | None, precision: str | None = None) -> str:
    """A moment of a reply as a day of this machine's zone; "" for none.

    Args:
        moment: ISO 8601.
        precision: how exactly it is known; a whole day, month or year has no zone.
    """
    if moment is None:
        return ""
    at = datetime.fromisoformat(moment)
    return at.strftime(_FORMS[precision]) if precision in _FORMS else at.astimezone().strftime("%Y-%m-%d")


def format_minute(moment: str) -> str:
    """A moment of a reply to the minute, in this machine's zone.

    Args:
        moment: ISO 8601.
    """
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")


# ---- one memory


def first_words(text: str) -> str:
    """The first words of a memory, on one line."""
    return one_line(text, _WORDS)


def on_day(item: Item) -> str:
    """The day on which it was said, as exactly as known; else `stored` and the day on which it was.

    Args:
        item: a memory of a reply.
    """
    if item["occurred_at"] is None:
        return str(load_words()["noted"]).format(date=format_day(item["created_at"]))
    return format_day(item["occurred_at"], item["occurred_precision"])


def describe_source(item: Item) -> str:
    """When it was said and by whom: `2025-03-01, by a tool, brought by notes`.

    Args:
        item: a memory of a reply.
    """
    return f"{on_day(item)}, {_describe_origin(item, 'source')}"


def describe_author(item: Item) -> str:
    """Whose word it is, in few words: `your word`, `a document, brought by notes`.

    Args:
        item: a memory of a reply.
    """
    return _describe_origin(item, "side")


def _describe_origin(item: Item, form: str) -> str:
    source = str(load_words()[form][item["source"]])
    if item.get("client"):
        return str(load_words()["as_client"]).format(source=source, who=one_line(item["client"], _NAME))
    return source


def describe_status(item: Item) -> list[str]:
    """How it stands and why.

    Args:
        item: a memory of a reply.

    Returns:
        The status, then its reason where there is one.
    """
    sentences = [str(load_words()["status"][item["status"]])]
    reason = item.get("status_reason")
    if reason is None:
        return sentences
    why = load_words()["why"].get(reason) or load_words("review")["reasons"].get(reason)
    return sentences if why is None else [*sentences, str(why)]


def describe_conditions(item: Item) -> list[str]:
    """Under what condition it is true, as the person said at the desk."""
    found = (("when", item.get("true_when")), ("unless", item.get("true_unless")))
    return [str(load_words()[name]).format(value=one_line(value, _VALUE)) for name, value in found if value]


# ---- claims


def describe_claim(claim: Item) -> str:
    """A claim as a sentence a person would say: `You live in Lisbon`.

    Args:
        claim: of the reply of `show`.
    """
    is_owner, is_denied = is_owner_named(claim["subject"]), claim["polarity"] == "negative"
    subject, value = "You" if is_owner else one_line(claim["subject"], _NAME), one_line(claim["value"], _VALUE)
    worded = word_predicate(claim["predicate"], claim["value"], is_owner=is_owner, is_denied=is_denied)
    if worded is None:
        name = one_line(claim["predicate"], _NAME).replace("_", " ")
        return f"{subject} · {'not ' if is_denied else ''}{name} · {value}"
    return f"{subject} {worded} {value}"


def describe_claim_state(claim: Item) -> str:
    """How a claim stands: `current · 94 % confidence · 1 quote · from 2026-03-03 · only when in winter`.

    Args:
        claim: of the reply of `show`.
    """
    forms, own = load_words("belief")["claims"], load_words()
    quotes = [piece["stance"] for piece in claim["evidence"]]
    parts = [str(load_words("belief")["states"][claim["state"]]).lower()]
    if claim["state"] in ("asserted", "disputed", "draft"):
        parts.append(str(forms["sure"]).format(percent=round(100 * claim["confidence"])))
    parts.append(format_count(own["quotes"], quotes.count("supporting")))
    if against := quotes.count("contradicting"):
        parts.append(format_count(own["against"], against))
    parts.append(_format_span(forms, format_day(claim["valid_from"]), format_day(claim["valid_to"])))
    qualifiers = claim["qualifiers"]
    if isinstance(qualifiers.get("when"), str) and qualifiers["when"]:
        parts.append(str(forms["when"]).format(value=one_line(qualifiers["when"], _VALUE)))
    if "kept" in qualifiers:
        parts.append(str(forms["kept"]))
    return " · ".join(part for part in parts if part)


def _format_span(forms: Mapping[str, str], begin: str, end: str) -> str:
    if begin and end:
        return forms["between"].format_map({"from": begin, "to": end})
    if begin:
        return forms["from"].format(date=begin)
    return forms["until"].format(date=end) if end else ""


# ---- trust


def describe_level(trust: float) -> str:
    """How far that is, in words: `well trusted`.

    Args:
        trust: 0 to 1.
    """
    steps, shown = load_words("belief")["level"], round(trust, 2)  # as the number beside it
    return str(next(step["says"] for step in steps if shown >= step["from"] or step["from"] == 0)).lower()


def describe_trust(shown: Item) -> list[tuple[str, str, str]]:
    """The terms of a trust: what each does, its name, and the numbers that made it.

    Args:
        shown: the reply of `show`.

    Returns:
        Figure with its sign, name and sentence of each term; what bounds the sum says to what.
    """
    forms, made = load_words("belief"), []
    for term in shown["trust_terms"]:
        name, value = term["term"], term["value"]
        if name == "trust":
            continue
        figure = f"{value:.2f}" if name in ("source", "ancestors", "ceiling") else _format_signed(value)
        made.append((figure, str(forms["terms"][name]), _explain_step(name, shown, value)))
    return made


def _format_signed(value: float) -> str:
    return "0.00" if abs(value) < _IDLE else f"{value:+.2f}"


def _explain_step(name: str, shown: Item, value: float) -> str:
    forms = load_words("belief")["steps"]
    if name == "source":
        return str(load_words("belief")["sources"][shown["source"]])
    if name == "corroboration":
        sources = shown["corroboration"]
        return str(forms[name]["none"] if sources < 2 else forms[name]["many"].format(count=sources))
    if name == "feedback":
        return _format_feedback(forms[name], shown["reinforcements"], shown["disputes"])
    if name == "age":
        return _format_age(shown)
    if name == "ancestors":
        return str(forms[name]["one"]).format(value=f"{value:.2f}")
    client = shown.get("client")
    form = forms["ceiling"] if client else forms["ceiling_nobody"]
    return str(form).format(name=one_line(client or "", _NAME), value=f"{value:.2f}")


def _format_feedback(forms: Mapping[str, Any], confirmed: int, disputed: int) -> str:
    if confirmed and disputed:
        return str(forms["both"]).format_map({"for": confirmed, "against": disputed})
    if confirmed or disputed:
        return format_count(forms["for" if confirmed else "against"], confirmed or disputed)
    return str(forms["none"])


def _format_age(shown: Item) -> str:
    """Storing sets "last confirmed": only what came after that is a person's confirmation."""
    if shown["occurred_at"] is None:
        return str(load_words("belief")["steps"]["age"]["none"])
    occurred, confirmed = shown["occurred_at"], shown["last_confirmed_at"]
    is_confirmed = _parse_moment(confirmed) > max(_parse_moment(occurred), _parse_moment(shown["created_at"]))
    if is_confirmed:
        return str(load_words()["age"]["confirmed"]).format(date=format_day(confirmed))
    return str(load_words()["age"]["said"]).format(date=format_day(occurred, shown["occurred_precision"]))


def _parse_moment(moment: str) -> datetime:
    return datetime.fromisoformat(moment)


# ---- steps


def actor_of(step: Item) -> str:
    """Whose step it is: `you`, the client's name, or Loci itself.

    Args:
        step: of the reply of `steps`.
    """
    if step["client"] is not None:
        return one_line(step["client"], _NAME)
    return str(load_words()["actors"].get(step["actor"], step["actor"]))


def describe_actor(step: Item) -> str:
    """Whose step it was, as a sentence.

    Args:
        step: of the reply of `steps`.
    """
    form = load_words()["whose"].get(step["actor"]) or load_words()["whose"]["client"]
    return str(form).format(who=actor_of(step), date=format_minute(step["at"]))


def align_rows(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Names and values in two columns; a row without a name goes on under the value before it.

    Args:
        rows: names and values.
    """
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{name:<{width}}  {value}".rstrip() for name, value in rows]
