"""How long memories stay, by space and kind: the rules that the person wrote, and what they are over for.

A rule is written `space:kind:days`, rules with semicolons between them; `*` stands for every space or kind. What is
over is archived by the sweep, so that an undo brings it back and the archive's own rules decide the rest. Where several
rules fit a memory, the shortest holds. The days count from when it was stored, or confirmed last. Must not do: archive
or erase anything itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import Code, UserError
from core.types.values import Kind
from core.vault.database.rows import Rows

EVERY = "*"
MOST_RULES, MOST_DAYS = 64, 36_500
_DAY_MS = 86_400_000
_KINDS = frozenset({EVERY, *(kind.value for kind in Kind)})
_IS_OVER = (
    "IN ('active', 'disputed') AND coalesce(m.part_index, 0) = 0 "
    "AND (:space = '*' OR s.name = :space) AND (:kind = '*' OR m.kind = :kind) "
    "AND max(m.recorded_at, m.last_confirmed_at) < :before ORDER BY m.n"
)
_OVER = "SELECT m.id FROM memories m JOIN spaces s ON s.id = m.space_id WHERE m.status " + _IS_OVER  # noqa: S608
_OVER_AMONG = (
    "SELECT m.id FROM json_each(:ids) w JOIN memories m ON m.id = w.value "  # noqa: S608 - constants only
    "JOIN spaces s ON s.id = m.space_id WHERE +m.status " + _IS_OVER
)


@dataclass(frozen=True, slots=True, order=True)
class RetentionRule:
    """How long memories of a kind stay in a space.

    Attributes:
        space: its name, or `*`.
        kind: a word of `Kind`, or `*`.
    """

    space: str
    kind: str
    days: int

    def __str__(self) -> str:
        return f"{self.space}:{self.kind}:{self.days}"


def check_rule(rule: RetentionRule) -> RetentionRule:
    """Refuse a rule that cannot be kept.

    Returns:
        The rule.

    Raises:
        UserError: INVALID_INPUT.
    """
    if not rule.space.strip() or rule.space != rule.space.strip() or ";" in rule.space:
        raise UserError(Code.INVALID_INPUT, "Name a space, without a semicolon in its name, or * for every space.")
    if rule.kind not in _KINDS:
        raise UserError(Code.INVALID_INPUT, "A kind is episode, fact, rule, procedure, digest, or * for every kind.")
    if not 1 <= rule.days <= MOST_DAYS:
        raise UserError(Code.INVALID_INPUT, f"A memory stays for 1 to {MOST_DAYS:,} days.")
    return rule


def parse_rules(written: str) -> tuple[RetentionRule, ...]:
    """The rules of the option `retention`; what is none is passed over.

    Args:
        written: as `format_rules` writes them, or the person in the settings.
    """
    found: dict[tuple[str, str], RetentionRule] = {}
    for one in written.split(";"):
        parts = [part.strip() for part in one.rsplit(":", 2)]
        if len(parts) != 3 or not (parts[2].isascii() and parts[2].isdigit()):
            continue
        try:
            rule = check_rule(RetentionRule(parts[0], parts[1], int(parts[2][:9])))
        except UserError:
            continue
        found.setdefault((rule.space, rule.kind), rule)
    return tuple(found.values())[:MOST_RULES]


def format_rules(rules: Sequence[RetentionRule]) -> str:
    """The rules as the option holds them."""
    return "; ".join(str(rule) for rule in sorted(rules))


def find_over(rows: Rows, rule: RetentionRule, now_ms: int, memory_ids: Sequence[str] | None = None) -> tuple[str, ...]:
    """Memories that stand and have stayed as long as a rule lets them.

    Args:
        now_ms: the time that is believed, epoch ms.
        memory_ids: of these alone; None for all.

    Returns:
        Heads, the oldest first; nothing is asked about what protects them.
    """
    asked = {"space": rule.space, "kind": rule.kind, "before": now_ms - rule.days * _DAY_MS}
    if memory_ids is None:
        found = rows.all(_OVER, asked)
    else:
        found = rows.all(_OVER_AMONG, asked | {"ids": json.dumps(list(memory_ids))})
    return tuple(str(row[0]) for row in found)
