"""What cannot stand together, because two devices wrote it before they had met.

Every device decides alike, from the rows and their stamps alone, and stamps what it decided right behind the later of
the two, so that no order of delivery makes a difference and any later decision of the person counts more. Of equal
words the earlier memory stands and the other lies beneath it; of claims that exclude one another the earlier is
asserted and the other waits, both memories stand, and the person is asked. Must not do: weigh which of two is true.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from core.intake.claims import exclusive_rivals
from core.intake.sync.registers import TABLES, RowPresence, RowStamps, next_stamp
from core.intake.sync.stamps import latest_stamp, merge_stamps, read_stamps, write_stamps
from core.intake.transaction.sources import KINDS_BY_TEXT
from core.intake.transitions.review_items import ItemSubject, make_fingerprint
from core.types.values import Action, Kind
from core.vault.database.rows import to_json
from core.vault.database.tx import Tx

REASON = "two_devices"
"""Why the person is asked: a key of `resources/help/review.json`."""
DRAWN = "settled"
"""Why one of two items about the same is closed: likewise."""

# Two devices that gather the same memories make the same digest of them.
_BY_TEXT = frozenset({*(kind.value for kind in KINDS_BY_TEXT), Kind.DIGEST.value})
_TWIN = (
    "SELECT id FROM memories WHERE space_id = :space_id AND kind = :kind AND content_hash = :content_hash "
    "AND scope_session = :scope_session AND coalesce(part_of, '') = coalesce(:part_of, '') "
    "AND coalesce(part_index, 0) = coalesce(:part_index, 0) AND status IN ('active', 'disputed') AND id <> :id"
)
_SAME_CLAIM = (
    "SELECT id FROM claims WHERE space_id = :space_id AND claim_key = :claim_key "
    "AND state IN ('asserted', 'disputed') AND id <> :id"
)
_SAME_ITEM = (
    "SELECT id FROM conflicts WHERE coalesce(existing_id, '') = coalesce(:existing_id, '') "
    "AND incoming_id = :incoming_id AND kind = :kind AND state = 'open' AND id <> :id"
)
_SPEAKER = (
    "SELECT m.id FROM evidence e JOIN memories m ON m.id = e.memory_id WHERE e.claim_id = ? "
    "AND e.stance = 'supporting' ORDER BY m.status = 'active' DESC, m.recorded_at, m.id LIMIT 1"
)
_OTHER_SUCCESSORS = (
    "SELECT id FROM memories WHERE supersedes_id = ? AND id <> ? AND status IN ('active', 'disputed') "
    "AND coalesce(part_index, 0) = 0 ORDER BY id"
)
_ASKED = (
    "SELECT 1 FROM conflicts WHERE kind = 'contradiction' AND ((existing_id = :a AND incoming_id = :b) "
    "OR (existing_id = :b AND incoming_id = :a))"
)

_WAITING: Mapping[str, object] = {
    "state": "draft",
    "superseded_by_id": None,
    "asserted_at": None,
    "retired_at": None,
}

Row = Mapping[str, Any]


class Contests:
    """Puts rows into a state in which they may find others of which only one can be so."""

    def __init__(self, tx: Tx) -> None:
        """Work within the transaction that takes a bundle."""
        self._tx = tx
        self.opened = 0
        self.beneath = 0

    def settle_memory(self, memory_id: str, status: str) -> None:
        """Give a memory a status in which it stands.

        Args:
            status: `active` or `disputed`.
        """
        row = self._tx.row("memories", {"id": memory_id})
        if row is None:
            return
        twin = self._tx.one(_TWIN, row) if row["kind"] in _BY_TEXT else None
        if twin is None:
            self._tx.update("memories", {"id": memory_id}, {"status": status})
            return
        kept, lost = sorted((str(twin[0]), memory_id))
        self.beneath += 1
        self._stamp("memories", lost, ("standing", "version"), (kept, lost), f"beneath {kept}")
        beneath = {"status": "consolidated", "status_reason": "duplicate", "retired_at": None}
        self._tx.update("memories", {"id": lost}, {**beneath, "consolidated_into": kept})
        if kept == memory_id:
            self._tx.update("memories", {"id": kept}, {"status": status})

    def settle_claim(self, claim_id: str, state: str) -> None:
        """Give a claim a state in which it stands.

        Args:
            state: `asserted` or `disputed`.
        """
        row = self._tx.row("claims", {"id": claim_id})
        if row is None:
            return
        twin = self._tx.value(_SAME_CLAIM, row)
        if twin is not None:
            kept, lost = sorted((str(twin), claim_id))
            self._lay_claim_beneath(kept, lost)
            if lost == claim_id:
                return
        if state == "asserted" and not self._outlasts_rivals(row):
            return
        if self._tx.value(_SPEAKER, (claim_id,)) is None:  # its evidence went here, as with an erasure
            self._stamp("claims", claim_id, ("standing",), (claim_id, claim_id), "without evidence")
            self._tx.update("claims", {"id": claim_id}, {**_WAITING, "state": "retracted"})
            return
        self._tx.update("claims", {"id": claim_id}, {"state": state})

    def _lay_claim_beneath(self, kept: str, lost: str) -> None:
        """Of two claims that say the same one stands, with the evidence of both."""
        stamp = self._stamp("claims", lost, ("standing",), (kept, lost), f"beneath {kept}")
        self._tx.update("claims", {"id": lost}, {**_WAITING, "state": "retracted"})
        for (evidence_id,) in self._tx.all("SELECT id FROM evidence WHERE claim_id = ? ORDER BY id", (lost,)):
            own = self._tx.row("evidence", {"id": evidence_id}) or {}
            known = self._tx.one(
                "SELECT 1 FROM evidence WHERE claim_id = ? AND memory_id = ? AND start_at = ? AND end_at = ? "
                "AND stance = ?",
                (kept, own["memory_id"], own["start_at"], own["end_at"], own["stance"]),
            )
            copy = _derived_id("evidence", kept, evidence_id)
            if known is None and read_stamps(self._tx, TABLES["evidence"], copy) is None:
                self._tx.insert("evidence", {**own, "id": copy, "claim_id": kept})
                write_stamps(
                    self._tx, TABLES["evidence"], copy, RowStamps(RowPresence.PRESENT, stamp, {}), is_pending=True
                )

    def _outlasts_rivals(self, row: Row) -> bool:
        """Whether a claim is the one of those that exclude one another which is asserted."""
        claims = [row]
        for rival in exclusive_rivals(self._tx, row):
            found = self._tx.row("claims", {"id": rival})
            if found is not None:
                claims.append(found)
        first = min(claims, key=_age)
        for other in claims:
            if other is not first:
                self._let_claim_wait(first, other)
        return first is row

    def _let_claim_wait(self, first: Row, other: Row) -> None:
        self._stamp("claims", str(other["id"]), ("standing",), (str(first["id"]), str(other["id"])), "waits")
        self._tx.update("claims", {"id": other["id"]}, _WAITING)
        sides = [self._tx.value(_SPEAKER, (one["id"],)) for one in (first, other)]
        if None not in sides and sides[0] != sides[1]:
            self._ask("claims", str(sides[0]), str(sides[1]), (str(first["id"]), str(other["id"])),
                      (bytes(first["claim_key"]), bytes(other["claim_key"])))  # fmt: skip

    def compare_successors(self, memory_id: str) -> None:
        """Ask about a memory that took the place of one whose place another device gave to another memory."""
        row = self._tx.row("memories", {"id": memory_id})
        if row is None or row["supersedes_id"] is None or row["part_index"] or row["status"] != "active":
            return
        for (other,) in self._tx.all(_OTHER_SUCCESSORS, (row["supersedes_id"], memory_id)):
            theirs, ours = (read_stamps(self._tx, TABLES["memories"], one) for one in (memory_id, str(other)))
            if theirs is None or ours is None or theirs.born[16:] == ours.born[16:]:
                continue  # one device wrote both, and knew what it did
            rows = [row, self._tx.row("memories", {"id": other}) or row]
            existing, incoming = (str(one["id"]) for one in sorted(rows, key=_age))
            self._ask("memories", existing, incoming, (existing, incoming), ())

    def _ask(self, table: str, existing: str, incoming: str, sides: tuple[str, str], keys: tuple[bytes, ...]) -> None:
        """Open an item about two memories; every device opens the same one."""
        if self._tx.one(_ASKED, {"a": existing, "b": incoming}) is not None:
            return
        item = _derived_id("conflict", existing, incoming)
        rows = [self._tx.row("memories", {"id": one}) for one in (existing, incoming)]
        old, new = rows
        if old is None or new is None or read_stamps(self._tx, TABLES["conflicts"], item) is not None:
            return
        if old["space_id"] != new["space_id"] and "GLOBAL" not in (old["space_id"], new["space_id"]):
            return
        matter = ItemSubject("contradiction", incoming, existing, REASON, Action.SUPERSEDE, keys=keys)
        space = new["space_id"] if new["space_id"] != "GLOBAL" else old["space_id"]
        found = [read_stamps(self._tx, TABLES[table], one) for one in sides]
        stamp = next_stamp([latest_stamp(found) or "0" * 32], f"asked {table}")
        self._tx.insert(
            "conflicts",
            {
                "id": item,
                "kind": matter.kind,
                "existing_id": existing,
                "incoming_id": incoming,
                "space_id": space,
                "reason": REASON,
                "suggestion": Action.SUPERSEDE.value,
                "opened_at": max(old["recorded_at"], new["recorded_at"]),
                "fingerprint": make_fingerprint(self._tx, matter),
                "detail": to_json({"by": "rules"}),
            },
        )
        write_stamps(self._tx, TABLES["conflicts"], item, RowStamps(RowPresence.PRESENT, stamp, {}), is_pending=True)
        self.opened += 1

    def settle_item(self, item_id: str, state: str) -> None:
        """Give an item of the review a state in which it waits; of two about the same the earlier id goes on waiting.

        Args:
            state: `open`.
        """
        row = self._tx.row("conflicts", {"id": item_id})
        if row is None:
            return
        twin = self._tx.value(_SAME_ITEM, row)
        if twin is not None:
            kept, lost = sorted((str(twin), item_id))
            self._stamp("conflicts", lost, ("standing",), (kept, lost), f"drawn {kept}")
            at = max(
                int(self._tx.value("SELECT opened_at FROM conflicts WHERE id = ?", (one,))) for one in (kept, lost)
            )
            drawn = {"state": "moot", "resolution": None, "note": DRAWN, "closed_at": at}
            self._tx.update("conflicts", {"id": lost}, drawn)
            if lost == item_id:
                return
        self._tx.update("conflicts", {"id": item_id}, {"state": state})

    def _stamp(self, table: str, key: str, registers: tuple[str, ...], sides: tuple[str, str], decision: str) -> str:
        """Stamp registers of one of two rows right behind the later write of these registers in either."""
        known = TABLES[table]
        found = [(one, read_stamps(self._tx, known, one)) for one in sides]
        before = [one.stamp_of(name) for _, one in found if one is not None for name in registers]
        stamp = next_stamp(before, decision)
        own = dict(found)[key]
        if own is not None:
            merge_stamps(self._tx, known, key, own, dict.fromkeys(registers, stamp), is_pending=True)
        return stamp


def _age(row: Row) -> tuple[int, str]:
    return int(row["recorded_at"]), str(row["id"])


def _derived_id(kind: str, *parts: str) -> str:
    """An id that every device makes of the same rows; in the form of any other."""
    digest = hashlib.sha256("\0".join((f"loci-sync-{kind}", *parts)).encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-7{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"
