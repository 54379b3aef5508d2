-- Version 5: what clients need beside their rows and grants.

-- A client that was away for 90 days sleeps until the person wakes it.
ALTER TABLE clients ADD COLUMN woken_at INTEGER;
-- The process that redeemed its code, as reported; shown, never believed.
ALTER TABLE clients ADD COLUMN asked_by TEXT;

-- Names the person said no to: not asked about again until pairing is opened for that very name.
CREATE TABLE denied (
    name_key  TEXT PRIMARY KEY CHECK (length(name_key) BETWEEN 1 AND 64),
    denied_at INTEGER NOT NULL
) STRICT;

-- What a client asked for and the person decides: the review item (kind `approval`) says about which memories.
-- The reason is the client's own free text; it may quote the memory and goes with it when that is erased.
CREATE TABLE approvals (
    conflict_id TEXT PRIMARY KEY REFERENCES conflicts (id),
    verb        TEXT NOT NULL CHECK (verb IN ('update', 'delete', 'forget')),
    client_id   TEXT NOT NULL REFERENCES clients (id),
    reason      TEXT,
    asked_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_approvals_client ON approvals (client_id);

-- What a client's session had at hand when it was left: ids and numbers, never text (E17.5.5).
CREATE TABLE working (
    client_id TEXT NOT NULL REFERENCES clients (id),
    session   TEXT NOT NULL CHECK (length(session) BETWEEN 1 AND 256),
    snapshot  TEXT NOT NULL CHECK (json_valid(snapshot)),
    saved_at  INTEGER NOT NULL,
    PRIMARY KEY (client_id, session)
) STRICT;
CREATE INDEX ix_working_saved ON working (saved_at);

-- Why somebody judged a memory so, in their own words; it goes with the memory.
ALTER TABLE feedback ADD COLUMN reason TEXT;

-- What a client did, newest first, without reading what all others did.
CREATE INDEX ix_undo_client ON undo_steps (client_id, at) WHERE client_id IS NOT NULL;
CREATE INDEX ix_audit_refused ON audit (actor, at) WHERE verb = 'refused';

-- What is sealed is kept from clients and counted in their receipts.
CREATE INDEX ix_memories_sealed ON memories (space_id) WHERE security_tier <> 'cleartext';
