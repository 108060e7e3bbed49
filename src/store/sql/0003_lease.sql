-- Who does what only one process at a time should do. Losing these rows loses nothing.
CREATE TABLE lease (
    name       TEXT PRIMARY KEY,      -- what is done, such as `heat`
    holder     TEXT NOT NULL,         -- the process, by a name that no other has
    expires_at INTEGER NOT NULL       -- ms since the Unix epoch; renewed long before
) STRICT, WITHOUT ROWID;
