-- A node whose facets the writing program makes is indexed by it, too, together with the others of its write:
-- between two inserts that start this trigger, the index would write each node's words as a segment of its own.
DROP TRIGGER node_fts_insert;
CREATE TRIGGER node_fts_insert AFTER INSERT ON node
WHEN NOT EXISTS (SELECT 1 FROM facet_program WHERE node = new.key) BEGIN
    INSERT INTO node_fts (rowid, label, content, trail, grams)
    VALUES (new.key, new.label, new.content, new.trail, new.grams);
END;
