-- Typed nodes: one nullable column of canonical JSON, and an index of what they are looked up by. Notes
-- have no fields and cost nothing here.
ALTER TABLE node ADD COLUMN fields TEXT;      -- canonical JSON object; NULL: the node is of no kind with fields
ALTER TABLE diff ADD COLUMN old_fields TEXT;
CREATE INDEX node_with_fields ON node (node_type) WHERE fields IS NOT NULL;

-- Derived from `node`, by the triggers below: single values by key, and each tag on its own.
CREATE TABLE facet (
    key   TEXT NOT NULL,
    value ANY NOT NULL,
    node  INTEGER NOT NULL REFERENCES node (key) ON DELETE CASCADE,
    PRIMARY KEY (key, value, node)
) STRICT, WITHOUT ROWID;
CREATE INDEX facet_by_node ON facet (node, key);

-- The rows that `facet` must have. A text that is no JSON has none of its own; without a category, a task is
-- of its status, and anything else is `other`.
CREATE VIEW facet_made (key, value, node) AS
SELECT 'type', node_type, node.key
  FROM node
 WHERE fields IS NOT NULL
 UNION ALL
SELECT 'content_hash', content_hash, node.key
  FROM node
 WHERE fields IS NOT NULL
 UNION ALL
SELECT 'archived', iif(json_valid(fields), ifnull(json_type(fields, '$.archived') = 'true', 0), 0), node.key
  FROM node
 WHERE fields IS NOT NULL
 UNION ALL
SELECT 'category',
       ifnull(json_extract(iif(json_valid(fields), fields, '{}'), '$.category'),
              iif(node_type = 'task',
                  ifnull(json_extract(iif(json_valid(fields), fields, '{}'), '$.task_metadata.status'), 'other'),
                  'other')),
       node.key
  FROM node
 WHERE fields IS NOT NULL
 UNION ALL
SELECT DISTINCT field.key, field.atom, node.key
  FROM node, json_each(iif(json_valid(fields), fields, '{}')) AS field
 WHERE fields IS NOT NULL
   AND field.key IN ('uuid', 'created_at', 'updated_at', 'importance')
   AND field.atom IS NOT NULL
 UNION ALL
SELECT DISTINCT field.key, field.atom, node.key
  FROM node, json_each(iif(json_valid(fields), fields, '{}'), '$.task_metadata') AS field
 WHERE fields IS NOT NULL
   AND field.key IN ('status', 'completed_at')
   AND field.atom IS NOT NULL
 UNION ALL
SELECT DISTINCT 'tag', field.atom, node.key
  FROM node, json_each(iif(json_valid(fields), fields, '{}'), '$.tags') AS field
 WHERE fields IS NOT NULL
   AND field.atom IS NOT NULL;

CREATE TRIGGER facet_node_added AFTER INSERT ON node
WHEN new.fields IS NOT NULL BEGIN
    INSERT INTO facet (key, value, node)
    SELECT key, value, node FROM facet_made WHERE node = new.key;
END;
CREATE TRIGGER facet_node_changed AFTER UPDATE OF fields, node_type, content_hash ON node
WHEN new.fields IS NOT old.fields
  OR new.fields IS NOT NULL AND (new.node_type <> old.node_type OR new.content_hash <> old.content_hash)
BEGIN
    DELETE FROM facet WHERE node = new.key;
    INSERT INTO facet (key, value, node)
    SELECT key, value, node FROM facet_made WHERE node = new.key;
END;
CREATE TRIGGER facet_node_removed AFTER DELETE ON node
WHEN old.fields IS NOT NULL BEGIN
    DELETE FROM facet WHERE node = old.key;
END;
