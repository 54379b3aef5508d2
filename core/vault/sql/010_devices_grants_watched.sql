-- Version 10: keys of bundles for when a device has left, the grant for what is sensitive, summaries of what is sealed,
-- and folders that are watched.

-- Keys beside the first one of `sync_state`. What is written is sealed under the newest; the others open older bundles.
CREATE TABLE sync_keys (
    id      TEXT PRIMARY KEY CHECK (length(id) = 16),      -- hex, derived from the key
    key     BLOB NOT NULL CHECK (length(key) = 32),
    made    INTEGER NOT NULL CHECK (made >= 0),            -- by the clock of the device that made it
    holders TEXT NOT NULL CHECK (json_valid(holders))      -- devices that have it, as far as is known here
) STRICT;
-- Whether it has sealed a bundle to this device: if it seals the next one to others only, it took this device out.
ALTER TABLE sync_devices ADD COLUMN is_met INTEGER NOT NULL DEFAULT 0 CHECK (is_met IN (0, 1));

-- With the grant `sensitive` a client can be given what is sensitive or confidential, for the minutes the person says.
CREATE TABLE granted (
    client_id  TEXT NOT NULL REFERENCES clients (id),
    name       TEXT NOT NULL CHECK (name IN ('read', 'propose', 'write', 'curate', 'speak_for_user', 'sensitive',
        'all_spaces', 'space')),
    space_id   TEXT REFERENCES spaces (id),
    granted_at INTEGER NOT NULL,
    CHECK ((name = 'space') = (space_id IS NOT NULL))
) STRICT;
INSERT INTO granted SELECT client_id, name, space_id, granted_at FROM grants;
DROP TABLE grants;
ALTER TABLE granted RENAME TO grants;
CREATE UNIQUE INDEX uq_grants ON grants (client_id, name, coalesce(space_id, ''));

-- What the person says of a sealed memory in the clear; never made by the program.
ALTER TABLE sealed_memories ADD COLUMN summary TEXT NOT NULL DEFAULT '' CHECK (length(summary) <= 1000);

-- Folders that are watched, what of them came already, and what came when.
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
