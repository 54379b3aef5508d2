"""The command line's verb undo: what was done, by whom, and taking it back.

A step's label holds no memory text; what its memories say is read when it is shown. Must not do: take back another step
than the one it names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from app.cli.messages import actor_of, describe_actor, first_words, format_count, format_minute, load_words
from app.cli.output import Output, escape_controls
from app.cli.root import CommandContext, loci, with_command
from app.engine.session import VerbSession
from core.errors import Code, LociError

_PAGE = 200
_UNDO, _REDO = "Undo: ", "Redo: "  # as the engine names the undo of an undo
_LEAST = 8  # characters of an id's end that name it
_KNOWN_IDS = 20  # the engine names so many memories of a step at most

Step = Mapping[str, Any]


@loci.command()
@click.argument("step", required=False)
@click.option("--list", "listed", is_flag=True, help="List the newest steps; undo nothing.")
@click.option("--limit", type=click.IntRange(1, 200), help="Steps to list. Default: 50.")
@with_command
def undo(command: CommandContext, step: str | None, listed: bool, limit: int | None) -> None:
    """Take back a step, or list what was done.

    Without a STEP it is the newest one, yours or a client's; what it was and whose is said.
    """
    if listed and step is not None:
        raise click.UsageError("--list shows all steps; name none.")
    if limit is not None and not listed:
        raise click.UsageError("--limit goes with --list.")
    if command.output.as_json:
        _print_json(command, step, listed=listed, limit=limit)
    elif listed:
        _print_steps(command, limit)
    else:
        undo_and_print(command, step)


def _print_json(command: CommandContext, step: str | None, *, listed: bool, limit: int | None) -> None:
    verb, params = ("steps", {"limit": limit}) if listed else ("undo", {"step": step})
    command.output.print_document(command.call(verb, params))


def undo_and_print(command: CommandContext, step_id: str | None) -> None:
    """Take a step back and say what it was and whose.

    Args:
        step_id: the step; None for the newest that stands.

    Raises:
        LociError: as `undo`.
    """
    with command.open_session() as session:
        step = _choose_step(session, step_id)
        about = [] if step is None else _StepTexts(session).describe_step(step)  # what a step brought is gone after it
        wanted = step_id if step is None else step["id"]
        reply = session.call("undo", {} if wanted is None else {"step": wanted})
    print_undone(command.output, reply, step, about)


def print_undone(out: Output, reply: Mapping[str, Any], step: Step | None = None, about: Sequence[str] = ()) -> None:
    """Print what an undo did.

    Args:
        reply: the reply of `undo` or `unimport`.
        step: the step, where it is known.
        about: what its memories said.
    """
    label = escape_controls(reply["label"])
    form = load_words()["brought_back" if label.startswith(_UNDO) else "took_back"]
    out.print_line(form.format(label=label.removeprefix(_UNDO).removeprefix(_REDO)))
    out.print_lines(f"    {line}" for line in about)
    if step is not None:
        out.print_line(describe_actor(step))
    out.print_lines(
        load_words()["to_be_paired"].format(name=escape_controls(name)) for name in reply.get("unpaired", ())
    )
    if reply.get("left"):
        out.print_line(format_count(load_words()["left"], len(reply["left"])))
    out.print_line(str(load_words()["redo"]).format(step=reply["undo_step"]))


def _print_steps(command: CommandContext, limit: int | None) -> None:
    out = command.output
    with command.open_session() as session:
        reply = session.call("steps", {} if limit is None else {"limit": limit})
        newest, step_texts = _choose_step(session, None), _StepTexts(session)
        blocks = [(step, step_texts.describe_step(step)) for step in reply["items"]]
    for step, about in blocks:
        out.print_line(
            f"{format_minute(step['at'])}  {escape_controls(step['label'])} · {actor_of(step)}"
            f"{_step_mark(step, newest)}"
        )
        out.print_lines(f"    {line}" for line in about)
        out.print_line(f"    {step['id']}")
    out.print_line(f"{len(reply['items'])} of {reply['total']}. `loci undo STEP` undoes one.")


def _step_mark(step: Step, newest: Step | None) -> str:
    marks = load_words()["step_marks"]
    if step["undone"]:
        return f" [{marks['undone']}]"
    if not step["can_undo"]:
        return f" [{marks['lasting']}]"
    return f" [{marks['next']}]" if newest is not None and step["id"] == newest["id"] else ""


def _choose_step(session: VerbSession, step_id: str | None) -> Step | None:
    """The named step, else the newest that `loci undo` takes back: what Loci did by itself is taken back by name."""
    for step in _iterate_steps(session):
        if step_id is not None and len(step_id) >= _LEAST and step["id"].endswith(step_id.lower()):
            return step
        if step_id is None and step["can_undo"] and step["verb"] != "undo" and step["actor"] != "scheduler":
            return step
    return None


def _iterate_steps(session: VerbSession) -> Iterator[Step]:
    after: dict[str, Any] = {}
    while True:
        page = session.call("steps", {"limit": _PAGE, **after})
        yield from page["items"]
        if "next" not in page:
            return
        after = {"after": page["next"]}


class _StepTexts:
    """What memories of steps say now; each is read once."""

    def __init__(self, session: VerbSession) -> None:
        self._session = session
        self._seen: dict[str, Mapping[str, Any] | None] = {}

    def describe_step(self, step: Step) -> list[str]:
        """What a step was about: the first words of one memory, and how many more there are."""
        ids = step["memory_ids"]
        first = next((found for found in map(self._read_memory, ids) if found is not None), None)
        if first is None:
            return []
        forms, text = load_words()["more_memories"], first_words(first["text"])
        count = self._count_memories(step, first)
        if count is None:
            return [f"{forms['none'].format(text=text)}, {load_words()['memories']['at_least'].format(count=len(ids))}"]
        return [forms["none"].format(text=text) if count < 2 else format_count(forms, count - 1, text=text)]

    def _count_memories(self, step: Step, first: Mapping[str, Any]) -> int | None:
        """How many memories it touched; None where more than the engine names."""
        if step["verb"] == "import" and first["import_id"] is not None:
            asked = {"import_id": first["import_id"], "status": "all", "limit": 1}
            return int(self._session.call("list", asked)["total"])
        if len(step["memory_ids"]) >= _KNOWN_IDS:
            return None
        if first["part_of"] is None:
            return len(step["memory_ids"])
        found = [self._read_memory(memory_id) for memory_id in step["memory_ids"]]
        return sum(one is not None and not one["part_index"] for one in found)  # parts of one text are one memory

    def _read_memory(self, memory_id: str) -> Mapping[str, Any] | None:
        if memory_id not in self._seen:
            try:
                self._seen[memory_id] = self._session.call("show", {"id": memory_id})
            except LociError as error:
                if error.code is not Code.NOT_FOUND:
                    raise
                self._seen[memory_id] = None
        return self._seen[memory_id]
