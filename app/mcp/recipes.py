"""Assistants' configurations as values: where a file lies, what an entry looks like, and a text with the entry put in.

From `resources/mcp/clients.json`. Must not do: any file work; guess at a text that is not plain JSON or TOML.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from app.mcp.words import assistants
from core.errors import Code, UserError

SERVER = "loci"
_BARE = re.compile(r"[A-Za-z0-9_-]+")

Command = tuple[str, list[str], dict[str, str]]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How Loci is put into one assistant.

    Attributes:
        name: as `--install` takes it.
        title: as people call it.
        paths: of its configuration on each system.
        format: `json` or `toml`.
        key: under which its servers stand.
        entry: what one server looks like, with blanks.
        after: what to do then.
    """

    name: str
    title: str
    paths: Mapping[str, str]
    format: str
    key: tuple[str, ...]
    entry: Mapping[str, Any]
    after: str

    def path(self, platform: str, variables: Mapping[str, str]) -> Path:
        """Where the configuration lies.

        Args:
            platform: as `sys.platform`.
            variables: of the environment; `HOME` or `USERPROFILE` is the person's folder.

        Returns:
            An absolute path.

        Raises:
            UserError: NOT_HERE where the person's folder is not told, or the assistant does not exist there.
        """
        text = self.paths.get(platform, self.paths.get("any"))
        home = variables.get("USERPROFILE" if platform == "win32" else "HOME", "")
        if text is None or not home:
            raise UserError(Code.NOT_HERE, f"{self.title} keeps no configuration that is known on this system.")
        variable, _, fallback = text.partition("|")
        if not fallback:
            return Path(text.replace("~", home, 1))
        folder = variables.get(variable[1:])
        if not folder or not Path(folder).is_absolute():
            return Path(fallback.replace("~", home, 1))
        # What stands behind the fallback's own folder is the same in either.
        return Path(folder) / _behind(variable, fallback)

    def filled(self, command: Command) -> dict[str, Any]:
        """The entry for a command.

        Args:
            command: program, arguments, variables.

        Returns:
            JSON-able.
        """
        program, arguments, variables = command
        blanks = {"$command": program, "$args": arguments, "$line": [program, *arguments], "$env": variables}
        pairs = ((name, _blank(blanks, value)) for name, value in self.entry.items())
        return {name: value for name, value in pairs if value != {}}

    def snippet(self, entry: Mapping[str, Any]) -> str:
        """The entry as the person would write it into an empty file."""
        return self.put("", entry)

    def displaces(self, text: str, entry: Mapping[str, Any]) -> bool:
        """Whether another entry for Loci stands in a configuration and would be lost.

        Args:
            text: one that `put` took.
            entry: from `filled`.
        """
        at: Any = (_read_toml if self.format == "toml" else _read_json)(text) if text.strip() else {}
        for name in (*self.key, SERVER):
            at = at.get(name, {})
        return at not in ({}, dict(entry))

    def put(self, text: str, entry: Mapping[str, Any]) -> str:
        """A configuration with Loci in it; everything else stays.

        Args:
            text: the configuration as it is; blank where there is none.
            entry: from `filled`.

        Returns:
            The new text; the old one where the entry stands there already.

        Raises:
            UserError: CONFIG_INVALID for what is not plain JSON or TOML, holds a key twice, or has something else where
                the servers should stand.
        """
        return (_put_toml if self.format == "toml" else _put_json)(text, self.key, entry)


def recipe(name: str) -> Recipe:
    """The recipe for an assistant.

    Args:
        name: as typed.

    Raises:
        UserError: INVALID_INPUT naming those that are known.
    """
    found = assistants().get(name.strip().casefold().replace(" ", "-"))
    if found is None:
        raise UserError(Code.INVALID_INPUT, f"That assistant is not known here; known are {', '.join(assistants())}.")
    given = {**found, "key": tuple(found["key"])}
    return Recipe(name=name.strip().casefold().replace(" ", "-"), **given)


def _behind(variable: str, fallback: str) -> str:
    folders = {"$XDG_CONFIG_HOME": "~/.config/", "$APPDATA": "~/AppData/Roaming/", "$CODEX_HOME": "~/.codex/"}
    return fallback.removeprefix(folders[variable])


def _blank(blanks: Mapping[str, Any], value: Any) -> Any:
    return blanks.get(value, value) if isinstance(value, str) else value


# JSON


def _put_json(text: str, key: tuple[str, ...], entry: Mapping[str, Any]) -> str:
    whole = _read_json(text) if text.strip() else {}
    at = whole
    for name in key:
        at = at.setdefault(name, {})
        if not isinstance(at, dict):
            raise _misplaced(name)
    if at.get(SERVER) == entry:
        return text
    at[SERVER] = dict(entry)
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _read_json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite
        )
    except (ValueError, RecursionError):
        raise UserError(
            Code.CONFIG_INVALID, "The configuration is not plain JSON (it may hold comments); it was left alone."
        ) from None
    if not isinstance(found, dict):
        raise UserError(Code.CONFIG_INVALID, "The configuration is not a JSON object; it was left alone.")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _no_number(_: str) -> NoReturn:
    raise ValueError("not a number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("too large")
    return number


# TOML


def _put_toml(text: str, key: tuple[str, ...], entry: Mapping[str, Any]) -> str:
    """Append a table: what stands in the file keeps its comments and its order."""
    before = _read_toml(text)
    at: Any = before
    for name in key:
        at = at.get(name, {})
        if not isinstance(at, dict):
            raise _misplaced(name)
    if at.get(SERVER) == entry:
        return text
    if SERVER in at:
        raise UserError(
            Code.CONFIG_INVALID, "The configuration has another entry for loci; take it out, then try again."
        )
    head = text if not text.strip() or text.endswith("\n") else text + "\n"
    gap = "\n" if text.strip() else ""
    after = head + gap + _table((*key, SERVER), entry)
    seen: Any = _read_toml(after)
    for name in (*key, SERVER):
        seen = seen[name]
    if seen != dict(entry):
        raise UserError(Code.CONFIG_INVALID, "The entry cannot be added to this configuration; it was left alone.")
    return after


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError):
        raise UserError(Code.CONFIG_INVALID, "The configuration is not valid TOML; it was left alone.") from None


def _table(path: tuple[str, ...], entry: Mapping[str, Any]) -> str:
    flat = [(name, value) for name, value in entry.items() if not isinstance(value, dict)]
    lines = [f"[{'.'.join(path)}]", *(f"{_toml_key(name)} = {_toml(value)}" for name, value in flat)]
    nested = [(name, value) for name, value in entry.items() if isinstance(value, dict)]
    return "\n".join(lines) + "\n" + "".join("\n" + _table((*path, name), value) for name, value in nested)


def _toml_key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml(part) for part in value) + "]"
    # A JSON string of ASCII is a TOML basic string, but for DEL and for halves of characters beyond 16 bits.
    if isinstance(value, str):
        plain = json.dumps(value, ensure_ascii=False)
        return plain.replace("\x7f", "\\u007f")
    return json.dumps(value)


def _misplaced(name: str) -> UserError:
    return UserError(Code.CONFIG_INVALID, f"Something else stands under `{name}`; the configuration was left alone.")
