-- What a file says and the memory does not contain, because an agent forgot it. A block of the file
-- that is one of these is passed over, until it changes or leaves the file. No text is in here.
CREATE TABLE tombstone (
    node_id     TEXT NOT NULL,                -- of the node that was forgotten
    file        INTEGER NOT NULL REFERENCES file (id),  -- several may say the same node after a rollback
    parent      TEXT,                         -- id of what it stood under; that may be forgotten, too
    node_type   TEXT NOT NULL,
    level       INTEGER,
    source_hash TEXT NOT NULL,                -- of what the file says
    start_byte  INTEGER NOT NULL,             -- where, at the last compile
    end_byte    INTEGER NOT NULL,
    PRIMARY KEY (node_id, file)
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_by_file ON tombstone (file);

-- 1: not on the disk at the last look; the row stays for the nodes and tombstones that hang on it.
ALTER TABLE file ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;
