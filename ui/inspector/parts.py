"""The parts of the inspector, in the order in which they stand.

A part joins by another `PartSpec` here; nothing else of the inspector changes.
"""

from __future__ import annotations

from ui.context import PartSpec
from ui.inspector.belief.claims import CLAIMS
from ui.inspector.belief.dependents import RESTS
from ui.inspector.belief.trust import TRUST
from ui.inspector.life.disclosures import GIVEN
from ui.inspector.life.gauges import GAUGES
from ui.inspector.life.practice import PROCEDURE, RULE
from ui.inspector.origin.history import HISTORY
from ui.inspector.origin.mentions import MENTIONS
from ui.inspector.origin.provenance import PROVENANCE
from ui.inspector.origin.relations import RELATIONS
from ui.inspector.text.text import TEXT
from ui.inspector.text.warning import WARNING

PARTS: tuple[PartSpec, ...] = (
    TEXT, WARNING, TRUST, GAUGES, RULE, PROCEDURE, CLAIMS, MENTIONS, PROVENANCE, RELATIONS, RESTS, GIVEN,
    HISTORY,
)  # fmt: skip
