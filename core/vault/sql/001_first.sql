-- Version 1 of the vault. Forward-only: never edit after a release, add 002 instead.
-- Times are INTEGER epoch milliseconds UTC. Ids are UUIDv7 text. JSON columns are checked.

-- Ground ---------------------------------------------------------------------------------------

CREATE TABLE vault_state (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    seq        INTEGER NOT NULL DEFAULT 0,
    next_n     INTEGER NOT NULL DEFAULT 1,  -- labels of memories are never used twice, not even after a purge
    purge_open INTEGER NOT NULL DEFAULT 0 CHECK (purge_open IN (0, 1)),
    last_at    INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
-- Without this row the purge gate would read as NULL, which no trigger takes for closed.
CREATE TRIGGER vault_state_stays BEFORE DELETE ON vault_state
BEGIN SELECT RAISE(ABORT, 'the state of the vault stays'); END;

CREATE TABLE schema_version (
    version     INTEGER PRIMARY KEY,
    applied_at  INTEGER NOT NULL,
    description TEXT NOT NULL
) STRICT;

CREATE TABLE settings (
    key        TEXT PRIMARY KEY,
    value      TEXT NOT NULL CHECK (json_valid(value)),
    changed_at INTEGER NOT NULL
) STRICT;

CREATE TABLE clients (
    id             TEXT PRIMARY KEY,
    name           TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64),
    token          BLOB NOT NULL CHECK (length(token) = 32),
    trust_ceiling  REAL NOT NULL DEFAULT 0.85 CHECK (trust_ceiling BETWEEN 0 AND 1),
    limit_minute   INTEGER CHECK (limit_minute > 0),
    limit_session  INTEGER CHECK (limit_session > 0),
    paired_at      INTEGER NOT NULL,
    last_seen_at   INTEGER,
    paused_at      INTEGER,
    revoked_at     INTEGER
) STRICT;

CREATE TABLE spaces (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 128),
    client_id  TEXT REFERENCES clients (id),
    created_at INTEGER NOT NULL
) STRICT;

-- A grant is a word, or a space the client may see.
CREATE TABLE grants (
    client_id  TEXT NOT NULL REFERENCES clients (id),
    name       TEXT NOT NULL CHECK (name IN ('read', 'propose', 'write', 'curate', 'speak_for_user', 'all_spaces', 'space')),
    space_id   TEXT REFERENCES spaces (id),
    granted_at INTEGER NOT NULL,
    CHECK ((name = 'space') = (space_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX uq_grants ON grants (client_id, name, coalesce(space_id, ''));

CREATE TABLE imports (
    id          TEXT PRIMARY KEY,
    format      TEXT NOT NULL,
    label       TEXT NOT NULL,
    location    TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    space_id    TEXT NOT NULL REFERENCES spaces (id),
    state       TEXT NOT NULL CHECK (state IN ('running', 'done', 'undone')),
    position    INTEGER NOT NULL DEFAULT 0,
    total       INTEGER,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER,
    step_id     TEXT,
    summary     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(summary))
) STRICT;

CREATE TABLE conversations (
    id                TEXT PRIMARY KEY,
    identity          TEXT NOT NULL UNIQUE,
    title             TEXT,
    space_id          TEXT NOT NULL REFERENCES spaces (id),
    client_id         TEXT REFERENCES clients (id),
    import_id         TEXT REFERENCES imports (id),
    started_at        INTEGER,
    recorded_at       INTEGER NOT NULL,
    extra             TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(extra))
) STRICT;

-- The palace: rooms inside wings (spaces), places of memories ---------------------------------------

CREATE TABLE rooms (
    id         TEXT PRIMARY KEY,
    space_id   TEXT NOT NULL REFERENCES spaces (id),
    parent_id  TEXT REFERENCES rooms (id),
    name       TEXT NOT NULL,
    made_by    TEXT NOT NULL CHECK (made_by IN ('owner', 'lifecycle')),
    x REAL, y REAL, w REAL, h REAL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_rooms_parent ON rooms (parent_id) WHERE parent_id IS NOT NULL;

-- Memories ---------------------------------------------------------------------------------------

CREATE TABLE memories (
    n                INTEGER PRIMARY KEY,
    id               TEXT NOT NULL UNIQUE,
    kind             TEXT NOT NULL CHECK (kind IN ('episode', 'fact', 'rule', 'procedure', 'digest')),
    status           TEXT NOT NULL CHECK (status IN
                     ('active', 'superseded', 'disputed', 'quarantined', 'consolidated', 'archived', 'deleted')),
    status_reason    TEXT,
    text             TEXT NOT NULL,
    content_hash     BLOB NOT NULL CHECK (length(content_hash) = 32),
    category         TEXT NOT NULL DEFAULT 'general',
    importance       REAL NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
    tags             TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
    -- provenance
    space_id         TEXT NOT NULL REFERENCES spaces (id),
    client_id        TEXT REFERENCES clients (id),
    source           TEXT NOT NULL CHECK (source IN
                     ('user_explicit', 'system', 'tool_output', 'user_implicit', 'document', 'inference')),
    role             TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'source', 'other')),
    author           TEXT,
    session          TEXT,
    scope_session    TEXT NOT NULL DEFAULT '',
    scope_channel    TEXT NOT NULL DEFAULT '',
    conversation_id  TEXT REFERENCES conversations (id),
    position         INTEGER,
    ref              TEXT,
    import_id        TEXT REFERENCES imports (id),
    origin           TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(origin)),
    lineage          TEXT NOT NULL,
    part_of          TEXT REFERENCES memories (id),
    part_index       INTEGER,
    flags            TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(flags)),
    extra            TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(extra)),
    -- the four times
    occurred_at      INTEGER,
    occurred_prec    TEXT CHECK (occurred_prec IN ('year', 'month', 'day', 'hour', 'minute', 'second', 'ms')),
    occurred_offset  INTEGER,
    valid_from       INTEGER,
    valid_from_prec  TEXT,
    valid_to         INTEGER,
    valid_to_prec    TEXT,
    recorded_at      INTEGER NOT NULL,
    retired_at       INTEGER,
    -- belief
    trust            REAL NOT NULL CHECK (trust BETWEEN 0 AND 1),
    confidence       REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    corroboration    INTEGER NOT NULL DEFAULT 1 CHECK (corroboration >= 1),
    reinforcements   INTEGER NOT NULL DEFAULT 0 CHECK (reinforcements >= 0),
    disputes         INTEGER NOT NULL DEFAULT 0 CHECK (disputes >= 0),
    last_confirmed_at INTEGER NOT NULL,
    permanence       TEXT NOT NULL DEFAULT 'standard',
    -- versions
    chain_id         TEXT NOT NULL,
    version          INTEGER NOT NULL DEFAULT 1,
    supersedes_id    TEXT REFERENCES memories (id),
    superseded_by_id TEXT REFERENCES memories (id),
    consolidated_into TEXT REFERENCES memories (id),
    -- lifecycle
    strength         REAL NOT NULL DEFAULT 1.0,
    access_count     INTEGER NOT NULL DEFAULT 0,
    last_accessed_at INTEGER,
    pinned           INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    security_tier    TEXT NOT NULL DEFAULT 'cleartext' CHECK (security_tier IN ('cleartext', 'sensitive', 'confidential')),
    CHECK (valid_from IS NULL OR valid_to IS NULL OR valid_from <= valid_to),
    CHECK ((part_of IS NULL) = (part_index IS NULL))
) STRICT;
-- Two facts of the same words cannot both stand; episodes are verbatim and may repeat.
CREATE UNIQUE INDEX uq_memories_text ON memories (space_id, kind, content_hash, scope_session, coalesce(part_of, ''), coalesce(part_index, 0))
    WHERE status IN ('active', 'disputed') AND kind IN ('fact', 'rule', 'procedure');
CREATE INDEX ix_memories_hash ON memories (content_hash);
CREATE INDEX ix_memories_scope ON memories (space_id, status, kind);
CREATE INDEX ix_memories_recorded ON memories (recorded_at);
CREATE INDEX ix_memories_occurred ON memories (occurred_at);
CREATE INDEX ix_memories_conversation ON memories (conversation_id, position) WHERE conversation_id IS NOT NULL;
CREATE INDEX ix_memories_import ON memories (import_id) WHERE import_id IS NOT NULL;
CREATE INDEX ix_memories_client ON memories (client_id, recorded_at) WHERE client_id IS NOT NULL;
CREATE INDEX ix_memories_chain ON memories (chain_id);
CREATE INDEX ix_memories_part ON memories (part_of, part_index) WHERE part_of IS NOT NULL;
CREATE INDEX ix_memories_ref ON memories (ref) WHERE ref IS NOT NULL;
-- A deleted row is looked for in every column that may refer to it: without these a purge reads the whole table for each.
CREATE INDEX ix_memories_supersedes ON memories (supersedes_id) WHERE supersedes_id IS NOT NULL;
CREATE INDEX ix_memories_superseded_by ON memories (superseded_by_id) WHERE superseded_by_id IS NOT NULL;
CREATE INDEX ix_memories_consolidated ON memories (consolidated_into) WHERE consolidated_into IS NOT NULL;

-- Rows vanish only inside the purge verb (and the undo of an insertion, which opens the same gate).
CREATE TRIGGER memories_purge_only BEFORE DELETE ON memories
WHEN (SELECT purge_open FROM vault_state) = 0
BEGIN SELECT RAISE(ABORT, 'memories are deleted by the purge verb only'); END;
CREATE TRIGGER memories_id_fixed BEFORE UPDATE OF id, n, recorded_at ON memories
WHEN NEW.id IS NOT OLD.id OR NEW.n IS NOT OLD.n OR NEW.recorded_at IS NOT OLD.recorded_at
BEGIN SELECT RAISE(ABORT, 'a memory keeps its id and the time it was recorded'); END;

-- Every independent source that said the same: one row per lineage (design section 4, independence).
CREATE TABLE memory_sources (
    memory_id TEXT NOT NULL REFERENCES memories (id),
    lineage   TEXT NOT NULL,
    source    TEXT NOT NULL,
    client_id TEXT REFERENCES clients (id),
    session   TEXT,
    import_id TEXT REFERENCES imports (id),
    at        INTEGER NOT NULL,
    PRIMARY KEY (memory_id, lineage)
) STRICT;

CREATE TABLE episodes (
    memory_id       TEXT PRIMARY KEY REFERENCES memories (id),
    outcome         TEXT,
    participants    TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(participants)),
    valence         REAL NOT NULL DEFAULT 0 CHECK (valence BETWEEN -1 AND 1),
    arousal         REAL NOT NULL DEFAULT 0 CHECK (arousal BETWEEN 0 AND 1),
    consolidated_at INTEGER,
    expires_at      INTEGER
) STRICT;

CREATE TABLE rules (
    memory_id     TEXT PRIMARY KEY REFERENCES memories (id),
    maturity      TEXT NOT NULL DEFAULT 'candidate' CHECK (maturity IN ('candidate', 'established', 'proven')),
    helpful       INTEGER NOT NULL DEFAULT 0,
    harmful       INTEGER NOT NULL DEFAULT 0,
    is_antipattern INTEGER NOT NULL DEFAULT 0 CHECK (is_antipattern IN (0, 1)),
    original_text TEXT
) STRICT;

CREATE TABLE rule_applications (
    id         TEXT PRIMARY KEY,
    memory_id  TEXT NOT NULL REFERENCES memories (id),
    applied_at INTEGER NOT NULL,
    outcome    TEXT CHECK (outcome IN ('helpful', 'harmful')),
    client_id  TEXT REFERENCES clients (id)
) STRICT;
CREATE INDEX ix_rule_applications_memory ON rule_applications (memory_id);

CREATE TABLE procedures (
    memory_id     TEXT PRIMARY KEY REFERENCES memories (id),
    steps         TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(steps)),
    tools         TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tools)),
    trigger_cues  TEXT NOT NULL DEFAULT '',
    successes     INTEGER NOT NULL DEFAULT 0,
    failures      INTEGER NOT NULL DEFAULT 0,
    avg_ms        INTEGER NOT NULL DEFAULT 0,
    last_used_at  INTEGER
) STRICT;

CREATE TABLE places (
    memory_id TEXT PRIMARY KEY REFERENCES memories (id),
    room_id   TEXT NOT NULL REFERENCES rooms (id),
    x REAL NOT NULL, y REAL NOT NULL,
    placed_by TEXT NOT NULL CHECK (placed_by IN ('owner', 'lifecycle'))
) STRICT;
CREATE INDEX ix_places_room ON places (room_id);

CREATE TABLE tiers (
    memory_id TEXT NOT NULL REFERENCES memories (id),
    tier      TEXT NOT NULL CHECK (tier IN ('summary', 'key_fact', 'tag')),
    text      TEXT NOT NULL,
    made_by   TEXT NOT NULL CHECK (made_by IN ('rules', 'model')),
    PRIMARY KEY (memory_id, tier)
) STRICT;

-- Entities ---------------------------------------------------------------------------------------

CREATE TABLE entities (
    id             TEXT PRIMARY KEY,
    space_id       TEXT NOT NULL REFERENCES spaces (id),
    name           TEXT NOT NULL,
    type           TEXT NOT NULL CHECK (type IN ('person', 'organization', 'place', 'project', 'technology',
                   'file', 'service', 'concept', 'other')),
    summary        TEXT,
    merged_into_id TEXT REFERENCES entities (id),
    recorded_at    INTEGER NOT NULL,
    extra          TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(extra))
) STRICT;
CREATE INDEX ix_entities_name ON entities (name);
CREATE INDEX ix_entities_merged ON entities (merged_into_id) WHERE merged_into_id IS NOT NULL;
CREATE TRIGGER entities_space BEFORE UPDATE OF space_id ON entities
WHEN NEW.space_id NOT IN (OLD.space_id, 'GLOBAL')
BEGIN SELECT RAISE(ABORT, 'an entity keeps its space or moves to GLOBAL'); END;
CREATE TABLE entity_aliases (
    entity_id   TEXT NOT NULL REFERENCES entities (id),
    alias       TEXT NOT NULL,
    alias_key   TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (entity_id, alias_key)
) STRICT;
CREATE INDEX ix_aliases ON entity_aliases (alias_key);
CREATE TABLE mentions (
    memory_id  TEXT NOT NULL REFERENCES memories (id),
    entity_id  TEXT NOT NULL REFERENCES entities (id),
    start_at   INTEGER NOT NULL,
    end_at     INTEGER NOT NULL CHECK (end_at > start_at),
    confidence REAL NOT NULL DEFAULT 1 CHECK (confidence BETWEEN 0 AND 1),
    PRIMARY KEY (memory_id, entity_id, start_at)
) STRICT;
CREATE INDEX ix_mentions_entity ON mentions (entity_id);
CREATE TRIGGER mentions_space BEFORE INSERT ON mentions
WHEN (SELECT space_id FROM entities WHERE id = NEW.entity_id)
     NOT IN ((SELECT space_id FROM memories WHERE id = NEW.memory_id), 'GLOBAL')
BEGIN SELECT RAISE(ABORT, 'a mention stays within one space or GLOBAL'); END;
CREATE TRIGGER mentions_stay BEFORE UPDATE OF memory_id, entity_id ON mentions
WHEN NEW.memory_id IS NOT OLD.memory_id OR NEW.entity_id IS NOT OLD.entity_id
BEGIN SELECT RAISE(ABORT, 'a mention cannot move'); END;

-- Belief -----------------------------------------------------------------------------------------

CREATE TABLE claims (
    id                TEXT PRIMARY KEY,
    space_id          TEXT NOT NULL REFERENCES spaces (id),
    claim_key         BLOB NOT NULL CHECK (length(claim_key) = 32),
    subject           TEXT NOT NULL,
    subject_key       TEXT NOT NULL,
    subject_entity_id TEXT REFERENCES entities (id),
    predicate         TEXT NOT NULL,
    value             TEXT NOT NULL,
    value_key         TEXT NOT NULL,
    object_entity_id  TEXT REFERENCES entities (id),
    exclusive         INTEGER NOT NULL CHECK (exclusive IN (0, 1)),
    polarity          TEXT NOT NULL DEFAULT 'positive' CHECK (polarity IN ('positive', 'negative')),
    qualifiers        TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(qualifiers)),
    scope_session     TEXT NOT NULL DEFAULT '',
    valid_from        INTEGER,
    valid_from_prec   TEXT,
    valid_to          INTEGER,
    valid_to_prec     TEXT,
    state             TEXT NOT NULL DEFAULT 'draft' CHECK (state IN
                      ('draft', 'asserted', 'disputed', 'retracted', 'superseded')),
    confidence        REAL NOT NULL DEFAULT 0 CHECK (confidence BETWEEN 0 AND 1),
    evidence_count    INTEGER NOT NULL DEFAULT 0,
    extracted_by      TEXT NOT NULL CHECK (extracted_by IN ('rules', 'model', 'given')),
    superseded_by_id  TEXT REFERENCES claims (id),
    recorded_at       INTEGER NOT NULL,
    asserted_at       INTEGER,
    retired_at        INTEGER,
    CHECK (valid_from IS NULL OR valid_to IS NULL OR valid_from <= valid_to)
) STRICT;
CREATE UNIQUE INDEX uq_claims_standing ON claims (space_id, claim_key)
    WHERE state IN ('asserted', 'disputed');
CREATE INDEX ix_claims_subject ON claims (space_id, subject_key, predicate);
CREATE INDEX ix_claims_entity ON claims (subject_entity_id) WHERE subject_entity_id IS NOT NULL;
CREATE INDEX ix_claims_object ON claims (object_entity_id) WHERE object_entity_id IS NOT NULL;
CREATE INDEX ix_claims_superseded ON claims (superseded_by_id) WHERE superseded_by_id IS NOT NULL;

CREATE TABLE evidence (
    id         TEXT PRIMARY KEY,
    claim_id   TEXT NOT NULL REFERENCES claims (id),
    memory_id  TEXT NOT NULL REFERENCES memories (id),
    space_id   TEXT NOT NULL REFERENCES spaces (id),
    quote      TEXT NOT NULL,
    start_at   INTEGER NOT NULL CHECK (start_at >= 0),
    end_at     INTEGER NOT NULL CHECK (end_at > start_at),
    span_hash  BLOB NOT NULL CHECK (length(span_hash) = 32),
    stance     TEXT NOT NULL DEFAULT 'supporting' CHECK (stance IN ('supporting', 'contradicting', 'neutral')),
    confidence REAL NOT NULL DEFAULT 0.5 CHECK (confidence BETWEEN 0 AND 1),
    method     TEXT NOT NULL CHECK (method IN ('rules', 'model', 'given', 'inference')),
    lineage    TEXT NOT NULL,
    observed_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    UNIQUE (claim_id, memory_id, start_at, end_at, stance)
) STRICT;
CREATE INDEX ix_evidence_memory ON evidence (memory_id);

CREATE TRIGGER claims_start_draft BEFORE INSERT ON claims WHEN NEW.state <> 'draft'
    AND (SELECT purge_open FROM vault_state) = 0
BEGIN SELECT RAISE(ABORT, 'a claim starts as draft'); END;
CREATE TRIGGER claims_states BEFORE UPDATE OF state ON claims
WHEN NEW.state <> OLD.state AND (SELECT purge_open FROM vault_state) = 0 AND NOT (
       (OLD.state = 'draft'     AND NEW.state IN ('asserted', 'retracted'))
    OR (OLD.state = 'asserted'  AND NEW.state IN ('disputed', 'retracted', 'superseded'))
    OR (OLD.state = 'disputed'  AND NEW.state IN ('asserted', 'retracted', 'superseded'))
    OR (OLD.state = 'retracted' AND NEW.state = 'asserted')
    OR (OLD.state = 'superseded' AND NEW.state = 'asserted'))
BEGIN SELECT RAISE(ABORT, 'a claim cannot go from that state to this one'); END;
CREATE TRIGGER claims_need_evidence BEFORE UPDATE OF state ON claims
WHEN NEW.state = 'asserted' AND NOT EXISTS
     (SELECT 1 FROM evidence WHERE claim_id = NEW.id AND stance = 'supporting')
BEGIN SELECT RAISE(ABORT, 'no claim is asserted without evidence'); END;
CREATE TRIGGER claims_exclusive BEFORE UPDATE OF state, polarity, valid_from, valid_to, exclusive, predicate, qualifiers,
    subject_key, subject_entity_id, scope_session ON claims
WHEN NEW.state = 'asserted' AND NEW.exclusive = 1 AND NEW.polarity = 'positive' AND EXISTS (
    SELECT 1 FROM claims o WHERE o.id <> NEW.id AND o.state = 'asserted' AND o.exclusive = 1 AND o.polarity = 'positive'
        AND o.space_id = NEW.space_id AND o.predicate = NEW.predicate AND o.scope_session = NEW.scope_session
        AND o.qualifiers = NEW.qualifiers
        AND coalesce(o.subject_entity_id, o.subject_key) = coalesce(NEW.subject_entity_id, NEW.subject_key)
        AND coalesce(o.valid_from, -9223372036854775807) < coalesce(NEW.valid_to, 9223372036854775807)
        AND coalesce(NEW.valid_from, -9223372036854775807) < coalesce(o.valid_to, 9223372036854775807))
BEGIN SELECT RAISE(ABORT, 'one asserted exclusive claim per subject, predicate, scope and time'); END;
-- A claim is born asserted only where undo puts it back, through the open gate: the rule above holds there too.
CREATE TRIGGER claims_exclusive_again BEFORE INSERT ON claims
WHEN NEW.state = 'asserted' AND NEW.exclusive = 1 AND NEW.polarity = 'positive' AND EXISTS (
    SELECT 1 FROM claims o WHERE o.id <> NEW.id AND o.state = 'asserted' AND o.exclusive = 1 AND o.polarity = 'positive'
        AND o.space_id = NEW.space_id AND o.predicate = NEW.predicate AND o.scope_session = NEW.scope_session
        AND o.qualifiers = NEW.qualifiers
        AND coalesce(o.subject_entity_id, o.subject_key) = coalesce(NEW.subject_entity_id, NEW.subject_key)
        AND coalesce(o.valid_from, -9223372036854775807) < coalesce(NEW.valid_to, 9223372036854775807)
        AND coalesce(NEW.valid_from, -9223372036854775807) < coalesce(o.valid_to, 9223372036854775807))
BEGIN SELECT RAISE(ABORT, 'one asserted exclusive claim per subject, predicate, scope and time'); END;
CREATE TRIGGER claims_space BEFORE INSERT ON claims
WHEN (NEW.subject_entity_id IS NOT NULL AND
      (SELECT space_id FROM entities WHERE id = NEW.subject_entity_id) NOT IN (NEW.space_id, 'GLOBAL'))
  OR (NEW.object_entity_id IS NOT NULL AND
      (SELECT space_id FROM entities WHERE id = NEW.object_entity_id) NOT IN (NEW.space_id, 'GLOBAL'))
BEGIN SELECT RAISE(ABORT, 'a claim stays within one space or GLOBAL'); END;
CREATE TRIGGER claims_space_later BEFORE UPDATE OF subject_entity_id, object_entity_id ON claims
WHEN (NEW.subject_entity_id IS NOT NULL AND
      (SELECT space_id FROM entities WHERE id = NEW.subject_entity_id) NOT IN (NEW.space_id, 'GLOBAL'))
  OR (NEW.object_entity_id IS NOT NULL AND
      (SELECT space_id FROM entities WHERE id = NEW.object_entity_id) NOT IN (NEW.space_id, 'GLOBAL'))
BEGIN SELECT RAISE(ABORT, 'a claim stays within one space or GLOBAL'); END;
CREATE TRIGGER claims_keep_space BEFORE UPDATE OF space_id ON claims WHEN NEW.space_id IS NOT OLD.space_id
BEGIN SELECT RAISE(ABORT, 'a claim keeps its space'); END;
CREATE TRIGGER evidence_stays BEFORE UPDATE OF memory_id, claim_id, space_id ON evidence
BEGIN SELECT RAISE(ABORT, 'evidence cannot move'); END;
CREATE TRIGGER evidence_space BEFORE INSERT ON evidence
WHEN NEW.space_id <> (SELECT space_id FROM claims WHERE id = NEW.claim_id)
  OR (SELECT space_id FROM memories WHERE id = NEW.memory_id) NOT IN (NEW.space_id, 'GLOBAL')
BEGIN SELECT RAISE(ABORT, 'evidence stays within one space or GLOBAL'); END;
CREATE TRIGGER evidence_needed BEFORE DELETE ON evidence
WHEN OLD.stance = 'supporting' AND (SELECT purge_open FROM vault_state) = 0
 AND (SELECT state FROM claims WHERE id = OLD.claim_id) = 'asserted'
 AND NOT EXISTS (SELECT 1 FROM evidence WHERE claim_id = OLD.claim_id AND stance = 'supporting' AND id <> OLD.id)
BEGIN SELECT RAISE(ABORT, 'an asserted claim keeps its last evidence'); END;
CREATE TRIGGER evidence_turned BEFORE UPDATE OF stance ON evidence
WHEN OLD.stance = 'supporting' AND NEW.stance <> 'supporting'
 AND (SELECT state FROM claims WHERE id = OLD.claim_id) = 'asserted'
 AND NOT EXISTS (SELECT 1 FROM evidence WHERE claim_id = OLD.claim_id AND stance = 'supporting' AND id <> OLD.id)
BEGIN SELECT RAISE(ABORT, 'an asserted claim keeps its last evidence'); END;
-- Counted anew each time, not up and down: undo puts a claim back with its old count and then its evidence.
CREATE TRIGGER evidence_counted AFTER INSERT ON evidence
BEGIN
    UPDATE claims SET evidence_count = (SELECT count(*) FROM evidence WHERE claim_id = NEW.claim_id)
    WHERE id = NEW.claim_id;
END;
CREATE TRIGGER evidence_uncounted AFTER DELETE ON evidence
BEGIN
    UPDATE claims SET evidence_count = (SELECT count(*) FROM evidence WHERE claim_id = OLD.claim_id)
    WHERE id = OLD.claim_id;
END;

CREATE TABLE edges (
    id          TEXT PRIMARY KEY,
    from_id     TEXT NOT NULL REFERENCES memories (id),
    to_id       TEXT NOT NULL REFERENCES memories (id) CHECK (to_id <> from_id),
    type        TEXT NOT NULL CHECK (type IN ('caused_by', 'instance_of', 'inferred_from', 'contradicts',
                'supports', 'related_to', 'supersedes', 'coexists_with', 'example_of')),
    space_id    TEXT NOT NULL REFERENCES spaces (id),
    weight      REAL NOT NULL DEFAULT 1 CHECK (weight BETWEEN 0 AND 1),
    made_by     TEXT NOT NULL CHECK (made_by IN ('owner', 'rules', 'model', 'import')),
    recorded_at INTEGER NOT NULL,
    UNIQUE (from_id, to_id, type)
) STRICT;
CREATE INDEX ix_edges_to ON edges (to_id, type);
CREATE TABLE derivations (
    derived_id  TEXT NOT NULL REFERENCES memories (id),
    source_id   TEXT NOT NULL REFERENCES memories (id) CHECK (source_id <> derived_id),
    space_id    TEXT NOT NULL REFERENCES spaces (id),
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (derived_id, source_id)
) STRICT;
CREATE INDEX ix_derivations_source ON derivations (source_id);
-- derived, caused_by, instance_of and inferred_from together form a DAG (E34.1).
CREATE VIEW directed AS
    SELECT from_id AS a, to_id AS b FROM edges WHERE type IN ('caused_by', 'instance_of', 'inferred_from')
    UNION ALL SELECT derived_id, source_id FROM derivations;
CREATE TRIGGER edges_acyclic BEFORE INSERT ON edges WHEN NEW.type IN ('caused_by', 'instance_of', 'inferred_from')
BEGIN
    SELECT RAISE(ABORT, 'that relation would close a circle') WHERE NEW.from_id IN (
        WITH RECURSIVE reach (id) AS (SELECT NEW.to_id UNION SELECT d.b FROM directed d JOIN reach r ON d.a = r.id)
        SELECT id FROM reach);
END;
CREATE TRIGGER derivations_acyclic BEFORE INSERT ON derivations
BEGIN
    SELECT RAISE(ABORT, 'that derivation would close a circle') WHERE NEW.derived_id IN (
        WITH RECURSIVE reach (id) AS (SELECT NEW.source_id UNION SELECT d.b FROM directed d JOIN reach r ON d.a = r.id)
        SELECT id FROM reach);
END;
CREATE TRIGGER edges_space BEFORE INSERT ON edges
WHEN (SELECT space_id FROM memories WHERE id = NEW.from_id) NOT IN (NEW.space_id, 'GLOBAL')
  OR (SELECT space_id FROM memories WHERE id = NEW.to_id) NOT IN (NEW.space_id, 'GLOBAL')
BEGIN SELECT RAISE(ABORT, 'a relation stays within one space or GLOBAL'); END;
CREATE TRIGGER derivations_space BEFORE INSERT ON derivations
WHEN (SELECT space_id FROM memories WHERE id = NEW.derived_id) NOT IN (NEW.space_id, 'GLOBAL')
  OR (SELECT space_id FROM memories WHERE id = NEW.source_id) NOT IN (NEW.space_id, 'GLOBAL')
BEGIN SELECT RAISE(ABORT, 'a derivation stays within one space or GLOBAL'); END;
CREATE TRIGGER edges_stay BEFORE UPDATE OF from_id, to_id, type, space_id ON edges
WHEN NEW.from_id IS NOT OLD.from_id OR NEW.to_id IS NOT OLD.to_id OR NEW.type IS NOT OLD.type
  OR NEW.space_id IS NOT OLD.space_id
BEGIN SELECT RAISE(ABORT, 'a relation cannot move'); END;
CREATE TRIGGER derivations_stay BEFORE UPDATE OF derived_id, source_id, space_id ON derivations
WHEN NEW.derived_id IS NOT OLD.derived_id OR NEW.source_id IS NOT OLD.source_id OR NEW.space_id IS NOT OLD.space_id
BEGIN SELECT RAISE(ABORT, 'a derivation cannot move'); END;

CREATE TABLE conflicts (
    id             TEXT PRIMARY KEY,
    kind           TEXT NOT NULL CHECK (kind IN ('contradiction', 'classification', 'quarantine', 'injection',
                   'approval', 'stale', 'gap', 'entity_merge', 'proposal')),
    existing_id    TEXT REFERENCES memories (id),
    incoming_id    TEXT NOT NULL REFERENCES memories (id),
    space_id       TEXT NOT NULL REFERENCES spaces (id),
    reason         TEXT NOT NULL,
    suggestion     TEXT,
    confidence     REAL CHECK (confidence BETWEEN 0 AND 1),
    state          TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'resolved', 'moot')),
    resolution     TEXT,
    fingerprint    BLOB NOT NULL,
    opened_at      INTEGER NOT NULL,
    closed_at      INTEGER
) STRICT;
CREATE INDEX ix_conflicts_open ON conflicts (state, opened_at);
CREATE INDEX ix_conflicts_incoming ON conflicts (incoming_id);
CREATE INDEX ix_conflicts_existing ON conflicts (existing_id) WHERE existing_id IS NOT NULL;
CREATE UNIQUE INDEX uq_conflicts_pair ON conflicts (coalesce(existing_id, ''), incoming_id, kind) WHERE state = 'open';
CREATE TRIGGER conflicts_space BEFORE INSERT ON conflicts
WHEN (SELECT space_id FROM memories WHERE id = NEW.incoming_id) NOT IN (NEW.space_id, 'GLOBAL')
  OR (NEW.existing_id IS NOT NULL AND
      (SELECT space_id FROM memories WHERE id = NEW.existing_id) NOT IN (NEW.space_id, 'GLOBAL'))
BEGIN SELECT RAISE(ABORT, 'a conflict stays within one space or GLOBAL'); END;
CREATE TRIGGER conflicts_stay BEFORE UPDATE OF existing_id, incoming_id, space_id ON conflicts
WHEN NEW.existing_id IS NOT OLD.existing_id OR NEW.incoming_id IS NOT OLD.incoming_id OR NEW.space_id IS NOT OLD.space_id
BEGIN SELECT RAISE(ABORT, 'a conflict cannot move'); END;
-- What hangs on a memory was checked against its space: it moves only where all of it may follow.
CREATE TRIGGER memories_space BEFORE UPDATE OF space_id ON memories
WHEN NEW.space_id NOT IN (OLD.space_id, 'GLOBAL') AND (
       EXISTS (SELECT 1 FROM evidence WHERE memory_id = OLD.id AND space_id <> NEW.space_id)
    OR EXISTS (SELECT 1 FROM edges WHERE (from_id = OLD.id OR to_id = OLD.id) AND space_id <> NEW.space_id)
    OR EXISTS (SELECT 1 FROM derivations WHERE (derived_id = OLD.id OR source_id = OLD.id) AND space_id <> NEW.space_id)
    OR EXISTS (SELECT 1 FROM conflicts WHERE (existing_id = OLD.id OR incoming_id = OLD.id) AND space_id <> NEW.space_id)
    OR EXISTS (SELECT 1 FROM mentions m JOIN entities e ON e.id = m.entity_id
               WHERE m.memory_id = OLD.id AND e.space_id NOT IN (NEW.space_id, 'GLOBAL')))
BEGIN SELECT RAISE(ABORT, 'a memory with relations keeps its space'); END;

-- Search -----------------------------------------------------------------------------------------

-- Terms are made by core.text (folded, stemmed, split); the tokenizer only cuts at spaces.
CREATE VIRTUAL TABLE memory_fts USING fts5 (terms, content='', contentless_delete=1,
    tokenize="ascii tokenchars '_'");
INSERT INTO memory_fts (memory_fts, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE memory_terms USING fts5vocab ('memory_fts', 'row');

CREATE TABLE embeddings (
    owner        TEXT NOT NULL CHECK (owner IN ('memory', 'claim', 'entity')),
    n            INTEGER NOT NULL,
    vector_space TEXT NOT NULL,
    model        TEXT NOT NULL,
    dims         INTEGER NOT NULL CHECK (dims > 0),
    vector       BLOB NOT NULL,
    rev          INTEGER NOT NULL,
    PRIMARY KEY (owner, vector_space, n),
    CHECK (length(vector) = 2 * dims)
) STRICT;
CREATE INDEX ix_embeddings_rev ON embeddings (owner, vector_space, rev);

CREATE TABLE probes (
    id         TEXT PRIMARY KEY,
    query      TEXT NOT NULL,
    expected   TEXT NOT NULL CHECK (json_valid(expected)),
    created_at INTEGER NOT NULL
) STRICT;

-- Identity, idempotency, what must not come back ------------------------------------------------------

CREATE TABLE fingerprints (
    identity  BLOB PRIMARY KEY CHECK (length(identity) = 32),
    memory_id TEXT NOT NULL REFERENCES memories (id)
) STRICT;
CREATE INDEX ix_fingerprints_memory ON fingerprints (memory_id);
CREATE TABLE requests (
    actor      TEXT NOT NULL,
    request_id TEXT NOT NULL,
    digest     BLOB NOT NULL CHECK (length(digest) = 32),
    reply      TEXT NOT NULL CHECK (json_valid(reply)),
    at         INTEGER NOT NULL,
    PRIMARY KEY (actor, request_id)
) STRICT;
CREATE TABLE tombstones (
    digest    BLOB PRIMARY KEY CHECK (length(digest) = 32),
    kind      TEXT NOT NULL CHECK (kind IN ('text', 'identity')),
    erased_at INTEGER NOT NULL
) STRICT;

-- The journal ---------------------------------------------------------------------------------------

CREATE TABLE jobs (
    id          TEXT PRIMARY KEY,
    type        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled', 'poison')),
    params      TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(params)),
    progress    INTEGER NOT NULL DEFAULT 0,
    total       INTEGER,
    attempts    INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER,
    not_before  INTEGER,
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    report      TEXT CHECK (report IS NULL OR json_valid(report))
) STRICT;
CREATE TABLE undo_steps (
    id         TEXT PRIMARY KEY,
    at         INTEGER NOT NULL,
    verb       TEXT NOT NULL,
    label      TEXT NOT NULL,
    actor      TEXT NOT NULL CHECK (actor IN ('owner', 'client', 'scheduler')),
    client_id  TEXT REFERENCES clients (id),
    undoes_id  TEXT REFERENCES undo_steps (id),
    undone_by  TEXT REFERENCES undo_steps (id),
    is_open    INTEGER NOT NULL DEFAULT 0 CHECK (is_open IN (0, 1)),
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_undo_at ON undo_steps (at);
CREATE INDEX ix_undo_undoes ON undo_steps (undoes_id) WHERE undoes_id IS NOT NULL;
CREATE INDEX ix_undo_undone ON undo_steps (undone_by) WHERE undone_by IS NOT NULL;
CREATE TABLE undo_rows (
    step_id    TEXT NOT NULL REFERENCES undo_steps (id),
    nr         INTEGER NOT NULL,
    tbl        TEXT NOT NULL,
    row_key    TEXT NOT NULL CHECK (json_valid(row_key)),
    before     TEXT CHECK (before IS NULL OR json_valid(before)),
    after      TEXT CHECK (after IS NULL OR json_valid(after)),
    after_hash BLOB CHECK (after_hash IS NULL OR length(after_hash) = 16),
    PRIMARY KEY (step_id, nr)
) STRICT;
CREATE TABLE consolidation_log (
    id         TEXT PRIMARY KEY,
    at         INTEGER NOT NULL,
    operation  TEXT NOT NULL,
    memory_id  TEXT,
    other_id   TEXT,
    similarity REAL,
    confidence REAL,
    decided_by TEXT NOT NULL,
    step_id    TEXT REFERENCES undo_steps (id)
) STRICT;
CREATE INDEX ix_consolidation_step ON consolidation_log (step_id) WHERE step_id IS NOT NULL;
CREATE TABLE audit (
    nr        INTEGER PRIMARY KEY,
    at        INTEGER NOT NULL,
    actor     TEXT NOT NULL,
    verb      TEXT NOT NULL,
    object    TEXT NOT NULL DEFAULT '',
    detail    TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(detail)),
    mac       BLOB NOT NULL CHECK (length(mac) = 32)
) STRICT;
CREATE INDEX ix_audit_object ON audit (object);
CREATE TRIGGER audit_fixed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit WHEN (SELECT purge_open FROM vault_state) = 0
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

CREATE TABLE receipts (
    id         TEXT PRIMARY KEY,
    at         INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    client_id  TEXT REFERENCES clients (id),
    session    TEXT,
    verb       TEXT NOT NULL,
    query      TEXT,
    body       TEXT NOT NULL CHECK (json_valid(body)),
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_receipts_at ON receipts (at);
CREATE TABLE contexts (
    id         TEXT PRIMARY KEY,
    receipt_id TEXT NOT NULL REFERENCES receipts (id),
    text       TEXT NOT NULL,
    tokens     INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_contexts_receipt ON contexts (receipt_id);
CREATE TABLE accesses (
    memory_id TEXT NOT NULL REFERENCES memories (id),
    session   TEXT NOT NULL,
    count     INTEGER NOT NULL DEFAULT 1,
    last_at   INTEGER NOT NULL,
    PRIMARY KEY (memory_id, session)
) STRICT;
CREATE TABLE feedback (
    id         TEXT PRIMARY KEY,
    memory_id  TEXT NOT NULL REFERENCES memories (id),
    receipt_id TEXT REFERENCES receipts (id),
    signal     TEXT NOT NULL CHECK (signal IN ('helpful', 'harmful', 'irrelevant', 'corrected')),
    context    BLOB,
    actor      TEXT NOT NULL,
    client_id  TEXT REFERENCES clients (id),
    at         INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_feedback_memory ON feedback (memory_id);
CREATE INDEX ix_feedback_receipt ON feedback (receipt_id) WHERE receipt_id IS NOT NULL;
