"""Dataclasses that are cheap to define are those of the standard library in all that can be seen of them."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar, TypeVar

import pytest

from core import records

T = TypeVar("T")


def _place(decorate: Callable[[type[T]], type[T]]) -> type[T]:
    class Place:
        """Where something lies."""

        shelf: int
        words: tuple[str, ...] = ()
        seen: list[int] = field(default_factory=list, hash=False)
        note: str = field(default="none", compare=False, repr=False)
        width: int = field(default=3, init=False)
        order: int = field(default_factory=lambda: 7, init=False)
        late: str | None = field(default=None, kw_only=True)
        KIND: ClassVar[str] = "place"

        @property
        def next(self) -> int:
            """The next one."""
            return self.shelf + 1

    return decorate(Place)  # type: ignore[arg-type]  # the class made here stands for any


THEIRS: Any = _place(dataclasses.dataclass(frozen=True, slots=True))
OURS: Any = _place(records.dataclass(frozen=True, slots=True))
GIVEN: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((1,), {}),
    ((1, ("a", "b")), {"late": "x"}),
    ((1,), {"seen": [4, 5]}),
    ((2, (), [6], "a note"), {}),
    ((1.5,), {"note": "another"}),
)


@records.dataclass(frozen=True, slots=True)
class Pair:
    """Two values, at the top of a module so that it can be pickled."""

    left: int
    right: list[str] = field(default_factory=list)


@pytest.mark.parametrize(("args", "kwargs"), GIVEN)
def test_an_object_holds_and_shows_what_it_was_given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    theirs, ours = THEIRS(*args, **kwargs), OURS(*args, **kwargs)
    assert repr(ours) == repr(theirs)
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert (ours.note, ours.width, ours.next, ours.KIND) == (theirs.note, theirs.width, theirs.next, theirs.KIND)


@pytest.mark.parametrize("one", range(len(GIVEN)))
@pytest.mark.parametrize("other", range(len(GIVEN)))
def test_objects_are_equal_and_hashed_alike(one: int, other: int) -> None:
    pairs = [[made(*args, **kwargs) for args, kwargs in (GIVEN[one], GIVEN[other])] for made in (THEIRS, OURS)]
    theirs, ours = pairs
    assert (ours[0] == ours[1]) is (theirs[0] == theirs[1])
    assert (hash(ours[0]) == hash(ours[1])) is (hash(theirs[0]) == hash(theirs[1]))


def test_objects_of_two_classes_are_never_equal() -> None:
    assert OURS(1) != THEIRS(1)
    assert OURS(1) != 1


def test_a_class_of_one_field_or_none_compares_too() -> None:
    @records.dataclass(frozen=True, slots=True)
    class One:
        value: int

    @records.dataclass(frozen=True, slots=True)
    class Nothing:
        pass

    assert (One(1), One(1)) == (One(1), One(1))
    assert One(1) != One(2)
    assert Nothing() == Nothing()
    assert len({One(1), One(1), One(2)}) == 2


def test_nothing_of_an_object_is_changed() -> None:
    for made in (THEIRS, OURS):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'shelf'"):
            made(1).shelf = 2
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'shelf'"):
            del made(1).shelf
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'unheard_of'"):
        OURS(1).unheard_of = 2  # where the standard library's own stumbles over the class it replaced


@pytest.mark.parametrize(
    ("args", "kwargs"), [((), {}), ((1, (), [], "n", 5), {}), ((1,), {"width": 2}), ((1,), {"x": 1})]
)
def test_a_wrong_call_is_refused_in_the_same_words(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    refusals = []
    for made in (THEIRS, OURS):
        with pytest.raises(TypeError) as refused:
            made(*args, **kwargs)
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]


def test_a_default_is_made_anew_for_each_object() -> None:
    one = OURS(1)
    one.seen.append(3)
    assert OURS(1).seen == []


def test_the_first_call_is_as_good_as_the_second() -> None:
    fresh: Any = _place(records.dataclass(frozen=True, slots=True))
    with pytest.raises(TypeError):
        fresh()
    assert fresh(1, late="x") == fresh(1, late="x")


def test_copies_and_replacements_are_equal() -> None:
    pair = Pair(1, ["a"])
    assert pickle.loads(pickle.dumps(pair)) == copy.copy(pair) == copy.deepcopy(pair) == pair  # noqa: S301  just made
    assert dataclasses.replace(pair, left=2) == Pair(2, ["a"])


def test_it_is_a_dataclass_to_whoever_asks() -> None:
    assert dataclasses.is_dataclass(Pair)
    assert [one.name for one in dataclasses.fields(OURS)] == [one.name for one in dataclasses.fields(THEIRS)]
    assert OURS.__match_args__ == THEIRS.__match_args__
    assert OURS.__slots__ == THEIRS.__slots__
    assert OURS.__dataclass_params__.frozen
    assert not hasattr(OURS(1), "__dict__")


def test_what_the_class_says_itself_stays() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Own:
        value: int

        def __post_init__(self) -> None:
            if self.value < 0:
                raise ValueError("below zero")

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert (repr(Own(1)), hash(Own(1)), Own(1) == 3) == ("own", 5, True)
    with pytest.raises(ValueError, match="below zero"):
        Own(-1)


def test_a_class_below_it_adds_its_fields() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Triple(Pair):
        third: int = 3

    assert repr(Triple(1, ["a"])).endswith("Triple(left=1, right=['a'], third=3)")
    assert Triple(1) == Triple(1, [], 3)
    with pytest.raises(FrozenInstanceError):
        Triple(1).left = 2  # type: ignore[misc]  # that is what is refused


def test_by_identity_where_it_is_asked_for() -> None:
    @records.dataclass(frozen=True, slots=True, eq=False)
    class Thing:
        value: int

    one = Thing(1)
    assert one == one
    assert one != Thing(1)
    assert len({one, Thing(1)}) == 2


def test_names_alone_where_it_is_asked_for() -> None:
    @records.dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        value: int
        other: int = 2

    assert (Named(value=1).value, Named(value=1).other) == (1, 2)
    with pytest.raises(TypeError):
        Named(1)  # type: ignore[call-arg]  # that is what is refused


def test_another_form_is_the_standard_library_s() -> None:
    @records.dataclass
    class Plain:
        value: int

    @records.dataclass(frozen=True)
    class Frozen:
        value: int

    plain = Plain(1)
    plain.value = 2
    assert (plain, hash(Frozen(1))) == (Plain(2), hash(Frozen(1)))
    assert Plain.__hash__ is None
