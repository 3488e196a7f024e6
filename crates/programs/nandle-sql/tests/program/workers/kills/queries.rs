//! Tables and queries that keep workers busy long enough to be killed.

use std::path::Path;

use nandle_columns::{Layout, Table, TableOptions};
use nandle_flights::{Generator, flight_schema};

use super::super::data::{self, write_lines};
use crate::place::Place;

/// Tables on every worker.
pub(super) const TABLES: [&str; 4] = ["customers.parquet", "orders", "lines", "flights"];

/// Files of lines, more than in the other tests.
const FILES: usize = 8;
const LINES: usize = 15_000;
const FLIGHTS: u64 = 20_000;

/// Customers, orders and many more lines, as Parquet files; and a table of generated flights.
pub(super) fn place() -> Place {
    let place = data::place();
    for file in 0..FILES {
        let first = 12_000 + file * LINES + 1;
        write_lines(&place, first, first + LINES - 1, &format!("lines/more-{file}.parquet"));
    }
    add_flights(&place.path("flights"));
    place
}

/// Adds flights in several files, so that there are shares to distribute.
fn add_flights(directory: &Path) {
    let layout = Layout { row_group_rows: 1000, file_rows: 5000, ..Layout::default() };
    let options = TableOptions { layout, ..TableOptions::new(flight_schema(), 1) };
    let mut writer = Table::create(directory, &options).unwrap().load().unwrap();
    let generator = Generator::new(FLIGHTS, 7).unwrap();
    for number in 0..generator.chunks() {
        writer.write(&generator.chunk(number).unwrap()).unwrap();
    }
    writer.commit().unwrap();
}

/// Scans, shuffles, sorts, windows and joins of every kind. Their results are ordered, and sums are
/// of integers or eighths, so that they don't depend on the order of the rows.
pub(super) const QUERIES: [&str; 20] = [
    "SELECT l_flag, l_number, count(*), sum(l_quantity), min(l_price), max(l_price) FROM lines WHERE l_day <= 380 GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT sum(l_price * l_number), count(*) FROM lines WHERE l_day BETWEEN 100 AND 300 AND l_quantity < 40",
    "SELECT o_id, o_day, sum(l_price) AS revenue FROM customers, orders, lines WHERE c_nation < 5 AND c_id = o_customer AND l_order = o_id AND o_day < 300 \
     AND l_day > 100 GROUP BY 1, 2 ORDER BY revenue DESC, o_id LIMIT 100",
    "SELECT o_priority, count(*) FROM orders WHERE EXISTS (SELECT * FROM lines WHERE l_order = o_id AND l_day > 300) GROUP BY 1 ORDER BY 1",
    "SELECT n, count(*) FROM (SELECT c_id, count(l_order) AS n FROM customers LEFT JOIN orders ON c_id = o_customer AND o_priority <> 'priority 1' \
     LEFT JOIN lines ON l_order = o_id GROUP BY 1) GROUP BY n ORDER BY 2 DESC, 1 DESC",
    "SELECT c_name, o_id, sum(l_quantity) FROM customers, orders, lines WHERE o_id IN (SELECT l_order FROM lines GROUP BY l_order HAVING sum(l_quantity) > 1000) \
     AND c_id = o_customer AND o_id = l_order GROUP BY 1, 2 ORDER BY 3 DESC, 2",
    "SELECT count(DISTINCT l_order), count(DISTINCT l_day), count(DISTINCT l_price) FROM lines WHERE l_order NOT IN (SELECT o_id FROM orders WHERE o_day < 50)",
    "SELECT count(*), sum(a.o_id) FROM orders a, orders b WHERE a.o_day < 200 AND (a.o_id * b.o_id) % 7 = 1",
    "SELECT l_order, place, l_day FROM (SELECT l_order, l_day, l_price, row_number() OVER (PARTITION BY l_order ORDER BY l_price DESC, l_day, l_number) AS place \
     FROM lines) WHERE place <= 2 ORDER BY 1, 2",
    "SELECT l_order, l_number, l_day, l_price FROM lines WHERE l_day < 200 ORDER BY 4 DESC, 1, 2, 3",
    "SELECT sum(a.l_quantity), count(b.o_id) FROM lines a FULL JOIN orders b ON a.l_order = b.o_id AND b.o_day < 100 WHERE b.o_id IS NULL OR a.l_day > 5",
    "SELECT kind, n, total FROM (SELECT 'orders' AS kind, count(*) AS n, sum(o_day) AS total FROM orders UNION ALL SELECT 'few', count(*), sum(l_day) FROM lines \
     WHERE l_quantity < 10 UNION ALL SELECT 'many', count(*), sum(l_day) FROM lines WHERE l_quantity >= 10) ORDER BY kind",
    "SELECT \"Airline\", \"Month\", count(*), sum(\"ArrDelay\"), max(\"DepDelay\") FROM flights GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT \"Origin\", count(DISTINCT \"Dest\"), count(DISTINCT \"FlightDate\") FROM flights GROUP BY 1 ORDER BY 1",
    "SELECT a.\"Origin\", a.\"Dest\", a.n, b.n FROM (SELECT \"Origin\", \"Dest\", count(*) AS n FROM flights GROUP BY 1, 2) a JOIN (SELECT \"Origin\", \"Dest\", count(*) AS n \
     FROM flights GROUP BY 1, 2) b ON a.\"Origin\" = b.\"Dest\" AND a.\"Dest\" = b.\"Origin\" WHERE a.n > b.n ORDER BY 1, 2",
    "SELECT \"Month\", flights, sum(flights) OVER (ORDER BY \"Month\") AS until FROM (SELECT \"Month\", count(*) AS flights FROM flights GROUP BY 1) ORDER BY 1",
    "SELECT \"Airline\", \"Origin\", count(*), sum(\"Distance\") FROM flights WHERE \"Year\" >= 1995 GROUP BY ROLLUP (\"Airline\", \"Origin\") ORDER BY 1 NULLS FIRST, 2 NULLS FIRST",
    "SELECT \"FlightDate\", \"Airline\", \"Origin\", \"Dest\", \"ArrDelay\", \"FlightNum\", \"CRSDepTime\" FROM flights WHERE \"ArrDelay\" > 20 \
     ORDER BY 1, 2, 3, 4, 5 DESC, 6, 7",
    "SELECT f.\"Airline\", count(*), sum(f.\"ArrDelay\") FROM flights f JOIN (SELECT \"Origin\", \"Month\", max(\"ArrDelay\") AS worst FROM flights GROUP BY 1, 2) w \
     ON f.\"Origin\" = w.\"Origin\" AND f.\"Month\" = w.\"Month\" WHERE f.\"ArrDelay\" * 2 > w.worst GROUP BY 1 ORDER BY 1",
    "SELECT \"Origin\" FROM flights WHERE \"ArrDelay\" > 60 INTERSECT SELECT \"Dest\" FROM flights WHERE \"Cancelled\" = 1 \
     EXCEPT SELECT \"Origin\" FROM flights WHERE \"Diverted\" = 1 ORDER BY 1",
];
