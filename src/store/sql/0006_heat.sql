-- Cooling is found and told without looking at every node. `full_at` is a pure function of
-- `temperature` and `at`: the memory clock's reading at which the node was as hot as can be, had it
-- always cooled as it does. A node is below a line when it is less than a number that only depends
-- on the line and on the clock. NULL: not worked out yet; the next tick does.
ALTER TABLE heat ADD COLUMN full_at REAL;
ALTER TABLE heat ADD COLUMN announced REAL;       -- the line below which a client was told of it; NULL: told of nothing since it was above
ALTER TABLE heat ADD COLUMN announced_at INTEGER; -- when a client was last told, in ms since the Unix epoch
CREATE INDEX heat_to_announce ON heat (full_at) WHERE pinned = 0 AND announced IS NULL;

-- Whoever writes a temperature need not know of the columns above.
CREATE TRIGGER heat_rearm AFTER UPDATE OF temperature ON heat
WHEN old.announced <= new.temperature BEGIN
    UPDATE heat SET announced = NULL WHERE node = new.node;
END;
CREATE TRIGGER heat_moved AFTER UPDATE OF temperature, at ON heat
WHEN new.full_at IS old.full_at AND new.full_at IS NOT NULL BEGIN
    UPDATE heat SET full_at = NULL WHERE node = new.node;
END;

-- The memory clock, `attended`, counts ms of attended time at the speed that the settings give: at a
-- rate of 0.05 an hour as they pass, at 0.1 twice as fast. When it was last moved is noted,
-- since servers that are up at the same time share the time between them.
ALTER TABLE memory ADD COLUMN ticked_at INTEGER NOT NULL DEFAULT 0; -- ms since the Unix epoch
