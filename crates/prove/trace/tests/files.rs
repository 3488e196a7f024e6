//! Traces as files: detection, decompression, conversion and refusal.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

use std::fs;
use std::path::{Path, PathBuf};

use nandle_trace::{Format, Operation, OutputFormat, ReadOptions, Reader, Record, TraceError, Writer};

fn file(directory: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn read(path: &Path, options: &ReadOptions) -> Result<Vec<Record>, TraceError> {
    Reader::open(path, options)?.collect()
}

fn some_records() -> Vec<Record> {
    let record = |time_us, operation, address, length_bytes| Record {
        time_us,
        operation,
        address,
        length_bytes,
        latency_ns: None,
    };
    vec![
        record(0, Operation::Write, 4096, 4096),
        record(9, Operation::Read, 0, 512),
        record(12, Operation::Sync, 0, 8192),
        record(40, Operation::Discard, 4096, 4096),
    ]
}

#[test]
fn every_output_format_round_trips() {
    let directory = tempfile::tempdir().unwrap();
    let (csv, fio) =
        (OutputFormat::Csv { latencies: false }, OutputFormat::FioIolog { file: "/dev/null".into() });
    for (name, format, written) in [
        ("a.csv", Format::Csv, &csv),
        ("a.csv.zst", Format::Csv, &csv),
        ("a.log", Format::FioIolog, &fio),
        ("a.log.zst", Format::FioIolog, &fio),
    ] {
        let path = directory.path().join(name);
        let mut writer = Writer::create(&path, written.clone()).unwrap();
        for record in some_records() {
            writer.write(&record).unwrap();
        }
        writer.finish().unwrap();
        let reader = Reader::open(&path, &ReadOptions::default()).unwrap();
        assert_eq!(reader.format(), format);
        assert_eq!(reader.collect::<Result<Vec<_>, _>>().unwrap(), some_records(), "{name}");
    }
}

#[test]
fn latencies_are_kept_if_the_format_has_a_column() {
    let directory = tempfile::tempdir().unwrap();
    let records: Vec<Record> = some_records()
        .into_iter()
        .zip([Some(81_500), None, Some(0), None])
        .map(|(record, latency_ns)| Record { latency_ns, ..record })
        .collect();
    for (name, latencies) in [("with.csv.zst", true), ("without.csv", false)] {
        let path = directory.path().join(name);
        let mut writer = Writer::create(&path, OutputFormat::Csv { latencies }).unwrap();
        for record in &records {
            writer.write(record).unwrap();
        }
        writer.finish().unwrap();
        let reader = Reader::open(&path, &ReadOptions::default()).unwrap();
        assert_eq!((reader.format(), reader.has_latencies()), (Format::Csv, latencies));
        let read: Vec<Record> = reader.map(Result::unwrap).collect();
        assert_eq!(read, if latencies { records.clone() } else { some_records() }, "{name}");
    }
}

#[test]
fn existing_file_is_not_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "kept.csv", "something else");
    let csv = OutputFormat::Csv { latencies: false };
    assert!(matches!(Writer::create(&path, csv), Err(TraceError::File { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "something else");
}

#[test]
fn bad_line_is_reported_or_counted() {
    let directory = tempfile::tempdir().unwrap();
    let text = "time_us,op,address,length\n1,write,0,4096\n2,write,oops,4096\n3,sync,0,0\n";
    let path = file(directory.path(), "a.csv", text);
    let error = read(&path, &ReadOptions::default()).unwrap_err();
    assert!(error.is_bad_line());
    let said = error.to_string();
    assert!(said.contains("line 3") && said.contains("oops") && said.contains("--skip-bad"), "{said}");
    let mut reader = Reader::open(&path, &ReadOptions { skip_bad: true, ..Default::default() }).unwrap();
    assert_eq!(reader.by_ref().map(Result::unwrap).count(), 2);
    assert_eq!(reader.bad_lines(), 1);
}

#[test]
fn foreign_empty_and_missing_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |path: &Path| Reader::open(path, &ReadOptions::default()).err().unwrap().to_string();
    let foreign = file(directory.path(), "cat.png", b"\x89PNG\r\n\x1a\n\0\0");
    assert!(refused(&foreign).contains("--format"));
    let empty = file(directory.path(), "empty", "");
    assert!(refused(&empty).contains("is empty"));
    assert!(refused(&directory.path().join("none")).contains("none"));
}

#[test]
fn truncated_compressed_file_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.csv.zst");
    let mut writer = Writer::create(&path, OutputFormat::Csv { latencies: false }).unwrap();
    for time_us in 0..10_000 {
        writer
            .write(&Record {
                time_us,
                operation: Operation::Write,
                address: time_us * 7919,
                length_bytes: 4096,
                latency_ns: None,
            })
            .unwrap();
    }
    writer.finish().unwrap();
    let whole = fs::read(&path).unwrap();
    let cut = file(directory.path(), "cut.csv.zst", &whole[..whole.len() / 2]);
    let error = read(&cut, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, TraceError::CutOff { .. }), "{error}");
    assert!(error.to_string().contains("zstd -dcq"), "{error}");
}

#[test]
fn trace_of_several_devices_needs_a_selection() {
    let directory = tempfile::tempdir().unwrap();
    let text = "128166372003061629,hm,0,Write,0,4096,1\n128166372003061639,hm,1,Write,8192,4096,1\n\
                128166372003061729,hm,0,Write,4096,4096,1\n";
    let path = file(directory.path(), "hm.csv", text);
    let said = read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(said.contains("hm.1") && said.contains("hm.0") && said.contains("--device"), "{said}");
    let options = ReadOptions { device: Some("hm.0".into()), ..Default::default() };
    let records = read(&path, &options).unwrap();
    let what: Vec<_> = records.iter().map(|record| (record.time_us, record.address)).collect();
    assert_eq!(what, [(0, 0), (10, 4096)], "times count from the first event");
}

#[test]
fn named_format_must_match_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |path: &Path, format| {
        read(path, &ReadOptions { format: Some(format), ..Default::default() }).unwrap_err().to_string()
    };
    let ours = file(directory.path(), "a.csv", "time_us,op,address,length\n1,write,0,4096\n");
    let said = refused(&ours, Format::Blkparse);
    assert!(said.contains("looks like a CSV") && said.contains("blkparse"), "{said}");
    let foreign = file(directory.path(), "notes", "one\ntwo\n");
    let said = refused(&foreign, Format::PerfScript);
    assert!(said.contains("2 lines") && said.contains("none of them"), "{said}");
    let header = file(directory.path(), "header.csv", "time_us,op,address,length\n");
    let csv = ReadOptions { format: Some(Format::Csv), ..Default::default() };
    assert_eq!(read(&header, &csv).unwrap(), [], "a trace may have no events");
}

#[test]
fn selected_device_must_exist() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |path: &Path, device: &str| {
        let options = ReadOptions { device: Some(device.into()), ..Default::default() };
        read(path, &options).unwrap_err().to_string()
    };
    let ours = file(directory.path(), "a.csv", "time_us,op,address,length\n1,write,0,4096\n");
    let said = refused(&ours, "8,0");
    assert!(said.contains("names no devices") && said.contains("--device"), "{said}");
    let msr = file(directory.path(), "hm.csv", "128166372003061629,hm,0,Write,0,4096,1\n");
    let said = refused(&msr, "hm.7");
    assert!(said.contains("no event of device hm.7") && said.contains("hm.0"), "{said}");
}

#[test]
fn impossible_request_is_a_bad_line() {
    let directory = tempfile::tempdir().unwrap();
    let text = "time_us,op,address,length\n1,write,18446744073709551615,4096\n2,write,9223372036854775807,1\n\
                3,write,0,0\n4,sync,0,0\n5,write,0,4096\n";
    let path = file(directory.path(), "a.csv", text);
    let said = read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(said.contains("line 2") && said.contains("beyond 2^63"), "{said}");
    let mut reader = Reader::open(&path, &ReadOptions { skip_bad: true, ..Default::default() }).unwrap();
    assert_eq!((reader.by_ref().map(Result::unwrap).count(), reader.bad_lines()), (2, 3));
}
