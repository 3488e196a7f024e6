//! Input crafted to exhaust memory or time, and files in use by others.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use crate::common::{LoopDevice, MIB, NANDLE, Outcome, Place, SHORT, is_root, scattered_writes, skip};

/// Runs the program with `kib` of address space.
fn in_kib(place: &Place, kib: u64, arguments: &str) -> Outcome {
    let script = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
    let words = ["sh", "-c", &script, NANDLE].map(str::to_owned);
    place.command_of(&words, arguments).output().unwrap().into()
}

const GIB_IN_KIB: u64 = 1 << 20;

#[test]
fn a_line_of_a_trace_is_of_no_more_bytes_than_a_request_can_have() {
    let place = Place::new();
    for bytes in ["9000000000000000000", "1000000000000", "4294967296"] {
        place.write("huge.csv", format!("{}5,write,0,{bytes}\n", scattered_writes(10)));
        let stat = in_kib(&place, GIB_IN_KIB, "trace stat huge.csv");
        stat.refused(
            1,
            &["line 12", &format!("{bytes} bytes; no request has more than 4294967295"), "--skip-bad"],
        );
        let counted = in_kib(&place, GIB_IN_KIB, "trace stat huge.csv --skip-bad --json").done().json();
        assert_eq!((&counted["bad_lines"], &counted["writes"]), (&1.into(), &10.into()));
        let replay = in_kib(&place, 4 * GIB_IN_KIB, "replay huge.csv --on model:mtron-16");
        replay.refused(1, &["line 12", "no request has more"]);
    }
}

#[test]
fn files_without_an_end_are_not_read_to_it() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(10));
    for name in ["zero.toml", "zero.csv", "zero.json", "zero.zst"] {
        symlink("/dev/zero", place.path(name)).unwrap();
    }
    let refused = |arguments: &str, parts: &[&str]| {
        let outcome = in_kib(&place, 4 * GIB_IN_KIB, arguments);
        assert!(matches!(outcome.code, Some(1 | 2)), "{arguments}: {outcome:?}");
        outcome.says(parts);
    };
    refused("models show zero.toml", &["zero.toml", "more than 1MiB"]);
    refused("probe model:zero.toml", &["zero.toml", "more than 1MiB"]);
    refused("probe model:x25-e-64:faults=zero.toml", &["zero.toml", "more than 1MiB"]);
    refused("report zero.json --output r.html", &["zero.json", "more than 8 MiB"]);
    refused("replay a.csv --on model:x25-e-64 --profile zero.json", &["zero.json", "more than 8 MiB"]);
    refused("trace stat zero.csv", &["zero.csv"]);
    refused(&format!("sweep . {SHORT_SWEEP} --resume zero.csv"), &["zero.csv", "no regular file"]);
}

const SHORT_SWEEP: &str = crate::common::ONE_CELL;

#[test]
fn a_directory_is_no_file_and_a_pipe_may_be_a_trace() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(100));
    fs::create_dir(place.path("d.toml")).unwrap();
    for command in [
        "models show d.toml",
        "report d.toml --output r.html",
        "trace stat d.toml",
        "probe model:x25-e-64:faults=d.toml",
    ] {
        let outcome = place.nandle(command);
        assert!(matches!(outcome.code, Some(1 | 2)), "{command}: {outcome:?}");
        outcome.says(&["d.toml", "irectory"]);
    }
    let script = "mkfifo pipe && { cat a.csv > pipe & }; exec \"$0\" trace stat pipe --json";
    let words = ["sh", "-c", script, NANDLE].map(str::to_owned);
    let told = Outcome::from(place.command_of(&words, "").output().unwrap()).done().json();
    assert_eq!(told["writes"], 100);
}

#[test]
fn a_byte_order_mark_says_nothing() {
    let place = Place::new();
    let mark = |text: &str| format!("\u{feff}{text}");
    place.write("a.csv", mark(&scattered_writes(50)));
    assert_eq!(place.nandle("trace stat a.csv --json").done().json()["writes"], 50);
    let toml = place.nandle("models export x25-e-64").done().stdout;
    place.write("own.toml", mark(&toml));
    place.write("faults.toml", mark("space_bytes = 5242880\n"));
    place.nandle("models show own.toml").done();
    place.nandle(&format!("probe model:own.toml:faults=faults.toml {SHORT}")).done();
    place.write("profile.json", mark(&String::from_utf8(place.read("profile.json")).unwrap()));
    place.nandle("report profile.json --output again.html").done();
    let sweep =
        "sweep model:x25-e-64 --block-sizes 4KiB --patterns random --queue-depths 1 --time-per-run 20ms";
    place.nandle(&format!("{sweep} --output cells.csv")).done();
    place.write("cells.csv", mark(&String::from_utf8(place.read("cells.csv")).unwrap()));
    place.nandle(&format!("{sweep} --resume cells.csv")).done();
}

#[test]
fn a_profile_of_a_version_that_it_can_not_be_of_is_refused() {
    let place = Place::new();
    place.nandle(&format!("probe model:x25-e-64 {SHORT}")).done();
    let text = String::from_utf8(place.read("profile.json")).unwrap();
    place.write("zero.json", text.replace("\"schema_version\": 1,", "\"schema_version\": 0,"));
    place
        .nandle("report zero.json --output r.html")
        .refused(1, &["zero.json", "schema_version is 0", "experiments"]);
    // Refused before the slow parse.
    let long = text.replacen('{', &format!("{{\"padding\": [{}0],", "0,".repeat(5 << 20)), 1);
    place.write("long.json", long);
    place.nandle("report long.json --output r.html").refused(1, &["long.json", "more than 8 MiB"]);
}

#[test]
fn a_file_that_another_process_has_open_is_not_written_over() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(20));
    let before = place.write_noise("data", 16 * MIB);
    let mut tail = std::process::Command::new("tail")
        .args(["-f", "data"])
        .current_dir(place.path("."))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let command = "replay a.csv --on data --overwrite --policies direct";
    // The child opens it some time after its start.
    let mut outcome = place.nandle(&format!("sweep data {SHORT_SWEEP}")).done();
    for _ in 0..100 {
        let opened = fs::read_dir(format!("/proc/{}/fd", tail.id())).unwrap().flatten();
        if opened.filter_map(|file| fs::read_link(file.path()).ok()).any(|path| path.ends_with("data")) {
            outcome = place.nandle(command);
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (id, ended) = (tail.id(), tail.kill());
    tail.wait().unwrap();
    ended.unwrap();
    outcome.refused(
        2,
        &["data: writing over this file is refused", &format!("tail (process {id}) has it open")],
    );
    assert!(place.read("data") == before, "nothing was written");
    place.nandle(command).done();
}

#[test]
fn an_image_behind_a_loop_device_is_not_written_over() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(20));
    let before = place.write_noise("image", 16 * MIB);
    if !is_root() {
        return skip("only an administrator has loop devices");
    }
    let Some(device) = LoopDevice::new(&place.path("image")) else { return };
    let name = device.path.file_name().unwrap().to_str().unwrap().to_owned();
    for command in [
        "replay a.csv --on image --overwrite --policies direct",
        "sweep image --overwrite --operation write --block-sizes 4KiB",
    ] {
        place.nandle(command).refused(2, &["image", &format!("it is behind the loop device {name}")]);
    }
    assert!(place.read("image") == before, "nothing was written");
    drop(device);
    fs::create_dir(place.path("mounted")).unwrap();
    let script = "mkfs.ext4 -q -F image && mount -o loop image mounted || exit 99; \
                  \"$0\" replay a.csv --on image --overwrite --policies direct; code=$?; umount mounted; exit $code";
    let Some(outcome) = place.in_own_mounts(script) else { return };
    outcome.refused(2, &["it is behind the loop device", "is mounted at", "mounted"]);
}

/// A modelled drive stores its contents, and a few short lines write more than any machine's
/// memory.
#[test]
fn a_modelled_drive_is_not_asked_to_keep_more_than_there_is_memory_for() {
    let place = Place::new();
    let lines = (0..400).map(|number: u64| format!("{number},write,{},4294963200\n", number << 32));
    place.write("large.csv", format!("time_us,op,address,length\n{}", lines.collect::<String>()));
    let outcome = in_kib(&place, 4 * GIB_IN_KIB, "replay large.csv --on model:nvme-plp --policies direct");
    outcome.refused(2, &["keeps what is written to it in memory", "1.95TiB", "--limit"]);
}

/// Each short line of a trace is an area of its own, and a store keeps state for all its pages.
#[test]
fn a_policy_that_takes_more_memory_for_a_sparse_trace_than_there_is_is_left_out() {
    let place = Place::new();
    let lines = (0..8000).map(|number: u64| format!("{number},write,{},4096\n", number << 44));
    place.write("sparse.csv", format!("time_us,op,address,length\n{}", lines.collect::<String>()));
    let replay = "replay sparse.csv --on model:nvme-plp --policies direct,out-of-place --no-verify --json";
    let Some(outcome) = in_a_group_of_200_mib(&place, replay) else { return };
    let json = outcome.done().json();
    let left_out = json["left_out"].to_string();
    assert!(
        left_out.contains("out-of-place") && left_out.contains("of memory to know where they are"),
        "{json}"
    );
    assert_eq!(json["policies"].as_array().unwrap().len(), 1, "direct takes less: {json}");
    let replay = "replay sparse.csv --on model:nvme-plp --policies out-of-place --json";
    let Some(outcome) = in_a_group_of_200_mib(&place, replay) else { return };
    outcome.refused(2, &["of memory to know where they are", "--limit"]);
}

/// Runs a shell line in a memory control group of 200 MiB. `None`, with a notice, if there are no
/// groups.
fn in_a_group_of_200_mib(place: &Place, arguments: &str) -> Option<Outcome> {
    if !is_root() {
        skip("only an administrator has control groups");
        return None;
    }
    let script = "\
        set -- \"$@\"; two=$(sed -n 's/^0:://p' /proc/self/cgroup); one=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
        group=/sys/fs/cgroup/memory$one/nandle-test-$$; limit=memory.limit_in_bytes
        [ -n \"$one\" ] || { group=/sys/fs/cgroup$two/nandle-test-$$; limit=memory.max; }
        mkdir $group && echo 209715200 > $group/$limit || { rmdir $group; exit 99; }
        sh -c 'echo $$ > \"$1\"/cgroup.procs || exit 99; shift; exec \"$@\"' sh $group \"$0\" \"$@\"; code=$?
        for try in 1 2 3 4 5 6 7 8 9; do rmdir $group 2>/dev/null && break; sleep 0.2; done; exit $code";
    let words = ["sh", "-c", script, NANDLE].map(str::to_owned);
    let outcome: Outcome = place.command_of(&words, arguments).output().unwrap().into();
    if outcome.code == Some(99) {
        skip(&outcome.stderr);
        return None;
    }
    Some(outcome)
}

#[test]
fn a_control_group_with_little_memory_gets_smaller_buffers_and_is_told_so() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(300));
    let Some(outcome) = in_a_group_of_200_mib(&place, "probe . --budget 2s --file-size 64MiB") else {
        return;
    };
    outcome.done();
    let remarks = place.json("profile.json")["conditions"]["remarks"].to_string();
    assert!(
        remarks.contains("Memory for requests outstanding") && remarks.contains("instead of 256MiB"),
        "{remarks}"
    );
    let replay = "replay a.csv --on . --json --queue-depth 64";
    let Some(outcome) = in_a_group_of_200_mib(&place, replay) else { return };
    let json = outcome.done().json();
    assert!(json["remarks"].to_string().contains("Memory for each store"), "{}", json["remarks"]);
    assert_eq!(json["policies"].as_array().unwrap().len(), 6);
}
