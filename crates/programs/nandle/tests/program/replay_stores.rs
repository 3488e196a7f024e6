//! Stores on targets with earlier contents, in use, filling up, or interrupted.

use rustix::process::Signal;

use crate::common::{LoopDevice, MIB, Place, is_root, scattered_writes, skip};

/// A new store is unaffected by old contents: another policy, page size or version, or none.
#[test]
fn what_a_file_held_before_does_not_matter() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(400));
    place.write_noise("pages", 64 * MIB);
    let stores = [
        "stable-ring --page 4KiB",
        "direct --page 16KiB",
        "out-of-place --page 8KiB",
        "stable-buffer --page 64KiB",
        "doublewrite --page 4KiB --buffer 1MiB",
        "stable-ring --page 4KiB --limit 100",
    ];
    for store in stores {
        let json = place.nandle(&format!("replay a.csv --on pages --overwrite --json --policies {store}"));
        assert!(json.done().json()["policies"][0]["verified_pages"].as_u64().unwrap() > 30, "{store}");
    }
    // Label of the last store, with an unknown version.
    let mut bytes = place.read("pages");
    bytes[..64].iter_mut().for_each(|byte| *byte ^= 0x55);
    place.write("pages", bytes);
    place.nandle("replay a.csv --on pages --overwrite --policies stable-ring").done();
    assert_eq!(place.read("pages").len() as u64, 64 * MIB);
}

#[test]
fn a_file_that_was_cut_short_is_refused_with_what_is_missing() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(400));
    let command = "replay a.csv --on pages --overwrite --policies stable-ring";
    place.nandle(command).done();
    let whole = place.read("pages");
    place.write("pages", &whole[..whole.len() / 2]);
    place.nandle(command).refused(2, &["room for", "name a larger"]);
    place.write("pages", &whole[..4096]);
    place.nandle(command).refused(2, &["pages: ", "4KiB to test in", "at least 1MiB"]);
    assert_eq!(place.read("pages"), whole[..4096]);
}

#[test]
fn a_file_or_device_is_replayed_on_by_one_at_a_time() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(20_000));
    place.write_noise("pages", 64 * MIB);
    let replay = |on: &str| format!("replay a.csv --policies stable-ring --durability each --on {on}");
    let first = place.start(&replay("pages --overwrite"));
    first.wait_until_written(9 * MIB);
    place.nandle(&replay("pages --overwrite")).refused(2, &["pages: another nandle", "wait", "another file"]);
    first.end_after(Signal::INT).refused(130, &["interrupted"]);
    if !is_root() {
        return skip("only an administrator has loop devices");
    }
    let Some(device) = LoopDevice::new(&place.path("pages")) else { return };
    let on = format!("{} --destroy-data", device.path.display());
    let first = place.start(&replay(&on));
    first.wait_until_written(9 * MIB);
    place.nandle(&replay(&on)).refused(1, &["for this process alone", "busy"]);
    first.end_after(Signal::INT).refused(130, &["interrupted"]);
}

/// Policies open the device exclusively, one after the other; so does the next replay.
#[test]
fn a_device_is_replayed_on_by_every_policy() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(300));
    place.write_noise("image", 64 * MIB);
    if !is_root() {
        return skip("only an administrator has loop devices");
    }
    let Some(device) = LoopDevice::new(&place.path("image")) else { return };
    for io in ["auto", "threads"] {
        let command = format!("replay a.csv --on {} --destroy-data --json --io {io}", device.path.display());
        let json = place.nandle(&command).done().json();
        for policy in json["policies"].as_array().unwrap() {
            assert_eq!(policy["verified_pages"], 300, "{io}: {policy}");
        }
    }
}

#[test]
fn an_interrupted_replay_leaves_nothing_in_the_directory() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(60_000));
    std::fs::create_dir(place.path("data")).unwrap();
    let left = || std::fs::read_dir(place.path("data")).unwrap().count();
    for (signal, written) in [(Signal::INT, MIB), (Signal::TERM, 48 * MIB)] {
        let policies = "--policies direct,stable-ring,out-of-place --durability each --report page.html";
        let running = place.start(&format!("replay a.csv --on data {policies}"));
        running.wait_until_written(written);
        let outcome = running.end_after(signal).refused(130, &["interrupted"]);
        assert_eq!(left(), 0, "{outcome:?}");
    }
    assert_eq!(place.names(), ["a.csv", "data"]);
}

/// Loop device over a file that its file system has no room for, like a thin-provisioned volume.
#[test]
fn a_real_device_that_gets_full_during_a_drain_ends_the_replay() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(4_000));
    std::fs::create_dir(place.path("small")).unwrap();
    let replay = "replay a.csv --policies POLICY --buffer 2MiB --durability each --destroy-data --on $LOOP";
    for policy in ["stable-ring", "doublewrite"] {
        let command = replay.replace("POLICY", policy);
        let script = format!(
            "mount -t tmpfs -o size=6m none small && truncate -s 64M small/image && \
             LOOP=$(losetup --find --show small/image) || exit 99; \"$0\" {command}; code=$?; losetup --detach $LOOP; exit $code"
        );
        let Some(outcome) = place.in_own_mounts(&script) else { return };
        outcome.refused(1, &[&format!("{policy}, "), "writing pages home", "No space left"]);
    }
}
