"""The tuner: weights of recall as they stand in the vault, as they would be, and as they are applied in one step.

Must not do: run a recall, or know a single option; they are declared in `core.config.retrieval`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from core.config.option_rows import option_rows, replace_option
from core.config.retrieval import PREFIX, RetrievalOptions, load
from core.engine.runtime.open_vault import OpenVault
from core.errors import PreconditionError
from core.score.ranking.profile_options import PRESET_WORDS, Value, matching_preset, preset_values
from core.types.recall import Applied, Tuning
from core.types.values import OWNER_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

VERB, LABEL = "tune", "Tuned recall"
RETURNED = "retuned"
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
    return load({key.removeprefix(PREFIX): json.loads(value) for key, value in found})


def tuning_of(options: RetrievalOptions) -> Tuning:
    """The tuner as it stands.

    Args:
        options: in force.

    Returns:
        Every option, and the presets.
    """
    values = {name: preset_values(name) for name in PRESET_WORDS}
    return Tuning(option_rows(RetrievalOptions, options), matching_preset(options), dict(PRESET_WORDS), values)


def with_weights(options: RetrievalOptions, weights: Mapping[str, Value] | None) -> RetrievalOptions:
    """The options with some of them changed.

    Args:
        options: as they are.
        weights: option to value; None for none.

    Returns:
        The options as they would be.

    Raises:
        UserError: CONFIG_INVALID for an unknown name or a value the option does not take.
    """
    for name, value in (weights or {}).items():
        options = replace_option(options, name, _whole(name, value))
    return options


def apply_weights(tx: Tx, opened: OpenVault, weights: Mapping[str, Value]) -> str:
    """Put weights in force: one verb, one step.

    Args:
        weights: option to value, over what is stored.

    Returns:
        The step.

    Raises:
        UserError: CONFIG_INVALID; INVALID_INPUT where nothing would change.
    """
    before = stored_retrieval(tx)[0]
    after = with_weights(before, weights)
    changed = [name for name, value in after.model_dump().items() if getattr(before, name) != value]
    if not changed:
        raise PreconditionError("Recall goes by these weights already.")
    with opened.work.verb(tx, VERB, LABEL, OWNER_ACTOR) as verb:
        for name in changed:
            _put(tx, name, getattr(after, name))
        verb.note(verb.step_id, options=len(changed))
    told = {name: (getattr(before, name), getattr(after, name)) for name in changed}
    tx.run("INSERT INTO tunings (step_id, changes) VALUES (?, ?)", (verb.step_id, json.dumps(told)))
    tx.after_commit(lambda: opened.search.use_retrieval(after))
    opened.announce_after(tx, VERB, (), OWNER_ACTOR)
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
            (held, of) if of else None,
        )
        for step_id, at, undone, held, of, changes in found
    )


def _whole(name: str, value: Value) -> Value:
    """A number that a slider gives as 8.0 for an option that takes whole numbers."""
    field = RetrievalOptions.model_fields.get(name)
    if field is not None and field.annotation is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _put(tx: Tx, name: str, value: Value) -> None:
    """A default is not written down: whoever goes by it goes by that of a later version too."""
    key = {"key": PREFIX + name}
    if value == RetrievalOptions.model_fields[name].default:
        tx.delete("settings", key)
        return
    row = {"value": json.dumps(value), "changed_at": tx.now_ms}
    if not tx.update("settings", key, row):
        tx.insert("settings", {**key, **row})
