//! Recordings that are written, read, damaged, truncated, or made by other programs.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

use std::io::Write as _;
use std::path::Path;

use nandle_io::Nanos;
use nandle_reads::recording::{
    Names, QueryTotals, RecordError, RecordedFile, RecordedQuery, Recorder, Recording, RecordingError,
    Violation,
};
use nandle_reads::{FileId, Groups, Want};
use proptest::prelude::*;

const NAME: &str = "some.needs.zst";

fn read(bytes: &[u8]) -> Result<Recording, RecordingError> {
    Recording::from_reader(bytes, Path::new(NAME))
}

fn want(file: u32, offset_bytes: u64, length_bytes: u64, step: u32) -> Want {
    Want { file: FileId(file), offset_bytes, length_bytes, step }
}

/// Three files and two queries; the second needs no reads.
fn small() -> Recording {
    let file =
        |name: &str, length_bytes, groups| RecordedFile { name: Some(name.to_owned()), length_bytes, groups };
    let query = RecordedQuery {
        name: Some("C41".to_owned()),
        text: Some("count(*) by \"origin\", \u{202e}delay\n".to_owned()),
        wants: vec![want(0, 4096, 8192, 0), want(1, 0, 1, 0), want(0, 0, 1 << 20, 2)],
        cpu_after_ns: vec![51_000, 7, 0],
        totals: QueryTotals { spilled_bytes: 300, spill_read_bytes: 600, result_rows: 17, took_ns: Some(5) },
    };
    let idle = RecordedQuery { name: Some("idle".to_owned()), ..RecordedQuery::default() };
    Recording {
        files: vec![
            file("data/1.parquet", 1 << 20, Groups::Listed(vec![4..9000, 9000..70_000])),
            file("data/2.parquet", 1, Groups::Every(4096)),
            file("data/3.parquet", 0, Groups::Unknown),
        ],
        queries: vec![query, idle],
    }
}

fn written(recording: &Recording, names: Names) -> Vec<u8> {
    let mut recorder = Recorder::new(Vec::new(), names).unwrap();
    for (index, file) in recording.files.iter().enumerate() {
        let id = recorder.file(file.name.as_deref().unwrap(), file.length_bytes, &file.groups).unwrap();
        assert_eq!(id.0 as usize, index);
    }
    for query in &recording.queries {
        recorder.begin_query(query.name.as_deref().unwrap(), query.text.as_deref()).unwrap();
        for (step, cpu_ns) in query.cpu_after_ns.iter().enumerate() {
            let wants: Vec<Want> =
                query.wants.iter().filter(|want| want.step as usize == step).copied().collect();
            recorder.step(&wants, Nanos(*cpu_ns)).unwrap();
        }
        recorder.end_query(query.totals).unwrap();
    }
    recorder.finish().unwrap()
}

fn zstd(lines: &str) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.write_all(lines.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Appends the matching end to `lines`.
fn ended(lines: &str, counts: [u64; 4]) -> Vec<u8> {
    let [files, queries, steps, wants] = counts;
    let crc32c = crc32c::crc32c(lines.as_bytes());
    zstd(&format!(
        "{lines}{{\"end\":{{\"counts\":{{\"files\":{files},\"queries\":{queries},\"steps\":{steps},\"wants\":{wants}}},\"crc32c\":{crc32c}}}}}\n"
    ))
}

/// A skippable frame of three bytes.
const SKIPPABLE: &[u8] = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
const HEAD: &str = "{\"nandle_needs\":{\"version\":1}}\n";
const FILE: &str = "{\"file\":{\"name\":null,\"length_bytes\":100,\"groups\":\"unknown\"}}\n";
const QUERY: &str = "{\"query\":{\"name\":null,\"text\":null}}\n";
const DONE: &str = "{\"done\":{\"spilled_bytes\":0,\"spill_read_bytes\":0,\"result_rows\":0}}\n";

#[test]
fn what_was_recorded_is_read() {
    assert_eq!(read(&written(&small(), Names::Kept)).unwrap(), small());
    let empty = Recording::default();
    assert_eq!(read(&written(&empty, Names::Kept)).unwrap(), empty);
    assert_eq!(small().queries[0].bytes_wanted(), 8192 + 1 + (1 << 20));
    assert_eq!(small().queries[0].cpu_ns(), 51_007);
}

#[test]
fn an_anonymous_recording_has_no_name_anywhere() {
    let bytes = written(&small(), Names::Left);
    let recording = read(&bytes).unwrap();
    assert!(recording.files.iter().all(|file| file.name.is_none()));
    assert!(recording.queries.iter().all(|query| query.name.is_none() && query.text.is_none()));
    assert_eq!(recording.queries[0].wants, small().queries[0].wants);
    let text = String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap();
    for word in ["parquet", "C41", "origin", "idle"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

/// Never regenerate this file: recordings of version 1 must stay readable.
#[test]
fn a_recording_of_version_1_is_read() {
    let bytes = std::fs::read("tests/fixtures/v1.needs.zst").unwrap();
    let mut expected = small();
    expected.queries[0].totals.took_ns = None;
    assert_eq!(read(&bytes).unwrap(), expected);
}

#[test]
fn two_hundred_thousand_scattered_wants_are_small() {
    let mut recorder = Recorder::new(Vec::new(), Names::Left).unwrap();
    recorder.file("a", 1 << 40, &Groups::Unknown).unwrap();
    recorder.begin_query("q", None).unwrap();
    let mut place = 1_u64;
    for _ in 0..20_000 {
        let wants: Vec<Want> = (0..10)
            .map(|_| {
                place += 8192 * (1 + (place.wrapping_mul(6_364_136_223_846_793_005) >> 33) % 997);
                want(0, place, 8192, 0)
            })
            .collect();
        recorder.step(&wants, Nanos(40_000 + place % 10_007)).unwrap();
    }
    recorder.end_query(QueryTotals::default()).unwrap();
    let bytes = recorder.finish().unwrap();
    assert!(bytes.len() < 1_400_000, "{} bytes", bytes.len());
    assert_eq!(read(&bytes).unwrap().queries[0].wants.len(), 200_000);
}

#[test]
fn a_recorder_refuses_what_readers_would() {
    let mut recorder = Recorder::new(Vec::new(), Names::Kept).unwrap();
    let violation = |result: Result<(), RecordError>| match result.unwrap_err() {
        RecordError::Violation(violation) => violation,
        other => panic!("{other}"),
    };
    assert_eq!(violation(recorder.step(&[], Nanos(1))), Violation::OutsideQuery { what: "step" });
    assert_eq!(
        violation(recorder.end_query(QueryTotals::default())),
        Violation::OutsideQuery { what: "done" }
    );
    recorder.file("a", 100, &Groups::Unknown).unwrap();
    recorder.begin_query("q", None).unwrap();
    assert_eq!(violation(recorder.begin_query("r", None)), Violation::QueryInQuery);
    assert_eq!(
        violation(recorder.step(&[want(1, 0, 1, 0)], Nanos(1))),
        Violation::UnknownFile { file: 1, files: 1 }
    );
    for (offset_bytes, length_bytes) in [(0, 0), (0, 101), (100, 1), (u64::MAX, 2)] {
        let refused = violation(recorder.step(&[want(0, offset_bytes, length_bytes, 0)], Nanos(1)));
        assert_eq!(refused, Violation::OutsideFile { file: 0, offset_bytes, length_bytes, file_bytes: 100 });
    }
    recorder.step(&[want(0, 0, 100, 0)], Nanos(1)).unwrap();
    for listed in [[0..0, 0..0], [0..101, 101..102], [0..50, 49..60]].map(Vec::from) {
        let refused = recorder.file("b", 100, &Groups::Listed(listed)).map(drop);
        assert!(matches!(violation(refused), Violation::Group { file_bytes: 100, .. }));
    }
    assert_eq!(violation(recorder.file("b", 100, &Groups::Every(0)).map(drop)), Violation::EmptyGroups);
    // Impossible sizes, whose sums would overflow.
    let spilled = QueryTotals { spilled_bytes: u64::MAX, ..QueryTotals::default() };
    assert!(matches!(violation(recorder.end_query(spilled)), Violation::TooMany { .. }));
    let long = violation(recorder.file("c", (1 << 60) + 1, &Groups::Unknown).map(drop));
    assert_eq!(long, Violation::TooMany { what: "bytes of files", max: 1 << 60 });
    assert!(matches!(recorder.finish().unwrap_err(), RecordError::Violation(Violation::QueryNotDone)));
}

#[test]
fn refusals_name_the_file_and_what_was_expected() {
    let refusals = [
        (Vec::new(), "no recording: it is empty"),
        (b"{\"nandle_needs\":{\"version\":1}}\n".to_vec(), "is no recording"),
        (zstd("hello\n"), "its first line isn't `nandle_needs`"),
        (zstd(FILE), "its first line isn't `nandle_needs`"),
        (
            zstd("{\"nandle_needs\":{\"version\":3,\"new\":3}}\n"),
            "version 3, and this program reads versions up to 2",
        ),
        (zstd(&format!("{HEAD}{FILE}")), "cut off behind line 2 (1 files, 0 queries, 0 steps, 0 wants)"),
        (zstd(&format!("{HEAD}{{\"file\":3}}\n")), "damaged at line 2"),
        (
            ended(&format!("{HEAD}{FILE}"), [2, 0, 0, 0]),
            "it has 1 files, 0 queries, 0 steps, 0 wants, and 2 files",
        ),
        (ended(&format!("{HEAD}{QUERY}"), [0, 1, 0, 0]), "ends before its last query is done"),
        (ended(&format!("{HEAD}{DONE}"), [0, 0, 0, 0]), "a done stands outside a query"),
        (ended(&format!("{HEAD}{QUERY}{QUERY}"), [0, 2, 0, 0]), "begins before the one before it is done"),
        (
            ended(
                &format!(
                    "{HEAD}{FILE}{QUERY}{{\"step\":{{\"wants\":[[0,99,2]],\"cpu_after_ns\":0}}}}\n{DONE}"
                ),
                [1, 1, 1, 1],
            ),
            "2 bytes at 99 of file 0, which has 100",
        ),
        ([ended(HEAD, [0; 4]), zstd("more\n")].concat(), "something is behind its frame"),
        ([ended(HEAD, [0; 4]), SKIPPABLE.to_vec()].concat(), "something is behind its frame"),
        ([SKIPPABLE.to_vec(), ended(HEAD, [0; 4])].concat(), "it isn't a frame of zstd"),
        ([zstd(HEAD), zstd(&format!("{FILE}{{\"end\":{{}}}}\n"))].concat(), "cut off behind line 1 (0 files"),
        (
            ended("{\"nandle_needs\":{\"version\":1,\"endian\":\"big\"}}\n", [0; 4]),
            "`nandle_needs` has the key `endian`, which isn't known",
        ),
        (zstd(&format!("{HEAD}{}", "x".repeat(17 << 20))), "which no line may have"),
    ];
    for (bytes, expected) in refusals {
        let error = read(&bytes).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(NAME), "{error}\nexpected: {expected}");
    }
}

#[test]
fn a_file_that_unpacks_to_too_much_is_refused_in_little_memory() {
    let step = "{\"step\":{\"wants\":[],\"cpu_after_ns\":0}}\n".repeat(1000);
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.write_all(format!("{HEAD}{QUERY}").as_bytes()).unwrap();
    for _ in 0..8001 {
        encoder.write_all(step.as_bytes()).unwrap();
    }
    let error = read(&encoder.finish().unwrap()).unwrap_err();
    assert!(error.to_string().contains("more than 8000000 steps"), "{error}");
}

/// White space adds no steps or wants, so only the limit on length stops it.
#[test]
fn a_file_of_white_space_comes_to_an_end() {
    let line = format!("{}{}", " ".repeat(15 << 20), FILE);
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.write_all(HEAD.as_bytes()).unwrap();
    for _ in 0..140 {
        encoder.write_all(line.as_bytes()).unwrap();
    }
    let bytes = encoder.finish().unwrap();
    assert!(bytes.len() < 1 << 20, "{} bytes", bytes.len());
    let error = read(&bytes).unwrap_err().to_string();
    assert!(error.contains("unpacks to more than 2147483648 bytes"), "{error}");
}

#[test]
fn a_frame_that_wants_a_large_window_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(27).unwrap();
    encoder.write_all(HEAD.as_bytes()).unwrap();
    assert!(matches!(read(&encoder.finish().unwrap()), Err(RecordingError::NoRecording { .. })));
}

#[test]
fn every_cut_is_noticed() {
    let whole = written(&small(), Names::Kept);
    for bytes in 0..whole.len() {
        assert!(read(&whole[..bytes]).is_err(), "{bytes} of {} bytes", whole.len());
    }
}

proptest! {
    #[test]
    fn damage_is_an_error_or_changes_nothing(flips in proptest::collection::vec((any::<proptest::sample::Index>(), 0_u8..8), 1..4)) {
        let mut bytes = written(&small(), Names::Kept);
        for (place, bit) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= 1 << bit;
        }
        if let Ok(recording) = read(&bytes) {
            prop_assert_eq!(recording, small());
        }
    }

    /// Damages the text below the compression, to test the checks of lines.
    #[test]
    fn damaged_lines_are_an_error_or_change_nothing(place in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        let mut text = zstd::decode_all(&written(&small(), Names::Kept)[..]).unwrap();
        let place = place.index(text.len());
        text[place] = byte;
        if let Ok(recording) = read(&zstd::encode_all(&text[..], 1).unwrap()) {
            prop_assert_eq!(recording, small());
        }
    }

    #[test]
    fn anything_is_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(read(&bytes).is_err());
        prop_assert!(read(&zstd::encode_all(&bytes[..], 1).unwrap()).is_err());
    }
}
