"""Options as the settings page shows them, made from the fields of a pydantic model; and the change of one value.

Must not do: know a single option, store anything, put a value into an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic.types import JsonValue
from pydantic_core import ErrorDetails, PydanticCustomError

from core.errors import Code, UserError

if TYPE_CHECKING:
    from core.types.replies import OptionRow

Model = TypeVar("Model", bound=BaseModel)

_AT_ODDS = "at_odds"
_KINDS: Mapping[object, str] = {bool: "bool", int: "int", float: "float", str: "text"}
_TAKES = {"bool": "yes or no", "int": "a whole number", "float": "a number", "text": "a text"}
_GIVEN: Mapping[type, str] = {
    bool: "yes or no",
    int: "a whole number",
    float: "a number with decimals",
    str: "a text",
    type(None): "nothing",
}


def field_extra(
    group: str,
    unit: str = "",
    choices: Mapping[str, str] | None = None,
    *,
    restart: bool = False,
    advanced: bool = False,
) -> dict[str, JsonValue]:
    """What a field tells beside its type and bounds; goes into `json_schema_extra`.

    Args:
        group: the heading it stands under.
        unit: such as `days`.
        choices: value (as text) to words; for a choice, or values that are offered within the bounds of a number.
        restart: whether it takes effect at the next start only.
        advanced: whether only who knows the inside of the program needs it.

    Returns:
        The mapping `option_rows` reads.
    """
    return {"group": group, "unit": unit, "choices": dict(choices or {}), "restart": restart, "advanced": advanced}


def conflicting_options_error(sentence: str, *names: str) -> PydanticCustomError:
    """What a model's validator raises where each of some options is right, and they are not right together.

    Args:
        sentence: for the person.
    """
    return PydanticCustomError(_AT_ODDS, "{sentence}", {"sentence": sentence, "names": list(names)})


def option_rows(model: type[BaseModel], values: BaseModel) -> tuple[OptionRow, ...]:
    """Every option of a model.

    Args:
        model: declares the options.
        values: an instance of it.

    Returns:
        Rows in the order in which the model declares them.
    """
    return tuple(_make_option_row(name, field, getattr(values, name)) for name, field in model.model_fields.items())


def option_row(values: BaseModel, name: str) -> OptionRow:
    """One option.

    Args:
        values: an instance of a model.

    Raises:
        UserError: CONFIG_INVALID; there is no such option.
    """
    return _make_option_row(name, _find_option_field(type(values), name), getattr(values, name))


def replace_option(values: Model, name: str, value: object) -> Model:
    """The same options with one of them changed.

    Args:
        value: the new value, of the option's own type.

    Returns:
        The new options.

    Raises:
        UserError: CONFIG_INVALID, naming the option, what it takes with its bounds, and what kind of value was given;
            or how it has to stand to others.
    """
    field = _find_option_field(type(values), name)
    told: list[str] = []
    try:
        return type(values)(**{**values.model_dump(), name: value})
    except ValidationError as problem:
        told = [error["msg"] for error in problem.errors() if error["type"] == _AT_ODDS]
    if told:
        raise UserError(Code.CONFIG_INVALID, told[0])
    row = _make_option_row(name, field, getattr(values, name))
    raise UserError(
        Code.CONFIG_INVALID, f"“{row.title}” takes {_format_accepted(row)}; {_describe_bad_value(row, value)}."
    )


def load_options(model: type[Model], stored: Mapping[str, Any]) -> tuple[Model, tuple[str, ...]]:
    """Build options from stored values; a bad value falls back to its default.

    Args:
        model: declares the options.
        stored: name to JSON value; names that are no option are passed over.

    Returns:
        The options, and the names of stored ones that were refused.
    """
    kept = {key: value for key, value in stored.items() if key in model.model_fields}
    bad: set[str] = set()
    while True:
        try:
            return model(**{key: value for key, value in kept.items() if key not in bad}), tuple(sorted(bad))
        except ValidationError as problem:
            worse = {name for error in problem.errors() for name in _names_at_fault(error)} & kept.keys() - bad
            if not worse:
                raise
            bad |= worse


def _names_at_fault(error: ErrorDetails) -> list[str]:
    """The options an error is about."""
    if error["type"] == _AT_ODDS:
        return list(error["ctx"]["names"])
    return [str(error["loc"][0])] if error["loc"] else []


def _find_option_field(model: type[BaseModel], name: str) -> FieldInfo:
    field = model.model_fields.get(name)
    if field is None:
        raise UserError(Code.CONFIG_INVALID, "There is no setting of that name.")
    return field


def _make_option_row(name: str, field: FieldInfo, value: object) -> OptionRow:
    told: Mapping[str, Any] = field.json_schema_extra if isinstance(field.json_schema_extra, Mapping) else {}
    words: Mapping[str, str] = told.get("choices", {})
    kind = _KINDS.get(field.annotation, "text")
    if get_origin(field.annotation) is Literal:
        kind = "choice"
        words = {str(choice): words.get(str(choice), str(choice)) for choice in get_args(field.annotation)}
    from core.types.replies import OptionRow

    return OptionRow(
        name=name,
        title=field.title or name,
        description=field.description or "",
        group=told.get("group", ""),
        kind=kind,
        default=field.default,
        value=value,
        least=_bound_of_option(field, "ge"),
        most=_bound_of_option(field, "le"),
        choices=dict(words),
        unit=told.get("unit", ""),
        needs_restart=told.get("restart", False),
        is_advanced=told.get("advanced", False),
    )


def _bound_of_option(field: FieldInfo, name: str) -> float | None:
    found = (getattr(part, name, None) for part in field.metadata)
    return next((bound for bound in found if bound is not None), None)


def _format_accepted(row: OptionRow) -> str:
    if row.kind == "choice":
        return "one of " + ", ".join(row.choices)
    bounds = "" if row.least is None or row.most is None else f" from {row.least:,} to {row.most:,}"
    unit = f" ({row.unit})" if row.unit else ""
    return _TAKES[row.kind] + bounds + unit


def _describe_bad_value(row: OptionRow, value: object) -> str:
    """What was wrong with a value, without the value."""
    numbers = (int, float)
    if row.kind in ("int", "float") and isinstance(value, numbers) and not isinstance(value, bool):
        if row.least is not None and value < row.least:
            return "the number given is too small"
        if row.most is not None and value > row.most:
            return "the number given is too large"
    if row.kind == "choice" and isinstance(value, str):
        return "the word given is another"
    return f"{_GIVEN.get(type(value), 'something else')} was given"
