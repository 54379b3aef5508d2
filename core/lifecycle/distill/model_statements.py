"""Statements that a local model reads in a conversation, in the reader's form, as far as they were said.

The model says which words of which episode say a statement; these words must stand there and are its span. What has
none, what adds or turns anything, and what asks or gives orders is left out by itself and counted by reason. Must not
do: write anything, repair a statement, or let a word through that was not said.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.lifecycle.distill.reader_queue import QueuedEpisode
from core.lifecycle.distill.statement_writer import NO_SPAN, TalkStatement
from core.lifecycle.job_support.job_context import JobContext, embed_or_none
from core.llm.distillate import ProposedStatement, ProposedStatements, ShownMemory, ShownTurn, parse_statements
from core.talk.agreement import YOU
from core.talk.references import References
from core.talk.statements import is_all_said
from core.text.screening.injection import current_limits, scan_text
from core.types.talk import Statement, StatementType

MALFORMED, UNKNOWN_TYPE, INVENTED, NEGATED = "malformed", "type", "invented", "negated"
FIRST_PERSON, QUESTION, INSTRUCTION, ASSISTANT, LENGTH = (
    "first_person",
    "question",
    "instruction",
    "assistant",
    "length",
)
"""Why a model's statement is left out, beside the reasons of `core.lifecycle.distill.statement_writer`."""

_SURE = 0.75
"""How sure a model's statement is taken to be whose every word was said."""

_LEAST_WORDS, _MOST_WORDS = 3, 45
_TYPES = frozenset(one.value for one in StatementType if one is not StatementType.NONE)
_OWN = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|no|never|cannot|nobody|nothing|none|neither|nor|without)\b|n['\u2019]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CheckedStatements:
    """What of an answer the conversation bears out.

    Attributes:
        dropped: how many were left out, by reason.
    """

    statements: tuple[TalkStatement, ...]
    dropped: Mapping[str, int]


def shown_turns(episodes: Sequence[QueuedEpisode]) -> tuple[ShownTurn, ...]:
    """Episodes as the model is shown them: with who speaks."""
    return tuple(
        ShownTurn(ShownMemory(one.id, one.text, None if one.said is None else one.said.ms), _speaker_name(one))
        for one in episodes
    )


def check_statements(context: JobContext, episodes: Sequence[QueuedEpisode], answer: str) -> CheckedStatements | None:
    """What of an answer may become statements.

    Args:
        episodes: as the model was shown them, in that order.

    Returns:
        The statements with their vectors; None where there is no JSON to read.
    """
    proposed = parse_statements(answer)
    if not proposed.has_json:
        return None
    checked = _check_each(proposed, episodes)
    vectors = embed_or_none(context, [one.statement.text for one in checked.statements]) if checked.statements else None
    if vectors is None:
        return checked
    pairs = zip(checked.statements, vectors, strict=True)
    return replace(checked, statements=tuple(replace(one, vector=vector) for one, vector in pairs))


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where a quote stands in a text: exactly, else with blanks and case folded.

    Args:
        quote: as a model gives it; it may have kept the marks of a fence (`escape_fences`).
    """
    for wanted in dict.fromkeys((quote.strip(), html.unescape(quote).strip())):
        if not any(sign.isalnum() for sign in wanted):
            continue
        start = text.find(wanted)
        if start >= 0:
            return start, start + len(wanted)
        match = re.search(r"\s+".join(map(re.escape, wanted.split())), text, re.IGNORECASE)
        if match is not None:
            return match.span()
    return None


def _check_each(proposed: ProposedStatements, episodes: Sequence[QueuedEpisode]) -> CheckedStatements:
    dropped: Counter[str] = Counter({MALFORMED: proposed.malformed} if proposed.malformed else {})
    said = tuple(one.text for one in episodes)
    names = tuple(dict.fromkeys(name for one in episodes if (name := _speaker_name(one))))
    kept: list[TalkStatement] = []
    for item in proposed.statements:
        episode = episodes[item.episode - 1] if 1 <= item.episode <= len(episodes) else None
        span = None if episode is None else find_quote(episode.text, item.quote)
        if episode is None or span is None:
            dropped[NO_SPAN] += 1
            continue
        reason = _why_statement_refused(item, episode, span, said, names)
        if reason:
            dropped[reason] += 1
        else:
            kept.append(TalkStatement(_statement_from_proposal(item, episode, span), episode, made_by="model"))
    return CheckedStatements(tuple(kept), dict(dropped))


def _why_statement_refused(
    item: ProposedStatement, episode: QueuedEpisode, span: tuple[int, int], said: Sequence[str], names: Sequence[str]
) -> str:
    """Why a statement with a span is left out; "" where it is not."""
    quote = episode.text[slice(*span)]
    limit = current_limits().flag
    is_known = is_all_said(item.text, said, (*names, YOU)) and is_all_said(item.about, said, (*names, YOU))
    reasons = (
        (item.type not in _TYPES, UNKNOWN_TYPE),
        (episode.turn.is_assistant, ASSISTANT),
        (_is_question(episode.text, span), QUESTION),
        (scan_text(quote).score > limit or scan_text(item.text).score > limit, INSTRUCTION),
        (_OWN.search(item.text) is not None, FIRST_PERSON),
        (not _LEAST_WORDS <= len(item.text.split()) <= _MOST_WORDS, LENGTH),
        (bool(_NOT.search(item.text)) != bool(_NOT.search(quote)), NEGATED),
        (not is_known, INVENTED),
    )
    return next((reason for is_so, reason in reasons if is_so), "")


def _is_question(text: str, span: tuple[int, int]) -> bool:
    """Whether the sentence that a quote ends in asks."""
    begin, end = span
    closing = re.search(r"[.!?\n]", text[max(begin, end - 1) :])
    return closing is not None and closing[0] == "?"


def _statement_from_proposal(item: ProposedStatement, episode: QueuedEpisode, span: tuple[int, int]) -> Statement:
    is_owner = episode.turn.is_owner and item.about.casefold() == _speaker_name(episode).casefold()
    about = YOU if is_owner or item.about.casefold() == YOU.casefold() else item.about
    said_ms = None if episode.said is None else episode.said.ms
    return Statement(item.text, about, StatementType(item.type), item.is_lasting, _SURE, episode.id, span, said_ms)


def _speaker_name(episode: QueuedEpisode) -> str:
    """How the built-in reader calls who speaks (`core.talk.references`)."""
    turn = episode.turn
    return References([turn]).name_of(turn)
