//! Workloads on modelled drives: figures and correctness.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

use nandle_io::{Device, Io};
use nandle_model::library::Model;
use nandle_model::media::{Contents, Media, MediaWorld, SharedMedia};
use nandle_model::world::Host;
use nandle_spill::{SpillCosts, SpillError};
use nandle_workloads::{
    Areas, InputContents, Operator, Outcome, Role, Workload, WorkloadError, World, fill, measure_costs, run,
};

const DISK: &str = "barracuda-7200.10";
const FLASH: &str = "samsung-mcaqe32";

/// The study's workload with a hundredth of the rows in a sixteenth of the memory.
fn small(operator: Operator) -> Workload {
    Workload { rows: 20_000, memory_bytes: 128 << 10, ..Workload::of_the_study(operator) }
}

/// A modelled drive that keeps contents, with these initial contents.
fn drive(name: &str, contents: Option<Contents>) -> (Box<dyn Io>, Device, SharedMedia) {
    let device = Model::named(name).unwrap().device().unwrap();
    let media = contents.map_or_else(|| device.media(), Media::on);
    let mut world = MediaWorld::modelled(Host::with_slots(256));
    let (device, media) = world.add(device, media);
    (Box::new(world), device, media)
}

/// A world with everything on one drive.
fn on(drive: &str, workload: &Workload, contents: InputContents) -> World {
    let (io, device, _) = self::drive(drive, None);
    world(io, &device, workload, contents)
}

fn world(io: Box<dyn Io>, device: &Device, workload: &Workload, contents: InputContents) -> World {
    Areas::of(workload).unwrap().in_world(io, Some(device), device, Some(device), contents).unwrap()
}

fn ran(world: World, workload: &Workload) -> Outcome {
    run(world, workload, &SpillCosts::default(), &|| false).unwrap()
}

#[test]
fn sorts_and_joins_are_correct_and_repeatable() {
    for operator in [Operator::Sort, Operator::Join] {
        for drive in [DISK, FLASH] {
            let workload = small(operator);
            let outcome = ran(on(drive, &workload, InputContents::Generated), &workload);
            assert_eq!(outcome.result_records, workload.rows);
            assert!(outcome.phases.iter().all(|phase| phase.elapsed_ns > 0), "{outcome:?}");
            assert_eq!(outcome.elapsed_ns, outcome.phase_ns(0) + outcome.phase_ns(1));
            let again = ran(on(drive, &workload, InputContents::Generated), &workload);
            assert_eq!(outcome, again, "{operator:?} on {drive}");
            let other = Workload { seed: 2, ..workload };
            assert_ne!(outcome, ran(on(drive, &other, InputContents::Generated), &other), "{operator:?}");
        }
    }
}

#[test]
fn requests_are_counted() {
    let workload = small(Operator::Sort);
    let outcome = ran(on(FLASH, &workload, InputContents::Generated), &workload);
    let [input, temporary, output] = Role::ALL.map(|role| *outcome.area(role).unwrap());
    // 2 MB in whole rows: two requests of 1 MiB.
    assert_eq!((input.read_requests, input.read_bytes, input.write_requests), (2, 2 << 20, 0));
    assert_eq!((output.write_requests, output.written_bytes, output.read_requests), (2, 2 << 20, 0));
    assert!(
        temporary.written_bytes > workload.table_bytes() && temporary.read_bytes > workload.table_bytes()
    );
    let pattern = outcome.pattern.unwrap();
    assert_eq!(
        (pattern.read_requests, pattern.write_requests),
        (temporary.read_requests, temporary.write_requests)
    );
    let last = pattern.writes.last().unwrap();
    assert!(
        last.at_ns <= outcome.elapsed_ns
            && last.offset_bytes + last.length_bytes < 3 * workload.table_bytes()
    );
}

/// The study's finding for both operators: temporary data is written sequentially and read at
/// random.
#[test]
fn writes_are_sequential_and_reads_mostly_are_not() {
    for operator in [Operator::Sort, Operator::Join] {
        let workload = Workload { cluster_bytes: Some(4096), ..small(operator) };
        let outcome = ran(on(FLASH, &workload, InputContents::Generated), &workload);
        let temporary = outcome.area(Role::Temporary).unwrap();
        assert!(temporary.sequential_writes_share > Some(0.9), "{operator:?}: {temporary:?}");
        assert!(temporary.sequential_reads_share < Some(0.5), "{operator:?}: {temporary:?}");
    }
}

#[test]
fn input_may_come_from_the_device() {
    for operator in [Operator::Sort, Operator::Join] {
        let workload = small(operator);
        let (io, device, media) = drive(FLASH, None);
        fill(world(io, &device, &workload, InputContents::OnDevice), &workload).unwrap();
        let filled = media.borrow().contents().clone();
        let (io, device, _) = drive(FLASH, Some(filled));
        let outcome = ran(world(io, &device, &workload, InputContents::OnDevice), &workload);
        assert_eq!(outcome.result_records, workload.rows);
    }
}

#[test]
fn missing_input_rows_are_detected_in_the_result() {
    let workload = small(Operator::Sort);
    let world = on(FLASH, &workload, InputContents::OnDevice);
    let result = run(world, &workload, &SpillCosts::default(), &|| false);
    assert!(matches!(result, Err(WorkloadError::Wrong { .. })), "{result:?}");
}

#[test]
fn part_without_a_device_takes_no_time() {
    let workload = small(Operator::Sort);
    let whole = ran(on(DISK, &workload, InputContents::Generated), &workload);
    let (io, device, _) = drive(DISK, None);
    let areas = Areas::of(&workload).unwrap();
    let alone = areas.in_world(io, None, &device, None, InputContents::Generated).unwrap();
    let alone = ran(alone, &workload);
    assert_eq!(alone.result_records, workload.rows);
    assert!(alone.elapsed_ns < whole.elapsed_ns, "{} and {}", alone.elapsed_ns, whole.elapsed_ns);
    assert_eq!(alone.area(Role::Input).unwrap().read_requests, 0);
}

#[test]
fn measured_costs_reflect_the_drive() {
    let measured = |name: &str| {
        let workload = Workload::of_the_study(Operator::Sort);
        measure_costs(on(name, &workload, InputContents::Generated)).unwrap()
    };
    let (disk, flash) = (measured(DISK), measured(FLASH));
    assert_eq!(disk, measured(DISK), "the same every time");
    let small_reads = |costs: &SpillCosts| costs.random_reads[0].bytes_per_second;
    assert!(small_reads(&flash) > 5.0 * small_reads(&disk), "{flash:?} {disk:?}");
    // The drives' files: 129 MB/s on the outermost tracks; the study's flash drive writes up to 32
    // MB/s.
    assert!((110e6..135e6).contains(&disk.write_bytes_per_second), "{}", disk.write_bytes_per_second);
    assert!((20e6..35e6).contains(&flash.write_bytes_per_second), "{}", flash.write_bytes_per_second);
}

#[test]
fn invalid_workloads_are_refused() {
    let study = Workload::of_the_study(Operator::Sort);
    for wrong in [
        Workload { rows: 0, ..study },
        Workload { key_bytes: 7, ..study },
        Workload { key_bytes: 101, ..study },
        Workload { row_bytes: 1 << 20, ..study },
    ] {
        assert!(matches!(Areas::of(&wrong), Err(WorkloadError::Options { .. })), "{wrong:?}");
    }
    let workload = small(Operator::Sort);
    let no_memory = Workload { memory_bytes: 1 << 10, ..workload };
    let world = on(FLASH, &workload, InputContents::Generated);
    let result = run(world, &no_memory, &SpillCosts::default(), &|| false);
    assert!(matches!(result, Err(WorkloadError::Spill(SpillError::Memory { .. }))), "{result:?}");
    let too_many = Workload { rows: 1 << 40, ..study };
    let (_, device, _) = drive(FLASH, None);
    let areas = Areas::of(&too_many).unwrap();
    assert!(matches!(areas.on(Role::Input, &device), Err(WorkloadError::TooSmall { .. })));
}

#[test]
fn run_can_be_cancelled() {
    let workload = small(Operator::Join);
    let world = on(FLASH, &workload, InputContents::Generated);
    let result = run(world, &workload, &SpillCosts::default(), &|| true);
    assert!(matches!(result, Err(WorkloadError::Cancelled)), "{result:?}");
}
