//! Tests the heat of nodes without a row.

use super::*;

#[test]
fn a_node_without_a_heat_row_has_its_birth_temperature() {
    const COLUMNS: &str = concat!(
        "SELECT ",
        heat_columns!(),
        " FROM (SELECT NULL AS temperature, NULL AS at, NULL AS pinned) AS h"
    );
    let conn = Connection::open_in_memory().unwrap();
    let heat = conn.query_row(COLUMNS, [], |row| read_heat(row, 0)).unwrap();
    assert_eq!(heat, untouched());
}
