//! Files with incomplete or wrong statistics, and with duplicate column names.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float32Array, Float64Array, Int32Array, RecordBatch, Time32MillisecondArray,
    Time64MicrosecondArray, Time64NanosecondArray,
};
use arrow_schema::{DataType, Field, Schema};
use nandle_engine::{Engine, Format, RowWriter};
use parquet::data_type::Int32Type;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::support::{Place, answer, figures, plan, set_reads, write};

/// Four row groups of four rows, in pages of two: zeros, small numbers, NaN of both signs, large
/// numbers.
fn doubles(place: &Place) -> Engine {
    let numbers = [
        [-0.0, 0.0, -0.0, 0.0],
        [1.0, 2.0, 3.0, 4.0],
        [5.0, 6.0, f64::NAN, -f64::NAN],
        [100.0, 200.0, 300.0, f64::INFINITY],
    ];
    let all = numbers.concat();
    #[expect(clippy::cast_possible_truncation, reason = "these are small whole numbers")]
    let singles = Float32Array::from_iter_values(all.iter().map(|number| *number as f32));
    let columns: [(&str, ArrayRef); 3] = [
        ("f", Arc::new(Float64Array::from(all))),
        ("g", Arc::new(singles)),
        ("row", Arc::new((0..16).collect::<Int32Array>())),
    ];
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(4))
        .set_data_page_row_count_limit(2)
        .set_write_batch_size(2)
        .set_statistics_enabled(EnabledStatistics::Page)
        .build();
    write(&place.path("f.parquet"), &RecordBatch::try_from_iter(columns).unwrap(), &properties);
    place.engine(&["f.parquet"])
}

#[test]
fn nan_and_zeros_are_found_whatever_statistics_say() {
    let place = Place::new();
    let engine = doubles(&place);
    for (filter, rows) in [
        ("f = CAST('NaN' AS DOUBLE)", vec![10]),
        ("f > 250", vec![10, 14, 15]),
        ("250.5 < f AND CAST('Infinity' AS DOUBLE) > 1.5 AND 1.5 < CAST('NaN' AS DOUBLE)", vec![10, 14, 15]),
        ("f >= CAST('Infinity' AS DOUBLE)", vec![10, 15]),
        ("f = 0.0", vec![0, 1, 2, 3]),
        ("f = -0.0", vec![0, 1, 2, 3]),
        ("g = 0.0", vec![0, 1, 2, 3]),
        ("f IN (0.0, 3, 7, 8, 9)", vec![0, 1, 2, 3, 6]),
        ("f IN (-0.0, 3, 7, 8, 9)", vec![0, 1, 2, 3, 6]),
        ("g IN (-0.0, 3, 7, 8, 9)", vec![0, 1, 2, 3, 6]),
        ("f NOT IN (0.0, 1, 2, 3, 4, 5, 6) AND f < 150", vec![11, 12]),
        ("f BETWEEN 2.5 AND 5", vec![6, 7, 8]),
        ("f > 2.5 AND f < 5.5 OR row = 0", vec![0, 6, 7, 8]),
    ] {
        let statement = format!("SELECT row FROM f WHERE {filter} ORDER BY row");
        let rows: Vec<String> = rows.iter().map(|row| format!("{{\"row\":{row}}}")).collect();
        for reads in ["flexible", "engine"] {
            set_reads(&engine, reads);
            assert_eq!(answer(&engine, &statement).unwrap(), rows, "{filter}, {reads}");
        }
    }
}

#[test]
fn what_is_bounded_on_both_sides_is_still_left_out() {
    let place = Place::new();
    let engine = doubles(&place);
    for (filter, row_groups) in [
        ("f BETWEEN 2.5 AND 4.5", "1 of 4"),
        ("f = 200", "1 of 4"),
        ("g IN (1, 200)", "2 of 4"),
        ("f > 150", "4 of 4"),
    ] {
        let plan = plan(&engine, &format!("EXPLAIN SELECT row FROM f WHERE {filter}"));
        assert_eq!(figures(&plan, "row_groups"), [row_groups], "{filter}: {plan}");
    }
}

#[test]
fn long_lists_leave_out_what_is_beyond_their_ends() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let ids: Vec<String> = (10_100..10_150).map(|id| id.to_string()).collect();
    let filter = format!("id IN ({}, 10100)", ids.join(", "));
    assert_eq!(
        answer(&engine, &format!("SELECT count(*) AS n FROM rows WHERE {filter}")).unwrap(),
        ["{\"n\":50}"]
    );
    let plan = plan(&engine, &format!("EXPLAIN SELECT note FROM rows WHERE {filter}"));
    // Those of the last file have no statistics.
    assert_eq!(figures(&plan, "row_groups"), ["3 of 10"], "{plan:.3000}");
}

#[test]
fn the_greatest_of_doubles_is_computed() {
    let place = Place::new();
    let engine = doubles(&place);
    for reads in ["flexible", "engine"] {
        set_reads(&engine, reads);
        let greatest = answer(&engine, "SELECT isnan(max(f)) AS nan, max(row) AS row FROM f").unwrap();
        assert_eq!(greatest, ["{\"nan\":true,\"row\":15}"], "{reads}");
        let first = answer(&engine, "SELECT row FROM f ORDER BY f DESC LIMIT 2").unwrap();
        assert_eq!(first, ["{\"row\":10}", "{\"row\":15}"], "{reads}");
    }
}

#[test]
fn bounds_that_are_inverted_are_not_believed() {
    let place = Place::new();
    let schema = Arc::new(parse_message_type("message m { required int32 a; }").unwrap());
    let file = std::fs::File::create(place.path("t.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column
        .typed::<Int32Type>()
        .write_batch_with_statistics(&[5, 6, 7], None, None, Some(&90), Some(&-90), None)
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let engine = place.engine(&["t.parquet"]);
    for (statement, row) in [
        ("SELECT count(*) AS n FROM t WHERE a = 6", "{\"n\":1}"),
        ("SELECT count(*) AS n FROM t WHERE a > 5 AND a < 100", "{\"n\":2}"),
        ("SELECT min(a) AS n FROM t", "{\"n\":5}"),
        (
            "SELECT count(*) AS n FROM t AS one JOIN t AS other ON one.a = other.a WHERE one.a < 7",
            "{\"n\":2}",
        ),
    ] {
        assert_eq!(answer(&engine, statement).unwrap(), [row], "{statement}");
    }
}

#[test]
fn a_name_that_two_columns_have_is_refused() {
    let place = Place::new();
    let column = || -> ArrayRef { Arc::new(Int32Array::from(vec![1])) };
    let field = || Field::new("a", DataType::Int32, false);
    let schema = Arc::new(Schema::new(vec![field(), field()]));
    let rows = RecordBatch::try_new(schema, vec![column(), column()]).unwrap();
    write(&place.path("t.parquet"), &rows, &WriterProperties::default());
    let refused = place.add(&place.engine(&[]), "t.parquet").unwrap_err().to_string();
    assert!(refused.contains("t.parquet has two columns `a`"), "{refused}");
}

#[test]
fn csv_of_lists_is_refused_before_its_header() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let statement = engine.parse("SELECT id, tags FROM rows").unwrap().remove(0).unwrap();
    let rows = engine.run(&statement).unwrap();
    let mut text = Vec::new();
    let Err(refused) = RowWriter::new(&mut text, Format::Csv, rows.schema()) else { panic!("it has a list") };
    let refused = refused.to_string();
    assert!(refused.contains("`tags`") && refused.contains("--format json"), "{refused}");
    assert!(text.is_empty(), "{text:?}");
    let mended = "SELECT array_to_string(tags, ';') AS tags, point['x'] AS x FROM rows WHERE id = 1";
    assert_eq!(answer(&engine, mended).unwrap(), ["{\"tags\":\"1\",\"x\":1}"]);
}

#[test]
fn times_of_any_unit_are_compared_with_literals_and_each_other() {
    let place = Place::new();
    let minutes = || (0..1440_i64).map(|minute| minute * 60);
    let columns: [(&str, ArrayRef); 3] = [
        (
            "us",
            Arc::new(Time64MicrosecondArray::from_iter_values(minutes().map(|second| second * 1_000_000))),
        ),
        (
            "ms",
            Arc::new(Time32MillisecondArray::from_iter_values(
                minutes().map(|second| i32::try_from(second * 1000).unwrap()),
            )),
        ),
        (
            "ns",
            Arc::new(Time64NanosecondArray::from_iter_values(minutes().map(|second| second * 1_000_000_000))),
        ),
    ];
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(60)).build();
    write(&place.path("t.parquet"), &RecordBatch::try_from_iter(columns).unwrap(), &properties);
    let engine = place.engine(&["t.parquet"]);
    for unit in ["us", "ms", "ns"] {
        for (filter, count) in [
            ("@ >= TIME '12:00:00'", 720),
            ("TIME '23:59:00' = @", 1),
            ("@ < TIME '00:01:00.0000005'", 2),
            ("@ BETWEEN TIME '01:00' AND TIME '02:00'", 61),
            ("@ IN (TIME '01:00', TIME '02:00', TIME '03:00', TIME '04:00', TIME '04:00:01')", 4),
            ("@ NOT BETWEEN '01:00:00' AND '02:00:00'", 1379),
            ("@ = us AND @ = ms AND @ = ns", 1440),
        ] {
            let filter = filter.replace('@', unit);
            let counted = answer(&engine, &format!("SELECT count(*) AS n FROM t WHERE {filter}"));
            let counted = counted.unwrap_or_else(|error| panic!("{filter}: {error}"));
            assert_eq!(counted, [format!("{{\"n\":{count}}}")], "{filter}");
        }
        let shown = answer(
            &engine,
            &format!("SELECT {unit} < TIME '00:00:30' AS first FROM t ORDER BY 1 DESC LIMIT 1"),
        );
        assert_eq!(shown.unwrap(), ["{\"first\":true}"]);
        let plan = plan(&engine, &format!("EXPLAIN SELECT us FROM t WHERE {unit} >= TIME '23:00'"));
        assert_eq!(figures(&plan, "row_groups"), ["1 of 24"], "{unit}: {plan}");
    }
}
