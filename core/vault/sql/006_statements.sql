-- Version 6: what is made of talk: statements with the exact span of the episode that says them, and which were read.

-- One row for each episode that says a statement. The memory it was first made of is its derivation, too.
CREATE TABLE statements (
    memory_id  TEXT NOT NULL REFERENCES memories (id),
    episode_id TEXT NOT NULL REFERENCES memories (id) CHECK (episode_id <> memory_id),
    start_at   INTEGER NOT NULL CHECK (start_at >= 0),
    end_at     INTEGER NOT NULL CHECK (end_at > start_at),
    about      TEXT NOT NULL,
    type       TEXT NOT NULL CHECK (type IN ('attribute', 'relationship', 'preference', 'possession', 'health', 'work',
               'place', 'plan', 'event', 'habit', 'skill', 'opinion')),
    lasting    INTEGER NOT NULL CHECK (lasting IN (0, 1)),
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    operation  TEXT NOT NULL,  -- what the gate made of it: ADD, NOOP, SUPERSEDE, ...
    made_by    TEXT NOT NULL CHECK (made_by IN ('reader', 'model')),
    PRIMARY KEY (memory_id, episode_id)
) STRICT;
CREATE INDEX ix_statements_episode ON statements (episode_id);

-- Which episodes the reader has read; what waits has no row, or one of an older reader or another text.
CREATE TABLE readings (
    memory_id    TEXT PRIMARY KEY REFERENCES memories (id),
    version      TEXT NOT NULL,  -- of the reader
    content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
    small_talk   INTEGER NOT NULL CHECK (small_talk IN (0, 1)),
    at           INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_readings_small ON readings (small_talk, memory_id) WHERE small_talk = 1;
