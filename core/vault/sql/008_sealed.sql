-- Version 8: memories sealed under a key of their own, which the vault's key does not open.

-- The slots that open a seal key, as the bytes of a key file; several where archives of other vaults came in.
CREATE TABLE seal_keys (
    id      TEXT PRIMARY KEY CHECK (length(id) = 32),  -- hex
    slots   BLOB NOT NULL,
    made_at INTEGER NOT NULL
) STRICT;

-- A memory that is sealed is in no other table: its row, its versions and what was written with them are in the body.
CREATE TABLE sealed_memories (
    id        TEXT PRIMARY KEY,          -- the memory's
    key_id    TEXT NOT NULL REFERENCES seal_keys (id),
    space_id  TEXT NOT NULL REFERENCES spaces (id),
    kind      TEXT NOT NULL CHECK (kind IN ('episode', 'fact', 'rule', 'procedure', 'digest')),
    label     TEXT NOT NULL CHECK (length(label) BETWEEN 1 AND 200),  -- readable without the key
    body      BLOB NOT NULL,             -- AES-256-GCM-SIV
    sealed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_sealed_memories_key ON sealed_memories (key_id);
CREATE INDEX ix_sealed_memories_space ON sealed_memories (space_id);
