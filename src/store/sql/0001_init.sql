-- The first schema. Files of this folder are append-only: once shipped, a change is a new file.

-- Folders that were compiled. A root's path may change; nothing else refers to it by path.
CREATE TABLE root (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE       -- absolute, canonical
) STRICT;

-- Source files, owned by exactly one root each.
CREATE TABLE file (
    id           INTEGER PRIMARY KEY,
    root         INTEGER NOT NULL REFERENCES root (id),
    path         TEXT NOT NULL,     -- relative to the root, `/` between segments
    size         INTEGER NOT NULL,  -- bytes, at the last look
    mtime        INTEGER NOT NULL,  -- nanoseconds since the Unix epoch, at the last look
    content_hash TEXT,              -- of the bytes that its nodes were made from; NULL before there were any
    error        TEXT,              -- why the last look could not be compiled; NULL when it could
    UNIQUE (root, path)
) STRICT;

-- The tree. `key` is internal and ascending; `id` is the anchor that everybody else uses.
CREATE TABLE node (
    key          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,              -- 11 base62 characters
    file         INTEGER REFERENCES file (id),      -- NULL: under no file
    parent       INTEGER REFERENCES node (key),     -- NULL: a root
    position     INTEGER NOT NULL,                  -- sparse rank among its siblings
    node_type    TEXT NOT NULL,
    level        INTEGER,                           -- of a heading, 1 to 6
    lang         TEXT,                              -- of code
    key_path     TEXT,                              -- `a.b[3].c`
    format       TEXT NOT NULL,
    token_count  INTEGER NOT NULL,                  -- exact cl100k tokens of `content`
    content_hash TEXT NOT NULL,                     -- xxh64 of `content`, 16 hex digits
    source_hash  TEXT,                              -- of what the file said; NULL: born by an agent
    label        TEXT NOT NULL,
    trail        TEXT NOT NULL,                     -- file stem and ancestors' labels
    grams        TEXT,                              -- pairs of characters of scripts without spaces
    content      TEXT NOT NULL
) STRICT;
CREATE INDEX node_by_parent ON node (parent, position) WHERE parent IS NOT NULL;
CREATE INDEX node_by_file ON node (file, position) WHERE parent IS NULL;

CREATE VIRTUAL TABLE node_fts USING fts5 (
    label, content, trail, grams,
    content = 'node', content_rowid = 'key',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER node_fts_insert AFTER INSERT ON node BEGIN
    INSERT INTO node_fts (rowid, label, content, trail, grams)
    VALUES (new.key, new.label, new.content, new.trail, new.grams);
END;
CREATE TRIGGER node_fts_delete AFTER DELETE ON node BEGIN
    INSERT INTO node_fts (node_fts, rowid, label, content, trail, grams)
    VALUES ('delete', old.key, old.label, old.content, old.trail, old.grams);
END;
CREATE TRIGGER node_fts_update AFTER UPDATE OF label, content, trail, grams ON node BEGIN
    INSERT INTO node_fts (node_fts, rowid, label, content, trail, grams)
    VALUES ('delete', old.key, old.label, old.content, old.trail, old.grams);
    INSERT INTO node_fts (rowid, label, content, trail, grams)
    VALUES (new.key, new.label, new.content, new.trail, new.grams);
END;

-- Heat stands apart, so that warming a node never touches its indexed row.
CREATE TABLE heat (
    node         INTEGER PRIMARY KEY REFERENCES node (key) ON DELETE CASCADE,
    temperature  REAL NOT NULL,               -- in [0, 1], as of `at`
    at           INTEGER NOT NULL,            -- the memory clock's reading then, in ms of attended time
    pinned       INTEGER NOT NULL DEFAULT 0,
    access_count INTEGER NOT NULL DEFAULT 0,
    accessed_at  INTEGER                      -- ms since the Unix epoch
) STRICT;

-- Where in its source file a node stood at the last compile. It shifts with every edit above it, so it
-- stands apart from the text, too.
CREATE TABLE span (
    node       INTEGER PRIMARY KEY REFERENCES node (key) ON DELETE CASCADE,
    start_byte INTEGER NOT NULL,
    end_byte   INTEGER NOT NULL
) STRICT;

-- One row for the whole memory.
CREATE TABLE memory (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    fingerprint INTEGER NOT NULL,             -- wrapping sum of the nodes' state hashes
    attended    INTEGER NOT NULL              -- the memory clock: ms during which a server was up
) STRICT;
INSERT INTO memory (one, fingerprint, attended) VALUES (1, 0, 0);

CREATE TABLE snapshot (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    parent       INTEGER REFERENCES snapshot (id),
    cursor_hash  TEXT NOT NULL,               -- fingerprint of the whole state, 16 hex digits; not unique
    message      TEXT NOT NULL,
    compile_root TEXT NOT NULL,               -- '' unless a compile made it
    created_at   INTEGER NOT NULL             -- ms since the Unix epoch
) STRICT;

CREATE TABLE cursor (
    name       TEXT PRIMARY KEY,              -- 'HEAD'
    snapshot   INTEGER NOT NULL REFERENCES snapshot (id),
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a snapshot changed: the old side in full, the new side by hash. The new side's text and
-- metadata are the current node's, or the old side of the next change of that node.
CREATE TABLE diff (
    snapshot     INTEGER NOT NULL REFERENCES snapshot (id) ON DELETE CASCADE,
    seq          INTEGER NOT NULL,
    op           TEXT NOT NULL,               -- add, mod, rem; rank: renumbered only, shown to nobody
    node_id      TEXT NOT NULL,
    old_hash     TEXT,                        -- NULL for add; its text is in `blob` unless it is new_hash too
    new_hash     TEXT,                        -- NULL for rem
    old_parent   TEXT,                        -- id; NULL for a root
    old_root     INTEGER,                     -- of the file; NULL: under no file
    old_path     TEXT,
    old_position INTEGER,
    old_type     TEXT,
    old_level    INTEGER,
    old_lang     TEXT,
    old_key_path TEXT,
    old_label    TEXT,
    old_format   TEXT,
    old_tokens   INTEGER,
    conflict     INTEGER NOT NULL DEFAULT 0,  -- 1: the file's new words replaced an agent's
    PRIMARY KEY (snapshot, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX diff_by_node ON diff (node_id, snapshot);
CREATE INDEX diff_by_old_hash ON diff (old_hash) WHERE old_hash IS NOT NULL;

-- Text that is no longer current, once each.
CREATE TABLE blob (
    hash    TEXT PRIMARY KEY,                 -- xxh64, 16 hex digits
    content TEXT NOT NULL
) STRICT, WITHOUT ROWID;
