//! Sessions of many clients over one engine.

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use datafusion::common::ScalarValue;
use nandle_engine::{Command, EngineError, ErrorKind, Request, Rows, Session, Sessions, Values};

use crate::support::Place;

fn sessions(place: &Place) -> Sessions {
    place.engine(&["rows"]).into_sessions().unwrap()
}

/// Another runtime than the engine's, as a server has it.
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
