"""The tier of a new version, and of what several memories become: what stands in it, and the person's word."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from engine_rig import Rig

from core.memory.protection import (
    SensitiveFindings,
    TierRules,
    inherited_tier,
    is_persons_word,
    split_names,
    tier_of_new_text,
    united_tier,
    with_tier_by,
)
from core.types.memory import RequestedChange
from core.types.values import SecurityTier

CARD = "The card is 4111 1111 1111 1111."
PLAIN = "The hall is green."
CLEAR, SENSITIVE, CONFIDENTIAL = "cleartext", "sensitive", "confidential"


def row(text: str, tier: str = CLEAR, by: str | None = None) -> dict[str, Any]:
    extra = json.dumps(with_tier_by({"title": "kept"}, by))
    return {"text": text, "security_tier": tier, "extra": extra, "space_id": "home", "source": "user_explicit"}


def said(columns: Mapping[str, object]) -> tuple[object, object]:
    extra = json.loads(str(columns["extra"]))
    assert extra["title"] == "kept"
    return columns["security_tier"], extra.get("tier_by")


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        (row(PLAIN), row(CARD), (CONFIDENTIAL, "rules")),
        (row(CARD, CONFIDENTIAL, "rules"), row(PLAIN), (CLEAR, None)),
        (row(CARD, CLEAR, "owner"), row(f"{CARD} It is blue."), (CLEAR, "owner")),
        (row(PLAIN, CLEAR, "owner"), row(CARD), (CONFIDENTIAL, "rules")),
        (row(PLAIN, SENSITIVE, "owner"), row("The hall is red."), (SENSITIVE, "owner")),
        (row(PLAIN, SENSITIVE), row("The hall is red."), (SENSITIVE, "owner")),  # said before there were rules
        (row(CARD, SENSITIVE, "owner"), row(f"{CARD} It is blue."), (SENSITIVE, "owner")),
    ],
)
def test_a_new_version_is_looked_at_and_the_person_is_heard(
    rig: Rig, old: dict[str, Any], new: dict[str, Any], wanted: tuple[str, str | None]
) -> None:
    assert said(rig.write(lambda tx: inherited_tier(tx, old, new))) == wanted


@pytest.mark.parametrize(
    ("sides", "text", "wanted"),
    [
        ((row(PLAIN), row(PLAIN)), PLAIN, (CLEAR, None)),
        ((row(PLAIN), row(CARD, CONFIDENTIAL, "rules")), f"{PLAIN} {CARD}", (CONFIDENTIAL, "rules")),
        ((row(PLAIN, SENSITIVE, "owner"), row(PLAIN)), PLAIN, (SENSITIVE, "owner")),
        ((row(PLAIN, CONFIDENTIAL, "owner"), row(CARD, CONFIDENTIAL, "rules")), CARD, (CONFIDENTIAL, "owner")),
    ],
)
def test_what_several_become_is_as_protected_as_the_best_of_them(
    rig: Rig, sides: tuple[dict[str, Any], ...], text: str, wanted: tuple[str, str | None]
) -> None:
    assert said(rig.write(lambda tx: united_tier(tx, sides, row(text)))) == wanted


def test_what_an_assistant_writes_into_a_memory_is_looked_at(rig: Rig) -> None:
    writer = rig.client("writer", "read", "write", "curate", "space:home")
    reader = rig.client("reader", "read", "space:home")
    memory_id = rig.store(PLAIN, writer, space="home").memory_id
    reply = rig.engine.client_changes.update_text(memory_id, CARD, writer).result(30)
    assert reply.operation == RequestedChange.UPDATE.name
    kept = rig.get(reply.memory_id)
    assert (kept.tier, kept.is_found_sensitive) == (SecurityTier.CONFIDENTIAL, True)
    assert rig.found("the card", reader) == []
    assert rig.found("the card", writer) == [CARD]


def test_what_was_found_before_serves_unless_the_settings_ask_for_more_by_now() -> None:
    few = TierRules(health=False, contacts=False, space_ids=frozenset({"clinic"}), sources=frozenset())
    text = "Write to anna.lindqvist@example.org."
    found = few.find_types(text, "home", "document")
    assert found == SensitiveFindings(frozenset(), is_whole=False)
    assert tier_of_new_text(few, CARD, "home", "document", found) == (SecurityTier.CLEARTEXT, None), "it is believed"
    assert tier_of_new_text(few, text, "clinic", "document", found) == (SecurityTier.SENSITIVE, "rules")
    more = replace(few, contacts=True)
    assert tier_of_new_text(more, text, "home", "document", found) == (SecurityTier.SENSITIVE, "rules")
    every = more.find_types(f"{CARD} {text}", "home", "document")
    assert every.is_whole
    for rules in (few, more):
        assert tier_of_new_text(rules, "", "home", "document", every)[0] is SecurityTier.CONFIDENTIAL
    assert tier_of_new_text(few, "", "home", "document", more.find_types(text, "home", "document"))[1] is None


def test_names_of_a_list_and_whose_word_a_tier_is() -> None:
    assert split_names(" work, clinic ,, ") == ["work", "clinic"]
    assert is_persons_word(SecurityTier.SENSITIVE, None)
    assert is_persons_word(SecurityTier.CLEARTEXT, "owner")
    assert not is_persons_word(SecurityTier.CLEARTEXT, None)
    assert not is_persons_word(SecurityTier.CONFIDENTIAL, "rules")
