-- Vectors of texts, for whoever names a source of them. They follow from the texts and belong to this file alone:
-- no snapshot, fingerprint or export has them.
CREATE TABLE vector (
    node  INTEGER PRIMARY KEY REFERENCES node (key) ON DELETE CASCADE,
    model INTEGER NOT NULL,                  -- xxh64 of the name of what made it
    data  BLOB NOT NULL                      -- a signed byte for each of its numbers
) STRICT;

-- What was made of another text is removed with it.
CREATE TRIGGER vector_of_old_text AFTER UPDATE OF content_hash, content, label, trail ON node
WHEN old.content_hash IS NOT new.content_hash OR old.label IS NOT new.label OR old.trail IS NOT new.trail
BEGIN
    DELETE FROM vector WHERE node = old.key;
END;
CREATE TRIGGER vector_of_no_text AFTER DELETE ON node BEGIN
    DELETE FROM vector WHERE node = old.key;
END;
