-- How many rows there are, kept as they come and go: nobody counts a large memory to say how large it is.
CREATE TABLE running_total (
    counted TEXT NOT NULL,     -- node, reference
    kind    TEXT NOT NULL,     -- a node's type; parsed, manual, pending
    n_rows  INTEGER NOT NULL,
    tokens  INTEGER NOT NULL,  -- of the texts of nodes; 0 for references
    PRIMARY KEY (counted, kind)
) STRICT, WITHOUT ROWID;

-- The totals that there have to be, but for those of no rows.
CREATE VIEW running_total_made (counted, kind, n_rows, tokens) AS
SELECT 'node', node_type, count(*), CAST(max(-4611686018427387904, min(4611686018427387904, total(token_count))) AS INTEGER)
  FROM node
 GROUP BY node_type
 UNION ALL
SELECT 'reference', iif(target IS NULL, 'pending', origin), count(*), 0
  FROM reference
 GROUP BY 2;

INSERT INTO running_total (counted, kind, n_rows, tokens)
SELECT counted, kind, n_rows, tokens FROM running_total_made;

-- Damaged numbers end at a bound: a sum beyond all integers would refuse the write.
CREATE TRIGGER total_node_added AFTER INSERT ON node BEGIN
    INSERT INTO running_total (counted, kind, n_rows, tokens)
    VALUES ('node', new.node_type, 1, new.token_count)
    ON CONFLICT (counted, kind) DO UPDATE
       SET n_rows = min(n_rows, 4611686018427387904) + 1,
           tokens = max(-4611686018427387904, min(4611686018427387904, tokens + new.token_count));
END;
CREATE TRIGGER total_node_removed AFTER DELETE ON node BEGIN
    INSERT INTO running_total (counted, kind, n_rows, tokens)
    VALUES ('node', old.node_type, -1, -max(old.token_count, -9223372036854775807))
    ON CONFLICT (counted, kind) DO UPDATE
       SET n_rows = max(n_rows, -4611686018427387904) - 1,
           tokens = max(-4611686018427387904, min(4611686018427387904, tokens - old.token_count));
END;
CREATE TRIGGER total_node_changed AFTER UPDATE OF node_type, token_count ON node
WHEN new.node_type <> old.node_type OR new.token_count <> old.token_count BEGIN
    INSERT INTO running_total (counted, kind, n_rows, tokens)
    VALUES ('node', old.node_type, -1, -max(old.token_count, -9223372036854775807))
    ON CONFLICT (counted, kind) DO UPDATE
       SET n_rows = max(n_rows, -4611686018427387904) - 1,
           tokens = max(-4611686018427387904, min(4611686018427387904, tokens - old.token_count));
    INSERT INTO running_total (counted, kind, n_rows, tokens)
    VALUES ('node', new.node_type, 1, new.token_count)
    ON CONFLICT (counted, kind) DO UPDATE
       SET n_rows = min(n_rows, 4611686018427387904) + 1,
           tokens = max(-4611686018427387904, min(4611686018427387904, tokens + new.token_count));
END;

CREATE TRIGGER total_reference_added AFTER INSERT ON reference BEGIN
    INSERT INTO running_total (counted, kind, n_rows, tokens)
    VALUES ('reference', iif(new.target IS NULL, 'pending', new.origin), 1, 0)
    ON CONFLICT (counted, kind) DO UPDATE SET n_rows = min(n_rows, 4611686018427387904) + 1;
END;
CREATE TRIGGER total_reference_removed AFTER DELETE ON reference BEGIN
    INSERT INTO running_total (counted, kind, n_rows, tokens)
    VALUES ('reference', iif(old.target IS NULL, 'pending', old.origin), -1, 0)
    ON CONFLICT (counted, kind) DO UPDATE SET n_rows = max(n_rows, -4611686018427387904) - 1;
END;
CREATE TRIGGER total_reference_changed AFTER UPDATE OF origin, target ON reference
WHEN iif(new.target IS NULL, 'pending', new.origin) <> iif(old.target IS NULL, 'pending', old.origin) BEGIN
    INSERT INTO running_total (counted, kind, n_rows, tokens)
    VALUES ('reference', iif(old.target IS NULL, 'pending', old.origin), -1, 0)
    ON CONFLICT (counted, kind) DO UPDATE SET n_rows = max(n_rows, -4611686018427387904) - 1;
    INSERT INTO running_total (counted, kind, n_rows, tokens)
    VALUES ('reference', iif(new.target IS NULL, 'pending', new.origin), 1, 0)
    ON CONFLICT (counted, kind) DO UPDATE SET n_rows = min(n_rows, 4611686018427387904) + 1;
END;
