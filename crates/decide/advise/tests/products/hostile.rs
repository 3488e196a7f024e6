//! Profiles are shared between people, so their strings are untrusted input.

use std::path::Path;
use std::process::{Command, Output};

use nandle_advise::{Product, fragment};
use nandle_profile::{DeviceProfile, FileSystem};
use saphyr::{LoadableYamlNode as _, Yaml};

use crate::advice;
use crate::made_up::{DISK, NVME};

/// String that attacks shells, terminals, one-line comments, and readers who trust the order of
/// letters.
const ATTACK: &str =
    "vda; touch PWNED #\ntouch PWNED\r\u{1b}]0;owned\u{7}\u{9b}31m$(touch PWNED)`touch PWNED`'\"\u{202e}";

/// Profile with the attack in each string that is printed.
fn hostile() -> DeviceProfile {
    let mut profile = DISK.profile();
    profile.target = ATTACK.into();
    profile.identity.model = Some(ATTACK.into());
    profile.identity.kernel_name = Some(ATTACK.into());
    profile.identity.world_wide_name = Some(ATTACK.into());
    profile.identity.serial = Some(ATTACK.into());
    profile.partial = vec![ATTACK.into()];
    profile.system.queue.as_mut().unwrap().schedulers_available = vec![ATTACK.into()];
    profile.system.file_system = Some(FileSystem { mount_point: ATTACK.into(), ..FileSystem::default() });
    profile
}

/// Directory that stands for the machine: the script writes to its copies of the kernel's files and
/// `/etc`.
pub(crate) struct Machine {
    home: tempfile::TempDir,
}

impl Machine {
    pub(crate) fn new(device: &str) -> Self {
        let machine = Self { home: tempfile::tempdir().unwrap() };
        let folders = ["sys/block", "sys/fs/cgroup", "proc/sys/vm", "etc/udev/rules.d", "etc/sysctl.d"];
        for folder in folders {
            std::fs::create_dir_all(machine.path(folder)).unwrap();
        }
        let queue = format!("sys/block/{device}/queue");
        std::fs::create_dir_all(machine.path(&queue)).unwrap();
        for file in [
            "scheduler",
            "rotational",
            "nr_requests",
            "max_sectors_kb",
            "read_ahead_kb",
            "wbt_lat_usec",
            "discard_max_bytes",
        ] {
            machine.write(&format!("{queue}/{file}"), "7");
        }
        machine.write(&format!("sys/block/{device}/dev"), "8:0");
        for file in ["proc/sys/vm/dirty_bytes", "proc/sys/vm/dirty_background_bytes"] {
            machine.write(file, "0");
        }
        for file in ["sys/fs/cgroup/io.cost.model", "sys/fs/cgroup/io.cost.qos"] {
            machine.write(file, "");
        }
        machine
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.home.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.path(path), format!("{text}\n")).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap().trim_end().to_owned()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Runs a script like `sh -s -- ARGUMENTS`.
    pub(crate) fn run(&self, script: &str, arguments: &[&str]) -> Output {
        let inside = |root: &str| format!("{}{root}", self.home.path().display());
        let mut script = script.to_owned();
        for root in ["/sys/block", "/sys/fs", "/proc/sys", "/etc/"] {
            script = script.replace(root, &inside(root));
        }
        self.write("nandle.sh", &script);
        let shell =
            Command::new("sh").arg("nandle.sh").args(arguments).current_dir(self.home.path()).output();
        shell.unwrap()
    }
}

#[test]
fn script_runs_nothing_from_the_profile() {
    let text = fragment(&advice(&hostile(), Product::Linux, Product::Linux.latest()));
    let machine = Machine::new("sda");
    machine.run(&text, &["sda"]);
    assert!(!machine.has("PWNED"), "{text}");
    let read_only = fragment(&advice(&hostile_and_whole(), Product::Linux, Product::Linux.latest()));
    let output = machine.run(&read_only, &["sda", "lasting"]);
    assert!(!machine.has("PWNED"), "{read_only}");
    assert!(output.status.success(), "{output:?} of {read_only}");
    assert_eq!(machine.read("sys/block/sda/queue/scheduler"), "mq-deadline", "what isn't the name's is set");
    let rules = machine.read("etc/udev/rules.d/90-nandle-sda.rules");
    assert!(rules.contains("KERNEL==\"sda\"") && !rules.contains("PWNED"), "{rules}");
}

/// The script of a partial profile sets nothing; this profile is complete.
fn hostile_and_whole() -> DeviceProfile {
    let mut profile = hostile();
    profile.partial.clear();
    profile.system.queue.as_mut().unwrap().schedulers_available = vec!["mq-deadline".into()];
    profile
}

/// A name that ends its comment could set a value.
#[test]
fn names_stay_in_comments_and_send_no_control_sequences() {
    for product in Product::ALL {
        let text = fragment(&advice(&hostile(), product, product.latest()));
        let harmless = fragment(&advice(&DISK.profile(), product, product.latest()));
        let starts_with_attack = |line: &str| line.trim_start().starts_with("touch");
        assert!(!text.lines().any(starts_with_attack), "{product}: {text}");
        let disturbs = |letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202e}';
        assert!(!text.contains(disturbs), "{product}: {text:?}");
        assert!(!harmless.contains(disturbs));
    }
}

#[test]
fn mount_point_is_a_single_yaml_string() {
    let mut profile = NVME.profile();
    for mount_point in [ATTACK, "/var/lib/scylla", "/data: x", "/it's here", "- /x", "/x\n    read_iops: 1"] {
        profile.system.file_system =
            Some(FileSystem { mount_point: mount_point.into(), ..FileSystem::default() });
        let text = fragment(&advice(&profile, Product::Seastar, Product::Seastar.latest()));
        let documents = Yaml::load_from_str(&text).unwrap();
        let disks = documents[0].as_mapping_get("disks").unwrap().as_vec().unwrap();
        let read = disks[0].as_mapping_get("mountpoint").unwrap().as_str().unwrap();
        assert_eq!(Path::new(read), Path::new(mount_point), "{text}");
    }
}
