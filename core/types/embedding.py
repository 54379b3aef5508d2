"""Which model makes the vectors that are searched, and how far a change of it has come."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeptSpace:
    """The vectors of a model that is not used any more.

    Attributes:
        name: of the space.
        vectors: how many there are.
        until: epoch ms from which on they are dropped by themselves.
    """

    name: str
    vectors: int
    until: int


@dataclass(frozen=True, slots=True)
class Embedding:
    """The embedder as it stands.

    Attributes:
        model: what is searched with: "" for the built-in model, else `ollama:<model>`.
        space: the name of its vector space, `dims` the length of its vectors.
        wished: what shall be searched with; the same as `model` where no change is under way.
        done: memories that have their new vector; `total` all that shall get one; 0 of 0 where nothing is under way.
        code: why the embedder does not answer, an E-code; "" while it does.
        kept: spaces that are over.
        note: what the person should know of the model that is wished; "" for nothing.
    """

    model: str
    space: str
    dims: int
    wished: str
    done: int = 0
    total: int = 0
    code: str = ""
    kept: tuple[KeptSpace, ...] = ()
    note: str = ""

    @property
    def is_changing(self) -> bool:
        """Whether a change is under way."""
        return self.wished != self.model


@dataclass(frozen=True, slots=True)
class Offered:
    """A model of the local server that can be searched with.

    Attributes:
        wish: what `spaces.begin` takes.
        bytes: its size on this machine.
    """

    wish: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Offers:
    """What can be searched with beside the built-in model.

    Attributes:
        models: by name.
        code: why the server does not tell, an E-code; "" where it does.
    """

    models: tuple[Offered, ...]
    code: str = ""


@dataclass(frozen=True, slots=True)
class ChangeCost:
    """What a change to another model takes.

    Attributes:
        wish: the model.
        dims: length of its vectors.
        memories: how many need a vector of it.
        seconds: how long making them takes, by the rate of a few texts; the job pauses for a person besides.
        note: what the person should know of that model; "" for nothing.
    """

    wish: str
    dims: int
    memories: int
    seconds: float
    note: str
