-- Conditions on typed memories under a name, which clients read as memory://custom/NAME. They are settings
-- of the memory: no snapshot is made of them.
CREATE TABLE custom_view (
    name  TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64 AND name NOT GLOB '*[^a-z0-9-]*'),
    query TEXT NOT NULL CHECK (json_valid(query))   -- canonical JSON object: the conditions by name
) STRICT, WITHOUT ROWID;

ALTER TABLE pulse ADD COLUMN views INTEGER NOT NULL DEFAULT 0;   -- custom views: made, changed, removed

CREATE TRIGGER pulse_view_made AFTER INSERT ON custom_view BEGIN
    UPDATE pulse SET views = views + 1;
END;
CREATE TRIGGER pulse_view_changed AFTER UPDATE ON custom_view
WHEN new.query IS NOT old.query OR new.name IS NOT old.name BEGIN
    UPDATE pulse SET views = views + 1;
END;
CREATE TRIGGER pulse_view_removed AFTER DELETE ON custom_view BEGIN
    UPDATE pulse SET views = views + 1;
END;
