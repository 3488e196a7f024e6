//! Arrow IPC files in both formats are read as written; truncated, changed and hostile ones are
//! rejected with little memory.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "these are tests")]

use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use nandle_flights::{ArrowFile, ArrowFileError, Generator, flight_schema};
use peak_alloc::PeakAlloc;
use proptest::prelude::*;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.directory.path().join("flights.arrow");
        std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
        path
    }

    fn read(&self, bytes: &[u8]) -> Result<Vec<RecordBatch>, ArrowFileError> {
        let mut file = ArrowFile::open(&self.file(bytes))?;
        let mut batches = Vec::new();
        while let Some(batch) = file.next_batch()? {
            assert_eq!(batch.schema().fields().len(), file.schema().fields().len());
            batches.push(batch);
        }
        Ok(batches)
    }
}

fn flights() -> &'static [RecordBatch] {
    static FLIGHTS: OnceLock<Vec<RecordBatch>> = OnceLock::new();
    FLIGHTS.get_or_init(|| {
        let flights = Generator::new(90, 5).unwrap().chunk(0).unwrap();
        assert_eq!(flights.schema(), flight_schema());
        // One dictionary for all batches, as the file format requires.
        [0..40, 40..41, 41..90].map(|rows| flights.slice(rows.start, rows.len())).into()
    })
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Stream,
    File,
}

fn written(format: Format, compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut bytes = Vec::new();
    match format {
        Format::Stream => {
            let mut writer =
                StreamWriter::try_new_with_options(&mut bytes, &flight_schema(), options).unwrap();
            for batch in flights() {
                writer.write(batch).unwrap();
            }
            writer.finish().unwrap();
        }
        Format::File => {
            let mut writer = FileWriter::try_new_with_options(&mut bytes, &flight_schema(), options).unwrap();
            for batch in flights() {
                writer.write(batch).unwrap();
            }
            writer.finish().unwrap();
        }
    }
    bytes
}

#[test]
fn both_formats_are_read_packed_or_not() {
    let place = Place::new();
    for format in [Format::Stream, Format::File] {
        for packed in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
            let read = place.read(&written(format, packed)).unwrap();
            assert!(read == flights(), "{format:?}, {packed:?}");
        }
    }
}

#[test]
fn every_cut_is_noticed() {
    let place = Place::new();
    for format in [Format::Stream, Format::File] {
        let whole = written(format, Some(CompressionType::LZ4_FRAME));
        let cuts = (0..64).chain((64..whole.len()).step_by(97)).chain(whole.len() - 40..whole.len());
        for bytes in cuts {
            let error = place.read(&whole[..bytes]).unwrap_err();
            assert!(error.to_string().contains("flights.arrow"), "{error}");
        }
    }
    let longer = [written(Format::Stream, None), b"more".to_vec()].concat();
    assert!(place.read(&longer).is_err(), "nothing is behind the end");
}

/// Changes the lengths stated in a file.
#[test]
fn lengths_beyond_the_file_take_no_memory() {
    let place = Place::new();
    let whole = written(Format::Stream, Some(CompressionType::ZSTD));
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let mut refused = 0;
    for at in (0..whole.len() - 8).step_by(24) {
        for length in [1_i64 << 40, i64::MAX, -2, 1 << 31] {
            let mut bytes = whole.clone();
            bytes[at..at + 8].copy_from_slice(&length.to_le_bytes());
            refused += usize::from(place.read(&bytes).is_err());
        }
    }
    assert!(refused > 100, "{refused}");
    let taken = MEMORY.peak_usage() - before;
    assert!(taken < 64 << 20, "{taken} bytes at once");
}

#[test]
fn a_batch_that_takes_too_much_is_refused_before_it_is_unpacked() {
    let schema =
        arrow_schema::Schema::new(vec![arrow_schema::Field::new("n", arrow_schema::DataType::Int64, false)]);
    let zeros = arrow_array::Int64Array::from(vec![0; 80 << 20]);
    let batch = RecordBatch::try_new(schema.clone().into(), vec![std::sync::Arc::new(zeros)]).unwrap();
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new_with_options(&mut bytes, &schema, options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop((writer, batch));
    assert!(bytes.len() < 1 << 20);
    let error = Place::new().read(&bytes).unwrap_err();
    assert!(matches!(error, ArrowFileError::TooLarge { message: 2, .. }), "{error}");
}

#[test]
fn other_files_are_none() {
    let place = Place::new();
    for bytes in [
        &b""[..],
        b"ARROW1",
        b"ARROW1\0\0ARROW1",
        b"\xff\xff\xff\xff",
        b"\xff\xff\xff\xff\0\0\0\0",
        b"Year,Month\n",
        &[0xff; 300],
    ] {
        assert!(place.read(bytes).is_err(), "{bytes:?}");
    }
    let nowhere = ArrowFile::open(&place.directory.path().join("none.arrow")).unwrap_err();
    assert!(nowhere.to_string().contains("none.arrow"), "{nowhere}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn changed_files_are_errors_or_rows(
        is_file in any::<bool>(),
        packed in any::<bool>(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let format = if is_file { Format::File } else { Format::Stream };
        let mut bytes = written(format, packed.then_some(CompressionType::LZ4_FRAME));
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(batches) = Place::new().read(&bytes) {
            prop_assert!(batches.iter().map(RecordBatch::num_rows).sum::<usize>() <= 1 << 20);
        }
    }
}
