-- References between nodes, and the names by which their targets are found.

-- Hash of the label, so that the nodes that a name may mean are found at once.
ALTER TABLE node ADD COLUMN name INTEGER;
CREATE INDEX node_by_name ON node (name, file) WHERE name IS NOT NULL;

-- What a node refers to, as authored. Rows of a text are replaced as a set whenever the text changes.
CREATE TABLE reference (
    id         INTEGER PRIMARY KEY,
    source     INTEGER NOT NULL REFERENCES node (key) ON DELETE CASCADE,
    origin     TEXT NOT NULL,     -- parsed: its text says so; manual: somebody related it by hand
    form       TEXT NOT NULL,     -- wiki, embed, knowledge, markdown; manual
    label      TEXT NOT NULL,     -- '' where only an id is named
    path       TEXT,              -- of the target's file
    id_hint    TEXT,
    heading    TEXT,
    alias      TEXT,
    weight     REAL NOT NULL,     -- in [0, 1000]
    target     INTEGER REFERENCES node (key) ON DELETE SET NULL,  -- NULL: pending
    candidates TEXT               -- ids between which a pending one is ambiguous
) STRICT;
CREATE INDEX reference_by_source ON reference (source);
CREATE INDEX reference_by_target ON reference (target) WHERE target IS NOT NULL;

-- The names that a reference's target depends on, hashed.
CREATE TABLE wanted (
    name      INTEGER NOT NULL,
    reference INTEGER NOT NULL REFERENCES reference (id) ON DELETE CASCADE,
    PRIMARY KEY (name, reference)
) STRICT, WITHOUT ROWID;
CREATE INDEX wanted_by_reference ON wanted (reference);

-- The names of a file besides its path: with and without ending, title, aliases; case folded.
CREATE TABLE file_name (
    name TEXT NOT NULL,
    file INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
    PRIMARY KEY (name, file)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_name_by_file ON file_name (file);
