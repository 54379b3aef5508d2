"""Memories as a model is given them: a note's marks as words, an entity's observation with its subject.

What is stored stays as it came; this is what leaves. Must not do: shorten a text, or change one that is plain already.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from core.text.rendering.markdown import find_front_matter, is_machine_property, render_links, render_markdown
from core.text.times import find_labelled_date
from core.types.values import Memory, Role

_BROKEN = "front_matter_broken"
_MOST_NAME = 120
_FENCE_LINE = re.compile(r"^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAKS = re.compile(r"[\s_-]+")


def render_memory(memory: Memory) -> Memory:
    """A memory with the text that a model is given.

    Args:
        memory: the snapshot.

    Returns:
        The same where its text is words already; else a copy with another text, never an empty one.
    """
    if memory.role is Role.SOURCE and "links" in memory.extra:
        text = _note(memory)
    elif isinstance(entity := memory.extra.get("entity"), str) and memory.version == 1:
        # What a person or a client wrote instead is a sentence of theirs, of whomever it is.
        text = render_observation(entity, memory.text, as_sentence=True)
    else:
        return memory
    return memory if text == memory.text or not text.strip() else replace(memory, text=text)


# ---- notes


def _note(memory: Memory) -> str:
    extra = memory.extra
    # What was read of the front matter is that of the text as it came.
    front = extra.get("front_matter") if memory.version == 1 and not memory.part_index else None
    front = front if isinstance(front, Mapping) else {}
    text = render_markdown(_body(memory, read=bool(front)))
    title = " ".join(str(extra.get("title") or "").split())
    if find_labelled_date(title) is not None or text.split("\n", 1)[0].rstrip(":").casefold() == title.casefold():
        title = ""
    details = "; ".join(_details(memory, front))
    lead = " ".join(part for part in (title, f"({details})" if details else "") if part)
    return f"{lead}{':' if title else ''} {text}" if lead and text else lead or text


def _body(memory: Memory, *, read: bool) -> str:
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


def _details(memory: Memory, front: Mapping[str, Any]) -> Iterator[str]:
    """What a front matter tells a reader, piece by piece."""
    extra = memory.extra
    if front and (aliases := [str(alias) for alias in extra.get("aliases") or ()]):
        yield f"also {', '.join(aliases)}"
    if front and (tags := [str(tag) for tag in extra.get("tags") or () if f"#{tag}" not in memory.text]):
        yield f"tagged {', '.join(tags)}"
    for key, value in front.items():
        told = _value(value)
        if told and not is_machine_property("".join(ch for ch in str(key).casefold() if ch.isalnum())):
            yield f"{_BREAKS.sub(' ', str(key)).strip()}: {told}"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = ((str(key), _value(one)) for key, one in value.items())
        return ", ".join(f"{key} {told}" for key, told in pairs if told)
    if isinstance(value, list):
        return ", ".join(told for one in value if (told := _value(one)))
    return " ".join(render_links(str(value)).split())


# ---- entities


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    told = json.loads((files("resources") / "text" / "relations.json").read_text("utf-8"))
    lists = {name: frozenset(words.split()) for name, words in told.items() if name != "about"}
    said = {_third_person(verb) for verb in lists["verbs"]}
    return {**lists, "predicates": frozenset(said | lists["past"] | lists["auxiliary"])}


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
    if (small == observation or as_sentence) and words[0].casefold() in _lists()["predicates"]:
        return f"{name} {small}"
    if as_sentence and _is_told_of(words):
        return f"{name} {'was' if words[0].casefold() == 'born' else 'is'} {small}"
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", observation, re.IGNORECASE):
        return observation
    return f"{name}: {observation}"


def _is_told_of(words: Sequence[str]) -> bool:
    """Whether an observation says what somebody is by a participle: `written in Rust`."""
    lists = _lists()
    return len(words) > 2 and words[0].casefold() in lists["participles"] and words[1].casefold() in lists["joining"]


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
    lists = _lists()
    if more and first in lists["participles"] and more[-1] in lists["joining"]:
        return f"{one} is {' '.join([first, *more])} {other}"
    if first in lists["predicates"]:
        return f"{one} {' '.join([first, *more])} {other}"
    if first in lists["verbs"]:
        return f"{one} {' '.join([_third_person(first), *more])} {other}"
    if (more or [first])[-1] in lists["joining"]:
        return f"{one} is {' '.join([first, *more])} {other}"
    return f"{one} has the relation “{' '.join([first, *more])}” to {other}"


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _one_line(name: str) -> str:
    plain = " ".join(name.split())
    return plain if len(plain) <= _MOST_NAME else f"{plain[: _MOST_NAME - 1]}…"
