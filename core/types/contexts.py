"""A context: what an assistant is given of the memory beside a prompt, within a number of tokens.

Must not do: anything; there is no code here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """What a context is asked for.

    Attributes:
        prompt: what the assistant is about to answer; never logged.
        budget: tokens at most; None for the option `context_tokens`.
        model: the model whose tokenizer counts; None for the estimate.
        session: the session that asks.
        spaces: names of spaces; None for every space the actor may see.
    """

    prompt: str
    budget: int | None = None
    model: str | None = None
    session: str | None = None
    spaces: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Included:
    """A memory that stands in the text.

    Attributes:
        id: the memory.
        tier: `full`, `summary`, `key_fact` or `tag`.
        section: `facts`, `rules` or `episodes`.
        score: the recall's, 0 to 1.
        tokens: what its entry costs by itself.
    """

    id: str
    tier: str
    section: str
    score: float
    tokens: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A memory that recall found and that does not stand in the text.

    Attributes:
        id: the memory.
        reason: `budget`, `duplicate` where another says the same words, `injection`, `share` where its client has its
            share, `behind` where what answers stands far before it, `spread` where it reads like an instruction
            together with another of its source.
        value: the recall's score, 0 to 1.
    """

    id: str
    reason: str
    value: float


@dataclass(frozen=True, slots=True)
class Context:
    """The text, and what became of everything that recall found.

    Attributes:
        text: what the assistant gets; "" where nothing fits.
        tokens: of the whole text; never above the budget.
        budget: tokens at most.
        included: in the order of the text.
        excluded: the most valuable first.
        tokenizer: the model whose tokenizer counted, or `estimate`.
        exact: whether it is that model's own count.
    """

    text: str
    tokens: int
    budget: int
    included: tuple[Included, ...]
    excluded: tuple[LeftOut, ...]
    tokenizer: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Clarifying:
    """A question of Loci's that an assistant may put at a natural pause (E4.5.5).

    Attributes:
        id: of the gap.
        question: one line, fenced as data like the text.
    """

    id: str
    question: str


@dataclass(frozen=True, slots=True)
class ContextReply:
    """A context with the id of its receipt.

    Attributes:
        took_ms: milliseconds from the call to the text, embedding included.
        clarifying: up to two questions in a session; each is told once in it, and once a week.
    """

    context: Context
    receipt_id: str
    took_ms: float
    clarifying: tuple[Clarifying, ...] = ()
