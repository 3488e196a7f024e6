//! Machine that a benchmark ran on: facts that affect its figures, and none that identify an owner.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use serde::Serialize;

use crate::command::answer;

/// Facts that affect a benchmark's figures; `null` where the system doesn't report them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: Option<String>,
    pub(crate) cores: Option<usize>,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) kernel: Option<String>,
    /// Hypervisor, or `none`.
    pub(crate) virtualisation: Option<String>,
    pub(crate) disk: Option<Disk>,
    pub(crate) fio: Option<String>,
}

/// Block device under the benchmark's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Disk {
    /// Name in the kernel, like `vda` or `nvme0n1`.
    pub(crate) name: String,
    pub(crate) scheduler: Option<String>,
}

/// Collects the facts, with the disk that holds `folder`.
pub(crate) fn machine(folder: &Path) -> Machine {
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    Machine {
        cpu: field(&cpu_info, "model name"),
        cores: thread::available_parallelism().ok().map(NonZero::get),
        memory_bytes: fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory_bytes(&text)),
        kernel: line("/proc/sys/kernel/osrelease").map(|release| version(&release).to_owned()),
        virtualisation: virtualisation(&cpu_info),
        disk: disk(folder),
        fio: answer("fio", &["--version"]),
    }
}

impl Machine {
    /// Short description for file names, like `amd-epyc-2-cores-kvm`.
    pub(crate) fn slug(&self) -> String {
        let cpu = self.cpu.as_deref().unwrap_or("unknown-cpu");
        let cores = self.cores.map_or_else(String::new, |cores| format!(" {cores} cores"));
        let virtualisation = self.virtualisation.as_deref().filter(|kind| *kind != "none").unwrap_or("");
        slug(&format!("{cpu}{cores} {virtualisation}"))
    }

    /// Description in a sentence, for a table's caption.
    pub(crate) fn sentence(&self) -> String {
        let told = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "unknown".to_owned());
        let disk = self.disk.as_ref().map_or_else(
            || "unknown".to_owned(),
            |disk| format!("{} (scheduler {})", disk.name, told(&disk.scheduler)),
        );
        format!(
            "Machine: {}, {} cores, {} GiB; Linux {}; virtualisation: {}; disk: {disk}; fio: {}.",
            told(&self.cpu),
            self.cores.unwrap_or(0),
            self.memory_bytes.unwrap_or(0) >> 30,
            told(&self.kernel),
            told(&self.virtualisation),
            told(&self.fio),
        )
    }
}

fn slug(text: &str) -> String {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// Value of the first `name : value` line.
fn field(text: &str, name: &str) -> Option<String> {
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    let mut values = fields.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned());
    values.next()
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let total = field(meminfo, "MemTotal")?;
    Some(total.strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Numbers of a kernel release, without the builder's suffix.
fn version(release: &str) -> &str {
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.');
    release.get(..end.unwrap_or(release.len())).unwrap_or(release)
}

/// Hypervisor by systemd, or by the processor's flags without it.
fn virtualisation(cpu_info: &str) -> Option<String> {
    // The tool also fails when it detects none, so a failure is no evidence.
    answer("systemd-detect-virt", &["--vm"]).or_else(|| {
        let flags = field(cpu_info, "flags")?;
        let is_guest = flags.split_whitespace().any(|flag| flag == "hypervisor");
        Some(if is_guest { "virtual" } else { "none" }.to_owned())
    })
}

/// Device numbers of the disk that holds `folder`, like `254:0`.
pub(crate) fn disk_numbers(folder: &Path) -> Option<String> {
    line(disk_folder(folder)?.join("dev"))
}

/// Sysfs folder of the disk that holds `folder`.
fn disk_folder(folder: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let (major, minor) = device_number(fs::metadata(folder).ok()?.dev());
    whole_disk(fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?)
}

fn disk(folder: &Path) -> Option<Disk> {
    let device = disk_folder(folder)?;
    let schedulers = line(device.join("queue/scheduler"));
    Some(Disk {
        name: device.file_name()?.to_string_lossy().into_owned(),
        scheduler: schedulers.and_then(|schedulers| active_scheduler(&schedulers)),
    })
}

/// Disk of a partition, whose folder contains that of the partition.
fn whole_disk(device: PathBuf) -> Option<PathBuf> {
    if device.join("partition").exists() { device.parent().map(Path::to_owned) } else { Some(device) }
}

/// Major and minor number, unpacked from the 64-bit `dev_t` of user space.
fn device_number(device: u64) -> (u64, u64) {
    let major = (device >> 8) & 0xfff | (device >> 32) & !0xfff;
    let minor = device & 0xff | (device >> 12) & 0xffff_ff00;
    (major, minor)
}

/// Name in brackets: `none [mq-deadline] kyber`.
fn active_scheduler(schedulers: &str) -> Option<String> {
    let (_, rest) = schedulers.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_lists() {
        let cpu_info = "processor\t: 0\nmodel name\t: AMD EPYC\nprocessor\t: 1\nmodel name\t: other\n";
        assert_eq!(field(cpu_info, "model name").as_deref(), Some("AMD EPYC"));
        assert_eq!(field(cpu_info, "flags"), None);
        assert_eq!(memory_bytes("MemTotal:       24000 kB\nMemFree: 1 kB\n"), Some(24_576_000));
        assert_eq!(version("6.12.3-custom+"), "6.12.3");
        assert_eq!(active_scheduler("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
    }

    #[test]
    fn device_numbers_split_as_the_kernel_packs_them() {
        assert_eq!(device_number(0xfe00), (254, 0));
        assert_eq!(device_number(0x1012_3445), (0x234, 0x10145));
    }

    #[test]
    fn the_slug_names_no_host() {
        let machine = Machine {
            cpu: Some("Intel(R) Xeon(R) @ 2.20GHz".to_owned()),
            cores: Some(2),
            memory_bytes: None,
            kernel: None,
            virtualisation: Some("kvm".to_owned()),
            disk: None,
            fio: None,
        };
        assert_eq!(machine.slug(), "intel-r-xeon-r-2-20ghz-2-cores-kvm");
    }

    #[test]
    fn this_machine_has_cores_and_memory() {
        let machine = machine(&crate::workspace_root());
        assert!(machine.cores.is_some_and(|cores| cores > 0));
        assert!(machine.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
        assert!(machine.kernel.is_some());
    }
}
