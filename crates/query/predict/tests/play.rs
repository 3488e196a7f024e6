//! Recordings on modelled devices and a real one.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

use std::time::SystemTime;

use nandle_io::Nanos;
use nandle_predict::{CostsSource, PlayedQuery, Player, PlayerOptions, PredictError};
use nandle_reads::recording::{QueryTotals, RecordedFile, RecordedQuery, Recording};
use nandle_reads::{FileId, Groups, PlanOptions, ReadsError, Strategy, Want};
use nandle_session::{Access, Cancel, Unobserved};

const BLOCK: u64 = 8192;
const MEMORY: u64 = 16 << 20;

/// Creates `steps` steps that each want every `stride`th block and compute for `cpu_after_ns`.
fn query(steps: u32, stride: u64, cpu_after_ns: u64) -> RecordedQuery {
    let want = |step| Want {
        file: FileId(step % 2),
        offset_bytes: u64::from(step / 2) * stride * BLOCK,
        length_bytes: BLOCK,
        step,
    };
    RecordedQuery {
        wants: (0..steps).map(want).collect(),
        cpu_after_ns: vec![cpu_after_ns; steps as usize],
        ..RecordedQuery::default()
    }
}

fn recording(queries: Vec<RecordedQuery>) -> Recording {
    let file = RecordedFile { name: None, length_bytes: (64 << 20) + 100, groups: Groups::Every(32 << 10) };
    Recording { files: vec![file.clone(), file], queries }
}

fn player(target: &str, recording: &Recording) -> Result<Player, PredictError> {
    cancellable(target, recording, &Cancel::default())
}

fn cancellable(target: &str, recording: &Recording, cancel: &Cancel) -> Result<Player, PredictError> {
    let options = PlayerOptions {
        access: Access::default(),
        costs: CostsSource::Probe(Some(Nanos::from_secs(5))),
        made_at: SystemTime::UNIX_EPOCH,
        cancel: cancel.clone(),
    };
    Player::open(&target.parse().unwrap(), recording, &options, &mut Unobserved)
}

fn of_strategy(strategy: Strategy) -> PlanOptions {
    PlanOptions { strategy, ..PlanOptions::new(MEMORY) }
}

fn played(target: &str, query: RecordedQuery, strategy: Strategy, cpu_scale: f64) -> PlayedQuery {
    let recording = recording(vec![query]);
    let mut player = player(target, &recording).unwrap();
    assert!(player.is_modelled());
    player.play(&recording.queries[0], of_strategy(strategy), cpu_scale).unwrap()
}

const DISK: &str = "model:wd2003fyys";
const FLASH: &str = "model:x25-m-g2";

#[test]
fn the_same_recording_takes_the_same_to_the_nanosecond() {
    let recording = recording(vec![query(500, 7, 30_000), query(40, 1, 0)]);
    let all = |order: &[usize]| {
        let mut player = player(FLASH, &recording).unwrap();
        let mut outcomes: Vec<_> = order
            .iter()
            .map(|index| {
                (
                    *index,
                    player.play(&recording.queries[*index], of_strategy(Strategy::Flexible), 1.0).unwrap(),
                )
            })
            .collect();
        outcomes.sort_by_key(|(index, _)| *index);
        outcomes
    };
    // Queries are independent of earlier ones.
    assert_eq!(all(&[0, 1]), all(&[1, 0]));
}

#[test]
fn computing_and_reading_overlap() {
    let (steps, cpu_ns) = (2000, 100_000);
    let reads = played(FLASH, query(steps, 7, 0), Strategy::FixedBlock { block_bytes: None }, 1.0);
    let both = played(FLASH, query(steps, 7, cpu_ns), Strategy::FixedBlock { block_bytes: None }, 1.0);
    let computing_ns = u64::from(steps) * cpu_ns;
    assert_eq!((reads.requests, both.requests), (2000, 2000));
    assert_eq!((reads.computing_ns, both.computing_ns), (0, computing_ns));
    assert!(both.time_ns >= computing_ns.max(reads.time_ns));
    assert!(both.time_ns < computing_ns + reads.time_ns / 2, "{both:?} {reads:?}");
    // Computation and requests are charged, each once.
    assert_eq!(both.cpu_ns, computing_ns + reads.cpu_ns);
}

#[test]
fn a_faster_processor_takes_its_share() {
    let slow = played(DISK, query(10, 1, 1_000_000_000), Strategy::Flexible, 1.0);
    let fast = played(DISK, query(10, 1, 1_000_000_000), Strategy::Flexible, 0.5);
    assert_eq!((slow.computing_ns, fast.computing_ns), (10_000_000_000, 5_000_000_000));
    assert!(slow.time_ns - fast.time_ns >= 4_900_000_000, "{slow:?} {fast:?}");
}

#[test]
fn one_after_the_other_pays_each_latency() {
    let scattered = || query(1000, 7, 0);
    let alone = played(FLASH, scattered(), Strategy::OneByOne { depth: 1 }, 1.0);
    let busy = played(FLASH, scattered(), Strategy::FixedBlock { block_bytes: None }, 1.0);
    let flexible = played(FLASH, scattered(), Strategy::Flexible, 1.0);
    assert_eq!((alone.depth_max, alone.requests), (1, 1000));
    assert!(alone.time_ns > 4 * busy.time_ns, "{} {}", alone.time_ns, busy.time_ns);
    assert!(flexible.time_ns <= busy.time_ns + busy.time_ns / 20, "{} {}", flexible.time_ns, busy.time_ns);
    let grouped = played(FLASH, scattered(), Strategy::WholeGroup, 1.0);
    // Adjacent groups may share a request.
    assert!(grouped.requests <= 1000);
    assert_eq!(grouped.read_bytes, 1000 * (32 << 10));
    assert_eq!(alone.wanted_bytes, 1000 * BLOCK);
}

#[test]
fn temporary_data_take_the_time_of_sequential_transfers() {
    let spilled = |bytes: u64| {
        let totals =
            QueryTotals { spilled_bytes: bytes, spill_read_bytes: 2 * bytes, result_rows: 1, took_ns: None };
        played(DISK, RecordedQuery { totals, ..query(2, 1, 0) }, Strategy::Flexible, 1.0)
    };
    assert_eq!(spilled(0).spill_ns, 0);
    let some = spilled(100_000_001);
    assert!(some.spill_ns < some.time_ns);
    // 300 MB in all, at 50 to 200 MB/s.
    assert!((1_500_000_000..6_000_000_000).contains(&some.spill_ns), "{some:?}");
}

#[test]
fn steps_that_need_nothing_compute_and_an_empty_query_takes_no_time() {
    let mut idle = query(2, 1, 5000);
    idle.cpu_after_ns.push(7000);
    let played_idle = played(DISK, idle, Strategy::Flexible, 1.0);
    assert_eq!(played_idle.computing_ns, 17_000);
    let nothing = played(DISK, RecordedQuery::default(), Strategy::Flexible, 1.0);
    assert_eq!((nothing.time_ns, nothing.requests), (0, 0));
    let computing = RecordedQuery { cpu_after_ns: vec![3000, 4000], ..RecordedQuery::default() };
    assert_eq!(played(DISK, computing, Strategy::Flexible, 1.0).time_ns, 7000);
}

#[test]
fn a_flash_model_that_is_too_small_grows_and_a_disk_is_refused() {
    let mut large = recording(vec![query(10, 1, 0)]);
    large.files[1].length_bytes = 20 << 30;
    let player_of = |target| player(target, &large);
    let grown = player_of(FLASH).unwrap();
    assert!(
        grown.remarks().iter().any(|remark| remark.contains("instead of 7.45GiB")),
        "{:?}",
        grown.remarks()
    );
    large.files[1].length_bytes = 3 << 40;
    let refused = player(DISK, &large).map(drop).unwrap_err();
    assert!(matches!(refused, PredictError::TooSmall { .. }), "{refused}");
}

#[test]
fn too_little_memory_says_how_much_is_needed() {
    let mut wide = query(1, 1, 0);
    wide.wants[0].length_bytes = 8 << 20;
    let recording = recording(vec![wide]);
    let mut player = player(DISK, &recording).unwrap();
    let error = player.play(&recording.queries[0], PlanOptions::new(1 << 20), 1.0).unwrap_err();
    let PredictError::Reads(ReadsError::Memory { memory_bytes, .. }) = error else { panic!("{error}") };
    assert!(player.play(&recording.queries[0], PlanOptions::new(memory_bytes), 1.0).is_ok());
}

#[test]
fn a_real_file_is_really_read() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let totals =
        QueryTotals { spilled_bytes: 3_000_000, spill_read_bytes: 3_000_000, result_rows: 0, took_ns: None };
    let recording = recording(vec![RecordedQuery { totals, ..query(50, 7, 20_000) }]);
    let mut player = player(directory.path().to_str().unwrap(), &recording).unwrap();
    assert!(!player.is_modelled());
    for strategy in [Strategy::Flexible, Strategy::OneByOne { depth: 1 }] {
        let outcome = player.play(&recording.queries[0], of_strategy(strategy), 1.0).unwrap();
        assert!(
            outcome.time_ns >= 50 * 20_000 && outcome.spill_ns > 0 && outcome.read_bytes >= 50 * BLOCK,
            "{outcome:?}"
        );
    }
    drop(player);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the test file is gone");
}

#[test]
fn a_query_is_cancelled_while_it_computes() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let hour_ns = 3600 * 1_000_000_000;
    let recording = recording(vec![query(2, 7, hour_ns), query(2, 7, 0)]);
    let cancel = Cancel::default();
    let mut player = cancellable(directory.path().to_str().unwrap(), &recording, &cancel).unwrap();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            cancel.cancel();
        });
        player.play(&recording.queries[0], of_strategy(Strategy::Flexible), 1.0)
    });
    assert!(matches!(outcome, Err(PredictError::Cancelled)), "{outcome:?}");
}

#[test]
fn temporary_data_are_cancelled_and_leave_nothing_in_flight() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let totals =
        QueryTotals { spilled_bytes: 3_000_000, spill_read_bytes: 3_000_000, result_rows: 0, took_ns: None };
    let recording = recording(vec![RecordedQuery { totals, ..RecordedQuery::default() }]);
    let cancel = Cancel::default();
    let mut player = cancellable(directory.path().to_str().unwrap(), &recording, &cancel).unwrap();
    cancel.cancel();
    for _ in 0..2 {
        let outcome = player.play(&recording.queries[0], of_strategy(Strategy::Flexible), 1.0);
        assert!(matches!(outcome, Err(PredictError::Cancelled)), "{outcome:?}");
    }
}
