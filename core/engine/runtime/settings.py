"""The facade's group for settings: the options of this vault, each change a named step that can be undone.

Must not do: know a single option; they are declared in `core.config.options`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future

from core.config.option_rows import option_row, option_rows, replace_option
from core.config.options import Options, load
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.tuner import RETURNED, stored_retrieval
from core.types.replies import OptionRow, OptionsReset
from core.types.values import OWNER_ACTOR, Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

VERB = "settings"
# A settings step has a row for each option it changed; steps with more rows than this are something else.
_MOST_ROWS = 100


class Settings:
    """The options of the open vault. A change takes effect at once, unless its row says `needs_restart`."""

    def __init__(self, opened: Callable[[], OpenVault]) -> None:
        self._opened = opened

    def rows(self) -> Future[tuple[OptionRow, ...]]:
        """All options with their values, bounds and defaults, in the order in which they are shown.

        Raises:
            UserError: VAULT_LOCKED.
        """
        opened = self._opened()
        return opened.read(lambda rows: option_rows(Options, stored_options(rows)[0]))

    def set(self, name: str, value: object) -> Future[OptionRow]:
        """Change one option; one undo step, none where it has that value already.

        Args:
            name: the option's key.
            value: the new value, of the option's own type.

        Returns:
            The option as it is now.

        Raises:
            UserError: CONFIG_INVALID for an unknown name or a value the option does not take; VAULT_LOCKED.
        """
        opened = self._opened()

        def write(tx: Tx) -> OptionRow:
            before = stored_options(tx)[0]
            after = replace_option(before, name, value)
            row = option_row(after, name)
            if after != before:
                with opened.work.verb(tx, VERB, f"Change the setting {row.title}", OWNER_ACTOR) as verb:
                    _put(tx, name, row.value)
                    verb.note(name)
                _take_up(tx, opened, OWNER_ACTOR)
            return row

        return opened.write(write)

    def reset(self, name: str | None = None) -> Future[tuple[OptionRow, ...]]:
        """Put one option, or all, back to the default; one undo step.

        Args:
            name: the option's key; None for all.

        Returns:
            All options as they are now.

        Raises:
            UserError: CONFIG_INVALID for an unknown name; VAULT_LOCKED.
        """
        opened = self._opened()
        return opened.write(lambda tx: _reset(tx, opened, name).rows)

    def reset_all(self) -> Future[OptionsReset]:
        """Put all options back to their defaults, as `reset` does; one undo step, which is told.

        Raises:
            UserError: VAULT_LOCKED.
        """
        opened = self._opened()
        return opened.write(lambda tx: _reset(tx, opened, None))


def stored_options(rows: Rows) -> tuple[Options, tuple[str, ...]]:
    """The options as the vault holds them.

    Returns:
        The options, and the names of stored ones that were refused and have their defaults.
    """
    wanted = json.dumps(list(Options.model_fields))
    found = rows.all("SELECT key, value FROM settings WHERE key IN (SELECT value FROM json_each(?))", (wanted,))
    return load({key: json.loads(value) for key, value in found})


def apply_undone_options(tx: Tx, opened: OpenVault, step_id: str, actor: Actor) -> None:
    """Go by what an undo left, if it changed an option.

    Args:
        tx: the undo's transaction, at its end.
        step_id: the step the undo wrote.
        actor: who asked for it.
    """
    changed = tx.value(
        "SELECT 1 FROM undo_rows WHERE step_id = ? AND nr < ? AND tbl = 'settings' LIMIT 1", (step_id, _MOST_ROWS)
    )
    if changed is not None:
        _take_up(tx, opened, actor)


def _take_up(tx: Tx, opened: OpenVault, actor: Actor) -> None:
    chosen, tuned, seq = stored_options(tx)[0], stored_retrieval(tx)[0], tx.seq

    def saved() -> None:
        opened.use_options(chosen)
        if tuned != opened.search.retrieval:
            opened.search.use_retrieval(tuned)
            opened.announce(RETURNED, (), actor, seq)
        opened.announce(VERB, (), actor, seq)

    tx.after_commit(saved)


def _reset(tx: Tx, opened: OpenVault, name: str | None) -> OptionsReset:
    label = "Reset all settings" if name is None else f"Reset the setting {option_row(Options(), name).title}"
    names = Options.model_fields if name is None else (name,)
    if name is not None:
        replace_option(stored_options(tx)[0], name, getattr(Options(), name))  # others may not allow the default
    held = [one for one in names if tx.row("settings", {"key": one}) is not None]
    step_id: str | None = None
    if held:
        with opened.work.verb(tx, VERB, label, OWNER_ACTOR) as verb:
            for one in held:
                tx.delete("settings", {"key": one})
            verb.note(name or "", options=len(held))
        step_id = verb.step_id
        _take_up(tx, opened, OWNER_ACTOR)
    return OptionsReset(option_rows(Options, stored_options(tx)[0]), step_id)


def _put(tx: Tx, name: str, value: object) -> None:
    row = {"value": json.dumps(value), "changed_at": tx.now_ms}
    if not tx.update("settings", {"key": name}, row):
        tx.insert("settings", {"key": name, **row})
