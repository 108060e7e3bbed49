//! Nodes of knowledge for readers: their texts, fields and heat, the edges between them, and the
//! facts of clusters.

mod changes;
mod open_conflicts;

use rusqlite::{Row, params};
use serde_json::Value;

pub(crate) use changes::KnowledgeChange;
pub(in crate::store) use open_conflicts::disputes_what_is_over;

use super::typed_nodes::unreadable;
use super::{Reader, limit, list};
use crate::model::clock::UnixMillis;
use crate::model::heat::StoredHeat;
use crate::model::node_fields::{self, CanonicalFields, CanonicalFieldsError};
use crate::model::tree::NodeType;
use crate::model::validity::Validity;
use crate::store::heat_rows::{self, heat_columns};
use crate::store::links::name_in_file;
use crate::store::record::read_id;
use crate::store::{ErrorContext, NodeRowId, PreparedStatements, StoreError};

/// A node of knowledge.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnowledgeRow {
    pub(crate) key: NodeRowId,
    pub(crate) id: String,
    pub(crate) parent: Option<NodeRowId>,
    pub(crate) node_type: NodeType,
    /// The line that stands for it; that of what a file says begins with the path.
    pub(crate) label: String,
    pub(crate) content: String,
    /// None of a node that a file says.
    pub(crate) fields: Option<CanonicalFields>,
    pub(crate) heat: StoredHeat,
}

/// An edge between two nodes that are there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypedEdge {
    pub(crate) source: NodeRowId,
    pub(crate) target: NodeRowId,
    pub(crate) link_type: String,
    pub(crate) strength: f64,
}

impl KnowledgeRow {
    fn field(&self, key: &str) -> Option<&Value> {
        self.fields.as_ref()?.get(key)
    }

    /// Returns the text of a field.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.field(key)?.as_str()
    }

    /// Returns the items of a field that is a list.
    pub(crate) fn list(&self, key: &str) -> &[Value] {
        self.fields.as_ref().map_or(&[], |it| node_fields::list(it.object(), key))
    }

    /// Returns the number of a field.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.field(key)?.as_f64()
    }

    /// Returns the time of a field.
    pub(crate) fn time(&self, key: &str) -> Option<UnixMillis> {
        self.field(key)?.as_i64().map(UnixMillis)
    }

    /// Returns whether a field has a value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.field(key).is_some()
    }

    /// Returns the time in which a fact holds.
    pub(crate) fn validity(&self) -> Validity {
        Validity { from: self.time("valid_from"), to: self.time("valid_to") }
    }

    /// Returns whether a fact has ended at a time. One with an end to come holds until then, even
    /// if its replacement is known.
    pub(crate) fn has_ended(&self, at: UnixMillis) -> bool {
        let held = self.validity();
        held.is_over(at) || self.has("superseded_by") && (held.to.is_none() || held.is_empty())
    }

    /// Returns its title, or the line that stands for its text.
    pub(crate) fn title(&self) -> &str {
        self.text("title").unwrap_or(&self.label)
    }

    /// Returns whether it is deleted, archived or merged into another node.
    pub(crate) fn is_gone(&self) -> bool {
        ["deleted", "merged_into", "archived"].iter().any(|it| self.has(it))
    }
}

/// A query of rows of knowledge; `n` is the node, `h` its heat.
macro_rules! knowledge {
    ($from:expr) => {
        concat!(
            "SELECT n.key, n.id, n.parent, n.node_type,
                    CASE WHEN n.fields IS NULL AND n.file IS NOT NULL THEN ifnull(",
            name_in_file!("n"),
            ", n.label) ELSE n.label END,
                    n.content, n.fields, ",
            heat_columns!(),
            $from
        )
    };
}

impl Reader {
    /// Returns the nodes of keys, in that order; keys without a node are passed over.
    pub(crate) fn knowledge(&self, keys: &[NodeRowId]) -> Result<Vec<KnowledgeRow>, StoreError> {
        self.rows_of(keys, read_row)
    }

    /// Returns the nodes of keys as [`Reader::knowledge`] does, but without their edges, which are
    /// most of their fields.
    pub(crate) fn knowledge_unlinked(
        &self,
        keys: &[NodeRowId],
    ) -> Result<Vec<KnowledgeRow>, StoreError> {
        self.rows_of(keys, read_unlinked)
    }

    fn rows_of(
        &self,
        keys: &[NodeRowId],
        read: DecodeKnowledgeRowFn,
    ) -> Result<Vec<KnowledgeRow>, StoreError> {
        const ROWS: &str = knowledge!(
            "
              FROM json_each(?1) AS wanted
             CROSS JOIN node AS n ON n.key = wanted.value
              LEFT JOIN heat AS h ON h.node = n.key
             ORDER BY wanted.key"
        );
        let rows = self.all(ROWS, [list(keys)], read).doing("read knowledge")?;
        rows.into_iter().filter_map(Result::transpose).collect()
    }

    /// Returns the facts that episodes state, each with its episode, at most `n_max`.
    pub(crate) fn stated_facts(
        &self,
        episodes: &[NodeRowId],
        n_max: usize,
    ) -> Result<Vec<(NodeRowId, KnowledgeRow)>, StoreError> {
        const ROWS: &str = knowledge!(
            ", edge.source
              FROM json_each(?1) AS wanted
             CROSS JOIN typed_edge AS edge ON edge.source = wanted.value AND edge.type = 'supports'
             CROSS JOIN node AS n ON n.id = edge.target AND n.node_type = 'fact'
              LEFT JOIN heat AS h ON h.node = n.key
             LIMIT ?2"
        );
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get("source")?), read_unlinked(row)?));
        let rows = self.all(ROWS, params![list(episodes), limit(n_max)], read);
        let known = |(episode, fact): (NodeRowId, KnowledgeRowResult)| match fact {
            Ok(fact) => Some(Ok((episode, fact?))),
            Err(error) => Some(Err(error)),
        };
        rows.doing("read facts")?.into_iter().filter_map(known).collect()
    }

    /// Returns the node of an id, if it has fields.
    pub(crate) fn knowledge_by_id(&self, id: &str) -> Result<Option<KnowledgeRow>, StoreError> {
        const ROW: &str = knowledge!(
            "
              FROM node AS n
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE n.id = ?1"
        );
        let rows = self.all(ROW, [id], read_row).doing("read knowledge")?;
        rows.into_iter().filter_map(Result::transpose).next().transpose()
    }

    /// Returns the types of those nodes, in their order; a type that this build does not know is
    /// left out.
    pub(crate) fn types_of(
        &self,
        keys: &[NodeRowId],
    ) -> Result<Vec<(NodeRowId, NodeType)>, StoreError> {
        const TYPES: &str = "
            SELECT node.key, node.node_type
              FROM json_each(?1) AS wanted
             CROSS JOIN node ON node.key = wanted.value";
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get::<_, String>(1)?));
        let rows = self.all(TYPES, [list(keys)], read).doing("read the types of nodes")?;
        let known = |(key, name): (NodeRowId, String)| Some((key, NodeType::parse(&name)?));
        Ok(rows.into_iter().filter_map(known).collect())
    }

    /// Returns the first of some siblings in their order.
    pub(crate) fn first_sibling(
        &self,
        keys: &[NodeRowId],
    ) -> Result<Option<NodeRowId>, StoreError> {
        const FIRST: &str = "
            SELECT node.key
              FROM json_each(?1) AS wanted
             CROSS JOIN node ON node.key = wanted.value
             ORDER BY node.position, node.key
             LIMIT 1";
        self.conn.find(FIRST, [list(keys)], |row| row.get(0).map(NodeRowId), "find a first node")
    }

    /// Returns the facts below clusters, eldest first, at most `n_max`.
    pub(crate) fn facts_below(
        &self,
        clusters: &[NodeRowId],
        n_max: usize,
    ) -> Result<Vec<KnowledgeRow>, StoreError> {
        const ROWS: &str = knowledge!(
            "
              FROM json_each(?1) AS wanted
             CROSS JOIN node AS n ON n.parent = wanted.value
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE n.node_type = 'fact'
             ORDER BY wanted.key, n.position
             LIMIT ?2"
        );
        let params = params![list(clusters), limit(n_max)];
        let rows = self.all(ROWS, params, read_row).doing("read facts")?;
        rows.into_iter().filter_map(Result::transpose).collect()
    }

    /// Returns the typed edges that begin at those nodes, at most `n_max`.
    pub(crate) fn typed_edges_from(
        &self,
        keys: &[NodeRowId],
        n_max: usize,
    ) -> Result<Vec<TypedEdge>, StoreError> {
        const EDGES: &str = "
            SELECT edge.source, target.key, edge.type, edge.strength
              FROM json_each(?1) AS wanted
             CROSS JOIN typed_edge AS edge ON edge.source = wanted.value
             CROSS JOIN node AS target ON target.id = edge.target
             LIMIT ?2";
        self.all(EDGES, params![list(keys), limit(n_max)], read_edge).doing("read typed edges")
    }

    /// Returns the typed edges that lead to those nodes, at most `n_max`.
    pub(crate) fn typed_edges_to(
        &self,
        keys: &[NodeRowId],
        n_max: usize,
    ) -> Result<Vec<TypedEdge>, StoreError> {
        const EDGES: &str = "
            SELECT edge.source, target.key, edge.type, edge.strength
              FROM json_each(?1) AS wanted
             CROSS JOIN node AS target ON target.key = wanted.value
             CROSS JOIN typed_edge AS edge ON edge.target = target.id
             LIMIT ?2";
        self.all(EDGES, params![list(keys), limit(n_max)], read_edge).doing("read typed edges")
    }

    /// Returns how strong the typed edges are that lead to each of those nodes, summed by type; of
    /// at most `n_max` edges.
    pub(crate) fn strengths_to(
        &self,
        keys: &[NodeRowId],
        n_max: usize,
    ) -> Result<Vec<(NodeRowId, String, f64)>, StoreError> {
        const SUMS: &str = "
            SELECT key, type, sum(strength)
              FROM (SELECT target.key, edge.type, edge.strength
                      FROM json_each(?1) AS wanted
                     CROSS JOIN node AS target ON target.key = wanted.value
                     CROSS JOIN typed_edge AS edge ON edge.target = target.id
                     LIMIT ?2)
             GROUP BY key, type";
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get(1)?, row.get(2)?));
        self.all(SUMS, params![list(keys), limit(n_max)], read).doing("read typed edges")
    }

    /// Returns the typed edges that lead to those nodes, at most `n_max`: none of a type of which
    /// more than `same_max` lead to a node.
    pub(crate) fn typed_edges_to_few(
        &self,
        keys: &[NodeRowId],
        same_max: usize,
        n_max: usize,
    ) -> Result<Vec<TypedEdge>, StoreError> {
        const EDGES: &str = "
            WITH RECURSIVE kind (id, key, type) AS (
                SELECT node.id, node.key, (SELECT min(type) FROM typed_edge WHERE target = node.id)
                  FROM json_each(?1) AS wanted
                 CROSS JOIN node ON node.key = wanted.value
                 UNION ALL
                SELECT id, key,
                       (SELECT min(next.type)
                          FROM typed_edge AS next
                         WHERE next.target = kind.id AND next.type > kind.type)
                  FROM kind
                 WHERE type IS NOT NULL)
            SELECT edge.source, kind.key, edge.type, edge.strength
              FROM kind
             CROSS JOIN typed_edge AS edge ON edge.target = kind.id AND edge.type = kind.type
             WHERE NOT EXISTS (
                   SELECT 1
                     FROM typed_edge AS same
                    WHERE same.target = kind.id AND same.type = kind.type
                    LIMIT 1 OFFSET ?2)
             LIMIT ?3";
        let params = params![list(keys), limit(same_max), limit(n_max)];
        self.all(EDGES, params, read_edge).doing("read typed edges")
    }

    /// Returns the newest nodes of a type that have a value under a key, at most `n_max`.
    pub(crate) fn newest_with(
        &self,
        node_type: NodeType,
        (key, value): (&str, &str),
        n_max: usize,
    ) -> Result<Vec<NodeRowId>, StoreError> {
        const NODES: &str = "
            SELECT facet.node
              FROM facet
             WHERE facet.key = ?2
               AND facet.value = ?3
               AND EXISTS (
                   SELECT 1
                     FROM facet AS of_type
                    WHERE of_type.key = 'type' AND of_type.value = ?1 AND of_type.node = facet.node)
             ORDER BY facet.node DESC
             LIMIT ?4";
        let params = params![node_type.as_str(), key, value, limit(n_max)];
        let read = |row: &Row<'_>| row.get(0).map(NodeRowId);
        self.all(NODES, params, read).doing("look up knowledge")
    }

    /// Returns the eldest episodes that are not processed, of a topic or of none, at most `n_max`.
    pub(crate) fn eldest_pending(
        &self,
        topic: Option<&str>,
        n_max: usize,
    ) -> Result<Vec<NodeRowId>, StoreError> {
        const PENDING: &str = "
            SELECT pending.node
              FROM facet AS pending
             WHERE pending.key = 'pending'
               AND pending.value = 1
               AND (SELECT topic.value
                      FROM facet AS topic
                     WHERE topic.node = pending.node AND topic.key = 'topic') IS ?1
             ORDER BY pending.node
             LIMIT ?2";
        let read = |row: &Row<'_>| row.get(0).map(NodeRowId);
        self.all(PENDING, params![topic, limit(n_max)], read).doing("list pending episodes")
    }

    /// Returns the eldest episode that is not processed, of any topic.
    pub(crate) fn first_pending(&self) -> Result<Option<NodeRowId>, StoreError> {
        const FIRST: &str = "
            SELECT node FROM facet WHERE key = 'pending' AND value = 1 ORDER BY node LIMIT 1";
        self.conn.find(FIRST, [], |row| row.get(0).map(NodeRowId), "list pending episodes")
    }

    /// Returns the hashes of names that several concepts have, at most `n_max`.
    pub(crate) fn repeated_names(&self, n_max: usize) -> Result<Vec<String>, StoreError> {
        const TITLES: &str = "
            SELECT name.value
              FROM facet AS of_type
             CROSS JOIN facet AS name ON name.node = of_type.node AND name.key = 'name'
             WHERE of_type.key = 'type'
               AND of_type.value = 'concept'
               AND NOT EXISTS (
                   SELECT 1
                     FROM facet
                    WHERE facet.key = 'archived' AND facet.value = 1 AND facet.node = name.node)
             GROUP BY name.value
            HAVING 1 < count(*)
             ORDER BY name.value
             LIMIT ?1";
        let read = |row: &Row<'_>| row.get(0);
        self.all(TITLES, [limit(n_max)], read).doing("look for equal titles")
    }

    /// Returns how many episodes are not processed: of a topic, or in all.
    pub(crate) fn pending_episodes(&self, topic: Option<&str>) -> Result<u64, StoreError> {
        const ALL: &str = "SELECT count(*) FROM facet WHERE key = 'pending' AND value = 1";
        const OF_TOPIC: &str = "
            SELECT count(*)
              FROM facet AS topic
             WHERE topic.key = 'topic'
               AND topic.value = ?1
               AND EXISTS (
                   SELECT 1
                     FROM facet
                    WHERE facet.key = 'pending' AND facet.value = 1 AND facet.node = topic.node)";
        let read = |row: &Row<'_>| row.get::<_, i64>(0);
        let n = match topic {
            None => self.conn.row(ALL, [], read, "count pending episodes")?,
            Some(topic) => self.conn.row(OF_TOPIC, [topic], read, "count pending episodes")?,
        };
        Ok(n.unsigned_abs())
    }
}

fn read_edge(row: &Row<'_>) -> rusqlite::Result<TypedEdge> {
    Ok(TypedEdge {
        source: NodeRowId(row.get(0)?),
        target: NodeRowId(row.get(1)?),
        link_type: row.get(2)?,
        strength: row.get(3)?,
    })
}

/// The result of reading a row of knowledge; `None` for a type that this build does not know.
type KnowledgeRowResult = Result<Option<KnowledgeRow>, StoreError>;

/// Reads a row of `knowledge!`.
type DecodeKnowledgeRowFn = fn(&Row<'_>) -> rusqlite::Result<KnowledgeRowResult>;

fn read_row(row: &Row<'_>) -> rusqlite::Result<KnowledgeRowResult> {
    read_with(row, CanonicalFields::parse_loosely)
}

fn read_unlinked(row: &Row<'_>) -> rusqlite::Result<KnowledgeRowResult> {
    read_with(row, |text| CanonicalFields::parse_without(text, "links"))
}

fn read_with(
    row: &Row<'_>,
    parse: impl Fn(&str) -> Result<CanonicalFields, CanonicalFieldsError>,
) -> rusqlite::Result<KnowledgeRowResult> {
    let (id, node_type): (String, String) = (read_id(row, 1)?, row.get(3)?);
    let Some(node_type) = NodeType::parse(&node_type) else { return Ok(Ok(None)) };
    let fields = match row.get_ref(6)?.as_str_or_null()?.map(parse).transpose() {
        Ok(fields) => fields,
        Err(error) => return Ok(Err(unreadable(&id, &error))),
    };
    Ok(Ok(Some(KnowledgeRow {
        key: NodeRowId(row.get(0)?),
        id,
        parent: row.get::<_, Option<i64>>(2)?.map(NodeRowId),
        node_type,
        label: row.get(4)?,
        content: row.get(5)?,
        fields,
        heat: heat_rows::read_heat(row, 7)?,
    })))
}
