"""Every method of clients that writes, ready to be called on a real engine: one client with what it may change.

`params_for` has an entry for each such method of resources/protocol.json, so that a test over all of them fails where a
new one has none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from desk_rig import came, have, make_pair
from engine_rig import Rig

from core.engine.facade import Engine
from core.ipc.methods.definition.entry import MethodCall
from core.ipc.methods.table import METHODS
from core.ipc.protocol.contract import load_registry
from core.ipc.protocol.sessions import Session, client_session
from core.types.entities import EntityDraft
from core.types.values import Actor, Kind, Source

GRANTS = ("read", "propose", "write", "curate", "space:home")
NAME = "plug"
WRITES = sorted(name for name, one in load_registry().methods.items() if one.who == "client" and one.effect == "write")


@dataclass(frozen=True)
class Writer:
    """One client and what it brought.

    Attributes:
        rig: the engine.
        actor: the client.
        fact, other, rule, conflict: ids.
        entities: two of its own.
    """

    rig: Rig
    actor: Actor
    fact: str
    other: str
    rule: str
    conflict: str
    entities: tuple[str, str]

    def session(self) -> Session:
        """Its connection, as it stands now."""
        record = self.rig.engine.authority.token_for(NAME)
        assert record is not None
        return client_session(record)

    def params(self, method: str, **more: Any) -> dict[str, Any]:
        """What a method is called with."""
        return {**self._params()[method], **more}

    def methods(self) -> list[str]:
        """All that can be called."""
        return sorted(self._params())

    async def call(self, method: str, params: Mapping[str, Any], session: Session) -> dict[str, Any]:
        """Call one, as the dispatcher does once everything is checked."""
        checked = load_registry().methods[method].check_params(params)
        engine: Engine = self.rig.engine
        return await METHODS[method].answer_call(MethodCall(engine, session), checked)

    def say(self, method: str, **more: Any) -> dict[str, Any]:
        """Call one and wait."""
        return asyncio.run(self.call(method, self.params(method, **more), self.session()))

    def _params(self) -> dict[str, dict[str, Any]]:
        told = {"session": "talk", "user": "I live in Lisbon.", "assistant": "Noted."}
        source, target = self.entities
        return {
            "capture": {"session": "talk", "messages": [{"role": "user", "text": "The boiler hums at night."}]},
            "compaction_ingest": {"session": "talk", "summary": "The user repaired the gate. It closes again."},
            "entity_create": {"canonical_name": "Mildred Quince", "entity_type": "person"},
            "entity_merge": {"source_entity_id": source, "target_entity_id": target},
            "entity_update": {"entity_id": source, "aliases": ["Ossie"]},
            "memory_confirm": {"id": self.fact},
            "memory_corroborate": {"id": self.fact, "session": "elsewhere", "source": "document"},
            "memory_delete": {"id": self.fact},
            "memory_dispute": {"id": self.fact, "reason": "It moved."},
            "memory_feedback": {"id": self.fact, "helpful": True},
            "memory_forget": {"id": self.other},
            "memory_mark_harmful": {"id": self.rule, "reason": "It broke the build."},
            "memory_mark_helpful": {"id": self.rule},
            "memory_reinforce": {"id": self.fact},
            "memory_relate": {"source_id": self.fact, "target_id": self.other, "relationship": "supports"},
            "memory_resolve_conflict": {"id": self.conflict, "action": "keep_both"},
            "memory_run_consolidation": {},
            "memory_run_episode_cleanup": {"max_entries": 0},
            "memory_store": {"text": "The ladder leans behind the shed."},
            "memory_store_episode": {"text": "We talked about the ladder."},
            "memory_store_fact": {"subject": "Anna", "predicate": "lives_in", "text": "Anna lives in Graz."},
            "memory_store_rule": {"text": "Fold the ladder before it rains."},
            "memory_update": {"id": self.fact, "text": "The kettle stands in the hall."},
            "session_close": {"session": "talk"},
            "turn_end": told,
        }


def writer(rig: Rig) -> Writer:
    """Pair a client and let it bring something of every kind.

    Args:
        rig: an engine on a new home.
    """
    plug = rig.client(NAME, *GRANTS)
    fact = rig.store("The kettle stands in the pantry.", plug).memory_id
    other = rig.store("Bees nest under the roof.", plug).memory_id
    rule = rig.store("Sweep the yard on Fridays.", plug, kind=Kind.RULE).memory_id
    note = rig.store("We swept the yard.", plug, kind=Kind.EPISODE).memory_id
    rig.write(lambda tx: tx.insert("episodes", {"memory_id": note, "consolidated_at": tx.now_ms}))
    another = rig.client("another", "read", "write")
    theirs: dict[str, Any] = {"source": Source.INFERENCE, "client_id": another.client_id}
    pair = make_pair(rig, have("Carl one.", None, **theirs), came("Carl two.", None, **theirs))
    made = [
        rig.engine.entities.create(EntityDraft(name=name, type="person"), plug).result(30).id
        for name in ("Oswald Fennimore", "Ossie Fennimore")
    ]
    return Writer(rig, plug, fact, other, rule, pair.item, (made[0], made[1]))
