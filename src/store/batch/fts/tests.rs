//! Tests what a large write sets aside: the page cache, and the facets of its nodes.

use super::*;
use crate::model::clock::Millis;
use crate::model::tree::{Format, NodeType};
use crate::store::columns::FIELDS;
use crate::store::connection::cache_kib;
use crate::store::{Attribute, Attributes, IfMissing, NodeData, Writer};

#[test]
fn a_large_write_leaves_no_large_cache() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    let before = cache_kib(&writer.lock());
    for fails in [false, true] {
        let written = writer.write("m", "", Millis(0), |batch| {
            batch.defer_indexing()?;
            assert!(before < cache_kib(batch.tx));
            let planned = StoreError::Corrupt { what: "as planned".to_owned() };
            if fails { Err(planned) } else { Ok(()) }
        });
        assert_eq!(written.is_err(), fails);
        assert_eq!(cache_kib(&writer.lock()), before);
    }
}

#[test]
fn a_typed_node_has_its_facets_within_a_large_write() {
    const FACETS: &str = "SELECT group_concat(key || '=' || value, ' ') FROM facet";
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    let fields = Attribute::Text(r#"{"uuid":"u1","tags":["a"],"archived":false}"#.to_owned());
    let data = NodeData {
        node_type: NodeType::Core,
        format: Format::Plain,
        label: "Rust",
        content: "Rust is used.",
        token_count: 4,
        attributes: Attributes::default().with(FIELDS, Some(fields)),
    };
    let written = writer.write("m", "", Millis(0), |batch| {
        batch.defer_indexing()?;
        batch.insert_typed_node(&data, &["Memories"])?;
        let within: String = one(batch.tx, FACETS).doing("look")?;
        Ok::<_, StoreError>(within)
    });
    let (within, _) = written.unwrap();
    assert!(within.contains("uuid=u1") && within.contains("tag=a"), "{within}");
    let after: String = one(&writer.lock(), FACETS).unwrap();
    assert_eq!(after, within);
}
