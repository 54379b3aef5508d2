"""What of a memory may leave for an assistant: the one guard of the exit (E10.14.1, E10.14.3).

Two questions are answered here and nowhere else: may it be given by itself (context, questions), and may a text be
shown at all where it was asked for. A memory that the person let through may. Pure.
Must not do: change what is stored, or hold back anything from the owner's own window.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from core.text.rendering.model_text import render_memory
from core.text.screening.injection import ALLOWED, FLAG, blocked_placeholder, current_limits, injection_score, scan
from core.types.values import Memory

CONDITIONS = ("true_when", "true_unless")


def stated_conditions(memory: Memory) -> dict[str, str]:
    """Under what condition a memory is true, where the person said so at the desk; whoever reads it must know.

    Args:
        memory: the snapshot.

    Returns:
        By `true_when` and `true_unless`.
    """
    said = {name: memory.extra.get(name) for name in CONDITIONS}
    return {name: value for name, value in said.items() if isinstance(value, str)}


def memory_injection_score(memory: Memory, *lead: str) -> float:
    """How much a memory with everything that is shown of it reads like an instruction.

    Args:
        memory: the snapshot.
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
    return max(score, *(scan(": ".join((" ".join(lead), text))).score for text in texts)) if lead else score


def is_withheld(memory: Memory, *lead: str) -> bool:
    """Whether a memory is kept out of what is given by itself; texts of older vaults are scanned here.

    Args:
        memory: the snapshot.
        lead: as for `memory_injection_score`.

    Returns:
        Whether it is.
    """
    if ALLOWED in memory.flags:
        return False
    return FLAG in memory.flags or memory_injection_score(memory, *lead) > current_limits().flag


def is_blocked(memory: Memory) -> bool:
    """Whether no word of a memory is shown to a client, even where it asks for it (E10.14.1).

    Args:
        memory: the snapshot.

    Returns:
        Whether it is.
    """
    return memory_injection_score(memory) > current_limits().block


def prefetch_scans(memories: Iterable[Memory], texts: Iterable[str] = ()) -> None:
    """Scan what is about to be shown, on the thread that reads: whoever shapes it finds the scores known.

    Args:
        memories: what will be shown.
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
    return {key: _guarded(value) for key, value in told.items()}


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


def _guarded(value: object) -> object:
    if isinstance(value, str):
        return sanitize_for_display(value)
    if isinstance(value, Mapping):
        return {str(key): _guarded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_guarded(one) for one in value]
    return value
