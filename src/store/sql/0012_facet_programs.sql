-- The triggers of `node` decide in a few instructions whether a row has facets. What makes the facets is
-- a program of its own: SQLite sets up the whole program of a trigger for each row, whatever its condition.
DROP TRIGGER facet_node_added;
DROP TRIGGER facet_node_changed;

CREATE TRIGGER facet_make INSTEAD OF INSERT ON facet_made BEGIN
    INSERT INTO facet (key, value, node)
    SELECT key, value, node FROM facet_made WHERE node = new.node;
END;

CREATE TRIGGER facet_node_added AFTER INSERT ON node
WHEN new.fields IS NOT NULL BEGIN
    INSERT INTO facet_made (node) VALUES (new.key);
END;
CREATE TRIGGER facet_node_changed AFTER UPDATE OF fields, node_type, content_hash ON node
WHEN new.fields IS NOT old.fields
  OR new.fields IS NOT NULL AND (new.node_type <> old.node_type OR new.content_hash <> old.content_hash)
BEGIN
    DELETE FROM facet WHERE node = new.key;
    INSERT INTO facet_made (node) VALUES (new.key);
END;
