//! Planned reads, in this thread and in another, give the same rows as reads one by one.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test's way to fail"
)]

mod support;

use std::path::Path;
use std::sync::Arc;

use nandle_columns::{
    BatchDecoder, CodeDecoder, ColumnsError, Layout, Place, PumpedBytes, ScanPlan, ScanSpec, StepBytes,
    StreamedBytes, Table, TableOptions,
};
use nandle_io::{DeviceFile, DeviceId, FileOptions, Io, Threads};
use nandle_reads::{Estimate, Owner, Plan, PlanOptions, ReadCosts, ReadFile, RequestCost, Scan};
use support::{batches, everything, flights, schema, text};

fn devices(directory: &Path, plan: &ScanPlan) -> Vec<DeviceFile> {
    let open = |name: &str| std::fs::File::open(directory.join(name)).unwrap();
    plan.files()
        .iter()
        .map(|file| DeviceFile::new(open(file.name()), FileOptions::default()).unwrap())
        .collect()
}

fn world(files: Vec<DeviceFile>) -> (Threads, Vec<DeviceId>) {
    let mut world = Threads::new(16);
    let ids = files.into_iter().map(|file| world.add(Arc::new(file)).id).collect();
    (world, ids)
}

/// A device with 100 µs latency and 1 GB/s.
fn costs() -> ReadCosts {
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

struct Prepared {
    table: Table,
    rows: Vec<String>,
    _directory: tempfile::TempDir,
}

fn prepared() -> (Prepared, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let layout = Layout { page_bytes: 3000, row_group_rows: 7000, file_rows: 15_000, ..Layout::default() };
    let options = TableOptions { layout, ..TableOptions::new(schema(), 1) };
    let table = Table::create(directory.path(), &options).unwrap();
    let rows = flights(3, 20_000, 4);
    let mut writer = table.load().unwrap();
    writer.write(&rows).unwrap();
    writer.commit().unwrap();
    let path = directory.path().to_owned();
    (Prepared { table, rows: text(&rows), _directory: directory }, path)
}

fn read_files(plan: &ScanPlan, devices: &[DeviceFile], ids: &[DeviceId]) -> Arc<[ReadFile]> {
    let files = plan.files().iter().zip(devices).zip(ids);
    files
        .map(|((file, device), id)| file.read_file(*id, 0, device.shape().logical_block_bytes).unwrap())
        .collect()
}

fn planned(plan: &ScanPlan, files: &[ReadFile]) -> Arc<Plan> {
    let files: Vec<_> = files.iter().map(|file| file.plan.clone()).collect();
    Arc::new(Plan::new(plan.wants().to_vec(), &files, &costs(), PlanOptions::new(1 << 20)).unwrap())
}

fn decoded(plan: &ScanPlan, bytes: &mut dyn StepBytes) -> Result<Vec<String>, ColumnsError> {
    let mut decoder = BatchDecoder::new(plan);
    let mut rows = Vec::new();
    while let Some(batch) = decoder.next(bytes)? {
        rows.extend(text(&batch));
    }
    Ok(rows)
}

#[test]
fn reads_by_plan_give_the_rows() {
    let (prepared, path) = prepared();
    let snapshot = prepared.table.snapshot().unwrap();
    let spec = ScanSpec { step_rows: 1024, ..everything(&snapshot) };
    let plan = snapshot.scan(&spec).unwrap();
    let opened = devices(&path, &plan);
    let ids_of = devices(&path, &plan);
    let (mut world, ids) = world(opened);
    let files = read_files(&plan, &ids_of, &ids);
    let reads = planned(&plan, &files);
    let scan = Scan::new(&mut world, Arc::clone(&files), Arc::clone(&reads)).unwrap();
    let mut bytes = PumpedBytes::new(&plan, scan);
    assert!(decoded(&plan, &mut bytes).unwrap() == prepared.rows);
    let counts = bytes.scan().counts().clone();
    assert!(counts.requests > 1 && counts.requests < plan.wants().len() as u64, "{counts:?}");
    drop(bytes);
    // Code decoders persist from step to step without using the pump's memory.
    let mut bytes = PumpedBytes::new(&plan, Scan::new(&mut world, files, reads).unwrap());
    let mut decoder = CodeDecoder::new(&plan);
    let mut rows = 0;
    while let Some(batch) = decoder.next(&mut bytes).unwrap() {
        rows += batch.rows;
    }
    assert_eq!(rows, 20_000);
}

#[test]
fn another_thread_reads_as_well() {
    let (prepared, path) = prepared();
    let snapshot = prepared.table.snapshot().unwrap();
    let plan = snapshot.scan(&ScanSpec { step_rows: 1024, ..everything(&snapshot) }).unwrap();
    let opened = devices(&path, &plan);
    let shapes = devices(&path, &plan);
    let (sender, receiver) = std::sync::mpsc::channel();
    let open = move || {
        let (world, ids) = world(opened);
        sender.send(ids).unwrap();
        Ok(Box::new(world) as Box<dyn Io>)
    };
    let owner = Owner::start("reads", open).unwrap();
    let files = read_files(&plan, &shapes, &receiver.recv().unwrap());
    let reads = planned(&plan, &files);
    let mut bytes = StreamedBytes::new(&plan, owner.scan(files, reads, 1 << 18));
    assert!(decoded(&plan, &mut bytes).unwrap() == prepared.rows);
}

#[test]
fn damage_is_found_by_the_reads_and_named() {
    let (prepared, path) = prepared();
    let snapshot = prepared.table.snapshot().unwrap();
    let plan = snapshot.scan(&ScanSpec::of(["id"])).unwrap();
    let want = plan.wants()[plan.wants().len() - 1];
    let name = plan.files()[want.file.0 as usize].name();
    let mut bytes = std::fs::read(path.join(name)).unwrap();
    bytes[(want.offset_bytes + want.length_bytes / 2) as usize] ^= 1;
    std::fs::write(path.join(name), bytes).unwrap();
    let (mut world, ids) = world(devices(&path, &plan));
    let files = read_files(&plan, &devices(&path, &plan), &ids);
    let reads = planned(&plan, &files);
    let mut bytes = PumpedBytes::new(&plan, Scan::new(&mut world, files, reads).unwrap());
    let error = decoded(&plan, &mut bytes).unwrap_err();
    let groups = plan.files()[want.file.0 as usize].metadata().num_row_groups();
    let chunk = Place::of_chunk(name, groups - 1, "id");
    assert!(matches!(&error, ColumnsError::Damaged { place, .. } if *place == chunk), "{error}");
    assert!(batches(&snapshot, &ScanSpec::of(["origin"])).len() == 20_000);
}
