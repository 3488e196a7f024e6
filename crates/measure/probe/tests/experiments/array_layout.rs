use nandle_io::Nanos;
use nandle_profile::experiments::ArrayLayout;

use crate::bench::Bench;

fn on(spec: &str) -> ArrayLayout {
    let outcome = Bench::new(spec, Nanos::from_secs(20)).conduct("array-layout");
    assert!(outcome.error.is_none(), "{spec}: {:?}", outcome.error);
    outcome.experiments.array_layout.unwrap().findings
}

fn assert_layout(spec: &str, chunk_bytes: u64, members: u32) {
    let found = on(spec);
    assert_eq!((found.chunk_bytes, found.members), (Some(chunk_bytes), Some(members)), "{spec}: {found:?}");
}

#[test]
fn arrays_in_software_are_found() {
    assert_layout("raid0:64KiB:model:mtron-16*4", 64 << 10, 4);
    assert_layout("raid0:64KiB:model:x25-e-64*3", 64 << 10, 3);
    assert_layout("raid0:4KiB:model:x25-e-64*2", 4 << 10, 2);
    assert_layout("raid0:1MiB:model:barracuda-7200.10*5", 1 << 20, 5);
    // Both legs of a mirror hold the same data.
    assert_layout("raid10:64KiB:model:mtron-16*4", 64 << 10, 2);
}

#[test]
fn modelled_arrays_are_found() {
    assert_layout("model:x25-m-4", 64 << 10, 4);
    assert_layout("model:x25-e-4-2ctl", 64 << 10, 4);
    assert_layout("model:regola-raid10", 256 << 10, 5);
}

#[test]
fn one_member_gives_its_part() {
    let share = on("raid0:64KiB:model:mtron-16*4").one_member_share.unwrap();
    assert!((share.value - 0.25).abs() < 0.02, "{share:?}");
}

#[test]
fn single_drives_show_nothing_or_their_channels() {
    for model in ["mtron-16", "sd-card", "barracuda-7200.10"] {
        let found = on(&format!("model:{model}"));
        assert_eq!((found.chunk_bytes, found.members), (None, None), "{model}: {found:?}");
    }
    // Ten channels, with units of 4 KiB in round-robin order.
    assert_layout("model:x25-m-g2", 4 << 10, 10);
}

#[test]
fn too_little_time_is_reported() {
    let outcome = Bench::new("model:barracuda-7200.10", Nanos::from_secs(2)).conduct("array-layout");
    let record = outcome.experiments.array_layout.unwrap();
    assert!(!record.complete && record.ended_by.unwrap().contains("--budget"));
}
