//! Modelled drives as targets.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod common;

use common::{read_options, write_options};
use nandle_io::{Arena, Operation, Request, Wait};
use nandle_model::library;
use nandle_target::facts::{identity, system_facts};
use nandle_target::{IoChoice, ModelContents, OpenOptions, Target, TargetError, TargetKind};

fn open(text: &str, options: OpenOptions) -> Result<Target, TargetError> {
    Target::open(text.parse().unwrap(), options)
}

/// Virtual time of reading 1 MiB from the start.
fn read_ns(target: &Target) -> u64 {
    let mut opened = target.io(4).unwrap();
    let arena = Arena::new(1 << 20).unwrap();
    let operation = Operation::read(0, arena.allocate(1 << 20).unwrap());
    opened.io.submit(opened.device.id, Request { token: 1, operation }).unwrap();
    let mut completions = Vec::new();
    opened.io.reap(Wait::until_completed(1), &mut completions);
    assert_eq!(completions.remove(0).result, Ok(()));
    opened.io.now().0
}

#[test]
fn every_model_opens_filled_and_describes_itself() {
    for name in library::names() {
        let target = open(&format!("model:{name}"), read_options()).unwrap();
        assert_eq!(
            (target.kind(), target.is_modelled(), target.needs_fill()),
            (TargetKind::Model, true, false)
        );
        let (facts, identity) = (system_facts(&target), identity(&target));
        assert_eq!(identity.model, Some(format!("modelled {name}")));
        assert_eq!(identity.capacity_bytes, Some(target.area_bytes()));
        let queue = facts.queue.unwrap();
        let disks = ["barracuda", "savvio", "wd2003", "cheetah", "atlas", "regola"];
        assert_eq!(queue.rotational, Some(disks.iter().any(|disk| name.starts_with(disk))), "{name}");
        let remarks = target.remarks().join("\n");
        assert!(remarks.contains(" is a model: ") && remarks.contains("It begins"), "{remarks}");
        let backend = target.io(1).unwrap().backend();
        assert_eq!((backend.io.as_str(), backend.direct), ("model", true));
        assert!(backend.features.contains(&"modelled".to_owned()));
    }
}

#[test]
fn a_scaled_drive_is_reported() {
    let remarks = open("model:x25-m-g2", read_options()).unwrap().remarks().join("\n");
    assert!(remarks.contains("stands for 74.53GiB, modelled with 7.45GiB"), "{remarks}");
}

#[test]
fn arrays_of_models_share_a_world() {
    let single = open("model:x25-m-g2", read_options()).unwrap();
    let striped = open("raid0:64KiB:model:x25-m-g2*4", read_options()).unwrap();
    let mirrored = open("raid10:64KiB:model:x25-m-g2,model:x25-e-64", write_options()).unwrap();
    assert!(striped.area_bytes() > 3 * single.area_bytes());
    assert!(mirrored.area_bytes() <= single.area_bytes() && mirrored.is_writable());
    let (alone, spread) = (read_ns(&single), read_ns(&striped));
    assert!(spread < alone / 2, "1 MiB took {alone} ns from one drive and {spread} ns from four");
    assert_eq!(alone, read_ns(&single), "each world starts with new drives");
}

#[test]
fn several_targets_share_a_world() {
    let kept = OpenOptions { model_contents: ModelContents::Kept, ..write_options() };
    let targets = [
        open("model:x25-e-64", kept).unwrap(),
        open("raid0:64KiB:model:x25-m-g2*2", write_options()).unwrap(),
        open("model:nvme-plp", write_options()).unwrap(),
    ];
    let all: Vec<&Target> = targets.iter().collect();
    let (mut io, devices) = Target::io_of_several(&all, 8).unwrap();
    let capacities: Vec<u64> = devices.iter().map(|device| device.shape.capacity_bytes).collect();
    assert_eq!(capacities, targets.each_ref().map(Target::area_bytes));
    // Each device answers, and the first one returns its written contents.
    let arena = Arena::new(1 << 20).unwrap();
    let mut completions = Vec::new();
    for (token, device) in (0..).zip(&devices) {
        let mut written = arena.allocate(4096).unwrap();
        written.fill(7);
        for operation in
            [Operation::write(0, written.freeze()), Operation::read(0, arena.allocate(4096).unwrap())]
        {
            io.submit(device.id, Request { token, operation }).unwrap();
            io.reap(Wait::until_completed(1), &mut completions);
        }
    }
    assert!(completions.iter().all(|completion| completion.result == Ok(())), "{completions:?}");
    let read = completions.remove(1).operation.into_read_buffer().unwrap();
    assert!(read.iter().all(|byte| *byte == 7), "the first drive keeps contents");
}

#[test]
fn a_world_has_one_clock() {
    let folder = tempfile::tempdir().unwrap();
    let small = OpenOptions { test_file_bytes: 4 << 20, ..write_options() };
    let real = open(folder.path().to_str().unwrap(), small).unwrap();
    let modelled = open("model:x25-e-64", write_options()).unwrap();
    let error = Target::io_of_several(&[&real, &modelled], 8).map(drop).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("one clock"), "{error}");
}

#[test]
fn unsupported_options_of_models_are_refused() {
    let uring = OpenOptions { io: IoChoice::Uring, ..read_options() };
    let buffered = OpenOptions { direct: false, ..read_options() };
    for (text, options, said) in [
        ("model:x25-m-g3", read_options(), "did you mean \"x25-m-g2\""),
        ("model:/nowhere/mine.toml", read_options(), "/nowhere/mine.toml"),
        ("model:x25-m-g2", uring, "--io"),
        ("model:x25-m-g2", buffered, "--buffered"),
        ("raid0:64KiB:model:x25-m-g2,/tmp", read_options(), "all modelled or all real"),
    ] {
        let error = open(text, options).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(said), "{error}");
    }
}
