-- Version 3: what the laboratory of recall needs: probes with their outcome, runs of all probes, receipts that can be counted.

-- positive: these memories belong into the first `within`; negative: nothing belongs here; stale: these must not come.
ALTER TABLE probes ADD COLUMN kind TEXT NOT NULL DEFAULT 'positive' CHECK (kind IN ('positive', 'negative', 'stale'));
ALTER TABLE probes ADD COLUMN within INTEGER NOT NULL DEFAULT 10 CHECK (within BETWEEN 1 AND 50);
-- How it ended last; NULL where it never ran.
ALTER TABLE probes ADD COLUMN passed INTEGER CHECK (passed IS NULL OR passed IN (0, 1));
ALTER TABLE probes ADD COLUMN place INTEGER;
ALTER TABLE probes ADD COLUMN ran_at INTEGER;
-- Since when it fails although it once held; NULL while it holds, and where it never did.
ALTER TABLE probes ADD COLUMN regressed_at INTEGER;

-- All probes under the weights of a moment; ids and counts only.
CREATE TABLE probe_runs (
    id       TEXT PRIMARY KEY,
    at       INTEGER NOT NULL,
    -- The application of weights it followed; NULL for a run of another cause, or where that step has expired.
    step_id  TEXT REFERENCES undo_steps (id) ON DELETE SET NULL,
    found    INTEGER NOT NULL,
    found_of INTEGER NOT NULL,
    empty    INTEGER NOT NULL,
    empty_of INTEGER NOT NULL,
    stale    INTEGER NOT NULL,
    stale_of INTEGER NOT NULL,
    tokens   REAL NOT NULL
) STRICT;
CREATE INDEX ix_probe_runs_at ON probe_runs (at);
CREATE INDEX ix_probe_runs_step ON probe_runs (step_id) WHERE step_id IS NOT NULL;

-- What each application of weights changed: option to [before, after]; an undo step keeps no after image of what it inserted.
CREATE TABLE tunings (
    step_id TEXT PRIMARY KEY REFERENCES undo_steps (id) ON DELETE CASCADE,
    changes TEXT NOT NULL CHECK (json_valid(changes))
) STRICT;

-- How many memories an answer had, and how good it was (E5.3.1); read without the body.
ALTER TABLE receipts ADD COLUMN items INTEGER NOT NULL DEFAULT 0;
ALTER TABLE receipts ADD COLUMN metrics TEXT CHECK (metrics IS NULL OR json_valid(metrics));
CREATE INDEX ix_receipts_client ON receipts (client_id, at) WHERE client_id IS NOT NULL;

-- How often a client was given a memory, so that no receipt has to be looked through.
ALTER TABLE handed ADD COLUMN times INTEGER NOT NULL DEFAULT 1;

-- Which embedder made the context of a feedback: vectors of two models are not compared.
ALTER TABLE feedback ADD COLUMN vector_space TEXT;

-- What a search reaches changes with these columns alone, not with every receipt: counted, so that it is listed once.
ALTER TABLE vault_state ADD COLUMN reach INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER memories_reach_in AFTER INSERT ON memories BEGIN UPDATE vault_state SET reach = reach + 1; END;
CREATE TRIGGER memories_reach_out AFTER DELETE ON memories BEGIN UPDATE vault_state SET reach = reach + 1; END;
CREATE TRIGGER memories_reach_moved AFTER UPDATE OF status, status_reason, space_id, kind, category, confidence,
    scope_session, occurred_at, valid_from, valid_to ON memories BEGIN UPDATE vault_state SET reach = reach + 1; END;
CREATE INDEX ix_memories_reach ON memories (status, space_id, scope_session, valid_to);
