-- Version 4: what the lifecycle needs: durable jobs, fading, replay, inferred metadata, gaps, proposed relations.

-- A job: where it stands (`cursor`), its undo step.
ALTER TABLE jobs ADD COLUMN cursor TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(cursor));
ALTER TABLE jobs ADD COLUMN actor TEXT NOT NULL DEFAULT 'scheduler';
ALTER TABLE jobs ADD COLUMN started_at INTEGER;
ALTER TABLE jobs ADD COLUMN step_id TEXT;
-- Why it failed last: an E-code, never a text.
ALTER TABLE jobs ADD COLUMN code TEXT;
CREATE UNIQUE INDEX uq_jobs_waiting ON jobs (type) WHERE state IN ('queued', 'running');
CREATE INDEX ix_jobs_ended ON jobs (type, finished_at);
CREATE INDEX ix_jobs_created ON jobs (created_at);

-- What a job shall do, made once so that a crash changes nothing; ids and numbers only.
CREATE TABLE job_deeds (
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    place  INTEGER NOT NULL CHECK (place >= 0),
    deed   TEXT NOT NULL CHECK (json_valid(deed)),
    PRIMARY KEY (job_id, place)
) STRICT, WITHOUT ROWID;

-- Effective confidence fell below the line; gone when it rises again.
CREATE TABLE fading (
    memory_id  TEXT PRIMARY KEY REFERENCES memories (id),
    since      INTEGER NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1)
) STRICT;
-- The person spared it in a preview: strength counts from here too, and no run archives it before `until`.
CREATE TABLE spared (
    memory_id TEXT PRIMARY KEY REFERENCES memories (id),
    at        INTEGER NOT NULL,
    until     INTEGER NOT NULL
) STRICT;
-- A run that changed it was taken back, and the undo step that told so has expired: no run takes it up again.
CREATE TABLE taken_back (
    memory_id TEXT PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    at        INTEGER NOT NULL
) STRICT;
-- What replay strengthened: each time counts as a spaced access (X56, X57).
CREATE TABLE replays (
    memory_id TEXT PRIMARY KEY REFERENCES memories (id),
    times     INTEGER NOT NULL CHECK (times >= 1),
    boost     REAL NOT NULL CHECK (boost BETWEEN 0 AND 1),
    last_at   INTEGER NOT NULL
) STRICT;

-- What was inferred from a text (E35.5, E37.1): derived, made anew at any time.
CREATE TABLE inferred (
    memory_id TEXT PRIMARY KEY REFERENCES memories (id),
    body      TEXT NOT NULL CHECK (json_valid(body)),
    valence   REAL NOT NULL DEFAULT 0 CHECK (valence BETWEEN -1 AND 1),
    arousal   REAL NOT NULL DEFAULT 0 CHECK (arousal BETWEEN 0 AND 1),
    version   INTEGER NOT NULL,
    made_by   TEXT NOT NULL CHECK (made_by IN ('rules', 'model')),
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_inferred_version ON inferred (version);

-- Relations that replay proposes; a rejected pair is never proposed again.
CREATE TABLE links (
    from_id  TEXT NOT NULL REFERENCES memories (id),
    to_id    TEXT NOT NULL REFERENCES memories (id) CHECK (to_id > from_id),
    space_id TEXT NOT NULL REFERENCES spaces (id),
    cosine   REAL NOT NULL CHECK (cosine BETWEEN -1 AND 1),
    state    TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'rejected')),
    at       INTEGER NOT NULL,
    PRIMARY KEY (from_id, to_id)
) STRICT;
CREATE INDEX ix_links_to ON links (to_id);
CREATE INDEX ix_links_open ON links (state, cosine);

-- Questions that Loci has; asked at most twice a session and once a week (E4.5.5).
CREATE TABLE gaps (
    id          TEXT PRIMARY KEY,
    fingerprint BLOB NOT NULL UNIQUE CHECK (length(fingerprint) = 32),
    kind        TEXT NOT NULL CHECK (kind IN ('missing', 'contradiction', 'stale')),
    memory_id   TEXT NOT NULL REFERENCES memories (id),
    other_id    TEXT REFERENCES memories (id),
    space_id    TEXT NOT NULL REFERENCES spaces (id),
    schema      TEXT NOT NULL DEFAULT '',
    field       TEXT NOT NULL DEFAULT '',
    state       TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'answered', 'dismissed')),
    opened_at   INTEGER NOT NULL,
    closed_at   INTEGER
) STRICT;
CREATE INDEX ix_gaps_open ON gaps (state, opened_at);
CREATE INDEX ix_gaps_memory ON gaps (memory_id);
CREATE INDEX ix_gaps_other ON gaps (other_id) WHERE other_id IS NOT NULL;
CREATE TABLE gap_asks (
    gap_id    TEXT NOT NULL REFERENCES gaps (id) ON DELETE CASCADE,
    client_id TEXT REFERENCES clients (id),
    session   TEXT NOT NULL,
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_gap_asks ON gap_asks (gap_id, at);
CREATE INDEX ix_gap_asks_session ON gap_asks (session, at);

-- The reading of episodes by a model (seed B): what waits has no row.
CREATE TABLE distilled (
    memory_id TEXT PRIMARY KEY REFERENCES memories (id),
    state     TEXT NOT NULL CHECK (state IN ('failed', 'done', 'dead')),
    attempts  INTEGER NOT NULL DEFAULT 0,  -- answers that could not be used
    failures  INTEGER NOT NULL DEFAULT 0,  -- of the server: they are no fault of the text
    code      TEXT,
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_distilled_state ON distilled (state);

-- Feedback of rules (seed B): counts of version 1 are helpful and harmful.
ALTER TABLE rules ADD COLUMN effectiveness REAL NOT NULL DEFAULT 0 CHECK (effectiveness BETWEEN 0 AND 1);
ALTER TABLE rules ADD COLUMN last_applied_at INTEGER;
ALTER TABLE rules ADD COLUMN needs_inversion INTEGER NOT NULL DEFAULT 0 CHECK (needs_inversion IN (0, 1));
ALTER TABLE rule_applications ADD COLUMN reason TEXT;

-- By whom an entity was made; those of rules go when nothing mentions them any more.
ALTER TABLE entities ADD COLUMN made_by TEXT NOT NULL DEFAULT 'owner' CHECK (made_by IN ('owner', 'client', 'rules', 'model'));

-- Vector spaces: at most one is searched (`active`), at most one is being filled (`building`).
CREATE TABLE vector_spaces (
    name        TEXT PRIMARY KEY,
    model       TEXT NOT NULL,
    dims        INTEGER NOT NULL CHECK (dims > 0),
    state       TEXT NOT NULL CHECK (state IN ('active', 'building', 'old')),
    started_at  INTEGER NOT NULL,
    finished_at INTEGER
) STRICT;
CREATE UNIQUE INDEX uq_vector_spaces_active ON vector_spaces (state) WHERE state IN ('active', 'building');
