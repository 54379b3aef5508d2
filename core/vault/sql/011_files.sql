-- Version 11: files of memories. What is in a file lies in the vault itself, so that backups, new keys and erasing reach
-- it as they reach a text; one transaction stores it with its memory.

-- The content of files, each once. It is in chunks, encrypted under a key of its own: where its memories are sealed,
-- this row is in their bodies and nothing in the vault opens the chunks.
CREATE TABLE stored_files (
    id        TEXT PRIMARY KEY,
    digest    BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),  -- SHA-256 of the bytes
    size      INTEGER NOT NULL CHECK (size > 0),
    key       BLOB NOT NULL CHECK (length(key) = 32),
    thumbnail BLOB,                                              -- PNG
    stored_at INTEGER NOT NULL
) STRICT;
CREATE TRIGGER stored_files_stay BEFORE UPDATE OF digest ON stored_files
BEGIN SELECT RAISE(ABORT, 'the content of a file stays what it is'); END;

CREATE TABLE stored_chunks (
    file_id TEXT NOT NULL,                                -- of `stored_files`, in the clear or in the body of a sealed memory
    nr      INTEGER NOT NULL CHECK (nr >= 0),
    body    BLOB NOT NULL CHECK (length(body) <= 65552),  -- ChaCha20-Poly1305, as the chunks of an archive
    PRIMARY KEY (file_id, nr)
) STRICT;

-- Which content a sealed memory holds: it stays as long as the memory is sealed.
CREATE TABLE sealed_files (
    memory_id TEXT NOT NULL REFERENCES sealed_memories (id) ON DELETE CASCADE,
    file_id   TEXT NOT NULL,
    PRIMARY KEY (memory_id, file_id)
) STRICT;
CREATE INDEX ix_sealed_files_file ON sealed_files (file_id);

-- A file of a memory; two memories may hold the same content.
CREATE TABLE files (
    id          TEXT PRIMARY KEY,
    memory_id   TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,  -- of a split text the first part
    stored_id   TEXT NOT NULL REFERENCES stored_files (id),
    name        TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    media_type  TEXT NOT NULL,
    caption     TEXT NOT NULL DEFAULT '',
    pages       INTEGER CHECK (pages >= 0),
    width       INTEGER CHECK (width > 0),
    height      INTEGER CHECK (height > 0),
    attached_at INTEGER NOT NULL,
    UNIQUE (memory_id, stored_id)
) STRICT;
CREATE INDEX ix_files_stored ON files (stored_id);

-- A text that was read out of a file, and where each stretch of it stands: in the file, and in the memory.
CREATE TABLE file_views (
    id        TEXT PRIMARY KEY,
    file_id   TEXT NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    memory_id TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,  -- the file's
    method    TEXT NOT NULL CHECK (method IN
            ('pdf-text', 'plain-text', 'html-text', 'docx-text', 'caption', 'exif')),
    text      TEXT NOT NULL,
    regions   TEXT NOT NULL CHECK (json_valid(regions)),  -- [page, start, end, part, start in the part], characters
    is_cut    INTEGER NOT NULL DEFAULT 0 CHECK (is_cut IN (0, 1)),
    made_at   INTEGER NOT NULL,
    UNIQUE (file_id, method)
) STRICT;
CREATE INDEX ix_file_views_memory ON file_views (memory_id);
