//! Tables of generated flights, their reference cubes, and cubes of projections.

#![allow(dead_code, unreachable_pub, reason = "each test takes what it needs")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "these are tests")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use nandle_columns::{Layout, Snapshot, Table, TableOptions};
use nandle_flights::{
    Column, CubeError, CubeQuery, CubeReads, CubeRun, Generator, flight_schema, sorted_cube,
};
use nandle_io::{DeviceFile, FileOptions, Io, Nanos, Threads};
use nandle_reads::{Estimate, HostCosts, Owner, PlanOptions, ReadCosts, ReadFile, RequestCost};

/// Groups as text with their counts.
pub type Groups = BTreeMap<Vec<String>, u64>;

pub fn table(directory: &Path, rows: u64, file_rows: u64) -> Generator {
    let generator = Generator::new(rows, 3).unwrap();
    let chunks = (0..generator.chunks()).map(|chunk| generator.chunk(chunk).unwrap());
    write(directory, chunks, file_rows);
    generator
}

/// Writes the same rows in another order.
pub fn table_in_order(directory: &Path, rows: u64, file_rows: u64, order: impl Fn(&mut [u32])) -> Generator {
    let generator = Generator::new(rows, 3).unwrap();
    let chunks: Vec<_> = (0..generator.chunks()).map(|chunk| generator.chunk(chunk).unwrap()).collect();
    let all = concat_batches(&flight_schema(), &chunks).unwrap();
    let mut places: Vec<u32> = (0..u32::try_from(all.num_rows()).unwrap()).collect();
    order(&mut places);
    let ordered = take_record_batch(&all, &UInt32Array::from(places)).unwrap();
    write(directory, [ordered].into_iter(), file_rows);
    generator
}

fn write(directory: &Path, batches: impl Iterator<Item = RecordBatch>, file_rows: u64) {
    let layout =
        Layout { page_bytes: 4096, row_group_rows: file_rows / 3 + 1, file_rows, ..Layout::default() };
    let options = TableOptions { layout, ..TableOptions::new(flight_schema(), 1) };
    let mut writer = Table::create(directory, &options).unwrap().load().unwrap();
    batches.for_each(|batch| writer.write(&batch).unwrap());
    writer.commit().unwrap();
}

/// Scatters the rows of each month.
pub fn shuffle(places: &mut [u32]) {
    let length = places.len() as u64;
    let from = places.to_vec();
    for (number, place) in (0..).zip(places.iter_mut()) {
        // A prime that doesn't divide the length gives a permutation.
        *place = from[usize::try_from(number * 7_368_787 % length).unwrap()];
    }
}

pub fn costs() -> ReadCosts {
    let random = [4096_u64, 65_536, 1 << 20].into_iter().flat_map(|request_bytes| {
        let transfer = request_bytes as f64 / 1e9;
        [1_u32, 8].map(|depth| RequestCost {
            request_bytes,
            depth,
            seconds: Estimate::exact((100e-6 / f64::from(depth)).max(transfer)),
        })
    });
    ReadCosts {
        logical_block_bytes: 512,
        largest_request_bytes: 1 << 20,
        random: random.collect(),
        sequential: Vec::new(),
        batches: Vec::new(),
        sequences: Vec::new(),
        price_error: 0.0,
    }
}

/// An owner of a snapshot's files.
pub fn owner(directory: &Path, snapshot: &Snapshot) -> (Owner, Arc<[ReadFile]>) {
    let open = |name: &str| {
        let file = std::fs::File::open(directory.join(name)).unwrap();
        DeviceFile::new(file, FileOptions::default()).unwrap()
    };
    let opened: Vec<DeviceFile> = snapshot.files().iter().map(|file| open(file.name())).collect();
    let (sender, receiver) = std::sync::mpsc::channel();
    let owner = Owner::start("reads", move || {
        let mut world = Threads::new(16);
        let devices: Vec<_> = opened.into_iter().map(|file| world.add(Arc::new(file))).collect();
        sender.send(devices).unwrap();
        Ok(Box::new(world) as Box<dyn Io>)
    });
    let devices = receiver.recv().unwrap();
    let files = snapshot.files().iter().zip(devices);
    let files = files
        .map(|(file, device)| file.read_file(device.id, 0, device.shape.logical_block_bytes).unwrap())
        .collect();
    (owner.unwrap(), files)
}

pub fn text(array: &ArrayRef, row: usize) -> String {
    let format = FormatOptions::new().with_null("missing");
    ArrayFormatter::try_new(array.as_ref(), &format).unwrap().value(row).to_string()
}

pub fn add(batch: &RecordBatch, into: &mut Groups) {
    let keys = batch.num_columns() - 1;
    for row in 0..batch.num_rows() {
        let group: Vec<String> = (0..keys).map(|column| text(batch.column(column), row)).collect();
        let count = text(batch.column(keys), row).parse().unwrap();
        assert!(into.insert(group, count).is_none(), "a group came twice");
    }
}

pub fn plainly(generator: &Generator, query: CubeQuery) -> Groups {
    let texts = |column: Column| {
        let values = generator.values(column).unwrap();
        (0..values.len()).map(|row| text(&values, row)).collect::<Vec<_>>()
    };
    let columns = query.columns();
    let values: Vec<Vec<String>> = columns.iter().map(|column| texts(*column)).collect();
    let mut plain: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    for number in 0..generator.chunks() {
        let codes = generator.codes(number);
        let codes: Vec<&[u32]> = columns.iter().map(|column| codes.column(*column).unwrap()).collect();
        for row in 0..codes[0].len() {
            *plain.entry(codes.iter().map(|column| column[row]).collect()).or_default() += 1;
        }
    }
    let named = |codes: &[u32]| {
        codes.iter().zip(&values).map(|(code, names)| names[*code as usize].clone()).collect()
    };
    plain.iter().map(|(codes, count)| (named(codes), *count)).collect()
}

thread_local! {
    static TICKS: Cell<u64> = const { Cell::new(0) };
}

/// Advances by ten nanoseconds per call.
pub fn ticking() -> Nanos {
    TICKS.set(TICKS.get() + 10);
    Nanos(TICKS.get())
}

/// Access to a snapshot's files.
pub fn reads<'a>(owner: &'a Owner, files: Arc<[ReadFile]>, costs: &'a ReadCosts) -> CubeReads<'a> {
    CubeReads {
        owner,
        files,
        host: HostCosts::default(),
        costs,
        options: PlanOptions::new(4 << 20),
        copies_bytes: 1 << 20,
    }
}

/// A cube of sorted rows.
pub fn sorted(
    directory: &Path,
    projection: &Snapshot,
    query: CubeQuery,
) -> Result<(Groups, CubeRun), CubeError> {
    let (owner, files) = owner(directory, projection);
    let costs = costs();
    let mut groups = Groups::new();
    let reads = reads(&owner, files, &costs);
    let run = sorted_cube(projection, query, &reads, ticking, &mut |batch| add(&batch, &mut groups))?;
    Ok((groups, run))
}
