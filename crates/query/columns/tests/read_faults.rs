//! A failed or damaged read at each request of a scan on a modelled drive causes an error that
//! names the file, no wrong row, and the end of the scan.
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
    BatchDecoder, CodeDecoder, ColumnsError, Layout, PumpedBytes, ScanPlan, ScanSpec, StepBytes,
    StreamedBytes, Table, TableOptions,
};
use nandle_io::{Arena, Device, Io, Nanos, Operation, Request, Wait};
use nandle_model::library::Model;
use nandle_model::media::{Fault, FaultPlan, MediaWorld, When, faults::Lasts};
use nandle_model::world::{Host, ModelWorld};
use nandle_reads::{Estimate, Owner, Plan, PlanOptions, ReadCosts, ReadFile, RequestCost, Scan, Strategy};
use support::{everything, flights, schema, text};

const PLACE_BYTES: u64 = 1 << 20;

struct Case {
    files: Vec<Vec<u8>>,
    plan: ScanPlan,
    rows: Vec<String>,
    _directory: tempfile::TempDir,
}

fn case() -> Case {
    let directory = tempfile::tempdir().unwrap();
    let layout = Layout { page_bytes: 2000, row_group_rows: 1500, file_rows: 2500, ..Layout::default() };
    let options = TableOptions { layout, ..TableOptions::new(schema(), 1) };
    let table = Table::create(directory.path(), &options).unwrap();
    let rows = flights(3, 4000, 4);
    let mut writer = table.load().unwrap();
    writer.write(&rows).unwrap();
    writer.commit().unwrap();
    let snapshot = table.snapshot().unwrap();
    let plan = snapshot.scan(&ScanSpec { step_rows: 500, ..everything(&snapshot) }).unwrap();
    let read = |name: &str| std::fs::read(Path::new(directory.path()).join(name)).unwrap();
    let files = plan.files().iter().map(|file| read(file.name())).collect();
    Case { files, plan, rows: text(&rows), _directory: directory }
}

/// A drive with the files in sequence, and a fault from the first read on.
fn world(files: &[Vec<u8>], fault: Option<(Fault, u64)>) -> (MediaWorld<ModelWorld>, Device) {
    let model = Model::named("x25-m-g2").unwrap().with_capacity_bytes(4 << 30).unwrap().device().unwrap();
    let mut world = MediaWorld::modelled(Host { slots: 64, request_cpu: Host::REQUEST_CPU });
    let plan = fault.map_or_else(FaultPlan::none, |(fault, nth)| {
        FaultPlan::seeded(7).and(fault, When::Operation(files.len() as u64 + nth))
    });
    let media = model.media().with_faults(plan);
    let (device, _) = world.add(model, media);
    for (bytes, place) in files.iter().zip(0..) {
        let length = bytes.len().next_multiple_of(4096);
        assert!(length as u64 <= PLACE_BYTES);
        let arena = Arena::new(length).unwrap();
        let mut buffer = arena.allocate(length).unwrap();
        buffer[..bytes.len()].copy_from_slice(bytes);
        let operation = Operation::write(place * PLACE_BYTES, buffer.freeze());
        world.submit(device.id, Request { token: 0, operation }).unwrap();
        let mut completions = Vec::new();
        world.reap(Wait::until_completed(1), &mut completions);
        assert!(completions[0].result.is_ok());
    }
    (world, device)
}

fn costs() -> ReadCosts {
    let random = [4096_u64, 65_536].into_iter().flat_map(|request_bytes| {
        [1_u32, 8].map(|depth| RequestCost {
            request_bytes,
            depth,
            seconds: Estimate::exact((100e-6 / f64::from(depth)).max(request_bytes as f64 / 250e6)),
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

fn read_files(plan: &ScanPlan, device: &Device) -> Arc<[ReadFile]> {
    let files = plan.files().iter().zip(0..);
    files.map(|(file, place)| file.read_file(device.id, place * PLACE_BYTES, 512).unwrap()).collect()
}

fn reads(plan: &ScanPlan, files: &[ReadFile], strategy: Strategy) -> Arc<Plan> {
    let files: Vec<_> = files.iter().map(|file| file.plan.clone()).collect();
    let options = PlanOptions { strategy, ..PlanOptions::new(1 << 20) };
    Arc::new(Plan::new(plan.wants().to_vec(), &files, &costs(), options).unwrap())
}

/// Rows received, and the final result.
fn rows(plan: &ScanPlan, bytes: &mut dyn StepBytes) -> (Vec<String>, Result<(), ColumnsError>) {
    let mut decoder = BatchDecoder::new(plan);
    let mut rows = Vec::new();
    loop {
        match decoder.next(bytes) {
            Ok(Some(batch)) => rows.extend(text(&batch)),
            Ok(None) => return (rows, Ok(())),
            Err(error) => return (rows, Err(error)),
        }
    }
}

const STRATEGIES: [Strategy; 3] =
    [Strategy::Flexible, Strategy::FixedBlock { block_bytes: None }, Strategy::OneByOne { depth: 4 }];

#[test]
fn every_request_fails_once() {
    let case = case();
    let faults = [
        Fault::FailedRead(Lasts::Once),
        Fault::FailedRead(Lasts::Sticky),
        Fault::DamagedRead,
        Fault::StaleRead,
    ];
    let (mut failed, mut all) = (0, 0);
    for (strategy, fault) in STRATEGIES.into_iter().flat_map(|how| faults.map(|fault| (how, fault))) {
        let (_, device) = world(&case.files, None);
        let files = read_files(&case.plan, &device);
        let plan = reads(&case.plan, &files, strategy);
        // With many requests, every `n`th suffices.
        let requests = plan.reads().len() as u64;
        for nth in (0..requests).step_by(requests.div_ceil(60) as usize) {
            all += 1;
            let (mut world, _) = world(&case.files, Some((fault, nth)));
            let scan = Scan::new(&mut world, Arc::clone(&files), Arc::clone(&plan)).unwrap();
            let mut bytes = PumpedBytes::new(&case.plan, scan);
            let (got, ended) = rows(&case.plan, &mut bytes);
            drop(bytes);
            assert_eq!(world.in_flight(), 0);
            assert!(
                case.rows.starts_with(&got),
                "{strategy:?}, {fault:?} at {nth}: a row that isn't the table's"
            );
            let Err(error) = ended else {
                assert!(got.len() == case.rows.len(), "{strategy:?}, {fault:?} at {nth}: rows are missing");
                continue;
            };
            failed += 1;
            let named = case.plan.files().iter().any(|file| error.to_string().contains(file.name()));
            assert!(named, "{error}");
        }
    }
    assert!(failed > 100 && failed * 10 > all * 9, "{failed} of {all} were noticed");
}

#[test]
fn codes_are_never_of_bytes_that_failed() {
    let case = case();
    let (_, device) = world(&case.files, None);
    let files = read_files(&case.plan, &device);
    let plan = reads(&case.plan, &files, Strategy::Flexible);
    for nth in 0..plan.reads().len() as u64 {
        let (mut world, _) = world(&case.files, Some((Fault::DamagedRead, nth)));
        let scan = Scan::new(&mut world, Arc::clone(&files), Arc::clone(&plan)).unwrap();
        let mut bytes = PumpedBytes::new(&case.plan, scan);
        let mut decoder = CodeDecoder::new(&case.plan);
        let mut rows = 0;
        let ended = loop {
            match decoder.next(&mut bytes) {
                Ok(Some(batch)) => rows += batch.rows,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        assert!(ended.is_err() || rows == case.rows.len());
        assert!(rows < case.rows.len() || ended.is_ok(), "what is whole has no error");
    }
}

/// Streams of another thread end with the same error.
#[test]
fn a_thread_that_reads_tells_of_it() {
    let case = case();
    let (_, device) = world(&case.files, None);
    let files = read_files(&case.plan, &device);
    let plan = reads(&case.plan, &files, Strategy::Flexible);
    for nth in 0..plan.reads().len() as u64 {
        let contents = case.files.clone();
        let fault = Some((Fault::FailedRead(Lasts::Once), nth));
        let owner =
            Owner::start("reads", move || Ok(Box::new(world(&contents, fault).0) as Box<dyn Io>)).unwrap();
        let stream = owner.scan(Arc::clone(&files), Arc::clone(&plan), 1 << 18);
        let (got, ended) = rows(&case.plan, &mut StreamedBytes::new(&case.plan, stream));
        assert!(case.rows.starts_with(&got));
        match ended {
            Ok(()) => assert_eq!(got.len(), case.rows.len()),
            Err(error) => assert!(error.to_string().contains("data/"), "{error}"),
        }
    }
}

/// Delay isn't a fault.
#[test]
fn a_slow_request_changes_nothing() {
    let case = case();
    let slow = Fault::LatencySpike { extra_ns: Nanos::from_secs(30).0 };
    let (mut world, device) = world(&case.files, Some((slow, 3)));
    let files = read_files(&case.plan, &device);
    let plan = reads(&case.plan, &files, Strategy::OneByOne { depth: 4 });
    let scan = Scan::new(&mut world, files, plan).unwrap();
    let (got, ended) = rows(&case.plan, &mut PumpedBytes::new(&case.plan, scan));
    ended.unwrap();
    assert!(got == case.rows);
    assert!(world.now().0 > 30_000_000_000);
}
