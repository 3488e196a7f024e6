//! Queries with little memory.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use nandle_engine::ErrorKind;

use crate::support::{Place, answer, figures, plan, rows, set_reads, sorted, with_pages, write};
use parquet::file::properties::WriterProperties;

#[test]
fn stretches_longer_than_the_memory_of_reads_come_in_parts() {
    let place = Place::new();
    let properties =
        WriterProperties::builder().set_dictionary_enabled(false).set_offset_index_disabled(true).build();
    write(&place.path("rows.parquet"), &rows(0, 60_000), &properties);
    let engine = place.engine_in(24 << 20, &["rows.parquet"]);
    let query = "SELECT id, note, point, tags FROM rows WHERE amount > 20";
    for way in ["flexible", "fixed-block", "whole-group", "one-by-one:2"] {
        set_reads(&engine, way);
        let planned = sorted(&engine, query);
        let explained = plan(&engine, &format!("EXPLAIN ANALYZE {query}"));
        assert!(figures(&explained, "unplanned").iter().all(|count| *count == "0"), "{explained}");
        set_reads(&engine, "engine");
        assert!(planned == sorted(&engine, query), "{way}");
    }
}

#[test]
fn rows_that_the_query_keeps_hold_up_no_reads() {
    let place = Place::new();
    // The decoder doesn't copy texts of pages without compression and encoding: rows refer to the
    // bytes read.
    let plain =
        WriterProperties::builder().set_dictionary_enabled(false).set_max_row_group_row_count(Some(500));
    write(&place.path("rows.parquet"), &rows(0, 30_000), &plain.build());
    let engine = place.engine_in(64 << 20, &["rows.parquet"]);
    let counted = answer(
        &engine,
        "SELECT count(*) AS n, count(DISTINCT l.note) AS m FROM rows l JOIN rows r ON l.note = r.note AND l.id = r.id",
    );
    assert_eq!(counted.unwrap(), [r#"{"n":26666,"m":26666}"#]);
}

#[test]
fn memory_that_is_too_little_is_told_with_who_holds_it() {
    let place = Place::new();
    write(&place.path("rows.parquet"), &rows(0, 60_000), &WriterProperties::default());
    let engine = place.engine_in(1 << 20, &["rows.parquet"]);
    let error = answer(&engine, "SELECT * FROM rows").unwrap_err().to_string();
    assert!(error.contains("planned reads of") && error.contains("rows.parquet"), "{error}");
}

#[test]
fn what_is_spilled_is_bounded_and_gone_afterwards() {
    let place = Place::new();
    write(&place.path("rows.parquet"), &rows(0, 200_000), &WriterProperties::default());
    let query = "SELECT note, id, airport FROM rows ORDER BY note, id";
    let engine = place.engine_in(24 << 20, &["rows.parquet"]);
    let explained = plan(&engine, &format!("EXPLAIN ANALYZE {query}"));
    assert!(explained.contains("spill_count=") && !explained.contains("spill_count=0,"), "{explained}");
    assert_eq!(engine.spilled_bytes(), 0, "nothing is left of a query that has ended");
    let options = nandle_engine::EngineOptions { spill_limit_bytes: 1 << 20, ..place.options(24 << 20) };
    let bounded = nandle_engine::Engine::new(&options).unwrap();
    place.add(&bounded, "rows.parquet").unwrap();
    let error = answer(&bounded, query).unwrap_err().to_string();
    assert!(error.contains("disk"), "{error}");
    drop((engine, bounded));
    assert_eq!(std::fs::read_dir(place.path("spill")).unwrap().count(), 0);
}

#[test]
fn what_is_kept_between_queries_and_what_a_caller_holds_is_of_the_same_memory() {
    let place = Place::new();
    let memory = 64 << 20;
    for table in 0..4 {
        write(&place.path(&format!("t{table}.parquet")), &rows(0, 2000), &WriterProperties::default());
    }
    let engine = place.engine_in(memory, &["t0.parquet", "t1.parquet", "t2.parquet", "t3.parquet"]);
    let held = engine.hold("rows of a test");
    let error = held.grow(usize::try_from(memory).unwrap()).unwrap_err().to_string();
    assert!(error.contains("kept for the next reads"), "{error}");
    let most = usize::try_from(memory / 16 * 15).unwrap();
    held.grow(most).unwrap();
    let error = answer(&engine, "SELECT sum(amount) FROM t0 WHERE id > 3").unwrap_err().to_string();
    assert!(error.contains("rows of a test") && error.contains("planned reads of"), "{error}");
    assert_eq!(held.bytes(), most);
    drop(held);
    assert_eq!(answer(&engine, "SELECT count(amount) AS n FROM t0 WHERE id > 3").unwrap(), [r#"{"n":1747}"#]);
}

#[test]
fn what_explain_decodes_is_of_the_memory() {
    let place = Place::new();
    write(&place.path("rows.parquet"), &rows(0, 2000), &WriterProperties::default());
    let engine = place.engine_in(32 << 20, &["rows.parquet"]);
    let held = engine.hold("rows of a test");
    held.grow(30 << 20).unwrap();
    let explained = plan(&engine, "EXPLAIN FORMAT INDENT SELECT max(note) FROM rows WHERE amount > 3");
    assert!(explained.contains("unknown: ") && explained.contains("a sample of a column"), "{explained}");
    drop(held);
    let explained = plan(&engine, "EXPLAIN FORMAT INDENT SELECT max(note) FROM rows WHERE amount > 2");
    assert!(!explained.contains("unknown: "), "{explained}");
}

#[test]
fn lists_of_a_group_are_of_the_memory_with_their_copies() {
    let place = Place::new();
    write(&place.path("rows.parquet"), &rows(0, 200_000), &WriterProperties::default());
    // These 32 MB alone would fit.
    let query = "SELECT array_length(array_agg(a.id)) AS n FROM rows a, rows b WHERE b.id < 20";
    let few = answer(&place.engine_in(64 << 20, &["rows.parquet"]), query).unwrap_err();
    assert!(few.kind() == ErrorKind::OutOfMemory && few.to_string().contains("AggregateStream"), "{few}");
    let enough = place.engine_in(256 << 20, &["rows.parquet"]);
    assert_eq!(answer(&enough, query).unwrap(), [r#"{"n":4000000}"#]);
    let ordered = "SELECT array_agg(id ORDER BY id DESC) AS ids FROM rows WHERE id < 3";
    assert_eq!(answer(&enough, ordered).unwrap(), [r#"{"ids":[2,1,0]}"#]);
    let groups = "SELECT id % 2 AS g, array_agg(DISTINCT airport ORDER BY airport) AS a FROM rows WHERE id IN (1, 2) GROUP BY 1 ORDER BY 1";
    assert_eq!(answer(&enough, groups).unwrap(), [r#"{"g":0,"a":["DFW"]}"#, r#"{"g":1,"a":["HOU"]}"#]);
}

/// Text buffers take more memory than the values that refer to them.
#[test]
fn texts_of_a_list_are_of_the_memory() {
    let place = Place::new();
    let texts = StringArray::from_iter_values((0..100_000).map(|row| format!("{row:0300}")));
    let ids = Int64Array::from_iter_values(0..100_000);
    let columns: [(&str, ArrayRef); 2] = [("id", Arc::new(ids)), ("t", Arc::new(texts))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    write(&place.path("texts.parquet"), &batch, &with_pages());
    let query = "SELECT array_length(array_agg(t)) AS n, max(t) AS m FROM texts";
    let few = answer(&place.engine_in(24 << 20, &["texts.parquet"]), query).unwrap_err();
    assert!(few.kind() == ErrorKind::OutOfMemory && few.to_string().contains("AggregateStream"), "{few}");
    let enough = place.engine_in(256 << 20, &["texts.parquet"]);
    assert_eq!(answer(&enough, query).unwrap(), [format!(r#"{{"n":100000,"m":"{:0300}"}}"#, 99_999)]);
    let groups = "SELECT id % 2 AS g, array_length(array_agg(t) FILTER (WHERE id % 3 = 0)) AS n FROM texts GROUP BY 1 ORDER BY 1";
    assert_eq!(answer(&enough, groups).unwrap(), [r#"{"g":0,"n":16667}"#, r#"{"g":1,"n":16667}"#]);
    // Texts of filtered rows aren't held.
    let one = "SELECT id % 2 AS g, array_agg(t) FILTER (WHERE id = 5) AS t FROM texts GROUP BY 1 ORDER BY 1";
    let [none, wanted] = &*answer(&place.engine_in(24 << 20, &["texts.parquet"]), one).unwrap() else {
        panic!("two groups")
    };
    assert_eq!((&**none, wanted.len()), (r#"{"g":0}"#, r#"{"g":1,"t":[""]}"#.len() + 300));
    // A repeated text is stored once.
    let repeated =
        "SELECT array_length(array_agg(a.t)) AS n FROM texts a, texts b WHERE a.id < 40 AND b.id < 10000";
    assert_eq!(
        answer(&place.engine_in(64 << 20, &["texts.parquet"]), repeated).unwrap(),
        [r#"{"n":400000}"#]
    );
}
