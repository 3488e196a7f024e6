//! Media on modelled drives: a world that keeps no contents says when, and media say what.

use nandle_io::conformance::check;
use nandle_io::{Arena, Arrays, Completion, DeviceId, Io, Nanos, Operation, Request, Wait};
use nandle_model::library::Model;
use nandle_model::media::{Media, MediaWorld};
use nandle_model::world::{Host, ModelWorld};

fn timing(names: &[&str]) -> ModelWorld {
    let mut world = ModelWorld::new(Host::with_slots(32));
    for name in names {
        world.add(Model::named(name).unwrap().device().unwrap());
    }
    world
}

fn with_media(names: &[&str]) -> MediaWorld<ModelWorld> {
    let timing = timing(names);
    let devices = timing.devices().to_vec();
    let mut world = MediaWorld::new(timing);
    for device in devices {
        world.attach(device.id, Media::of_shape(&device.shape)).unwrap();
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

/// When a hundred writes and flushes complete.
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
