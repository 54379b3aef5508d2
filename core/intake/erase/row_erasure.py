"""What goes with a memory that is erased for good, and taking every row of it away, mending what pointed at them.

A memory goes with all parts of a split text and with what lies beneath it: the originals it was united from, and what
was stacked under it as the same in other words. A text that was made of it (a digest, a united text, a fact distilled
from it) quotes it, so it goes too; what else that text was made of stands again. Whatever refers to a memory goes with
it, whichever table it is in; a row that stays and pointed at one that goes points past it, or nowhere. What was removed
and what was mended is remembered, so that images of undo can follow. Must not do: record anything for an undo.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import Code, UserError
from core.intake.review.approvals import requests_about
from core.memory.write import refresh_terms, remove_derived
from core.text.room_names import TEXTS, RoomTexts, name_by_title, name_rooms, speakers_in_name
from core.text.terms import fold_case, fold_width
from core.vault.database.rows import Rows, image_hash, image_to_json, to_json, without_volatile_columns
from core.vault.database.tx import Tx

ASKED, VERSION, BENEATH, MADE = "asked", "version", "beneath", "made_of_it"
"""Why a memory goes: the person named it; it is of its chain; it lies beneath one that goes; it was made of one."""

_OF = "IN (SELECT value FROM json_each(?))"
_PARTS = f"SELECT p.id FROM memories m JOIN memories p ON p.part_of = m.part_of WHERE m.id {_OF} ORDER BY p.n"  # noqa: S608
_FIRST_PARTS = f"SELECT id FROM memories WHERE id {_OF} AND coalesce(part_index, 0) = 0 ORDER BY n"  # noqa: S608
_CHAIN = f"SELECT id FROM memories WHERE chain_id IN (SELECT chain_id FROM memories WHERE id {_OF}) ORDER BY n"  # noqa: S608
_BENEATH = (
    "SELECT b.id FROM memories b JOIN memories m ON m.id = b.consolidated_into "  # noqa: S608 - constants
    f"WHERE m.id {_OF} AND m.kind <> 'digest' UNION ALL "
    f"SELECT id FROM memories WHERE superseded_by_id {_OF} AND status_reason = 'merged'"
)
_STACKED = (
    "SELECT b.id FROM memories b JOIN memories m ON m.id = b.consolidated_into "  # noqa: S608 - constants
    f"WHERE m.id {_OF} AND m.kind <> 'digest'"
)
_MADE = (
    f"SELECT derived_id FROM derivations WHERE source_id {_OF} UNION "  # noqa: S608 - constants
    "SELECT superseded_by_id FROM memories "
    f"WHERE id {_OF} AND status_reason = 'merged' AND superseded_by_id IS NOT NULL"
)
# A plus keeps the index of the status out of it: it leads through a good part of the vault, for each memory once.
_SOURCES = (
    "SELECT s.id FROM memories s JOIN memories d ON d.id = s.consolidated_into "  # noqa: S608 - constants
    f"WHERE d.id {_OF} AND d.kind = 'digest' AND +s.status = 'consolidated' UNION "
    f"SELECT id FROM memories WHERE superseded_by_id {_OF} AND status_reason = 'merged' AND +status = 'superseded'"
)


@dataclass(frozen=True, slots=True)
class ErasureScope:
    """Every memory that an erasure reaches, and why.

    Attributes:
        why: every memory that goes, with the reason; parts of split texts among them.
        back: heads of memories that stand again because the text they went into goes.
        over: other versions of the same chains, which stay.
    """

    why: dict[str, str] = field(default_factory=dict)
    back: tuple[str, ...] = ()
    over: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """All memories that go."""
        return tuple(self.why)


def erasure_scope_of(rows: Rows, ids: Sequence[str], *, whole_chain: bool) -> ErasureScope:
    """Find every memory that an erasure takes along.

    Args:
        ids: the memories that were named.
        whole_chain: whether all versions of their chains go too.

    Returns:
        What goes, why, and what comes back.

    Raises:
        UserError: NOT_FOUND; one of them is not there.
    """
    wanted = list(dict.fromkeys(ids))
    if len(_select_ids(rows, f"SELECT id FROM memories WHERE id {_OF}", wanted)) != len(wanted):  # noqa: S608 - constant
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    why = dict.fromkeys(add_other_parts(rows, wanted), ASKED)
    chain = _select_ids(rows, _CHAIN, list(why))
    if whole_chain:
        why = {**dict.fromkeys(chain, VERSION), **why}
    _add_reached(rows, why, _BENEATH, BENEATH)
    made: dict[str, str] = {}
    _add_derived(rows, why, made)
    erased = {**made, **why}
    again = [one for one in _select_ids(rows, _SOURCES, list(erased)) if one not in erased]
    return ErasureScope(
        erased, tuple(_select_ids(rows, _FIRST_PARTS, again)), tuple(one for one in chain if one not in erased)
    )


def _add_derived(rows: Rows, why: dict[str, str], made: dict[str, str]) -> None:
    """Texts made of what goes, texts made of those, and what says the same beneath them."""
    fresh: Collection[str] = list(why)
    while fresh:
        found = add_other_parts(rows, _select_ids(rows, _MADE, fresh))
        found += add_other_parts(rows, _select_ids(rows, _STACKED, found))
        fresh = [one for one in dict.fromkeys(found) if one not in why and one not in made]
        made.update(dict.fromkeys(fresh, MADE))


def _add_reached(rows: Rows, why: dict[str, str], sql: str, reason: str) -> None:
    fresh: Collection[str] = list(why)
    while fresh:
        found = add_other_parts(rows, _select_ids(rows, sql, fresh))
        fresh = [one for one in dict.fromkeys(found) if one not in why]
        why.update(dict.fromkeys(fresh, reason))


def add_other_parts(rows: Rows, ids: Iterable[str]) -> list[str]:
    """The memories with all other parts of a split text."""
    own = list(ids)
    return list(dict.fromkeys([*own, *_select_ids(rows, _PARTS, own)]))


def _select_ids(rows: Rows, sql: str, ids: Collection[str]) -> list[str]:
    wanted = to_json(list(ids))
    return [str(row[0]) for row in rows.all(sql, (wanted,) * sql.count("?"))]


REFERRING = (
    ("accesses", "memory_id", "memory_id, session"),
    ("conflicts", "existing_id", "id"),
    ("conflicts", "incoming_id", "id"),
    ("derivations", "derived_id", "derived_id, source_id"),
    ("derivations", "source_id", "derived_id, source_id"),
    ("distilled", "memory_id", "memory_id"),
    ("edges", "from_id", "id"),
    ("edges", "to_id", "id"),
    ("episodes", "memory_id", "memory_id"),
    ("evidence", "memory_id", "id"),
    ("fading", "memory_id", "memory_id"),
    ("feedback", "memory_id", "id"),
    ("file_views", "memory_id", "id"),
    ("files", "memory_id", "id"),
    ("fingerprints", "memory_id", "identity"),
    ("gaps", "memory_id", "id"),
    ("gaps", "other_id", "id"),
    ("handed", "memory_id", "client_id, memory_id"),
    ("inferred", "memory_id", "memory_id"),
    ("landmarks", "memory_id", "room_id, position"),
    ("links", "from_id", "from_id, to_id"),
    ("links", "to_id", "from_id, to_id"),
    ("memory_sources", "memory_id", "memory_id, lineage"),
    ("mentions", "memory_id", "memory_id, entity_id, start_at"),
    ("places", "memory_id", "memory_id"),
    ("procedures", "memory_id", "memory_id"),
    ("readings", "memory_id", "memory_id"),
    ("rehearsals", "memory_id", "memory_id"),
    ("replays", "memory_id", "memory_id"),
    ("rule_applications", "memory_id", "id"),
    ("rules", "memory_id", "memory_id"),
    ("spared", "memory_id", "memory_id"),
    ("statements", "episode_id", "memory_id, episode_id"),
    ("statements", "memory_id", "memory_id, episode_id"),
    ("taken_back", "memory_id", "memory_id"),
    ("tiers", "memory_id", "memory_id, tier"),
    ("unset_landmarks", "memory_id", "memory_id"),
    ("verdicts", "memory_id", "memory_id, voice, verdict"),
)
"""Every column outside `memories` that refers to a memory, with its table's key; a test holds it against the schema."""

_POINTERS = ("supersedes_id", "superseded_by_id", "consolidated_into")
_FOUND_BY_MACHINE = "made_by IN ('rules', 'model')"
_EVERYWHERE = 1e9
_QUOTE_LEAST = 12
"""Characters of a title from which on words shared with an erased text are taken for a quotation."""


@dataclass
class ErasedRows:
    """The rows that an erasure removed and mended.

    Attributes:
        removed: table and key (canonical JSON) of every row that is gone.
        mended: table and key of a row that stays to the hashes of how it was and how it is.
        ids: of everything that is gone and that a row or an image may name: memories, claims, entities, items.
        texts: the erased texts, whole ones and parts.
        labels: of the erased memories, for the indexes.
        identities: digests of imported records.
        claims: of the claims that lost a quote and stay.
        shared: memories whose claims are to be looked at again.
        vectors: the vectors of the erased memories, as they were stored.
        cleared: what was taken away beside whole rows of tables, by place.
    """

    removed: set[tuple[str, str]] = field(default_factory=set)
    mended: dict[tuple[str, str], tuple[bytes, bytes]] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    identities: list[bytes] = field(default_factory=list)
    claims: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    vectors: list[bytes] = field(default_factory=list)
    cleared: Counter[str] = field(default_factory=Counter)

    @property
    def removed_by_place(self) -> Counter[str]:
        """How many rows went, by table, and what was cleared beside them."""
        return Counter(table for table, _ in self.removed) + self.cleared

    @property
    def changed_by_place(self) -> Counter[str]:
        """How many rows stay without what they had of it, by table."""
        return Counter(table for table, _ in self.mended)


class RowEraser:
    """Removes the rows of one erasure; the gate of the purge is open."""

    def __init__(self, tx: Tx, reach: ErasureScope, entities: Collection[str] = ()) -> None:
        """Look at what there is.

        Args:
            tx: the transaction.
            reach: the memories that go.
            entities: those that go too, whoever made them, unless something that stays names them.
        """
        self.tx = tx
        self._named_entities = frozenset(entities)
        self.taken = ErasedRows(ids=set(reach.ids))
        self._reach = reach
        self._wanted = to_json(list(reach.ids))
        self._rows: list[dict[str, Any]] = [row for one in reach.ids if (row := tx.row("memories", {"id": one}))]
        self._rooms = self._ids_of_erased("SELECT DISTINCT room_id FROM places WHERE memory_id")
        self._talks = self._ids_of_erased(
            "SELECT DISTINCT conversation_id FROM memories WHERE conversation_id IS NOT NULL AND id"
        )
        self._entities = {*self._ids_of_erased("SELECT DISTINCT entity_id FROM mentions WHERE memory_id"), *entities}
        self._plain_texts: list[str] = []
        self._erased_titles: set[str | None] = set()

    def run(self) -> ErasedRows:
        """Take everything away.

        Returns:
            What was done.
        """
        taken = self.taken
        taken.texts = _collect_texts(self._rows)
        taken.labels = [int(row["n"]) for row in self._rows]
        claims = self._ids_of_erased("SELECT DISTINCT claim_id FROM evidence WHERE memory_id")
        self._keep_fingerprints()
        self._remove_requests()
        for table, column, key in REFERRING:
            self._remove_where(table, column, key, self._reach.ids)
        self._remove_claims(claims)
        self._remove_entities()
        self._mend_pointers()
        self._note_derived()
        remove_derived(self.tx, taken.labels)
        # They may point at each other; the parts go before their head.
        self.tx.run(
            f"UPDATE memories SET {', '.join(f'{name} = NULL' for name in _POINTERS)} WHERE id {_OF}",  # noqa: S608
            (self._wanted,),
        )
        for row in sorted(self._rows, key=lambda row: -int(row["part_index"] or 0)):
            self.remove_row("memories", {"n": row["n"]})
        self._clear_conversations()
        self._rename_rooms()
        return taken

    def _note_derived(self) -> None:
        """What goes with the rows and is in no image: vectors, and the words in the index."""
        labels = to_json(self.taken.labels)
        of_them = f"FROM embeddings WHERE owner = 'memory' AND n {_OF}"
        self.taken.vectors = [bytes(row[0]) for row in self.tx.all(f"SELECT vector {of_them}", (labels,))]
        self.taken.cleared["embeddings"] += len(self.taken.vectors)
        indexed = f"SELECT count(*) FROM memory_fts_docsize WHERE id {_OF}"  # noqa: S608 - constant
        self.taken.cleared["memory_fts"] += int(self.tx.value(indexed, (labels,)))

    # ---- rows that refer to a memory

    def _keep_fingerprints(self) -> None:
        """An imported record whose united text goes, and whose own text comes back, is known by that one again."""
        for row in self._rows:
            heir = row["supersedes_id"] if row["supersedes_id"] in self._reach.back else None
            for (identity,) in self.tx.all("SELECT identity FROM fingerprints WHERE memory_id = ?", (row["id"],)):
                if heir is None:
                    self.taken.identities.append(bytes(identity))
                else:
                    self.mend_row("fingerprints", {"identity": identity}, {"memory_id": heir})

    def _remove_requests(self) -> None:
        """What a client asked about a memory goes with it: its reason may quote the text."""
        for memory_id in sorted(self._reach.ids):
            for item_id in requests_about(self.tx, memory_id):
                if self.tx.row("approvals", {"conflict_id": item_id}) is not None:
                    self.remove_row("approvals", {"conflict_id": item_id})

    def _remove_where(self, table: str, column: str, key: str, ids: Iterable[str]) -> None:
        names = key.split(", ")
        found = self.tx.all(
            f"SELECT {key} FROM {table} WHERE {column} {_OF}",  # noqa: S608 - constants
            (to_json(sorted(ids)),),
        )
        for row in found:
            self.remove_row(table, dict(zip(names, row, strict=True)))
            if names == ["id"]:
                self.taken.ids.add(str(row[0]))

    def remove_row(self, table: str, key: Mapping[str, object]) -> None:
        """Take one row away, and remember it.

        Args:
            key: its primary key, as images name it.
        """
        self.tx.delete(table, key)
        self.taken.removed.add((table, image_to_json(key)))

    # ---- claims

    def _remove_claims(self, claim_ids: Iterable[str]) -> None:
        """A claim goes with the last memory that says it, and with it what was quoted against it elsewhere."""
        for claim_id in claim_ids:
            supporting_evidence = "SELECT 1 FROM evidence WHERE claim_id = ? AND stance = 'supporting'"
            if self.tx.one(supporting_evidence, (claim_id,)) is not None:
                self.taken.claims.add(claim_id)
                continue
            self._note_entities(claim_id)
            self._remove_where("evidence", "claim_id", "id", [claim_id])
            for (old,) in self.tx.all("SELECT id FROM claims WHERE superseded_by_id = ?", (claim_id,)):
                self.mend_row("claims", {"id": old}, {"superseded_by_id": None})
                self.taken.claims.add(old)
            self.remove_row("claims", {"id": claim_id})
            self.taken.ids.add(claim_id)
            self.taken.claims.discard(claim_id)
        behind = f"SELECT DISTINCT memory_id FROM evidence WHERE claim_id {_OF}"  # noqa: S608 - constant
        self.taken.shared.update(row[0] for row in self.tx.all(behind, (to_json(sorted(self.taken.claims)),)))

    def _note_entities(self, claim_id: str) -> None:
        row = self.tx.row("claims", {"id": claim_id}) or {}
        named = (row.get("subject_entity_id"), row.get("object_entity_id"))
        self._entities.update(str(one) for one in named if one is not None)

    # ---- entities

    def _remove_entities(self) -> None:
        """Entities that rules or a model found go when nothing mentions them; of others only what was read here goes.

        One that was united with another goes after it.
        """
        candidates = set(self._entities)
        for one in self._entities:
            candidates.update(row[0] for row in self.tx.all("SELECT id FROM entities WHERE merged_into_id = ?", (one,)))
        waiting = sorted(candidates)
        while waiting:
            unused = [one for one in waiting if self._is_left_alone(one)]
            if not unused:
                break
            for one in unused:
                into = self.tx.value("SELECT merged_into_id FROM entities WHERE id = ?", (one,))
                self._remove_where("entity_aliases", "entity_id", "entity_id, alias_key", [one])
                self.remove_row("entities", {"id": one})
                self.taken.ids.add(one)
                waiting.remove(one)
                if into is not None and into not in waiting:
                    waiting.append(str(into))
        for one in waiting:
            self._forget_names(one)

    def _is_left_alone(self, entity_id: str) -> bool:
        return (
            self.tx.one(
                f"SELECT 1 FROM entities e WHERE e.id = :id AND (:named OR e.{_FOUND_BY_MACHINE}) "  # noqa: S608 - constant
                "AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = :id) "
                "AND NOT EXISTS (SELECT 1 FROM claims WHERE :id IN (subject_entity_id, object_entity_id)) "
                "AND NOT EXISTS (SELECT 1 FROM entities o WHERE o.merged_into_id = :id)",
                {"id": entity_id, "named": entity_id in self._named_entities},
            )
            is not None
        )

    def _forget_names(self, entity_id: str) -> None:
        """Of an entity that a machine found and that stays: its summary, and names that stand in no text any more."""
        row = self.tx.row("entities", {"id": entity_id})
        if row is None or row["made_by"] not in ("rules", "model"):
            return
        if row["summary"] is not None:
            self.mend_row("entities", {"id": entity_id}, {"summary": None})
        written = {
            _normalize_text(text)
            for (text,) in self.tx.all(
                "SELECT substr(m.text, x.start_at + 1, x.end_at - x.start_at) FROM mentions x "
                "JOIN memories m ON m.id = x.memory_id WHERE x.entity_id = ?",
                (entity_id,),
            )
        }
        for key, alias in self.tx.all(
            "SELECT alias_key, alias FROM entity_aliases WHERE entity_id = ? ORDER BY 1", (entity_id,)
        ):
            if _normalize_text(alias) not in written and self._is_in_erased_text(alias):
                self.remove_row("entity_aliases", {"entity_id": entity_id, "alias_key": key})

    # ---- rows that stay

    def mend_row(self, table: str, key: Mapping[str, object], changes: Mapping[str, object]) -> None:
        """Change a row that stays without anybody's undo taking it for a change of its own.

        Args:
            changes: column to new value.
        """
        before = self.tx.row(table, key)
        if before is None or not self.tx.update(table, key, changes):
            return
        name = (table, image_to_json(key))
        first = self.taken.mended.get(name, (image_hash(without_volatile_columns(table, before)), b""))[0]
        self.taken.mended[name] = (first, image_hash(without_volatile_columns(table, {**before, **changes})))

    def _mend_pointers(self) -> None:
        """Versions beside a gap know of each other; what lay in a text that goes lies nowhere."""
        erased_rows = {str(row["id"]): row for row in self._rows}
        for column in _POINTERS:
            for label, memory_id, named in self.tx.all(
                f"SELECT n, id, {column} FROM memories WHERE {column} {_OF} ORDER BY n",  # noqa: S608 - constants
                (self._wanted,),
            ):
                if memory_id not in erased_rows:
                    heir = None if column == "consolidated_into" else _skip_removed(erased_rows, named, column)
                    self.mend_row("memories", {"n": label}, {column: None if heir == memory_id else heir})

    def _clear_conversations(self) -> None:
        for talk in self._talks:
            title = self.tx.value("SELECT title FROM conversations WHERE id = ?", (talk,))
            is_empty = self.tx.one("SELECT 1 FROM memories WHERE conversation_id = ? LIMIT 1", (talk,)) is None
            if title is not None and (is_empty or self._is_quoted(title)):
                self._erased_titles.add(name_by_title(title))
            if is_empty:
                self.remove_row("conversations", {"id": talk})
            elif title is not None and self._is_quoted(title):
                self.mend_row("conversations", {"id": talk}, {"title": None})
                left = self.tx.all("SELECT id FROM memories WHERE conversation_id = ?", (talk,))
                refresh_terms(self.tx, [row[0] for row in left])

    def _rename_rooms(self) -> None:
        """A room that Loci named after words of the erased text gets another name, from what stands in it now."""
        titled = self.tx.all(
            "SELECT id FROM rooms WHERE name IN (SELECT value FROM json_each(?)) ORDER BY id",
            (to_json(sorted(one for one in self._erased_titles if one)),),
        )
        for room_id in dict.fromkeys((*self._rooms, *(one for (one,) in titled))):
            room = self.tx.row("rooms", {"id": room_id})
            if room is None:
                continue
            # A room that was moved or merged is the person's, but its name may still be Loci's.
            if room["made_by"] == "lifecycle" or room["name"] in self._erased_titles:
                taken = "SELECT name FROM rooms WHERE parent_id IS ? AND id <> ?"
                self._rename_after_erasure(
                    "rooms", room, self._words_within(room_id), (taken, (room["parent_id"], room_id))
                )
            for (alcove_id,) in self.tx.all("SELECT id FROM alcoves WHERE room_id = ? ORDER BY id", (room_id,)):
                alcove = self.tx.row("alcoves", {"id": alcove_id}) or {}
                taken = "SELECT name FROM alcoves WHERE room_id = ? AND id <> ?"
                self._rename_after_erasure(
                    "alcoves", alcove, self._words_within(room_id, alcove), (taken, (room_id, alcove_id))
                )

    def _words_within(self, room_id: str, alcove: Mapping[str, Any] | None = None) -> RoomTexts:
        edges = alcove or {"x": 0.0, "y": 0.0, "w": _EVERYWHERE, "h": _EVERYWHERE}
        found = self.tx.all(
            "SELECT m.text, m.author FROM places p JOIN memories m ON m.id = p.memory_id WHERE p.room_id = :room "
            "AND p.x BETWEEN :x AND :x + :w AND p.y BETWEEN :y AND :y + :h ORDER BY p.rowid LIMIT :most",
            {"room": room_id, "most": TEXTS, **{name: edges[name] for name in ("x", "y", "w", "h")}},
        )
        return RoomTexts([text for text, _ in found], authors=[author for _, author in found])

    def _rename_after_erasure(
        self, table: str, row: Mapping[str, Any], left: RoomTexts, taken: tuple[str, tuple[object, ...]]
    ) -> None:
        """Give another name, where the one it has is made of words or speakers that are nowhere in it any more."""
        name = str(row["name"])
        remaining_names = {word for author in left.authors if author for word in _plain_words(author)}
        is_silent = any(set(_plain_words(who)) - remaining_names for who in speakers_in_name(name))
        if not is_silent and name not in self._erased_titles:
            if not any(map(self._is_in_erased_text, name.split())):
                return
            remaining_words = {word for text in left.texts for word in _plain_words(text)} | remaining_names
            if all(word in remaining_words for word in _plain_words(name) if self._is_in_erased_text(word)):
                return
        named = name_rooms([left], [name for (name,) in self.tx.all(*taken)])
        self.mend_row(table, {"id": row["id"]}, {"name": named[0]})

    # ---- what was said

    def _is_in_erased_text(self, words: str) -> bool:
        """Whether words stand in an erased text."""
        wanted = _normalize_text(words).strip(" ,")
        return bool(wanted) and any(wanted in text for text in self._folded_texts())

    def _is_quoted(self, title: str) -> bool:
        wanted = _normalize_text(title.rstrip("….")).strip()
        return len(wanted) >= _QUOTE_LEAST and any(wanted in text or text in wanted for text in self._folded_texts())

    def _folded_texts(self) -> list[str]:
        if not self._plain_texts:
            self._plain_texts = [_normalize_text(text) for text in self.taken.texts]
        return self._plain_texts

    def _ids_of_erased(self, sql: str) -> list[str]:
        return [str(row[0]) for row in self.tx.all(f"{sql} {_OF} ORDER BY 1", (self._wanted,))]


def _skip_removed(erased_rows: Mapping[str, Mapping[str, Any]], named: str, column: str) -> str | None:
    """The next version in that direction that stays."""
    seen: set[str] = set()
    at: str | None = named
    while at is not None and at in erased_rows and at not in seen:
        seen.add(at)
        at = erased_rows[at][column]
    return None if at in erased_rows else at


def texts_to_erase(rows: Rows, reach: ErasureScope) -> list[str]:
    """The texts that an erasure takes away, as `ErasedRows.texts`.

    Args:
        reach: what goes.

    Returns:
        As they are stored, and those of split texts as a whole.
    """
    found = rows.all(
        f"SELECT text, part_of, part_index FROM memories WHERE id {_OF} ORDER BY n",  # noqa: S608 - constant
        (to_json(list(reach.ids)),),
    )
    return _collect_texts([dict(zip(("text", "part_of", "part_index"), row, strict=True)) for row in found])


def _collect_texts(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The texts as they are stored, and those of split texts as a whole."""
    own = [str(row["text"]) for row in rows]
    wholes: dict[str, dict[int, str]] = {}
    for row in rows:
        if row["part_of"] is not None:
            wholes.setdefault(str(row["part_of"]), {})[int(row["part_index"])] = str(row["text"])
    joined = ["".join(parts[at] for at in sorted(parts)) for parts in wholes.values()]
    return list(dict.fromkeys([*own, *joined]))


def _normalize_text(text: str) -> str:
    return fold_case(" ".join(fold_width(text).split()))


def _plain_words(text: str) -> list[str]:
    return [word.strip(".,;:!?()\"'") for word in _normalize_text(text).split()]
