"""The parts of the inspector, in the order in which they stand.

A part joins by another `PartSpec` here; nothing else of the inspector changes.
"""

from __future__ import annotations

from ui.context import PartSpec
from ui.inspector.claims import CLAIMS
from ui.inspector.gauges import GAUGES
from ui.inspector.given import GIVEN
from ui.inspector.history import HISTORY
from ui.inspector.mentions import MENTIONS
from ui.inspector.practice import PROCEDURE, RULE
from ui.inspector.provenance import PROVENANCE
from ui.inspector.relations import RELATIONS
from ui.inspector.rests import RESTS
from ui.inspector.text import TEXT
from ui.inspector.trust import TRUST
from ui.inspector.warning import WARNING

PARTS: tuple[PartSpec, ...] = (
    TEXT, WARNING, TRUST, GAUGES, RULE, PROCEDURE, CLAIMS, MENTIONS, PROVENANCE, RELATIONS, RESTS, GIVEN,
    HISTORY,
)  # fmt: skip
