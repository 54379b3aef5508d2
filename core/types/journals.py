"""What happened: undo steps, imports, audit rows, and the options as the window shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.types.replies import UndoReport


@dataclass(frozen=True, slots=True)
class StepRow:
    """One undo step.

    Attributes:
        actor: `owner`, `client` or `scheduler`; `client` is the client's name.
        rows: how many rows it changed.
        undone: whether it is taken back at present.
        can_undo: whether it can be taken back now.
        is_undo: whether it is itself the taking back of another step.
        memory_ids: ids of up to 20 memories it touched, so that the journal can lead to them.
        undone_by: the step that took it back, while it is taken back; undoing that one brings it back.
        undone_at: when that was, epoch ms.
    """

    id: str
    at: int
    verb: str
    label: str
    actor: str
    client: str | None
    rows: int
    undone: bool
    can_undo: bool
    is_undo: bool
    expires_at: int
    memory_ids: tuple[str, ...] = ()
    undone_by: str | None = None
    undone_at: int | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """A page of undo steps, newest first; `next` continues, None at the end."""

    rows: tuple[StepRow, ...]
    total: int
    next: str | None


@dataclass(frozen=True, slots=True)
class UndoBack:
    """What "undo back to here" did or would do.

    Attributes:
        labels: names of the steps, newest first.
        memories: how many memories they touch.
        reports: one a step; empty for a preview.
        unpaired: names of clients that came back with it and are to be paired anew, as in `UndoReport`.
    """

    labels: tuple[str, ...]
    memories: int
    reports: tuple[UndoReport, ...] = ()
    unpaired: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One row of the audit; never any memory text."""

    nr: int
    at: int
    actor: str
    verb: str
    object: str
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of audit rows, newest first; `next` is the `before` of the next page, None at the end."""

    rows: tuple[AuditRow, ...]
    total: int
    next: int | None


@dataclass(frozen=True, slots=True)
class ImportRow:
    """One import.

    Attributes:
        state: `running`, `done` or `undone`.
        memories: how many of its memories are in the vault now.
        summary: `stored`, `proposals`, `skipped` by reason.
        step_id: its undo step.
        undone_by: the step that took it back, while it is taken back.
    """

    id: str
    format: str
    label: str
    space: str
    state: str
    started_at: int
    finished_at: int | None
    memories: int
    step_id: str | None
    summary: Mapping[str, Any] = field(default_factory=dict)
    undone_by: str | None = None


@dataclass(frozen=True, slots=True)
class ConversationPlan:
    """One conversation of a rehearsal.

    Attributes:
        key: names it for `ImportChoice`.
        title: as the export has it; plain text, hostile.
        messages: how many messages there are; `new` of them are not in the vault yet.
        branches: answers that were written anew and stand beside the one that was kept.
        earliest: epoch ms; None where no time is known.
    """

    key: str
    title: str
    messages: int
    new: int
    branches: int
    earliest: int | None
    latest: int | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file or folder in one of the usual places that looks like an export.

    Attributes:
        path: where it lies.
        format: the importer's name.
        label: in words, such as `Claude Code sessions`.
        size: bytes, as far as it was looked at.
        changed_at: epoch ms of the last change.
        count: files in it; 1 for a file.
    """

    path: str
    format: str
    label: str
    size: int
    changed_at: int
    count: int


@dataclass(frozen=True, slots=True)
class OptionRow:
    """An option as the settings page shows it.

    Attributes:
        name: the stable key.
        group: the heading it stands under.
        kind: `bool`, `int`, `float`, `choice` or `text`.
        least: lower bound; `most` upper bound; None for none.
        choices: for `choice`: value to words.
        unit: such as `days`; empty for none.
        needs_restart: whether it takes effect at the next start only.
    """

    name: str
    title: str
    description: str
    group: str
    kind: str
    default: Any
    value: Any
    least: float | None = None
    most: float | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    unit: str = ""
    needs_restart: bool = False

    @property
    def is_changed(self) -> bool:
        """Whether the value differs from the default."""
        return bool(self.value != self.default)


@dataclass(frozen=True, slots=True)
class OptionsReset:
    """What resetting all options did.

    Attributes:
        rows: all options as they are now.
        step_id: the undo step; None where every option had its default already.
    """

    rows: tuple[OptionRow, ...]
    step_id: str | None
