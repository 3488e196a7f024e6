//! Statements that the engine by itself would interpret differently.

use nandle_engine::ErrorKind;

use crate::support::{Place, answer};

#[test]
fn a_number_with_a_point_is_what_it_says() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let count = |condition: &str, values: &str| {
        answer(&engine, &format!("SELECT count(*) AS n FROM (VALUES {values}) AS t(a) WHERE {condition}"))
            .unwrap()
    };
    let decimals = "(CAST('6748438084613.2876' AS DECIMAL(18, 4))), (CAST('1.5' AS DECIMAL(18, 4)))";
    assert_eq!(count("a = 6748438084613.2876", decimals), [r#"{"n":1}"#]);
    assert_eq!(count("a = 9007199254740993.0", "(9007199254740992), (9007199254740993)"), [r#"{"n":1}"#]);
    assert_eq!(count("a > 0.5", "(CAST(0.25 AS DOUBLE)), (CAST(0.75 AS DOUBLE))"), [r#"{"n":1}"#]);
}

#[test]
fn a_number_beyond_all_decimals_is_a_double() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let values = "(VALUES (CAST(2.5 AS DOUBLE)), (CAST('1e301' AS DOUBLE)), (CAST('NaN' AS DOUBLE))) AS t(a)";
    for (condition, count) in [("a > 1e300", 2), ("a > -1e300", 3), ("a < 1E-300", 0), ("a = 1e301", 1)] {
        let counted = answer(&engine, &format!("SELECT count(*) AS n FROM {values} WHERE {condition}"));
        assert_eq!(counted.unwrap(), [format!(r#"{{"n":{count}}}"#)], "{condition}");
    }
}

/// In columns with decimal numbers, such as literals with a point.
#[test]
fn floating_point_numbers_stay_what_they_are() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let values = "(VALUES (1, '1.5'), (2, 'NaN'), (3, '1e20'), (4, '1e-20'), (5, NULL)) AS t(id, v)";
    let doubles = format!("WITH f AS (SELECT id, CAST(v AS DOUBLE) AS v FROM {values})");
    let texts = |of: &str, from: &str| {
        let query = format!("{doubles} SELECT id, CAST({of} AS TEXT) AS x FROM {from} ORDER BY id, x");
        let rows = answer(&engine, &query).unwrap_or_else(|error| panic!("{query}: {error}"));
        rows.iter()
            .map(|row| row.split("\"x\":").nth(1).unwrap_or("null}").trim_end_matches('}').to_owned())
            .collect::<Vec<_>>()
    };
    for of in [
        "coalesce(v, 0.5)",
        "CASE WHEN v IS NULL THEN 0.5 ELSE v END",
        "CASE id WHEN 5.0 THEN 0.5 ELSE v END",
        "nvl(v, 0.5)",
    ] {
        assert_eq!(texts(of, "f"), ["\"1.5\"", "\"NaN\"", "\"1e20\"", "\"1e-20\"", "\"0.5\""], "{of}");
    }
    assert_eq!(texts("greatest(v, 2.5)", "f"), ["\"2.5\"", "\"NaN\"", "\"1e20\"", "\"2.5\"", "\"2.5\""]);
    assert_eq!(texts("nullif(v, 1.5)", "f WHERE id < 3"), ["null", "\"NaN\""]);
    let both = "(SELECT id, v AS y FROM f WHERE id > 2 UNION ALL SELECT 6, 0.25 UNION ALL SELECT id, 1.5 FROM f WHERE id = 1)";
    assert_eq!(texts("y", both), ["\"1.5\"", "\"1e20\"", "\"1e-20\"", "null", "\"0.25\""]);
    assert_eq!(texts("arrow_typeof(coalesce(1.25, 0.5))", "f WHERE id = 1"), ["\"Decimal128(3, 2)\""]);
    let few = format!("{doubles} SELECT count(*) AS n FROM f WHERE coalesce(v, 0.0) > 0");
    assert_eq!(answer(&engine, &few).unwrap(), [r#"{"n":4}"#]);
}

/// NaN sorts above all numbers.
#[test]
fn least_and_greatest_are_of_all_numbers_in_groups_too() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let values = "(VALUES (1, '1.5'), (1, 'NaN'), (2, '-Infinity'), (3, 'NaN'), (3, 'Infinity'), (4, NULL)) AS t(g, v)";
    for number in ["DOUBLE", "REAL"] {
        let extremes = format!(
            "SELECT g, CAST(min(CAST(v AS {number})) AS TEXT) AS a, CAST(max(CAST(v AS {number})) AS TEXT) AS b FROM {values} GROUP BY g ORDER BY g"
        );
        let expected = [
            r#"{"g":1,"a":"1.5","b":"NaN"}"#,
            r#"{"g":2,"a":"-inf","b":"-inf"}"#,
            r#"{"g":3,"a":"inf","b":"NaN"}"#,
            r#"{"g":4}"#,
        ];
        assert_eq!(answer(&engine, &extremes).unwrap(), expected, "{number}");
    }
}

/// Columns with a zone are instants, and so are literals.
#[test]
fn a_moment_is_the_same_in_every_zone() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let query = "SELECT count(*) AS n FROM (SELECT arrow_cast(h * 3600, 'Timestamp(Second, Some(\"America/New_York\"))') AS at FROM \
                 (SELECT id AS h FROM rows WHERE id < 24)) WHERE at < TIMESTAMPTZ '1970-01-01 06:00:00+00:00'";
    assert_eq!(answer(&engine, query).unwrap(), [r#"{"n":6}"#]);
}

#[test]
fn is_distinct_from_wants_brackets_before_and() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let value = |text: &str| answer(&engine, &format!("SELECT {text} AS v"));
    for text in [
        "false IS NOT DISTINCT FROM true AND false",
        "1 IS DISTINCT FROM (2) OR true",
        "CASE WHEN 1 IS DISTINCT FROM 2 AND true THEN 1 END",
    ] {
        let error = value(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{text}: {error}");
        assert!(error.to_string().contains("brackets"), "{error}");
    }
    assert_eq!(value("(false IS NOT DISTINCT FROM true) AND false").unwrap(), [r#"{"v":false}"#]);
    assert_eq!(
        value("true AND 1 IS DISTINCT FROM (CASE WHEN true AND true THEN 2 END)").unwrap(),
        [r#"{"v":true}"#]
    );
    let query = "SELECT DISTINCT id FROM rows WHERE id = 1 AND airport IS NOT DISTINCT FROM airport";
    assert_eq!(answer(&engine, query).unwrap(), [r#"{"id":1}"#]);
}

#[test]
fn what_would_mean_something_else_is_refused() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    for (text, said) in [
        ("SELECT id FROM rows WHERE note SIMILAR TO 'n%'", "SIMILAR TO"),
        ("SELECT count(*) FROM rows TABLESAMPLE SYSTEM (10)", "TABLESAMPLE"),
        ("SELECT to_char(arrow_cast(day, 'Date32'), 'YYYY-MM') FROM rows", "strftime"),
        (
            "SELECT a.id FROM rows a WHERE EXISTS (SELECT 1 FROM rows b, rows c WHERE b.id = a.id AND c.id <> a.id)",
            "b.id and c.id",
        ),
        (
            "SELECT (SELECT max(c.amount) FROM rows b, rows c WHERE b.day = a.day AND c.day = a.day) FROM rows a",
            "b.day and c.day",
        ),
        (
            "SELECT a.id FROM rows a WHERE a.id IN (SELECT c.id FROM rows b JOIN rows c ON b.day = c.day WHERE b.id = a.id)",
            "id and",
        ),
        ("SELECT id FROM rows WHERE airport NOT IN (SELECT note FROM rows) OR amount > 3", "NOT IN"),
        ("SELECT id FROM rows WHERE NOT (airport IN (SELECT note FROM rows) AND amount > 3)", "NOT IN"),
    ] {
        let error = answer(&engine, text).unwrap_err();
        assert!(error.kind() == ErrorKind::Refused && error.to_string().contains(said), "{text}: {error}");
    }
    for text in [
        "SELECT to_char(day, '%Y-%m') AS m FROM rows WHERE id = 1",
        "SELECT count(*) AS n FROM rows a WHERE EXISTS (SELECT 1 FROM rows b WHERE b.id = a.id AND b.day <> a.day)",
        "SELECT count(*) AS n FROM rows a WHERE a.id IN (SELECT b.id FROM rows b WHERE b.id = a.id AND b.day = a.day)",
        "SELECT count(*) AS n FROM rows a WHERE EXISTS (SELECT 1 FROM rows b JOIN rows c ON b.id = c.id WHERE b.day = a.day AND c.note = a.note)",
        "SELECT count(*) AS n FROM rows WHERE airport NOT IN (SELECT note FROM rows WHERE note IS NOT NULL) AND amount > 3",
        "SELECT count(*) AS n FROM rows WHERE id NOT IN (SELECT id FROM rows WHERE id > 3) OR amount > 3",
        "SELECT count(*) AS n FROM rows WHERE airport IN (SELECT note FROM rows) OR amount > 3",
    ] {
        answer(&engine, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn nothing_is_made_that_there_is_no_memory_for() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    for text in [
        "length(repeat('x', 2000000000))",
        "length(lpad('x', 2000000000, 'y'))",
        "array_length(array_repeat(1, 200000000))",
        "array_length(range(1, 200000000))",
        "sum(length(repeat(airport, 1000000))) FROM rows",
    ] {
        let error = answer(&engine, &format!("SELECT {text}")).unwrap_err().to_string();
        assert!(error.contains("of a batch"), "{text}: {error}");
    }
    let query = "SELECT length(repeat('xy', 1000)) AS a, array_length(range(10, 0, -2)) AS b, lpad('1', 3, '0') AS c, repeat(NULL, 5) AS d";
    assert_eq!(answer(&engine, query).unwrap(), [r#"{"a":2000,"b":5,"c":"001"}"#]);
}
