"""What the engine answers: stored, undone, imported, audited. Frozen snapshots that may cross threads.

Must not do: hold logic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.types.sensitivity import SensitiveType
from core.types.values import Memory, SecurityTier


class WaitingKind(StrEnum):
    """What waits for the person, as the window counts it beside its pages."""

    REVIEWS = "reviews"
    """Items of the review, those put off too."""
    RUNS = "runs"
    """Runs that changed or erased memories by themselves, and stand."""
    REGRESSIONS = "regressions"
    """Saved questions that held once and do not any more."""
    PAIRINGS = "pairings"
    """Clients that ask to be paired; the open socket knows, not the vault."""


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
        memories: how many memories it touched that are still in the vault; None for a step of so many rows that they
            have to be counted apart (`count_step_memories`).
        is_final: whether it is no undo step: nobody can undo it, and it stands in the audit alone.
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
    memories: int | None = None
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Steps:
    """A page of undo steps, newest first; `next` continues, None at the end."""

    rows: tuple[StepRow, ...]
    total: int
    next: str | None


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """What became of memories in a period, as far as it still stands; what was undone is not counted.

    Attributes:
        learned: recorded in it, whatever became of them since.
        replaced: a newer text stands for them. `merged`: another memory does, or a digest.
        forgotten: forgotten in it.
    """

    learned: int
    replaced: int
    merged: int
    forgotten: int


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
    """One conversation of a dry run.

    Attributes:
        key: names it where a person chooses what to import.
        title: as the export has it; plain text, hostile.
        messages: how many messages there are; `new` of them are not in the vault yet.
        branches: answers that were written anew and stand beside the one that was kept.
        earliest: epoch ms; None where no time is known.
        speakers: the first few who are named; plain text, hostile.
        opening: how its first text begins; likewise.
        source: the name of the source it is from; "" where the import is one.
    """

    key: str
    title: str
    messages: int
    new: int
    branches: int
    earliest: int | None
    latest: int | None
    speakers: tuple[str, ...] = ()
    opening: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """One source of a dry run: an export, a folder or files of one kind among what was named.

    Attributes:
        name: where it lies in what was named; plain text, hostile.
        format: what it is read as; "" where nobody can read it.
        records: what is in it; `new` of them are not in the vault yet.
        earliest: epoch ms; None where no time is known.
        samples: how a few of its texts begin; plain text, hostile.
        left_out: how many things of it are left out; of one that nobody can read, its files.
        problem: why it was refused, in words; "" where it was not.
    """

    name: str
    format: str
    records: int
    new: int
    earliest: int | None
    latest: int | None
    samples: tuple[str, ...] = ()
    left_out: int = 0
    problem: str = ""


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
        is_advanced: whether only who knows the inside of the program needs it.
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
    is_advanced: bool = False

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


@dataclass(frozen=True, slots=True)
class Classification:
    """How a newcomer relates to what stands.

    Attributes:
        label: NEW, DUPLICATE, SUPERSEDE, MERGE or COEXIST.
        confidence: 0 to 1.
        by: `rules` or `model`.
    """

    label: str
    confidence: float
    by: str


@dataclass(frozen=True, slots=True)
class StoreReply:
    """The outcome of storing one text (design section 8, memory_store).

    Attributes:
        operation: ADD, UPDATE, MERGE, SUPERSEDE, NOOP, QUARANTINE or PROPOSED.
        memory_id: the memory that now holds the text.
        deduplicated: it stood already and was corroborated.
        superseded: ids that no longer stand.
        conflict: the review item that was opened, if any.
        merged: whether texts were united.
        protection: to the owner, the tier that the memory has now and what of its text asks for one; it is no part of
            what was done, since a later word changes it.
    """

    operation: str
    memory_id: str
    deduplicated: bool = False
    superseded: tuple[str, ...] = ()
    conflict: str | None = None
    merged: bool = False
    classification: Classification = Classification("NEW", 1.0, "rules")
    protection: tuple[SecurityTier, frozenset[SensitiveType]] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class VerdictReply:
    """How a memory stands after somebody spoke of it.

    Attributes:
        memory_id: of a split text the head.
        status: a word of `core.types.values.Status`.
        trust: 0 to 1; `confidence` likewise.
        reinforcements: how often it was reinforced or confirmed; a client counts once. `disputes` likewise.
        corroboration: how many independent sources say the same.
        step_id: the undo step; it exists only where something changed.
        conflict: the review item that was opened instead, if any.
    """

    memory_id: str
    status: str
    trust: float
    confidence: float
    reinforcements: int
    disputes: int
    corroboration: int
    step_id: str
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What the nightly reconciliation looked at and mended; counts.

    Attributes:
        claims: claims looked at.
        states: rows changed because a claim's state did not follow its memories.
        confidences: claims whose confidence was another.
        memories: memories looked at.
        trusts: memories whose trust was another (age, a changed ceiling).
        broken: pieces of evidence that are not in their text.
    """

    claims: int = 0
    states: int = 0
    confidences: int = 0
    memories: int = 0
    trusts: int = 0
    broken: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a list.

    Attributes:
        items: memories, newest first.
        total: all matches, whatever the limit.
        next: cursor for `ListRequest.after`; None at the end.
        memories: all matches, a long text that was split counted once.
    """

    items: tuple[Memory, ...]
    total: int
    next: str | None
    memories: int = 0


@dataclass(frozen=True, slots=True)
class MemoryDetail:
    """A memory with everything `show` tells.

    Attributes:
        sources: one mapping per independent lineage: lineage, source, client, session, import_id, at.
        conversation: id, title, position and neighbours' ids; empty outside conversations.
        origin: where it came from (file, line …).
        claims: claim mappings as design section 8 lists them.
        edges: mappings `{id, type, direction, other}`.
        trust_terms: the terms of the trust formula, in order (name, value).
        parts: ids of the parts of a split text, in order.
        sensitive: what kinds of sensitive content rules find in its text.
        room: name of the palace's room it is placed in; "" while it has no place.
    """

    memory: Memory
    sources: tuple[Mapping[str, Any], ...]
    conversation: Mapping[str, Any]
    origin: Mapping[str, Any]
    claims: tuple[Mapping[str, Any], ...]
    edges: tuple[Mapping[str, Any], ...]
    trust_terms: tuple[tuple[str, float], ...]
    parts: tuple[str, ...] = ()
    sensitive: tuple[SensitiveType, ...] = ()
    room: str = ""


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What undoing a step did.

    Attributes:
        step_id: the step that was undone.
        label: its name; no memory text.
        undo_step_id: the new step that undoes it (undo that one to redo).
        restored: rows put back.
        left: rows changed since, with both states, left to be decided.
        client: the name of the client whose step it was; None for the person's and Loci's own.
        unpaired: names of clients that came back with it, paused: their old tokens stay worthless, and each is to be
            paired anew.
    """

    step_id: str
    label: str
    undo_step_id: str
    restored: int
    left: tuple[Mapping[str, Any], ...] = ()
    client: str | None = None
    unpaired: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchiveReceipt:
    """An encrypted archive that was written.

    Attributes:
        path: the file.
        memories: in it; a split text counts once. `sealed` are those of them that are sealed, and stay so.
        rows: table to number of rows.
        size: bytes of the file.
    """

    path: str
    memories: int
    rows: Mapping[str, int]
    size: int
    sealed: int = 0


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import or of its dry run (`import --json`).

    Attributes:
        import_id: None for a dry run.
        messages: counts for user, assistant and other.
        stored: memories new to the vault; a split text counts once.
        skipped: counts by reason.
        errors: `{where, message}` of parts that could not be read.
        earliest: the earliest known time, ISO 8601 UTC with milliseconds; None where no time is known.
        plan: one for each conversation, in the order of the file; of a dry run only, and never in `import --json`.
            Records outside conversations are one row with the key "".
        plan_more: conversations beyond those in `plan`.
        sources: one for each source that was found, of a dry run only; `sources_more` are beyond those.
        updated: memories whose newer row took the place of an older one; of an archive only.
        sealed: of `stored`, those that are sealed and stay so; of an archive only.
        is_foreign: whether it is an archive of another vault, whose memories are trusted 0.5 at most.
        others: how many it brings beside memories: `people`, `files`; of an archive only.
        list_lines: how many memories a text or Markdown file that is a list would be line by line; 0 where it is none.
    """

    import_id: str | None
    format: str
    conversations: int
    messages: Mapping[str, int]
    stored: int
    proposals: int
    skipped: Mapping[str, int]
    errors: tuple[Mapping[str, str], ...]
    earliest: str | None
    latest: str | None
    plan: tuple[ConversationPlan, ...] = ()
    plan_more: int = 0
    updated: int = 0
    sealed: int = 0
    is_foreign: bool = False
    sources: tuple[SourcePlan, ...] = ()
    sources_more: int = 0
    others: Mapping[str, int] = field(default_factory=dict)
    list_lines: int = 0


@dataclass(frozen=True, slots=True)
class ImportFindings:
    """What was found in imports so far; it grows while names are read and when statements are made.

    Attributes:
        names: the names mentioned most often, by type of entity (`core.types.entities`), six at most of each.
        by_type: how many names of each type they mention.
        statements: made of what they brought; `small_talk` counts the messages that hold nothing worth one.
        changes: memories that something they brought replaced, of the same imports or from before.
        questions: open review items about something they brought.
        unread: memories in which names are not looked for yet, of `readable`.
        waits: why no names are read at the moment: `paused`, `turn` (other work goes first), or "" where they are.
    """

    names: Mapping[str, tuple[str, ...]]
    by_type: Mapping[str, int]
    statements: int
    small_talk: int
    changes: int
    questions: int
    unread: int
    readable: int
    waits: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check of the installation found.

    Attributes:
        check: its name.
        title: the same for a person.
        state: `ok`, `warn` or `fail`.
        sentence: what was found.
        advice: what to do; "" where nothing is.
    """

    check: str
    title: str
    state: str
    sentence: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Paired:
    """A client that was just paired.

    Attributes:
        token: 32 bytes; shown once.
        step_id: the undo step.
    """

    client_id: str
    name: str
    token: bytes = field(repr=False)
    step_id: str = ""


@dataclass(frozen=True, slots=True)
class StatusReport:
    """How the vault and the engine are (E34.8 with what exists today)."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KeyRotationReport:
    """What putting a vault under new keys did.

    Attributes:
        rows: rows of all tables that were compared with those of before.
        vault_bytes: size of the database.
        old_backups: names of backups in the home, which open with the secrets of before.
        closed_copies: names of copies from before an update of the schema, which open no more.
    """

    rows: int
    vault_bytes: int
    old_backups: tuple[str, ...]
    closed_copies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Presence:
    """Whether there is a vault, and how it may be opened; told without opening anything.

    Attributes:
        exists: whether there is a vault or a key file, whole or not.
        in_keyring: whether the system's keyring holds a key slot.
        has_passphrase: whether a passphrase opens it; else only recovery code or keyring do.
        vault_id: 32 hexadecimal digits; None where the key file tells none.
        problem: the code of what is wrong with the key file, such as `E1006`; None where all is well.
        sentence: says it to the person; empty where all is well.
    """

    exists: bool
    in_keyring: bool = False
    has_passphrase: bool = False
    vault_id: str | None = None
    problem: str | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class PairingOffer:
    """A code that lets one other device in.

    Attributes:
        code: shown once.
        expires_at: epoch ms.
        folder: where the other device has to find the same files.
    """

    code: str
    expires_at: int
    folder: str
