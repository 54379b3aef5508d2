-- Version 10: folders that are watched, what of them came already, and what came when.

CREATE TABLE watched_folders (
    id        TEXT PRIMARY KEY,
    path      TEXT NOT NULL UNIQUE,                    -- absolute, without links
    format    TEXT NOT NULL,
    space_id  TEXT NOT NULL REFERENCES spaces (id),
    import_id TEXT NOT NULL REFERENCES imports (id),   -- all that ever comes from it is of one import
    root      TEXT NOT NULL,                           -- device and inode: another folder of that name is another one
    added_at  INTEGER NOT NULL,
    paused_at INTEGER,
    looked_at INTEGER,                                 -- when it was last read to the end
    step_id   TEXT                                     -- the undo step of what comes now; NULL between two rounds
) STRICT;

-- The files as they were when they were last read to their end. One that vanished stays until the person has answered.
CREATE TABLE watched_files (
    n         INTEGER PRIMARY KEY,
    folder_id TEXT NOT NULL REFERENCES watched_folders (id),
    name      TEXT NOT NULL,                           -- path inside the folder
    stamp     TEXT NOT NULL DEFAULT '',                -- size, time and inode; '' while it is being read for the first time
    gone_at   INTEGER,
    UNIQUE (folder_id, name)
) STRICT;
CREATE INDEX ix_watched_files_gone ON watched_files (folder_id) WHERE gone_at IS NOT NULL;

-- What each file said, as `fingerprints` knows it, in its order. A memory may be taken back, sealed or erased since.
CREATE TABLE watched_records (
    file_n    INTEGER NOT NULL REFERENCES watched_files (n),
    identity  BLOB NOT NULL CHECK (length(identity) = 32),
    position  INTEGER NOT NULL,
    memory_id TEXT,
    gone_at   INTEGER,                                 -- the file is there and does not say it any more
    PRIMARY KEY (file_n, identity)
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_watched_records_gone ON watched_records (file_n) WHERE gone_at IS NOT NULL;
CREATE INDEX ix_watched_records_memory ON watched_records (memory_id) WHERE memory_id IS NOT NULL;

CREATE TABLE watched_log (
    n         INTEGER PRIMARY KEY,
    folder_id TEXT NOT NULL REFERENCES watched_folders (id),
    at        INTEGER NOT NULL,
    event     TEXT NOT NULL,
    name      TEXT NOT NULL DEFAULT '',                -- the file, where there is one
    counts    TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(counts)),
    step_id   TEXT
) STRICT;
CREATE INDEX ix_watched_log_folder ON watched_log (folder_id, n);
