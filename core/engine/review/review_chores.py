"""What the engine does at the desk by itself: close what is no question any more, and decide what a rule decides.

Must not do: look twice at an unchanged vault, or hold the writer for more than one small batch.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.engine.runtime.open_vault import OpenVault
from core.intake.review import decision_rules
from core.intake.review import expiry as lapsing
from core.intake.review.resolution import Resolver
from core.types.reviews import Decision
from core.types.values import Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

SCHEDULER = Actor(kind="scheduler", name="desk")
_RULED_AT_ONCE = 50
_DAY_S = 86_400.0
_TURN_S = 5.0
_PAUSE_S = 5.0


def make_resolver(opened: OpenVault) -> Resolver:
    """The resolver of an open vault.

    Returns:
        The resolver.
    """
    store_service = opened.store_service
    return Resolver(opened.make_id, opened.work, opened.search.space, store_service.admit, store_service.read_anew)


@dataclass
class ReviewChores:
    """Runs the review's chores for one open vault after another.

    Attributes:
        vault: the open vault that was looked at last.
        seq: its sequence then.
        looked_at: when the desk was last looked at, on the clock's monotonic seconds; `expiry_at` for what expires.
    """

    vault: OpenVault | None = None
    seq: int = -1
    looked_at: float | None = None
    expiry_at: float | None = None

    def tend(self, opened: OpenVault) -> None:
        """Look at the desk if anything changed since the last time.

        Raises:
            LociError: what the vault said.
        """
        if self.vault is not opened:
            self.vault, self.seq, self.looked_at, self.expiry_at = opened, -1, None, None
        at = opened.clock.monotonic()
        if self.looked_at is not None and at - self.looked_at < _PAUSE_S:
            return
        self.looked_at = at
        expiry = self.expiry_at is None or at - self.expiry_at >= _DAY_S
        seq, closing, ruling = opened.vault.read(lambda rows: self._look(rows, opened.clock.now_ms(), expiry=expiry))
        if not closing and not ruling:
            self._looked(seq, at, expiry=expiry)
            return
        try:
            opened.write(lambda tx: run_review_chores(tx, opened, expiry=expiry), background=True).result(_TURN_S)
        except TimeoutError:
            return  # behind something long in the queue: it is done in its turn
        self._looked(seq, at, expiry=expiry)

    def _look(self, rows: Rows, now_ms: int, *, expiry: bool) -> tuple[int, bool, bool]:
        seq = int(rows.value("SELECT seq FROM vault_state"))
        if seq == self.seq and not expiry:
            return seq, False, False
        return seq, lapsing.has_stale(rows, now_ms, expiry=expiry), decision_rules.has_due_rules(rows)

    def _looked(self, seq: int, at: float, *, expiry: bool) -> None:
        self.seq = seq
        if expiry:
            self.expiry_at = at


def run_review_chores(tx: Tx, opened: OpenVault, *, expiry: bool) -> int:
    """Close what closes by itself, and let rules decide what they decide.

    Args:
        expiry: whether to close what expired too.

    Returns:
        How many items changed.
    """
    changed = lapsing.revalidate(tx, expiry=expiry)
    for due in decision_rules.find_due(tx, _RULED_AT_ONCE):
        done = make_resolver(opened).resolve_many(
            tx, due.items, Decision(due.action), SCHEDULER, None, opened.search.add_vectors, rule=due.rule_id
        )
        decision_rules.mark_seen(tx, due.items)
        changed += len(due.items) - len(done.refused)
    if changed:
        opened.announce_after(tx, "review", (), SCHEDULER)
    return changed
