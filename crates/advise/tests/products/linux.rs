use std::process::Command;

use nandle_advise::Product;
use nandle_advise::settings::Version;

use crate::fragments;

/// Files of `Documentation/ABI/stable/sysfs-block`.
const QUEUE: [&str; 5] = ["scheduler", "nr_requests", "max_sectors_kb", "read_ahead_kb", "wbt_lat_usec"];

#[test]
fn the_script_has_the_shells_form_and_writes_known_files() {
    for script in fragments(Product::Linux, Version::new(6, 12)) {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("nandle.sh");
        std::fs::write(&file, &script).unwrap();
        assert!(Command::new("sh").arg("-n").arg(&file).status().unwrap().success(), "{script}");
        let lines = script.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        for line in lines.filter(|line| !line.starts_with("device=")) {
            let (value, file) = line.strip_prefix("echo ").unwrap().rsplit_once(" > ").unwrap();
            match file.strip_prefix("/sys/block/$device/queue/") {
                Some(name) => assert!(QUEUE.contains(&name) && is_word(value), "{line}"),
                None => cost(file, value),
            }
        }
    }
}

fn is_word(value: &str) -> bool {
    value.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
}

/// `Documentation/admin-guide/cgroup-v2.rst`: the device's numbers, and nested keys.
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
