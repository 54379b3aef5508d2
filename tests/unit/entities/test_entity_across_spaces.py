"""What is one across spaces: same names, other names, surnames that contradict, what the owner kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.entities.across_spaces import SpacedEntity, group_entities


def one(ident: str, key: str, space: str, kind: str = "person", *others: str, **more: Any) -> SpacedEntity:
    return SpacedEntity(ident, key, kind, space, frozenset(others), **more)


def groups(*entities: SpacedEntity) -> set[tuple[str, ...]]:
    return {group.ids for group in group_entities(entities).by_member.values()}


def test_one_name_in_three_spaces_is_one_the_best_known_first() -> None:
    a, b, c = one("a", "jo", "home"), one("b", "jo", "shed", mentions=9), one("c", "jo", "health", mentions=2)
    found = group_entities([a, b, c])
    assert {found.members_of(each) for each in "abc"} == {("b", "c", "a")}
    assert found.head_of("a") == "b"
    assert found.head_of("stranger") == "stranger"


def test_another_type_speaks_against_it_and_an_unknown_one_does_not() -> None:
    assert groups(one("a", "coco", "home"), one("b", "coco", "work", "pet")) == set()
    assert groups(one("a", "coco", "home", "other"), one("b", "coco", "work", "pet")) == {("a", "b")}
    typed = group_entities([one("a", "coco", "home", "other"), one("b", "coco", "work", "pet")])
    assert typed.by_member["a"].type == "pet"
    three = (one("a", "coco", "x", "other"), one("b", "coco", "y", "pet"), one("c", "coco", "z"))
    assert groups(*three) == set()


def test_a_file_of_one_space_is_no_other_spaces() -> None:
    assert groups(one("a", "src/a.py", "x", "file"), one("b", "src/a.py", "y", "file")) == set()


def test_two_surnames_are_two_people_and_who_has_none_is_neither() -> None:
    miller, schmidt = one("a", "jo", "x", "person", "jo miller"), one("b", "jo", "y", "person", "jo schmidt")
    assert groups(miller, schmidt) == set()
    assert groups(miller, schmidt, one("c", "jo", "z")) == set()
    assert groups(one("c", "jo", "z"), miller) == {("a", "c")}
    assert groups(miller, one("b", "jo", "y", "person", "josephine miller")) == {("a", "b")}


def test_the_name_of_one_that_is_another_name_of_one_other() -> None:
    caroline = one("a", "caroline", "x", "person", "caro")
    assert groups(caroline, one("b", "caro", "y")) == {("a", "b")}
    assert groups(caroline, one("b", "carolina", "y", "person", "caro")) == set()  # a short form of both
    assert groups(caroline, one("b", "carolina", "y", "person", "caro"), one("c", "caro", "z")) == set()
    assert groups(caroline, one("b", "caro", "y", "place")) == set()
    assert groups(caroline, one("b", "caro", "x")) == set()  # one space does not call one by two names


def test_what_the_owner_kept_apart_stays_apart_from_whichever_side() -> None:
    apart = frozenset({"y"})
    assert groups(one("a", "jo", "x", apart=apart), one("b", "jo", "y")) == set()
    assert groups(one("b", "jo", "y"), one("a", "jo", "x", apart=apart)) == set()
    rest = groups(one("a", "jo", "x", apart=frozenset({"y", "z"})), one("b", "jo", "y"), one("c", "jo", "z"))
    assert rest == {("b", "c")}


_ENTITIES = st.lists(
    st.builds(
        lambda key, space, kind, others, apart: (key, space, kind, frozenset(others), frozenset(apart)),
        st.sampled_from(["jo", "jo miller", "caro", "caroline"]),
        st.sampled_from("wxyz"),
        st.sampled_from(["person", "pet", "other"]),
        st.lists(st.sampled_from(["jo", "caro", "jo schmidt", "jo miller"]), max_size=2),
        st.lists(st.sampled_from("wxyz"), max_size=1),
    ),
    max_size=9,
)


@settings(max_examples=count_examples(200), deadline=None)
@given(_ENTITIES)
def test_no_group_holds_two_of_a_space_two_types_or_what_was_kept_apart(
    rows: Sequence[tuple[str, str, str, frozenset[str], frozenset[str]]],
) -> None:
    entities = {
        str(n): SpacedEntity(str(n), key, kind, space, others, 0, apart - {space})
        for n, (key, space, kind, others, apart) in enumerate(rows)
    }
    found = group_entities(entities.values())
    for group in set(found.by_member.values()):
        some = [entities[ident] for ident in group.ids]
        assert len(some) > 1
        assert len({each.space_id for each in some}) == len(some)
        assert len({each.type for each in some} - {"other"}) <= 1
        assert not any(b.space_id in a.apart for a in some for b in some)
        assert all(found.members_of(each.id) == group.ids for each in some)
