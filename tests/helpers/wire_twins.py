"""Two clients whose spaces have nothing in common, on one real engine; and everything each of them can ask.

Must not do: ask the engine what a client may see; what lies in a space is read from the rows themselves.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from engine_rig import Rig
from poison_socket import Wire
from wire_walk import Walk

from core.errors import LociError
from core.ipc.client.client import Client

NOBODY = "00000000-0000-7000-8000-00000000dead"
ALL_BUT_DELETED = ["active", "superseded", "disputed", "quarantined", "consolidated", "archived"]
QUESTION = "Which lamp stands in the garden of Anna?"
_IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_IN_SPACES = (
    "SELECT m.id FROM memories m JOIN spaces s ON s.id = m.space_id WHERE m.status <> 'deleted' "
    "AND s.name IN (SELECT value FROM json_each(?))"
)

Params = dict[str, Any]
Asking = Callable[["Twin", list[str]], list[Params]]

READS: Mapping[str, Asking] = {
    "memory_get": lambda _twin, ids: [{"id": one} for one in ids],
    "memory_history": lambda _twin, ids: [{"id": one} for one in ids],
    "memory_list": lambda twin, _ids: [
        {"status": ALL_BUT_DELETED, "limit": 200},
        {"space": twin.space},
        {"text": "lamp"},
    ],
    "memory_search": lambda twin, _ids: [
        {"query": QUESTION, "limit": 50},
        {"query": QUESTION, "limit": 50, "mode": "keyword", "explain": True},
        {"query": "lamp", "status": ALL_BUT_DELETED, "limit": 50, "space": twin.space},
        {"query": "Carl Common", "limit": 50},
    ],
    "memory_recall": lambda _twin, _ids: [{"query": QUESTION, "limit": 50, "explain": True}],
    "memory_context": lambda _twin, _ids: [{"prompt": QUESTION}, {"prompt": QUESTION, "session": "shared"}],
    "turn_begin": lambda _twin, _ids: [{"prompt": QUESTION, "session": "shared"}],
    "memory_conflicts": lambda _twin, _ids: [{}],
    "entity_get": lambda twin, _ids: [{"entity_id": one} for one in twin.entities],
    "entity_resolve": lambda twin, _ids: [
        {"name": "Anna", "enable_fuzzy": True},
        {"name": "Carl Common", "context_hints": {"domain_scores": dict.fromkeys(twin.others_entities, 900)}},
    ],
    "memory_stats": lambda twin, _ids: [{}, {"space": twin.space}],
    "memory_audit_log": lambda _twin, _ids: [{"limit": 200}],
    "subscribe": lambda _twin, _ids: [{}],
    "health": lambda _twin, _ids: [{}],
}
"""Everything a client can be told by asking, and how it is asked."""

_OWN_TRACE = frozenset({"turn_begin", "memory_audit_log", "subscribe"})
"""Reads whose answer the reading itself changes: looked at for what they tell, not for staying the same."""


class Twin:
    """One of the two.

    Attributes:
        name: of the client.
        space: the one it is granted besides its own.
        client: greeted.
        ids: memories it stored.
        secrets: words and ids that only it may be told.
        entities: entities it made.
        others_entities: ids that are not its own; given as hints, never told.
        told: notifications it got.
    """

    name: str
    space: str

    def __init__(self, wire: Wire, name: str, space: str) -> None:
        self.name, self.space = name, space
        self.client: Client = wire.client(name, "read", "write", "curate", f"space:{space}")
        self.ids: list[str] = []
        self.secrets: set[str] = {name, space}
        self.entities: list[str] = []
        self.others_entities: list[str] = []
        self.told: list[tuple[str, Mapping[str, Any]]] = []
        self.call("subscribe")

    def call(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Call a method, and keep what is told beside."""
        return self.client.call(method, params, notify=lambda kind, what: self.told.append((kind, what)))

    def asked(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The answer, or the refusal in the same shape."""
        try:
            return self.call(method, params)
        except LociError as error:
            return {"code": error.code.value, "message": str(error)}

    def hears_of(self, memory_id: str, within_s: float = 60.0) -> bool:
        """Whether it is told of a memory; whatever was to be told before that has been told by then."""
        until = time.monotonic() + within_s
        while not any(memory_id in what.get("ids", ()) for _, what in self.told):
            if time.monotonic() > until:
                return False
            self.call("health")
        return True

    def keep(self, reply: Mapping[str, Any]) -> None:
        """Remember what an answer to this one named as its own."""
        self.secrets.update(_IDS.findall(json.dumps(reply)))

    def sees(self) -> dict[str, list[dict[str, Any]]]:
        """Every answer that it can get by asking for what is its own or everybody's."""
        return {method: [self.asked(method, one) for one in ask(self, self.ids)] for method, ask in READS.items()}


def stays(answers: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """What of somebody's answers must be the same while only others act: all but marks of the asking itself."""
    return {method: [_bare(one) for one in found] for method, found in answers.items() if method not in _OWN_TRACE}


_OWN_MARKS = frozenset({"receipt", "utility"})
"""Members that one's own reading changes: a new receipt each time, and the use that a memory is of."""


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bare(inner) for key, inner in value.items() if key not in _OWN_MARKS}
    return [_bare(one) for one in value] if isinstance(value, list) else value


def in_spaces(rig: Rig, *names: str) -> set[str]:
    """Ids of all memories of these spaces that are not deleted, from the rows."""
    return {row[0] for row in rig.rows(_IN_SPACES, json.dumps(names))}


def probes(document: Mapping[str, Any], twin: Twin, foreign: str, space: str) -> list[tuple[str, Params, Params]]:
    """Calls that name something of somebody else's, each beside the same call that names what does not exist.

    Args:
        document: the content of `resources/protocol.json`.
        foreign: an id that exists and is not its own; may be a memory's, an entity's or any other.
        space: a space that exists and is not its own; `nowhere` stands for one that does not.

    Returns:
        Method, the call with the foreign thing, the call with nothing.
    """
    walk, found = Walk(document, foreign), []
    for method, body in document["methods"].items():
        known, needed = body["params"].get("properties", {}), body["params"].get("required", ())
        if body["who"] != "client":
            continue
        ids = [name for name in known if name in ("id", "turn", "after") or name.endswith("_id")]
        for name in ids:
            if name != "request_id":
                base = _least(walk, method, needed, twin)
                found.append((method, {**base, name: foreign}, {**base, name: NOBODY}))
        for name in ("space", "spaces"):
            if name in known:
                base = _least(walk, method, needed, twin)
                pair = [[one] if name == "spaces" else one for one in (space, "nowhere")]
                found.append((method, {**base, name: pair[0]}, {**base, name: pair[1]}))
    return found


def _least(walk: Walk, method: str, needed: Any, twin: Twin) -> Params:
    own = {"id": twin.ids[0], "source_id": twin.ids[0], "target_id": twin.ids[0], "session": "shared"}
    own |= dict.fromkeys(("entity_id", "source_entity_id", "target_entity_id"), twin.entities[0])
    made = walk.params(method)
    return {name: own.get(name, made[name]) for name in needed}
