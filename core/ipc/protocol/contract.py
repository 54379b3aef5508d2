"""The contract of the socket: the methods that exist, what may be sent to them, and times as it writes and reads them.

Methods are made from `resources/protocol.json`. Times are ISO 8601 UTC with `Z` out, ISO 8601 or epoch numbers in. Must
not do: carry anything out, ask for the present, or put a value that was sent into an error. A field's name is shown
escaped and cut.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from core.errors import Code, LociError, UserError
from core.ipc.protocol.document import protocol_document
from core.ipc.protocol.messages import escape_text
from core.text.times import parse_time
from core.types.values import Precision, When

if TYPE_CHECKING:  # loaded with the first call that is not plain
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_wire_time(ms: int | None) -> str | None:
    """Write a moment.

    Args:
        ms: epoch milliseconds UTC; None stays None.

    Returns:
        `2026-01-31T12:00:00Z`, with `.123` where there are milliseconds; None outside the years 1 to 9999.
    """
    if ms is None:
        return None
    try:
        moment = _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None
    text = f"{moment.year:04d}{moment:-%m-%dT%H:%M:%S}"
    part = ms % 1000
    return f"{text}.{part:03d}Z" if part else f"{text}Z"


def parse_time_param(value: object, field: str) -> When | None:
    """Read a moment from a parameter; without a zone it is UTC.

    Args:
        value: ISO 8601 text or an epoch number; None stays None.
        field: the parameter's name, for the error.

    Returns:
        The moment with its precision.

    Raises:
        UserError: INVALID_INPUT; the value is not in the sentence.
    """
    if value is None:
        return None
    found = parse_time(value)
    if found is None:
        raise UserError(Code.INVALID_INPUT, f"`{field}` is not a time; write it like 2026-01-31 or 2026-01-31T12:00Z.")
    return found


def read_as_of(value: object, field: str = "as_of") -> int | None:
    """Read the moment of a question about the past: a day, month or year means its last millisecond.

    Args:
        value: ISO 8601 text or an epoch number; None stays None.
        field: the parameter's name, for the error.

    Returns:
        Epoch milliseconds UTC.

    Raises:
        UserError: INVALID_INPUT.
    """
    found = parse_time_param(value, field)
    if found is None:
        return None
    start = _EPOCH + timedelta(milliseconds=found.ms, minutes=found.offset_min or 0)
    if found.precision is Precision.YEAR:
        days = 366 if monthrange(start.year, 2)[1] == 29 else 365
    elif found.precision is Precision.MONTH:
        days = monthrange(start.year, start.month)[1]
    elif found.precision is Precision.DAY:
        days = 1
    else:
        return found.ms
    return found.ms + days * 86_400_000 - 1


_TYPES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_FREE = frozenset({"qualifiers", "metadata", "domain_scores"})  # their keys are the caller's own words
_PLAIN_OBJECT = frozenset({"type", "properties", "required", "additionalProperties", "description"})
_PLAIN_RULES = frozenset({"type", "minLength", "maxLength", "minimum", "maximum", "description", "default"})
_ALIASES_OF_NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes:
        name: as it is called.
        who: `anyone` (before the handshake is done), `client` or `owner`.
        effect: `read` (may be given up when the caller goes), `write` (is finished) or `session`.
        grants: any one of these is needed; none for no grant.
        aliases: other spelling of a parameter to its name.
        search: counts against the search limits.
        long: may report progress.
        paged: how a reply that was cut goes on: `again` (asked again with the smaller limit), `id` (behind the last
            item's id), None (not a list).
        errors: codes it can answer with.
        definitions: what schemas refer to, by name.
    """

    name: str
    about: str
    who: str
    effect: str
    grants: tuple[str, ...]
    aliases: Mapping[str, str]
    search: bool
    long: bool
    paged: str | None
    params: Mapping[str, Any]
    result: Mapping[str, Any]
    errors: tuple[str, ...]
    definitions: Mapping[str, Any] = field(repr=False)

    @cached_property
    def checker(self) -> Draft202012Validator:
        """Checks its parameters."""
        from jsonschema import Draft202012Validator

        return Draft202012Validator({**self.params, "$defs": self.definitions})

    def check_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Check parameters and spell them as the contract does.

        Args:
            params: as sent.

        Returns:
            The parameters under their own names.

        Raises:
            UserError: INVALID_INPUT naming the field and the rule it breaks.
        """
        spelled: dict[str, Any] = {}
        for key, value in params.items():
            name = self.aliases.get(key, key)
            if name in spelled:
                raise UserError(Code.INVALID_INPUT, f"`{name}` is given twice, under two spellings.")
            spelled[name] = value
        if not self._is_plain(spelled):
            for problem in self.checker.iter_errors(spelled):
                raise _explain_problem(problem, self)
        return spelled

    def _is_plain(self, spelled: Mapping[str, Any]) -> bool:
        """Whether all parameters are right at first sight: most calls are, and need no checker for all rules there are.

        False says nothing: then the checker decides.
        """
        if not self.params.keys() <= _PLAIN_OBJECT or not spelled.keys() >= set(self.params.get("required", ())):
            return False
        known = _property_names(self.params)
        return all(name in known and _is_plain_value(value, known[name]) for name, value in spelled.items())


class Registry:
    """All methods that exist."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        """Build the registry.

        Args:
            document: the content of `resources/protocol.json`.
        """
        self.protocol: int = document["protocol"]
        self.line_bytes: int = document["line_bytes"]
        self.text_bytes: int = document["text_bytes"]
        self.forbidden = frozenset(document["forbidden"])
        self._defs = document["$defs"]
        self.methods: Mapping[str, Method] = {
            name: _method_from_json(name, body, self._defs, errors_of_method(document, body))
            for name, body in document["methods"].items()
        }

    def load_checkers(self) -> None:
        """Load what checks parameters that are not plain; else the first such call would wait for it."""
        _ = next(iter(self.methods.values())).checker

    def find_method(self, name: str) -> Method:
        """Look a method up.

        Args:
            name: as sent.

        Raises:
            UserError: UNKNOWN_METHOD.
        """
        found = self.methods.get(name)
        if found is None:
            raise UserError(Code.UNKNOWN_METHOD, f"There is no method {escape_text(name)}.")
        return found

    def refuse_forbidden(self, params: Mapping[str, Any]) -> None:
        """Refuse what a caller may never say about itself or a memory, wherever it stands in the parameters.

        Args:
            params: as sent.

        Raises:
            UserError: FORBIDDEN_FIELD naming it.
        """
        for key, value in params.items():
            if key in self.forbidden:
                raise UserError(Code.FORBIDDEN_FIELD, f"`{key}` is not for a caller to say; leave it out.")
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, Mapping) and key not in _FREE:
                    self.refuse_forbidden(part)

    def result_checker(self, name: str) -> Draft202012Validator:
        """A checker for a method's results; tests and the reference use it."""
        from jsonschema import Draft202012Validator

        return Draft202012Validator({**self.methods[name].result, "$defs": self._defs})


def load_registry() -> Registry:
    """Read `resources/protocol.json`.

    Returns:
        The registry; build it once and hand it on.
    """
    return Registry(protocol_document())


def errors_of_method(document: Mapping[str, Any], body: Mapping[str, Any]) -> tuple[str, ...]:
    """The codes a method can answer with: its own, and those of every method of its kind.

    Args:
        document: the content of `resources/protocol.json`; `common_errors` says what a kind is.
        body: the method's entry there.

    Returns:
        Codes, each once, its own first.
    """
    traits = {"who": body["who"], "effect": body["effect"], "granted": bool(body["grants"])}
    common = [one["code"] for one in document["common_errors"] if one["of"].items() <= traits.items()]
    return tuple(dict.fromkeys((*body["errors"], *common)))


def _method_from_json(name: str, body: Mapping[str, Any], defs: Mapping[str, Any], errors: tuple[str, ...]) -> Method:
    return Method(
        name=name,
        about=body["about"],
        who=body["who"],
        effect=body["effect"],
        grants=tuple(body["grants"]),
        aliases=body.get("aliases", _ALIASES_OF_NOTHING),
        search=body.get("search", False),
        long=body.get("long", False),
        paged=body.get("paged"),
        params=body["params"],
        result=body["result"],
        errors=errors,
        definitions=defs,
    )


def _explain_problem(problem: ValidationError, method: Method) -> LociError:
    """One sentence with the field's name and its rule, and the right names where it was a matter of them.

    Never the value that was sent.
    """
    path = [escape_text(part) if isinstance(part, str) else f"[{part}]" for part in problem.absolute_path]
    where = ".".join(path).replace(".[", "[")
    rule, bound = str(problem.validator), cast("Any", problem.validator_value)
    schema = problem.schema if isinstance(problem.schema, Mapping) else {}
    if rule == "additionalProperties":
        unknown = sorted(
            str(key) for key in cast("Mapping[str, Any]", problem.instance) if key not in _property_names(schema)
        )
        name = _join_field(where, escape_text(unknown[0]))
        problem_text = f"`{name}` is not a parameter of {f'`{where}`' if where else method.name}"
        return UserError(Code.INVALID_INPUT, f"{problem_text}, which takes {_describe_parameters(schema)}.")
    if rule == "required":
        missing = next(key for key in bound if key not in cast("Mapping[str, Any]", problem.instance))
        problem_text = f"`{_join_field(where, missing)}` is missing"
    elif rule in ("type", "anyOf", "oneOf") and len(path) == 1:
        problem_text, where, schema = f"`{where}` {_describe_rule(rule, bound)}", "", method.params
    else:
        return UserError(Code.INVALID_INPUT, f"`{where or 'params'}` {_describe_rule(rule, bound)}.")
    return UserError(
        Code.INVALID_INPUT,
        f"{problem_text}; {f'`{where}`' if where else method.name} takes {_describe_parameters(schema)}.",
    )


def _is_plain_value(value: object, rules: Mapping[str, Any]) -> bool:
    """Whether a value keeps rules that are simple enough to be seen here."""
    if not rules.keys() <= _PLAIN_RULES:
        return False
    kind = rules.get("type")
    if kind == "string" and isinstance(value, str):
        return bool(rules.get("minLength", 0) <= len(value) <= rules.get("maxLength", len(value)))
    if kind == "integer" and isinstance(value, int) and not isinstance(value, bool):
        return bool(rules.get("minimum", value) <= value <= rules.get("maximum", value))
    return kind == "boolean" and isinstance(value, bool)


def _property_names(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", schema.get("properties", {}))


def _describe_parameters(schema: Mapping[str, Any]) -> str:
    """The names an object may have, those it must have first."""
    needed = [str(name) for name in schema.get("required", ())]
    rest = [name for name in _property_names(schema) if name not in needed]
    return ", ".join([*(f"{name} (required)" for name in needed), *rest]) or "no parameters"


def _join_field(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _describe_rule(rule: str, bound: Any) -> str:
    if rule == "type":
        names = [bound] if isinstance(bound, str) else list(bound)
        return "must be " + " or ".join(_TYPES.get(name, name) for name in names)
    if rule == "enum":
        return "must be one of " + ", ".join(str(choice) for choice in bound)
    sentences = {
        "const": f"must be {bound}",
        "minimum": f"must be at least {bound}",
        "maximum": f"must be at most {bound}",
        "minLength": "is empty" if bound == 1 else f"is shorter than {bound} characters",
        "maxLength": f"is longer than {bound} characters",
        "minItems": "is empty",
        "maxItems": f"has more than {bound} entries",
        "maxProperties": f"has more than {bound} entries",
    }
    return sentences.get(rule, "has a form that is not allowed")
