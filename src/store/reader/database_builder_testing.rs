//! Builds a memory from an outline, for tests of its readers.

#[cfg(test)]
use std::cell::Cell;

use rusqlite::{Connection, params};
#[cfg(test)]
use rusqlite::{Statement, StatementStatus};

use super::{ErrorContext, Reader, StoreError};
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::NodeType;
use crate::store::connection;
use crate::store::schema::MIGRATIONS;
use crate::text::supplementary_index_terms::index_terms;

/// A memory under construction.
pub(crate) struct TestDatabaseBuilder {
    conn: Connection,
    file: Option<(i64, String)>,
    /// Keys and labels of the open nodes, outermost first.
    open: Vec<(i64, String)>,
    n_nodes: i64,
}

impl TestDatabaseBuilder {
    /// Returns an empty memory.
    pub(crate) fn new() -> TestDatabaseBuilder {
        let conn = Connection::open_in_memory().expect("memory is there");
        for migration in MIGRATIONS {
            conn.execute_batch(migration).expect("the schema is sound");
        }
        conn.execute("INSERT INTO root (id, path) VALUES (1, '/notes')", []).expect("a root");
        conn.execute_batch("BEGIN").expect("one transaction is faster than many");
        TestDatabaseBuilder { conn, file: None, open: Vec::new(), n_nodes: 0 }
    }

    /// Returns the memory of an outline, in the syntax of [`TestDatabaseBuilder::add`].
    pub(crate) fn of(outline: &str) -> Reader {
        let mut sketch = TestDatabaseBuilder::new();
        sketch.add(outline);
        sketch.done()
    }

    /// Adds an outline, and returns the ids of its nodes.
    ///
    /// `= file.md` begins a file, `type content` a node, two spaces lead a level down, `\n` in a
    /// content is a line break. A node of content `-` is empty.
    pub(crate) fn add(&mut self, outline: &str) -> Vec<String> {
        let mut ids = Vec::new();
        for line in outline.lines().filter(|it| !it.trim().is_empty()) {
            let text = line.trim_start();
            let depth = (line.len() - text.len()) / 2;
            match text.split_once(' ') {
                Some(("=", path)) => self.file(path),
                Some((node_type, "-")) => ids.push(self.node(depth, node_type, "")),
                Some((node_type, content)) => {
                    ids.push(self.node(depth, node_type, &content.replace("\\n", "\n")));
                }
                None => ids.push(self.node(depth, "text", text)),
            }
        }
        ids
    }

    /// Begins a file.
    pub(crate) fn file(&mut self, path: &str) {
        const ADD: &str = "INSERT INTO file (root, path, size, mtime) VALUES (1, ?1, 0, 0)";
        self.conn.execute(ADD, [path]).expect("a path of its own");
        self.file = Some((self.conn.last_insert_rowid(), path.to_owned()));
        self.open.clear();
    }

    /// Adds a node at a depth, below the last one above it, and returns its id.
    pub(crate) fn node(&mut self, depth: usize, node_type: &str, content: &str) -> String {
        const ADD: &str = "
            INSERT INTO node (key, id, file, parent, position, node_type, format, token_count,
                              content_hash, label, trail, grams, content)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'plain', ?7, ?8, ?9, ?10, ?11, ?12)";
        const WARM: &str = "INSERT INTO heat (node, temperature, at) VALUES (?1, 0.5, 0)";
        self.open.truncate(depth);
        self.n_nodes += 1;
        let (file, path) = match &self.file {
            Some((file, path)) => (Some(*file), path.as_str()),
            None => (None, ""),
        };
        let kind = NodeType::parse(node_type).expect("a type");
        let ordinal = u32::try_from(self.n_nodes).expect("a test is small");
        let id = NodeId::birth(kind, path, content, ordinal).to_string();
        let label = crate::text::label_of_text(content);
        let mut breadcrumb: Vec<&str> = vec![path.trim_end_matches(".md")];
        breadcrumb.extend(self.open.iter().map(|(_, label)| label.as_str()));
        self.conn
            .prepare_cached(ADD)
            .and_then(|mut add| {
                add.execute(params![
                    self.n_nodes,
                    id,
                    file,
                    self.open.last().map(|(key, _)| key),
                    self.n_nodes * 1024,
                    node_type,
                    crate::text::tokens::count(content),
                    ContentHash::of(content).to_string(),
                    label,
                    breadcrumb.join(" / "),
                    index_terms(&label, content),
                    content
                ])
            })
            .expect("a node");
        self.conn.execute(WARM, [self.n_nodes]).expect("a temperature");
        self.open.push((self.n_nodes, label));
        id
    }

    /// Sets the temperature of the node added last.
    pub(crate) fn warm(&self, temperature: f64) {
        const WARM: &str = "UPDATE heat SET temperature = ?1 WHERE node = ?2";
        self.conn.execute(WARM, params![temperature, self.n_nodes]).expect("a temperature");
    }

    /// Runs SQL, for states that an outline cannot express.
    pub(crate) fn run(&self, sql: &str) {
        self.conn.execute_batch(sql).expect("sound SQL");
    }

    /// Returns the finished memory; statements get the plans that they have in a file.
    pub(crate) fn done(self) -> Reader {
        self.run("COMMIT; PRAGMA query_only = 1");
        connection::prepare_once(&self.conn).expect("plans can be kept");
        let (deadline, sums) = (super::QueryDeadline::default(), super::SumCache::default());
        Reader { conn: self.conn, deadline, sums, mark: "" }
    }
}

impl Reader {
    /// Returns every reference, by its text: `a.md: label -> b.md: label w=2`.
    pub(crate) fn references(&self) -> Result<Vec<String>, StoreError> {
        const ALL: &str = "
            SELECT concat(sf.path, ': ', s.label, ' ', r.form, ' [', r.label, '] -> ',
                          iif(r.target IS NULL, '?', tf.path || ': ' || t.label),
                          iif(r.weight = 1.0, '', ' w=' || r.weight),
                          ' of ' || ((length(r.candidates) + 1) / 12))
              FROM reference AS r
              JOIN node AS s ON s.key = r.source
              LEFT JOIN file AS sf ON sf.id = s.file
              LEFT JOIN node AS t ON t.key = r.target
              LEFT JOIN file AS tf ON tf.id = t.file
             ORDER BY 1";
        self.all(ALL, [], |row| row.get(0)).doing("list references")
    }
}

#[cfg(test)]
thread_local! {
    static WORK: Cell<i64> = const { Cell::new(0) };
}

/// Adds the steps of a query to this thread's count.
#[cfg(test)]
pub(super) fn note_work(query: &mut Statement<'_>) {
    let steps = query.reset_status(StatementStatus::VmStep);
    WORK.set(WORK.get() + i64::from(steps));
}

/// Counts the running totals that differ from the rows.
#[cfg(test)]
pub(crate) const TOTALS_OFF: &str = "
    SELECT count(*)
      FROM (SELECT * FROM (SELECT * FROM running_total WHERE n_rows <> 0
                           EXCEPT
                           SELECT * FROM running_total_made)
             UNION ALL
            SELECT * FROM (SELECT * FROM running_total_made
                           EXCEPT
                           SELECT * FROM running_total))";

/// Returns the steps of SQLite's virtual machine that `ask` took, in queries that return rows.
#[cfg(test)]
pub(crate) fn work_of(ask: impl FnOnce()) -> i64 {
    WORK.set(0);
    ask();
    WORK.get()
}
