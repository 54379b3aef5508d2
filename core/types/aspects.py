"""What the inspector shows of one memory beside its belief: how a rule was applied, how long a text lasts and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Application:
    """One time that a rule was applied.

    Attributes:
        at: when, epoch ms.
        is_helpful: whether it helped; else it harmed.
        client: the name of the client that said so; None for the person.
        reason: why, in the words of who said so; plain text only; "" for none.
    """

    at: int
    is_helpful: bool
    client: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Lasting:
    """How long what a memory says goes on being true, and how that is known.

    Attributes:
        level: one of `core.belief.extract.permanence.LEVELS`; it decides how fast confidence falls.
        read: the level that its words alone give; the same as `level` unless somebody chose another.
        why: what `level` rests on: `claim` (what it claims), `cue` (its words), `usual` (nothing says otherwise),
            `chosen` (somebody chose it), `record` (an episode is a record, which does not become less certain) or
            `split` (a part of a longer text, which is read as a whole).
        predicates: of the claims that give the level; names of the vocabulary.
    """

    level: str
    read: str
    why: str
    predicates: tuple[str, ...] = ()

    @property
    def can_choose(self) -> bool:
        """Whether the person can choose another level."""
        return self.why != "record"


@dataclass(frozen=True, slots=True)
class Warned:
    """Why a memory is kept out of what assistants are given by themselves.

    Attributes:
        families: what it seems to try, keys of `resources/help/injection.json`, the weightiest first; it may be empty.
        blocked: a client that searches does not see its text either.
    """

    families: tuple[str, ...]
    blocked: bool
