"""What callers ask of the engine: frozen requests, already typed, not yet checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.types.recall import PlanChange
from core.types.values import Kind, Source, When

EXPORT_ENDINGS: Mapping[str, str] = {
    "jsonl": ".jsonl", "json": ".json", "markdown": ".md", "csv": ".csv", "obsidian": ".zip", "mem0": ".json",
}  # fmt: skip
"""The formats of an export, each with the ending of its files; where two share one, it means the first."""


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """One text to remember.

    Attributes:
        text: the text; never trimmed or normalised.
        kind: what it is; a fact unless said otherwise.
        importance: 0 to 1; None for the default 0.5.
        space: a space's name; None for the actor's own (`home`, or `client:<name>`).
        source: by what way it came; None for the actor's default.
        occurred: when it was said or happened.
        session: the session it was told in; a claim with the scope `session` is limited to it.
        claim: `{subject, predicate, value, exclusive?, polarity?, scope?, valid_from?, valid_to?, qualifiers?}`.
        request_id: makes the call idempotent for this actor.
        channel: what it is limited to (`core.types.clients`); "" for nothing. The connection says it, no parameter.
        permanence: how long it goes on being true, a level of `core.score.decay`; None to read it from the
        text.
    """

    text: str
    kind: Kind = Kind.FACT
    category: str = "general"
    importance: float | None = None
    tags: tuple[str, ...] = ()
    space: str | None = None
    session: str | None = None
    occurred: When | None = None
    claim: Mapping[str, Any] | None = None
    source: Source | None = None
    ref: str | None = None
    author: str | None = None
    request_id: str | None = None
    permanence: str | None = None
    channel: str = ""


@dataclass(frozen=True, slots=True)
class FactRequest:
    """One fact given as subject, predicate and content (seed B, `memory_store_fact`).

    Attributes:
        subject: whom or what it is about.
        predicate: what is said of it, written like lives_in.
        store: the text and how it is stored; its text is a sentence that names the subject, or the bare value.
        value: what is said; None to take it from the text.
        valid_from: from when it holds; `valid_to` until when.
    """

    subject: str
    predicate: str
    store: StoreRequest
    value: str | None = None
    valid_from: str | float | None = None
    valid_to: str | float | None = None


@dataclass(frozen=True, slots=True)
class Extras:
    """What any call about one memory may bring along.

    Attributes:
        kind: what the memory must be; another is answered as one that does not exist. None for any.
        request_id: the caller's own id for this call: one that comes twice is carried out once.
    """

    kind: Kind | None = None
    request_id: str | None = None


PLAIN = Extras()
"""A call that brings nothing along."""


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A page of memories, newest first unless another order is named.

    Attributes:
        text: exact substring, bytes compared, case kept.
        statuses: names of statuses; None for all.
        space: a space's name.
        import_id: only what that import brought.
        limit: rows at most; None for all.
        after: continue behind this cursor (`Page.next`).
        category: only what is of this category.
        since_ms: only what was said or happened from then on, epoch ms; where that is not known, what was recorded.
        until_ms: only what was before then.
        tags: only what has one of these; A to Z compare without case.
        client: only what the client of this name brought.
        sort: one of `LIST_SORTS`.
    """

    text: str | None = None
    kind: Kind | None = None
    statuses: tuple[str, ...] | None = ("active",)
    space: str | None = None
    import_id: str | None = None
    limit: int | None = 50
    after: str | None = None
    category: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    tags: tuple[str, ...] = ()
    client: str | None = None
    sort: str = "newest"


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question to the palace.

    Attributes:
        query: the words; never logged.
        limit: items at most.
        spaces: names of spaces; None for every space the actor may see.
        kinds: names of kinds; None for all.
        categories: names of categories; None for all.
        statuses: statuses to return.
        as_of_ms: what was true at this moment, epoch ms; None for now.
        mode: `hybrid`, `semantic` or `keyword`.
        min_confidence: leave out what is less certain by now (effective confidence), 0 to 1.
        session: the session that asks, for the receipt.
        explain: whether signals and ranks are wanted.
        plan: what the caller decides about the reading of the question; None leaves all to the rules.
        tags: return only what has one of these; None for all.
        since_ms: return only what was said or happened from then on, epoch ms; `until_ms` before then.
        tiers: security tiers that may be used at all; None for all that the asker may see.
    """

    query: str
    limit: int = 10
    spaces: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    statuses: tuple[str, ...] = ("active",)
    as_of_ms: int | None = None
    mode: str = "hybrid"
    min_confidence: float = 0.0
    session: str | None = None
    explain: bool = False
    plan: PlanChange | None = None
    tags: tuple[str, ...] | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    tiers: tuple[str, ...] | None = None


OUTSIDE = ""
"""The key of records outside conversations in a plan and in a choice."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What comes in.

    Attributes:
        conversations: keys of conversations, as a plan has them; None for all.
        sources: names or formats of the sources that come; None for all.
        without: names or formats of the sources that stay out.
    """

    conversations: frozenset[str] | None = None
    sources: frozenset[str] | None = None
    without: frozenset[str] = field(default_factory=frozenset)

    @property
    def is_all(self) -> bool:
        """Whether nothing is left out."""
        return self.conversations is None and self.sources is None and not self.without

    def takes(self, conversation: str, source: str, form: str) -> bool:
        """Whether a record comes in.

        Args:
            conversation: its key in a plan.
            source: the name of the source it is from.
            form: the format of that.
        """
        if self.conversations is not None and conversation not in self.conversations:
            return False
        names = names_of_source(source, form)
        return (self.sources is None or not names.isdisjoint(self.sources)) and names.isdisjoint(self.without)

    def list_unknown(self, sources: Iterable[tuple[str, str]]) -> list[str]:
        """The names in it that no source has, in order.

        Args:
            sources: name and format of each.
        """
        named = (self.sources or frozenset()) | self.without
        known = frozenset[str]().union(*(names_of_source(name, form) for name, form in sources))
        return sorted(named - known)

    def to_json(self) -> Any:
        """As it is kept beside a running import."""
        if self.sources is None and not self.without:
            return sorted(self.conversations or ())
        return {
            "conversations": None if self.conversations is None else sorted(self.conversations),
            "sources": None if self.sources is None else sorted(self.sources),
            "without": sorted(self.without),
        }

    @staticmethod
    def from_json(value: Any) -> Choice:
        """What `to_json` made."""
        if isinstance(value, list):
            return Choice(frozenset(value))
        conversations, sources = value["conversations"], value["sources"]
        return Choice(
            None if conversations is None else frozenset(conversations),
            None if sources is None else frozenset(sources),
            frozenset(value["without"]),
        )


EVERYTHING = Choice()
"""Nothing of an import is left out."""


def names_of_source(name: str, form: str) -> frozenset[str]:
    """How a source may be called: by its name, with or without the slash of a folder, or by its format."""
    return frozenset({name, name.rstrip("/"), form} - {""})
