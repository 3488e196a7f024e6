//! A tracefs instance: private events, buffers and settings, independent of other tracing.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nandle_terminal::interrupt::remove_when_interrupted;
use rustix::fs::OFlags;

use super::tracefs::refused;
use crate::error::CliError;

/// Prefix of instance names; the process id follows.
const PREFIX: &str = "nandle-";
/// Options inherited from the system's settings that change the format of lines. Without
/// `overwrite` lost events aren't reported.
const UNWANTED: [&str; 6] = ["raw", "hex", "bin", "fields", "latency-format", "verbose"];
const WANTED: [&str; 3] = ["context-info", "irq-info", "overwrite"];

/// Removed on drop.
#[derive(Debug)]
pub(super) struct Instance {
    directory: PathBuf,
}

impl Instance {
    /// Creates an instance with `buffer_bytes` per processor. Removes the instances of killed
    /// processes first.
    pub(super) fn create(tracefs: &Path, buffer_bytes: u64) -> Result<Self, CliError> {
        let instances = tracefs.join("instances");
        remove_left(&instances);
        let directory = instances.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&directory)
            .map_err(|error| refused("making an instance of the kernel's tracing", &directory, &error))?;
        let instance = Self { directory };
        remove_when_interrupted([instance.directory.as_path()].into_iter());
        // The default clock may differ between processors.
        instance.set("trace_clock", "mono")?;
        instance.set("buffer_size_kb", &buffer_bytes.div_ceil(1024).to_string())?;
        let options = instance.get("trace_options")?;
        let is_set = |option: &str| options.lines().any(|line| line == option);
        for option in UNWANTED.into_iter().filter(|option| is_set(option)) {
            instance.set("trace_options", &format!("no{option}"))?;
        }
        for option in WANTED.into_iter().filter(|option| is_set(&format!("no{option}"))) {
            instance.set("trace_options", option)?;
        }
        Ok(instance)
    }

    /// Enables an event, restricted by a kernel filter.
    pub(super) fn enable(&self, event: &str, filter: Option<&str>) -> Result<(), CliError> {
        if let Some(filter) = filter {
            self.set(&format!("events/{event}/filter"), filter)?;
        }
        self.set(&format!("events/{event}/enable"), "1")
    }

    /// Stops recording; recorded events stay readable.
    pub(super) fn stop(&self) -> Result<(), CliError> {
        self.set("tracing_on", "0")
    }

    /// Pipe that delivers each event once. A read without events fails with `WouldBlock`.
    pub(super) fn pipe(&self) -> Result<File, CliError> {
        let path = self.directory.join("trace_pipe");
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(&path);
        opened.map_err(|error| refused("opening", &path, &error))
    }

    /// Events that were overwritten before they were read, or dropped for lack of space.
    pub(super) fn lost_events(&self) -> Result<u64, CliError> {
        let per_cpu = self.directory.join("per_cpu");
        let processors = fs::read_dir(&per_cpu).map_err(|error| refused("reading", &per_cpu, &error))?;
        let mut lost = 0;
        for processor in processors {
            let path = processor.map_err(|error| refused("reading", &per_cpu, &error))?.path().join("stats");
            let text = fs::read_to_string(&path).map_err(|error| refused("reading", &path, &error))?;
            lost += lost_of(&text).ok_or_else(|| {
                CliError::failed(format!(
                    "{}: expected the number of overruns and got {text:?}",
                    path.display()
                ))
            })?;
        }
        Ok(lost)
    }

    /// Removes the instance. Its pipe must be closed.
    pub(super) fn remove(self) -> Result<(), CliError> {
        fs::remove_dir(&self.directory).map_err(|error| refused("removing", &self.directory, &error))
    }

    fn get(&self, name: &str) -> Result<String, CliError> {
        let path = self.directory.join(name);
        fs::read_to_string(&path).map_err(|error| refused("reading", &path, &error))
    }

    fn set(&self, name: &str, value: &str) -> Result<(), CliError> {
        let path = self.directory.join(name);
        write(&path, value).map_err(|error| refused(&format!("writing {value:?} to"), &path, &error))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // After another error, which is the one reported; the next capture removes the rest.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Writes to an existing file.
fn write(path: &Path, value: &str) -> io::Result<()> {
    io::Write::write_all(&mut OpenOptions::new().write(true).open(path)?, value.as_bytes())
}

/// Removes the instances of dead processes.
fn remove_left(instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if id.is_some_and(|id| !Path::new(&format!("/proc/{id}")).exists()) {
            // Fails for an instance that another program reads.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Lost events according to one processor's buffer statistics.
fn lost_of(text: &str) -> Option<u64> {
    let value =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    Some(value("overrun:")? + value("commit overrun:")? + value("dropped events:")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overruns_and_dropped_events_are_lost() {
        let text = "entries: 1\noverrun: 812\ncommit overrun: 3\nbytes: 40\noldest event ts: 69408.045872\n\
                    now ts: 69408.083787\ndropped events: 7\nread events: 97\n";
        assert_eq!(lost_of(text), Some(822));
        assert_eq!(lost_of("entries: 1\n"), None);
    }

    #[test]
    fn what_is_no_instance_is_an_error_that_names_the_file() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("instances")).unwrap();
        let said = Instance::create(directory.path(), 4096).unwrap_err().to_string();
        assert!(said.contains("writing \"mono\" to") && said.contains("trace_clock"), "{said}");
        let left = fs::read_dir(directory.path().join("instances")).unwrap().count();
        assert_eq!(left, 0, "it is removed after an error, too");
    }
}
