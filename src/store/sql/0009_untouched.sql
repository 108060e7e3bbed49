-- A node that nobody read, pinned or set a temperature of since the memory clock stood at its beginning
-- needs no row in `heat`: without one it is as it was born then. So a search reads few pages of
-- temperatures, and a first compile writes none. Nodes that are born later have their rows at once, and
-- those without get them when they become cold, in the order of their keys.
ALTER TABLE memory ADD COLUMN heated INTEGER NOT NULL DEFAULT 0; -- the key up to which all nodes have their rows

DELETE FROM heat
 WHERE temperature = 0.5 AND at = 0 AND pinned = 0 AND access_count = 0
   AND announced IS NULL AND announced_at IS NULL;

CREATE TRIGGER pulse_heat_noted AFTER INSERT ON heat
WHEN new.accessed_at IS NOT NULL BEGIN
    UPDATE pulse SET heats = heats + 1;
END;
