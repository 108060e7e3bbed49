//! Tests the heat of nodes without a row.

use super::*;

#[test]
fn without_a_row_the_columns_are_those_of_an_untouched_node() {
    const COLUMNS: &str = concat!(
        "SELECT ",
        heat_columns!(),
        " FROM (SELECT NULL AS temperature, NULL AS at, NULL AS pinned) AS h"
    );
    let conn = Connection::open_in_memory().unwrap();
    let heat = conn.query_row(COLUMNS, [], |row| read_heat(row, 0)).unwrap();
    assert_eq!(heat, untouched());
}
