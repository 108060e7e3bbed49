-- Knowledge: episodes, concepts, facts, topics, entities and conflicts are typed nodes, too. They have more
-- facets, edges to each other, and receipts of the requests that wrote them.

-- The rows that `facet` must have. Nodes that are deleted or replaced by another one count as archived.
DROP VIEW facet_made;
CREATE VIEW facet_made (key, value, node) AS
SELECT 'type', node_type, node.key
  FROM node
 WHERE fields IS NOT NULL
 UNION ALL
SELECT 'content_hash', content_hash, node.key
  FROM node
 WHERE fields IS NOT NULL
 UNION ALL
SELECT 'archived',
       iif(json_valid(fields),
           ifnull(json_type(fields, '$.archived') = 'true', 0)
           OR ifnull(json_type(fields, '$.deleted') = 'true', 0)
           OR json_type(fields, '$.superseded_by') IS NOT NULL
           OR json_type(fields, '$.merged_into') IS NOT NULL, 0),
       node.key
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
   AND node_type IN ('core', 'learning', 'task')
 UNION ALL
SELECT DISTINCT field.key, field.atom, node.key
  FROM node, json_each(iif(json_valid(fields), fields, '{}')) AS field
 WHERE fields IS NOT NULL
   AND (field.key IN ('uuid', 'updated_at', 'importance', 'kind', 'topic', 'at')
        OR field.key = 'created_at' AND node_type IN ('core', 'learning', 'task')
        OR field.key = 'subject' AND node_type = 'concept'
        OR field.key = 'conflict' AND node_type = 'conflict')
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
   AND field.atom IS NOT NULL
 UNION ALL
SELECT DISTINCT 'name', field.atom, node.key
  FROM node, json_each(iif(json_valid(fields), fields, '{}'), '$.names') AS field
 WHERE fields IS NOT NULL
   AND field.atom IS NOT NULL
 UNION ALL
SELECT 'pending', 1, node.key
  FROM node
 WHERE fields IS NOT NULL
   AND node_type = 'episode'
   AND json_valid(fields)
   AND json_type(iif(json_valid(fields), fields, '{}'), '$.processed_in') IS NULL
   AND json_type(iif(json_valid(fields), fields, '{}'), '$.deleted') IS NULL
   AND json_type(iif(json_valid(fields), fields, '{}'), '$.superseded_by') IS NULL
 UNION ALL
SELECT 'statement', json_extract(iif(json_valid(fields), fields, '{}'), '$.key'), node.key
  FROM node
 WHERE fields IS NOT NULL
   AND node_type = 'fact'
   AND json_type(iif(json_valid(fields), fields, '{}'), '$.key') = 'text'
   AND json_type(iif(json_valid(fields), fields, '{}'), '$.deleted') IS NULL
   AND json_type(iif(json_valid(fields), fields, '{}'), '$.superseded_by') IS NULL
   AND json_type(iif(json_valid(fields), fields, '{}'), '$.valid_to') IS NULL;

-- Derived from `node` as `facet` is: the member `links` of fields, each type and target once. A target
-- that is not there is none.
CREATE TABLE typed_edge (
    source   INTEGER NOT NULL REFERENCES node (key) ON DELETE CASCADE,
    type     TEXT NOT NULL,
    target   TEXT NOT NULL,           -- id
    strength REAL NOT NULL,
    PRIMARY KEY (source, type, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX typed_edge_by_target ON typed_edge (target, type);

CREATE VIEW typed_edge_made (source, type, target, strength) AS
SELECT source, type, target, max(strength)
  FROM (SELECT node.key AS source,
               CASE link.type WHEN 'object' THEN json_extract(link.value, '$.type') END AS type,
               CASE link.type WHEN 'object' THEN json_extract(link.value, '$.to') END AS target,
               CASE link.type WHEN 'object'
                    THEN iif(json_type(link.value, '$.strength') IN ('integer', 'real'),
                             json_extract(link.value, '$.strength') + 0.0, 1.0)
               END AS strength
          FROM node, json_each(iif(json_valid(fields), fields, '{}'), '$.links') AS link
         WHERE fields IS NOT NULL)
 WHERE typeof(type) = 'text'
   AND typeof(target) = 'text'
 GROUP BY source, type, target;

-- The program that makes facets makes edges, too. It went with the view.
CREATE TRIGGER facet_make INSTEAD OF INSERT ON facet_made BEGIN
    INSERT INTO facet (key, value, node)
    SELECT key, value, node FROM facet_made WHERE node = new.node;
    INSERT INTO typed_edge (source, type, target, strength)
    SELECT source, type, target, strength FROM typed_edge_made WHERE source = new.node;
END;

DROP TRIGGER facet_node_changed;
CREATE TRIGGER facet_node_changed AFTER UPDATE OF fields, node_type, content_hash ON node
WHEN new.fields IS NOT old.fields
  OR new.fields IS NOT NULL AND (new.node_type <> old.node_type OR new.content_hash <> old.content_hash)
BEGIN
    DELETE FROM facet WHERE node = new.key;
    DELETE FROM typed_edge WHERE source = new.key;
    INSERT INTO facet_made (node) VALUES (new.key);
END;

-- Answers to requests that came with a key. They go with the snapshot that they tell of; no text is in here.
CREATE TABLE receipt (
    name     TEXT PRIMARY KEY,        -- hash of the key
    request  TEXT NOT NULL,           -- hash of the request
    snapshot INTEGER REFERENCES snapshot (id) ON DELETE CASCADE,
    answer   TEXT NOT NULL            -- JSON of ids and numbers
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_by_snapshot ON receipt (snapshot);
