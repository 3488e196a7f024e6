//! Queries that are cancelled.

use std::num::NonZeroUsize;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use nandle_engine::{Engine, EngineError, EngineOptions};

use crate::support::{Place, answer, figures, plan, sorted, with_pages};

#[test]
fn limits_read_no_more_row_groups_than_they_need() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let plan = plan(&engine, "EXPLAIN FORMAT INDENT SELECT id, note FROM rows LIMIT 5");
    assert_eq!(figures(&plan, "row_groups"), ["1 of 10"], "{plan}");
    assert_eq!(answer(&engine, "SELECT id, note FROM rows LIMIT 5").unwrap().len(), 5);
    assert_eq!(answer(&engine, "SELECT id FROM rows LIMIT 2600").unwrap().len(), 2600);
    assert_eq!(answer(&engine, "SELECT id FROM rows WHERE id > 5 LIMIT 4").unwrap().len(), 4);
}

#[test]
fn rows_that_are_not_wanted_any_more_stop_the_reads() {
    let place = Place::new();
    place.write("rows.parquet", 0, 60_000, &with_pages());
    let engine = place.engine_in(32 << 20, &["rows.parquet"]);
    let statement = engine.parse("SELECT * FROM rows").unwrap().remove(0).unwrap();
    for batches in [0, 1, 3] {
        let mut rows = engine.run(&statement).unwrap();
        for _ in 0..batches {
            assert!(rows.next_batch(&|| false).unwrap().is_some());
        }
        drop(rows);
    }
    assert_eq!(sorted(&engine, "SELECT id FROM rows WHERE note IS NOT NULL").len(), 60_000 - 60_000 / 9 - 1);
}

#[test]
fn a_query_that_is_over_says_so() {
    let place = Place::with_files();
    for threads in [1, 3] {
        let threads = NonZeroUsize::new(threads).unwrap();
        let engine = Engine::new(&EngineOptions { threads, ..place.options(64 << 20) }).unwrap();
        place.add(&engine, "rows").unwrap();
        let endless = "SELECT count(*) FROM rows a, rows b, rows c WHERE a.id + b.id + c.id = 1";
        let statement = engine.parse(endless).unwrap().remove(0).unwrap();
        let mut rows = engine.run(&statement).unwrap();
        let ended = rows.next_batch(&|| true).unwrap_err();
        assert!(matches!(ended, EngineError::Interrupted), "{ended}");
        assert!(rows.next_batch(&|| false).unwrap().is_none(), "what is over stays so");
    }
}

#[test]
fn a_join_whose_client_has_gone_gives_its_thread_back() {
    let place = Place::with_files();
    let threads = NonZeroUsize::MIN;
    let engine = Engine::new(&EngineOptions { threads, ..place.options(64 << 20) }).unwrap();
    place.add(&engine, "rows").unwrap();
    ends(&engine);
    for sorting in
        ["datafusion.execution.target_partitions = 2", "datafusion.optimizer.prefer_hash_join = false"]
    {
        answer(&engine, &format!("SET {sorting}")).unwrap();
    }
    assert!(
        plan(&engine, "EXPLAIN SELECT * FROM rows a JOIN rows b ON a.note = b.note")
            .contains("SortMergeJoin")
    );
    ends(&engine);
    let (told, is_told) = channel();
    // If it hangs, its thread ends with the test process.
    std::thread::spawn(move || told.send(answer(&engine, "SELECT min(id) FROM rows").unwrap().len()));
    assert_eq!(is_told.recv_timeout(Duration::from_mins(2)), Ok(1));
}

/// Ends queries that would take forever.
fn ends(engine: &Engine) {
    for endless in [
        "SELECT sum(a.id * b.id + c.id) FROM rows a, rows b, rows c",
        "SELECT count(*) FROM rows a JOIN rows b ON a.id < b.id * 2 JOIN rows c ON b.id < c.id * 2",
        "SELECT sum(a.id * b.id) FROM rows a JOIN rows b ON a.id / 9000 = b.id / 9000 JOIN rows c ON a.id / 9000 = c.id / 9000",
        // These find no rows.
        "SELECT count(*) FROM rows a JOIN rows b ON a.id * b.id < -1 JOIN rows c ON true",
        "SELECT count(*) FROM rows a, rows b, rows c WHERE a.id * b.id * c.id < -1",
        "SELECT count(*) FROM rows a, rows b, rows c WHERE a.id / 9000 = b.id / 9000 AND b.id / 9000 = c.id / 9000 AND a.id * b.id * c.id < -1",
    ] {
        let statement = engine.parse(endless).unwrap().remove(0).unwrap();
        let mut rows = engine.run(&statement).unwrap();
        let began = Instant::now();
        let ended = rows.next_batch(&|| began.elapsed() > Duration::from_millis(300)).unwrap_err();
        assert!(matches!(ended, EngineError::Interrupted), "{endless}: {ended}");
        drop(rows);
    }
}
