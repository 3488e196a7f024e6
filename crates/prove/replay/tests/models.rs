//! Replays on modelled drives, in virtual time.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

use std::cell::Cell;
use std::rc::Rc;

use nandle_io::{Device, Io};
use nandle_model::library::Model;
use nandle_model::media::faults::Lasts;
use nandle_model::media::{Fault, FaultPlan, MediaWorld, When};
use nandle_model::world::Host;
use nandle_pages::{CreateOptions, OpenOptions, PolicyKind};
use nandle_replay::{
    Addresses, Candidate, CandidateOptions, Comparison, Durability, Failure, Method, PolicyOutcome,
    ReplayError, Watcher, Work, WorkOptions, replay, with_speedups,
};
use nandle_trace::{Operation, Record};

struct NullWatcher;

impl Watcher for NullWatcher {
    fn progress(&mut self, _policy: PolicyKind, share: f64) {
        assert!((0.0..=1.0).contains(&share));
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Writes all over 64 MiB, with a sync after every tenth.
fn work() -> Rc<Work> {
    let write = |number: u64| {
        let page = number.wrapping_mul(7919) % 16_384;
        Record {
            time_us: number,
            operation: Operation::Write,
            address: page * 4096,
            length_bytes: 4096,
            latency_ns: None,
        }
    };
    let records = (0..2_000).flat_map(|number| {
        let sync = Record { operation: Operation::Sync, length_bytes: 0, ..write(number) };
        // Programs sync repeatedly, but only the first sync has something to make durable.
        std::iter::once(write(number)).chain(std::iter::repeat_n(sync, if number % 10 == 9 { 3 } else { 0 }))
    });
    let options = WorkOptions { page_bytes: 4096, limit: None, addresses: Addresses::Keep };
    Rc::new(Work::read(records.map(Ok), options).unwrap())
}

fn drive(name: &str, faults: Option<FaultPlan>) -> (Box<dyn Io>, Device) {
    let mut world = MediaWorld::modelled(Host::with_slots(128));
    let device = Model::named(name).unwrap().device().unwrap();
    let media = match faults {
        Some(plan) => device.media().with_faults(plan),
        None => device.media(),
    };
    let (device, _) = world.add(device, media);
    (Box::new(world), device)
}

fn options(queue_depth: u32, durability: Durability) -> CandidateOptions {
    CandidateOptions { queue_depth, durability, open: OpenOptions::default(), compressible_percent: 0 }
}

fn run(
    policy: PolicyKind,
    (io, device): (Box<dyn Io>, Device),
    queue_depth: u32,
    durability: Durability,
) -> Result<PolicyOutcome, ReplayError> {
    run_work(&work(), policy, (io, device), queue_depth, durability)
}

fn run_work(
    work: &Rc<Work>,
    policy: PolicyKind,
    (io, device): (Box<dyn Io>, Device),
    queue_depth: u32,
    durability: Durability,
) -> Result<PolicyOutcome, ReplayError> {
    let create = CreateOptions::new(policy, 4096, work.pages);
    let candidate = Candidate::new(io, &device, &create, work, options(queue_depth, durability))?;
    let mut outcomes =
        replay(vec![candidate], Comparison { stretch_steps: 300, verify: true }, &mut NullWatcher)?;
    assert_eq!(outcomes.policies.len() + outcomes.failed.len(), 1);
    outcomes.failed.pop().map_or_else(|| Ok(outcomes.policies.remove(0)), |failure| Err(failure.error))
}

#[test]
fn every_policy_completes_the_work_and_keeps_every_page() {
    for policy in PolicyKind::ALL {
        for (queue_depth, durability) in
            [(1, Durability::Trace), (32, Durability::Each), (32, Durability::None)]
        {
            let outcome = run(policy, drive("mtron-16", None), queue_depth, durability).unwrap();
            assert_eq!((outcome.writes, outcome.verified_pages), (2_000, 2_000), "{policy}");
            assert!(outcome.write_amplification >= 1.0, "{policy}: {}", outcome.write_amplification);
            let drive = outcome.drive.unwrap();
            assert!(drive.flash_bytes_by_page_bytes > 1.0, "{policy}: {drive:?}");
            let flushes = outcome.flushes;
            let syncs = outcome.sync_latency_ns.and_then(|latency| latency.p50);
            assert_eq!(syncs.is_some(), durability == Durability::Trace, "{policy}: {syncs:?}");
            assert!(
                syncs != Some(0) || queue_depth > 1,
                "{policy}: syncs with nothing to do are not counted"
            );
            assert!(durability != Durability::Each || flushes >= 2_000 / 32, "{policy}: {flushes}");
            let last = outcome.samples.last().unwrap();
            assert_eq!((last.writes, last.elapsed_ns), (2_000, outcome.elapsed_ns), "{policy}");
        }
    }
}

/// Random writes in 64 MiB, to some pages more than once.
fn random_work(writes: u64) -> Work {
    random_work_within(writes, 16_384)
}

/// Random writes in a store of `pages` pages.
fn random_work_within(writes: u64, pages: u64) -> Work {
    let mut state = 7_u64;
    let records = (0..writes).map(|time_us| {
        state = state * 16_807 % 2_147_483_647;
        let address = state % pages * 4096;
        Record { time_us, operation: Operation::Write, address, length_bytes: 4096, latency_ns: None }
    });
    let options = WorkOptions { page_bytes: 4096, limit: None, addresses: Addresses::Keep };
    Work::read(records.map(Ok), options).unwrap()
}

/// A store of 64 MiB in which only the last page and the first 1024 pages are written, repeatedly.
fn few_pages_work() -> Work {
    let records = (0..1025_u64).map(|number| {
        let page = if number == 1024 { 16_383 } else { number };
        let address = page * 4096;
        Record { time_us: number, operation: Operation::Write, address, length_bytes: 4096, latency_ns: None }
    });
    let options = WorkOptions { page_bytes: 4096, limit: None, addresses: Addresses::Keep };
    Work::read(records.map(Ok), options).unwrap()
}

/// A new store has room for a trace, but a nearly full one must clean. The initial fill is in no
/// figure.
#[test]
fn full_store_and_several_passes_require_cleaning() {
    let [once, full] = [(1, 0), (2, 90)].map(|(passes, fill_percent)| {
        let mut work = random_work(8_000);
        (work.passes, work.fill_percent) = (passes, fill_percent);
        run_work(&Rc::new(work), PolicyKind::OutOfPlace, drive("mtron-16", None), 8, Durability::Trace)
            .unwrap()
    });
    assert_eq!((once.pages_cleaned, once.writes), (Some(0), 8_000));
    assert!(full.pages_cleaned.unwrap() > 1_000, "{full:?}");
    assert_eq!(full.writes, 16_000);
    let filled_pages = 16_384 * 9 / 10;
    assert!((filled_pages..=16_384).contains(&full.verified_pages), "{}", full.verified_pages);
    assert!(full.write_amplification > 1.1 && full.write_amplification < 5.0, "{full:?}");
    assert!(full.elapsed_ns > 2 * once.elapsed_ns, "{} {}", full.elapsed_ns, once.elapsed_ns);
    let last = full.samples.last().unwrap();
    assert_eq!(last.device_written_bytes, full.device_written_bytes);
}

/// The reuse of zones decides if figures include cleaning, not the amount written.
#[test]
fn figures_are_before_cleaning_until_a_zone_is_used_again() {
    let outcome = |work: Work| {
        run_work(&Rc::new(work), PolicyKind::OutOfPlace, drive("x25-e-64", None), 1, Durability::Each)
            .unwrap()
    };
    // With headers, this exceeds the bytes of the store's pages, but not its zones.
    let early = outcome(random_work(8_500));
    assert!(early.device_written_bytes > 16_384 * 4096, "{}", early.device_written_bytes);
    assert!(early.is_before_cleaning() && early.zones_freed == Some(0), "{:?}", early.zones_freed);
    let mut full = random_work(8_000);
    full.fill_percent = 90;
    let cleaned = outcome(full);
    assert!(!cleaned.is_before_cleaning() && cleaned.pages_cleaned.unwrap() > 0);
    // Rewriting a few pages of a full store frees whole zones, and moves nothing.
    let mut few = few_pages_work();
    (few.fill_percent, few.passes) = (100, 60);
    let dying = outcome(few);
    assert_eq!(
        (dying.pages_cleaned, dying.is_before_cleaning()),
        (Some(0), false),
        "{:?}",
        dying.zones_freed
    );
}

/// Sequential pages are fastest without staging, but the trace's pages are random.
#[test]
fn auto_learns_nothing_from_the_fill() {
    let [auto, ring] = [PolicyKind::Auto, PolicyKind::StableRing].map(|policy| {
        let mut work = random_work_within(6_000, 49_152);
        work.fill_percent = 90;
        run_work(&Rc::new(work), policy, drive("sd-card", None), 1, Durability::Trace).unwrap()
    });
    assert!(auto.elapsed_ns < 2 * ring.elapsed_ns, "{} ns, {} ns", auto.elapsed_ns, ring.elapsed_ns);
    assert_eq!(auto.auto.unwrap().chosen, Some(Method::Staging));
}

#[test]
fn fill_can_be_stopped() {
    let mut work = random_work(8_000);
    work.fill_percent = 90;
    let work = Rc::new(work);
    let create = CreateOptions::new(PolicyKind::StableBuffer, 4096, work.pages);
    let (io, device) = drive("sd-card", None);
    let candidate = Candidate::new(io, &device, &create, &work, options(1, Durability::None)).unwrap();
    let asked = Rc::new(Cell::new(0));
    let counted = Rc::clone(&asked);
    candidate.stop_when(move || {
        counted.set(counted.get() + 1);
        counted.get() >= 5
    });
    let ended = candidate.fill().map(drop);
    assert!(matches!(ended, Err(ReplayError::Cancelled)), "{ended:?}");
    assert!(asked.get() < 10, "{} looks", asked.get());
}

#[test]
fn final_checkpoint_can_be_stopped() {
    let work = work();
    let create = CreateOptions::new(PolicyKind::StableBuffer, 4096, work.pages);
    let options = options(1, Durability::None);
    let (io, device) = drive("sd-card", None);
    let mut candidate = Candidate::new(io, &device, &create, &work, options).unwrap();
    let stops = Rc::new(Cell::new(false));
    let asked = Rc::clone(&stops);
    candidate.stop_when(move || asked.get());
    assert!(candidate.run_stretch(1000).unwrap());
    stops.set(true);
    let ended = candidate.checkpoint();
    assert!(matches!(ended, Err(ReplayError::Cancelled)), "{ended:?}");
}

#[test]
fn replay_in_virtual_time_is_reproducible() {
    let once = || run(PolicyKind::StableRing, drive("mtron-16", None), 8, Durability::Trace).unwrap();
    assert_eq!(once(), once());
}

#[test]
fn speed_ups_are_by_the_time_of_direct() {
    let run = |policy| run(policy, drive("mtron-16", None), 1, Durability::None).unwrap();
    let outcomes = with_speedups(vec![run(PolicyKind::StableRing), run(PolicyKind::Direct)]);
    assert!((outcomes[1].speedup_over_direct.unwrap() - 1.0).abs() < 1e-12);
    let (ring, direct) = (outcomes[0].elapsed_ns as f64, outcomes[1].elapsed_ns as f64);
    assert!((outcomes[0].speedup_over_direct.unwrap() - direct / ring).abs() < 1e-12);
    let alone = with_speedups(vec![run(PolicyKind::StableRing)]);
    assert_eq!(alone[0].speedup_over_direct, None);
}

/// A lost write of a staged page does no harm on its own, so faults must be frequent.
const OFTEN: When = When::PerMillion(20_000);

#[test]
fn lost_writes_are_detected() {
    for fault in [Fault::LostWrite, Fault::DamagedWrite] {
        for policy in PolicyKind::ALL {
            let plan = FaultPlan::seeded(3).and(fault, OFTEN);
            let error = run(policy, drive("mtron-16", Some(plan)), 1, Durability::Trace);
            assert!(
                matches!(error, Err(ReplayError::Store { .. } | ReplayError::Lost { .. })),
                "{policy}, {fault:?}: {error:?}"
            );
        }
    }
}

#[test]
fn failed_store_is_dropped_and_the_others_continue() {
    let work = work();
    let candidate = |policy, faults| {
        let (io, device) = drive("mtron-16", faults);
        let create = CreateOptions::new(policy, 4096, work.pages);
        Candidate::new(io, &device, &create, &work, options(1, Durability::Trace)).unwrap()
    };
    // The first flush after the store was created fails.
    let failing = (100..10_000).fold(FaultPlan::seeded(3), |plan, operation| {
        plan.and(Fault::FailedFlush(Lasts::Sticky), When::Operation(operation))
    });
    let candidates = vec![
        candidate(PolicyKind::StableRing, Some(failing)),
        candidate(PolicyKind::Direct, None),
        candidate(PolicyKind::DoubleWrite, None),
    ];
    let comparison = Comparison { stretch_steps: 300, verify: true };
    let outcomes = replay(candidates, comparison, &mut NullWatcher).unwrap();
    let names: Vec<_> = outcomes.policies.iter().map(|outcome| outcome.policy.name()).collect();
    assert_eq!(names, ["direct", "doublewrite"]);
    assert!(outcomes.policies.iter().all(|outcome| outcome.verified_pages == 2_000));
    let [Failure { policy: PolicyKind::StableRing, error: ReplayError::Store { .. } }] = &outcomes.failed[..]
    else {
        panic!("{:?}", outcomes.failed)
    };
}

/// A write longer than any batch of a small staging area, and than the clients' memory.
#[test]
fn long_writes_and_discards_are_split_into_batches() {
    let pages = 3_000;
    let record = |operation, page: u64, pages: u64| Record {
        time_us: 0,
        operation,
        address: page * 4096,
        length_bytes: pages * 4096,
        latency_ns: None,
    };
    let records = [
        record(Operation::Write, 0, pages),
        record(Operation::Discard, 100, 900),
        record(Operation::Write, 7, 1),
        record(Operation::Write, 200, 700),
    ];
    let read = WorkOptions { page_bytes: 4096, limit: None, addresses: Addresses::Keep };
    let work = Rc::new(Work::read(records.into_iter().map(Ok), read).unwrap());
    for policy in PolicyKind::ALL {
        for (queue_depth, durability) in [(1, Durability::Each), (64, Durability::None)] {
            let (io, device) = drive("x25-e-64", None);
            let create = CreateOptions::new(policy, 4096, work.pages).with_buffer_bytes(256 << 10);
            let made = Candidate::new(io, &device, &create, &work, options(queue_depth, durability));
            let comparison = Comparison { stretch_steps: 300, verify: true };
            let mut outcomes = replay(vec![made.unwrap()], comparison, &mut NullWatcher).unwrap();
            assert!(outcomes.failed.is_empty(), "{policy}: {:?}", outcomes.failed);
            let outcome = outcomes.policies.remove(0);
            // `direct` takes as much as one system call, and several zones have room for the
            // shorter write.
            let takes_shorter = matches!(policy, PolicyKind::Direct | PolicyKind::OutOfPlace);
            let split = if takes_shorter && queue_depth == 1 { 1 } else { 2 };
            assert_eq!((outcome.writes, outcome.split_writes), (pages + 701, split), "{policy}");
            let verified = outcome.verified_pages;
            // Concurrent clients may discard a page that the trace writes later.
            assert!((pages - 900..=pages).contains(&verified), "{policy}: {verified}");
            assert!(verified == pages - 200 || queue_depth > 1, "{policy}: {verified}");
        }
    }
}

/// Cancels after a number of steps of all candidates together.
struct Interrupter(Rc<Cell<u32>>);

impl Watcher for Interrupter {
    fn progress(&mut self, _policy: PolicyKind, _share: f64) {}

    fn is_cancelled(&self) -> bool {
        self.0.get() == 0
    }
}

#[test]
fn cancelled_replay_ends_within_its_stretch() {
    let (work, left) = (work(), Rc::new(Cell::new(100_u32)));
    let create = CreateOptions::new(PolicyKind::StableRing, 4096, work.pages);
    let options = options(4, Durability::Each);
    let (io, device) = drive("mtron-16", None);
    let candidate = Candidate::new(io, &device, &create, &work, options).unwrap();
    let (counted, asked) = (Rc::clone(&left), Rc::new(Cell::new(0)));
    let asked_for = Rc::clone(&asked);
    candidate.stop_when(move || {
        asked.set(asked.get() + 1);
        counted.set(counted.get().saturating_sub(1));
        counted.get() == 0
    });
    let comparison = Comparison { stretch_steps: 1000, verify: true };
    let ended = replay(vec![candidate], comparison, &mut Interrupter(left));
    assert!(matches!(ended, Err(ReplayError::Cancelled)), "{ended:?}");
    assert!(asked_for.get() < 110, "{} steps", asked_for.get());
}

#[test]
fn largest_latency_is_exact() {
    let write =
        Record { time_us: 0, operation: Operation::Write, address: 0, length_bytes: 4096, latency_ns: None };
    let options = WorkOptions { page_bytes: 4096, limit: None, addresses: Addresses::Keep };
    let work = Rc::new(Work::read(std::iter::once(Ok(write)), options).unwrap());
    let outcome = run_work(&work, PolicyKind::Direct, drive("mtron-16", None), 1, Durability::Each).unwrap();
    let latency = outcome.latency_ns;
    // The mean of a single write equals its latency.
    assert!(latency.max.is_some_and(|max| latency.mean == Some(max as f64)), "{latency:?}");
}
