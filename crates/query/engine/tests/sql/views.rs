//! Pinned tables, and resources used by their queries.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use nandle_engine::{Account, Engine, EngineError, EngineOptions, ErrorKind, Needs, Sessions, Version, View};
use nandle_io::Nanos;

use crate::support::{Place, flat, rows, with_pages};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn sessions(place: &Place, name: &str) -> Sessions {
    place.engine(&[name]).into_sessions().unwrap()
}

fn count(view: &View, table: &str) -> Result<(i64, Account), EngineError> {
    block_on(async {
        let needs = Arc::new(Needs::new(Arc::new(|| Nanos::ZERO)));
        // A count of all rows would read nothing.
        let text = format!("SELECT count(*) FROM {table} WHERE id % 2 >= 0");
        let mut rows = view.start(&text, Arc::clone(&needs)).await?;
        let batch = rows.next().await?.unwrap();
        assert!(rows.next().await?.is_none());
        assert!(!needs.finish().files.is_empty());
        Ok((batch.column(0).as_primitive::<Int64Type>().value(0), rows.account()?))
    })
}

#[test]
fn a_view_keeps_its_snapshot_and_a_later_one_has_the_next() {
    let place = Place::new();
    place.add_table("t");
    let sessions = sessions(&place, "t");
    let before = sessions.view("t").unwrap();
    assert_eq!(sessions.version("t").unwrap(), before.version());
    let mut writer = nandle_columns::Table::open(&place.path("t")).unwrap().load().unwrap();
    writer.write(&flat(&rows(50_000, 10))).unwrap();
    writer.commit().unwrap();
    let after = sessions.view("t").unwrap();
    let (Version::Snapshot { number: first, .. }, Version::Snapshot { number: second, .. }) =
        (before.version(), after.version())
    else {
        panic!()
    };
    assert_eq!((second, sessions.version("t").unwrap()), (first + 1, after.version()));
    assert_eq!((count(&before, "t").unwrap().0, count(&after, "t").unwrap().0), (6700, 6710));
    assert!(matches!(sessions.view("u").unwrap_err(), EngineError::Source { .. }));
}

#[test]
fn a_table_that_was_made_anew_is_another_one() {
    let place = Place::new();
    place.add_table("t");
    let sessions = sessions(&place, "t");
    let before = sessions.view("t").unwrap();
    std::fs::rename(place.path("t"), place.path("old")).unwrap();
    place.add_table_of("t", 2);
    let after = sessions.view("t").unwrap();
    let number = |view: &nandle_engine::View| match view.version() {
        Version::Snapshot { number, .. } => number,
        Version::Files(_) => panic!(),
    };
    assert_eq!(number(&before), number(&after));
    assert_ne!(before.version(), after.version());
    assert_ne!(before.version().to_string(), after.version().to_string());
    assert_eq!(sessions.version("t").unwrap(), after.version());
}

#[test]
fn files_that_change_below_a_view_are_an_error() {
    let place = Place::with_files();
    let sessions = sessions(&place, "rows");
    let view = sessions.view("rows").unwrap();
    assert_eq!(count(&view, "rows").unwrap().0, 8200);
    place.write("rows/1.parquet", 10_000, 900, &with_pages());
    let error = count(&view, "rows").unwrap_err();
    assert!(error.kind() == ErrorKind::Invalid && error.to_string().contains("has changed"), "{error}");
    assert_ne!(sessions.version("rows").unwrap(), view.version());
    assert_eq!(count(&sessions.view("rows").unwrap(), "rows").unwrap().0, 8100);
}

#[test]
fn a_view_keeps_files_that_are_replaced_and_a_later_one_has_what_came() {
    let place = Place::with_files();
    let sessions = sessions(&place, "rows");
    let view = sessions.view("rows").unwrap();
    place.write("other", 10_000, 900, &with_pages());
    std::fs::rename(place.path("other"), place.path("rows/1.parquet")).unwrap();
    place.write("rows/4.parquet", 40_000, 50, &with_pages());
    assert_ne!(sessions.version("rows").unwrap(), view.version());
    assert_eq!(count(&view, "rows").unwrap().0, 8200);
    assert_eq!(count(&sessions.view("rows").unwrap(), "rows").unwrap().0, 8150);
}

#[test]
fn an_account_is_what_was_read_beside_what_was_predicted() {
    let place = Place::with_files();
    let view = sessions(&place, "rows").view("rows").unwrap();
    let (_, account) = count(&view, "rows").unwrap();
    assert!(account.requests > 0 && account.computing > Nanos::ZERO && account.unplanned_requests == 0);
    assert_eq!(
        (account.requests, account.read_bytes),
        (account.predicted.requests, account.predicted.read_bytes)
    );
    let seconds = account.predicted.seconds.unwrap();
    assert!(0.0 < seconds.low && seconds.low <= seconds.value && seconds.value <= seconds.high);
}

#[test]
fn a_view_answers_queries_of_its_table_alone() {
    let place = Place::with_files();
    let view = sessions(&place, "rows").view("rows").unwrap();
    let refused = |text: &str| {
        let needs = Arc::new(Needs::new(Arc::new(|| Nanos::ZERO)));
        block_on(view.start(text, needs)).unwrap_err()
    };
    for text in [
        "",
        "SELECT 1; SELECT 2",
        "SET a = 1",
        "COPY rows TO 'x'",
        "CREATE TABLE t AS SELECT 1",
        "SELECT * FROM other",
    ] {
        refused(text);
    }
}

/// All files below a directory with their lengths.
fn files_of(directory: &Path) -> Vec<(PathBuf, u64)> {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let files = entries.flat_map(|entry| match entry.metadata().unwrap() {
        found if found.is_dir() => files_of(&entry.path()),
        found => vec![(entry.path(), found.len())],
    });
    files.collect()
}

#[test]
fn kept_rows_are_a_table_more_until_the_view_goes() {
    let place = Place::with_files();
    let sessions = sessions(&place, "rows");
    let view = sessions.view("rows").unwrap();
    let text = "SELECT id % 100 AS part, count(*) AS rows, sum(id) AS ids FROM rows GROUP BY 1 ORDER BY 1";
    let kept = view.keep("parts", text, &|| false).unwrap();
    assert_eq!((kept.rows, kept.is_on_tables_file_system), (100, true));
    let lie = files_of(&place.path("spill"));
    assert_eq!(lie.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>(), [kept.file_bytes]);
    let sum = |of: &str| {
        block_on(async {
            let needs = Arc::new(Needs::new(Arc::new(|| Nanos::ZERO)));
            let mut rows = view.start(&format!("SELECT sum({of}"), needs).await?;
            let batch = rows.next().await?.unwrap();
            assert!(rows.next().await?.is_none());
            Ok::<_, EngineError>((batch.column(0).as_primitive::<Int64Type>().value(0), rows.account()?))
        })
    };
    let (kept_sum, account) = sum("ids) FROM parts WHERE part BETWEEN 10 AND 19").unwrap();
    assert_eq!(kept_sum, sum("id) FROM rows WHERE id % 100 BETWEEN 10 AND 19").unwrap().0);
    assert!(account.read_bytes > 0 && account.unplanned_requests == 0, "{account:?}");
    assert_eq!(account.read_bytes, account.predicted.read_bytes);
    // Other views don't contain it.
    assert!(count(&sessions.view("rows").unwrap(), "parts").is_err());
    drop(view);
    assert_eq!(files_of(&place.path("spill")), []);
}

#[test]
fn rows_that_are_not_wanted_any_more_or_have_no_room_leave_nothing() {
    let place = Place::with_files();
    let options = EngineOptions { spill_limit_bytes: 1000, ..place.options(64 << 20) };
    let engine = Engine::new(&options).unwrap();
    place.add(&engine, "rows").unwrap();
    let sessions = engine.into_sessions().unwrap();
    let view = sessions.view("rows").unwrap();
    let all = "SELECT * FROM rows";
    assert!(matches!(view.keep("kept", all, &|| true), Err(EngineError::Interrupted)));
    let full = view.keep("kept", all, &|| false).unwrap_err();
    assert!(full.to_string().contains("disk space"), "{full}");
    assert_eq!(full.kind(), ErrorKind::OutOfSpill, "{full:?}");
    for wrong in ["SELECT * FROM other", "SELECT 1; SELECT 2", "SET a = 1"] {
        assert!(view.keep("kept", wrong, &|| false).is_err(), "{wrong}");
    }
    assert_eq!(files_of(&place.path("spill")), []);
    assert!(count(&view, "kept").is_err() && count(&view, "rows").is_ok());
}
