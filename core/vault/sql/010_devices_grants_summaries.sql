-- Version 10: keys of bundles for when a device has left, the grant for what is sensitive, summaries of what is sealed.

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
