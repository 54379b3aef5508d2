-- Version 2: what belief and the conflict desk need beside the tables of version 1.

-- Probabilities, claims at odds, the place in the desk: ids and numbers, and the keys of sentences, never memory text.
ALTER TABLE conflicts ADD COLUMN detail TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(detail));
-- Skipped: shown after the others until then.
ALTER TABLE conflicts ADD COLUMN later_until INTEGER;
-- Why it closed itself: a key of resources/help/review.json.
ALTER TABLE conflicts ADD COLUMN note TEXT;
CREATE INDEX ix_conflicts_fingerprint ON conflicts (fingerprint);
CREATE INDEX ix_conflicts_closed ON conflicts (closed_at) WHERE closed_at IS NOT NULL;

-- Who reinforced, disputed or confirmed a memory: one row a voice, so that nobody counts twice.
CREATE TABLE verdicts (
    memory_id TEXT NOT NULL REFERENCES memories (id),
    voice     TEXT NOT NULL,
    verdict   TEXT NOT NULL CHECK (verdict IN ('reinforce', 'dispute', 'confirm')),
    client_id TEXT REFERENCES clients (id),
    times     INTEGER NOT NULL DEFAULT 1 CHECK (times >= 1),
    reason    TEXT,
    at        INTEGER NOT NULL,
    PRIMARY KEY (memory_id, voice, verdict)
) STRICT;

-- Decisions that the person wants repeated.
CREATE TABLE review_rules (
    id         TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    action     TEXT NOT NULL,
    source     TEXT,
    client_id  TEXT REFERENCES clients (id),
    applied    INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
) STRICT;

-- Which client was given which memory: what comes back from it is an echo, and no second source.
CREATE TABLE handed (
    client_id TEXT NOT NULL REFERENCES clients (id),
    memory_id TEXT NOT NULL REFERENCES memories (id),
    last_at   INTEGER NOT NULL,
    PRIMARY KEY (client_id, memory_id)
) STRICT;
CREATE INDEX ix_handed_memory ON handed (memory_id);

-- When its claims were read and it was compared with what stands; NULL where that is still to be done.
ALTER TABLE memories ADD COLUMN read_at INTEGER;
CREATE INDEX ix_memories_unread ON memories (kind, n) WHERE read_at IS NULL AND status = 'active' AND kind <> 'episode';
