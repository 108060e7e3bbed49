-- What changes without a snapshot, as numbers that grow with it, so that whoever watches a memory
-- sees in one row that something did. Losing the row's values loses nothing.
CREATE TABLE pulse (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    edges INTEGER NOT NULL,   -- edges by hand: made, weighed, taken away
    files INTEGER NOT NULL,   -- files: noted, moved, gone, back
    heats INTEGER NOT NULL    -- nodes: warmed, pinned, let go; not what cools by itself
) STRICT;
INSERT INTO pulse (one, edges, files, heats) VALUES (1, 0, 0, 0);

CREATE TRIGGER pulse_edge_made AFTER INSERT ON reference
WHEN new.origin = 'manual' BEGIN
    UPDATE pulse SET edges = edges + 1;
END;
CREATE TRIGGER pulse_edge_weighed AFTER UPDATE OF weight, target ON reference
WHEN new.origin = 'manual'
 AND (new.weight IS NOT old.weight OR new.target IS NOT old.target) BEGIN
    UPDATE pulse SET edges = edges + 1;
END;
CREATE TRIGGER pulse_edge_taken AFTER DELETE ON reference
WHEN old.origin = 'manual' BEGIN
    UPDATE pulse SET edges = edges + 1;
END;

CREATE TRIGGER pulse_file_noted AFTER INSERT ON file BEGIN
    UPDATE pulse SET files = files + 1;
END;
CREATE TRIGGER pulse_file_moved AFTER UPDATE OF root, path, gone ON file
WHEN new.root IS NOT old.root OR new.path IS NOT old.path OR new.gone IS NOT old.gone BEGIN
    UPDATE pulse SET files = files + 1;
END;
CREATE TRIGGER pulse_file_dropped AFTER DELETE ON file BEGIN
    UPDATE pulse SET files = files + 1;
END;

CREATE TRIGGER pulse_heat AFTER UPDATE OF temperature, at, pinned ON heat
WHEN new.temperature IS NOT old.temperature
  OR new.at IS NOT old.at
  OR new.pinned IS NOT old.pinned BEGIN
    UPDATE pulse SET heats = heats + 1;
END;
