"""Every method by which a client writes, as one of two twins calls it with sense.

Must not do: call anything, or look into the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wire_twins import Twin

Params = dict[str, Any]


@dataclass(frozen=True, slots=True)
class At:
    """What a deed is done to.

    Attributes:
        mark: a word that nothing else has.
        memory: a rule of the twin's own that stands.
        older: another memory of its own.
        entity: an entity of its own; `second` another.
        item: an open item of its conflict desk.
    """

    mark: str
    memory: str
    older: str
    entity: str
    second: str
    item: str


Deed = Callable[[Twin, At], Params]

DEEDS: Mapping[str, Deed] = {
    "memory_store": lambda twin, at: {"text": f"The {at.mark} lamp of Anna glows.", "space": twin.space},
    "memory_store_episode": lambda twin, at: {"text": f"Anna bought the {at.mark} lamp.", "space": twin.space},
    "memory_store_fact": lambda twin, at: {
        "subject": "Anna", "predicate": "owns", "text": f"the {at.mark} lamp", "space": twin.space
    },
    "memory_store_rule": lambda twin, at: {"text": f"Always dust the {at.mark} lamp.", "space": twin.space},
    "memory_update": lambda _, at: {"id": at.memory, "text": f"Always polish the {at.mark} lamp."},
    "memory_confirm": lambda _, at: {"id": at.memory},
    "memory_reinforce": lambda _, at: {"id": at.memory},
    "memory_dispute": lambda _, at: {"id": at.memory, "reason": f"The {at.mark} lamp is gone."},
    "memory_corroborate": lambda _, at: {"id": at.memory, "session": "another"},
    "memory_feedback": lambda _, at: {"id": at.memory, "helpful": False, "reason": f"No {at.mark} there."},
    "memory_mark_helpful": lambda _, at: {"id": at.memory},
    "memory_mark_harmful": lambda _, at: {"id": at.memory, "reason": f"The {at.mark} broke."},
    "memory_relate": lambda _, at: {"source_id": at.memory, "target_id": at.older, "relationship": "supports"},
    "memory_resolve_conflict": lambda _, at: {"id": at.item, "action": "reject"},
    "entity_create": lambda twin, at: {
        "canonical_name": f"Dora {at.mark}", "entity_type": "person", "space": twin.space
    },
    "entity_update": lambda _, at: {"entity_id": at.entity, "aliases": [f"Ann {at.mark}"]},
    "entity_merge": lambda _, at: {"source_entity_id": at.second, "target_entity_id": at.entity},
    "turn_end": lambda twin, at: {"session": "shared", "user": f"My {at.mark} lamp broke.", "space": twin.space},
    "capture": lambda twin, at: {
        "session": "shared", "space": twin.space, "messages": [{"role": "user", "text": f"I sold the {at.mark} lamp."}]
    },
    "compaction_ingest": lambda twin, at: {
        "session": "shared", "space": twin.space, "summary": f"Anna keeps the {at.mark} lamp in the {at.mark} shed."
    },
    "session_close": lambda _, _at: {"session": "shared"},
    "memory_run_consolidation": lambda _, _at: {},
    "memory_run_episode_cleanup": lambda _, _at: {"max_entries": 1},
    "memory_delete": lambda _, at: {"id": at.memory},
    "memory_forget": lambda _, at: {"id": at.memory},
}  # fmt: skip
"""Method to the parameters of a call that does something; the last ones take away."""
