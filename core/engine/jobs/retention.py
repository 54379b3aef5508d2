"""The facade's group for retention: the rules by space and kind, what one would archive, and changing them.

Must not do: archive anything; the sweep does, and an undo of its run brings it back.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.settings import Settings
from core.engine.runtime.storage import chain_work
from core.errors import Code, PreconditionError, UserError
from core.lifecycle.retention import (
    MOST_RULES,
    RetentionRule,
    check_rule,
    format_rules,
    parse_rules,
)
from core.lifecycle.sweep import find_retention_over
from core.types.lifecycle import RetentionLine
from core.vault.database.rows import Rows

OPTION = "retention"


class Retention:
    """How long memories stay, as the person chose it."""

    def __init__(self, open_vault: Callable[[], OpenVault], settings: Settings) -> None:
        self._open_vault = open_vault
        self._settings = settings

    def read_rules(self) -> Future[tuple[RetentionLine, ...]]:
        """The rules in force, each with how many memories the next sweep would archive by it alone."""
        open_vault = self._open_vault()
        rules = parse_rules(open_vault.options.retention)
        return open_vault.storage.read(
            lambda rows: tuple(_line_of(rows, rule, open_vault.storage.clock.now_ms()) for rule in rules)
        )

    def preview_rule(self, space: str, kind: str, days: int) -> Future[RetentionLine]:
        """What a rule would archive now; nothing is written.

        Args:
            space: its name, or `*`; `kind` likewise.

        Raises:
            UserError: INVALID_INPUT for a rule that is none; VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        rule = check_rule(RetentionRule(space, kind, days))
        return open_vault.storage.read(lambda rows: _line_of(rows, rule, open_vault.storage.clock.now_ms()))

    def set_rule(self, space: str, kind: str, days: int) -> Future[tuple[RetentionLine, ...]]:
        """Keep memories of a space and kind for so many days from now on; one undo step.

        Args:
            space: its name, or `*`; `kind` likewise.
            days: 0 takes the rule away.

        Returns:
            The rules as they are then. The future raises CONFIG_INVALID.

        Raises:
            UserError: INVALID_INPUT for a rule that is none, or one too many; VAULT_LOCKED.
        """
        rules = {(one.space, one.kind): one for one in parse_rules(self._open_vault().options.retention)}
        if days:
            rules[space, kind] = check_rule(RetentionRule(space, kind, days))
        elif rules.pop((space, kind), None) is None:
            raise UserError(Code.NOT_FOUND, "There is no such rule.")
        if len(rules) > MOST_RULES:
            raise PreconditionError(f"There may be {MOST_RULES} rules; take one away first.")
        written = self._settings.set_option(OPTION, format_rules(list(rules.values())))
        return chain_work(written, lambda _: self.read_rules())


def _line_of(rows: Rows, rule: RetentionRule, now_ms: int) -> RetentionLine:
    over = find_retention_over(rows, (rule,), now_ms)
    return RetentionLine(rule.space, rule.kind, rule.days, len(over), tuple(over[:20]))
