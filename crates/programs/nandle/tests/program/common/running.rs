use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::Outcome;

/// Timeout after which a test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// The running program, killed on drop.
pub(crate) struct Running {
    child: Option<Child>,
}

impl Running {
    pub(crate) fn new(child: Child) -> Self {
        Self { child: Some(child) }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub(crate) fn has_ended(&self) -> bool {
        // A zombie has no open files.
        fs::read_dir(format!("/proc/{}/fd", self.id())).map_or(true, |mut files| files.next().is_none())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child.as_ref().unwrap()), signal).unwrap();
    }

    /// Waits for the program's end.
    pub(crate) fn end(mut self) -> Outcome {
        self.child.take().unwrap().wait_with_output().unwrap().into()
    }

    /// Sends a signal and waits for the program's end, which must come soon.
    #[track_caller]
    pub(crate) fn end_after(self, signal: Signal) -> Outcome {
        self.signal(signal);
        let sent = Instant::now();
        let outcome = self.end();
        // Two seconds are promised; the test machine may be busy.
        assert!(sent.elapsed() < Duration::from_secs(4), "{:?} {outcome:?}", sent.elapsed());
        outcome
    }

    /// Waits until `holds` returns true while the program runs.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < PATIENCE, "still not: {what}");
            assert!(!self.has_ended() || holds(), "it ended before this: {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Bytes that it has read from and written to the disk so far.
    pub(crate) fn disk_bytes(&self) -> Option<(u64, u64)> {
        let text = fs::read_to_string(format!("/proc/{}/io", self.id())).ok()?;
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        Some((value("read_bytes:")?, value("write_bytes:")?))
    }

    /// Waits until it has written `bytes`.
    #[track_caller]
    pub(crate) fn wait_until_written(&self, bytes: u64) {
        self.wait_until("enough is written", || {
            self.disk_bytes().is_none_or(|(_, written)| written >= bytes)
        });
    }

    /// Names of its open files.
    pub(crate) fn open_files(&self) -> Vec<String> {
        let entries = fs::read_dir(format!("/proc/{}/fd", self.id())).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| Some(fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned()))
            .collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
