"""Which episodes the built-in reader has still to read: a conversation at a time, in order, with what was said before.

Read are episodes that stand, imported ones too: what is made of them goes with them. Left
out are what is limited to a session, is not cleartext, or is suspected of carrying instructions. An episode is read
again where its text or the reader has changed, and by itself never after the person took back what was made of it. Must
not do: read a text, or write anything.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.intake.transaction.sources import Lineage
from core.lifecycle.distill.model_queue import EpisodeRow
from core.memory.read import read_occurred
from core.talk.style.gender import find_genders
from core.talk.turns import is_label, normalize_speaker
from core.types.talk import Turn
from core.types.values import Role, Source
from core.vault.database.rows import Rows
from core.vault.memory_sql import readable_sql

READ_AT_ONCE = 300
"""Episodes of one conversation that are read together."""
READ_BEFORE = 12
"""Episodes before them that are read with them, so that a pronoun finds whom it means."""

_BY_HAND, _IMPORT, _FROM_LABEL = "by_hand", "import_id", "n"
_UNDONE = (
    "SELECT json_extract(r.row_key, '$.memory_id') AS id FROM undo_steps s CROSS JOIN undo_rows r ON r.step_id = s.id "
    "WHERE s.verb = 'distill' AND s.undone_by IS NOT NULL AND r.tbl = 'readings'"
)
_READABLE = (
    "m.kind = 'episode' AND +m.status = 'active' AND m.scope_session = '' AND " + readable_sql() + " "  # noqa: S608 - constants only
    "AND NOT EXISTS (SELECT 1 FROM conflicts x WHERE x.incoming_id = m.id AND x.kind = 'injection' "
    "AND x.state = 'open')"
)
_WAITS = (
    "(r.memory_id IS NULL OR (r.content_hash <> m.content_hash OR r.version <> :version) "
    # Taken back so long ago that the step that told so has expired (`core.lifecycle.job_support.job_store`).
    "AND (r.version <> 'taken_back' OR :by_hand)) "
    "AND (:by_hand OR m.id NOT IN (SELECT id FROM undone WHERE id IS NOT NULL)) "
    "AND m.id NOT IN (SELECT value FROM json_each(:looked))"
)
_FROM = f"FROM memories m LEFT JOIN readings r ON r.memory_id = m.id WHERE {_READABLE}"
_WITH = f"WITH undone AS MATERIALIZED ({_UNDONE}) "
_IN_SCOPE = "AND (:import_id IS NULL OR m.import_id = :import_id)"
_COUNT = f"{_WITH}SELECT count(*) {_FROM} AND {_WAITS} {_IN_SCOPE}"
_FIRST = (
    f"{_WITH}SELECT m.n, m.conversation_id, m.space_id, m.client_id, m.import_id, m.session {_FROM} AND {_WAITS} "
    f"{_IN_SCOPE} AND m.n >= :after ORDER BY m.n LIMIT 1"
)
# A talk is a conversation, or what came by one way into one space. Parts of a split text follow its head.
_SAME_TALK = (
    "((:talk IS NOT NULL AND m.conversation_id = :talk) OR (:talk IS NULL AND m.conversation_id IS NULL "
    "AND m.space_id = :space AND m.client_id IS :client AND m.import_id IS :brought AND m.session IS :session "
    "AND m.n BETWEEN :first - 2000 AND :first + 2000))"
)
_COLUMNS = (
    "m.id, m.text, m.content_hash, m.space_id, m.client_id, m.lineage, m.session, m.import_id, "
    "m.source, m.role, m.author, m.trust, m.ref, m.category, m.occurred_at, m.occurred_prec, m.occurred_offset, m.n, "
)
_MOST_OF_IMPORT = 20_000
"""Episodes of an import in which a sign of somebody's gender is looked for, the first."""
_OF_IMPORT = (
    f"SELECT m.id, m.conversation_id, m.author, m.text FROM memories m WHERE {_READABLE} "  # noqa: S608 - constants only
    "AND m.import_id = ? AND m.space_id = ? AND m.author IS NOT NULL ORDER BY m.n LIMIT ?"
)
_THESE = f"SELECT {_COLUMNS} 1 FROM json_each(?) w JOIN memories m ON m.id = w.value"  # noqa: S608 - constants only
_TALK = f"{_WITH}SELECT {_COLUMNS} {_WAITS} {_FROM} AND {_SAME_TALK} ORDER BY coalesce(m.position, 0), m.n"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedEpisode(EpisodeRow):
    """An episode in the queue of the reader model, with what its statements inherit from it.

    Attributes:
        author: who speaks, where the source says; "" elsewhere.
        waits: whether it is to be read; the others are there for what they say before it.
        gender: of who speaks, where another talk of its import tells it.
    """

    content_hash: bytes
    import_id: str | None
    source: Source
    author: str
    ref: str | None
    category: str
    label: int
    waits: bool
    gender: str = ""

    @property
    def turn(self) -> Turn:
        """All of it as one turn."""
        said_ms = None if self.said is None else self.said.ms
        is_assistant = self.role in (Role.ASSISTANT, Role.TOOL)
        author = "" if is_label(self.author) else self.author  # a file is nobody
        return Turn(self.id, author, self.text, 0, said_ms, self.role is Role.USER, is_assistant, self.gender)


@dataclass(frozen=True, slots=True)
class TalkScope:
    """What a run reads.

    Attributes:
        version: of the reader.
        import_id: one import alone; None for all.
        by_hand: whether the person asked for it: then what was taken back is read again, too.
        after: the label from which on it looks.
    """

    version: str
    import_id: str | None = None
    by_hand: bool = False
    after: int = 0

    @classmethod
    def from_cursor(cls, version: str, cursor: Mapping[str, Any]) -> TalkScope:
        """The scope of a run that goes on."""
        found = cursor.get(_IMPORT)
        return cls(
            version,
            None if found is None else str(found),
            bool(cursor.get(_BY_HAND)),
            int(cursor.get(_FROM_LABEL, 0)),
        )

    def to_cursor(self) -> dict[str, Any]:
        """What is kept with the job."""
        return {_IMPORT: self.import_id, _BY_HAND: self.by_hand, _FROM_LABEL: self.after}

    @property
    def params(self) -> dict[str, object]:
        """Of the statements."""
        return {"version": self.version, "import_id": self.import_id, "by_hand": int(self.by_hand), "after": self.after}


def is_limited(cursor: Mapping[str, Any]) -> bool:
    """Whether a run is about one import alone: then nobody but the reader is asked."""
    return cursor.get(_IMPORT) is not None


@dataclass(frozen=True, slots=True)
class WaitingTalk:
    """A talk of which something waits.

    Attributes:
        first_label: of the first episode of all that waits.
        episodes: at most `READ_BEFORE` that are read already, then at most `READ_AT_ONCE` from the first on that waits.
    """

    first_label: int
    episodes: tuple[QueuedEpisode, ...]


def read_genders(rows: Rows, episode: QueuedEpisode) -> Mapping[str, str]:
    """Who speaks in the talks of an episode's import, folded, to `f` or `m`, where those talks tell it.

    Args:
        episode: of one of them; what came by no import tells nothing.
    """
    if episode.import_id is None:
        return {}
    talks: dict[str, list[Turn]] = {}
    for memory_id, talk, author, text in rows.all(_OF_IMPORT, (episode.import_id, episode.space_id, _MOST_OF_IMPORT)):
        if not is_label(author):
            talks.setdefault(str(talk), []).append(Turn(str(memory_id), normalize_speaker(str(author)), str(text)))
    signs: dict[str, set[str]] = {}
    for turns in talks.values():
        for name, gender in find_genders(turns).items():
            signs.setdefault(name, set()).add(gender)
    return {name: next(iter(found)) for name, found in signs.items() if len(found) == 1}


def count_waiting(rows: Rows, scope: TalkScope) -> int:
    """How many episodes wait to be read."""
    params = {**scope.params, "looked": "[]"}
    del params["after"]
    return int(rows.value(_COUNT, params))


def next_talk(rows: Rows, scope: TalkScope, looked: Collection[str] = ()) -> WaitingTalk | None:
    """What is read next: the talk of the first episode that waits, in the order in which it was said.

    Args:
        looked: episodes that were looked at without being marked.

    Returns:
        None where nothing waits.
    """
    seen = json.dumps(sorted(looked))
    first = rows.one(_FIRST, {**scope.params, "looked": seen})
    if first is None:
        return None
    label, talk, space, client, brought, session = first
    within = {"talk": talk, "space": space, "client": client, "brought": brought, "session": session, "first": label}
    params = {"version": scope.version, "by_hand": int(scope.by_hand), "looked": seen, **within}
    found = [_episode_from_row(row) for row in rows.all(_TALK, params)]
    begin = next(place for place, one in enumerate(found) if one.waits)
    return WaitingTalk(int(label), tuple(found[max(0, begin - READ_BEFORE) : begin + READ_AT_ONCE]))


def read_episodes(rows: Rows, ids: Sequence[str]) -> tuple[QueuedEpisode, ...]:
    """Episodes as statements inherit from them, in the order given; those that are gone are left out."""
    found = {one.id: one for one in map(_episode_from_row, rows.all(_THESE, (json.dumps(list(ids)),)))}
    return tuple(found[one] for one in ids if one in found)


def _episode_from_row(row: Sequence[Any]) -> QueuedEpisode:
    (memory_id, text, digest, space, client, lineage, session, brought, source, role, author, trust, ref, category, at,
     precision, offset, label, waits) = row  # fmt: skip
    return QueuedEpisode(
        id=str(memory_id),
        text=str(text),
        content_hash=bytes(digest),
        space_id=str(space),
        client_id=client,
        lineage=Lineage(str(lineage), client, session, brought),
        import_id=brought,
        source=Source(source),
        role=Role(role),
        author=author or "",
        trust=float(trust),
        ref=ref,
        category=str(category),
        said=read_occurred(at, precision, offset),
        label=int(label),
        waits=bool(waits),
    )
