use std::path::Path;

use rustix::process::Signal;

use crate::common::{LoopDevice, NANDLE, Outcome, Place, is_root, program_exists, skip};

const TRACEFS: &str = "/sys/kernel/tracing";

/// Returns true if trace events can be read and the disk below the place has them; prints a notice
/// otherwise.
fn can_capture(place: &Place) -> bool {
    if !is_root() || !Path::new(TRACEFS).join("instances").exists() {
        skip("capturing takes root and a mounted tracefs");
        return false;
    }
    let outcome = place.nandle("capture . -o tried.csv --for 1ms");
    let is_on_disk = !outcome.stderr.contains("names no block device") && !outcome.stderr.contains("made of");
    if !is_on_disk {
        skip(&outcome.stderr);
    }
    is_on_disk
}

/// Returns true if a process's instance exists.
fn has_instance(process: u32) -> bool {
    Path::new(TRACEFS).join(format!("instances/nandle-{process}")).exists()
}

/// Direct writes, each made durable.
const WRITES: &str = "dd if=/dev/zero of=written bs=8192 count=20 oflag=direct,dsync";

#[test]
fn what_a_command_writes_becomes_a_trace_that_can_be_replayed() {
    let place = Place::new();
    if !can_capture(&place) {
        return;
    }
    let running = place.start(&format!("capture . -o a.csv.zst --json -- {WRITES}"));
    let process = running.id();
    let outcome = running.end().done();
    assert!(!has_instance(process));
    let told = outcome.json();
    outcome.says(&["20+0 records"]);
    place.nandle("trace convert a.csv.zst a.csv").done();
    let text = String::from_utf8(place.read("a.csv")).unwrap();
    let writes: Vec<&str> =
        text.lines().filter(|line| line.contains(",write,") && line.contains(",8192,")).collect();
    assert!(writes.len() >= 20, "{text}");
    for write in writes {
        let latency = write.rsplit(',').next().unwrap();
        assert!(latency.parse::<u64>().is_ok_and(|latency_ns| latency_ns > 0), "{write}");
    }
    assert_eq!(
        (&told["lost_events"], &told["bad_lines"], &told["exit_code"]),
        (&0.into(), &0.into(), &0.into())
    );
    assert!(told["writes"]["requests"].as_u64().unwrap() >= 20, "{told}");
    let next: Vec<&str> =
        told["next"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert_eq!(next.len(), 3, "{told}");
    assert!(next[2].starts_with("nandle trace play "), "{told}");
    for line in next {
        place.nandle(line.strip_prefix("nandle ").unwrap()).done();
    }
}

#[test]
fn what_others_write_is_left_out_and_counted() {
    let place = Place::new();
    if !can_capture(&place) {
        return;
    }
    place.write("others.sh", format!("while test ! -e done; do {WRITES} 2>/dev/null; done"));
    let mut others = place.command_of(&["sh".to_owned()], "others.sh").spawn().unwrap();
    let outcome = place.nandle("capture . -o a.csv --json -- sleep 1").done();
    let of_them = place.nandle(&format!("capture . -o b.csv --json --for 1s --pid {}", others.id())).done();
    place.write("done", "");
    others.wait().unwrap();
    let (told, of_them) = (outcome.json(), of_them.json());
    assert!(told["left_out"]["requests"].as_u64().unwrap() > 20, "{told}");
    assert!(told["left_out"]["programs"].to_string().contains("\"dd\""), "{told}");
    assert!(told["remarks"].to_string().contains("--pid"), "{told}");
    assert!(of_them["writes"]["requests"].as_u64().unwrap() > 20, "{of_them}");
}

#[test]
fn the_commands_exit_code_is_the_programs() {
    let place = Place::new();
    if !can_capture(&place) {
        return;
    }
    place.write("three.sh", "echo said; exit 3");
    let outcome = place.nandle("capture . -o a.csv -- sh three.sh");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), "said\n"), "{outcome:?}");
    outcome.says(&["a.csv: "]);
    place.write("killed.sh", "kill -TERM $$");
    assert_eq!(place.nandle("capture . -o b.csv -- sh killed.sh").code, Some(128 + 15));
    let outcome = place.nandle("capture . -o c.csv -- no-such-program");
    outcome.refused(2, &["no-such-program", "nothing was recorded"]);
    assert!(!place.path("c.csv").exists());
}

#[test]
fn an_interruption_keeps_the_trace_and_leaves_no_instance() {
    let place = Place::new();
    if !can_capture(&place) {
        return;
    }
    for (name, signal) in [("a.csv.zst", Signal::INT), ("b.csv", Signal::TERM)] {
        let running = place.start(&format!("capture . -o {name} --for 60s"));
        let process = running.id();
        let events =
            Path::new(TRACEFS).join(format!("instances/nandle-{process}/events/block/block_rq_issue/enable"));
        running.wait_until("events are watched", || {
            std::fs::read_to_string(&events).is_ok_and(|text| text.trim() == "1")
        });
        let outcome = running.end_after(signal);
        assert_eq!(outcome.code, Some(130), "{outcome:?}");
        assert!(outcome.stdout.contains(name) && !has_instance(process), "{outcome:?}");
        outcome.says(&["interrupted"]);
        place.nandle(&format!("trace stat {name}")).done();
    }
}

#[test]
fn what_was_killed_is_cleared_away_by_the_next() {
    let place = Place::new();
    if !can_capture(&place) {
        return;
    }
    let running = place.start("capture . -o a.csv --for 60s");
    let process = running.id();
    running.wait_until("there is an instance", || has_instance(process));
    running.end_after(Signal::KILL);
    place.nandle("capture . -o b.csv --for 1ms").done();
    assert!(!has_instance(process));
}

#[test]
fn addresses_are_the_devices() {
    let place = Place::new();
    if !can_capture(&place) {
        return;
    }
    let Some(device) = LoopDevice::new(&place.write("image", vec![0; 1 << 20])) else { return };
    let device = device.path.display().to_string();
    let write = format!("dd if=/dev/zero of={device} bs=4096 count=2 seek=5 oflag=direct conv=notrunc");
    place.nandle(&format!("capture --device {device} -o a.csv --json -- {write}")).done();
    let text = String::from_utf8(place.read("a.csv")).unwrap();
    let writes: Vec<_> = text.lines().filter(|line| line.contains(",write,")).collect();
    assert_eq!(writes.len(), 2, "{text}");
    assert!(writes[0].contains(",write,20480,4096,") && writes[1].contains(",write,24576,4096,"), "{text}");
}

#[test]
fn what_can_not_be_captured_is_refused() {
    let place = Place::new();
    place.write("there.csv", "something");
    place.nandle("capture . -o there.csv").refused(2, &["there.csv", "already"]);
    place.nandle("capture -o a.csv").refused(2, &["DIR"]);
    place.nandle("capture . -o a.csv --pid 1 --all-processes").refused(2, &["--all-processes"]);
    if !can_capture(&place) {
        return;
    }
    place.nandle("capture . -o a.csv --pid 1073741824").refused(2, &["1073741824", "no such process"]);
    place.nandle("capture none -o a.csv").refused(2, &["none", "No such file"]);
    if let Some(memory) = Place::in_memory() {
        let name = memory.name();
        place.nandle(&format!("capture {name} -o a.csv")).refused(2, &["names no block device", "--device"]);
    }
    assert_eq!(place.names(), ["there.csv", "tried.csv"]);
}

#[test]
fn without_the_right_or_tracefs_it_says_what_to_do() {
    let place = Place::for_everybody();
    let unmounted = place.in_own_mounts(
        "umount -l /sys/kernel/debug 2>/dev/null; umount -l /sys/kernel/tracing || exit 99; exec \"$0\" capture . -o a.csv",
    );
    if let Some(outcome) = unmounted {
        outcome.refused(1, &["mount -t tracefs nodev /sys/kernel/tracing"]);
    }
    if is_root() && !program_exists("setpriv") {
        return skip("there is no setpriv to become an ordinary user");
    }
    std::fs::copy(NANDLE, place.path("nandle")).unwrap();
    let program = place.path("nandle").display().to_string();
    let setpriv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"].map(str::to_owned);
    let words = if is_root() { [setpriv.to_vec(), vec![program]].concat() } else { vec![program] };
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(place.path(""), everybody).unwrap();
    let outcome: Outcome = place.command_of(&words, "capture . -o a.csv").output().unwrap().into();
    if outcome.stderr.contains("no tracefs") {
        return skip(&outcome.stderr);
    }
    outcome.refused(1, &["takes root", "sudo"]);
}
