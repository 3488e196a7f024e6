//! Tables of several files, similar to TPC-H's, written by the program itself.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use nandle_columns::{Clustering, Layout, Table, TableOptions};

use crate::place::Place;

pub(super) const TABLES: [&str; 3] = ["customers.parquet", "orders", "lines"];

/// Customers in one file, their orders in three, and the order lines in five.
pub(super) fn place() -> Place {
    let place = Place::new();
    let customers = "SELECT value AS c_id, 'customer ' || value AS c_name, value % 7 AS c_nation FROM generate_series(1, 300)";
    write(&place, customers, "customers.parquet");
    std::fs::create_dir(place.path("orders")).unwrap();
    for part in 0..3 {
        let (first, last) = (part * 1000 + 1, part * 1000 + 1000);
        let orders = format!(
            "SELECT value AS o_id, value * 7919 % 300 + 1 AS o_customer, value * 31 % 400 AS o_day, CAST(value * 17 % 9973 AS DOUBLE) / 4 AS o_price, \
             CASE WHEN value % 11 = 0 THEN NULL ELSE 'priority ' || value % 5 END AS o_priority FROM generate_series({first}, {last})"
        );
        write(&place, &orders, &format!("orders/{part}.parquet"));
    }
    std::fs::create_dir(place.path("lines")).unwrap();
    for part in 0..5 {
        write_lines(&place, part * 2400 + 1, part * 2400 + 2400, &format!("lines/{part}.parquet"));
    }
    place
}

/// Writes a file of lines.
pub(super) fn write_lines(place: &Place, first: usize, last: usize, name: &str) {
    let lines = format!(
        "SELECT value * 104729 % 3000 + 1 AS l_order, value % 7 AS l_number, value * 13 % 50 + 1 AS l_quantity, CAST(value * 29 % 1009 AS DOUBLE) / 8 AS l_price, \
         value * 37 % 400 AS l_day, CASE value % 3 WHEN 0 THEN 'A' WHEN 1 THEN 'N' ELSE 'R' END AS l_flag FROM generate_series({first}, {last})"
    );
    write(place, &lines, name);
}

/// Writes a file of numbers, with columns of 8 bytes.
pub(super) fn write_numbers(place: &Place, count: usize, name: &str) {
    write(place, &format!("SELECT value AS id, value % 7 AS part FROM generate_series(1, {count})"), name);
}

pub(super) fn write(place: &Place, rows: &str, name: &str) {
    let written = place.run(&["-c", rows, "--format", "parquet"]);
    assert!(written.status.success(), "{written:?}");
    std::fs::write(place.path(name), written.stdout).unwrap();
}

/// A nandle table with rows by day, loaded in order, and a copy of its kinds and amounts.
pub(super) fn add_ordered_table(place: &Place, name: &str) {
    let table = add_table(place, name, Clustering::Sort(vec!["day".to_owned()]), 2500);
    table.project(&["kind", "amount"], 16 << 20).unwrap();
}

/// Adds the rows in a single file of twelve row groups, too short to be split.
pub(super) fn add_table_of_one_file(place: &Place, name: &str) {
    add_table(place, name, Clustering::None, 1 << 20);
}

fn add_table(place: &Place, name: &str, clustering: Clustering, file_rows: u64) -> Table {
    let fields = ["day", "kind", "amount"].map(|name| Field::new(name, DataType::Int64, false));
    let layout = Layout { page_bytes: 2048, row_group_rows: 1000, file_rows, ..Layout::default() };
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let options = TableOptions { layout, clustering, ..TableOptions::new(Arc::clone(&schema), 1) };
    let table = Table::create(&place.path(name), &options).unwrap();
    let column =
        |value: fn(i64) -> i64| -> ArrayRef { Arc::new((0..12_000).map(value).collect::<Int64Array>()) };
    let columns = vec![column(|row| row / 50), column(|row| row * 7 % 11), column(|row| row * 7919 % 1009)];
    let mut writer = table.load().unwrap();
    writer.write(&RecordBatch::try_new(schema, columns).unwrap()).unwrap();
    writer.commit().unwrap();
    table
}

/// One query of each kind in TPC-H, with ordered rows.
pub(super) const QUERIES: [&str; 16] = [
    "SELECT l_flag, count(*), sum(l_quantity), min(l_price), max(l_price), avg(l_quantity) FROM lines WHERE l_day <= 380 GROUP BY 1 ORDER BY 1",
    "SELECT sum(l_price * l_number) FROM lines WHERE l_day BETWEEN 100 AND 200 AND l_quantity < 24",
    "SELECT o_id, o_day, sum(l_price) AS revenue FROM customers, orders, lines WHERE c_nation = 3 AND c_id = o_customer AND l_order = o_id AND o_day < 200 \
     AND l_day > 200 GROUP BY 1, 2 ORDER BY revenue DESC, o_id LIMIT 10",
    "SELECT o_priority, count(*) FROM orders WHERE EXISTS (SELECT * FROM lines WHERE l_order = o_id AND l_day > 300) GROUP BY 1 ORDER BY 1",
    "SELECT n, count(*) FROM (SELECT c_id, count(o_id) AS n FROM customers LEFT JOIN orders ON c_id = o_customer AND o_priority <> 'priority 1' GROUP BY 1) GROUP BY n \
     ORDER BY 2 DESC, 1 DESC",
    "SELECT c_name, o_id, sum(l_quantity) FROM customers, orders, lines WHERE o_id IN (SELECT l_order FROM lines GROUP BY l_order HAVING sum(l_quantity) > 150) \
     AND c_id = o_customer AND o_id = l_order GROUP BY 1, 2 ORDER BY 3 DESC, 2",
    "SELECT count(DISTINCT l_order), count(DISTINCT l_day) FROM lines WHERE l_order NOT IN (SELECT o_id FROM orders WHERE o_day < 50)",
    "SELECT c_nation, avg(o_price) FROM orders JOIN customers ON o_customer = c_id WHERE o_price > (SELECT avg(o_price) FROM orders) GROUP BY 1 ORDER BY 1",
    "SELECT o_id, o_price FROM orders ORDER BY o_price DESC, o_id LIMIT 5 OFFSET 3",
    "SELECT o_id, l_number, l_price FROM orders, lines WHERE o_id = l_order AND o_day = 7 ORDER BY 1, 2, 3",
    "SELECT kind, n FROM (SELECT 'orders' AS kind, count(*) AS n FROM orders WHERE o_day > 9 UNION ALL SELECT 'lines', count(*) FROM lines WHERE l_day > 9) ORDER BY kind",
    "SELECT o_customer, o_id, rank() OVER (PARTITION BY o_customer ORDER BY o_price DESC, o_id) AS place FROM orders WHERE o_customer < 9 ORDER BY 1, 3",
    "SELECT c_id FROM customers WHERE c_id NOT IN (SELECT o_customer FROM orders WHERE o_priority IS NOT NULL) ORDER BY 1",
    "SELECT d, sum(l_price) FROM lines JOIN (VALUES (10, 'ten'), (20, 'twenty')) AS v(d, word) ON l_day = d GROUP BY 1 ORDER BY 1",
    "SELECT sum(a.l_quantity) FROM lines a FULL JOIN orders b ON a.l_order = b.o_id AND b.o_day < 100 WHERE b.o_id IS NULL OR a.l_day > 5",
    "SELECT count(*) FROM lines WHERE l_day < 0",
];

/// Copies a directory recursively.
pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let there = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &there);
        } else {
            std::fs::copy(&path, &there).unwrap();
        }
    }
}
