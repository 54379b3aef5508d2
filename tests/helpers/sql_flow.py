"""Follows SQL text through a tree of functions: from where it is put together to where it is executed.

A statement may be put together from literals, from constants (`TABLES`, `Row.COLUMNS`), from whole numbers, from
question marks, and from the helpers named in `HELPERS`. Whatever else is put into it is reported: values are bound.
A function that hands one of its parameters on as SQL counts as `execute` itself, and so on outwards; so does one whose
name starts with `_` that builds a parameter into SQL, for its callers are all in one module.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from arch_tree import children, walk

# Helper to reason: functions whose result is SQL made from fixed words only.
HELPERS = {
    "int": "a whole number is no text",
    "len": "a whole number is no text",
    "repeat": "repeats what it is given",
    "marks": "question marks, one for each value",
    "placeholders": "question marks, one for each value",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Scope:
    """One function (or a module's top level) and what its names may stand for."""

    module: str
    name: str
    parameters: list[str]
    body: list[ast.stmt]
    assigned: dict[str, list[Value]] = field(default_factory=dict)
    calls: list[ast.Call] = field(default_factory=list)
    returned: list[ast.expr] = field(default_factory=list)


@dataclass(frozen=True)
class Value:
    """What a name may stand for: an expression, or one place of the tuple it gives."""

    expression: ast.expr
    place: int | None = None


def _own_nodes(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Nodes of a body without those of functions inside it."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.ClassDef):
            waiting.extend(children(node))


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AugAssign):
        whole = ast.BinOp(node.target, node.op, node.value)
        yield node.target, ast.copy_location(whole, node)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        if node.func.attr in {"append", "extend", "insert"}:
            yield node.func.value, node.args[-1]
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield node.target, node.iter


def _name_apart(nodes: Sequence[ast.AST]) -> None:
    """Give the variables of each comprehension names of their own.

    Args:
        nodes: all nodes of a tree, outer ones before inner ones.
    """
    for node in reversed(nodes):
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            targets = [name for part in node.generators for name in walk(part.target)]
            ours = {name.id for name in targets if isinstance(name, ast.Name)}
            for name in walk(node):
                if isinstance(name, ast.Name) and name.id in ours:
                    name.id = f"{name.id}@{node.lineno}:{node.col_offset}"


def scopes(module: str, tree: ast.Module) -> list[Scope]:
    """Every function of a module, and its top level, with what is assigned in each; the tree is changed."""
    nodes = walk(tree)
    _name_apart(nodes)
    found = [Scope(module, "<module>", [], tree.body)]
    for node in nodes:
        if isinstance(node, Function):
            spec = node.args
            names = [argument.arg for argument in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]]
            found.append(Scope(module, node.name, names, node.body))
    for scope in found:
        for node in _own_nodes(scope.body):
            if isinstance(node, ast.Call):
                scope.calls.append(node)
            elif isinstance(node, ast.Return) and node.value is not None:
                scope.returned.append(node.value)
            for target, value in _assignments(node):
                several = isinstance(target, ast.Tuple)
                for place, one in enumerate(target.elts if isinstance(target, ast.Tuple) else [target]):
                    if isinstance(one, ast.Name):
                        scope.assigned.setdefault(one.id, []).append(Value(value, place if several else None))
    return found


def _foreign_modules(tree: ast.Module) -> frozenset[str]:
    """Names under which a module knows whole modules that are not of Loci."""
    aliases = [alias for node in walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return frozenset(
        alias.asname or alias.name.split(".")[0]
        for alias in aliases
        if alias.name.split(".")[0] not in {"app", "core", "ui"}
    )


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


@dataclass(frozen=True)
class Door:
    """A parameter through which a function takes SQL, or a part of it (`built`)."""

    position: int
    parameter: str
    built: bool = False

    def argument(self, call: ast.Call) -> ast.expr | None:
        """What a call puts through this door."""
        if len(call.args) > self.position:
            return call.args[self.position]
        return next((keyword.value for keyword in call.keywords if keyword.arg == self.parameter), None)


@dataclass(frozen=True)
class Part:
    """Something in a statement that is not known to be fixed, and the function it stands in."""

    scope: Scope
    node: ast.expr
    built: bool

    @property
    def is_parameter(self) -> bool:
        """Whether the callers are asked what it is."""
        own = isinstance(self.node, ast.Name) and self.node.id in self.scope.parameters
        return own and (not self.built or self.scope.name.startswith("_"))

    @property
    def where(self) -> str:
        """`file:function`."""
        return f"{self.scope.module}:{self.scope.name}"


class Flow:
    """All modules of a tree at once.

    Attributes:
        doors: functions that execute SQL, by module (empty when known everywhere) and name.
    """

    def __init__(self, sources: Mapping[str, str], trusted: Container[str] = frozenset()) -> None:
        """Read a tree.

        Args:
            sources: file to what it says.
            trusted: `file:function` of those that check what they build in themselves.
        """
        modules = {name: ast.parse(source, filename=name) for name, source in sources.items()}
        self._scopes = {name: scopes(name, tree) for name, tree in modules.items()}
        self._foreign = {name: _foreign_modules(tree) for name, tree in modules.items()}
        self._trusted = trusted
        self._named: dict[str, list[Scope]] = {}
        for scope in (scope for group in self._scopes.values() for scope in group):
            self._named.setdefault(scope.name, []).append(scope)
        self.doors: dict[tuple[str, str], set[Door]] = {
            ("", name): {Door(0, "sql")} for name in ("execute", "executemany", "executescript")
        }
        while self._widen():
            pass

    def _widen(self) -> bool:
        """Find parameters that are handed on as SQL; whether there were new ones."""
        grown = False
        for part in list(self._parts_of_statements()):
            if part.is_parameter and part.where not in self._trusted:
                names = part.scope.parameters
                parameter = ast.unparse(part.node)
                door = Door(names.index(parameter) - (names[0] in {"self", "cls"}), parameter, part.built)
                key = (part.scope.module if part.scope.name.startswith("_") else "", part.scope.name)
                known = self.doors.setdefault(key, set())
                grown = grown or door not in known
                known.add(door)
        return grown

    def _statements(self) -> Iterator[tuple[Scope, ast.expr, bool]]:
        """Every statement or part of one that goes through a door."""
        for name, group in self._scopes.items():
            for scope in group:
                for call in scope.calls:
                    doors = self._doors_of(call, name)
                    if doors and not self._is_foreign(call, name):
                        for door in doors:
                            argument = door.argument(call)
                            if argument is not None:
                                yield scope, argument, door.built

    def _is_foreign(self, call: ast.Call, module: str) -> bool:
        """`numpy.all` is not our `all`, nor is the builtin."""
        if isinstance(call.func, ast.Name):
            return hasattr(builtins, call.func.id)
        receiver = getattr(call.func, "value", None)
        return isinstance(receiver, ast.Name) and receiver.id in self._foreign[module]

    def _doors_of(self, call: ast.Call, module: str) -> set[Door]:
        name = _called(call)
        return self.doors.get((module if name.startswith("_") else "", name), set())

    def _parts_of_statements(self) -> Iterator[Part]:
        for scope, argument, built in self._statements():
            yield from self._unknown(argument, _Place(scope, self._scopes[scope.module][0], built))

    def complaints(self) -> list[str]:
        """Where something unknown is put into a statement, as `file:function: expressions`."""
        found: dict[str, set[str]] = {}
        for part in self._parts_of_statements():
            if part.built and (part.where in self._trusted or not part.is_parameter):
                found.setdefault(part.where, set()).add(ast.unparse(part.node))
        return [f"{where}: {', '.join(sorted(what))}" for where, what in sorted(found.items())]

    def _unknown(self, node: ast.expr, place: _Place) -> Iterator[Part]:
        """Parts of an expression that are not known to be fixed."""
        parts = _parts(node)
        for part, inside in parts:
            yield from self._unknown(part, replace(place, built=place.built or inside))
        if isinstance(node, ast.Name):
            yield from self._unknown_name(node, place)
        elif isinstance(node, ast.Call):
            if not parts and _called(node) not in HELPERS:
                yield from self._unknown_result(node, None, place)
        elif place.built and not isinstance(node, _KNOWN) and not _is_constant_name(node):
            yield Part(place.scope, node, place.built)

    def _unknown_name(self, node: ast.Name, place: _Place) -> Iterator[Part]:
        if node.id in place.seen or node.id.isupper():
            return
        values = place.scope.assigned.get(node.id) or place.top.assigned.get(node.id) or []
        is_parameter = node.id in place.scope.parameters
        if is_parameter or (not values and place.built):
            yield Part(place.scope, node, place.built)
        inner = replace(place, seen=place.seen | {node.id})
        for value in values:
            expression = value.expression
            if value.place is not None and isinstance(expression, ast.Call):
                yield from self._unknown_result(expression, value.place, inner)
            else:
                yield from self._unknown(_at(expression, value.place), inner)

    def _unknown_result(self, call: ast.Call, wanted: int | None, place: _Place) -> Iterator[Part]:
        """The same of what a function of the tree returns; a call of anything else is unknown."""
        name = _called(call)
        if f"{name}()" in place.seen:
            return
        known = isinstance(call.func, ast.Name) or name.startswith("_")  # a method of any object may be anything
        own = place.scope.module if name.startswith("_") else None
        makers = [scope for scope in self._named.get(name, []) if known and own in {None, scope.module}]
        if not makers and place.built:
            yield Part(place.scope, call, place.built)
        for scope in makers:
            inner = replace(place, scope=scope, top=self._scopes[scope.module][0], seen=frozenset({f"{name}()"}))
            for value in scope.returned:
                yield from self._unknown(_at(value, wanted), inner)


@dataclass(frozen=True)
class _Place:
    """Where an expression stands.

    Attributes:
        scope: its function.
        top: its module.
        built: it goes into a larger text; a whole statement from elsewhere is that place's matter.
        seen: names being followed, so that a loop ends.
    """

    scope: Scope
    top: Scope
    built: bool = False
    seen: frozenset[str] = frozenset()


def _at(node: ast.expr, place: int | None) -> ast.expr:
    """One element of a literal tuple, or the expression itself."""
    if place is not None and isinstance(node, ast.Tuple) and place < len(node.elts):
        return node.elts[place]
    return node


_KNOWN = (
    ast.Constant,
    ast.JoinedStr,
    ast.BinOp,
    ast.IfExp,
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.ListComp,
    ast.GeneratorExp,
    ast.Compare,
    ast.Starred,
)


def _is_constant_name(node: ast.expr) -> bool:
    """`TABLES`, `Row.COLUMNS`, `TABLES[kind]`: fixed words, whatever the key."""
    if isinstance(node, ast.Subscript):
        return _is_constant_name(node.value)
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return bool(name) and name.isupper()


def _parts(node: ast.expr) -> list[tuple[ast.expr, bool]]:
    """What an expression is put together from, and whether each goes into a larger text."""
    match node:
        case ast.JoinedStr():
            return [(value.value, True) for value in node.values if isinstance(value, ast.FormattedValue)]
        case ast.BinOp(op=ast.Mult()):  # `"?," * count`: the number changes no word
            counted = ast.Name | ast.Attribute | ast.Call
            return [(side, True) for side in (node.left, node.right) if not isinstance(side, counted)]
        case ast.BinOp():
            return [(node.left, True), (node.right, True)]
        case ast.IfExp():
            return [(node.body, False), (node.orelse, False)]
        case ast.Tuple() | ast.List() | ast.Set():
            return [(element, False) for element in node.elts]
        case ast.Starred():
            return [(node.value, False)]
        case ast.ListComp() | ast.GeneratorExp():
            return [(node.elt, False)]
        case ast.Call(func=ast.Attribute() as method):
            return _call_parts(node, method)
    return []


def _call_parts(node: ast.Call, method: ast.Attribute) -> list[tuple[ast.expr, bool]]:
    """The same of a method of a text or of a constant mapping."""
    if method.attr in {"join", "format"}:
        return [(part, True) for part in (method.value, *node.args, *(word.value for word in node.keywords))]
    if method.attr in {"items", "values", "keys"} and _is_constant_name(method.value):
        return [(method.value, False)]
    return []
