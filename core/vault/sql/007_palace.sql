-- Version 7: what makes a room recognisable, what one remembers it by, and how well one does.

-- Null until the arranger has furnished the room; from then on it changes by the person's hand only.
ALTER TABLE rooms ADD COLUMN emblem TEXT;   -- name of an icon in resources/icons
ALTER TABLE rooms ADD COLUMN tint INTEGER CHECK (tint BETWEEN 0 AND 7);
ALTER TABLE rooms ADD COLUMN outline INTEGER CHECK (outline BETWEEN 0 AND 3);  -- the kind of its corners
ALTER TABLE rooms ADD COLUMN floor INTEGER CHECK (floor BETWEEN 0 AND 7);      -- the texture of its ground

-- The memories a room is known by, in the order in which they are walked along. One that goes is followed by another
-- in the same position; the others keep theirs.
CREATE TABLE landmarks (
    room_id   TEXT NOT NULL REFERENCES rooms (id),
    position  INTEGER NOT NULL CHECK (position BETWEEN 0 AND 5),
    memory_id TEXT NOT NULL UNIQUE REFERENCES memories (id),
    chosen_by TEXT NOT NULL CHECK (chosen_by IN ('owner', 'lifecycle')),
    PRIMARY KEY (room_id, position)
) STRICT;

-- Memories that the person does not want as landmarks; nothing chooses them again.
CREATE TABLE unset_landmarks (
    memory_id TEXT PRIMARY KEY REFERENCES memories (id)
) STRICT;

-- Parts of a large room with a name of their own. A memory is in the alcove in whose ground its place lies.
CREATE TABLE alcoves (
    id      TEXT PRIMARY KEY,
    room_id TEXT NOT NULL REFERENCES rooms (id),
    name    TEXT NOT NULL,
    x REAL NOT NULL, y REAL NOT NULL, w REAL NOT NULL, h REAL NOT NULL
) STRICT;
CREATE INDEX ix_alcoves_room ON alcoves (room_id);

-- How well the person recalls a landmark: the state of the spaced repetition (FSRS).
CREATE TABLE rehearsals (
    memory_id     TEXT PRIMARY KEY REFERENCES memories (id),
    state         INTEGER NOT NULL CHECK (state BETWEEN 1 AND 3),  -- learning, review, relearning
    step          INTEGER,
    stability     REAL,
    difficulty    REAL,
    due_at        INTEGER NOT NULL,
    last_at       INTEGER NOT NULL,
    times         INTEGER NOT NULL CHECK (times > 0)
) STRICT;
CREATE INDEX ix_rehearsals_due ON rehearsals (due_at);
