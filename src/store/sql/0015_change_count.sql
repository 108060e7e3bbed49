-- How many nodes a snapshot added, changed and removed, as `diff` has them. A snapshot without a row was made
-- before there were any, or its changes were forgotten: its changes are counted when somebody asks.
CREATE TABLE change_count (
    snapshot INTEGER PRIMARY KEY REFERENCES snapshot (id) ON DELETE CASCADE,
    added    INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    removed  INTEGER NOT NULL
) STRICT;
