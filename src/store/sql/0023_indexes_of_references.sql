-- Who deletes a file or a snapshot looks for the rows that refer to it: without these, in all rows.
CREATE INDEX node_of_file ON node (file) WHERE file IS NOT NULL;
CREATE INDEX snapshot_by_parent ON snapshot (parent) WHERE parent IS NOT NULL;
