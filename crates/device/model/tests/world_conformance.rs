//! Conformance suite on modelled drives of each kind, and on software arrays over them.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

use nandle_io::conformance::{abandoned_requests_keep_their_memory, check};
use nandle_io::{Arrays, Device, DeviceId, Io, Nanos};
use nandle_model::library::Model;
use nandle_model::media::MediaWorld;
use nandle_model::world::{Host, ModelWorld};

type World = MediaWorld<ModelWorld>;

fn add(world: &mut World, name: &str) -> Device {
    let device = Model::named(name).unwrap().device().unwrap();
    let media = device.media();
    world.add(device, media).0
}

fn world(slots: usize, names: &[&str]) -> (World, Vec<Device>) {
    let mut world = MediaWorld::modelled(Host::with_slots(slots));
    let devices = names.iter().map(|name| add(&mut world, name)).collect();
    (world, devices)
}

fn check_alone(name: &str, seed: u64) {
    for slots in [1, 64] {
        let (mut world, devices) = world(slots, &[name]);
        check(&mut world, devices.first().unwrap(), seed);
    }
}

#[test]
fn a_page_mapped_flash_drive() {
    check_alone("x25-m-g2", 1);
}

#[test]
fn a_hybrid_mapped_flash_drive() {
    check_alone("mtron-16", 2);
}

#[test]
fn a_drive_with_a_single_level_region() {
    check_alone("nvme-tlc", 3);
}

#[test]
fn a_magnetic_disk() {
    check_alone("wd2003fyys", 4);
}

#[test]
fn an_array_with_its_controllers() {
    check_alone("x25-m-4", 5);
    check_alone("regola-raid10", 6);
}

#[test]
fn several_devices_in_one_world() {
    let (mut world, devices) = world(32, &["x25-e-64", "savvio-15k", "sd-card"]);
    for device in &devices {
        check(&mut world, device, 7);
    }
}

#[test]
fn a_host_that_costs_nothing_and_a_slow_one() {
    for request_cpu in [Nanos::ZERO, Nanos::from_millis(3)] {
        let mut world = MediaWorld::modelled(Host { slots: 16, request_cpu });
        let device = add(&mut world, "x25-m-g2");
        check(&mut world, &device, 8);
    }
}

#[test]
fn arrays_in_software() {
    let (world, devices) = world(64, &["x25-m-g2", "x25-m-g2", "mtron-16", "savvio-15k"]);
    let children: Vec<DeviceId> = devices.iter().map(|device| device.id).collect();
    let mut arrays = Arrays::new(Box::new(world));
    let striped = arrays.raid0(&children, 64 << 10).unwrap();
    let mirrored = arrays.raid10(&children, 16 << 10).unwrap();
    check(&mut arrays, &striped, 9);
    check(&mut arrays, &mirrored, 10);
}

#[test]
fn abandoned_requests() {
    abandoned_requests_keep_their_memory(|| {
        let (world, mut devices) = world(64, &["x25-m-g2"]);
        (Box::new(world) as Box<dyn Io>, devices.remove(0))
    });
}
