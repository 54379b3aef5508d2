"""What Loci put outside its home for one vault: hooks and server entries in assistants' settings, and their tokens.

A file that Loci put something into loses that alone, and a copy of it as it was is kept beside it, as when it was put
in. Must not do: follow a link, or touch what names another vault.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from app.environment import Environment
from app.mcp.client_setup import complete_variables
from app.mcp.hooks import SIGNAL_VERB, find_hook_recipe
from app.mcp.installation import SERVER, find_recipe, read_config, remove_entry, write_config
from app.mcp.messages import load_assistants, load_hooks
from app.mcp.tokens import token_file
from core.errors import LociError
from core.types.files.wipe import Registered

_HOME = "--home"
_SERVER_VERB = "mcp"
_ANY = "any"
_MARKS = (SERVER, SIGNAL_VERB)
"""Words of which one stands in whatever Loci put into settings."""


class AssistantRegistrations:
    """What assistants on this machine have of one vault."""

    def __init__(self, found: Environment, variables: Mapping[str, str]) -> None:
        """Touch nothing.

        Args:
            found: names the home.
            variables: of this process: where the assistants' settings lie.
        """
        self._found, self._variables = found, complete_variables(variables)

    def find(self) -> tuple[str, ...]:
        """Files that name this vault; changes nothing."""
        changes = (str(path) for path, old, new in self._list_changes() if new not in (None, old))
        return tuple(dict.fromkeys([*changes, *map(str, self._list_tokens())]))

    def remove(self) -> Registered:
        """Take this vault out of them, and remove the tokens; what cannot be changed is told."""
        removed: list[str] = []
        left: list[str] = []
        unread: list[str] = []
        for path, old, new in self._list_changes():
            if new is None:
                unread.append(str(path))
            if new in (None, old):
                continue
            try:
                write_config(path, old, new)
                removed.append(str(path))
            except LociError:
                left.append(str(path))
        for path in self._list_tokens():
            try:
                _destroy_token(path)
                removed.append(str(path))
            except OSError:
                left.append(str(path))
        with suppress(OSError):
            self._token_folder().rmdir()
        return Registered(*(tuple(dict.fromkeys(paths)) for paths in (removed, left, unread)))

    def _list_changes(self) -> Iterator[tuple[Path, str, str | None]]:
        """Settings of assistants with what they are without this vault; each is read when it is its turn.

        Yields:
            A file, its text, and what becomes of it; None where that cannot be told and it may name the vault.
        """
        for name in load_hooks():
            hook = find_hook_recipe(name)
            yield from _change_file(
                partial(hook.settings_file, self._variables), partial(hook.remove_hook, belongs=self._names_home)
            )
        for name in load_assistants():
            recipe = find_recipe(name)
            yield from _change_file(
                partial(recipe.find_path, sys.platform, self._variables),
                partial(remove_entry, recipe, is_meant=self._is_server_of_home),
            )

    def _names_home(self, words: Sequence[str]) -> bool:
        """Whether a command line is about this vault."""
        if _HOME in words[:-1]:
            return Path(words[words.index(_HOME) + 1]) == self._found.home
        return self._found.home == self._found.default_home

    def _is_server_of_home(self, words: Sequence[str]) -> bool:
        return _SERVER_VERB in words and self._names_home(words)

    def _token_folder(self) -> Path:
        return token_file(self._found, _ANY).parent

    def _list_tokens(self) -> list[Path]:
        try:
            entries = sorted(os.scandir(self._token_folder()), key=lambda one: one.name)
        except OSError:
            return []
        return [Path(one.path) for one in entries if one.name.endswith(".token") and one.is_file(follow_symlinks=False)]


def _change_file(find: Callable[[], Path], change: Callable[[str], str]) -> Iterator[tuple[Path, str, str | None]]:
    with suppress(LociError):  # an assistant that keeps no settings on this system
        yield from _read_change(find(), change)


def _read_change(path: Path, change: Callable[[str], str]) -> Iterator[tuple[Path, str, str | None]]:
    text = ""
    try:
        found = read_config(path)
        if found is None:
            return
        text = found
        new: str | None = change(text)
    except LociError:
        # A link, or JSON with comments. What was read and does not hold the words names no vault.
        if not _is_there(path) or (text and not any(word in text.casefold() for word in _MARKS)):
            return
        new = None
    yield path, text, new


def _is_there(path: Path) -> bool:
    """Whether a file is there, or may be: a folder that may not be entered does not tell."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _destroy_token(path: Path) -> None:
    """Overwrite and remove a token; it opens nothing any more once its vault is gone."""
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        found = os.fstat(descriptor)
        if found.st_nlink == 1:
            os.write(descriptor, os.urandom(found.st_size))
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    path.unlink()
