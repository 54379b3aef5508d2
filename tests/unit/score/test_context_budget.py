"""Packing: density first, misfits skipped, shorter forms where a longer one does not fit."""

from __future__ import annotations

import pytest

from core.score.context_budget import Choice, PackItem, choose_items, fetch_count, fit_to_budget

NONE: dict[str, int] = {"facts": 0}


def item(value: float, *costs: int, section: str = "facts") -> PackItem:
    return PackItem(value, section, (1.0, 0.8, 0.6, 0.1)[: len(costs)], costs)


@pytest.mark.parametrize(("budget", "wanted"), [(0, 10), (100, 10), (600, 20), (3000, 100), (60_000, 200)])
def test_how_many_to_fetch(budget: int, wanted: int) -> None:
    assert fetch_count(budget) == wanted


def test_how_many_to_fetch_follows_the_average() -> None:
    assert fetch_count(600, 30) == 40
    assert fetch_count(600, 0) == 200


def test_an_oversized_item_is_skipped_and_a_later_one_still_goes_in() -> None:
    assert choose_items([item(0.9, 40), item(0.8, 500), item(0.3, 50)], 100, NONE) == {0: 0, 2: 0}


def test_density_decides_and_not_the_order_of_recall() -> None:
    assert choose_items([item(0.6, 90), item(0.55, 30), item(0.5, 30), item(0.5, 30)], 90, NONE) == {1: 0, 2: 0, 3: 0}


def test_what_is_worth_more_than_all_the_rest_is_not_pushed_out() -> None:
    assert choose_items([item(0.9, 95), item(0.1, 6)], 100, NONE) == {0: 0}


def test_a_falling_budget_walks_through_the_tiers() -> None:
    one = [item(1.0, 100, 50, 20, 8)]
    walked = [choose_items(one, room, NONE).get(0) for room in (100, 99, 50, 49, 20, 19, 8, 7)]
    assert walked == [0, 1, 1, 2, 2, 3, 3, None]


def test_longer_forms_come_after_everything_is_in() -> None:
    items = [item(0.9, 100, 50, 20), item(0.8, 100, 50, 20)]
    assert choose_items(items, 40, NONE) == {0: 2, 1: 2}
    assert choose_items(items, 70, NONE) == {0: 1, 1: 2}
    assert choose_items(items, 100, NONE) == {0: 1, 1: 1}
    assert choose_items(items, 199, NONE) == {0: 0, 1: 1}
    assert choose_items(items, 200, NONE) == {0: 0, 1: 0}


def test_a_section_costs_its_heading_once() -> None:
    items = [item(0.9, 10, section="facts"), item(0.8, 10, section="facts"), item(0.7, 10, section="rules")]
    headings = {"facts": 5, "rules": 5}
    assert choose_items(items, 25, headings) == {0: 0, 1: 0}
    assert choose_items(items, 40, headings) == {0: 0, 1: 0, 2: 0}


def test_nothing_comes_of_nothing() -> None:
    assert choose_items([], 100, NONE) == {}
    assert choose_items([item(0.9, 10)], 0, NONE) == {}


def test_the_least_valuable_goes_until_the_text_fits() -> None:
    items = [item(0.9, 10), item(0.2, 10), item(0.5, 10)]
    seen: list[Choice] = []

    def fits(choice: Choice) -> bool:
        seen.append(dict(choice))
        return len(choice) <= 1

    assert fit_to_budget(items, {0: 0, 1: 0, 2: 0}, fits) == {0: 0}
    assert seen == [{0: 0, 1: 0, 2: 0}, {0: 0, 2: 0}, {0: 0}]
    assert fit_to_budget(items, {0: 0}, lambda _: False) == {}


def test_where_the_text_is_too_long_the_loud_go_first() -> None:
    loud = [PackItem(0.9, "facts", (1.0,), (20,), "a") for _ in range(4)]
    items = [*loud, *(PackItem(0.2, "facts", (1.0,), (20,)) for _ in range(2))]

    def fits(left: Choice) -> bool:
        return len(left) <= 3

    assert fit_to_budget(items, dict.fromkeys(range(6), 0), fits) == {0: 0, 4: 0, 5: 0}
