"""Between the options a person turns and the profile that ranks: one flat list of names for both.

A number of a profile has a dotted name (`sides.recency`, `window_terms.2`); the option of it has underscores instead.
Must not do: rank, read a vault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any

from core.config.retrieval import RetrievalOptions
from core.score.ranking.profile import LOCI, PRESETS, Profile

Value = float | bool | str

MEASURED = "measured"
"""The preset of the defaults."""
OWN = "own"
"""The name of a profile that is no preset's."""

PRESET_WORDS: Mapping[str, str] = MappingProxyType(
    {
        MEASURED: "As measured: what answers best on test conversations",
        "seed-a": "Confidence first, slow to forget",
        "seed-b": "Importance first, fresh things over old",
        "engram": "Believed, fresh and useful things first",
    }
)
"""What each preset is, in words."""

_BY_NAME = {MEASURED if profile is LOCI else profile.name: profile for profile in PRESETS}


def profile_values(profile: Profile) -> dict[str, Value]:
    """Every value of a profile but its name.

    Args:
        profile: the profile.

    Returns:
        Dotted name to value, in the order of the fields; places of a tuple count from 1.
    """
    found: dict[str, Value] = {}
    for field in fields(profile):
        if field.name != "name":
            found.update(_flat(field.name, getattr(profile, field.name)))
    return found


def option_name(dotted: str) -> str:
    """The option of a profile's value.

    Args:
        dotted: as `profile_values` has it.

    Returns:
        The name in `core.config.retrieval`.
    """
    return dotted.replace(".", "_")


def profile_from_options(options: RetrievalOptions, name: str | None = None) -> Profile:
    """The profile that options say.

    Args:
        name: for receipts; None for the name of the preset they are, or `OWN`.

    Returns:
        A profile; what is no option is as measured.
    """
    told = options.model_dump()
    changed = replace_values(
        LOCI, {dotted: told[option_name(dotted)] for dotted in profile_values(LOCI) if option_name(dotted) in told}
    )
    if name is None:
        preset = matching_preset(options)
        name = _BY_NAME[preset].name if preset else OWN
    return replace(changed, name=name)


def replace_values(profile: Profile, values: Mapping[str, Value]) -> Profile:
    """A profile with some of its values changed.

    Args:
        profile: as it is.
        values: dotted name to value; names it does not have are passed over.

    Returns:
        The profile.
    """
    new = {
        field.name: _built(field.name, getattr(profile, field.name), values.get)
        for field in fields(profile)
        if field.name != "name"
    }
    return replace(profile, **new)


def preset_values(name: str) -> dict[str, Value]:
    """What the options are under a preset.

    Args:
        name: a key of `PRESET_WORDS`.

    Returns:
        Option to value, for all options that rank.

    Raises:
        KeyError: there is no such preset.
    """
    known = RetrievalOptions.model_fields
    flat = {option_name(dotted): value for dotted, value in profile_values(_BY_NAME[name]).items()}
    return {option: value for option, value in flat.items() if option in known}


def matching_preset(options: RetrievalOptions) -> str:
    """The preset that options are those of.

    Returns:
        Its name; `""` where they are none's.
    """
    told = options.model_dump()
    for name in PRESET_WORDS:
        if all(told[option] == value for option, value in preset_values(name).items()):
            return name
    return ""


def _flat(name: str, value: Any) -> dict[str, Value]:
    if is_dataclass(value):
        return {
            key: one
            for field in fields(value)
            for key, one in _flat(f"{name}.{field.name}", getattr(value, field.name)).items()
        }
    if isinstance(value, tuple):
        return {key: one for nr, part in enumerate(value, start=1) for key, one in _flat(f"{name}.{nr}", part).items()}
    return {name: value}


def _built(name: str, value: Any, given: Callable[[str], Value | None]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        parts = {
            field.name: _built(f"{name}.{field.name}", getattr(value, field.name), given) for field in fields(value)
        }
        return replace(value, **parts)
    if isinstance(value, tuple):
        return tuple(_built(f"{name}.{nr}", part, given) for nr, part in enumerate(value, start=1))
    new = given(name)
    return value if new is None else new
