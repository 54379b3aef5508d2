-- Version 9: other devices of the person, and which row was written when and by which of them.

-- One row once the vault is synchronised. The keys are in the vault, as everything that opens anything.
CREATE TABLE sync_state (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    group_id    TEXT NOT NULL CHECK (length(group_id) = 32),   -- hex
    device      TEXT NOT NULL CHECK (length(device) = 16),     -- hex
    sync_key    BLOB NOT NULL CHECK (length(sync_key) = 32),   -- seals the bundles of the group
    private_key BLOB NOT NULL CHECK (length(private_key) = 32),  -- signs this device's
    folder      TEXT NOT NULL,
    clock       INTEGER NOT NULL DEFAULT 0,  -- hybrid logical clock: epoch ms, shifted by 16 bits, and a counter
    is_taking   INTEGER NOT NULL DEFAULT 0 CHECK (is_taking IN (0, 1)),  -- rows are written with the stamps of others
    number      INTEGER NOT NULL DEFAULT 0,  -- of the last bundle written
    digest      TEXT NOT NULL,
    is_owing    INTEGER NOT NULL DEFAULT 0 CHECK (is_owing IN (0, 1)),  -- took rows since, and has told nobody
    synced_at   INTEGER
) STRICT;

-- This device and those it knows. What was taken last of each; another one that joined starts at a whole bundle.
CREATE TABLE sync_devices (
    id         TEXT PRIMARY KEY CHECK (length(id) = 16),
    name       TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    public_key BLOB NOT NULL CHECK (length(public_key) = 32),
    added_at   INTEGER NOT NULL,
    left_at    INTEGER,
    last       INTEGER,  -- of a device that left, or was taken out: the last of its bundles that counts
    number     INTEGER NOT NULL DEFAULT 0,
    digest     TEXT NOT NULL DEFAULT '',
    known      INTEGER NOT NULL DEFAULT 0  -- the last of this device's own bundles that it has taken
) STRICT;

-- Codes that were shown and not used yet.
CREATE TABLE sync_invitations (
    id         TEXT PRIMARY KEY,
    secret     BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

-- The stamps of every synchronised row (core/intake/sync/registers.py): 16 digits of the clock and the device.
CREATE TABLE sync_rows (
    tbl        TEXT NOT NULL,
    row_key    TEXT NOT NULL,
    presence   INTEGER NOT NULL CHECK (presence IN (0, 1, 2)),  -- absent, present, erased for good
    born       TEXT NOT NULL,                                   -- when it came or went
    stamps     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(stamps)),  -- registers written since
    is_pending INTEGER NOT NULL DEFAULT 0 CHECK (is_pending IN (0, 1)),  -- in none of this device's bundles yet
    PRIMARY KEY (tbl, row_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_sync_rows_pending ON sync_rows (tbl, presence) WHERE is_pending = 1;

-- Whoever writes a row is stamped by these, whatever way it was written. Without a row in sync_state nothing happens.
CREATE TRIGGER sync_memories_in AFTER INSERT ON memories WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'memories', new.id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_memories_out AFTER DELETE ON memories WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'memories' AND row_key = old.id AND presence < 2;
END;
CREATE TRIGGER sync_memories_content AFTER UPDATE OF kind, text, content_hash, client_id, source, role, author,
    session, scope_session, scope_channel, conversation_id, position, ref, origin, lineage, part_of, part_index,
    occurred_at, occurred_prec, occurred_offset, recorded_at ON memories
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.kind IS NOT old.kind OR new.text IS NOT old.text OR
    new.content_hash IS NOT old.content_hash OR new.client_id IS NOT old.client_id OR
    new.source IS NOT old.source OR new.role IS NOT old.role OR new.author IS NOT old.author OR
    new.session IS NOT old.session OR new.scope_session IS NOT old.scope_session OR
    new.scope_channel IS NOT old.scope_channel OR new.conversation_id IS NOT old.conversation_id OR
    new.position IS NOT old.position OR new.ref IS NOT old.ref OR new.origin IS NOT old.origin OR
    new.lineage IS NOT old.lineage OR new.part_of IS NOT old.part_of OR new.part_index IS NOT old.part_index OR
    new.occurred_at IS NOT old.occurred_at OR new.occurred_prec IS NOT old.occurred_prec OR
    new.occurred_offset IS NOT old.occurred_offset OR new.recorded_at IS NOT old.recorded_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.content', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'memories' AND row_key = new.id;
END;
CREATE TRIGGER sync_memories_space AFTER UPDATE OF space_id ON memories
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.space_id IS NOT old.space_id)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.space', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'memories' AND row_key = new.id;
END;
CREATE TRIGGER sync_memories_labels AFTER UPDATE OF category, tags ON memories
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.category IS NOT old.category OR new.tags IS NOT old.tags)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.labels', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'memories' AND row_key = new.id;
END;
CREATE TRIGGER sync_memories_importance AFTER UPDATE OF importance ON memories
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.importance IS NOT old.importance)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.importance', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'memories' AND row_key = new.id;
END;
CREATE TRIGGER sync_memories_marks AFTER UPDATE OF flags, extra, security_tier ON memories
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.flags IS NOT old.flags OR new.extra IS NOT old.extra OR
    new.security_tier IS NOT old.security_tier)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.marks', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'memories' AND row_key = new.id;
END;
CREATE TRIGGER sync_memories_pin AFTER UPDATE OF pinned ON memories
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.pinned IS NOT old.pinned)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.pin', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'memories' AND row_key = new.id;
END;
CREATE TRIGGER sync_memories_validity AFTER UPDATE OF valid_from, valid_from_prec, valid_to, valid_to_prec ON memories
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.valid_from IS NOT old.valid_from OR
    new.valid_from_prec IS NOT old.valid_from_prec OR new.valid_to IS NOT old.valid_to OR
    new.valid_to_prec IS NOT old.valid_to_prec)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.validity', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'memories' AND row_key = new.id;
END;
CREATE TRIGGER sync_memories_standing AFTER UPDATE OF status, status_reason, retired_at ON memories
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.status IS NOT old.status OR
    new.status_reason IS NOT old.status_reason OR new.retired_at IS NOT old.retired_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.standing', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'memories' AND row_key = new.id;
END;
CREATE TRIGGER sync_memories_version AFTER UPDATE OF supersedes_id, superseded_by_id, consolidated_into, chain_id,
    version ON memories
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.supersedes_id IS NOT old.supersedes_id OR
    new.superseded_by_id IS NOT old.superseded_by_id OR new.consolidated_into IS NOT old.consolidated_into OR
    new.chain_id IS NOT old.chain_id OR new.version IS NOT old.version)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.version', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'memories' AND row_key = new.id;
END;
CREATE TRIGGER sync_memories_votes AFTER UPDATE OF reinforcements, disputes, last_confirmed_at, permanence ON memories
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.reinforcements IS NOT old.reinforcements OR
    new.disputes IS NOT old.disputes OR new.last_confirmed_at IS NOT old.last_confirmed_at OR
    new.permanence IS NOT old.permanence)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.votes', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'memories' AND row_key = new.id;
END;
CREATE TRIGGER sync_memory_sources_in AFTER INSERT ON memory_sources WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'memory_sources', json_array(new.memory_id, new.lineage), 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_memory_sources_out AFTER DELETE ON memory_sources WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'memory_sources' AND row_key = json_array(old.memory_id, old.lineage) AND presence < 2;
END;
CREATE TRIGGER sync_memory_sources_row AFTER UPDATE OF source, client_id, session, at ON memory_sources
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.source IS NOT old.source OR
    new.client_id IS NOT old.client_id OR new.session IS NOT old.session OR new.at IS NOT old.at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'memory_sources' AND row_key = json_array(new.memory_id, new.lineage);
END;
CREATE TRIGGER sync_episodes_in AFTER INSERT ON episodes WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'episodes', new.memory_id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_episodes_out AFTER DELETE ON episodes WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'episodes' AND row_key = old.memory_id AND presence < 2;
END;
CREATE TRIGGER sync_episodes_row AFTER UPDATE OF outcome, participants, valence, arousal, consolidated_at,
    expires_at ON episodes
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.outcome IS NOT old.outcome OR
    new.participants IS NOT old.participants OR new.valence IS NOT old.valence OR new.arousal IS NOT old.arousal OR
    new.consolidated_at IS NOT old.consolidated_at OR new.expires_at IS NOT old.expires_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'episodes' AND row_key = new.memory_id;
END;
CREATE TRIGGER sync_rules_in AFTER INSERT ON rules WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'rules', new.memory_id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_rules_out AFTER DELETE ON rules WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'rules' AND row_key = old.memory_id AND presence < 2;
END;
CREATE TRIGGER sync_rules_row AFTER UPDATE OF maturity, helpful, harmful, is_antipattern, original_text,
    effectiveness, last_applied_at, needs_inversion ON rules
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.maturity IS NOT old.maturity OR
    new.helpful IS NOT old.helpful OR new.harmful IS NOT old.harmful OR
    new.is_antipattern IS NOT old.is_antipattern OR new.original_text IS NOT old.original_text OR
    new.effectiveness IS NOT old.effectiveness OR new.last_applied_at IS NOT old.last_applied_at OR
    new.needs_inversion IS NOT old.needs_inversion)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'rules' AND row_key = new.memory_id;
END;
CREATE TRIGGER sync_procedures_in AFTER INSERT ON procedures WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'procedures', new.memory_id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_procedures_out AFTER DELETE ON procedures WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'procedures' AND row_key = old.memory_id AND presence < 2;
END;
CREATE TRIGGER sync_procedures_row AFTER UPDATE OF steps, tools, trigger_cues, successes, failures, avg_ms,
    last_used_at ON procedures
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.steps IS NOT old.steps OR new.tools IS NOT old.tools OR
    new.trigger_cues IS NOT old.trigger_cues OR new.successes IS NOT old.successes OR
    new.failures IS NOT old.failures OR new.avg_ms IS NOT old.avg_ms OR new.last_used_at IS NOT old.last_used_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'procedures' AND row_key = new.memory_id;
END;
CREATE TRIGGER sync_fingerprints_in AFTER INSERT ON fingerprints WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'fingerprints', lower(hex(new.identity)), 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_fingerprints_out AFTER DELETE ON fingerprints WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'fingerprints' AND row_key = lower(hex(old.identity)) AND presence < 2;
END;
CREATE TRIGGER sync_fingerprints_row AFTER UPDATE OF memory_id ON fingerprints
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.memory_id IS NOT old.memory_id)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'fingerprints' AND row_key = lower(hex(new.identity));
END;
CREATE TRIGGER sync_claims_in AFTER INSERT ON claims WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'claims', new.id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_claims_out AFTER DELETE ON claims WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'claims' AND row_key = old.id AND presence < 2;
END;
CREATE TRIGGER sync_claims_content AFTER UPDATE OF space_id, subject, subject_key, predicate, value, value_key,
    exclusive, polarity, scope_session, extracted_by, recorded_at ON claims
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.space_id IS NOT old.space_id OR
    new.subject IS NOT old.subject OR new.subject_key IS NOT old.subject_key OR
    new.predicate IS NOT old.predicate OR new.value IS NOT old.value OR new.value_key IS NOT old.value_key OR
    new.exclusive IS NOT old.exclusive OR new.polarity IS NOT old.polarity OR
    new.scope_session IS NOT old.scope_session OR new.extracted_by IS NOT old.extracted_by OR
    new.recorded_at IS NOT old.recorded_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.content', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'claims' AND row_key = new.id;
END;
CREATE TRIGGER sync_claims_terms AFTER UPDATE OF claim_key, qualifiers, valid_from, valid_from_prec, valid_to,
    valid_to_prec ON claims
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.claim_key IS NOT old.claim_key OR
    new.qualifiers IS NOT old.qualifiers OR new.valid_from IS NOT old.valid_from OR
    new.valid_from_prec IS NOT old.valid_from_prec OR new.valid_to IS NOT old.valid_to OR
    new.valid_to_prec IS NOT old.valid_to_prec)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.terms', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'claims' AND row_key = new.id;
END;
CREATE TRIGGER sync_claims_standing AFTER UPDATE OF state, superseded_by_id, asserted_at, retired_at ON claims
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.state IS NOT old.state OR
    new.superseded_by_id IS NOT old.superseded_by_id OR new.asserted_at IS NOT old.asserted_at OR
    new.retired_at IS NOT old.retired_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.standing', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'claims' AND row_key = new.id;
END;
CREATE TRIGGER sync_evidence_in AFTER INSERT ON evidence WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'evidence', new.id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_evidence_out AFTER DELETE ON evidence WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'evidence' AND row_key = old.id AND presence < 2;
END;
CREATE TRIGGER sync_evidence_row AFTER UPDATE OF claim_id, memory_id, space_id, quote, start_at, end_at, span_hash,
    stance, confidence, method, lineage, observed_at, recorded_at ON evidence
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.claim_id IS NOT old.claim_id OR
    new.memory_id IS NOT old.memory_id OR new.space_id IS NOT old.space_id OR new.quote IS NOT old.quote OR
    new.start_at IS NOT old.start_at OR new.end_at IS NOT old.end_at OR new.span_hash IS NOT old.span_hash OR
    new.stance IS NOT old.stance OR new.confidence IS NOT old.confidence OR new.method IS NOT old.method OR
    new.lineage IS NOT old.lineage OR new.observed_at IS NOT old.observed_at OR
    new.recorded_at IS NOT old.recorded_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'evidence' AND row_key = new.id;
END;
CREATE TRIGGER sync_edges_in AFTER INSERT ON edges WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'edges', new.id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_edges_out AFTER DELETE ON edges WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'edges' AND row_key = old.id AND presence < 2;
END;
CREATE TRIGGER sync_edges_row AFTER UPDATE OF from_id, to_id, type, space_id, weight, made_by, recorded_at ON edges
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.from_id IS NOT old.from_id OR new.to_id IS NOT old.to_id OR
    new.type IS NOT old.type OR new.space_id IS NOT old.space_id OR new.weight IS NOT old.weight OR
    new.made_by IS NOT old.made_by OR new.recorded_at IS NOT old.recorded_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'edges' AND row_key = new.id;
END;
CREATE TRIGGER sync_derivations_in AFTER INSERT ON derivations WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'derivations', json_array(new.derived_id, new.source_id), 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_derivations_out AFTER DELETE ON derivations WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'derivations' AND row_key = json_array(old.derived_id, old.source_id) AND presence < 2;
END;
CREATE TRIGGER sync_derivations_row AFTER UPDATE OF space_id, recorded_at ON derivations
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.space_id IS NOT old.space_id OR
    new.recorded_at IS NOT old.recorded_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'derivations' AND row_key = json_array(new.derived_id, new.source_id);
END;
CREATE TRIGGER sync_statements_in AFTER INSERT ON statements WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'statements', json_array(new.memory_id, new.episode_id), 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_statements_out AFTER DELETE ON statements WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'statements' AND row_key = json_array(old.memory_id, old.episode_id) AND presence < 2;
END;
CREATE TRIGGER sync_statements_row AFTER UPDATE OF start_at, end_at, about, type, lasting, confidence, operation,
    made_by ON statements
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.start_at IS NOT old.start_at OR
    new.end_at IS NOT old.end_at OR new.about IS NOT old.about OR new.type IS NOT old.type OR
    new.lasting IS NOT old.lasting OR new.confidence IS NOT old.confidence OR new.operation IS NOT old.operation OR
    new.made_by IS NOT old.made_by)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'statements' AND row_key = json_array(new.memory_id, new.episode_id);
END;
CREATE TRIGGER sync_readings_in AFTER INSERT ON readings WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'readings', new.memory_id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_readings_out AFTER DELETE ON readings WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'readings' AND row_key = old.memory_id AND presence < 2;
END;
CREATE TRIGGER sync_readings_row AFTER UPDATE OF version, content_hash, small_talk, at ON readings
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.version IS NOT old.version OR
    new.content_hash IS NOT old.content_hash OR new.small_talk IS NOT old.small_talk OR new.at IS NOT old.at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'readings' AND row_key = new.memory_id;
END;
CREATE TRIGGER sync_conflicts_in AFTER INSERT ON conflicts WHEN (SELECT is_taking FROM sync_state) = 0 AND new.kind NOT IN ('entity_merge', 'gap')
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'conflicts', new.id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_conflicts_out AFTER DELETE ON conflicts WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'conflicts' AND row_key = old.id AND presence < 2;
END;
CREATE TRIGGER sync_conflicts_item AFTER UPDATE OF kind, existing_id, incoming_id, space_id, reason, fingerprint,
    opened_at ON conflicts
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.kind IS NOT old.kind OR
    new.existing_id IS NOT old.existing_id OR new.incoming_id IS NOT old.incoming_id OR
    new.space_id IS NOT old.space_id OR new.reason IS NOT old.reason OR new.fingerprint IS NOT old.fingerprint OR
    new.opened_at IS NOT old.opened_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.item', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'conflicts' AND row_key = new.id;
END;
CREATE TRIGGER sync_conflicts_standing AFTER UPDATE OF state, resolution, note, closed_at ON conflicts
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.state IS NOT old.state OR
    new.resolution IS NOT old.resolution OR new.note IS NOT old.note OR new.closed_at IS NOT old.closed_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.standing', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'conflicts' AND row_key = new.id;
END;
CREATE TRIGGER sync_approvals_in AFTER INSERT ON approvals WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'approvals', new.conflict_id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_approvals_out AFTER DELETE ON approvals WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'approvals' AND row_key = old.conflict_id AND presence < 2;
END;
CREATE TRIGGER sync_approvals_row AFTER UPDATE OF verb, client_id, reason, asked_at ON approvals
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.verb IS NOT old.verb OR new.client_id IS NOT old.client_id OR
    new.reason IS NOT old.reason OR new.asked_at IS NOT old.asked_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'approvals' AND row_key = new.conflict_id;
END;
CREATE TRIGGER sync_verdicts_in AFTER INSERT ON verdicts WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'verdicts', json_array(new.memory_id, new.voice, new.verdict), 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_verdicts_out AFTER DELETE ON verdicts WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'verdicts' AND row_key = json_array(old.memory_id, old.voice, old.verdict) AND presence < 2;
END;
CREATE TRIGGER sync_verdicts_row AFTER UPDATE OF client_id, times, reason, at ON verdicts
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.client_id IS NOT old.client_id OR
    new.times IS NOT old.times OR new.reason IS NOT old.reason OR new.at IS NOT old.at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'verdicts' AND row_key = json_array(new.memory_id, new.voice, new.verdict);
END;
CREATE TRIGGER sync_seal_keys_in AFTER INSERT ON seal_keys WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'seal_keys', new.id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_seal_keys_out AFTER DELETE ON seal_keys WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'seal_keys' AND row_key = old.id AND presence < 2;
END;
CREATE TRIGGER sync_seal_keys_row AFTER UPDATE OF slots, made_at ON seal_keys
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.slots IS NOT old.slots OR new.made_at IS NOT old.made_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'seal_keys' AND row_key = new.id;
END;
CREATE TRIGGER sync_sealed_memories_in AFTER INSERT ON sealed_memories WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    INSERT INTO sync_rows (tbl, row_key, presence, born, is_pending)
        SELECT 'sealed_memories', new.id, 1, printf('%016x', clock) || device, 1 FROM sync_state WHERE true
        ON CONFLICT (tbl, row_key) DO UPDATE SET presence = 1, born = excluded.born, stamps = '{}', is_pending = 1
        WHERE presence < 2;
END;
CREATE TRIGGER sync_sealed_memories_out AFTER DELETE ON sealed_memories WHEN (SELECT is_taking FROM sync_state) = 0
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET presence = 0, born = (SELECT printf('%016x', clock) || device FROM sync_state),
        stamps = '{}', is_pending = 1
    WHERE tbl = 'sealed_memories' AND row_key = old.id AND presence < 2;
END;
CREATE TRIGGER sync_sealed_memories_row AFTER UPDATE OF key_id, space_id, kind, label, body, sealed_at ON sealed_memories
WHEN (SELECT is_taking FROM sync_state) = 0 AND (new.key_id IS NOT old.key_id OR
    new.space_id IS NOT old.space_id OR new.kind IS NOT old.kind OR new.label IS NOT old.label OR
    new.body IS NOT old.body OR new.sealed_at IS NOT old.sealed_at)
BEGIN
    UPDATE sync_state SET clock = max(clock + 1, (SELECT last_at FROM vault_state) << 16);
    UPDATE sync_rows SET is_pending = 1,
        stamps = json_set(stamps, '$.row', (SELECT printf('%016x', clock) || device FROM sync_state))
    WHERE tbl = 'sealed_memories' AND row_key = new.id;
END;
