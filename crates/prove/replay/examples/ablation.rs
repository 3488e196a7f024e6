//! Ablation of the staging policies: switches off one part at a time, on the modelled `MTron` of
//! the `StableBuffer` paper. Run `cargo run --release -p nandle-replay --example ablation TRACE
//! LIMIT`. Time is virtual, so the figures are reproducible. Prints rows of a Markdown table.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measuring program, and it prints"
)]

use std::path::Path;
use std::rc::Rc;
use std::sync::Mutex;
use std::thread;

use nandle_model::library::Model;
use nandle_model::media::MediaWorld;
use nandle_model::world::Host;
use nandle_pages::{CreateOptions, Experiments, OpenOptions, PolicyKind, WriteCosts};
use nandle_replay::{
    Addresses, Candidate, CandidateOptions, Comparison, Durability, PolicyOutcome, Watcher, Work,
    WorkOptions, replay,
};
use nandle_trace::Reader;

const MIB: u64 = 1 << 20;
const CAPACITY_BYTES: u64 = 4 << 30;
const PAGE_BYTES: usize = 4096;
/// Cases run in parallel. Each keeps the drive's contents in memory.
const AT_ONCE: usize = 2;

/// A policy with one change.
struct Case {
    policy: PolicyKind,
    buffer_bytes: u64,
    change: String,
    open: OpenOptions,
}

impl Case {
    fn new(policy: PolicyKind, buffer_bytes: u64, change: impl Into<String>, open: OpenOptions) -> Self {
        Self { policy, buffer_bytes, change: change.into(), open }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (trace, limit) = (arguments.next().unwrap(), arguments.next().unwrap().parse().unwrap());
    let cases = cases();
    let next = Mutex::new(0..cases.len());
    let outcomes = Mutex::new(vec![None; cases.len()]);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let work = read(Path::new(&trace), limit);
                loop {
                    let Some(index) = next.lock().unwrap().next() else { return };
                    let outcome = run(&cases[index], &work);
                    outcomes.lock().unwrap()[index] = Some(outcome);
                }
            });
        }
    });
    let outcomes: Vec<PolicyOutcome> = outcomes.into_inner().unwrap().into_iter().flatten().collect();
    let direct_ns = outcomes[0].elapsed_ns as f64;
    println!(
        "| policy | buffer | changed | time (s) | × direct | absorbed (%) | bytes at the device by bytes of pages |"
    );
    println!("|---|--:|---|--:|--:|--:|--:|");
    for (case, outcome) in cases.iter().zip(&outcomes) {
        let buffer = if case.policy == PolicyKind::Direct {
            "–".into()
        } else {
            format!("{}MiB", case.buffer_bytes / MIB)
        };
        let elapsed_ns = outcome.elapsed_ns as f64;
        println!(
            "| {} | {buffer} | {} | {:.2} | {:.2} | {:.1} | {:.2} |",
            case.policy,
            case.change,
            elapsed_ns / 1e9,
            direct_ns / elapsed_ns,
            100.0 * outcome.pages_absorbed as f64 / outcome.writes as f64,
            outcome.write_amplification,
        );
    }
}

fn cases() -> Vec<Case> {
    let whole = OpenOptions::default();
    let costs = |costs: WriteCosts| OpenOptions { costs, ..whole };
    let with = |experiments: Experiments| OpenOptions { experiments, ..whole };
    let mut cases = vec![Case::new(PolicyKind::Direct, 8 * MIB, "", whole)];
    let buffer = PolicyKind::StableBuffer;
    cases.push(Case::new(buffer, 8 * MIB, "nothing", whole));
    for (place, name) in ["sequential", "partitioned", "ordered", "focused"].into_iter().enumerate() {
        let decompositors = std::array::from_fn(|other| other != place);
        let open = with(Experiments { decompositors, ..Experiments::default() });
        cases.push(Case::new(buffer, 8 * MIB, format!("without the {name} decompositor"), open));
    }
    let focused_alone =
        with(Experiments { decompositors: [false, false, false, true], ..Experiments::default() });
    cases.push(Case::new(buffer, 8 * MIB, "the focused decompositor alone", focused_alone));
    let none = with(Experiments { decompositors: [false; 4], ..Experiments::default() });
    cases.push(Case::new(buffer, 8 * MIB, "no decompositor: by address", none));
    for bucket in [1, 2, 4, 16] {
        let open = costs(WriteCosts { focused_area_bytes: bucket * MIB, ..WriteCosts::default() });
        cases.push(Case::new(buffer, 8 * MIB, format!("buckets of {bucket} MiB (M), not 8"), open));
    }
    let rings = [8, 128].map(|buffer| (PolicyKind::StableRing, buffer * MIB));
    for (policy, buffer_bytes) in [(buffer, 8 * MIB)].into_iter().chain(rings) {
        if policy == PolicyKind::StableRing {
            cases.push(Case::new(policy, buffer_bytes, "nothing", whole));
            for (kib, name) in [(64, "64 KiB"), (256, "256 KiB"), (4096, "4 MiB")] {
                let open = costs(WriteCosts { mapping_unit_bytes: kib << 10, ..WriteCosts::default() });
                cases.push(Case::new(policy, buffer_bytes, format!("a sweep by {name}, not 1 MiB"), open));
            }
        }
        let waiting = OpenOptions { drain_tasks: 0, ..whole };
        cases.push(Case::new(policy, buffer_bytes, "no draining in the background", waiting));
        let each = with(Experiments { absorb: false, ..Experiments::default() });
        cases.push(Case::new(policy, buffer_bytes, "no absorption", each));
    }
    cases
}

fn read(trace: &Path, limit: u64) -> Rc<Work> {
    let options = WorkOptions { page_bytes: PAGE_BYTES, limit: Some(limit), addresses: Addresses::Keep };
    let records = Reader::open(trace, &nandle_trace::ReadOptions::default()).unwrap();
    Rc::new(Work::read(records, options).unwrap())
}

fn run(case: &Case, work: &Rc<Work>) -> PolicyOutcome {
    let model = Model::named("mtron-16").unwrap().with_capacity_bytes(CAPACITY_BYTES).unwrap();
    let device = model.device().unwrap();
    let mut world = MediaWorld::modelled(Host::with_slots(65));
    let media = device.media();
    let (device, _) = world.add(device, media);
    let create = CreateOptions::new(case.policy, PAGE_BYTES, work.pages).with_buffer_bytes(case.buffer_bytes);
    let (durability, open) = (Durability::None, case.open);
    let options = CandidateOptions { queue_depth: 1, durability, open, compressible_percent: 0 };
    let candidate = Candidate::new(Box::new(world), &device, &create, work, options).unwrap();
    let comparison = Comparison { stretch_steps: 4096, verify: false };
    replay(vec![candidate], comparison, &mut NullWatcher).unwrap().policies.remove(0)
}

struct NullWatcher;

impl Watcher for NullWatcher {
    fn progress(&mut self, _policy: PolicyKind, _share: f64) {}

    fn is_cancelled(&self) -> bool {
        false
    }
}
