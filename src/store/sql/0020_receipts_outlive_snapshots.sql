-- Receipts outlive their snapshots, which may be forgotten, and tell whether what they answered is undone:
-- a key may have several, made in states that rollbacks came back from. No text is in here.
CREATE TEMP TABLE receipt_of_snapshot AS SELECT * FROM main.receipt;
DROP TABLE main.receipt;
CREATE TABLE receipt (
    name       TEXT NOT NULL,         -- hash of the key
    since      INTEGER NOT NULL,      -- the newest snapshot when the request was done
    request    TEXT NOT NULL,         -- hash of the request
    snapshot   INTEGER,               -- that the request made; NULL where it changed nothing
    answer     TEXT NOT NULL,         -- JSON of ids and numbers
    created_at INTEGER NOT NULL,      -- ms since the Unix epoch
    PRIMARY KEY (name, since)
) STRICT, WITHOUT ROWID;
INSERT INTO receipt (name, since, request, snapshot, answer, created_at)
SELECT name, head.id, request, kept.snapshot, answer, head.created_at
  FROM receipt_of_snapshot AS kept
  JOIN snapshot AS head
    ON head.id = ifnull(kept.snapshot, (SELECT snapshot FROM cursor WHERE name = 'HEAD'));
DROP TABLE receipt_of_snapshot;

-- Rollbacks that kept what came after their targets: the state of a snapshot is that of an earlier one.
CREATE TABLE restored (
    snapshot INTEGER PRIMARY KEY,
    target   INTEGER NOT NULL
) STRICT;
