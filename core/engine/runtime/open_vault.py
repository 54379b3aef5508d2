"""Everything that lives while the vault is open, its parts by what they give, and the slot that holds it.

Must not do: do the work of a part; whoever needs one part alone is given that part.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.config.options import Options
from core.engine.runtime.monitor import Load
from core.engine.runtime.progress import RunningImport
from core.engine.runtime.read_log import ReadLog
from core.engine.runtime.search import Search
from core.engine.runtime.shared_property import shared_property
from core.engine.runtime.storage import Storage, locked_error
from core.text.screening.injection import ScanLimitsHolder, limits_from_options
from core.types.belief import ModelServerState, ModelState

if TYPE_CHECKING:
    from core.lifecycle.job_support.job_context import TalkReader


@dataclass(frozen=True, slots=True)
class CachedCount:
    """A count with what it depends on, kept because counting is slow.

    Attributes:
        mark: how everything was that it depends on.
        rests_until: on the clock's monotonic seconds; until then it is not counted anew whatever changed.
    """

    count: int
    mark: tuple[object, ...]
    rests_until: float


@dataclass
class OpenVault:
    """The parts of an open vault, and what is known while it is open.

    Attributes:
        storage: the vault itself: reads, writes, verbs.
        search: the vector space that is searched, what embeds in it, and the options of recall.
        options: in force.
        read_log: what reads leave behind, until it is written.
        load: how busy the person and the machine are: last activity, recall latency, memory and battery.
        tidied_at: when what expired was last looked for, on the clock's monotonic seconds; None for never.
        model: what is known of a local model server.
        imports: what is being imported, by the id of the import.
        next_archived: how many memories a sweep would archive; None before anybody asked.
        limits: how much of a text is looked through.
        make_talk: gives what makes statements of what was said; None where there is no reader.
    """

    storage: Storage
    search: Search
    options: Options
    read_log: ReadLog
    load: Load
    log_handler: logging.Handler
    tidied_at: float | None = None
    model: ModelState = field(default_factory=lambda: ModelState(ModelServerState.ABSENT))
    imports: dict[str, RunningImport] = field(default_factory=dict)
    next_archived: CachedCount | None = None
    limits: ScanLimitsHolder = field(default_factory=ScanLimitsHolder)
    make_talk: Callable[[], TalkReader | None] = lambda: None

    def __post_init__(self) -> None:
        """How far texts are looked through follows from the options."""
        self.limits.set_limits(limits_from_options(self.options))

    @shared_property
    def talk(self) -> TalkReader | None:
        """Makes statements of what was said; None where there is no reader."""
        return self.make_talk()

    def use_options(self, chosen: Options) -> None:
        """Go by other options from here on; what is read at opening only (`needs_restart`) stays as it is."""
        self.options = chosen
        self.storage.work.undo_days = chosen.undo_days
        self.storage.work.client_waits = chosen.client_waits
        self.read_log.receipt_days = chosen.receipt_days
        self.load.resources.use_budget(chosen.memory_budget_mb)
        self.limits.set_limits(limits_from_options(chosen))


class VaultSlot:
    """Where the open vault is found, by whoever outlives it; one per engine.

    Attributes:
        vault: the open one; None while it is locked, and while it opens or closes.
    """

    def __init__(self) -> None:
        self.vault: OpenVault | None = None

    def require_vault(self) -> OpenVault:
        """The open vault.

        Raises:
            LociError: VAULT_LOCKED.
        """
        if self.vault is None:
            raise locked_error()
        return self.vault

    def require_storage(self) -> Storage:
        """The open vault's storage; raises as `require_vault`."""
        return self.require_vault().storage

    def require_search(self) -> Search:
        """The open vault's search; raises as `require_vault`."""
        return self.require_vault().search
