"""The words of a digest: sentences taken verbatim from its sources, one after another.

Pure. Must not do: reword, shorten or join anything, or decide which sentences say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.text.fold import fold_case, fold_width
from core.text.propositions import extract_propositions
from core.text.split import split_sentences

JOINED_BY = "\n"
"""Between two sentences: each stands on a line of its own, so that none runs into the next."""
_ENDS = ".!?… \t\n"


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence of a source.

    Attributes:
        source: the memory's id.
        start: where it begins in that memory's text, code points; `end` is exclusive.
        text: what stands there.
    """

    source: str
    start: int
    end: int
    text: str


def informative_sentences(source: str, text: str) -> tuple[SourceSentence, ...]:
    """The sentences of a text that say something: a greeting, a question or a bare word is left out.

    Args:
        source: the memory's id.
        text: its text.

    Returns:
        Spans in their order, without blanks at their ends. Where no sentence says something by itself, the whole text
        is one, so that nothing vanishes; empty only for a blank text.
    """
    found = [span for start, end in split_sentences(text) if (span := _trimmed(source, text, start, end)) is not None]
    saying = tuple(span for span in found if not span.text.endswith(("?", "？")) and extract_propositions(span.text))
    if saying or not found:
        return saying
    return (SourceSentence(source, found[0].start, found[-1].end, text[found[0].start : found[-1].end]),)


def normalize_sentence(text: str) -> str:
    """A sentence without case, blanks, letter forms and its last stop: equal ones are said once.

    Returns:
        The form that is compared.
    """
    return " ".join(fold_case(fold_width(text)).split()).rstrip(_ENDS)


def compose_digest(spans: Sequence[SourceSentence]) -> tuple[str, tuple[int, ...]]:
    """One text of several sentences.

    Args:
        spans: the sentences, in the order in which they are to stand.

    Returns:
        The text, and where each sentence begins in it, code points: `text[at:at + len(span.text)] == span.text`.
    """
    places: list[int] = []
    at = 0
    for span in spans:
        places.append(at)
        at += len(span.text) + len(JOINED_BY)
    return JOINED_BY.join(span.text for span in spans), tuple(places)


def _trimmed(source: str, text: str, start: int, end: int) -> SourceSentence | None:
    held = text[start:end]
    bare = held.strip()
    begin = start + len(held) - len(held.lstrip())
    return SourceSentence(source, begin, begin + len(bare), bare) if bare else None
