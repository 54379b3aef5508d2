"""The job that annotates memories afterwards: what a text contains, its mood, which names it mentions (E35.5, E37.1).

All of it is derived and can be rebuilt at any time; of a memory that is not in the clear nothing is kept (I16). By
rules first; where a local model is ready, it is asked about a few of the most important, and believed only in what the
text itself says. Names that may be one are proposed to the person, who joins them or keeps them apart for good (E41).
Claims of facts are read on the store path. Claims of *episodes* are left out on purpose: an episode is never superseded
or disputed, so an old remark's claim, once asserted, would by the schema's invariant keep the claim of a later fact
from being asserted, and a fact in the same words would be stacked beneath the remark. Must not do: write on the store
path, join two entities, have more than `MOST_OPEN` names in question, or touch what a person made.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.entities import registry
from core.entities.discovery import FoundNames, NameText, NewEntity, SpeakerPlace, absorb_entity, discover_entities
from core.entities.mentions import add_mentions, place_mentions, rewrite_mentions
from core.entities.recognition import name_key, recognize_names
from core.entities.registry import find_owner_names
from core.entities.resolution import CountedName, NamePair, find_similar_pairs
from core.entities.roles import are_plainly_two
from core.entities.speakers import OWNER, SPEAKER_PLACE, is_thing_label, speaker_label_place, speaker_of
from core.errors import LociError
from core.intake.revise.refinement import READING
from core.intake.transaction.unit_of_work import Verb
from core.intake.transitions import review_items
from core.intake.transitions.review_items import ItemSubject
from core.lifecycle.job_support.job_context import NO_CURSOR, BatchResult, JobContext
from core.llm.prompts import TEXT_CHARACTERS, Description, description_prompt, keep_grounded_parts, parse_description
from core.memory.write import write_tiers
from core.talk.turns import EpisodeText, read_turns
from core.text.metadata import Affect, Metadata, affect_of, extract_metadata, topic_taxonomy
from core.types.lifecycle import JobType
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx
from core.vault.memory_sql import BROUGHT, ENTITY_TYPE, readable_sql, remove_inferred, remove_mentions, remove_orphans

MOST_OPEN = 20
"""Open questions about names, at most."""
NEWEST = 300
"""Entities of a space that are compared with all others, at most."""
REASON = "same_name"

_NAMES = (
    f"SELECT e.id, e.name, {ENTITY_TYPE}, (SELECT count(*) FROM mentions m WHERE m.entity_id = e.id) FROM entities e "  # noqa: S608 - constants only
    "WHERE e.space_id = ? AND e.merged_into_id IS NULL ORDER BY e.recorded_at DESC, e.id DESC LIMIT 3000"
)
_OPEN = "SELECT count(*) FROM conflicts WHERE kind = 'entity_merge' AND state = 'open'"
# A memory that names the one and, where there is one, not the other: the person sees both in their own words.
_WHERE = (
    "SELECT m.id FROM mentions x JOIN memories m ON m.id = x.memory_id WHERE x.entity_id = :one "
    "AND m.status IN ('active', 'disputed') AND m.part_of IS NULL ORDER BY EXISTS (SELECT 1 FROM mentions y "
    "WHERE y.memory_id = m.id AND y.entity_id = :other), m.n LIMIT 1"
)
_SAID_OF = (
    "SELECT m.text FROM mentions x JOIN memories m ON m.id = x.memory_id WHERE x.entity_id = ? "
    "AND m.status IN ('active', 'disputed') AND x.start_at >= 0 ORDER BY m.n DESC LIMIT 50"
)
_SETTLED = (
    "SELECT c.id FROM conflicts c WHERE c.kind = 'entity_merge' AND c.state = 'open' AND EXISTS (SELECT 1 FROM "
    "json_each(c.detail, '$.entities') w LEFT JOIN entities e ON e.id = w.value "
    "WHERE e.id IS NULL OR e.merged_into_id IS NOT NULL)"
)


def propose_merges(tx: Tx, make_id: Callable[[], str]) -> tuple[int, int]:
    """Open items for names that may be one, and close those of names that are gone.

    Args:
        make_id: makes UUIDv7 ids.

    Returns:
        How many were opened and how many closed.
    """
    settled = [str(row[0]) for row in tx.all(_SETTLED)]
    for item_id in settled:
        review_items.close_conflict(tx, item_id, "moot", None, "side_gone")
    left, opened = MOST_OPEN - int(tx.value(_OPEN)), 0
    for (space_id,) in tx.all("SELECT DISTINCT space_id FROM entities ORDER BY 1"):
        for pair in _find_name_pairs(tx, str(space_id)):
            if opened == left:
                return opened, len(settled)
            opened += _ask_about_pair(tx, make_id, pair)
    return opened, len(settled)


def _find_name_pairs(rows: Rows, space_id: str) -> tuple[NamePair, ...]:
    names = [
        CountedName(str(one), str(name), str(kind), int(count))
        for one, name, kind, count in rows.all(_NAMES, (space_id,))
    ]
    return find_similar_pairs(names[:NEWEST], names)


def _ask_about_pair(tx: Tx, make_id: Callable[[], str], pair: NamePair) -> bool:
    if _are_plainly_two(tx, pair):
        return False
    sides = [tx.value(_WHERE, {"one": a.id, "other": b.id}) for a, b in _both_orders(pair)]
    keep, other = (None if side is None else str(side) for side in sides)
    if keep is None or other is None:
        return False
    matter = ItemSubject(
        "entity_merge",
        other,
        None if keep == other else keep,
        reason=REASON,
        confidence=round(pair.likeness, 3),
        # Loci asks by itself: an undo that takes the memory away takes the question along.
        detail={"entities": [pair.keep.id, pair.other.id], "opened_by": READING},
        keys=_question_keys(tx, pair),
    )
    wanted = make_id()
    return review_items.open_conflict(tx, wanted, matter) == wanted


def _are_plainly_two(rows: Rows, pair: NamePair) -> bool:
    """Whether what is said of a first name and of a full one tells two people."""
    if " " in pair.other.name or not pair.keep.name.startswith(f"{pair.other.name} "):
        return False
    said = [str(text) for one in (pair.keep, pair.other) for (text,) in rows.all(_SAID_OF, (one.id,))]
    return are_plainly_two(pair.other.name, pair.keep.name, said)


def _question_keys(rows: Rows, pair: NamePair) -> Sequence[bytes]:
    """Space, type and names: the same pair is the same question, whatever ids it gets."""
    space = rows.value("SELECT space_id FROM entities WHERE id = ?", (pair.keep.id,))
    return [f"{space}\0{one.type}\0{name_key(one.name)}".encode() for one in (pair.keep, pair.other)]


def _both_orders(pair: NamePair) -> tuple[tuple[CountedName, CountedName], tuple[CountedName, CountedName]]:
    return (pair.keep, pair.other), (pair.other, pair.keep)


VERSION = 4
"""Of the rules: what was read by older ones is read again."""
AT_ONCE, CHARACTERS = 200, 60_000
"""Memories of one batch, and their characters, at most: a batch is short."""
SAID_BEFORE, CONTEXT_CHARACTERS = 2, 1_000
"""Messages before one that tell of whom it speaks, and how much of each is read."""
ASKED = 20
"""Questions to a local model in one run, at most."""

_DUE = (
    f"((m.status IN ('active', 'disputed') AND {readable_sql()} AND coalesce(i.version, 0) < :version) "  # noqa: S608 - constants only
    f"OR (m.security_tier <> 'cleartext' AND NOT {readable_sql()} AND (i.memory_id IS NOT NULL "
    "OR EXISTS (SELECT 1 FROM mentions n WHERE n.memory_id = m.id))))"
)
_FROM = "FROM memories m LEFT JOIN inferred i ON i.memory_id = m.id "
_TIER_READ = f"iif({readable_sql()}, 'cleartext', m.security_tier)"
_COLUMNS = (
    f"SELECT m.n, m.id, m.text, m.space_id, m.kind, m.category, {_TIER_READ}, m.content_hash, m.role, "
    "coalesce(m.author, ''), coalesce(m.conversation_id, ''), coalesce(m.import_id, '') "
)
_NEXT = f"{_COLUMNS}{_FROM}WHERE m.n > :after AND {_DUE} ORDER BY m.n LIMIT :most"
_BACKLOG = f"SELECT count(*) {_FROM}WHERE {_DUE}"
_BY_ID = (
    _COLUMNS  # noqa: S608 - constants only
    + _FROM
    + "WHERE m.id IN (SELECT value FROM json_each(?)) AND +m.status IN ('active', 'disputed') ORDER BY m.n"
)
_UNASKED = (
    f"{_COLUMNS}{_FROM}WHERE i.made_by = 'rules' AND i.version = :version AND m.status = 'active' "
    "AND m.security_tier = 'cleartext' AND length(m.text) <= :most ORDER BY m.importance DESC, m.n DESC LIMIT 1"
)
_SAME = (
    f"SELECT m.id, m.space_id, m.content_hash, {_TIER_READ} FROM memories m "  # noqa: S608 - constants only
    "WHERE m.id IN (SELECT value FROM json_each(?))"
)
_UNTIERED = "SELECT value FROM json_each(?) w WHERE NOT EXISTS (SELECT 1 FROM tiers t WHERE t.memory_id = w.value)"
_WRITE = (
    "INSERT OR REPLACE INTO inferred (memory_id, body, valence, arousal, version, made_by, at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class EnrichRow:
    """A memory to be read; its columns."""

    n: int
    id: str
    text: str
    space_id: str
    kind: str
    category: str
    tier: str
    content_hash: bytes
    role: str
    author: str
    conversation: str
    brought_by: str

    @property
    def talk(self) -> str:
        """What it was said in: a conversation or an import; "" where nobody speaks."""
        return (self.conversation or self.brought_by) if self.kind == "episode" else ""

    @property
    def precondition(self) -> tuple[str, bytes, str]:
        """What must still hold when it is written: space, text, and that it may be read."""
        return self.space_id, self.content_hash, self.tier

    @property
    def is_clear(self) -> bool:
        """Whether anything may be inferred from it (I16)."""
        return self.tier == "cleartext"


@dataclass(frozen=True, slots=True)
class TextAnnotations:
    """What was read off one text."""

    row: EnrichRow
    metadata: Metadata
    affect: Affect
    description: Description | None = None


@dataclass(frozen=True, slots=True)
class EnrichBatch:
    """One batch.

    Attributes:
        readings: of memories in the clear.
        hidden: memories of which nothing may be kept.
        names: what they name.
        cursor: where the run stands after it.
        made_by: `rules` or `model`.
        is_end: whether all is read, and names that may be one are looked for.
    """

    cursor: Mapping[str, Any]
    readings: tuple[TextAnnotations, ...] = ()
    hidden: tuple[str, ...] = ()
    names: FoundNames = field(default_factory=FoundNames)
    made_by: str = "rules"
    is_end: bool = False


_READABLE = f"SELECT count(*) FROM memories m WHERE m.status IN ('active', 'disputed') AND {readable_sql()}"  # noqa: S608
_IMPORTED = f" AND m.n IN (SELECT n FROM {BROUGHT} WHERE import_id IN (SELECT value FROM json_each(:imports)))"  # noqa: S608


def count_unread(rows: Rows, import_ids: Sequence[str] | None = None) -> tuple[int, int]:
    """In how many memories names are not looked for yet, and how many there are to look in.

    Args:
        import_ids: of these imports alone; None for all of the vault.
    """
    if import_ids is None:
        return int(rows.value(_BACKLOG, {"version": VERSION})), int(rows.value(_READABLE))
    given = {"version": VERSION, "imports": json.dumps(list(import_ids))}
    return int(rows.value(_BACKLOG + _IMPORTED, given)), int(rows.value(_READABLE + _IMPORTED, given))


PAUSED, TURN = "paused", "turn"
"""Why names are not read at the moment: the person paused all work, or other work has its turn."""


def find_obstacle(rows: Rows, *, is_on: bool) -> str:
    """Why names that are not looked for yet are not read at the moment.

    Args:
        is_on: whether work goes on by itself.

    Returns:
        `PAUSED` or `TURN`; "" where they are being read, or begin at once.
    """
    running = {str(row[0]) for row in rows.all("SELECT type FROM jobs WHERE state = 'running'")}
    if JobType.ENRICH.value in running:
        return ""
    return TURN if running and is_on else "" if is_on else PAUSED


class EnrichJob:
    """Implements `core.lifecycle.job_support.job_context.StreamJob`."""

    type = JobType.ENRICH
    is_derived = True

    def count_backlog(self, rows: Rows, context: JobContext, cursor: Mapping[str, Any] = NO_CURSOR) -> int:
        """How many memories wait to be read."""
        del context, cursor
        return int(rows.value(_BACKLOG, {"version": VERSION}))

    def prepare(self, context: JobContext, cursor: Mapping[str, Any]) -> EnrichBatch | None:
        """Read the next few; when all are read, ask the model about one; at the end look for names that may be one."""
        after = int(cursor.get("n", 0))
        rows = _limit_characters(
            context.read(lambda rows: _read_rows(rows, _NEXT, version=VERSION, after=after, most=AT_ONCE))
        )
        if rows:
            return _prepare_batch(context, rows, {**cursor, "n": rows[-1].n})
        return _batch_for_model(context, cursor) or _make_end_batch(cursor)

    def write(self, tx: Tx, verb: Verb | None, context: JobContext, prepared: EnrichBatch) -> BatchResult:
        """Write what was read of memories that are still the same."""
        del verb
        if prepared.is_end:
            opened, closed = propose_merges(tx, context.make_id)
            return BatchResult(0, {"names_asked": opened, "names_closed": closed}, is_last=True, cursor=prepared.cursor)
        counts = _write_batch(tx, context.make_id, prepared)
        cursor = {**prepared.cursor, "made": int(prepared.cursor.get("made", 0)) + counts["entities"]}
        return BatchResult(len(prepared.readings) + len(prepared.hidden), counts, cursor=cursor)


def renew_annotations(tx: Tx, make_id: Callable[[], str], ids: Sequence[str]) -> int:
    """Read memories anew at once ("refresh metadata").

    Args:
        make_id: makes UUIDv7 ids.
        ids: the memories; those that do not stand are passed over.
    """
    rows = [_enrich_row_from(one) for one in tx.all(_BY_ID, (to_json(list(ids)),))]
    readings = [_annotate_text(row) for row in rows if row.is_clear]
    names = discover_entities(tx, _make_texts_with_names(readings, find_owner_names(tx)))
    hidden = tuple(row.id for row in rows if not row.is_clear)
    _write_batch(tx, make_id, EnrichBatch({}, tuple(readings), hidden, names))
    return len(readings)


def _prepare_batch(context: JobContext, rows: Sequence[EnrichRow], cursor: Mapping[str, Any]) -> EnrichBatch:
    readings = tuple(_annotate_text(row) for row in rows if row.is_clear)
    texts = _make_texts_with_names(readings, context.read(find_owner_names))
    names = context.read(lambda rows: discover_entities(rows, texts))
    return EnrichBatch(cursor, readings, tuple(row.id for row in rows if not row.is_clear), names)


def _batch_for_model(context: JobContext, cursor: Mapping[str, Any]) -> EnrichBatch | None:
    """Ask the model about the most important memory that it was not asked about; its failing is nothing."""
    asked = int(cursor.get("asked", 0))
    if context.ask is None or asked >= ASKED:
        return None
    rows = context.read(lambda rows: _read_rows(rows, _UNASKED, version=VERSION, most=TEXT_CHARACTERS))
    if not rows:
        return None
    row = rows[0]
    try:
        answer = context.ask(description_prompt(row.text, topic_taxonomy()))
    except LociError:
        return None
    description = parse_description(answer)
    description = None if description is None else keep_grounded_parts(description, row.text, topic_taxonomy())
    reading = replace(_annotate_text(row), description=description)
    people = {row.id: description.people} if description is not None else {}
    texts = _make_texts_with_names([reading], context.read(find_owner_names))
    names = context.read(lambda rows: discover_entities(rows, texts, people))
    return EnrichBatch({**cursor, "asked": asked + 1}, (reading,), names=names, made_by="model")


def _make_end_batch(cursor: Mapping[str, Any]) -> EnrichBatch | None:
    if not cursor.get("made") or cursor.get("compared"):
        return None
    return EnrichBatch({**cursor, "compared": True}, is_end=True)


def _read_rows(rows: Rows, sql: str, **params: object) -> list[EnrichRow]:
    return [_enrich_row_from(one) for one in rows.all(sql, params)]


def _enrich_row_from(one: tuple[Any, ...]) -> EnrichRow:
    n, memory_id, text, space_id, kind, category, tier, content_hash, *speaker_columns = one
    return EnrichRow(
        int(n), memory_id, text, space_id, kind, category, tier, bytes(content_hash), *map(str, speaker_columns)
    )


def _limit_characters(rows: Sequence[EnrichRow]) -> list[EnrichRow]:
    """As many as make a short batch, at least one."""
    taken: list[EnrichRow] = []
    size = 0
    for row in rows:
        size += len(row.text)
        if taken and size > CHARACTERS:
            break
        taken.append(row)
    return taken


def _annotate_text(row: EnrichRow) -> TextAnnotations:
    return TextAnnotations(row, extract_metadata(row.text), affect_of(row.text))


def _make_texts_with_names(readings: Sequence[TextAnnotations], owner_keys: frozenset[str]) -> list[NameText]:
    voices = _read_voices([reading.row for reading in readings], owner_keys)
    context = _read_contexts([reading.row for reading in readings])
    return [
        NameText(
            reading.row.id,
            reading.row.space_id,
            recognize_names(reading.row.text, reading.metadata, context.get(reading.row.id, "")),
            reading.row.talk,
            reading.row.conversation,
            voices.get(reading.row.id, ()),
        )
        for reading in readings
    ]


def _read_contexts(rows: Sequence[EnrichRow]) -> dict[str, str]:
    """What was said just before each memory of a talk."""
    before: dict[str, list[str]] = defaultdict(list)
    found = {}
    for row in rows:
        if row.talk:
            said = before[row.talk]
            found[row.id] = "\n".join(said[-SAID_BEFORE:])
            said.append(row.text[:CONTEXT_CHARACTERS])
    return found


def _read_voices(rows: Sequence[EnrichRow], owner_keys: frozenset[str]) -> dict[str, tuple[SpeakerPlace, ...]]:
    """Who speaks: whom the source tells, and the names before the colons where they recur as speakers do."""
    found: dict[str, list[SpeakerPlace]] = defaultdict(list)
    talks: dict[str, list[EnrichRow]] = defaultdict(list)
    for row in rows:
        if not row.talk:
            continue
        talks[row.talk].append(row)
        speaker = speaker_of(row.role, row.author, owner_keys)
        if speaker is not None:
            found[row.id].append(SpeakerPlace(speaker, *SPEAKER_PLACE))
    for some in talks.values():
        if any(":" in row.text for row in some):
            for memory_id, voice in _read_speaker_labels(some, owner_keys):
                found[memory_id].append(voice)
    return {memory_id: tuple(voices) for memory_id, voices in found.items()}


def _read_speaker_labels(rows: Sequence[EnrichRow], owner_keys: frozenset[str]) -> Iterator[tuple[str, SpeakerPlace]]:
    texts, roles = {row.id: row.text for row in rows}, {row.id: row.role for row in rows}
    episodes = [EpisodeText(row.id, row.text, row.author, is_assistant=row.role == "assistant") for row in rows]
    for turn in read_turns(episodes, owner_keys):
        place = (
            speaker_label_place(texts[turn.episode_id], turn.start) if turn.start and not turn.is_assistant else None
        )
        if place is None:
            continue
        speaker = OWNER if turn.is_owner else speaker_of("other", turn.speaker, owner_keys)
        if speaker is not None and not is_thing_label(speaker, roles[turn.episode_id]):
            yield turn.episode_id, SpeakerPlace(speaker, *place)


def _write_batch(tx: Tx, make_id: Callable[[], str], prepared: EnrichBatch) -> dict[str, int]:
    now = {
        str(row[0]): (row[1], bytes(row[2]), row[3]) for row in tx.all(_SAME, (to_json(_batch_memory_ids(prepared)),))
    }
    kept = [one for one in prepared.readings if now.get(one.row.id) == one.row.precondition]
    hidden = [memory_id for memory_id in prepared.hidden if memory_id in now]
    remove_inferred(tx, hidden)
    remove_mentions(tx, hidden)
    tx.run_many(_WRITE, [_inferred_row(one, tx.now_ms, prepared.made_by) for one in kept])
    bare = {str(row[0]) for row in tx.all(_UNTIERED, (to_json([one.row.id for one in kept]),))}
    write_tiers(tx, ((r.id, r.text, r.kind, r.category) for r in (one.row for one in kept) if r.id in bare))
    made, named = _write_entities_and_mentions(tx, make_id, prepared, {one.row.id for one in kept}, now)
    return {"read": len(kept), "entities": made, "mentions": named, "hidden": len(hidden)}


def _batch_memory_ids(prepared: EnrichBatch) -> list[str]:
    earlier = (memory_id for memory_id, _ in prepared.names.earlier)
    return list(dict.fromkeys((*(one.row.id for one in prepared.readings), *prepared.hidden, *earlier)))


def _write_entities_and_mentions(
    tx: Tx,
    make_id: Callable[[], str],
    prepared: EnrichBatch,
    kept: set[str],
    now: Mapping[str, tuple[str, bytes, str]],
) -> tuple[int, int]:
    """Make the newcomers and write all mentions.

    Returns:
        How many entities are new, and how many mentions were written.
    """
    names, ids, new = prepared.names, dict[str, str](), 0
    for one in names.newcomers:
        there = registry.find_owner(tx) if one.is_owner else registry.find_entity(tx, one.space_id, one.name, one.type)
        new += there is None
        ids[one.mark] = there or _make_entity(tx, make_id, one, prepared.made_by)
    for entity_id, kind in names.retyped.items():
        registry.retype_entity(tx, entity_id, kind)
    for short, whole in names.absorbed.items():
        absorb_entity(tx, short, ids.get(whole, whole))
    known = _existing_entities(
        tx, (*ids.values(), *(one.entity_id for some in names.mentions.values() for one in some))
    )
    found = {
        memory_id: [one for one in place_mentions(some, ids) if one.entity_id in known]
        for memory_id, some in names.mentions.items()
        if memory_id in kept
    }
    rewrite_mentions(tx, found)
    spaces = {one.mark: one.space_id for one in names.newcomers}
    earlier = [(i, one) for i, one in names.earlier if i in now and now[i][0] == spaces[one.entity_id]]
    add_mentions(tx, [(memory_id, place_mentions([one], ids)[0]) for memory_id, one in earlier])
    for entity_id, spelling in names.spelt:
        if (entity := ids.get(entity_id, entity_id)) in known:
            registry.add_alias(tx, entity, spelling)
    orphans = remove_orphans(tx, ids.values())
    return new - len(orphans), sum(map(len, found.values())) + len(earlier)


def _make_entity(tx: Tx, make_id: Callable[[], str], one: NewEntity, made_by: str) -> str:
    if one.is_owner:
        return registry.make_owner(tx, make_id, one.name)
    return registry.make_entity(tx, make_id, one.space_id, one.name, one.type, made_by)


def _existing_entities(rows: Rows, ids: Iterable[str]) -> set[str]:
    """Which entities are still there and stand for themselves."""
    sql = "SELECT id FROM entities WHERE merged_into_id IS NULL AND id IN (SELECT value FROM json_each(?))"
    return {str(row[0]) for row in rows.all(sql, (to_json(sorted(set(ids))),))}


def _inferred_row(one: TextAnnotations, now_ms: int, made_by: str) -> tuple[object, ...]:
    description, found = one.description, one.metadata
    dates, about, valence = found.dates, found.topics, one.affect.valence
    if description is not None:
        dates = tuple(dict.fromkeys((*dates, *description.dates)))
        about = tuple(dict.fromkeys((*about, *description.topics)))
        valence = description.sentiment or valence
    body = {
        "technologies": list(dict.fromkeys(tool.name for tool in found.technologies)),
        "paths": [path.name for path in found.paths],
        "urls": list(found.urls),
        "dates": list(dates),
        "topics": list(about),
        "language": found.language,
    }
    arousal = abs(valence) * one.affect.intensity
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return one.row.id, text, valence, arousal, VERSION, made_by, now_ms
