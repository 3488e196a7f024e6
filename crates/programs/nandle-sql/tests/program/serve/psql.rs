//! Statements of psql users, and queries of Grafana.

use super::server::{Server, is_skipped};
use crate::place::Place;

#[test]
fn psql_shows_tables_columns_and_databases() {
    if is_skipped() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place, &[]);
    for (command, parts) in [
        ("\\d", &["public", "numbers", "table"][..]),
        ("\\dt", &["public", "numbers"]),
        ("\\l", &["nandle", "UTF"]),
        ("\\dn", &["public"]),
        ("\\d numbers", &["Table \"public.numbers\"", "id", "bigint", "note", "text"]),
        ("\\dv", &[]),
        ("\\di", &[]),
        ("\\conninfo", &["nandle"]),
    ] {
        let output = server.psql(&["-c", command]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let problems = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && !problems.contains("ERROR"), "{command}: {problems}");
        for part in parts {
            assert!(said.contains(part), "{command}: {part:?} is missing in {said}");
        }
    }
}

#[test]
fn queries_have_rows() {
    if is_skipped() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place, &[]);
    assert_eq!(server.rows("SELECT count(*), sum(id) FROM numbers"), "5000|12502500");
    assert_eq!(server.rows("SELECT id, note FROM public.numbers WHERE id = 7"), "7|note 7");
    assert_eq!(server.rows("SELECT 1; SELECT 2; ; -- nothing more"), "1\n2");
    assert_eq!(server.rows(""), "");
    // Correlated subqueries are dropped from catalogue queries only.
    let nested = "SELECT (SELECT max(o.id) FROM numbers o WHERE o.id = n.id), 'pg_catalog' FROM numbers n WHERE n.id = 9";
    assert_eq!(server.rows(nested), "9|pg_catalog");
    assert!(server.rows("EXPLAIN SELECT sum(id) FROM numbers WHERE id > 9").contains("device"));
    assert_eq!(server.rows("SHOW nandle.reads"), "flexible");
    assert_eq!(
        server.rows("SET nandle.reads = 'whole-group'; SHOW nandle.reads; SELECT count(note) FROM numbers"),
        "SET\nwhole-group\n5000"
    );
    assert_eq!(server.rows("SHOW nandle.reads"), "flexible", "another session has its own");
    assert_eq!(server.rows("BEGIN; DECLARE c CURSOR FOR SELECT id FROM numbers ORDER BY id; FETCH 2 FROM c; FETCH NEXT FROM c; CLOSE c; COMMIT"),
        "BEGIN\nDECLARE CURSOR\n1\n2\n3\nCLOSE CURSOR\nCOMMIT");
}

#[test]
fn maps_and_lists_of_lists_are_json() {
    if is_skipped() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let lists =
        "SELECT make_array(make_array(1, 2), make_array(3)), map(make_array(7), make_array('a \"b\"'))";
    assert_eq!(server.rows(lists), r#"[[1,2],[3]]|{"7":"a \"b\""}"#);
    let within = "SELECT named_struct('id', 1, 'parts', make_array(make_array(1, 2), make_array(3)))";
    assert_eq!(server.rows(within), r#"(1,"[[1,2],[3]]")"#);
}

/// Queries of Grafana's PostgreSQL data source, with expanded macros.
#[test]
fn grafana_finds_what_it_asks_for() {
    if is_skipped() {
        return;
    }
    let place = Place::new();
    let times =
        "SELECT to_timestamp(1199145600 + value * 60) AS time, value AS delay FROM generate_series(0, 59)";
    let written = place.run(&["-c", times, "--format", "parquet"]);
    std::fs::write(place.path("times.parquet"), written.stdout).unwrap();
    let server = Server::start(&place, &["times.parquet"]);
    let path = r#"SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END FROM
        generate_series(array_lower(string_to_array(current_setting('search_path'),','),1),
        array_upper(string_to_array(current_setting('search_path'),','),1)) as i,
        string_to_array(current_setting('search_path'),',') s"#;
    let tables = format!(
        r#"SELECT CASE WHEN quote_ident(table_schema) IN ({path}) THEN quote_ident(table_name)
        ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table" FROM information_schema.tables
        WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog') ORDER BY 1"#
    );
    assert_eq!(server.rows(&tables), "public.numbers\npublic.times");
    let columns = "SELECT quote_ident(column_name) AS \"column\", data_type AS \"type\" FROM information_schema.columns WHERE \
                   quote_ident(table_schema) = 'public' AND quote_ident(table_name) = 'numbers' ORDER BY 1";
    assert!(server.rows(columns).starts_with("id|"), "{}", server.rows(columns));
    for (question, answer) in [
        ("SELECT 1", "1"),
        ("SELECT current_setting('server_version_num')::int/100 as version", "1600"),
        ("SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'", ""),
        ("SELECT current_database()", "nandle"),
        ("SELECT current_schema()", "public"),
        ("SHOW server_version", "16.6"),
        ("SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname = 'public'", "public"),
        (
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
            "numbers\ntimes",
        ),
        (
            "SELECT floor(extract(epoch from \"time\")/1800)*1800 AS \"time\", avg(delay) AS delay FROM times \
             WHERE \"time\" BETWEEN '2008-01-01T00:00:00Z' AND '2008-01-01T00:44:59.999Z' GROUP BY 1 ORDER BY 1",
            "1199145600.0|14.5\n1199147400.0|37.0",
        ),
        (
            "SELECT count(*) FROM times WHERE extract(epoch from time) >= 1199145600 AND extract(epoch from time) <= 1199145660",
            "2",
        ),
    ] {
        assert_eq!(server.rows(question), answer, "{question}");
    }
    assert!(server.rows("SELECT version()").starts_with("PostgreSQL 16"));
}
