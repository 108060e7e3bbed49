-- One memory on many machines: where this file stands in the log of its space.

-- By this name a root is the same one on every machine, wherever it lies there. NULL: it was never shared.
-- The path of a root that does not lie on this machine is its name.
ALTER TABLE root ADD COLUMN name TEXT;
CREATE UNIQUE INDEX root_by_name ON root (name) WHERE name IS NOT NULL;

-- One row in a replica, none elsewhere. It moves in the transaction of the rows that it stands for.
CREATE TABLE replica (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    url         TEXT NOT NULL,               -- of the space, without a password
    epoch       INTEGER NOT NULL,            -- of the log, which begins anew with each
    seq         INTEGER NOT NULL,            -- of the last entry that was applied
    hash        BLOB NOT NULL,               -- of the log up to that entry
    unpublished TEXT                         -- what changed this file past the log; NULL: nothing did
) STRICT;
