//! Sessions of many clients over one engine.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use datafusion::common::ScalarValue;
use nandle_engine::{Command, EngineError, ErrorKind, Prepared, Request, Rows, Session, Sessions, Values};

use crate::support::{Place, answer, flat, rows, with_pages};

fn sessions(place: &Place) -> Sessions {
    place.engine(&["rows"]).into_sessions().unwrap()
}

/// A separate runtime, like a server's.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

async fn start(session: &Session, text: &str, values: &[i64]) -> Result<Rows, EngineError> {
    let request = session.parse(text).await?.remove(0);
    let Request::Query(statement) = request else { panic!("{request:?}") };
    let prepared = session.prepare(&statement).await?;
    let values: Vec<ScalarValue> = values.iter().map(|value| ScalarValue::from(*value)).collect();
    let bound = session.bind(&prepared, Values::from(values)).await?;
    session.start(&bound).await
}

async fn prepared(session: &Session, text: &str) -> Prepared {
    let Request::Query(statement) = session.parse(text).await.unwrap().remove(0) else { panic!("{text}") };
    session.prepare(&statement).await.unwrap()
}

async fn number(session: &Session, text: &str, values: &[i64]) -> Result<i64, EngineError> {
    let mut rows = start(session, text, values).await?;
    let batch = rows.next().await?.unwrap();
    let number = batch.column(0).as_primitive::<Int64Type>().value(0);
    assert!(rows.next().await?.is_none() && rows.next().await?.is_none());
    Ok(number)
}

#[test]
fn clients_share_tables_and_have_settings_of_their_own() {
    let place = Place::with_files();
    let sessions = sessions(&place);
    let (one, other) = (sessions.open(), sessions.open());
    one.set_reads("whole-group").unwrap();
    assert_eq!(
        (one.reads().to_string(), other.reads().to_string()),
        ("whole-group".to_owned(), "flexible".to_owned())
    );
    assert!(one.set_reads("page-cache").unwrap_err().to_string().contains("flexible"));
    for session in [&one, &other] {
        let counted = block_on(number(session, "SELECT count(*) FROM rows WHERE id < $1", &[1000]));
        assert_eq!(counted.unwrap(), 1000);
    }
}

#[test]
fn parameters_have_types() {
    let place = Place::with_files();
    let session = sessions(&place).open();
    let types = |text: &str| {
        block_on(async {
            let Request::Query(statement) = session.parse(text).await.unwrap().remove(0) else { panic!() };
            let prepared = session.prepare(&statement).await.unwrap();
            format!("{:?}", prepared.parameters())
        })
    };
    assert_eq!(types("SELECT $2::int, $1 FROM rows"), "[None, Some(Int32)]");
    assert_eq!(
        types("SELECT id FROM rows WHERE id > $1 AND note LIKE $3"),
        "[Some(Int64), None, Some(Utf8View)]"
    );
    assert_eq!(types("SELECT 1"), "[]");
    let unbound = block_on(number(&session, "SELECT count(*) FROM rows WHERE id = $1", &[])).unwrap_err();
    assert_eq!(unbound.kind(), ErrorKind::Invalid, "{unbound}");
}

#[test]
fn statements_for_the_session_are_told_apart() {
    let place = Place::with_files();
    let session = sessions(&place).open();
    let parsed = |text: &str| block_on(session.parse(text));
    let all = parsed("BEGIN; SET a.b = 'c'; SHOW d; SELECT 1; FETCH 3 FROM e; COMMIT").unwrap();
    let [begin, set, show, query, fetch, commit] = &*all else { panic!("{all:?}") };
    assert!(matches!(begin, Request::Command(Command::Begin)));
    assert!(
        matches!(set, Request::Command(Command::Set { name, value: Some(value) }) if name == "a.b" && value == "c")
    );
    assert!(matches!(show, Request::Command(Command::Show { name, .. }) if name == "d"));
    assert!(matches!(query, Request::Query(_)));
    assert!(matches!(fetch, Request::Command(Command::Fetch { name, rows: Some(3) }) if name == "e"));
    assert!(matches!(commit, Request::Command(Command::Commit)));
    assert!(parsed(" ; ").unwrap().is_empty());
    for text in [
        "FETCH BACKWARD 1 FROM c",
        "DECLARE c SCROLL CURSOR FOR SELECT 1",
        "PREPARE p AS SELECT 1",
        "SET ROLE x",
    ] {
        assert_eq!(parsed(text).unwrap_err().kind(), ErrorKind::Refused, "{text}");
    }
}

#[test]
fn errors_have_kinds() {
    let place = Place::with_files();
    let session = sessions(&place).open();
    for (text, kind) in [
        ("SELEC 1", ErrorKind::Syntax),
        ("SELECT * FROM nowhere", ErrorKind::UnknownTable),
        ("SELECT nothing FROM rows", ErrorKind::UnknownColumn),
        ("SELECT unheard_of(id) FROM rows", ErrorKind::UnknownFunction),
        ("SELECT id / (id - id) FROM rows", ErrorKind::DivisionByZero),
        ("SELECT CAST(note AS INT) FROM rows", ErrorKind::InvalidValue),
        ("DROP TABLE rows", ErrorKind::ReadOnly),
        ("COPY rows TO 'x.parquet'", ErrorKind::Refused),
    ] {
        let error = block_on(number(&session, text, &[])).unwrap_err();
        assert_eq!(error.kind(), kind, "{text}: {error}");
    }
    let session = place.engine(&["rows/1.parquet"]).into_sessions().unwrap().open();
    std::fs::remove_file(place.path("rows/1.parquet")).unwrap();
    let error = block_on(number(&session, "SELECT sum(id) FROM t1", &[])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
}

/// Adds rows to a table of this project.
fn load(place: &Place, rows: &RecordBatch) {
    let mut writer = nandle_columns::Table::open(&place.path("t")).unwrap().load().unwrap();
    writer.write(rows).unwrap();
    writer.commit().unwrap();
}

#[test]
fn each_statement_sees_the_snapshot_that_there_is_when_it_starts() {
    let place = Place::new();
    place.add_table("t");
    let session = place.engine(&["t"]).into_sessions().unwrap().open();
    let count = "SELECT count(*) FROM t AS one JOIN t AS other ON one.id = other.id WHERE one.id % 2 < $1";
    block_on(async {
        let prepared = prepared(&session, count).await;
        let bound = session.bind(&prepared, Values::from(vec![ScalarValue::from(2_i64)])).await.unwrap();
        let counted = async || {
            let mut rows = session.start(&bound).await.unwrap();
            rows.next().await.unwrap().unwrap().column(0).as_primitive::<Int64Type>().value(0)
        };
        assert_eq!(counted().await, 6700);
        // A running query keeps its rows.
        let mut running = session.start(&bound).await.unwrap();
        load(&place, &flat(&rows(50_000, 10)));
        assert_eq!(counted().await, 6710);
        assert_eq!(number(&session, count, &[2]).await.unwrap(), 6710);
        let before = running.next().await.unwrap().unwrap();
        assert_eq!(before.column(0).as_primitive::<Int64Type>().value(0), 6700);
    });
}

#[test]
fn what_was_prepared_follows_nulls_that_come_and_refuses_other_types() {
    let place = Place::new();
    let table = place.add_empty_table("t");
    let whole = flat(&rows(1, 1));
    let mut writer = table.load().unwrap();
    writer.write(&whole).unwrap();
    writer.commit().unwrap();
    place.write("f.parquet", 0, 100, &with_pages());
    let session = place.engine(&["t", "f.parquet"]).into_sessions().unwrap().open();
    block_on(async {
        let nulls = prepared(&session, "SELECT count(*) FROM t WHERE note IS NULL").await;
        let all = prepared(&session, "SELECT * FROM f").await;
        let counted = async || {
            let mut rows = session.start(&nulls).await.unwrap();
            rows.next().await.unwrap().unwrap().column(0).as_primitive::<Int64Type>().value(0)
        };
        assert_eq!(counted().await, 0);
        load(&place, &flat(&rows(9, 1)));
        assert_eq!(counted().await, 1, "the ninth has no note");
        let fewer = rows(0, 100).project(&[0, 1]).unwrap();
        crate::support::write(&place.path("f.parquet"), &fewer, &with_pages());
        let changed = session.start(&all).await.unwrap_err();
        assert!(changed.to_string().contains("prepare it again"), "{changed}");
        assert_eq!(number(&session, "SELECT count(*) FROM f", &[]).await.unwrap(), 100);
    });
}

#[test]
fn a_view_of_sql_has_the_rows_of_now() {
    let place = Place::new();
    place.add_table("t");
    place.write("f.parquet", 0, 100, &with_pages());
    let engine = place.engine(&["t", "f.parquet"]);
    let both = "CREATE VIEW v AS SELECT id FROM t UNION ALL SELECT id FROM f";
    answer(&engine, both).unwrap();
    let count = "SELECT count(*) AS n FROM v AS one, (SELECT max(id) FROM v) WHERE id % 2 < 2";
    assert_eq!(answer(&engine, count).unwrap(), ["{\"n\":6800}"]);
    load(&place, &flat(&rows(50_000, 10)));
    place.write("f.parquet", 0, 50, &with_pages());
    assert_eq!(answer(&engine, count).unwrap(), ["{\"n\":6760}"]);
}
