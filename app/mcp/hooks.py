"""The hooks of assistants: put into their own settings, and taken out again, with everything else as it was.

A hook tells an engine that runs to look at its watched folders now; it opens nothing, prints nothing, needs no secret
and never fails. Where a file lies and what a hook looks like comes from `resources/mcp/hooks.json`. Must not do: follow
a link, touch a hook of somebody else, or read a transcript.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.mcp.client_setup import loci_command
from app.mcp.installation import Recipe, parse_json_config, parse_toml_config, read_config, write_config
from app.mcp.messages import load_hooks
from core.errors import Code, UserError

Belongs = Callable[[Sequence[str]], bool]

SIGNAL_VERB = "watch-now"
_NOTIFY = "notify"
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class HookRecipe:
    """How one assistant is told to call Loci.

    Attributes:
        events: of its settings, each with what stands beside its hooks.
        hook: what one hook looks like; `$command` is the command line.
        transcripts: where it keeps what is said, on each system.
        transcript_format: of which format that is.
    """

    name: str
    title: str
    paths: Mapping[str, str]
    format: str
    events: Mapping[str, Mapping[str, Any]]
    hook: Mapping[str, Any]
    transcripts: Mapping[str, str]
    transcript_format: str
    after: str

    def settings_file(self, variables: Mapping[str, str]) -> Path:
        """Where its settings lie; raises NOT_HERE."""
        return self._find(self.paths, variables)

    def transcript_folder(self, variables: Mapping[str, str]) -> Path:
        """Where its transcripts lie; raises NOT_HERE."""
        return self._find(self.transcripts, variables)

    def _find(self, paths: Mapping[str, str], variables: Mapping[str, str]) -> Path:
        return Recipe(self.name, self.title, paths, self.format, (), {}, self.after).find_path(sys.platform, variables)

    def put_hook(self, text: str, command: Sequence[str]) -> str:
        """Settings in which the hook stands, once.

        Args:
            text: the settings as they are; blank where there are none.
            command: program and arguments.

        Returns:
            The new text; the old one where the hook stands there already.

        Raises:
            UserError: CONFIG_INVALID for what is no plain JSON or TOML, or has something else in the hook's place.
        """
        if self.format == "toml":
            return _put_notify(text, command)
        return self._change_json(text, {**self.hook, "command": shlex.join(command)})

    def remove_hook(self, text: str, belongs: Belongs = lambda _: True) -> str:
        """Settings without the hook.

        Args:
            belongs: whether a command of Loci's is one of those that shall go.

        Returns:
            The new text; the old one where no hook of Loci's stands in it.

        Raises:
            UserError: CONFIG_INVALID.
        """
        return _remove_notify(text, belongs) if self.format == "toml" else self._change_json(text, None, belongs)

    def _change_json(self, text: str, hook: Mapping[str, Any] | None, belongs: Belongs = lambda _: True) -> str:
        whole = parse_json_config(text) if text.strip() else {}
        before = json.dumps(whole)
        events = whole.setdefault("hooks", {})
        if not isinstance(events, dict):
            raise _misplaced_error("hooks")
        for event, beside in self.events.items():
            groups = events.get(event, [])
            if not isinstance(groups, list):
                raise _misplaced_error(event)
            if hook is not None and any(one == hook for group in groups for one in _hooks_of(group)):
                continue
            kept = [group for one in groups if (group := _without_own(one, belongs)) is not None]
            events[event] = kept if hook is None else [*kept, {**beside, "hooks": [dict(hook)]}]
            if not events[event]:
                del events[event]
        if not events:
            del whole["hooks"]
        return text if json.dumps(whole) == before else _format_alike(whole, text)


def find_hook_recipe(name: str) -> HookRecipe:
    """The recipe for an assistant.

    Args:
        name: as typed.

    Raises:
        UserError: INVALID_INPUT naming those that have hooks.
    """
    key = name.strip().casefold().replace(" ", "-")
    found = load_hooks().get(key)
    if found is None:
        raise UserError(
            Code.INVALID_INPUT, f"No hooks are known of that assistant; of these: {', '.join(load_hooks())}."
        )
    return HookRecipe(name=key, **found)


def hook_command(home: Path, default_home: Path) -> list[str]:
    """What a hook runs."""
    place = [] if home == default_home else ["--home", str(home)]
    return [*loci_command(), *place, SIGNAL_VERB]


def install_hook(recipe: HookRecipe, variables: Mapping[str, str], command: Sequence[str]) -> Path | None:
    """Write a hook into an assistant's settings; the file as it was is kept beside it.

    Returns:
        The copy; None where nothing had to be written, or there was no file.

    Raises:
        LociError: CONFIG_INVALID, WRITE_FAILED, NOT_HERE; the file is as it was.
    """
    path = recipe.settings_file(variables)
    old = read_config(path)
    new = recipe.put_hook(old or "", command)
    return None if new == (old or "") else write_config(path, old, new)


def remove_hook(recipe: HookRecipe, variables: Mapping[str, str]) -> tuple[bool, Path | None]:
    """Take a hook out of an assistant's settings.

    Returns:
        Whether there was one, and the copy of the file as it was; raises as `install_hook`.
    """
    path = recipe.settings_file(variables)
    old = read_config(path)
    if old is None:
        return False, None
    new = recipe.remove_hook(old)
    return (False, None) if new == old else (True, write_config(path, old, new))


# ---- JSON


def _hooks_of(group: Any) -> list[Any]:
    found = group.get("hooks") if isinstance(group, dict) else None
    return found if isinstance(found, list) else []


def _is_own(hook: Any, belongs: Belongs) -> bool:
    """Whether a hook is one that Loci put there, maybe from another place, and that is meant."""
    line = hook.get("command") if isinstance(hook, dict) else None
    if not isinstance(line, str):
        return False
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    return _is_own_command(words) and belongs(words)


def _is_own_command(words: Sequence[str]) -> bool:
    return len(words) > 1 and words[-1] == SIGNAL_VERB


def _without_own(group: Any, belongs: Belongs) -> Any | None:
    hooks = _hooks_of(group)
    kept = [one for one in hooks if not _is_own(one, belongs)]
    if len(kept) == len(hooks):
        return group
    return {**group, "hooks": kept} if kept else None


def _format_alike(value: Any, text: str) -> str:
    """A document in the indentation that it had."""
    found = _INDENT.search(text)
    indent: str | int | None = found[1] if found else None if text.strip() and "\n" not in text.strip() else 2
    end = "\n" if text.endswith("\n") or not text.strip() else ""
    return json.dumps(value, indent=indent, ensure_ascii="\\u" in text, allow_nan=False) + end


# ---- TOML: one line of its own, before every table, as keys of the root must stand


def _put_notify(text: str, command: Sequence[str]) -> str:
    line = f"{_NOTIFY} = {json.dumps(list(command), ensure_ascii=False)}\n"
    found = parse_toml_config(text).get(_NOTIFY) if text.strip() else None
    if found == list(command):
        return text
    bare = text
    if found is not None:
        bare = _remove_notify(text)
        if bare == text:
            raise UserError(
                Code.CONFIG_INVALID,
                "Codex calls another program already, and it calls only one; its settings were left alone.",
            )
    mark = "\ufeff" if bare.startswith("\ufeff") else ""
    new = mark + line + bare.removeprefix("\ufeff")
    if parse_toml_config(new).get(_NOTIFY) != list(command):
        raise _misplaced_error(_NOTIFY)
    return new


def _remove_notify(text: str, belongs: Belongs = lambda _: True) -> str:
    found = parse_toml_config(text).get(_NOTIFY)
    words = found if isinstance(found, list) and all(isinstance(one, str) for one in found) else []
    if not (_is_own_command(words) and belongs(words)):
        return text
    mark, rest = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    lines = rest.splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(f"{_NOTIFY} = [")]
    new = mark + "".join(kept)
    return new if len(lines) - len(kept) == 1 and _NOTIFY not in parse_toml_config(new) else text


def _misplaced_error(name: str) -> UserError:
    return UserError(Code.CONFIG_INVALID, f"Something else is under `{name}`; the settings were not changed.")
