"""The options in force as the vault keeps them: those of the program, and the weights of recall that the tuner sets.

Each change is a named step that can be undone. Must not do: know a single option; they are declared in
`core.config.options` and `core.config.retrieval`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

from core.config.option_rows import load_options, option_row, option_rows, replace_option
from core.config.options import Options
from core.config.retrieval import PREFIX, RetrievalOptions
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.search import Search
from core.engine.runtime.storage import Storage
from core.errors import PreconditionError
from core.score.profile import PRESET_WORDS, Value, matching_preset, preset_values
from core.types.recall import Applied, Tuning
from core.types.values import OWNER_ACTOR, Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

if TYPE_CHECKING:
    from core.types.replies import OptionRow, OptionsReset

TUNE_VERB, TUNE_LABEL = "tune", "Tuned recall"
RETUNED_VERB = "retuned"
"""The verb that is announced when an undo, or a redo, changed the weights."""

_KEPT = 200
_APPLIED = (
    "SELECT s.id, s.at, s.undone_by IS NOT NULL, r.found, r.found_of, t.changes FROM tunings t "
    "JOIN undo_steps s ON s.id = t.step_id LEFT JOIN probe_runs r ON r.step_id = s.id "
    "ORDER BY s.at DESC, s.rowid DESC LIMIT ?"
)


def stored_retrieval(rows: Rows) -> tuple[RetrievalOptions, tuple[str, ...]]:
    """The options of recall as the vault holds them.

    Returns:
        The options, and the names of stored ones that were refused and have their defaults.
    """
    wanted = json.dumps([PREFIX + name for name in RetrievalOptions.model_fields])
    found = rows.all("SELECT key, value FROM settings WHERE key IN (SELECT value FROM json_each(?))", (wanted,))
    return load_options(RetrievalOptions, {key.removeprefix(PREFIX): json.loads(value) for key, value in found})


def tuning_of(options: RetrievalOptions) -> Tuning:
    """The tuner as it stands.

    Returns:
        Every option, and the presets.
    """
    values = {name: preset_values(name) for name in PRESET_WORDS}
    return Tuning(option_rows(RetrievalOptions, options), matching_preset(options), dict(PRESET_WORDS), values)


def with_weights(options: RetrievalOptions, weights: Mapping[str, Value] | None) -> RetrievalOptions:
    """The options with some of them changed.

    Args:
        weights: option to value; None for none.

    Returns:
        The options as they would be.

    Raises:
        UserError: CONFIG_INVALID for an unknown name or a value the option does not take.
    """
    for name, value in (weights or {}).items():
        options = replace_option(options, name, _to_whole_number(name, value))
    return options


def apply_weights(tx: Tx, storage: Storage, search: Search, weights: Mapping[str, Value]) -> str:
    """Put weights in force: one verb, one step.

    Args:
        weights: option to value, over what is stored.

    Raises:
        UserError: CONFIG_INVALID; INVALID_INPUT where nothing would change.
    """
    before = stored_retrieval(tx)[0]
    after = with_weights(before, weights)
    changed = [name for name, value in after.model_dump().items() if getattr(before, name) != value]
    if not changed:
        raise PreconditionError("Recall goes by these weights already.")
    with storage.verb(tx, OWNER_ACTOR, TUNE_VERB, label=TUNE_LABEL) as verb:
        for name in changed:
            _put_weight(tx, name, getattr(after, name))
        verb.note_audit(verb.step_id, options=len(changed))
        verb.set_outcome(())
    values = {name: (getattr(before, name), getattr(after, name)) for name in changed}
    tx.run("INSERT INTO tunings (step_id, changes) VALUES (?, ?)", (verb.step_id, json.dumps(values)))
    tx.after_commit(lambda: search.use_retrieval(after))
    return verb.step_id


def weight_applications(rows: Rows) -> tuple[Applied, ...]:
    """What was applied, newest first, as far as it can still be undone.

    Returns:
        At most 200 applications.
    """
    found = rows.all(_APPLIED, (_KEPT,))
    return tuple(
        Applied(
            step_id,
            at,
            {name: (before, after) for name, (before, after) in json.loads(changes).items()},
            bool(undone),
            (passed, of) if of else None,
        )
        for step_id, at, undone, passed, of, changes in found
    )


def _to_whole_number(name: str, value: Value) -> Value:
    """A number that a slider gives as 8.0 for an option that takes whole numbers."""
    field = RetrievalOptions.model_fields.get(name)
    if field is not None and field.annotation is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _put_weight(tx: Tx, name: str, value: Value) -> None:
    """A default is not written down: whoever goes by it goes by that of a later version too."""
    key = {"key": PREFIX + name}
    if value == RetrievalOptions.model_fields[name].default:
        tx.delete("settings", key)
        return
    row = {"value": json.dumps(value), "changed_at": tx.now_ms}
    if not tx.update("settings", key, row):
        tx.insert("settings", {**key, **row})


SET_VERB = "settings"
# A settings step has a row for each option it changed; steps with more rows than this are something else.
_MOST_ROWS = 100


class Settings:
    """The options of the open vault. A change takes effect at once, unless its row says `needs_restart`."""

    def __init__(self, open_vault: Callable[[], OpenVault]) -> None:
        self._open_vault = open_vault

    def read_rows(self) -> Future[tuple[OptionRow, ...]]:
        """All options with their values, bounds and defaults, in the order in which they are shown.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        return open_vault.storage.read(lambda rows: option_rows(Options, stored_options(rows)[0]))

    def set_option(self, name: str, value: object) -> Future[OptionRow]:
        """Change one option; one undo step, none where it has that value already.

        Args:
            name: the option's key.
            value: the new value, of the option's own type.

        Returns:
            The option as it is now.

        Raises:
            UserError: CONFIG_INVALID for an unknown name or a value the option does not take; VAULT_LOCKED.
        """
        open_vault = self._open_vault()

        def write(tx: Tx) -> OptionRow:
            before = stored_options(tx)[0]
            after = replace_option(before, name, value)
            row = option_row(after, name)
            if after != before:
                label = f"Change the setting {row.title}"
                with open_vault.storage.verb(tx, OWNER_ACTOR, SET_VERB, label=label) as verb:
                    _write_setting(tx, name, row.value)
                    verb.note_audit(name)
                    _take_up(tx, open_vault, OWNER_ACTOR)
                    verb.set_outcome(())
            return row

        return open_vault.storage.write(write)

    def reset_options(self, name: str | None = None) -> Future[tuple[OptionRow, ...]]:
        """Put one option, or all, back to the default; one undo step.

        Args:
            name: the option's key; None for all.

        Returns:
            All options as they are now.

        Raises:
            UserError: CONFIG_INVALID for an unknown name; VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        return open_vault.storage.write(lambda tx: _write_defaults(tx, open_vault, name).rows)

    def reset_all(self) -> Future[OptionsReset]:
        """Put all options back to their defaults, as `reset_options` does; one undo step, which is told.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        return open_vault.storage.write(lambda tx: _write_defaults(tx, open_vault, None))


def stored_options(rows: Rows) -> tuple[Options, tuple[str, ...]]:
    """The options as the vault holds them.

    Returns:
        The options, and the names of stored ones that were refused and have their defaults.
    """
    wanted = json.dumps(list(Options.model_fields))
    found = rows.all("SELECT key, value FROM settings WHERE key IN (SELECT value FROM json_each(?))", (wanted,))
    return load_options(Options, {key: json.loads(value) for key, value in found})


def apply_undone_options(tx: Tx, open_vault: OpenVault, steps: Sequence[str], actor: Actor) -> None:
    """Go by what an import or an undo left, if it changed an option.

    Args:
        tx: its transaction, at its end.
        steps: that changed rows; the options of a great one are looked for at its beginning.
        actor: who asked for it.
    """
    changed = tx.value(
        "SELECT 1 FROM undo_rows WHERE step_id IN (SELECT value FROM json_each(?)) AND nr < ? AND tbl = 'settings' "
        "LIMIT 1",
        (json.dumps(list(steps)), _MOST_ROWS),
    )
    if changed is not None:
        with open_vault.storage.verb(tx, actor, SET_VERB) as verb:
            _take_up(tx, open_vault, actor)
            verb.set_outcome(())


def _take_up(tx: Tx, open_vault: OpenVault, actor: Actor) -> None:
    chosen, tuned, seq = stored_options(tx)[0], stored_retrieval(tx)[0], tx.seq

    def take_settings_into_use() -> None:
        open_vault.use_options(chosen)
        if tuned != open_vault.search.retrieval:
            open_vault.search.use_retrieval(tuned)
            open_vault.storage.announce_change(RETUNED_VERB, (), actor, seq)

    tx.after_commit(take_settings_into_use)


def _write_defaults(tx: Tx, open_vault: OpenVault, name: str | None) -> OptionsReset:
    label = "Reset all settings" if name is None else f"Reset the setting {option_row(Options(), name).title}"
    names = Options.model_fields if name is None else (name,)
    if name is not None:
        replace_option(stored_options(tx)[0], name, getattr(Options(), name))  # others may not allow the default
    stored_names = [one for one in names if tx.row("settings", {"key": one}) is not None]
    step_id: str | None = None
    if stored_names:
        with open_vault.storage.verb(tx, OWNER_ACTOR, SET_VERB, label=label) as verb:
            for one in stored_names:
                tx.delete("settings", {"key": one})
            verb.note_audit(name or "", options=len(stored_names))
            _take_up(tx, open_vault, OWNER_ACTOR)
            verb.set_outcome(())
        step_id = verb.step_id
    from core.types.replies import OptionsReset

    return OptionsReset(option_rows(Options, stored_options(tx)[0]), step_id)


def _write_setting(tx: Tx, name: str, value: object) -> None:
    row = {"value": json.dumps(value), "changed_at": tx.now_ms}
    if not tx.update("settings", {"key": name}, row):
        tx.insert("settings", {"key": name, **row})
