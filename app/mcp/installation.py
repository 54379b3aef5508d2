"""`loci mcp --install`: shows what it would write into an assistant's configuration, asks, writes, keeps a copy.

Must not do: follow a link, write without a yes, lose anything that stands in the file.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import click

from app.mcp.doorway import Doorway
from app.mcp.pairing import asked_grants, pair_client
from app.mcp.recipes import Recipe, recipe
from app.mcp.tokens import read_token
from app.mcp.words import assistants, sentence
from core.errors import Code, EnvironmentFaultError, LociError, UserError

_MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Wish:
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


def install_into(door: Doorway, assistant: str, wish: Wish) -> int:
    """Set an assistant up, and pair it by its code, or where the person says what it shall see.

    Args:
        door: of the client it will be.
        assistant: a name of `resources/mcp/clients.json`, or `list`.
        wish: how.

    Returns:
        The exit code: 0 when it is set up, printed or listed, 1 when the person said no.

    Raises:
        LociError: INVALID_INPUT, CONFIG_INVALID, WRITE_FAILED; the file is as it was. PAIRING_REFUSED: it is set up,
            and not paired.
    """
    if assistant == "list":
        _list(door)
        return 0
    found = recipe(assistant)
    path = found.path(sys.platform, door.variables)
    entry = found.filled(door.command())
    if wish.only_print:
        _show(door, found, path, found.snippet(entry))
        return 0
    old = read_config(path)
    try:
        new = found.put("" if old is None else old, entry)
    except LociError:
        door.out.note(f"Put this into {path} yourself:\n")
        door.out.lines(found.snippet(entry).splitlines())
        if wish.code is not None:  # it is good for two minutes: whoever puts the entry in by hand finds it paired
            pair_client(door, wish.code, wish.grants or ())
        raise
    if new == old:
        _done(door, found, path, None, wish)
        return 0
    _show(door, found, path, found.snippet(entry))
    if old is not None and found.displaces(old, entry):
        door.out.note("Another entry named loci stands there; this one takes its place.")
    if not (wish.yes or _agreed(path, old)):
        door.out.note("Nothing was written.")
        return 1
    kept = write_config(path, old, new)
    door.out.progression.is_done = True
    _done(door, found, path, kept, wish)
    return 0


def _list(door: Doorway) -> None:
    known = {name: found["title"] for name, found in assistants().items()}
    if door.out.as_json:
        door.out.document({"assistants": known})
    door.out.table(list(known.items()))


def _show(door: Doorway, found: Recipe, path: Path, snippet: str) -> None:
    if door.out.as_json:
        return
    door.out.line(f"{found.title}: {path}")
    door.out.line()
    door.out.lines(snippet.splitlines())
    door.out.line()


def _agreed(path: Path, old: str | None) -> bool:
    if not sys.stdin.isatty():
        return False
    what = "Write this file" if old is None else "Add this to the file, and keep a copy of it as it is"
    return click.confirm(f"{what}? ({path.name})", default=False, err=True)


def _done(door: Doorway, found: Recipe, path: Path, kept: Path | None, wish: Wish) -> None:
    door.out.line(f"{found.title} is set up." + ("" if kept is None else f" The file as it was: {kept}"))
    was_paired, given = False, None
    if wish.code is not None:
        name, given = pair_client(door, wish.code, wish.grants or ())
        door = _renamed(door, found, path, name)
    elif not (was_paired := read_token(door.token_file) is not None):
        given = _paired(door, wish.grants)
    if door.out.as_json:
        paired = was_paired or given is not None
        document = {"assistant": found.name, "client": door.client, "path": str(path), "paired": paired}
        door.out.document({**document, "grants": given, "copy": None if kept is None else str(kept)})
        return
    if was_paired:
        door.out.line(sentence("has_token", client=door.client))
    if was_paired and wish.grants is not None:
        door.out.line(sentence("paired_before", client=door.client, grants=",".join(wish.grants)))
    elif not was_paired and given is None:
        door.out.line(sentence("now_pair", client=door.client))
    door.out.line(found.after)
    door.out.line(f"Try it: `loci mcp --test --client {door.client}`.")


def _renamed(door: Doorway, found: Recipe, path: Path, name: str) -> Doorway:
    """The door of the client it became, which the configuration names too: the person may give it another name."""
    if name == door.client:
        return door
    named = replace(door, client=name)
    old = read_config(path)
    write_config(path, old, found.put("" if old is None else old, found.filled(named.command())))
    return named


def _paired(door: Doorway, grants: Sequence[str] | None) -> list[str] | None:
    """Pair it, where the person named what it may or says so now; None where it stays unpaired."""
    chosen = grants
    if chosen is None:
        try:
            chosen = asked_grants(door)
        except UserError as no:
            door.out.note(no.sentence)
    return pair_client(door, None, chosen)[1] if chosen else None


def read_config(path: Path) -> str | None:
    """Read a configuration.

    Args:
        path: its file.

    Returns:
        Its text; None where there is no file.

    Raises:
        UserError: CONFIG_INVALID for a link, something that is no ordinary file, or no UTF-8.
    """
    if path.parent.is_symlink():
        raise _unfit("its folder is a link")
    try:
        seen = path.lstat()
    except FileNotFoundError:
        return None
    except OSError:
        raise _unfit("it cannot be read") from None
    if not stat.S_ISREG(seen.st_mode):
        raise _unfit("it is a link or no ordinary file")
    if seen.st_size > _MOST_BYTES:
        raise _unfit("it is too large")
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise _unfit("it cannot be read as UTF-8") from None


def write_config(path: Path, old: str | None, new: str) -> Path | None:
    """Write a configuration whole or not at all, beside a copy of what stood there.

    Args:
        path: its file.
        old: as `read_config` gave it; a file that changed since is left alone.
        new: its new text.

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
        kept = None if old is None else _copy(path, old, mode)
        _replace(path, new, mode)
    except OSError:
        raise EnvironmentFaultError(
            Code.WRITE_FAILED, "The configuration cannot be written; it is as it was. Check its permissions."
        ) from None
    return kept


def _copy(path: Path, text: str, mode: int) -> Path:
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


def _replace(path: Path, text: str, mode: int) -> None:
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


def _unfit(why: str) -> LociError:
    return UserError(Code.CONFIG_INVALID, f"The configuration was left alone: {why}.")
