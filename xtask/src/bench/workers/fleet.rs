//! Workers, and the names under which sets of them run queries.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::options::Options;
use super::{GROUP_BYTES, MEMORY_BYTES};
use crate::Outcome;
use crate::bench::background::Background;
use crate::bench::conditions::Conditions;
use crate::bench::data_folder::DataFolder;
use crate::bench::release::{nandle_sql, probe};
use crate::bench::speed::Speed;
use crate::bench::tpch;

/// A process without workers.
pub(super) const ALONE: &str = "one process";
pub(super) const ONE: &str = "one worker";
pub(super) const TWO: &str = "two workers";
/// Two workers. The second has a limited device, and the first one's profile.
pub(super) const EQUAL: &str = "equal shares";
/// Two workers, each with its own device's profile.
pub(super) const BY_TIME: &str = "shares by time";

/// Core of the first worker, and of the others.
const CORES: [&str; 2] = ["0", "1"];
/// Long interval: their memory is limited but not measured.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(super) struct Fleet {
    pub(super) profile: PathBuf,
    first: Background,
    second: Background,
    /// Worker with a limited device and its correct profile.
    limited: Background,
    /// Worker with a limited device and the first one's profile.
    mistaken: Background,
}

impl Fleet {
    /// Starts all workers, each with a profile taken today.
    pub(super) fn start(options: &Options, data: &DataFolder, files: &Path) -> Outcome<Self> {
        let folder = data.path();
        let (profile, slow) = (folder.join("profile.json"), folder.join("limited-profile.json"));
        probe(folder, &options.probe_budget, None, &profile)?;
        let group = conditions(folder, Speed::Limited).group().ok_or("no cgroup limits reads here")?;
        probe(folder, &options.probe_budget, Some(&group), &slow)?;
        let worker = |core, speed, profile: &Path| start(folder, files, core, speed, profile);
        let [one, other] = CORES;
        Ok(Self {
            first: worker(one, Speed::AsIs, &profile)?,
            second: worker(other, Speed::AsIs, &profile)?,
            limited: worker(other, Speed::Limited, &slow)?,
            mistaken: worker(other, Speed::Limited, &profile)?,
            profile,
        })
    }

    /// Addresses of the workers in a set.
    pub(super) fn urls(&self, name: &str) -> Outcome<Vec<&str>> {
        let second = match name {
            TWO => &self.second,
            BY_TIME => &self.limited,
            EQUAL => &self.mistaken,
            ONE => return Ok(vec![self.first.told("url")?]),
            _ => return Ok(Vec::new()),
        };
        Ok(vec![self.first.told("url")?, second.told("url")?])
    }
}

/// Cores of a set of workers. The coordinator uses the same ones.
pub(super) fn cores(name: &str) -> String {
    let count = if matches!(name, ALONE | ONE) { 1 } else { 2 };
    CORES.get(..count).unwrap_or(&CORES).join(",")
}

/// Command bound to some cores.
pub(super) fn bound(command: &Command, cores: &str) -> Command {
    let mut bound = Command::new("taskset");
    bound.args(["--cpu-list", cores]).arg(command.get_program()).args(command.get_args());
    bound
}

fn start(folder: &Path, files: &Path, core: &str, speed: Speed, profile: &Path) -> Outcome<Background> {
    let mut command = nandle_sql();
    command.arg("worker").args(tpch::tables(files)?).arg("--profile").arg(profile).arg("--json");
    command.args(["--threads", "1", "--memory", &MEMORY_BYTES.to_string()]);
    command.arg("--spill-directory").arg(folder);
    let group = conditions(folder, speed).group().ok_or("no cgroup limits memory and reads here")?;
    Background::start(&bound(&command, core), group.looked_at_every(LOOK_EVERY))
}

fn conditions(folder: &Path, speed: Speed) -> Conditions<'_> {
    Conditions { speed, group_bytes: GROUP_BYTES, folder }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_has_the_cores_of_the_workers() {
        assert_eq!((cores(ALONE), cores(ONE)), ("0".to_owned(), "0".to_owned()));
        assert_eq!((cores(TWO), cores(BY_TIME)), ("0,1".to_owned(), "0,1".to_owned()));
        let bound = bound(Command::new("echo").arg("here"), "0");
        assert_eq!(bound.get_args().collect::<Vec<_>>(), ["--cpu-list", "0", "echo", "here"]);
    }
}
