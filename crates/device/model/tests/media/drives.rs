//! Media on modelled drives: a world without contents provides the timing, and media the data.

use nandle_io::conformance::check;
use nandle_io::{Arena, Arrays, Completion, DeviceId, Io, Nanos, Operation, Request, Wait};
use nandle_model::library::{self, Model};
use nandle_model::media::{CrashImages, MediaWorld, PowerCut, WriteCache};
use nandle_model::world::{Host, ModelWorld};

fn timing(names: &[&str]) -> ModelWorld {
    let mut world = ModelWorld::new(Host::with_slots(32));
    for name in names {
        world.add(Model::named(name).unwrap().device().unwrap());
    }
    world
}

fn with_media(names: &[&str]) -> MediaWorld<ModelWorld> {
    let mut world = MediaWorld::modelled(Host::with_slots(32));
    for name in names {
        let device = Model::named(name).unwrap().device().unwrap();
        let media = device.media();
        world.add(device, media);
    }
    world
}

#[test]
fn drives_with_media_pass_the_suite() {
    let names = ["x25-m-g2", "mtron-16", "wd2003fyys", "regola-raid10"];
    let mut world = with_media(&names);
    for device in world.devices().to_vec() {
        check(&mut world, &device, 1);
    }
}

#[test]
fn an_array_in_software_over_drives_with_media_passes_the_suite() {
    let mut arrays = Arrays::new(Box::new(with_media(&["sd-card", "sd-card"])));
    let device = arrays.raid10(&[0, 1].map(DeviceId::from_index), 64 << 10).unwrap();
    check(&mut arrays, &device, 2);
}

/// Completion times of a hundred writes and flushes.
fn times(io: &mut dyn Io) -> Vec<(u64, Nanos)> {
    let arena = Arena::new(4 << 20).unwrap();
    let device = io.devices()[0].id;
    let mut completions: Vec<Completion> = Vec::new();
    for token in 0..100_u64 {
        let buffer = || arena.allocate(4096).unwrap().freeze();
        let offset_bytes = token * 37 % 64 * 4096;
        let operation =
            if token % 5 == 4 { Operation::Flush } else { Operation::write(offset_bytes, buffer()) };
        while io.in_flight() >= 8 {
            io.reap(Wait::until_completed(1), &mut completions);
        }
        io.submit(device, Request { token, operation }).unwrap();
    }
    io.reap(Wait::until_completed(io.in_flight()), &mut completions);
    completions.iter().map(|completion| (completion.token, completion.completed_at)).collect()
}

#[test]
fn media_leave_the_times_as_they_are() {
    assert_eq!(times(&mut timing(&["x25-m-g2"])), times(&mut with_media(&["x25-m-g2"])));
}

/// Drive of the library with one line of its file replaced.
fn changed(name: &str, line: &str, into: &str) -> Model {
    let toml = library::toml_of(name).unwrap();
    assert!(toml.contains(line), "{name} has no {line:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.toml");
    std::fs::write(&path, toml.replace(line, into)).unwrap();
    Model::from_path(&path).unwrap()
}

/// Returns true if a power cut at the end can lose a completed write, followed by a flush if
/// `flushes`.
fn loses_what_was_flushed(model: &Model, flushes: bool) -> bool {
    let mut world = MediaWorld::modelled(Host::with_slots(4));
    let device = model.device().unwrap();
    let media = device.media().recorded();
    let (device, media) = world.add(device, media);
    let arena = Arena::new(1 << 20).unwrap();
    let mut block = arena.allocate(4096).unwrap();
    block.fill(7);
    let write = Operation::write(0, block.freeze());
    for operation in [Some(write), flushes.then_some(Operation::Flush)].into_iter().flatten() {
        world.submit(device.id, Request { token: 0, operation }).unwrap();
        world.reap(Wait::until_completed(1), &mut Vec::new());
    }
    let media = media.borrow();
    let recordings = [media.recording().unwrap()];
    let end = media.position();
    let images = CrashImages::new(&recordings, PowerCut::seeded(1)).within(end..end + 1);
    let mut held = images.map(|image| {
        let mut block = [0; 4096];
        image.contents[0].read_into(0, &mut block).unwrap();
        block == [7; 4096]
    });
    held.any(|held| !held)
}

#[test]
fn a_power_cut_takes_what_the_drive_has_not_promised() {
    let lying = changed("x25-m-g2", "durability = \"volatile\"", "durability = \"lying\"");
    let write_through = changed("wd2003fyys", "write_back = true", "write_back = false");
    let named = |name| Model::named(name).unwrap();
    for (model, without_flush, with_flush) in [
        (named("x25-m-g2"), true, false),
        (named("nvme-plp"), false, false),
        (named("mtron-16"), false, false),
        (named("wd2003fyys"), true, false),
        (write_through, false, false),
        (named("x25-m-4"), true, false),
        (named("regola-raid10"), false, false),
        (lying, true, true),
    ] {
        let lost = (loses_what_was_flushed(&model, false), loses_what_was_flushed(&model, true));
        assert_eq!(lost, (without_flush, with_flush), "{}", model.name());
    }
}

#[test]
fn an_array_promises_what_its_worst_drive_does() {
    let cache = |name: &str| Model::named(name).unwrap().device().unwrap().write_cache;
    assert_eq!(cache("x25-m-4"), WriteCache::Volatile);
    assert_eq!(cache("regola-raid10"), WriteCache::Protected, "a controller with a battery");
}
