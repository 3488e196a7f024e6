//! Whole CSV files of other writers, and files changed in transit.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "these are tests")]

mod common;

use common::concat;
use common::csv::{lenient, load, load_all, source};
use nandle_flights::{BadRow, Column, CsvOptions};
use proptest::prelude::*;

const COLUMNS_21: &[u8] = include_bytes!("samples/columns-21.csv");
const COLUMNS_29: &[u8] = include_bytes!("samples/columns-29.csv");

/// Name, contents, number of loaded and of bad rows, and the first reason.
type WholeFile = (&'static str, Vec<u8>, usize, u64, Option<BadRow>);

/// Loaded rows, bad rows and the first reason for whole files.
#[test]
fn files_of_other_makers() {
    let text = String::from_utf8_lossy(COLUMNS_21).into_owned();
    let header = text.lines().next().unwrap();
    let utf16 = |mark: u16, bytes: fn(u16) -> [u8; 2]| {
        std::iter::once(mark).chain(text.encode_utf16()).flat_map(bytes).collect::<Vec<u8>>()
    };
    let quoted: String = text.lines().map(|line| format!("\"{}\"\n", line.replace(',', "\",\""))).collect();
    let latin = text.replacen(",ATL,", ",\u{c4}TL,", 1);
    let latin: Vec<u8> = latin.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    let header_again = BadRow::Cell { column: Column::Year, text: "Year".to_owned(), expected: "year" };
    let blank = text.replace('\n', "\n\n");
    let cases: Vec<WholeFile> = vec![
        ("as published", text.clone().into(), 200, 0, None),
        ("header alone", format!("{header}\n").into(), 0, 0, None),
        ("header without an end", header.into(), 0, 0, None),
        ("CRLF", text.replace('\n', "\r\n").into(), 200, 0, None),
        ("CRLF, the last line without an end", text.replace('\n', "\r\n").trim_end().into(), 200, 0, None),
        ("CR alone", text.replace('\n', "\r").into(), 0, 1, Some(BadRow::CarriageReturns)),
        ("UTF-8 with a mark", format!("\u{feff}{text}").into(), 200, 0, None),
        ("UTF-16, little-endian", utf16(0xfeff, u16::to_le_bytes), 0, 202, Some(BadRow::Utf16)),
        ("UTF-16, big-endian", utf16(0xfeff, u16::to_be_bytes), 0, 201, Some(BadRow::Utf16)),
        ("Latin-1", latin, 199, 1, Some(BadRow::Encoding)),
        ("all cells quoted", quoted.into(), 200, 0, None),
        ("blank lines between", blank.into(), 200, 0, None),
        ("header in capitals", text.replacen(header, &header.to_uppercase(), 1).into(), 200, 0, None),
        (
            "header twice",
            text.replacen(header, &format!("{header}\n{header}"), 1).into(),
            200,
            1,
            Some(header_again.clone()),
        ),
        ("two files in one", format!("{text}{text}").into(), 400, 1, Some(header_again.clone())),
        ("a newline alone", b"\n".to_vec(), 0, 1, Some(BadRow::Empty)),
        ("zeros", vec![0; 100], 0, 1, Some(BadRow::Header { missing: "DayofMonth" })),
        ("semicolons", text.replace(',', ";").into(), 0, 201, Some(BadRow::Header { missing: "DayofMonth" })),
    ];
    for (what, bytes, rows, bad_rows, reason) in cases {
        for chunk_bytes in [32 << 10, 1 << 20] {
            let (batches, rejects, report) = load(&bytes, CsvOptions { chunk_bytes, ..lenient() });
            let got: usize = batches.iter().map(arrow_array::RecordBatch::num_rows).sum();
            assert_eq!((got, report.bad_rows), (rows, bad_rows), "{what}, {rejects:?}");
            assert_eq!(rejects.first().map(|reject| reject.reason.clone()), reason, "{what}");
        }
    }
}

/// A change of a file.
#[derive(Debug, Clone)]
enum Change {
    Set(u8),
    Insert(Vec<u8>),
    Remove(usize),
    Repeat(usize),
}

fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<u8>().prop_map(Change::Set),
        proptest::sample::select(vec![b'"', b',', b'\n', b'\r', 0, 0xff]).prop_map(Change::Set),
        proptest::collection::vec(any::<u8>(), 1..40).prop_map(Change::Insert),
        (1_usize..400).prop_map(Change::Remove),
        (1_usize..400).prop_map(Change::Repeat),
    ]
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>, at: usize) {
        let end = |length: &usize, bytes: &[u8]| (at + length).min(bytes.len());
        match self {
            Self::Set(byte) => bytes[at] = *byte,
            Self::Insert(more) => _ = bytes.splice(at..at, more.iter().copied()),
            Self::Remove(length) => _ = bytes.drain(at..end(length, bytes)),
            Self::Repeat(length) => {
                let again = bytes[at..end(length, bytes)].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
}

proptest! {
    /// A changed file loses only the rows that were touched, compressed or not.
    #[test]
    fn changed_files(changed in proptest::collection::vec((any::<proptest::sample::Index>(), changes()), 1..5), chunk_bytes in 1024_usize..6000) {
        let header = COLUMNS_29.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let mut bytes = COLUMNS_29[header..].to_vec();
        let mut touched = 0;
        for (place, change) in &changed {
            let at = place.index(bytes.len());
            // A line has about a hundred bytes; a quote affects at most those up to the end of its
            // chunk.
            touched += 2 + match change { Change::Remove(length) => length / 60, Change::Repeat(_) | Change::Set(_) | Change::Insert(_) => 0 };
            change.apply(&mut bytes, at);
        }
        let bytes = [&COLUMNS_29[..header], &bytes].concat();
        let (batches, rejects, report) = load(&bytes, CsvOptions { chunk_bytes, ..lenient() });
        let rows = if batches.is_empty() { 0 } else { concat(&batches).num_rows() };
        prop_assert_eq!(report.rows, rows as u64 + report.bad_rows);
        prop_assert_eq!(report.bad_rows, rejects.len() as u64);
        prop_assert!(rows + touched >= 200, "{} rows, {} touched", rows, touched);
        let packed = zstd::encode_all(&bytes[..], 1).unwrap();
        let (unpacked, ..) = load(&packed, CsvOptions { chunk_bytes, ..lenient() });
        prop_assert!(unpacked == batches);
    }

    /// A changed compressed file is an error, or gives rows as far as its checksum isn't verified.
    #[test]
    fn changed_packed_files(at in any::<proptest::sample::Index>(), change in changes()) {
        let mut bytes = zstd::encode_all(COLUMNS_29, 1).unwrap();
        let at = at.index(bytes.len());
        change.apply(&mut bytes, at);
        match load_all(vec![source("changed.zst", &bytes)], lenient()) {
            Ok((_, rejects, report)) => prop_assert_eq!(report.bad_rows >= rejects.len() as u64, true),
            Err(error) => prop_assert!(error.to_string().contains("changed.zst"), "{error}"),
        }
    }
}
