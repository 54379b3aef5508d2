"""`loci mcp --install`: shows what it would write into an assistant's configuration, asks, writes, keeps a copy.

Where a file lies and what an entry looks like comes from `resources/mcp/clients.json`. Must not do: follow a link,
write without a yes, lose anything that stands in the file.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import click

from app.mcp.client_setup import ClientSetup
from app.mcp.messages import format_sentence, load_assistants
from app.mcp.pairing import ask_grants, pair_client
from app.mcp.tokens import read_token
from core.errors import Code, EnvironmentFaultError, LociError, UserError

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

    def find_path(self, platform: str, variables: Mapping[str, str]) -> Path:
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
        return Path(folder) / _shorten_fallback(variable, fallback)

    def fill_entry(self, command: Command) -> dict[str, Any]:
        """The entry for a command.

        Args:
            command: program, arguments, variables.

        Returns:
            JSON-able.
        """
        program, arguments, variables = command
        blanks = {"$command": program, "$args": arguments, "$line": [program, *arguments], "$env": variables}
        pairs = ((name, _fill_blank(blanks, value)) for name, value in self.entry.items())
        return {name: value for name, value in pairs if value != {}}

    def make_snippet(self, entry: Mapping[str, Any]) -> str:
        """The entry as the person would write it into an empty file."""
        return self.put_entry("", entry)

    def has_other_entry(self, text: str, entry: Mapping[str, Any]) -> bool:
        """Whether another entry for Loci stands in a configuration and would be lost.

        Args:
            text: one that `put_entry` took.
            entry: from `fill_entry`.
        """
        at: Any = (parse_toml_config if self.format == "toml" else parse_json_config)(text) if text.strip() else {}
        for name in (*self.key, SERVER):
            at = at.get(name, {})
        return at not in ({}, dict(entry))

    def put_entry(self, text: str, entry: Mapping[str, Any]) -> str:
        """A configuration with Loci in it; everything else stays.

        Args:
            text: the configuration as it is; blank where there is none.
            entry: from `fill_entry`.

        Returns:
            The new text; the old one where the entry stands there already.

        Raises:
            UserError: CONFIG_INVALID for what is not plain JSON or TOML, holds a key twice, or has something else where
                the servers should stand.
        """
        return (_put_toml if self.format == "toml" else _put_json)(text, self.key, entry)


def remove_entry(recipe: Recipe, text: str, is_meant: Callable[[Sequence[str]], bool]) -> str:
    """A configuration without the entry of Loci; everything else stays.

    Args:
        text: the configuration as it is.
        is_meant: whether the command line of an entry is one of those that shall go.

    Returns:
        The new text; the old one where no such entry stands in it.

    Raises:
        UserError: CONFIG_INVALID for what cannot be read, or where the entry cannot be taken out by itself.
    """
    is_toml = recipe.format == "toml"
    parse = parse_toml_config if is_toml else parse_json_config
    whole = parse(text) if text.strip() else {}
    at: Any = whole
    for name in recipe.key:
        at = at.get(name) if isinstance(at, dict) else None
    entry = at.get(SERVER) if isinstance(at, dict) else None
    if not isinstance(entry, dict) or not is_meant(_words_of(entry)):
        return text
    del at[SERVER]
    if not is_toml:
        return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    new = _without_table(text, (*recipe.key, SERVER))
    if parse(new) not in (whole, {name: value for name, value in whole.items() if name != recipe.key[0] or value}):
        raise UserError(
            Code.CONFIG_INVALID, "The entry cannot be taken out by itself; the configuration was left alone."
        )
    return new


def _words_of(value: Any) -> list[str]:
    """All texts of an entry, in their order: the command line is among them."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [word for part in parts for word in _words_of(part)]


def _without_table(text: str, key: tuple[str, ...]) -> str:
    """TOML without one table and those beneath it: from its heading to the next one."""
    name = ".".join(key)
    kept, is_inside = [], False
    for line in text.splitlines(keepends=True):
        head = line.strip()
        if head.startswith("["):
            title = head.strip("[]").partition("]")[0].strip()
            is_inside = title == name or title.startswith(f"{name}.")
        if not is_inside:
            kept.append(line)
    return "".join(kept)


def find_recipe(name: str) -> Recipe:
    """The recipe for an assistant.

    Args:
        name: as typed.

    Raises:
        UserError: INVALID_INPUT naming those that are known.
    """
    found = load_assistants().get(name.strip().casefold().replace(" ", "-"))
    if found is None:
        raise UserError(Code.INVALID_INPUT, f"Unknown assistant; known are {', '.join(load_assistants())}.")
    given = {**found, "key": tuple(found["key"])}
    return Recipe(name=name.strip().casefold().replace(" ", "-"), **given)


def _shorten_fallback(variable: str, fallback: str) -> str:
    folders = {
        "$XDG_CONFIG_HOME": "~/.config/",
        "$APPDATA": "~/AppData/Roaming/",
        "$CODEX_HOME": "~/.codex/",
        "$CLAUDE_CONFIG_DIR": "~/.claude/",
    }
    return fallback.removeprefix(folders[variable])


def _fill_blank(blanks: Mapping[str, Any], value: Any) -> Any:
    return blanks.get(value, value) if isinstance(value, str) else value


# JSON


def _put_json(text: str, key: tuple[str, ...], entry: Mapping[str, Any]) -> str:
    whole = parse_json_config(text) if text.strip() else {}
    at = whole
    for name in key:
        at = at.setdefault(name, {})
        if not isinstance(at, dict):
            raise _misplaced_error(name)
    if at.get(SERVER) == entry:
        return text
    at[SERVER] = dict(entry)
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def parse_json_config(text: str) -> dict[str, Any]:
    """A configuration that is a JSON object; raises CONFIG_INVALID for any other, and where a key stands twice."""
    try:
        found = json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_refuse_repeated_keys,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
        )
    except (ValueError, RecursionError):
        raise UserError(
            Code.CONFIG_INVALID, "The configuration is not plain JSON (it may hold comments); it was left alone."
        ) from None
    if not isinstance(found, dict):
        raise UserError(Code.CONFIG_INVALID, "The configuration is not a JSON object; it was left alone.")
    return found


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError("not a number")


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("too large")
    return number


# TOML


def _put_toml(text: str, key: tuple[str, ...], entry: Mapping[str, Any]) -> str:
    """Append a table: what stands in the file keeps its comments and its order."""
    before = parse_toml_config(text)
    at: Any = before
    for name in key:
        at = at.get(name, {})
        if not isinstance(at, dict):
            raise _misplaced_error(name)
    if at.get(SERVER) == entry:
        return text
    if SERVER in at:
        raise UserError(Code.CONFIG_INVALID, "The configuration has another entry for loci. Remove it, then try again.")
    head = text if not text.strip() or text.endswith("\n") else text + "\n"
    gap = "\n" if text.strip() else ""
    after = head + gap + _format_table((*key, SERVER), entry)
    seen: Any = parse_toml_config(after)
    for name in (*key, SERVER):
        seen = seen[name]
    if seen != dict(entry):
        raise UserError(Code.CONFIG_INVALID, "The entry cannot be added to this configuration; it was left alone.")
    return after


def parse_toml_config(text: str) -> dict[str, Any]:
    """A configuration that is TOML; raises CONFIG_INVALID."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError):
        raise UserError(Code.CONFIG_INVALID, "The configuration is not valid TOML; it was left alone.") from None


def _format_table(path: tuple[str, ...], entry: Mapping[str, Any]) -> str:
    flat = [(name, value) for name, value in entry.items() if not isinstance(value, dict)]
    lines = [f"[{'.'.join(path)}]", *(f"{_toml_key(name)} = {_format_toml(value)}" for name, value in flat)]
    nested = [(name, value) for name, value in entry.items() if isinstance(value, dict)]
    return "\n".join(lines) + "\n" + "".join("\n" + _format_table((*path, name), value) for name, value in nested)


def _toml_key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _format_toml(name)


def _format_toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_format_toml(part) for part in value) + "]"
    # A JSON string of ASCII is a TOML basic string, but for DEL and for halves of characters beyond 16 bits.
    if isinstance(value, str):
        plain = json.dumps(value, ensure_ascii=False)
        return plain.replace("\x7f", "\\u007f")
    return json.dumps(value)


def _misplaced_error(name: str) -> UserError:
    return UserError(Code.CONFIG_INVALID, f"Something else is under `{name}`; the configuration was not changed.")


_MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """How an assistant shall be set up.

    Attributes:
        only_print: print and stop.
        yes: write without asking.
        code: pair it by this one-time code; None to pair it as the owner.
        grants: pair it with these, or with a code ask for these; None to ask at a terminal, and else not to pair it.
    """

    only_print: bool = False
    yes: bool = False
    code: str | None = None
    grants: Sequence[str] | None = None


def install_into(setup: ClientSetup, assistant: str, wish: InstallOptions) -> int:
    """Set an assistant up, and pair it by its code, or where the person says what it shall see.

    Args:
        setup: of the client it will be.
        assistant: a name of `resources/mcp/clients.json`, or `list`.

    Returns:
        The exit code: 0 when it is set up, printed or listed, 1 when the person said no.

    Raises:
        LociError: INVALID_INPUT, CONFIG_INVALID, WRITE_FAILED; the file is as it was. PAIRING_REFUSED: it is set up,
            and not paired.
    """
    if assistant == "list":
        _print_known_clients(setup)
        return 0
    found = find_recipe(assistant)
    path = found.find_path(sys.platform, setup.variables)
    entry = found.fill_entry(setup.server_command())
    if wish.only_print:
        _show_snippet(setup, found, path, found.make_snippet(entry))
        return 0
    old = read_config(path)
    try:
        new = found.put_entry("" if old is None else old, entry)
    except LociError:
        setup.out.print_note(f"Put this into {path} yourself:\n")
        setup.out.print_lines(found.make_snippet(entry).splitlines())
        if wish.code is not None:  # it is good for two minutes: whoever puts the entry in by hand finds it paired
            pair_client(setup, wish.code, wish.grants or ())
        raise
    if new == old:
        _finish_installation(setup, found, path, None, wish)
        return 0
    _show_snippet(setup, found, path, found.make_snippet(entry))
    if old is not None and found.has_other_entry(old, entry):
        setup.out.print_note("Another entry named loci is there; this one replaces it.")
    if not (wish.yes or _ask_to_write_configuration(path, old)):
        setup.out.print_note("Nothing was written.")
        return 1
    kept = write_config(path, old, new)
    setup.out.progression.is_done = True
    _finish_installation(setup, found, path, kept, wish)
    return 0


def _print_known_clients(setup: ClientSetup) -> None:
    known = {name: found["title"] for name, found in load_assistants().items()}
    if setup.out.as_json:
        setup.out.print_document({"assistants": known})
    setup.out.print_table(list(known.items()))


def _show_snippet(setup: ClientSetup, found: Recipe, path: Path, snippet: str) -> None:
    if setup.out.as_json:
        return
    setup.out.print_line(f"{found.title}: {path}")
    setup.out.print_line()
    setup.out.print_lines(snippet.splitlines())
    setup.out.print_line()


def _ask_to_write_configuration(path: Path, old: str | None) -> bool:
    if not sys.stdin.isatty():
        return False
    what = "Write this file" if old is None else "Add this to the file, and keep a copy of it as it is"
    return click.confirm(f"{what}? ({path.name})", default=False, err=True)


def _finish_installation(
    setup: ClientSetup, found: Recipe, path: Path, kept: Path | None, wish: InstallOptions
) -> None:
    setup.out.print_line(f"{found.title} is set up." + ("" if kept is None else f" The file as it was: {kept}"))
    was_paired, given = False, None
    if wish.code is not None:
        name, given = pair_client(setup, wish.code, wish.grants or ())
        setup = _rename_client(setup, found, path, name)
    elif not (was_paired := read_token(setup.token_file) is not None):
        given = _pair_if_asked(setup, wish.grants)
    if setup.out.as_json:
        paired = was_paired or given is not None
        document = {"assistant": found.name, "client": setup.client, "path": str(path), "paired": paired}
        setup.out.print_document({**document, "grants": given, "copy": None if kept is None else str(kept)})
        return
    if was_paired:
        setup.out.print_line(format_sentence("has_token", client=setup.client))
    if was_paired and wish.grants is not None:
        setup.out.print_line(format_sentence("paired_before", client=setup.client, grants=",".join(wish.grants)))
    elif not was_paired and given is None:
        setup.out.print_line(format_sentence("now_pair", client=setup.client))
    setup.out.print_line(found.after)
    setup.out.print_line(f"Try it: `loci mcp --test --client {setup.client}`.")


def _rename_client(setup: ClientSetup, found: Recipe, path: Path, name: str) -> ClientSetup:
    """The setup of the client it became, which the configuration names too: the person may give it another name."""
    if name == setup.client:
        return setup
    named = replace(setup, client=name)
    old = read_config(path)
    write_config(path, old, found.put_entry("" if old is None else old, found.fill_entry(named.server_command())))
    return named


def _pair_if_asked(setup: ClientSetup, grants: Sequence[str] | None) -> list[str] | None:
    """Pair it, where the person named what it may or says so now; None where it stays unpaired."""
    chosen = grants
    if chosen is None:
        try:
            chosen = ask_grants(setup)
        except UserError as no:
            setup.out.print_note(no.sentence)
    return pair_client(setup, None, chosen)[1] if chosen else None


def read_config(path: Path) -> str | None:
    """Read a configuration.

    Returns:
        Its text; None where there is no file.

    Raises:
        UserError: CONFIG_INVALID for a link, something that is no ordinary file, or no UTF-8.
    """
    if path.parent.is_symlink():
        raise _unfit_configuration_error("its folder is a link")
    try:
        seen = path.lstat()
    except FileNotFoundError:
        return None
    except OSError:
        raise _unfit_configuration_error("it cannot be read") from None
    if not stat.S_ISREG(seen.st_mode):
        raise _unfit_configuration_error("it is a link or no ordinary file")
    if seen.st_size > _MOST_BYTES:
        raise _unfit_configuration_error("it is too large")
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise _unfit_configuration_error("it cannot be read as UTF-8") from None


def write_config(path: Path, old: str | None, new: str) -> Path | None:
    """Write a configuration whole or not at all, beside a copy of what stood there.

    Args:
        old: as `read_config` gave it; a file that changed since is left alone.

    Returns:
        The copy; None where there was nothing to copy.

    Raises:
        UserError: CONFIG_INVALID when it changed meanwhile.
        EnvironmentFaultError: WRITE_FAILED; the file is as it was.
    """
    if read_config(path) != old:
        raise UserError(Code.CONFIG_INVALID, "The configuration has just changed; it was left alone. Try again.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600 if old is None else stat.S_IMODE(path.lstat().st_mode)
        kept = None if old is None else _copy_file(path, old, mode)
        _replace_file(path, new, mode)
    except OSError:
        raise EnvironmentFaultError(
            Code.WRITE_FAILED, "The configuration cannot be written; it is as it was. Check its permissions."
        ) from None
    return kept


def _copy_file(path: Path, text: str, mode: int) -> Path:
    count = 0
    while True:
        kept = path.with_name(f"{path.name}.bak{count or ''}")
        try:
            descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            count += 1
            continue
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
        return kept


def _replace_file(path: Path, text: str, mode: int) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if os.name == "posix":
                os.fchmod(file.fileno(), mode)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _unfit_configuration_error(why: str) -> LociError:
    return UserError(Code.CONFIG_INVALID, f"The configuration was left alone: {why}.")
