"""What a model is asked about episodes (what in them is worth knowing for long), and reading what it made of them.

Episodes and known memories stand in fences, escaped, and nothing that they say stands outside of one (seed B, LLM
consolidation pipeline). An answer is any text: checked items come out, and a sentence for all that was no item;
tolerant of what stands around the JSON, strict in the JSON itself (seed B, "Consolidation output parsing"). Must not
do: cut an episode, show more than fits into the model's window, raise because of what an answer holds, repair, believe
an item, or put a word of the answer into a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from core.llm.prompts import PROMPT_ANSWER_BYTES, Prompt, find_json, load_instructions
from core.text.screening.fences import escape_fences
from core.text.times import format_time
from core.types.talk import StatementType
from core.types.values import Precision, When

MOST_FACTS, MOST_RULES = 100, 50
"""Known memories that are shown at most (seed B)."""

EPISODES_BYTES = 10_000
"""Room for the episodes of one question; a part of a split text (8 KiB) has room alone, unless it is full of marks."""

KNOWN_BYTES = 6_000
"""Room for what is known. Three bytes are a token or less, ids more: all of it stays well under 8,192 tokens."""

_STATEMENTS_BYTES = 12_000
_SURE_SIGNS = 40


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """A memory as a model is shown it.

    Attributes:
        id: a UUID; of an episode it is not shown.
        at_ms: when it was said, epoch ms; None for what is known.
    """

    id: str
    text: str
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """An episode of a conversation as a model is shown it.

    Attributes:
        speaker: a name; "" where nobody is known to speak.
    """

    memory: ShownMemory
    speaker: str = ""


def count_fitting(episodes: Sequence[ShownMemory]) -> int:
    """How many episodes fit into one question, from the first on; each whole.

    Args:
        episodes: in their order.

    Returns:
        0 where not even the first fits.
    """
    room = EPISODES_BYTES
    for count, episode in enumerate(episodes):
        room -= _byte_size(_format_episode(count + 1, episode))
        if room < 0:
            return count
    return len(episodes)


def distill_prompt(
    episodes: Sequence[ShownMemory], facts: Sequence[ShownMemory], rules: Sequence[ShownMemory]
) -> Prompt:
    """Ask what episodes tell that is not known yet.

    Args:
        episodes: such as `count_fitting` lets in.
        facts: known facts of the same space; the first count most.
        rules: known rules likewise.
    """
    known = [
        *_select_fitting("fact", facts[:MOST_FACTS], KNOWN_BYTES),
        *_select_fitting("rule", rules[:MOST_RULES], KNOWN_BYTES // 3),
    ]
    told = [_format_episode(place + 1, one) for place, one in enumerate(episodes)]
    return Prompt("distill", load_instructions("distill"), "\n".join(["<known>", *known, "</known>", *told]))


def statements_prompt(turns: Sequence[ShownTurn]) -> Prompt:
    """Ask for the statements of a conversation.

    Args:
        turns: in their order; such as `count_fitting` lets in.
    """
    told = [_format_episode(place + 1, one.memory, one.speaker) for place, one in enumerate(turns)]
    system = load_instructions("statements").replace("{types}", ", ".join(_TYPES))
    return Prompt("statements", system, "\n".join(told))


def find_prompt_ids(prompt: Prompt, memories: Sequence[ShownMemory]) -> frozenset[str]:
    """Which of the known memories stand in a question: no other id in its answer means anything.

    Args:
        prompt: from `distill_prompt`.
        memories: the facts, or the rules, it was made with.
    """
    return frozenset(one.id for one in memories if f' id="{one.id}">' in prompt.user)


def reword_prompt(statements: Sequence[str]) -> Prompt | None:
    """Ask for statements to be said in one short paragraph.

    Args:
        statements: sentences.

    Returns:
        The question; None where they are too many for one.
    """
    user = "\n".join(f"<statement>\n{escape_fences(one)}\n</statement>" for one in statements)
    return None if _byte_size(user) > _STATEMENTS_BYTES else Prompt("reword", load_instructions("reword"), user)


def _format_episode(number: int, episode: ShownMemory, speaker: str = "") -> str:
    day = None if episode.at_ms is None else format_time(When(episode.at_ms, Precision.DAY))
    said = "" if day is None else f' said="{day}"'
    name = escape_fences(" ".join(speaker.split())).replace('"', "&quot;")
    by = f' by="{name}"' if name else ""
    return f'<episode_content id="{number}"{by}{said}>\n{escape_fences(episode.text)}\n</episode_content>'


def _select_fitting(name: str, memories: Sequence[ShownMemory], room: int) -> list[str]:
    """Memories that fit, each whole; a long one is passed over for those behind it."""
    kept: list[str] = []
    for one in memories:
        line = f'<{name} id="{one.id}">{escape_fences(one.text)}</{name}>'
        if _byte_size(line) + _SURE_SIGNS <= room:
            room -= _byte_size(line) + _SURE_SIGNS
            kept.append(line)
    return kept


def _byte_size(text: str) -> int:
    return len(text.encode("utf-8"))


T = TypeVar("T")

NO_JSON = "No JSON block found in consolidation output"
PERMANENCE = ("permanent", "stable", "standard", "volatile", "ephemeral")
"""Seed B's five levels; anything else is `standard`."""

MOST_ITEMS = 50
"""Items of one list that are looked at; the others are left out."""

_MOST_ERRORS = 100
_MOST_STARTS = 8
_LABEL, _CONTENT, _TAG, _TAGS = 200, 500, 40, 8
_IMPORTANCE = 5.0
_TYPES = tuple(one.value for one in StatementType if one is not StatementType.NONE)
_STANDARD = "standard"
_FENCE = re.compile(r"```(?:[ \t]*(?:json|JSON))?\s*(?=\{)")


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact that a model proposes.

    Attributes:
        content: the sentence; its words are checked against the episodes before anything is kept.
        permanence: one of `PERMANENCE`.
        importance: 0.1 to 1; the model's 1 to 10 by ten.
        target_id: the memory it makes untrue, a UUID; None for a new fact.
    """

    subject: str
    predicate: str
    content: str
    permanence: str = _STANDARD
    importance: float = _IMPORTANCE / 10
    tags: tuple[str, ...] = ()
    target_id: str | None = None


@dataclass(frozen=True, slots=True)
class NewRule:
    """A rule that a model proposes."""

    content: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Distillate:
    """What an answer holds (seed B, `ConsolidationResult`).

    Attributes:
        confirmations: UUIDs, none twice.
        parse_errors: a sentence for each thing that is no item; no word of the answer.
        has_json: whether there was an object to read at all.
    """

    new_facts: tuple[NewFact, ...] = ()
    updated_facts: tuple[NewFact, ...] = ()
    new_rules: tuple[NewRule, ...] = ()
    confirmations: tuple[str, ...] = ()
    parse_errors: tuple[str, ...] = ()
    has_json: bool = True


@dataclass(frozen=True, slots=True)
class ProposedStatement:
    """A statement that a model proposes.

    Attributes:
        episode: its number in the question.
        quote: the words of the episode that say it, as the model gives them.
        type: as the model calls it.
    """

    text: str
    about: str
    type: str
    is_lasting: bool
    episode: int
    quote: str


@dataclass(frozen=True, slots=True)
class ProposedStatements:
    """What an answer on statements holds.

    Attributes:
        malformed: how many things were no item.
        has_json: whether there was an object to read at all.
    """

    statements: tuple[ProposedStatement, ...] = ()
    malformed: int = 0
    has_json: bool = True


@dataclass(slots=True)
class _AnswerParser:
    """One answer being read."""

    value: Mapping[str, Any]
    errors: list[str] = field(default_factory=list)

    def items(self, name: str, read: Callable[[object], T | str]) -> tuple[T, ...]:
        """The sound items of one list; a sentence for each of the others."""
        given = self.value.get(name, [])
        if not isinstance(given, list):
            self.errors.append(f"{name} is not a list")
            return ()
        if len(given) > MOST_ITEMS:
            self.errors.append(f"{name} has more than {MOST_ITEMS} entries; the others were left out")
        found: list[T] = []
        for place, item in enumerate(given[:MOST_ITEMS]):
            one = read(item)
            if isinstance(one, str):
                self.errors.append(f"{name}[{place}] {one}")
            else:
                found.append(one)
        return tuple(dict.fromkeys(found))


def parse_distillate(answer: str) -> Distillate:
    """Read an answer.

    Args:
        answer: a model's words: JSON in a fenced block, or the first balanced braces among other text.

    Returns:
        What it holds; empty with the error `NO_JSON` where there is no JSON object that can be read: none at all, none
        of at most 32 KiB and six levels, keys that repeat, numbers that are none.
    """
    value = next((found for part in _find_json_candidates(answer) if isinstance(found := find_json(part), dict)), None)
    if value is None:
        return Distillate(parse_errors=(NO_JSON,), has_json=False)
    reading = _AnswerParser(value)
    facts = reading.items("new_facts", _parse_fact)
    updates = reading.items("updated_facts", _parse_update)
    rules = reading.items("new_rules", _parse_rule)
    confirmed = reading.items("confirmations", _parse_confirmation)
    return Distillate(
        facts, updates, rules, tuple(one.value for one in confirmed), tuple(reading.errors[:_MOST_ERRORS])
    )


def parse_statements(answer: str) -> ProposedStatements:
    """Read an answer to `statements_prompt`; what is no item is counted and left out.

    Args:
        answer: a model's words, as `parse_distillate` reads them.
    """
    value = next((found for part in _find_json_candidates(answer) if isinstance(found := find_json(part), dict)), None)
    if value is None or "statements" not in value:
        return ProposedStatements(has_json=False)
    reading = _AnswerParser(value)
    return ProposedStatements(reading.items("statements", _parse_statement), len(reading.errors))


def parse_uuid(value: object) -> str | None:
    """A UUID in its plain form.

    Returns:
        36 characters in small letters; None for anything that is not written so.
    """
    if not isinstance(value, str) or len(value) != 36:
        return None
    try:
        plain = str(UUID(value))
    except ValueError:
        return None
    return plain if plain == value.lower() else None


def _find_json_candidates(answer: str) -> Iterator[str]:
    """Balanced braces behind the marks of a fenced block, then the outermost ones anywhere."""
    if len(answer) > PROMPT_ANSWER_BYTES:
        return
    starts = [match.end() for match in _FENCE.finditer(answer)][:_MOST_STARTS]
    for start in starts:
        end = _find_closing_brace(answer, start)
        if end is not None:
            yield answer[start:end]
    at = answer.find("{")
    for _ in range(_MOST_STARTS):
        if at < 0:
            return
        end = _find_closing_brace(answer, at)
        if end is not None:
            yield answer[at:end]
        at = answer.find("{", at + 1 if end is None else end)


def _find_closing_brace(text: str, start: int) -> int | None:
    """Where the braces that open at `start` are closed, exclusive; braces within strings do not count."""
    depth, in_string, escaped = 0, False, False
    for at in range(start, len(text)):
        sign = text[at]
        if in_string:
            if escaped:
                escaped = False
            elif sign == "\\":
                escaped = True
            elif sign == '"':
                in_string = False
        elif sign == '"':
            in_string = True
        elif sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return at + 1
    return None


def _parse_fact(item: object) -> NewFact | str:
    if not isinstance(item, dict):
        return "is not an object"
    subject, predicate, content = (_join_words(item.get(name)) for name in ("subject", "predicate", "content"))
    if not subject or not predicate or not content:
        return "needs subject, predicate and content"
    if max(len(subject), len(predicate)) > _LABEL or len(content) > _CONTENT:
        return "is too long"
    permanence = item.get("permanence")
    return NewFact(
        subject=subject,
        predicate=predicate,
        content=content,
        permanence=permanence if isinstance(permanence, str) and permanence in PERMANENCE else _STANDARD,
        importance=_parse_importance(item.get("importance")),
        tags=_parse_tags(item.get("tags")),
    )


def _parse_statement(item: object) -> ProposedStatement | str:
    if not isinstance(item, dict):
        return "is not an object"
    text, about, kind, quote = (_join_words(item.get(name)) for name in ("text", "about", "type", "quote"))
    lasting, number = item.get("lasting"), item.get("episode")
    if not text or not about or not isinstance(lasting, bool):
        return "needs text, about and lasting"
    if isinstance(number, bool) or not isinstance(number, int):
        return "needs the number of an episode"
    if max(len(text), len(quote)) > _CONTENT or max(len(about), len(kind)) > _LABEL:
        return "is too long"
    return ProposedStatement(text, about, kind, lasting, number, quote)


def _parse_update(item: object) -> NewFact | str:
    fact = _parse_fact(item)
    if isinstance(fact, str) or not isinstance(item, dict):
        return fact if isinstance(fact, str) else "is not an object"
    target = parse_uuid(item.get("target_id"))
    if target is None:
        return "needs a target_id that is a UUID"
    return NewFact(
        fact.subject, fact.predicate, fact.content, fact.permanence, fact.importance, fact.tags, target_id=target
    )


def _parse_rule(item: object) -> NewRule | str:
    if not isinstance(item, dict):
        return "is not an object"
    content = _join_words(item.get("content"))
    if not content:
        return "needs content"
    return "is too long" if len(content) > _CONTENT else NewRule(content, _parse_tags(item.get("tags")))


@dataclass(frozen=True, slots=True)
class _Id:
    """An id, so that it is told from the sentence of an error."""

    value: str


def _parse_confirmation(item: object) -> _Id | str:
    found = parse_uuid(item)
    return "is not a UUID" if found is None else _Id(found)


def _join_words(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _parse_importance(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _IMPORTANCE / 10
    return min(10.0, max(1.0, float(value))) / 10


def _parse_tags(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    found = (_join_words(tag) for tag in value)
    return tuple(dict.fromkeys(tag for tag in found if tag and len(tag) <= _TAG and tag.isprintable()))[:_TAGS]
