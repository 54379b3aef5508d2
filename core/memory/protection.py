"""At which security tier a memory is kept: what rules find in its text, what the settings ask, the person before both.

Who said so stands in the memory's `extra`: `tier_by` is `rules` or `owner`. A tier without it is the person's word from
before there were rules. What rules found is kept from other clients; what the person protected is kept from every
client, and read by no job. Must not do: write a row, keep a found value, or lower what the person raised.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.config.options import BasicOptions
from core.sensitivity.detector import find_confidential, find_sensitive
from core.types.sensitivity import SensitiveType
from core.types.values import BY_PERSON, BY_RULES, TIER_BY, SecurityTier
from core.vault.database.rows import Rows, to_json

_TIERS = tuple(SecurityTier)
_OPTIONS = ("protect_health", "protect_contacts", "protected_spaces", "protected_sources")

Tier = tuple[SecurityTier, str | None]
"""A tier, and who said so."""


def higher_tier(*tiers: SecurityTier) -> SecurityTier:
    """The one of them that protects most."""
    return max(tiers, key=_TIERS.index)


@dataclass(frozen=True, slots=True)
class SensitiveFindings:
    """What kinds of sensitive content a text holds, as far as it was looked for.

    Attributes:
        types: what was found.
        is_whole: whether everything was looked for, and not what is confidential alone.
    """

    types: frozenset[SensitiveType]
    is_whole: bool


def types_in(text: str) -> frozenset[SensitiveType]:
    """What kinds of sensitive content stand in a text."""
    return frozenset(span.type for span in find_sensitive(text))


@dataclass(frozen=True, slots=True)
class TierRules:
    """What the settings ask of what is found.

    Attributes:
        health: findings about health make a memory sensitive.
        contacts: so do names, addresses, telephone numbers and the like.
        space_ids: in these spaces whatever is found makes it sensitive.
        sources: so it does in what came by these ways.
    """

    health: bool
    contacts: bool
    space_ids: frozenset[str]
    sources: frozenset[str]

    def find_types(self, text: str, space_id: str, source: str) -> SensitiveFindings:
        """What is found in a text, as far as it can decide its tier; it takes time in proportion to the text.

        Args:
            space_id: where the memory lies.
            source: by what way it came.
        """
        if self._asks_for_all(space_id, source):
            return SensitiveFindings(types_in(text), is_whole=True)
        return SensitiveFindings(frozenset(span.type for span in find_confidential(text)), is_whole=False)

    def covers(self, found: SensitiveFindings, space_id: str, source: str) -> bool:
        """Whether findings from before, under other settings, are enough to decide by these.

        Args:
            found: what was found in a text.
            space_id: where the memory lies.
            source: by what way it came.
        """
        return found.is_whole or not self._asks_for_all(space_id, source)

    def _asks_for_all(self, space_id: str, source: str) -> bool:
        return self.health or self._is_asked(space_id, source)

    def _is_asked(self, space_id: str, source: str) -> bool:
        """Whether everything that is found counts."""
        return self.contacts or space_id in self.space_ids or source in self.sources

    def tier_of(self, types: Collection[SensitiveType], space_id: str, source: str) -> SecurityTier:
        """The tier that these findings ask for.

        Args:
            space_id: where the memory lies.
            source: by what way it came.
        """
        if not types:
            return SecurityTier.CLEARTEXT
        if any(one.tier is SecurityTier.CONFIDENTIAL for one in types):
            return SecurityTier.CONFIDENTIAL
        is_asked = self._is_asked(space_id, source)
        is_health = self.health and SensitiveType.HEALTH in types
        return SecurityTier.SENSITIVE if is_asked or is_health else SecurityTier.CLEARTEXT


def read_tier_rules(rows: Rows) -> TierRules:
    """The rules as the vault's settings have them now."""
    found = rows.all("SELECT key, value FROM settings WHERE key IN (SELECT value FROM json_each(?))", (_ASKED,))
    values = {**_DEFAULTS, **{str(key): json.loads(value) for key, value in found}}
    names = split_names(str(values["protected_spaces"]))
    spaces = rows.all("SELECT id FROM spaces WHERE name IN (SELECT value FROM json_each(?))", (to_json(names),))
    return TierRules(
        health=values["protect_health"] is True,
        contacts=values["protect_contacts"] is True,
        space_ids=frozenset(str(row[0]) for row in spaces) if names else frozenset(),
        sources=frozenset(split_names(str(values["protected_sources"]))),
    )


def read_protection(rows: Rows, memory_id: str) -> tuple[SecurityTier, frozenset[SensitiveType]] | None:
    """The tier of a memory and what kinds of sensitive content its text holds; None where there is no such memory.

    A memory in the clear is not looked at again: what was found in it asked for no tier.
    """
    row = rows.one("SELECT security_tier, text FROM memories WHERE id = ?", (memory_id,))
    if row is None:
        return None
    tier = SecurityTier(str(row[0]))
    return tier, frozenset() if tier is SecurityTier.CLEARTEXT else types_in(str(row[1]))


def split_names(listed: str) -> list[str]:
    """The names of a list that is written with commas."""
    return [name for one in listed.split(",") if (name := one.strip())]


_DEFAULTS: Mapping[str, object] = {name: BasicOptions.model_fields[name].default for name in _OPTIONS}
_ASKED = to_json(list(_OPTIONS))


def tier_of_new_text(
    rules: TierRules, text: str, space_id: str, source: str, found: SensitiveFindings | None = None
) -> Tier:
    """The tier of a memory that is stored now.

    Args:
        text: all of it; of a split text the parts together.
        found: in that text, where it was looked through before; it is again where the settings ask for more by now.
    """
    if found is None or not rules.covers(found, space_id, source):
        found = rules.find_types(text, space_id, source)
    tier = rules.tier_of(found.types, space_id, source)
    return tier, None if tier is SecurityTier.CLEARTEXT else BY_RULES


def inherited_tier(rows: Rows, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, object]:
    """The columns of a new version's tier: rules look at the new text, and the person's word goes on.

    What the person said of the old text covers what stood in it; what comes in with the new one is looked at anew.

    Args:
        old: the row of the version before.
        new: the row of the new one, with its text.
    """
    before, by = SecurityTier(old["security_tier"]), _tier_by(old)
    rules, types = read_tier_rules(rows), types_in(str(new["text"]))
    if not is_persons_word(before, by):
        found = rules.tier_of(types, str(new["space_id"]), str(new["source"]))
        return tier_columns(new, found, None if found is SecurityTier.CLEARTEXT else BY_RULES)
    came = rules.tier_of(types - types_in(str(old["text"])), str(new["space_id"]), str(new["source"]))
    tier = higher_tier(before, came)
    return tier_columns(new, tier, BY_PERSON if tier is before else BY_RULES)


def united_tier(rows: Rows, sides: Iterable[Mapping[str, Any]], new: Mapping[str, Any]) -> dict[str, object]:
    """The columns of the tier of a memory that several become: as well protected as the best protected of them.

    Args:
        sides: the rows they were.
        new: the row they are, with its text.
    """
    tier, by = tier_of_new_text(read_tier_rules(rows), str(new["text"]), str(new["space_id"]), str(new["source"]))
    for side in sides:
        one, said_by = SecurityTier(side["security_tier"]), _tier_by(side)
        is_word = is_persons_word(one, said_by)
        if higher_tier(tier, one) is not tier or (one is tier and is_word):
            tier, by = one, BY_PERSON if is_word else said_by
    return tier_columns(new, tier, by)


def is_persons_word(tier: SecurityTier, by: str | None) -> bool:
    """Whether the person chose a tier, and no rule."""
    return by == BY_PERSON or (by is None and tier is not SecurityTier.CLEARTEXT)


def tier_columns(row: Mapping[str, Any], tier: SecurityTier, by: str | None) -> dict[str, object]:
    """The columns that say a tier and whose word it is.

    Args:
        row: the row they are of; the rest of its `extra` stays.
    """
    extra = json.loads(str(row["extra"]))
    return {"security_tier": tier.value, "extra": to_json(with_tier_by(extra, by))}


def with_tier_by(extra: Mapping[str, Any], by: str | None) -> dict[str, Any]:
    """The `extra` of a memory with who chose its tier."""
    rest = {name: value for name, value in extra.items() if name != TIER_BY}
    return rest if by is None else {**rest, TIER_BY: by}


def _tier_by(row: Mapping[str, Any]) -> str | None:
    found = json.loads(str(row["extra"])).get(TIER_BY)
    return found if isinstance(found, str) else None
