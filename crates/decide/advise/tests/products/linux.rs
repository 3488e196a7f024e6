use std::process::Command;

use nandle_advise::Product;
use nandle_advise::settings::Version;

use crate::fragments;
use crate::hostile::Machine;
use crate::made_up::{DISK, Drive, NVME};

/// Files of `Documentation/ABI/stable/sysfs-block`.
const QUEUE: [&str; 7] = [
    "rotational",
    "scheduler",
    "nr_requests",
    "max_sectors_kb",
    "read_ahead_kb",
    "wbt_lat_usec",
    "discard_max_bytes",
];

#[test]
fn script_is_valid_shell_and_writes_known_files() {
    for script in fragments(Product::Linux, Version::new(6, 12)) {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("nandle.sh");
        std::fs::write(&file, &script).unwrap();
        assert!(Command::new("sh").arg("-n").arg(&file).status().unwrap().success(), "{script}");
        for line in script.lines().filter_map(|line| line.strip_prefix("put ")) {
            let (file, value) = line.strip_prefix('"').unwrap().split_once("\" ").unwrap();
            let queue = file.strip_prefix("/sys/block/$device/queue/");
            match (queue, file.strip_prefix("/proc/sys/vm/")) {
                (Some(name), _) => assert!(QUEUE.contains(&name) && is_word(value), "{line}"),
                (_, Some(name)) => {
                    assert!(["dirty_bytes", "dirty_background_bytes"].contains(&name), "{line}");
                    assert!(value.parse::<u64>().unwrap() >= 16 << 20, "{line}");
                }
                _ => cost(file, value),
            }
        }
    }
}

/// The script runs in a directory that stands for the machine, and prints the previous values.
#[test]
fn each_value_is_set_and_the_previous_one_printed() {
    let script = fragments(Product::Linux, Version::new(6, 12)).swap_remove(0);
    let machine = Machine::new("sdx");
    let output = machine.run(&script, &[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(machine.read("sys/block/sdx/queue/scheduler"), "mq-deadline");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("queue/scheduler: 7 -> mq-deadline"), "{said}");
    assert_eq!(machine.read("sys/block/sdx/queue/max_sectors_kb"), "7", "it was as large as it is to be");
    assert!(machine.read("sys/fs/cgroup/io.cost.model").starts_with("8:0 ctrl=user model=linear rbps="));
    assert!(!machine.has("etc/sysctl.d/90-nandle.conf"), "it wasn't asked for");
    let written: u64 = machine.read("proc/sys/vm/dirty_bytes").parse().unwrap();
    assert_eq!(written, 64 << 20, "the disk's 1.2 MB/s are the least that there is");
}

#[test]
fn persistent_settings_are_written_for_udev_and_sysctl() {
    let mut profile = NVME.profile();
    for (name, wanted) in [(None, "KERNEL==\"sdx\""), (Some("eui.0025"), "ATTRS{wwid}==\"eui.0025\"")] {
        profile.identity.world_wide_name = name.map(str::to_owned);
        let script = nandle_advise::fragment(&crate::advice(&profile, Product::Linux, Version::new(6, 12)));
        let machine = Machine::new("sdx");
        let output = machine.run(&script, &["lasting"]);
        assert!(output.status.success(), "{output:?} of {script}");
        let rules = machine.read("etc/udev/rules.d/90-nandle-sdx.rules");
        let scheduler = format!(
            "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", {wanted}, ATTR{{queue/scheduler}}=\"none\""
        );
        assert!(rules.lines().any(|line| line == scheduler), "{rules}");
        let machine_wide = machine.read("etc/sysctl.d/90-nandle.conf");
        assert!(machine_wide.contains("vm.dirty_background_bytes = 536870912"), "{machine_wide}");
    }
}

/// Without a scheduler the kernel refuses more requests than the device's queue holds. A refusal
/// doesn't stop the script.
#[test]
fn nr_requests_stays_within_the_kernels_limit() {
    let name = "/sys/block/$device/queue/nr_requests";
    let fast = crate::advice(&NVME.profile(), Product::Linux, Version::new(6, 12));
    let requests = fast.setting(name).unwrap();
    assert!(requests.only_a_comment.is_some() && requests.value == "64", "{requests:?}");
    let mut deep = DISK.profile();
    for row in &mut deep.derived.saturating_queue_depth {
        row.queue_depth = nandle_profile::Interval::exact(4000);
    }
    let requests = crate::advice(&deep, Product::Linux, Version::new(6, 12)).setting(name).unwrap().clone();
    assert!(requests.only_a_comment.is_none() && requests.value == "1024", "{requests:?}");
    let machine = Machine::new("sdx");
    let script = fragments(Product::Linux, Version::new(6, 12))
        .swap_remove(0)
        .replace("/queue/scheduler", "/queue/none");
    let output = machine.run(&script, &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(machine.read("proc/sys/vm/dirty_bytes"), (64 << 20).to_string());
}

/// The flag is cleared if the latency rules out a disk, and kept for a possible remote volume.
#[test]
fn wrong_rotational_flag_is_corrected() {
    let name = "/sys/block/$device/queue/rotational";
    let set = |drive: &Drive| {
        let advice = crate::advice(&drive.profile(), Product::Linux, Version::new(6, 12));
        let setting = advice.setting(name).unwrap().clone();
        setting.only_a_comment.is_none().then_some(setting.value)
    };
    assert_eq!(set(&Drive { rotational: true, ..NVME }), Some("0".into()));
    assert_eq!(set(&NVME), None);
    assert_eq!(set(&DISK), None);
    assert_eq!(set(&Drive { rotational: false, ..DISK }), None);
}

fn is_word(value: &str) -> bool {
    value.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
}

/// `Documentation/admin-guide/cgroup-v2.rst`: device numbers and nested keys.
#[track_caller]
fn cost(file: &str, value: &str) {
    let words = value.trim_matches('"').strip_prefix("$(cat /sys/block/$device/dev) ").unwrap();
    let pairs: Vec<(&str, &str)> = words.split(' ').map(|word| word.split_once('=').unwrap()).collect();
    let names: Vec<&str> = pairs.iter().map(|(name, _)| *name).collect();
    match file {
        "/sys/fs/cgroup/io.cost.model" => {
            let wanted = ["ctrl", "model", "rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"];
            assert_eq!(names, wanted);
            assert_eq!(pairs[..2], [("ctrl", "user"), ("model", "linear")]);
            assert!(pairs[2..].iter().all(|(_, value)| value.parse::<u64>().unwrap() > 0), "{words}");
        }
        "/sys/fs/cgroup/io.cost.qos" => {
            assert_eq!(names, ["enable", "ctrl", "rpct", "rlat", "wpct", "wlat", "min", "max"]);
            let number = |index: usize| pairs[index].1.parse::<f64>().unwrap();
            assert!((0.0..=100.0).contains(&number(2)) && number(3) > 0.0 && number(6) <= number(7));
        }
        other => panic!("{other} is no file of the kernel's"),
    }
}
