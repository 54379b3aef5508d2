"""Which episodes a model has still to read: by space and client, marked when they were read, left when that fails.

Only live episodes that stand give facts and rules: what a client noted or the person wrote. Imported ones are read for
statements alone, which go with their import; a fact that rests on one would not.
Left out too: what is limited to a session, is not cleartext, or is suspected of carrying instructions; and what was
read in a run that the person took back, so that it is not read into the vault again. Must not do: ask a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import Code
from core.intake.transaction.sources import Lineage
from core.llm.distillate import MOST_FACTS, MOST_RULES, ShownMemory
from core.memory.read import read_occurred
from core.types.values import Kind, Role, When
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx, without_recorder

TRIES = 3
"""After so many bad answers an episode is left (`count_dead`) until a person asks for it again."""

_AT_ONCE = (20, 5, 1)
"""Episodes of one question, by failures of both kinds: what makes a group fail is alone at last."""

_FIRST_PAUSE_MS = 3_600_000
_FROM = (
    "WITH undone AS MATERIALIZED (SELECT json_extract(r.row_key, '$.memory_id') AS id FROM undo_steps s "
    "CROSS JOIN undo_rows r ON r.step_id = s.id WHERE s.undone_by IS NOT NULL AND r.tbl = 'distilled') {what} "
    "FROM memories m LEFT JOIN distilled d ON d.memory_id = m.id "
    "WHERE m.kind = 'episode' AND m.status = 'active' AND (:talks OR m.import_id IS NULL) AND m.scope_session = '' "
    "AND m.security_tier = 'cleartext' AND m.id NOT IN (SELECT id FROM undone WHERE id IS NOT NULL) "
    "AND NOT EXISTS (SELECT 1 FROM conflicts x WHERE x.incoming_id = m.id AND x.kind = 'injection' "
    "AND x.state = 'open') "
    "AND (d.state IS NULL OR (d.state = 'failed' AND d.at + :pause * "
    "(1 << (2 * (min(d.attempts + d.failures, :smallest) - 1))) <= :now)) "
)
_COUNT = _FROM.format(what="SELECT count(*)")
_FIRST = _FROM.format(
    what="SELECT m.space_id, m.client_id, coalesce(d.attempts, 0), coalesce(d.failures, 0), m.import_id, "
    "m.conversation_id"
) + ("ORDER BY m.recorded_at, m.n LIMIT 1")
_COLUMNS = (
    "SELECT m.id, m.text, m.space_id, m.client_id, m.lineage, m.session, m.role, m.trust, "
    "m.occurred_at, m.occurred_prec, m.occurred_offset, m.recorded_at, "
    "coalesce(d.attempts, 0), coalesce(d.failures, 0) "
)
_NEXT = _FROM.format(what=_COLUMNS) + (
    "AND m.space_id = :space AND m.client_id IS :client AND coalesce(d.attempts, 0) = :attempts "
    "AND coalesce(d.failures, 0) = :failures AND m.import_id IS :brought "
    "AND (NOT :talks OR m.conversation_id IS :talk) "
    "ORDER BY m.recorded_at, m.n LIMIT :most"
)
_KNOWN = (
    "SELECT m.n, m.id, m.text FROM memories m WHERE m.space_id = ? AND m.kind = ? AND m.status = 'active' "
    "AND m.scope_session = '' AND m.security_tier = 'cleartext' AND m.part_of IS NULL "
)
_NEWEST = _KNOWN + "ORDER BY m.recorded_at DESC, m.n DESC LIMIT ?"
_AMONG = _KNOWN + "AND m.n IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRow:
    """An episode, as far as whatever reads it needs it.

    Attributes:
        role: whose words it is; only in the person's own "I" is the person.
        trust: 0 to 1.
        said: when it was said or happened; None where unknown.
    """

    id: str
    text: str
    space_id: str
    client_id: str | None
    lineage: Lineage
    role: Role
    trust: float
    said: When | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(EpisodeRow):
    """An episode as a model reads it.

    Attributes:
        recorded_at: when it was stored, epoch ms.
        attempts: answers that could not be used.
        failures: how often the server failed.
    """

    recorded_at: int
    attempts: int
    failures: int

    @property
    def prompt_memory(self) -> ShownMemory:
        """As a model is shown it."""
        return ShownMemory(self.id, self.text, None if self.said is None else self.said.ms)

    @property
    def order(self) -> tuple[int, str]:
        """Among episodes: when it was said, else stored; then the id."""
        return (self.recorded_at if self.said is None else self.said.ms, self.id)


def count_backlog(rows: Rows, now_ms: int, *, is_by_talk: bool = False) -> int:
    """How many episodes wait to be read now.

    Args:
        now_ms: the time; one that failed waits an hour, then four.
        is_by_talk: whether statements are asked for: then imported ones count, too.
    """
    return int(rows.value(_COUNT, _queue_parameters(now_ms, is_by_talk=is_by_talk)))


def count_dead(rows: Rows) -> int:
    """How many episodes were left after `TRIES` bad answers."""
    return int(rows.value("SELECT count(*) FROM distilled WHERE state = 'dead'"))


def next_episodes(rows: Rows, now_ms: int, *, is_by_talk: bool = False) -> tuple[Episode, ...]:
    """The episodes that are read next: of one space and client, the oldest first.

    Args:
        is_by_talk: whether statements are asked for: then of one conversation, and of imported ones, too.

    Returns:
        At most twenty; of what failed before fewer; empty where nothing waits.
    """
    values = _queue_parameters(now_ms, is_by_talk=is_by_talk)
    first = rows.one(_FIRST, values)
    if first is None:
        return ()
    space, client, attempts, failures, brought, talk = first
    most = _AT_ONCE[min(int(attempts) + int(failures), len(_AT_ONCE) - 1)]
    kin = {"space": space, "client": client, "attempts": attempts, "failures": failures}
    wanted = {**values, **kin, "brought": brought, "talk": talk, "most": most}
    return tuple(_episode_from_row(row) for row in rows.all(_NEXT, wanted))


def read_known_facts(rows: Rows, space_id: str, kind: Kind, near: Sequence[int] = ()) -> tuple[ShownMemory, ...]:
    """What is known in a space, for a model that shall not say it again.

    Args:
        kind: fact or rule.
        near: labels of memories that come first.

    Returns:
        Those first, in the order given, then the newest; as many as are shown at most.
    """
    most = MOST_FACTS if kind is Kind.FACT else MOST_RULES
    order = {label: place for place, label in enumerate(near)}
    first = rows.all(_AMONG, (space_id, kind.value, to_json(list(near)))) if near else []
    newest = rows.all(_NEWEST, (space_id, kind.value, most))
    found = [*sorted(first, key=lambda row: order[row[0]]), *newest]
    return tuple(dict.fromkeys(ShownMemory(str(memory_id), str(text)) for _, memory_id, text in found))[:most]


def find_unchanged(rows: Rows, episodes: Sequence[Episode]) -> frozenset[str]:
    """Which episodes stand as they were read.

    Args:
        episodes: as a model read them.

    Returns:
        Ids; one that was forgotten, erased or changed meanwhile backs nothing.
    """
    found = dict(
        rows.all(
            "SELECT m.id, m.text FROM json_each(?) w JOIN memories m ON m.id = w.value WHERE m.status = 'active'",
            (to_json([one.id for one in episodes]),),
        )
    )
    return frozenset(one.id for one in episodes if found.get(one.id) == one.text)


def mark_done(tx: Tx, ids: Iterable[str]) -> None:
    """Note that episodes were read; part of the run's undo step.

    Args:
        tx: the run's transaction.
    """
    for memory_id in ids:
        _write_distilled(tx, memory_id, {"state": "done", "code": None})
        # Without such a row `distilled` alone tells it: a row more would keep its storing from being undone.
        # So would a change of what an import has written.
        if tx.value("SELECT import_id FROM memories WHERE id = ?", (memory_id,)) is None:
            tx.update("episodes", {"memory_id": memory_id}, {"consolidated_at": tx.now_ms})


def mark_failed(
    tx: Tx, episodes: Sequence[Episode], code: str, *, for_good: bool = False, is_patient: bool = False
) -> int:
    """Note that reading episodes failed; that changed nothing, so it is no part of an undo step.

    Args:
        code: why, an E-code.
        for_good: whether trying again is no use.
        is_patient: whether it was the server that failed, and no text: they wait, at last each alone so that none
            holds up another, and are never left for it.

    Returns:
        How many are dead from here on.
    """
    gone = 0
    with without_recorder(tx):
        for one in episodes:
            attempts, failures = one.attempts + (not is_patient), one.failures + is_patient
            is_dead = for_good or attempts >= TRIES
            counts = {"attempts": attempts, "failures": min(failures, len(_AT_ONCE) - 1)}
            _write_distilled(tx, one.id, {"state": "dead" if is_dead else "failed", **counts, "code": code})
            gone += is_dead
    return gone


def revive_episodes(tx: Tx, ids: Sequence[str]) -> int:
    """Let dead episodes be read again.

    Args:
        ids: episodes; those that are not dead are passed over.
    """
    count = 0
    with without_recorder(tx):
        for memory_id in dict.fromkeys(ids):
            row = tx.row("distilled", {"memory_id": memory_id})
            if row is not None and row["state"] == "dead":
                count += tx.delete("distilled", {"memory_id": memory_id})
    return count


def revive_all_episodes(tx: Tx) -> int:
    """Let every dead episode be read again for which that is of use: not those that fit into no question."""
    found = tx.all(
        "SELECT memory_id FROM distilled WHERE state = 'dead' AND coalesce(code, '') <> ? ORDER BY memory_id",
        (Code.TEXT_TOO_LARGE.value,),
    )
    return revive_episodes(tx, [str(row[0]) for row in found])


def _write_distilled(tx: Tx, memory_id: str, changes: Mapping[str, object]) -> None:
    key = {"memory_id": memory_id}
    if not tx.update("distilled", key, {**changes, "at": tx.now_ms}):
        tx.insert("distilled", {**key, **changes, "at": tx.now_ms})


def _queue_parameters(now_ms: int, *, is_by_talk: bool = False) -> dict[str, object]:
    return {"now": now_ms, "pause": _FIRST_PAUSE_MS, "smallest": len(_AT_ONCE) - 1, "talks": int(is_by_talk)}


def _episode_from_row(row: Sequence[object]) -> Episode:
    memory_id, text, space, client, lineage, session, role, trust, at, precision, offset, recorded = row[:12]
    whose = None if client is None else str(client)
    within = None if session is None else str(session)
    return Episode(
        id=str(memory_id),
        text=str(text),
        space_id=str(space),
        client_id=whose,
        lineage=Lineage(str(lineage), whose, within),
        role=Role(str(role)),
        trust=float(str(trust)),
        said=read_occurred(
            None if at is None else int(str(at)),
            None if precision is None else str(precision),
            None if offset is None else int(str(offset)),
        ),
        recorded_at=int(str(recorded)),
        attempts=int(str(row[12])),
        failures=int(str(row[13])),
    )
