"""What of a memory may leave for an assistant (E10.14.1, E10.14.3), and the words in which a model is given it.

Two questions are answered here and nowhere else: may it be given by itself (context, questions), and may a text be
shown at all where it was asked for. A memory that the person let through may. A note's marks become words, and an
entity's observation gets its subject. Pure. Must not do: change what is stored, shorten a text, or hold back anything
from the owner's own window.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from core.text.markdown import find_front_matter, is_machine_property, render_links, render_markdown
from core.text.screening.injection import ALLOWED, FLAG, blocked_placeholder, current_limits, injection_score, scan_text
from core.text.times import find_labelled_date
from core.types.values import Memory, Role

_BROKEN = "front_matter_broken"
_MOST_NAME = 120
_FENCE_LINE = re.compile(r"^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAKS = re.compile(r"[\s_-]+")
CONDITIONS = ("true_when", "true_unless")


def render_memory(memory: Memory) -> Memory:
    """A memory with the text that a model is given.

    Returns:
        The same where its text is words already; else a copy with another text, never an empty one.
    """
    if memory.role is Role.SOURCE and "links" in memory.extra:
        text = _render_note(memory)
    elif isinstance(entity := memory.extra.get("entity"), str) and memory.version == 1:
        # What a person or a client wrote instead is a sentence of theirs, of whomever it is.
        text = render_observation(entity, memory.text, as_sentence=True)
    else:
        return memory
    return memory if text == memory.text or not text.strip() else replace(memory, text=text)


def render_observation(entity: str, observation: str, *, as_sentence: bool = False) -> str:
    """An observation with whom it is of.

    Args:
        entity: the entity's name; it stands as one line, whatever it holds.
        observation: as written.
        as_sentence: whether a capital that only began the observation may be written small.

    Returns:
        The observation itself where it names the entity; else "Ada plays the tuba" or "Ada: the tuba".
    """
    name = _one_line(entity)
    if as_sentence:
        observation = observation.removeprefix(f"{name}: ")
    words = observation.split()
    if not name or not words:
        return observation
    small = observation[0].lower() + observation[1:]
    if (small == observation or as_sentence) and words[0].casefold() in _load_imperative_words()["predicates"]:
        return f"{name} {small}"
    if as_sentence and _is_told_of(words):
        return f"{name} {'was' if words[0].casefold() == 'born' else 'is'} {small}"
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", observation, re.IGNORECASE):
        return observation
    return f"{name}: {observation}"


def render_relation(source: str, relation: str, target: str) -> str:
    """A relation between two entities as a sentence.

    Args:
        source: the first entity's name.
        relation: what binds them, in any spelling (`works_at`, `worksAt`, `WORKS_AT`, "works at").
        target: the second entity's name.

    Returns:
        "Ada works at Harbour Ltd", "Ada is part of the crew", 'Ada has the relation “colleague” to Bo'.
    """
    one, other = _one_line(source), _one_line(target)
    words = _one_line(_BREAKS.sub(" ", _CAMEL.sub(" ", relation))).strip()
    if not words:
        return f"{one} is related to {other}"
    first, *more = words.lower().split()
    lists = _load_imperative_words()
    if more and first in lists["participles"] and more[-1] in lists["joining"]:
        return f"{one} is {' '.join([first, *more])} {other}"
    if first in lists["predicates"]:
        return f"{one} {' '.join([first, *more])} {other}"
    if first in lists["verbs"]:
        return f"{one} {' '.join([_third_person(first), *more])} {other}"
    if (more or [first])[-1] in lists["joining"]:
        return f"{one} is {' '.join([first, *more])} {other}"
    return f"{one} has the relation “{' '.join([first, *more])}” to {other}"


def stated_conditions(memory: Memory) -> dict[str, str]:
    """Under what condition a memory is true, where the person said so at the desk; whoever reads it must know.

    Returns:
        By `true_when` and `true_unless`.
    """
    said = {name: memory.extra.get(name) for name in CONDITIONS}
    return {name: value for name, value in said.items() if isinstance(value, str)}


def memory_injection_score(memory: Memory, *lead: str) -> float:
    """How much a memory with everything that is shown of it reads like an instruction.

    Args:
        lead: what stands before its text in the same line, such as the subject of its claim.

    Returns:
        0 to 1; 0 for what the person let through.
    """
    if ALLOWED in memory.flags:
        return 0.0
    labels = (
        memory.author,
        memory.category,
        memory.ref,
        memory.session,
        *memory.tags,
        *stated_conditions(memory).values(),
    )
    # What is given is the rendered text, and marks may part a word that they do not part there.
    texts = {memory.text, render_memory(memory).text}
    score = max(injection_score(text, *labels, *lead) for text in texts)
    # An order may begin in the subject and end in the text.
    return max(score, *(scan_text(": ".join((" ".join(lead), text))).score for text in texts)) if lead else score


def is_withheld(memory: Memory, *lead: str) -> bool:
    """Whether a memory is kept out of what is given by itself; texts of older vaults are scanned here.

    Args:
        lead: as for `memory_injection_score`.
    """
    if ALLOWED in memory.flags:
        return False
    return FLAG in memory.flags or memory_injection_score(memory, *lead) > current_limits().flag


def is_blocked(memory: Memory) -> bool:
    """Whether no word of a memory is shown to a client, even where it asks for it (E10.14.1)."""
    return memory_injection_score(memory) > current_limits().block


def prefetch_scans(memories: Iterable[Memory], texts: Iterable[str] = ()) -> None:
    """Scan what is about to be shown, on the thread that reads: whoever shapes it finds the scores known.

    Args:
        texts: what will be shown besides.
    """
    for memory in memories:
        memory_injection_score(memory)
    for text in texts:
        injection_score(text)


def is_text_withheld(text: str, flags: Collection[str] = ()) -> bool:
    """`is_withheld` of a text outside its memory, such as a shorter form of it or a question that quotes it.

    Args:
        flags: the marks of its memory.

    Returns:
        Whether it is.
    """
    if ALLOWED in flags:
        return False
    return FLAG in flags or injection_score(text) > current_limits().flag


def sanitize_for_display(text: str) -> str:
    """A text that is no memory's own, such as a name or a question, as it may be shown to a client.

    Returns:
        It, or the line that stands in its place.
    """
    score = injection_score(text)
    return blocked_placeholder(score) if score > current_limits().block else text


def sanitize_map(told: Mapping[str, object]) -> dict[str, object]:
    """A map of free keys and values as it may be shown to a client.

    Args:
        told: JSON values.

    Returns:
        It with every text guarded; empty where a name of a member, or all its texts together, read like an attack.
    """
    texts = collect_texts(told)
    if injection_score("", *texts) > current_limits().block:
        return {}
    return {key: _sanitize_value(value) for key, value in told.items()}


def collect_texts(value: object) -> list[str]:
    """All texts within a JSON value, names of members among them.

    Args:
        value: a JSON value.

    Returns:
        The texts in their order.
    """
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, one in value.items() for text in (str(key), *collect_texts(one))]
    if isinstance(value, list | tuple):
        return [text for one in value for text in collect_texts(one)]
    return []


# ---- notes


def _render_note(memory: Memory) -> str:
    extra = memory.extra
    # What was read of the front matter is that of the text as it came.
    front = extra.get("front_matter") if memory.version == 1 and not memory.part_index else None
    front = front if isinstance(front, Mapping) else {}
    text = render_markdown(_body_of(memory, read=bool(front)))
    title = " ".join(str(extra.get("title") or "").split())
    if find_labelled_date(title) is not None or text.split("\n", 1)[0].rstrip(":").casefold() == title.casefold():
        title = ""
    details = "; ".join(_front_matter_details(memory, front))
    lead = " ".join(part for part in (title, f"({details})" if details else "") if part)
    return f"{lead}{':' if title else ''} {text}" if lead and text else lead or text


def _body_of(memory: Memory, *, read: bool) -> str:
    """A note's text without its front matter, or, where that could not be read, with its lines but no fence."""
    text = memory.text.removeprefix("\ufeff")
    place = None if memory.part_index or "front_matter" not in memory.extra else find_front_matter(text)
    if place is None:
        return text
    if place.end is not None and (read or not text[place.start : place.end].strip()):
        return text[place.body_at :]
    if place.end is None and _BROKEN not in memory.flags:
        return text
    at = place.body_at or place.start
    return _FENCE_LINE.sub("", text[:at]) + text[at:]


def _front_matter_details(memory: Memory, front: Mapping[str, Any]) -> Iterator[str]:
    """What a front matter tells a reader, piece by piece."""
    extra = memory.extra
    if front and (aliases := [str(alias) for alias in extra.get("aliases") or ()]):
        yield f"also {', '.join(aliases)}"
    if front and (tags := [str(tag) for tag in extra.get("tags") or () if f"#{tag}" not in memory.text]):
        yield f"tagged {', '.join(tags)}"
    for key, value in front.items():
        told = _render_metadata_value(value)
        if told and not is_machine_property("".join(ch for ch in str(key).casefold() if ch.isalnum())):
            yield f"{_BREAKS.sub(' ', str(key)).strip()}: {told}"


def _render_metadata_value(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = ((str(key), _render_metadata_value(one)) for key, one in value.items())
        return ", ".join(f"{key} {told}" for key, told in pairs if told)
    if isinstance(value, list):
        return ", ".join(told for one in value if (told := _render_metadata_value(one)))
    return " ".join(render_links(str(value)).split())


# ---- entities


@cache
def _load_imperative_words() -> Mapping[str, frozenset[str]]:
    told = json.loads((files("resources") / "text" / "relations.json").read_text("utf-8"))
    lists = {name: frozenset(words.split()) for name, words in told.items() if name != "about"}
    said = {_third_person(verb) for verb in lists["verbs"]}
    return {**lists, "predicates": frozenset(said | lists["past"] | lists["auxiliary"])}


def _is_told_of(words: Sequence[str]) -> bool:
    """Whether an observation says what somebody is by a participle: `written in Rust`."""
    lists = _load_imperative_words()
    return len(words) > 2 and words[0].casefold() in lists["participles"] and words[1].casefold() in lists["joining"]


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _one_line(name: str) -> str:
    plain = " ".join(name.split())
    return plain if len(plain) <= _MOST_NAME else f"{plain[: _MOST_NAME - 1]}…"


def _sanitize_value(value: object) -> object:
    if isinstance(value, str):
        return sanitize_for_display(value)
    if isinstance(value, Mapping):
        return {str(key): _sanitize_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_sanitize_value(one) for one in value]
    return value
