//! Sorted tables, projections, and known counts.

use nandle_columns::{Clustering, Table};
use nandle_engine::Engine;

use crate::support::{Place, answer, flat, plan, rows, set_reads, sorted};

const MEMORY_BYTES: u64 = 1 << 20;

fn load(table: &Table, first: usize, count: usize) {
    let mut writer = table.load().unwrap();
    writer.write(&flat(&rows(first, count))).unwrap();
    writer.commit().unwrap();
}

fn explain(engine: &Engine, query: &str) -> String {
    plan(engine, &format!("EXPLAIN FORMAT INDENT {query}"))
}

#[test]
fn rows_in_an_order_are_not_sorted_again() {
    let place = Place::new();
    let by = ["day", "airport"].map(ToOwned::to_owned).to_vec();
    let table = place.add_clustered_table("ordered", Clustering::Sort(by));
    load(&table, 0, 6000);
    let engine = place.engine(&["ordered"]);
    for query in [
        "SELECT day, id FROM ordered ORDER BY day",
        "SELECT day, airport FROM ordered ORDER BY day, airport NULLS FIRST",
        "SELECT day, amount FROM ordered WHERE amount > 40 ORDER BY day LIMIT 1500",
        "SELECT day, count(*) AS n FROM ordered GROUP BY day ORDER BY day",
    ] {
        let explained = explain(&engine, query);
        assert!(!explained.contains("SortExec"), "{query}: {explained}");
        let days = |how: &str| {
            set_reads(&engine, how);
            let lines = answer(&engine, query).unwrap();
            lines.iter().map(|line| line[..r#"{"day":"2008-01-01""#.len()].to_owned()).collect::<Vec<_>>()
        };
        let (planned, by_engine) = (days("flexible"), days("engine"));
        assert!(planned.len() > 100 && planned.is_sorted() && planned == by_engine, "{query}");
        set_reads(&engine, "flexible");
    }
    for query in ["SELECT id FROM ordered ORDER BY id", "SELECT day FROM ordered ORDER BY airport"] {
        assert!(explain(&engine, query).contains("SortExec"), "{query}");
    }
    let grouped = explain(&engine, "SELECT day, count(*) FROM ordered GROUP BY day");
    assert!(grouped.contains("ordering_mode=Sorted"), "{grouped}");
    load(&table, 6000, 500);
    let runs = place.engine(&["ordered"]);
    let query = "SELECT day FROM ordered ORDER BY day";
    assert!(explain(&runs, query).contains("SortExec"), "two runs have no order together");
    assert!(answer(&runs, query).unwrap().is_sorted());
}

#[test]
fn copies_of_columns_are_read_where_that_is_quicker() {
    let place = Place::new();
    let table = place.add_empty_table("wide");
    load(&table, 0, 6000);
    let before = place.engine(&["wide"]);
    table.project(&["airport", "id"], MEMORY_BYTES).unwrap();
    let engine = place.engine(&["wide"]);
    let is_projected = |query: &str| explain(&engine, query).contains("/projections/");
    let grouped =
        "SELECT airport, count(*) AS n, sum(id) AS s FROM wide WHERE airport = 'IAH' GROUP BY airport";
    assert!(is_projected(grouped), "{}", explain(&engine, grouped));
    assert!(!is_projected("SELECT note FROM wide WHERE airport = 'IAH'"), "it lacks a column");
    assert!(
        !is_projected("SELECT id FROM wide WHERE id = 17"),
        "the table's own pages are in the order of this column"
    );
    let in_order = explain(&engine, "SELECT airport, id FROM wide ORDER BY airport NULLS FIRST, id");
    assert!(!in_order.contains("/projections/") || !in_order.contains("SortExec"), "{in_order}");
    for query in [grouped, "SELECT id, airport FROM wide WHERE airport IS NULL", "SELECT airport FROM wide"] {
        for how in ["flexible", "engine"] {
            set_reads(&engine, how);
            assert!(sorted(&engine, query) == sorted(&before, query), "{how}: {query}");
        }
    }
}

#[test]
fn counts_are_known_without_a_read() {
    let place = Place::new();
    load(&place.add_empty_table("counted"), 0, 3210);
    let engine = place.engine(&["counted"]);
    let counted = "SELECT count(*) AS n, min(id) AS first FROM counted";
    assert!(!explain(&engine, counted).contains("DataSourceExec"), "{}", explain(&engine, counted));
    assert_eq!(answer(&engine, counted).unwrap(), [r#"{"n":3210,"first":0}"#]);
}

#[test]
fn the_first_rows_of_an_order_are_those_of_the_first_files() {
    let place = Place::new();
    let table = place.add_clustered_table("ordered", Clustering::Sort(vec!["day".to_owned()]));
    load(&table, 0, 6000);
    // Three files for four threads: each gets ranges of several files.
    let threads = std::num::NonZeroUsize::new(4).unwrap();
    let options = nandle_engine::EngineOptions { threads, ..place.options(64 << 20) };
    let engine = Engine::new(&options).unwrap();
    place.add(&engine, "ordered").unwrap();
    answer(&engine, "SET datafusion.optimizer.repartition_file_min_size = 0").unwrap();
    for bounds in ["LIMIT 700 OFFSET 1900", "LIMIT 2600", "LIMIT 10 OFFSET 4990"] {
        let query = format!("SELECT day FROM ordered ORDER BY day {bounds}");
        assert!(!explain(&engine, &query).contains("SortExec"), "{}", explain(&engine, &query));
        set_reads(&engine, "engine");
        let expected = answer(&engine, &query).unwrap();
        set_reads(&engine, "flexible");
        assert!(answer(&engine, &query).unwrap() == expected, "{query}: {}", explain(&engine, &query));
    }
}
