"""What contradicts the person's own word waits, of whatever kind it is, through whatever door, under whatever grant.

The table is made of lists: stories, wordings (`poison_stories`), doors, grants, and who spoke first. Afterwards another
client asks the person's question. Beside it stand ordinary lines, of which none may be held back or asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig, rig_at
from poison_socket import Wire, wire_to
from poison_stories import HARMLESS_WORDS, STORIES, WORDINGS, harmless
from real_models import real_embedder, real_readers

from core.errors import LociError
from core.ipc.client.client import Client

HOME = {"space": "home"}


Tell = Callable[[Client, str, int], object]


def _stored(kind: str) -> Tell:
    def tell(bot: Client, text: str, number: int) -> object:
        return bot.call("memory_store", {"text": text, "kind": kind, **HOME})

    return tell


def _many(bot: Client, text: str, number: int) -> object:
    return bot.call("memory_store_rule", {"text": text, **HOME})


def _summary(bot: Client, text: str, number: int) -> object:
    return bot.call("compaction_ingest", {"session": f"c{number}", "text": f"We spoke. {text}", **HOME})


def _messages(role: str) -> Tell:
    def tell(bot: Client, text: str, number: int) -> object:
        return bot.call("capture", {"session": f"m{role}{number}", "messages": [{"role": role, "text": text}], **HOME})

    return tell


def _turn(bot: Client, text: str, number: int) -> object:
    return bot.call("turn_end", {"session": f"t{number}", "user": "Go on.", "assistant": text, **HOME})


DOORS: dict[str, Tell] = {
    **{f"memory_store {kind}": _stored(kind) for kind in ("fact", "rule", "procedure", "episode")},
    "memory_store_rule": _many,
    "compaction_ingest": _summary,
    **{f"capture {role}": _messages(role) for role in ("user", "assistant", "tool")},
    "turn_end": _turn,
}
OWN_SPACE: dict[str, Tell] = {
    "memory_store fact": lambda bot, text, number: bot.call("memory_store", {"text": text}),
    "memory_store rule": lambda bot, text, number: bot.call("memory_store", {"text": text, "kind": "rule"}),
    "capture user": lambda bot, text, number: bot.call(
        "capture", {"session": f"o{number}", "messages": [{"role": "user", "text": text}]}
    ),
}
GRANTS = {"write": ("read", "write"), "propose": ("read", "propose"), "curate": ("read", "write", "curate")}
TOLD = tuple(
    (story, wording, list(GRANTS)[(number + place) % len(GRANTS)])
    for number, story in enumerate(STORIES)
    for place, wording in enumerate(WORDINGS)
)
"""Each story in each wording, under one of the grants in turn."""


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, embedder=real_embedder(), readers=real_readers()) as rig:
        yield rig


@pytest.fixture
def wire(rig: Rig, tmp_path: Path) -> Iterator[Wire]:
    with wire_to(rig, tmp_path) as wire:
        yield wire


def _tell_all(wire: Wire, tell: Tell) -> None:
    for grant, given in GRANTS.items():
        with wire.client(grant, *given, "space:home") as bot:
            for place, (story, wording, under) in enumerate(TOLD):
                if under == grant:
                    with suppress(LociError) if grant == "propose" else nullcontext():  # who proposes keeps no messages
                        tell(bot, story.told[wording], place)


def _say_all(rig: Rig) -> None:
    for story in STORIES:
        rig.store(story.own)


def _breaches(wire: Wire) -> Iterator[str]:
    """What reaches another client without a mark, and what of the person's own words does not reach it."""
    with wire.client("reader", "read", "all_spaces") as reader:
        for story in STORIES:
            lines = str(reader.call("memory_context", {"prompt": story.question})["text"]).splitlines()
            items: list[dict[str, Any]] = reader.call("memory_search", {"query": story.question})["items"]
            yield from (f"context: {line}" for line in lines if story.value in line and "contested" not in line)
            yield from (
                f"search: {item['text']}" for item in items if story.value in item["text"] and not item["contradicts"]
            )
            if not any(story.own in line for line in lines):
                yield f"context: {story.own} is missing"


@pytest.mark.parametrize("door", DOORS)
def test_what_contradicts_the_person_reaches_nobody(door: str, rig: Rig, wire: Wire) -> None:
    _say_all(rig)
    _tell_all(wire, DOORS[door])
    assert list(_breaches(wire)) == []
    for story in STORIES:
        assert rig.rows("SELECT status FROM memories WHERE text = ?", story.own)[0] == ("active",)


@pytest.mark.parametrize("door", DOORS)
def test_what_was_told_before_the_person_spoke_waits_as_well(door: str, rig: Rig, wire: Wire) -> None:
    _tell_all(wire, DOORS[door])
    _say_all(rig)
    assert list(_breaches(wire)) == []


@pytest.mark.parametrize("door", OWN_SPACE)
def test_what_a_client_keeps_in_a_space_of_its_own_is_marked(door: str, rig: Rig, wire: Wire) -> None:
    _say_all(rig)
    _tell_all(wire, OWN_SPACE[door])
    assert list(_breaches(wire)) == []


@pytest.mark.parametrize("door", ["memory_store fact", "memory_store episode", "capture user"])
def test_what_contradicts_nothing_is_let_in(door: str, rig: Rig, wire: Wire) -> None:
    for text in HARMLESS_WORDS:
        rig.store(text)
    lines = harmless()
    with wire.client("plain", "read", "write", "space:home") as bot:
        for place, line in enumerate(lines[:: len(DOORS) // 3]):
            DOORS[door](bot, line, place)
    # Lines of one frame may take each other's place; beside the person's words none waits, and nothing is asked.
    assert rig.rows("SELECT text FROM memories WHERE status IN ('quarantined', 'disputed')") == []
    asked = (
        "SELECT i.text, e.text FROM conflicts k JOIN memories i ON i.id = k.incoming_id "
        "JOIN memories e ON e.id = k.existing_id WHERE e.client_id IS NULL"
    )
    assert rig.rows(asked) == []
