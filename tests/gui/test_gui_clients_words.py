"""Words of the Clients page: every call of the protocol and every verb a client's step or receipt can have is told."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from core.types.clients import Undoable
from ui.pages.clients.labels import (
    describe_left_over,
    describe_refused_call,
    describe_removal,
    describe_take_back,
    describe_verb,
)
from ui.strings import clients_strings

CORE = Path(__file__).resolve().parents[2] / "core"
OTHERS = {"OWNER_ACTOR", "LIFECYCLE_ACTOR", "MODEL_ACTOR"}
"""Names of actors that are no clients."""
GIVEN = {
    "core.engine.clients.clients": set(),  # the owner's, all of them: `Clients._run_client_verb`
    "core.engine.clients.client_undo": set(),  # the owner's
    "core.engine.runtime.storage": set(),  # whoever calls it names the verb
    "core.engine.views.graph": set(),
    "core.engine.jobs.runner": {"consolidate"},  # the one work a client may ask for
    "core.engine.sessions": {"capture", "compaction_ingest"},
    "core.intake.erase.erasure": set(),  # the owner's
    "core.intake.revise.change_requests": {"ask_update", "ask_delete", "ask_forget", "update", "delete", "forget"},
    "core.intake.transitions.transitions": {"forget", "delete"},
    "core.intake.undo": set(),
    "core.intake.transitions.verdicts": {"confirm", "dispute", "reinforce"},
}
"""Where a verb's name is handed on: the names that come there from clients."""
OWNERS = {
    "remove_all", "undo_since", "forget_rule", "hold", "erase", "spare", "let_through", "revise", "record_outcome",
    "attach", "crash_recovery", "discard_sealed", "entity_separate", "erase_certificate", "unseal",
}  # fmt: skip
"""Verbs only the person has, though their functions take any actor."""
HANDED = {"get", "list", "history", "conflicts", "entities"}
"""What receipts of answers that are neither a recall nor a context are called (`core.engine.vault.history.handed`)."""


def verbs_of(path: Path) -> Iterator[tuple[str, str | None]]:
    """The module, and the name of each verb it begins; None where the name is handed to it."""
    module = ".".join(path.relative_to(CORE.parent).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "verb":
            continue
        tail = node.args[1:]
        if _is_storage(node.func.value):
            if not any(one.arg == "label" for one in node.keywords):
                continue  # the frame round a call, which announces it; the verb itself begins inside
            if isinstance(tail[0], ast.Name) and tail[0].id in OTHERS:
                continue
            tail = tail[1:]  # the actor comes before the name
        if any(isinstance(one, ast.Name) and one.id in OTHERS for one in tail) or not tail:
            continue
        name = tail[0]
        if isinstance(name, ast.Constant):
            yield module, str(name.value)
        elif isinstance(name, ast.Name) and name.id.isupper():
            yield module, str(getattr(import_module(module), name.id))
        else:
            yield module, None


def _is_storage(value: ast.expr) -> bool:
    name = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
    return name == "storage"


def client_verbs() -> set[str]:
    found: set[str] = set()
    for path in sorted(CORE.rglob("*.py")):
        for module, name in verbs_of(path):
            assert name is not None or module in GIVEN, (
                f"{module} is handed a verb's name: say here which clients hand it"
            )
            found |= GIVEN[module] if name is None else {name}
    return found - OWNERS


def test_every_verb_of_a_client_is_told() -> None:
    verbs = client_verbs()
    assert {"store", "relate", "resolve", "turn_end", "ask_update", "entity_merge"} <= verbs
    assert verbs | {"recall", "context"} | HANDED == set(clients_strings()["verbs"])


def test_every_call_of_the_protocol_is_told() -> None:
    methods = json.loads(files("resources").joinpath("protocol.json").read_text(encoding="utf-8"))["methods"]
    assert {name for name in methods if not name.startswith("owner.")} == set(clients_strings()["calls"])


def test_what_is_not_known_is_told_as_it_is_on_one_line() -> None:
    assert describe_verb("some_new\nverb") == "some new verb"
    assert describe_refused_call("memory_\u202eupdate") == "memory_‹U+202E›update"
    assert describe_refused_call("") == ""


def test_what_would_go_and_what_would_stay_is_told() -> None:
    nothing = Undoable(0, 0, {}, 0)
    assert describe_take_back(nothing) == "It changed nothing since then."
    assert describe_left_over(nothing) == describe_removal(nothing) == ""
    stuck = Undoable(0, 0, {}, 1, left=2, archived=1, left_removing=1)
    assert describe_take_back(stuck) == "Nothing of it can be undone any more."
    assert describe_left_over(stuck) == (
        "2 steps would stay: what they changed was changed again since. "
        "1 memory of it would stay: it is too old to be undone."
    )
    assert describe_removal(stuck) == (
        "1 memory would go to the archive. 1 step would stay: what it changed was changed again since."
    )
    some = Undoable(1, 2, {"ask_forget": 1}, 0)
    told = "1 step on 2 memories would be undone: 1 × asked to forget."
    assert (describe_take_back(some), describe_left_over(some), describe_removal(some)) == (told, "", told)
