"""The section that says how a memory is protected, what was found in it, and who is kept from it; offers to seal it.

It is there for what is sensitive or confidential, and for texts in which something sensitive was found. Must not do:
show a found value by itself, or change a tier unasked.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QFrame, QLabel, QWidget

from core.types.sensitivity import SensitiveType
from core.types.values import Memory, SecurityTier
from core.types.views import Revision, RevisionReport
from ui.bridge import make_write
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec
from ui.strings import inspector_strings
from ui.undo import offer_undo
from ui.widgets.basics import FlowLayout, make_button, make_column, make_label, make_row
from ui.widgets.labels import TIER_MARKS


class ProtectionSection(InspectorSection):
    """A mark, one sentence, and what the person may do about it."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        strings = inspector_strings()["protection"]
        self._memory: Memory | None = None
        self.box = QFrame()
        self.box.setObjectName("banner")
        self.box.setProperty("tone", "plain")
        self.mark = QLabel()
        self.title = make_label("", "strong", wrap=True)
        self.found = make_label("", "small", wrap=True)
        self.seal = make_button(strings["seal"], self._ask_to_seal, kind="ghost", hint=strings["seal_hint"])
        self.hide_button = make_button(
            strings["hide"], partial(self._set_tier, SecurityTier.SENSITIVE), kind="ghost", hint=strings["hide_hint"]
        )
        self.lift = make_button(
            strings["show"], partial(self._set_tier, SecurityTier.CLEARTEXT), kind="ghost", hint=strings["show_hint"]
        )
        erase = inspector_strings()["verbs"]["erase"]["title"]
        self.erase = make_button(erase, lambda: context.commands.run("memory.erase"), kind="ghost")
        for button, name in ((self.hide_button, "hide_hint"), (self.lift, "show_hint")):
            button.setAccessibleName(strings[name])
        inside = make_column(self.box, gap=8, margins=12)
        head = make_row(self.mark, self.title)
        head.setStretch(1, 1)
        inside.addLayout(head)
        inside.addWidget(self.found)
        acts = QWidget()
        flow = FlowLayout(acts, gap=4)
        for button in (self.seal, self.hide_button, self.lift, self.erase):
            flow.addWidget(button)
        inside.addWidget(acts)
        make_column(self, self.box)
        context.theme.changed.connect(self._draw_mark)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show how the inspected memory is protected.

        Returns:
            Whether it is, or something sensitive is in it.
        """
        memory, types = inspected.memory, inspected.detail.sensitive
        self._memory = memory
        strings = inspector_strings()["protection"]
        is_found = memory.is_found_sensitive
        title = strings["tiers"][memory.tier.value]
        sentence = " ".join(
            part
            for part in (
                _describe_types(types),
                strings["by_rules"] if is_found else "",
                strings["who"]["rules" if is_found and memory.client_id is not None else memory.tier.value],
            )
            if part
        )
        self.title.setText(title)
        self.found.setText(sentence)
        self.setAccessibleName(f"{title}. {sentence}")
        is_open = memory.tier is SecurityTier.CLEARTEXT
        self.seal.setVisible(memory.tier is SecurityTier.CONFIDENTIAL)
        self.erase.setVisible(memory.tier is SecurityTier.CONFIDENTIAL)
        self.hide_button.setVisible(is_open)
        self.lift.setVisible(not is_open)
        self._draw_mark()
        return not is_open or bool(types)

    def _draw_mark(self) -> None:
        if self._memory is not None:
            name, ink = TIER_MARKS[self._memory.tier]
            side = self.context.theme.px(16)
            self.mark.setPixmap(self.context.theme.icon(name, ink).pixmap(side, side))

    def _ask_to_seal(self) -> None:
        if self._memory is not None:
            self.context.desk.seal.emit((self._memory.id,))

    def _set_tier(self, tier: SecurityTier) -> None:
        memory, strings = self._memory, inspector_strings()
        if memory is None:
            return
        library = self.context.bridge.engine.library
        task = make_write(
            strings["tasks"]["revise"], lambda: library.revise_memories([memory.id], Revision(tier=tier))
        ).within(self)

        def offer(report: RevisionReport) -> None:
            if report.step_id is not None:
                done = "unprotected" if tier is SecurityTier.CLEARTEXT else "protected"
                offer_undo(self.context, strings["done"][done], report.step_id)

        self.context.tasks.run(task.success(offer))


def _describe_types(types: tuple[SensitiveType, ...]) -> str:
    strings = inspector_strings()["protection"]
    if not types:
        return ""
    return str(strings["found"]).format(types=", ".join(strings["types"][one.value] for one in types))


PROTECTION = InspectorSectionSpec("protection", 11, ProtectionSection)
