-- The views that facets and typed edges are made from read the fields of a node in one pass, and may name a
-- row twice: the tables keep it once, which takes fewer steps than views that sort out doubles. What the
-- tables have stays as it is.
DROP VIEW facet_made;
CREATE VIEW facet_made (key, value, node) AS
SELECT 'type', node_type, key
  FROM node
 WHERE fields IS NOT NULL
 UNION ALL
SELECT 'content_hash', content_hash, key
  FROM node
 WHERE fields IS NOT NULL
 UNION ALL
SELECT CASE WHEN field.path = '$.tags' OR field.path = '$' AND field.key = 'tags' THEN 'tag'
            WHEN field.path = '$.names' OR field.path = '$' AND field.key = 'names' THEN 'name'
            ELSE field.key
       END,
       field.atom,
       node.key
  FROM node, json_tree(iif(json_valid(fields), fields, '{}')) AS field
 WHERE fields IS NOT NULL
   AND field.atom IS NOT NULL
   AND (field.path = '$'
        AND (field.key IN ('uuid', 'updated_at', 'importance', 'kind', 'topic', 'at', 'tags', 'names')
             OR field.key = 'created_at' AND node_type IN ('core', 'learning', 'task')
             OR field.key = 'subject' AND node_type = 'concept'
             OR field.key = 'conflict' AND node_type = 'conflict')
        OR field.path IN ('$.tags', '$.names'))
 UNION ALL
SELECT field.key, field.atom, node.key
  FROM node, json_each(iif(json_valid(fields), fields, '{}'), '$.task_metadata') AS field
 WHERE fields IS NOT NULL
   AND node_type = 'task'
   AND field.key IN ('status', 'completed_at')
   AND field.atom IS NOT NULL
 UNION ALL
SELECT 'archived',
       ifnull(json_type(object, '$.archived') = 'true', 0)
       OR ifnull(json_type(object, '$.deleted') = 'true', 0)
       OR json_type(object, '$.superseded_by') IS NOT NULL
       OR json_type(object, '$.merged_into') IS NOT NULL,
       node
  FROM (SELECT key AS node, iif(json_valid(fields), fields, '{}') AS object
          FROM node
         WHERE fields IS NOT NULL)
 UNION ALL
SELECT 'category',
       ifnull(json_extract(object, '$.category'),
              iif(node_type = 'task', ifnull(json_extract(object, '$.task_metadata.status'), 'other'), 'other')),
       node
  FROM (SELECT key AS node, node_type, iif(json_valid(fields), fields, '{}') AS object
          FROM node
         WHERE fields IS NOT NULL
           AND node_type IN ('core', 'learning', 'task'))
 UNION ALL
SELECT 'pending', 1, key
  FROM node
 WHERE fields IS NOT NULL
   AND node_type = 'episode'
   AND json_valid(fields)
   AND json_type(iif(json_valid(fields), fields, '{}'), '$.processed_in') IS NULL
   AND json_type(iif(json_valid(fields), fields, '{}'), '$.deleted') IS NULL
   AND json_type(iif(json_valid(fields), fields, '{}'), '$.superseded_by') IS NULL
 UNION ALL
SELECT 'statement', json_extract(object, '$.key'), node
  FROM (SELECT key AS node, iif(json_valid(fields), fields, '{}') AS object
          FROM node
         WHERE fields IS NOT NULL
           AND node_type = 'fact')
 WHERE json_type(object, '$.key') = 'text'
   AND json_type(object, '$.deleted') IS NULL
   AND json_type(object, '$.superseded_by') IS NULL
   AND json_type(object, '$.valid_to') IS NULL;

-- The program went with the view.
CREATE TRIGGER facet_make INSTEAD OF INSERT ON facet_made BEGIN
    INSERT OR IGNORE INTO facet (key, value, node)
    SELECT key, value, node FROM facet_made WHERE node = new.node;
    INSERT INTO typed_edge (source, type, target, strength)
    SELECT source, type, target, strength FROM typed_edge_made WHERE source = new.node;
END;

-- The node whose facets and edges the writing program makes by itself, with fewer steps than the triggers.
-- It is there for the time of one statement: no committed state has a row.
CREATE TABLE facet_program (node INTEGER PRIMARY KEY) STRICT;

DROP TRIGGER facet_node_added;
CREATE TRIGGER facet_node_added AFTER INSERT ON node
WHEN new.fields IS NOT NULL
 AND NOT EXISTS (SELECT 1 FROM facet_program WHERE node = new.key) BEGIN
    INSERT INTO facet_made (node) VALUES (new.key);
END;

DROP TRIGGER facet_node_changed;
CREATE TRIGGER facet_node_changed AFTER UPDATE OF fields, node_type, content_hash ON node
WHEN (new.fields IS NOT old.fields
      OR new.fields IS NOT NULL AND (new.node_type <> old.node_type OR new.content_hash <> old.content_hash))
 AND NOT EXISTS (SELECT 1 FROM facet_program WHERE node = new.key)
BEGIN
    INSERT INTO facet_change (node) VALUES (new.key);
END;

-- As `facet_make`: a program of its own, which costs the rows nothing that it is not for.
CREATE VIEW facet_change (node) AS SELECT key FROM node WHERE fields IS NOT NULL;
CREATE TRIGGER facet_remake INSTEAD OF INSERT ON facet_change BEGIN
    DELETE FROM facet WHERE node = new.node;
    DELETE FROM typed_edge WHERE source = new.node;
    INSERT INTO facet_made (node) VALUES (new.node);
END;
