"""The one list of what the window is made of: pages in the order of the rail, sections of the inspector.

A page or section joins by standing here; nothing else of the shell changes.
"""

from __future__ import annotations

from ui.context import Command, Context, InspectorSectionSpec
from ui.gate.gate import Gate
from ui.imports.wizard import ImportDialog
from ui.inspector.claims import CLAIMS
from ui.inspector.files import FILES
from ui.inspector.gauges import GAUGES
from ui.inspector.history import HISTORY
from ui.inspector.outcomes import PROCEDURE, RULE
from ui.inspector.panel import Inspector
from ui.inspector.protection import PROTECTION
from ui.inspector.provenance import DISCLOSURES, PROVENANCE
from ui.inspector.relations import DEPENDENTS, MENTIONS, NOTES, RELATIONS
from ui.inspector.text import TEXT, WARNING
from ui.inspector.trust import TRUST
from ui.pages.ask.page import ASK_PAGE
from ui.pages.clients.page import CLIENTS, client_commands
from ui.pages.entities.page import ENTITIES
from ui.pages.graph.page import GRAPH
from ui.pages.journal.page import JOURNAL
from ui.pages.library.page import LIBRARY, library_commands
from ui.pages.palace.page import PALACE
from ui.pages.recall.page import RECALL
from ui.pages.review.page import REVIEW
from ui.pages.settings.page import SETTINGS, settings_commands
from ui.pages.timeline.page import TIMELINE
from ui.shell.window import WindowViews

INSPECTOR_SECTIONS: tuple[InspectorSectionSpec, ...] = (
    TEXT, FILES, PROTECTION, WARNING, TRUST, GAUGES, RULE, PROCEDURE, CLAIMS, MENTIONS, PROVENANCE, NOTES, RELATIONS,
    DEPENDENTS, DISCLOSURES, HISTORY,
)  # fmt: skip


PAGES = (PALACE, GRAPH, LIBRARY, REVIEW, ASK_PAGE, RECALL, TIMELINE, ENTITIES, CLIENTS, JOURNAL, SETTINGS)

ROOMS = WindowViews(pages=PAGES, sections=INSPECTOR_SECTIONS, gate=Gate, inspector=Inspector, importing=ImportDialog)


def page_commands(context: Context) -> tuple[Command, ...]:
    """Commands of pages that make sense before their page was ever shown."""
    return (*library_commands(context), *client_commands(context), *settings_commands(context))
