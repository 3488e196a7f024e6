//! Dynamic filters of joins, sorts and aggregates never drop rows that a query needs.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use nandle_columns::Clustering;
use nandle_engine::Engine;

use crate::support::{GROUP_ROWS, Place, answer, figures, flat, plan, rows, sorted, with_pages, write};

const PUSHED: [&str; 4] = [
    "enable_dynamic_filter_pushdown",
    "enable_join_dynamic_filter_pushdown",
    "enable_topk_dynamic_filter_pushdown",
    "enable_aggregate_dynamic_filter_pushdown",
];

fn add(place: &Place, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let rows = columns.into_iter().map(|(name, column)| (name, column, true));
    write(&place.path(name), &RecordBatch::try_from_iter_with_nullable(rows).unwrap(), &with_pages());
}

fn texts<const N: usize>(texts: [&str; N]) -> ArrayRef {
    Arc::new(StringArray::from(texts.to_vec()))
}

fn numbers(numbers: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(numbers.collect::<Int64Array>())
}

#[track_caller]
fn assert_rows(engine: &Engine, query: &str, expected: &[&str]) {
    assert_eq!(sorted(engine, query), expected, "{query}");
}

#[test]
fn a_column_is_not_taken_for_another_one_of_its_name() {
    let place = Place::new();
    add(&place, "ta.parquet", vec![("id", texts(["a1"])), ("ty", texts(["x1"]))]);
    add(&place, "tb.parquet", vec![("id", texts(["x1"]))]);
    let engine = place.engine(&["ta.parquet", "tb.parquet"]);
    let chain = "SELECT s.id AS s, a.id AS a FROM tb s JOIN (ta a JOIN tb b ON a.ty = b.id JOIN tb c ON b.id = c.id) ON s.id = b.id WHERE s.id = 'x1'";
    assert_rows(&engine, chain, &[r#"{"s":"x1","a":"a1"}"#]);
}

#[test]
fn least_and_greatest_values_are_of_all_rows() {
    let place = Place::new();
    let ascending = || numbers((0..20_000).map(Some));
    let first_unknown = numbers((0..20_000).map(|row| (row >= 9000).then_some(5)));
    let ones = numbers((0..20_000).map(|_| Some(1)));
    add(&place, "t.parquet", vec![("a", ascending()), ("b", ascending()), ("c", first_unknown), ("d", ones)]);
    let engine = place.engine(&["t.parquet"]);
    assert_rows(&engine, "SELECT min(a) AS a, max(b + 1) AS b FROM t", &[r#"{"a":0,"b":20000}"#]);
    assert_rows(&engine, "SELECT min(c) AS c, max(d) AS d FROM t WHERE d >= 0", &[r#"{"c":5,"d":1}"#]);
}

/// The output of a limit depends on all its input.
#[test]
fn no_filter_passes_a_limit() {
    let place = Place::new();
    let by = vec!["id".to_owned()];
    let table = place.add_clustered_table("b", Clustering::Sort(by));
    let mut writer = table.load().unwrap();
    writer.write(&flat(&rows(1, 2 * GROUP_ROWS))).unwrap();
    writer.commit().unwrap();
    add(&place, "a.parquet", vec![("k", numbers([500, 600, 1700].into_iter().map(Some)))]);
    let engine = place.engine(&["a.parquet", "b"]);
    // Merging the rows of several partitions stops filters, so use one partition.
    answer(&engine, "SET datafusion.execution.target_partitions = 1").unwrap();
    for limited in
        ["SELECT id FROM b WHERE amount < 900 ORDER BY id LIMIT 10", "SELECT id FROM b ORDER BY id LIMIT 10"]
    {
        assert_rows(&engine, &format!("SELECT s.id FROM a JOIN ({limited}) s ON a.k = s.id"), &[]);
    }
}

/// Evaluated again at the scan, a volatile expression would differ.
#[test]
fn what_is_another_thing_each_time_is_no_filter() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let first = |column: &str| {
        let some = "SELECT id, random() AS chance FROM rows";
        plan(&engine, &format!("EXPLAIN FORMAT INDENT SELECT * FROM ({some}) ORDER BY {column} LIMIT 5"))
    };
    assert!(first("id").contains("DynamicFilter"), "{}", first("id"));
    assert!(!first("chance").contains("predicate=DynamicFilter"), "{}", first("chance"));
}

/// A condition may exclude the rows for which another fails, whichever is evaluated first.
#[test]
fn what_fails_for_rows_that_are_not_wanted_does_not_end_the_query() {
    let place = Place::new();
    add(&place, "a.parquet", vec![("k", numbers([5, 10].into_iter().map(Some)))]);
    let divisors = || numbers((0..4000).map(|row| Some(row % 20)));
    let wanted =
        Arc::new((0..4000).map(|row| Some(f64::from(row % 20))).collect::<arrow_array::Float64Array>());
    add(&place, "b.parquet", vec![("x", divisors()), ("f", wanted)]);
    let engine = place.engine(&["a.parquet", "b.parquet"]);
    for condition in [
        "b.f > 0.5",
        "b.x IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24)",
    ] {
        let query = format!(
            "SELECT count(*) AS n FROM a JOIN (SELECT 100 / b.x AS q FROM b WHERE {condition}) s ON a.k = s.q"
        );
        assert_rows(&engine, &query, &[r#"{"n":800}"#]);
    }
}

/// Three tables with the same column names and different values.
fn alike() -> (Place, Engine) {
    let place = Place::new();
    let names = ["t", "u", "w"].map(|name| format!("{name}.parquet"));
    for (name, factor) in names.iter().zip([7, 11, 13]) {
        let ids = || (0..2500_i64).map(move |row| row * factor % 2500);
        let some = |row: i64| (row % 5 != 0).then_some(row % 50);
        add(
            &place,
            name,
            vec![
                ("id", numbers(ids().map(Some))),
                ("k", numbers((0..2500).map(|row| Some(row * 3 % 400)))),
                ("v", numbers(ids().map(some))),
            ],
        );
    }
    let engine = place.engine(&names.each_ref().map(String::as_str));
    (place, engine)
}

/// Pseudo-random numbers with a fixed seed (xorshift, Marsaglia 2003).
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % count
    }

    fn of<'a>(&mut self, some: &[&'a str]) -> &'a str {
        some[self.below(some.len())]
    }

    fn table(&mut self) -> String {
        let name = self.of(&["t", "u", "w"]);
        match self.below(9) {
            0 => format!("(SELECT id, k, v FROM {name} ORDER BY id LIMIT {})", 5 + self.below(300)),
            1 => format!(
                "(SELECT id, k, v FROM {name} WHERE v > 10 ORDER BY id DESC LIMIT {})",
                5 + self.below(300)
            ),
            2 => format!("(SELECT k AS id, id AS k, v FROM {name} WHERE k < 300)"),
            3 => format!("(SELECT k AS id, min(id) AS k, max(v) AS v FROM {name} GROUP BY k)"),
            4 => format!(
                "(SELECT id, k, v FROM {name} WHERE id IN (SELECT k FROM {} WHERE v > 20))",
                self.of(&["t", "u", "w"])
            ),
            5 => format!(
                "(SELECT id, k, v FROM {name} x WHERE NOT EXISTS (SELECT 1 FROM u y WHERE y.id = x.k AND y.v > 30))"
            ),
            _ => name.to_owned(),
        }
    }

    fn equal(&mut self, left: &str, right: &str) -> String {
        let other = self.of(&["id", "k", "v"]);
        let key = if other == "v" { "id" } else { self.of(&["id", "k"]) };
        format!("{left}.{other} = {right}.{key}")
    }

    /// Joins random tables, left-deep or bushy; returns the text and their names.
    fn joined(&mut self) -> (String, Vec<&'static str>) {
        let names = ["a", "b", "c", "d"][..2 + self.below(3)].to_vec();
        let tables: Vec<String> = names.iter().map(|name| format!("{} {name}", self.table())).collect();
        let kinds = ["JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"];
        let mut joined = tables[0].clone();
        if names.len() > 2 && self.below(2) == 0 {
            let mut later = tables[1].clone();
            for number in 2..names.len() {
                let before = names[1 + self.below(number - 1)];
                later = format!(
                    "{later} {} {} ON {}",
                    self.of(&kinds),
                    tables[number],
                    self.equal(before, names[number])
                );
            }
            let other = names[1 + self.below(names.len() - 1)];
            let on = self.equal("a", other);
            joined = format!("{joined} {} ({later}) ON {on}", self.of(&kinds));
        } else {
            for number in 1..names.len() {
                let before = names[self.below(number)];
                joined = format!(
                    "{joined} {} {} ON {}",
                    self.of(&kinds),
                    tables[number],
                    self.equal(before, names[number])
                );
            }
        }
        (joined, names)
    }

    fn query(&mut self) -> String {
        let (joined, names) = self.joined();
        let condition = match self.below(4) {
            0 => String::new(),
            1 => format!(" WHERE {}.id < {}", self.of(&names), 100 + self.below(900)),
            2 => format!(" WHERE {}.v > 30 AND {}.k < 200", self.of(&names), self.of(&names)),
            _ => format!(
                " WHERE {}.id IN (SELECT id FROM w WHERE v = {})",
                self.of(&names),
                1 + self.below(40)
            ),
        };
        let (one, other) = (self.of(&names), self.of(&names));
        match self.below(3) {
            0 => format!(
                "SELECT count(*) AS n, sum({one}.id) AS x, sum({other}.k) AS y, count({other}.v) AS z FROM {joined}{condition}"
            ),
            1 => format!(
                "SELECT min({one}.k) AS x, max({other}.v + 1) AS y, max({one}.id) AS z FROM {joined}{condition}"
            ),
            _ => format!(
                "SELECT {one}.id AS x, {other}.k AS y, {other}.v AS z FROM {joined}{condition} ORDER BY {} LIMIT {}",
                self.of(&["x, y, z", "y DESC, x, z", "z NULLS FIRST, y, x", "z DESC NULLS LAST, x, y"]),
                1 + self.below(40)
            ),
        }
    }
}

#[test]
fn queries_by_chance_have_the_same_rows_without_such_filters() {
    let (_place, engine) = alike();
    let (_other_place, without) = alike();
    for option in PUSHED {
        answer(&without, &format!("SET datafusion.optimizer.{option} = false")).unwrap();
    }
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
    let mut ruled_out = 0;
    for number in 0..160 {
        let query = chance.query();
        let (got, expected) = (sorted(&engine, &query), sorted(&without, &query));
        assert!(got == expected, "{number}: {query}: {got:?}, not {expected:?}");
        if number % 10 == 0 {
            let plan = plan(&engine, &format!("EXPLAIN ANALYZE {query}"));
            ruled_out += figures(&plan, "ruled_out_rows").iter().filter(|rows| **rows != "0").count();
        }
    }
    assert!(ruled_out > 5, "nearly no scan left rows out: {ruled_out}");
}
