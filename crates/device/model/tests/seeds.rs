//! Determinism by seed: each seed runs in two processes with equal results, on drives of every
//! kind, arrays with their controllers, an aged drive, and media with faults.
//!
//! Runs a few seeds by default; `NANDLE_SEEDS=1000 cargo test -p nandle-model --test seeds`, used
//! by `cargo xtask bench model`, runs more.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "test code")]

mod common;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;
use std::sync::Arc;

use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_io::{Arena, Arrays, Completion, Device, Io, Operation, Request, Wait};
use nandle_model::library::{FirstState, Model};
use nandle_model::media::faults::Lasts;
use nandle_model::media::{Fault, FaultPlan, MediaWorld, SharedMedia, When};
use nandle_model::world::Host;

const SEEDS: &str = "NANDLE_SEEDS";
const MODELS: [&str; 7] =
    ["x25-m-g2", "mtron-16", "nvme-tlc", "savvio-15k", "x25-e-4-1ctl", "x25-m-4", "regola-raid10"];
const AGED: &str = "x25-e-64";
const REQUESTS: u64 = 200;
const AREA_BLOCKS: u64 = 4_096;
const BLOCK_BYTES: usize = 4_096;

fn seeds() -> u64 {
    std::env::var(SEEDS).ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

/// `SplitMix64`.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut value = *state;
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// A model of every kind, and a worn drive that has had to clean.
fn models() -> Vec<Model> {
    let mut models: Vec<Model> = MODELS.iter().map(|name| Model::named(name).unwrap()).collect();
    let model = Model::named(AGED).unwrap();
    let mut device = model.device().unwrap();
    let pattern = Pattern::RandomGroups { group: 1 };
    let load = Load::write(pattern, BLOCK_BYTES as u64, device.shape.capacity_bytes);
    run(&mut device.timing, Load { depth: 32, requests: 80_000, ..load }, 0);
    let state = model.state_of(device.timing.as_mut()).unwrap();
    models.push(model.starting(FirstState::Aged(Arc::new(state))).unwrap());
    models
}

/// A device of each model and a software array over two of them, all with occasional faults.
fn world(models: &[Model], seed: u64) -> (Arrays, Vec<Device>, Vec<SharedMedia>) {
    let mut world = MediaWorld::modelled(Host::with_slots(32));
    let plan = FaultPlan::seeded(seed)
        .and(Fault::DamagedWrite, When::PerMillion(20_000))
        .and(Fault::LostWrite, When::PerMillion(20_000))
        .and(Fault::FailedRead(Lasts::Once), When::PerMillion(20_000));
    let mut add = |(number, model): (u64, &Model)| {
        let device = model.device().unwrap();
        let media = device.media().with_faults(plan.for_device(number));
        world.add(device, media)
    };
    let (mut devices, media): (Vec<Device>, Vec<SharedMedia>) = (0..).zip(models).map(&mut add).unzip();
    let mut arrays = Arrays::new(Box::new(world));
    devices.push(arrays.raid10(&[devices[0].id, devices[3].id], 16 << 10).unwrap());
    (arrays, devices, media)
}

fn operation(state: &mut u64, arena: &Arena, discards: bool) -> Operation {
    let offset_bytes = draw(state) % AREA_BLOCKS * BLOCK_BYTES as u64;
    let mut buffer = arena.allocate(BLOCK_BYTES << (draw(state) % 4)).unwrap();
    buffer.fill(draw(state).to_le_bytes()[0]);
    match draw(state) % 16 {
        0 => Operation::Flush,
        1 if discards => Operation::Discard { offset_bytes, length_bytes: buffer.len() as u64 },
        2 => Operation::durable_write(offset_bytes, buffer.freeze()),
        3..9 => Operation::write(offset_bytes, buffer.freeze()),
        _ => Operation::read(offset_bytes, buffer),
    }
}

fn take_in(hasher: &mut DefaultHasher, completions: &mut Vec<Completion>) {
    for done in completions.drain(..) {
        (done.token, done.device.index(), done.submitted_at.0, done.completed_at.0).hash(hasher);
        format!("{:?}", done.result).hash(hasher);
        done.operation.into_read_buffer().map(|buffer| buffer.to_vec()).hash(hasher);
    }
}

/// Hash of all completions of a mixed load on all devices.
fn hash(models: &[Model], seed: u64) -> u64 {
    let (mut world, devices, media) = world(models, seed);
    let arena = Arena::new(4 << 20).unwrap();
    let (mut state, mut hasher, mut completions) = (seed, DefaultHasher::new(), Vec::new());
    for token in 0..REQUESTS {
        let device = &devices[usize::try_from(draw(&mut state)).unwrap() % devices.len()];
        let operation = operation(&mut state, &arena, device.shape.discards);
        while world.in_flight() >= world.slots() {
            world.reap(Wait::until_completed(1), &mut completions);
        }
        world.submit(device.id, Request { token, operation }).unwrap();
        take_in(&mut hasher, &mut completions);
    }
    while world.in_flight() > 0 {
        world.reap(Wait::until_completed(1), &mut completions);
        take_in(&mut hasher, &mut completions);
    }
    (world.now().0, world.cpu_time().0).hash(&mut hasher);
    for media in media {
        media.borrow().contents_hash().hash(&mut hasher);
    }
    hasher.finish()
}

/// Run by the other test in two processes.
#[test]
#[ignore = "prints hashes for another test"]
fn print_hashes() {
    let models = models();
    for seed in 0..seeds() {
        println!("hash: {seed} {:016x}", hash(&models, seed));
    }
}

fn hashes_of_a_process() -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "print_hashes", "--ignored", "--nocapture"]);
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split_once("hash: ")).map(|(_, hash)| hash.to_owned()).collect()
}

#[test]
fn equal_seeds_give_equal_bytes_in_separate_processes() {
    let (first, second) = (hashes_of_a_process(), hashes_of_a_process());
    assert_eq!(first.len() as u64, seeds());
    assert_eq!(first, second);
    let distinct: std::collections::BTreeSet<&str> =
        first.iter().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    assert_eq!(distinct.len(), first.len(), "other seeds give other bytes");
    println!("seeds: {} equal in two processes", first.len());
}
