-- What leads to a node is read with its strength from this index alone.
DROP INDEX IF EXISTS typed_edge_by_target;
CREATE INDEX typed_edge_by_target ON typed_edge (target, type, source, strength);
