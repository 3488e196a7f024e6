//! Invalid statements: each returns its error code and a reason, and the server survives.

use super::server::{Server, is_skipped};
use crate::place::Place;

#[test]
fn what_is_wrong_has_its_code() {
    if is_skipped() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place, &[]);
    for (statement, code, part) in [
        ("SELEC 1", "42601", "SELEC"),
        ("SELECT 1 FROM", "42601", "LINE 1: SELECT 1 FROM"),
        ("SELECT * FROM nowhere", "42P01", "nowhere"),
        ("SELECT nothing FROM numbers", "42703", "LINE 1: SELECT nothing FROM numbers"),
        ("SELECT * FROM number", "42P01", "did you mean `numbers`?"),
        ("SELECT a.id FROM numbers a, numbers b WHERE id = 1", "42702", "id"),
        ("SELECT unheard_of(1)", "42883", "unheard_of"),
        ("SELECT 1 / (id - id) FROM numbers", "22012", "zero"),
        ("SELECT CAST(note AS INT) FROM numbers", "22P02", "note"),
        ("SELECT CAST(9223372036854775807 AS INT)", "22003", "9223372036854775807"),
        ("SELECT DATE '2008-13-45'", "22P02", "2008-13-45"),
        ("SELECT $1", "42P02", "$1"),
        ("SET nandle.reads = 'page-cache'", "22023", "flexible"),
        ("SET timezone = 'Europe/Berlin'", "0A000", "UTC"),
        ("FETCH 1 FROM nothing", "34000", "nothing"),
    ] {
        let (got, said) = server.refused(statement);
        assert_eq!(got, code, "{statement}: {said}");
        assert!(said.contains(part), "{statement}: {said}");
    }
    assert_eq!(server.rows("SELECT count(*) FROM numbers"), "5000");
}

#[test]
fn nothing_is_changed_and_no_file_is_reached() {
    if is_skipped() {
        return;
    }
    let place = Place::new();
    std::fs::write(place.path("secret.csv"), "a\n1\n").unwrap();
    let server = Server::start(&place, &[]);
    let secret = place.path("secret.csv").display().to_string();
    let out = place.path("out.parquet").display().to_string();
    let before = names(&place);
    for (statement, code, part) in [
        (format!("COPY (SELECT 1) TO '{out}' STORED AS PARQUET"), "42501", "COPY"),
        (format!("COPY numbers TO '{out}'"), "42501", "COPY"),
        (format!("EXPLAIN ANALYZE COPY (SELECT 1) TO '{out}' STORED AS PARQUET"), "42501", "COPY"),
        (format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{secret}'"), "42501", "files"),
        ("INSERT INTO numbers SELECT * FROM numbers".to_owned(), "25006", "nandle table load"),
        ("EXPLAIN ANALYZE INSERT INTO numbers SELECT * FROM numbers".to_owned(), "25006", "INSERT"),
        ("DELETE FROM numbers".to_owned(), "25006", "DELETE"),
        ("UPDATE numbers SET id = 1".to_owned(), "25006", "UPDATE"),
        ("CREATE TABLE t AS SELECT 1".to_owned(), "25006", "CREATE TABLE"),
        ("CREATE VIEW v AS SELECT 1".to_owned(), "25006", "VIEW"),
        ("DROP TABLE numbers".to_owned(), "25006", "DROP"),
        ("PREPARE p AS SELECT 1".to_owned(), "42501", "PREPARE"),
        ("SET datafusion.runtime.memory_limit = '100G'".to_owned(), "42501", "memory_limit"),
        ("SET datafusion.runtime.temp_directory = '/'".to_owned(), "42501", "temp_directory"),
        ("RESET datafusion.runtime.memory_limit".to_owned(), "", ""),
        (format!("SELECT * FROM '{secret}'"), "42P01", "secret.csv"),
        (format!("SELECT * FROM \"{secret}\""), "42P01", "secret.csv"),
        (format!("SELECT * FROM read_csv('{secret}')"), "", "read_csv"),
        (format!("SELECT * FROM read_parquet('{secret}')"), "", "read_parquet"),
        (format!("SELECT pg_read_file('{secret}')"), "42883", "pg_read_file"),
        (format!("SELECT pg_ls_dir('{secret}')"), "42883", "pg_ls_dir"),
        (format!("SELECT lo_import('{secret}')"), "42883", "lo_import"),
    ] {
        if statement.starts_with("RESET") {
            // Unchanged, as required.
            server.rows(&statement);
            continue;
        }
        let (got, said) = server.refused(&statement);
        assert!(code.is_empty() || got == code, "{statement}: {said}");
        assert!(said.contains(part), "{statement}: {said}");
    }
    assert_eq!(names(&place), before, "no file came");
    assert_eq!(server.rows("SELECT count(*) FROM numbers"), "5000");
}

fn names(place: &Place) -> Vec<String> {
    let names = std::fs::read_dir(place.root()).unwrap();
    let mut names: Vec<_> = names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_statement_of_any_length_and_depth_leaves_the_server_alive() {
    if is_skipped() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let list: Vec<_> = (1..=10_000).map(|id| id.to_string()).collect();
    assert_eq!(
        server.rows(&format!("SELECT count(*) FROM numbers WHERE id IN ({})", list.join(","))),
        "5000"
    );
    let chain =
        |of: &str, times: usize| format!("SELECT count(*) FROM numbers WHERE id = 1{}", of.repeat(times));
    assert_eq!(server.rows(&chain(" OR id = 2", 300)), "2");
    assert_eq!(server.rows(&format!("SELECT 0{}", " + 1".repeat(400))), "400");
    assert_eq!(server.rows(&format!("SELECT length('{}')", "x".repeat(100_000))), "100000");
    for statement in [
        format!("SELECT {}1{}", "(".repeat(50_000), ")".repeat(50_000)),
        format!("SELECT 1{}", " + 1".repeat(25_000)),
        format!("SELECT {}1", "- ".repeat(25_000)),
        format!("SELECT {}true", "NOT ".repeat(25_000)),
        format!("SELECT 1{}", "::int".repeat(20_000)),
        format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(5_300)),
        format!("SELECT count(*) FROM numbers{}", ", numbers".repeat(11_000)),
        chain(" OR id = 2", 9000),
        format!("SELECT {}", "CASE WHEN true THEN ".repeat(5_000)),
        format!("SELECT {}1{}", "abs(".repeat(20_000), ")".repeat(20_000)),
    ] {
        let (code, said) = server.refused(&statement);
        assert!(["54001", "42601"].contains(&code.as_str()), "{statement:.60}: {code} {said:.300}");
    }
    assert_eq!(server.rows("SELECT count(*) FROM numbers"), "5000");
}
