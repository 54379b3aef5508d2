"""The groups of verbs of one engine. Each is made, and its modules are loaded, when it is first asked for.

A command that opens the vault by itself uses one or two of them, and loading the rest takes it longer than its answer.
What serves for long makes all of them before it serves (`make_all`), so that no verb waits for a module. Must not do:
open a vault, or carry out a verb.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from core.engine.authority import Authority
from core.engine.recall.recalls import answer_recall
from core.engine.runtime.open_vault import VaultSlot
from core.engine.runtime.shared_property import shared_property
from core.recall.browse.sealed_rows import find_in_clear, list_sealed

if TYPE_CHECKING:
    from core.embed.embedder import Embedder
    from core.engine.client_changes import ClientChanges
    from core.engine.clients.clients import ChangeSubscriptions, Clients
    from core.engine.conflicts import Conflicts
    from core.engine.conversations import Conversations
    from core.engine.copy_viewer import KnownCopies
    from core.engine.files.group import Files
    from core.engine.imports.group import Imports
    from core.engine.jobs.jobs import JobsGroup, Maintenance
    from core.engine.jobs.model_refinement import ModelRefinement
    from core.engine.jobs.retention import Retention
    from core.engine.jobs.scheduler import Scheduler
    from core.engine.jobs.statement_runs import StatementsGroup
    from core.engine.library import Library
    from core.engine.memories.memories import Memories
    from core.engine.outcomes import Outcomes
    from core.engine.recall.recall_trials import RecallTrials
    from core.engine.recall.recalls import RecallReply
    from core.engine.runtime.settings import Settings
    from core.engine.sessions import Sessions
    from core.engine.sync.group import Devices
    from core.engine.vault.embedding_model import EmbeddingModels
    from core.engine.vault.erasures import Erasures
    from core.engine.vault.history import History
    from core.engine.vault.sealed_memories import SealedMemories
    from core.engine.views.entities import Entities
    from core.engine.views.graph import Graph
    from core.engine.views.palace import Palace
    from core.engine.views.rehearsals import Rehearsals
    from core.engine.views.timeline import Timeline
    from core.engine.watch.group import WatchedFolders
    from core.lifecycle.job_support.job_context import Planner, StreamJob
    from core.security.passphrase import KdfCost
    from core.types.lifecycle import JobType
    from core.types.requests import RecallQuery
    from core.types.sensitivity import SealedRow
    from core.types.values import Actor


class UpkeepGroups:
    """The groups that a vault needs to be kept in order, beside what callers ask of them; and how all groups are made.

    Attributes:
        authority: paired clients by name, for the handshake; never waits.
    """

    def __init__(
        self,
        slot: VaultSlot,
        loop: Callable[[], asyncio.AbstractEventLoop],
        authority: Authority,
        embedder: Embedder,
        person_home: Path | None,
        flush_journal: Callable[[], None],
        kdf_cost: KdfCost | None = None,
    ) -> None:
        """Make what the opening of a vault needs.

        Args:
            slot: holds the open vault, while there is one.
            loop: gives the loop of the engine's thread.
            person_home: the person's own folder, in which exports are looked for; None for none.
            flush_journal: writes receipts and counts that wait.
            kdf_cost: of a guess at a passphrase that is set here; None for the standard.
        """
        self._slot, self._get_loop, self.authority = slot, loop, authority
        self._person_home, self._flush = person_home, flush_journal
        self._built_in, self._kdf_cost = embedder, kdf_cost

    def make_all(self) -> None:
        """Make every group now, before there are threads that ask for one: making is not guarded against two."""
        for kind in reversed(type(self).__mro__):
            for name, value in vars(kind).items():
                if isinstance(value, shared_property):
                    getattr(self, name)
        _ = self.scheduler.agenda.jobs

    def is_made(self, name: str) -> bool:
        """Whether somebody has asked for a group: one that nobody asked for has nothing to keep or to let go."""
        return name in vars(self)

    def _make_jobs(self) -> Mapping[JobType, Planner | StreamJob]:
        from core.lifecycle.embedding import MigrationJob
        from core.lifecycle.registry import make_jobs
        from core.types.lifecycle import JobType

        return {**make_jobs(), JobType.MIGRATE: MigrationJob(self.embedding_models)}

    def recall(self, query: RecallQuery, actor: Actor) -> Future[RecallReply]:
        """As `Memories.recall`; where nobody has asked for that group, without loading all that it can do besides."""
        if self.is_made("memories"):
            return self.memories.recall(query, actor)
        return answer_recall(self._slot.require_vault(), query, self.authority.make_scope(actor), actor)

    def find_sealed(self, query: str, limit: int = 20) -> Future[tuple[SealedRow, ...]]:
        """Sealed memories by the words of their labels and summaries, without their key; the owner's alone.

        Args:
            query: the question; it is kept nowhere.
            limit: rows at most.
        """
        return self._slot.require_storage().read(lambda rows: find_in_clear(list_sealed(rows, ()), query)[:limit])

    @shared_property
    def memories(self) -> Memories:
        """Everything a caller does with memories."""
        from core.engine.memories.memories import Memories

        return Memories(self._slot.require_vault, self.authority)

    @shared_property
    def settings(self) -> Settings:
        """The options of the vault."""
        from core.engine.runtime.settings import Settings

        return Settings(self._slot.require_vault)

    @shared_property
    def scheduler(self) -> Scheduler:
        """Runs the jobs; `jobs` is the group that callers use."""
        from core.engine.jobs.due_times import Agenda
        from core.engine.jobs.scheduler import Scheduler

        made = Scheduler(Agenda(self._make_jobs), lambda: self.refinement)
        self._on_scheduler_made(made)
        return made

    def _on_scheduler_made(self, made: Scheduler) -> None:
        """Nothing, where it is made before a vault is open."""

    @shared_property
    def refinement(self) -> ModelRefinement:
        """What a local model refines."""
        from core.engine.jobs.model_refinement import ModelRefinement

        return ModelRefinement(self._slot.require_vault, self._get_loop)

    @shared_property
    def embedding_models(self) -> EmbeddingModels:
        """The embedding model that is searched with, and changing it."""
        from core.engine.vault.embedding_model import EmbeddingModels

        made = EmbeddingModels(self._slot.require_vault, self._get_loop, self._built_in, self.settings)
        made.wished = self.scheduler.check_soon
        return made


class SourceGroups(UpkeepGroups):
    """The groups that read files of the person's: imports, attached files, watched folders."""

    @shared_property
    def imports(self) -> Imports:
        """Importing files."""
        from core.engine.imports.group import Imports

        return Imports(self._slot.require_vault, self._person_home)

    @shared_property
    def files(self) -> Files:
        """Files of memories."""
        from core.engine.files.group import Files

        return Files(self._slot.require_vault)

    @shared_property
    def watches(self) -> WatchedFolders:
        """Folders that are watched."""
        from core.engine.watch.group import WatchedFolders

        return WatchedFolders(self._slot, self.imports)


class EngineGroups(SourceGroups):
    """All groups; `Engine` adds what opens and closes the vault behind them."""

    @shared_property
    def library(self) -> Library:
        """Finding, revising and exporting memories."""
        from core.engine.library import Library

        return Library(self._slot.require_storage, self._slot.require_search)

    @shared_property
    def conflicts(self) -> Conflicts:
        """What waits for the person's review."""
        from core.engine.conflicts import Conflicts

        return Conflicts(self._slot.require_storage, self._slot.require_search, self.authority)

    @shared_property
    def conversations(self) -> Conversations:
        """The person's questions to a local model."""
        from core.engine.conversations import Conversations

        return Conversations(self._slot.require_vault, self.authority, self.memories, self._get_loop)

    @shared_property
    def clients(self) -> Clients:
        """Pairing, limits and revocation."""
        from core.engine.clients.clients import Clients

        return Clients(self._slot.require_vault, self.authority)

    @shared_property
    def subscriptions(self) -> ChangeSubscriptions:
        """What clients are told of changes."""
        from core.engine.clients.clients import ChangeSubscriptions

        return ChangeSubscriptions(self._slot.require_storage, self.authority)

    @shared_property
    def history(self) -> History:
        """Undo steps, imports and the audit."""
        from core.engine.vault.history import History

        return History(self._slot.require_vault, self.authority)

    @shared_property
    def seal(self) -> SealedMemories:
        """Memories under a key of their own."""
        from core.engine.vault.sealed_memories import SealedMemories

        return SealedMemories(self._slot, self._kdf_cost)

    @shared_property
    def devices(self) -> Devices:
        """Other devices of the person."""
        from core.engine.sync.group import Devices

        return Devices(self._slot, self.authority)

    @shared_property
    def erasures(self) -> Erasures:
        """Erasing for good, with a certificate."""
        from core.engine.vault.erasures import Erasures

        return Erasures(self._slot.require_vault)

    @shared_property
    def copies(self) -> KnownCopies:
        """Looking into backups and other copies in the home."""
        from core.engine.copy_viewer import KnownCopies

        return KnownCopies(self._slot.require_vault, lambda: self.seal.is_open)

    @shared_property
    def outcomes(self) -> Outcomes:
        """How procedures and rules did."""
        from core.engine.outcomes import Outcomes

        return Outcomes(self._slot.require_storage, self._slot.require_search, self.authority)

    @shared_property
    def client_changes(self) -> ClientChanges:
        """What clients change in memories that exist."""
        from core.engine.client_changes import ClientChanges

        return ClientChanges(
            self._slot.require_storage, self._slot.require_search, self.authority, self.library, self.outcomes
        )

    @shared_property
    def entities(self) -> Entities:
        """People, places and things."""
        from core.engine.views.entities import Entities

        return Entities(self._slot.require_storage, self.authority)

    @shared_property
    def sessions(self) -> Sessions:
        """What assistants are doing now."""
        from core.engine.sessions import Sessions

        return Sessions(self._slot.require_vault, self.authority)

    @shared_property
    def graph(self) -> Graph:
        """The relation graph."""
        from core.engine.views.graph import Graph

        return Graph(self._slot.require_storage, self._slot.require_search)

    @shared_property
    def timeline(self) -> Timeline:
        """Memories by time."""
        from core.engine.views.timeline import Timeline

        return Timeline(self._slot.require_storage, self._slot.require_search)

    @shared_property
    def palace(self) -> Palace:
        """The floor plan."""
        from core.engine.views.palace import Palace

        return Palace(self._slot.require_storage, self._slot.require_search)

    @shared_property
    def rehearsals(self) -> Rehearsals:
        """The walk along a wing's landmarks, and how well each is recalled."""
        from core.engine.views.rehearsals import Rehearsals

        return Rehearsals(self._slot.require_storage)

    @shared_property
    def recall_trials(self) -> RecallTrials:
        """Trial recalls, saved questions and the tuner."""
        from core.engine.recall.recall_trials import RecallTrials

        return RecallTrials(self._slot.require_storage, self._slot.require_search, self._flush, self.authority)

    @shared_property
    def jobs(self) -> JobsGroup:
        """Scheduled work, as the person sees it."""
        from core.engine.jobs.jobs import JobsGroup

        return JobsGroup(self._slot.require_vault, self.scheduler, self.settings)

    @shared_property
    def retention(self) -> Retention:
        """How long memories stay."""
        from core.engine.jobs.retention import Retention

        return Retention(self._slot.require_vault, self.settings)

    @shared_property
    def statements(self) -> StatementsGroup:
        """Statements of talk."""
        from core.engine.jobs.statement_runs import StatementsGroup

        return StatementsGroup(self._slot.require_vault, self.scheduler)

    @shared_property
    def maintenance(self) -> Maintenance:
        """Scheduled work, as a client asks for it."""
        from core.engine.jobs.jobs import Maintenance

        return Maintenance(self._slot.require_vault, self.authority, self.jobs, self.scheduler)
