//! Flights from CSV files of all generations, and all kinds of errors in them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "these are tests")]

mod common;

use std::io::{Cursor, Read};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int16Type, UInt8Type, UInt16Type};
use common::csv::{lenient, load, load_all, source};
use common::{concat, text};
use nandle_flights::{BadRow, Column, CsvOptions, LoadError, Reject, Source};
use proptest::prelude::*;

const COLUMNS_21: &[u8] = include_bytes!("samples/columns-21.csv");
const COLUMNS_29: &[u8] = include_bytes!("samples/columns-29.csv");
const COLUMNS_31: &[u8] = include_bytes!("samples/columns-31.csv");
const COLUMNS_110: &[u8] = include_bytes!("samples/columns-110.csv");

/// Sum and number of values of a column of minutes.
fn sum(batches: &[arrow_array::RecordBatch], column: Column) -> (i64, usize) {
    let batch = concat(batches);
    let values = batch.column(column.index()).as_primitive::<Int16Type>();
    (values.iter().flatten().map(i64::from).sum(), values.iter().flatten().count())
}

fn flags(batches: &[arrow_array::RecordBatch], column: Column) -> u64 {
    let batch = concat(batches);
    batch.column(column.index()).as_primitive::<UInt8Type>().iter().flatten().map(u64::from).sum()
}

#[test]
fn dirty_flags_are_derived_and_counted() {
    let (batches, rejects, report) = load(COLUMNS_29, CsvOptions::default());
    assert_eq!(rejects, []);
    assert_eq!((report.rows, report.bad_rows), (200, 0));
    assert_eq!((report.cancelled_derived, report.diverted_derived), (200, 200));
    // Counted independently when the sample was made.
    assert_eq!(flags(&batches, Column::Cancelled), 14);
    assert_eq!(flags(&batches, Column::Diverted), 10);
    assert_eq!(sum(&batches, Column::ArrDelay), (2299, 176));
}

#[test]
fn a_row_has_its_values() {
    let (batches, ..) = load(COLUMNS_29, CsvOptions::default());
    let batch = concat(&batches);
    let last = batch.num_rows() - 1;
    let number = |column: Column| batch.column(column.index()).as_primitive::<UInt16Type>().value(last);
    let code = |column| text(&batch, column, last);
    // 2008,1,4,5,1057,1100,,1155,OO,3855,N426SW,,115,,,-3,SLC,SBA,615,,15,\N,,\N,NA,NA,NA,NA,NA
    assert_eq!(
        (number(Column::Year), number(Column::DepTime), number(Column::CrsArrTime)),
        (2008, 1057, 1155)
    );
    assert_eq!((number(Column::FlightNum), number(Column::Distance)), (3855, 615));
    assert_eq!(code(Column::Month).as_deref(), Some("2008-01"));
    assert_eq!(code(Column::Airline).as_deref(), Some("OO"));
    assert_eq!((code(Column::Origin).as_deref(), code(Column::Dest).as_deref()), (Some("SLC"), Some("SBA")));
    assert_eq!(batch.column(Column::TailNum.index()).as_string::<i32>().value(last), "N426SW");
    assert_eq!(batch.column(Column::FlightDate.index()).as_primitive::<Date32Type>().value(last), 13_882);
    assert_eq!(batch.column(Column::DayOfWeek.index()).as_primitive::<UInt8Type>().value(last), 5);
    assert_eq!(batch.column(Column::DepDelay.index()).as_primitive::<Int16Type>().value(last), -3);
    for missing in
        [Column::ArrTime, Column::ArrDelay, Column::AirTime, Column::CancellationCode, Column::NasDelay]
    {
        assert!(batch.column(missing.index()).is_null(last), "{}", missing.name());
    }
}

#[test]
fn both_generations_say_the_same() {
    let (historical, _, _) = load(COLUMNS_29, CsvOptions::default());
    let (current, rejects, report) = load(COLUMNS_110, CsvOptions::default());
    assert_eq!(rejects, []);
    assert_eq!((report.cancelled_derived, report.diverted_derived), (0, 0));
    assert_eq!(concat(&historical), concat(&current));
    let windows = String::from_utf8_lossy(COLUMNS_110).replace('\n', "\r\n");
    let (of_windows, ..) = load(format!("\u{feff}{windows}").as_bytes(), CsvOptions::default());
    assert_eq!(concat(&of_windows), concat(&current));
}

#[test]
fn other_historical_columns() {
    let (batches, rejects, report) = load(COLUMNS_21, CsvOptions::default());
    assert_eq!((rejects.len(), report.rows), (0, 200));
    assert_eq!((flags(&batches, Column::Cancelled), flags(&batches, Column::Diverted)), (15, 11));
    assert!(
        concat(&batches).column(Column::CrsDepTime.index()).null_count() == 200,
        "the file has no such column"
    );
    let (batches, rejects, report) = load(COLUMNS_31, CsvOptions::default());
    assert_eq!((rejects.len(), report.rows, report.tail_numbers_unreadable), (0, 200, 20));
    assert_eq!((flags(&batches, Column::Cancelled), flags(&batches, Column::Diverted)), (10, 2));
}

#[test]
fn compressed_files_one_after_the_other_by_several_threads() {
    let compressed = zstd::encode_all(COLUMNS_21, 1).unwrap();
    let of = |threads| {
        let sources = vec![
            source("a", COLUMNS_29),
            source("b", &compressed),
            source("c", b""),
            source("d", COLUMNS_110),
        ];
        let options = CsvOptions { threads, chunk_bytes: 4096, batch_rows: 3, ..lenient() };
        load_all(sources, options).unwrap()
    };
    let (one, one_rejects, one_report) = of(1);
    assert_eq!(one_report.rows, 601);
    assert_eq!(one_rejects.len(), 1);
    assert!(one.iter().all(|batch| batch.num_rows() <= 3));
    for threads in [2, 3] {
        let (more, more_rejects, more_report) = of(threads);
        assert_eq!((&one, &one_rejects, one_report), (&more, &more_rejects, more_report));
    }
}

/// First lines of a sample, with another row after the header.
fn with_row(row: &[u8]) -> Vec<u8> {
    let mut lines = COLUMNS_29.split_inclusive(|byte| *byte == b'\n').take(4);
    let header = lines.next().unwrap();
    [header, row, b"\n", &lines.collect::<Vec<_>>().concat()].concat()
}

fn row_with(place: usize, cell: &str) -> Vec<u8> {
    let row =
        "2008,1,4,5,1057,1100,1150,1155,OO,3855,N426SW,1,115,1,5,-3,SLC,SBA,615,1,15,0,,0,NA,NA,NA,NA,NA";
    let mut cells: Vec<&str> = row.split(',').collect();
    cells[place] = cell;
    cells.join(",").into_bytes()
}

#[test]
fn bad_rows_are_kept_aside_with_line_and_reason() {
    let cell = |column, text: &str, expected| BadRow::Cell { column, text: text.to_owned(), expected };
    let minutes = "whole number of minutes";
    let cases: Vec<(Vec<u8>, BadRow)> = vec![
        (b"2008,1".to_vec(), BadRow::Columns { expected: 29, got: 2 }),
        ([row_with(0, "2008"), b",".to_vec()].concat(), BadRow::Columns { expected: 29, got: 30 }),
        (row_with(14, "abc"), cell(Column::ArrDelay, "abc", minutes)),
        (row_with(14, "1.5"), cell(Column::ArrDelay, "1.5", minutes)),
        (row_with(14, "40000"), cell(Column::ArrDelay, "40000", minutes)),
        (row_with(14, "99999999999999999999"), cell(Column::ArrDelay, "99999999999999999999", minutes)),
        (row_with(4, "1060"), cell(Column::DepTime, "1060", "time as hhmm")),
        (row_with(1, "13"), cell(Column::Month, "13", "month")),
        (row_with(2, "x"), cell(Column::FlightDate, "x", "day of a month")),
        (row_with(2, "32"), BadRow::Date { year: 2008, month: 1, day: 32 }),
        (row_with(0, ""), BadRow::Missing { column: Column::Year }),
        (row_with(16, "NA"), BadRow::Missing { column: Column::Origin }),
        (row_with(16, "Houston"), cell(Column::Origin, "Houston", "airport's code")),
        (row_with(21, "2"), cell(Column::Cancelled, "2", "flag")),
        (row_with(10, "N1\0"), BadRow::Nul),
        (row_with(10, "\"N426SW"), BadRow::Quote),
    ];
    for (row, reason) in cases {
        let (batches, rejects, report) = load(&with_row(&row), lenient());
        let [reject] = &rejects[..] else { panic!("{reason}: {rejects:?}") };
        assert_eq!((reject.line, &*reject.file), (2, "flights.csv"), "{reject}");
        assert_eq!(reject.reason, reason);
        assert_eq!(reject.row, row, "{reject}");
        assert_eq!((report.rows, report.bad_rows), (4, 1));
        assert_eq!(concat(&batches).num_rows(), 3, "{reject}");
    }
}

#[test]
fn codes_in_other_encodings_are_bad() {
    let mut row = row_with(16, "XXX");
    let at = row.windows(3).position(|three| three == b"XXX").unwrap();
    row[at] = 0xe9;
    let (_, rejects, _) = load(&with_row(&row), lenient());
    assert_eq!(rejects.iter().map(|reject| &reject.reason).collect::<Vec<_>>(), [&BadRow::Encoding]);
}

#[test]
fn a_quote_costs_its_line_alone_wherever_it_is() {
    let lines: Vec<&[u8]> = COLUMNS_29.split_inclusive(|byte| *byte == b'\n').collect();
    for at in [1, 2, 57, 200] {
        let mut changed: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
        let place = changed[at].windows(2).position(|two| two == b",N").unwrap() + 1;
        changed[at].insert(place, b'"');
        let (batches, rejects, report) =
            load(&changed.concat(), CsvOptions { chunk_bytes: 4096, ..lenient() });
        assert_eq!(rejects.len(), 1, "{rejects:?}");
        assert_eq!((rejects[0].line, &rejects[0].reason), (at as u64 + 1, &BadRow::Quote));
        assert_eq!((report.rows, concat(&batches).num_rows()), (200, 199));
    }
}

#[test]
fn a_file_that_was_cut_loses_one_row() {
    let cut = &COLUMNS_29[..COLUMNS_29.len() - 30];
    let (batches, rejects, _) = load(cut, lenient());
    assert_eq!(concat(&batches).num_rows(), 199);
    assert_eq!((rejects.len(), rejects[0].line), (1, 201));
    assert!(matches!(rejects[0].reason, BadRow::Columns { expected: 29, .. }), "{}", rejects[0]);
}

#[test]
fn compressed_data_that_were_cut_are_an_error() {
    let compressed = zstd::encode_all(COLUMNS_29, 1).unwrap();
    for threads in [1, 2] {
        let sources = vec![source("cut.zst", &compressed[..compressed.len() - 10])];
        let error = load_all(sources, CsvOptions { threads, ..lenient() }).unwrap_err();
        assert!(matches!(&error, LoadError::Read { file, .. } if &**file == "cut.zst"), "{error}");
    }
}

#[test]
fn foreign_and_empty_files_are_kept_aside_as_a_whole() {
    let foreign = b"a,b,c\n1,2,3\n4,5,6\n";
    let utf16: Vec<u8> =
        String::from_utf8_lossy(COLUMNS_29).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let sources = vec![
        source("foreign", foreign),
        source("empty", b""),
        source("good", COLUMNS_29),
        source("utf16", &utf16),
    ];
    let (batches, rejects, report) = load_all(sources, lenient()).unwrap();
    assert_eq!(concat(&batches).num_rows(), 200);
    let reasons: Vec<_> = rejects.iter().map(|reject| (&*reject.file, reject.line, &reject.reason)).collect();
    let header = BadRow::Header { missing: "DayofMonth" };
    assert_eq!(reasons, [("foreign", 1, &header), ("empty", 1, &BadRow::Empty), ("utf16", 1, &header)]);
    // UTF-16 has half a character after the last line end.
    assert_eq!(report.bad_rows, 3 + 1 + 202);
}

#[test]
fn a_header_that_has_a_column_twice_is_kept_aside() {
    let text = String::from_utf8(COLUMNS_29.to_vec()).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let twice = format!("{header},arrdelay\n{}", rows.replace('\n', ",7\n"));
    let unread = format!("{header},Remark,Remark\n{}", rows.replace('\n', ",a,b\n"));
    let sources = vec![source("twice", twice.as_bytes()), source("unread", unread.as_bytes())];
    let (batches, rejects, _) = load_all(sources, lenient()).unwrap();
    assert_eq!(concat(&batches).num_rows(), 200, "of columns that aren't read there may be any");
    assert_eq!(
        (&*rejects[0].file, &rejects[0].reason),
        ("twice", &BadRow::HeaderTwice { column: "ArrDelay" })
    );
    assert_eq!(rejects.len(), 1);
}

#[test]
fn compressed_files_may_begin_with_a_frame_without_data() {
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], b"size"].concat();
    let packed = [&skipped[..], &zstd::encode_all(COLUMNS_29, 1).unwrap()].concat();
    let (batches, rejects, _) = load(&packed, CsvOptions::default());
    assert_eq!((concat(&batches).num_rows(), rejects.len()), (200, 0));
}

#[test]
fn a_line_without_end_takes_no_memory() {
    let header = COLUMNS_29.split_inclusive(|byte| *byte == b'\n').next().unwrap().to_vec();
    let row = [row_with(0, "2008"), b"\n".to_vec()].concat();
    let long = std::iter::repeat_n(b'x', 1 << 20).collect::<Vec<_>>();
    let bytes = [&header[..], &long, b"\n", &row].concat();
    let (batches, rejects, report) = load(&bytes, CsvOptions { chunk_bytes: 4096, ..lenient() });
    assert_eq!((rejects.len(), rejects[0].line), (1, 2));
    assert_eq!(rejects[0].reason, BadRow::TooLong { max_bytes: 4096 });
    assert!(rejects[0].row.len() <= Reject::ROW_BYTES_MAX);
    assert_eq!((report.rows, concat(&batches).num_rows()), (2, 1));
}

#[test]
fn too_many_bad_rows_are_an_error_that_shows_the_first() {
    let mut bytes = COLUMNS_29.to_vec();
    bytes.extend_from_slice(b"x\nx\n");
    let allowed = CsvOptions { bad_max: 0.01, ..lenient() };
    assert!(load_all(vec![source("f", &bytes)], allowed).is_ok(), "2 of 202 are less than 1 %");
    bytes.extend_from_slice(b"x\n");
    let error = load_all(vec![source("f", &bytes)], allowed).unwrap_err();
    let LoadError::TooManyBad { bad_rows: 3, rows: 203, first, .. } = &error else { panic!("{error}") };
    assert_eq!(first.line, 202);
}

#[test]
fn files_that_are_not_there_are_named() {
    let error = load_all(vec![Source::file(Path::new("/nowhere/flights.csv"))], lenient()).unwrap_err();
    assert!(error.to_string().contains("/nowhere/flights.csv"), "{error}");
}

/// A reader that returns a few bytes at a time.
struct Trickle(Cursor<Vec<u8>>);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let few = buffer.len().min(7);
        self.0.read(&mut buffer[..few])
    }
}

#[test]
fn pieces_of_any_length_give_the_same_rows() {
    let (whole, ..) = load(COLUMNS_31, lenient());
    let trickle = Source::reader("t", Box::new(Trickle(Cursor::new(COLUMNS_31.to_vec()))));
    let (slow, ..) = load_all(vec![trickle], CsvOptions { chunk_bytes: 1500, ..lenient() }).unwrap();
    assert_eq!(concat(&whole), concat(&slow));
}

/// The complete samples, if `NANDLE_FLIGHTS` names their directory.
#[test]
fn real_files() {
    let Some(directory) = std::env::var_os("NANDLE_FLIGHTS") else {
        return eprintln!("skipped: NANDLE_FLIGHTS doesn't name a directory with the flights' samples");
    };
    let directory = Path::new(&directory);
    let expected = [
        ("ontime-2008-01.csv.zst", 605_765, None),
        ("ontime-2008-02.csv.zst", 569_236, None),
        ("houston-2011.csv.zst", 227_496, Some((2_973, 649))),
        ("sample-1987-2008.csv.zst", 43_978, Some((1_086, 109))),
    ];
    for (file, rows, flagged) in expected {
        let (batches, rejects, report) =
            load_all(vec![Source::file(&directory.join(file))], CsvOptions::default()).unwrap();
        assert_eq!((report.rows, rejects.len()), (rows, 0), "{file}");
        if let Some(flagged) = flagged {
            assert_eq!(
                (flags(&batches, Column::Cancelled), flags(&batches, Column::Diverted)),
                flagged,
                "{file}"
            );
        }
    }
}

proptest! {
    /// For any input, every line is a row or rejected, and the valid rows are loaded.
    #[test]
    fn anything(noise in proptest::collection::vec(any::<u8>(), 0..3000), at in 0_usize..200, chunk_bytes in 1024_usize..6000) {
        let lines: Vec<&[u8]> = COLUMNS_21.split_inclusive(|byte| *byte == b'\n').collect();
        let bytes = [&lines[..=at].concat()[..], &noise, b"\n", &lines[at + 1..].concat()].concat();
        let (batches, rejects, report) = load(&bytes, CsvOptions { chunk_bytes, ..lenient() });
        prop_assert_eq!(report.bad_rows, rejects.len() as u64);
        let rows = if batches.is_empty() { 0 } else { concat(&batches).num_rows() };
        prop_assert_eq!(report.rows, rows as u64 + report.bad_rows);
        prop_assert!(rows >= 199, "{} rows", rows);
        prop_assert!(rejects.windows(2).all(|two| two[0].line <= two[1].line));
    }
}
