"""Dataclasses that are cheap to define: the same classes as those of the standard library, in a third of the time.

The standard library writes six methods of each frozen dataclass as source text and compiles them, 0.6 ms a class
under Python 3.11. Loci has some 700 of them and a command uses a tenth: that was 0.4 of the 1.1 s of importing the
engine. Here comparison, `repr` and the refusals to change are closures over the fields, and `__init__` is written when
it is first called.

Must not do: anything that a dataclass does not do. What has another form is handed to the standard library.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True, kw_only: bool = False
    ) -> Any:
        """As `dataclasses.dataclass`.

        Args:
            cls: the class; None where options are given.
        """

        def define(plain: type) -> type:
            if frozen and slots and not any(map(dataclasses.is_dataclass, plain.__mro__)):
                return _define(plain, eq=eq, kw_only=kw_only)
            return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, kw_only=kw_only)(plain)

        return define if cls is None else define(cls)


_NOT_GIVEN = object()  # where the default is made anew for each object
_set_value = object.__setattr__


def _define(plain: type, *, eq: bool, kw_only: bool) -> type:
    """A frozen dataclass with slots. A method that the class defines itself stays."""
    own = frozenset(vars(plain))
    cls: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(plain)
    cls.__dataclass_params__.frozen = True  # the standard library looks here when a dataclass is derived from it
    methods = {"__init__": _deferred_init(cls), "__repr__": _repr, **_refusals(cls), **(_comparison(cls) if eq else {})}
    for name, method in {**methods, "__getstate__": _values, "__setstate__": _set_values}.items():
        if name not in own:
            setattr(cls, name, method)
    return cls  # type: ignore[no-any-return]  # Any: what is set on it is declared nowhere


def _key_of(names: Sequence[str]) -> Callable[[Any], Any]:
    """Gives what an object is compared by."""
    return attrgetter(*names) if len(names) > 1 else lambda one: tuple(getattr(one, name) for name in names)


def _comparison(cls: Any) -> dict[str, Any]:
    fields = dataclasses.fields(cls)
    key = _key_of([field.name for field in fields if field.compare])
    hash_key = _key_of([field.name for field in fields if (field.compare if field.hash is None else field.hash)])

    def equals(self: Any, other: object) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    return {"__eq__": equals, "__hash__": lambda self: hash(hash_key(self))}


def _refusals(cls: Any) -> dict[str, Any]:
    names = frozenset(cls.__slots__)

    def set_value(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete_value(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": set_value, "__delattr__": delete_value}


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _values(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_values(self: Any, values: Sequence[object]) -> None:
    for field, value in zip(dataclasses.fields(self), values, strict=True):
        _set_value(self, field.name, value)


def _deferred_init(cls: Any) -> Callable[..., None]:
    def __init__(self: Any, /, *args: object, **kwargs: object) -> None:  # noqa: N807 - it stands for that method
        written = _write_init(cls)
        if vars(cls)["__init__"] is __init__:
            cls.__init__ = written
        written(self, *args, **kwargs)

    return __init__


def _write_init(cls: Any) -> Callable[..., None]:
    """The `__init__` of a frozen dataclass, as the standard library would write it."""
    scope: dict[str, Any] = {"_set_value": _set_value, "_NOT_GIVEN": _NOT_GIVEN}
    parameters: dict[bool, list[str]] = {False: ["self"], True: []}  # by whether they are given by name only
    lines = []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        default = ""
        if field.default is not dataclasses.MISSING:
            scope[f"_default_{name}"] = field.default
            default, value = f"=_default_{name}", name if field.init else f"_default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            scope[f"_make_{name}"] = field.default_factory
            default = "=_NOT_GIVEN"
            value = f"_make_{name}() if {name} is _NOT_GIVEN else {name}" if field.init else f"_make_{name}()"
        if field.init:
            parameters[bool(field.kw_only)].append(name + default)
        if field.init or value != name:
            lines.append(f"_set_value(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    by_name = ["*", *parameters[True]] if parameters[True] else []
    text = f"def __init__({', '.join([*parameters[False], *by_name])}):\n " + "\n ".join(lines or ["pass"])
    exec(text, scope)  # noqa: S102 - names of fields alone, as the standard library does it
    written: Callable[..., None] = scope["__init__"]
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    return written
