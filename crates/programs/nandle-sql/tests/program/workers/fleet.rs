//! Worker processes, stopped with their test.

use std::process::{Child, Command, Stdio};

use crate::place::{Place, said};

pub(super) struct Worker {
    child: Child,
    pub(super) url: String,
}

impl Worker {
    /// Starts a worker over the tables in `arguments`.
    pub(super) fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::of(place.command_of("worker", &[arguments, &["--json"]].concat()))
    }

    pub(super) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        Self { url: said(&mut child)["url"].as_str().unwrap().to_owned(), child }
    }

    /// Sends a signal by its `kill` name.
    pub(super) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap();
        assert!(sent.success());
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // May have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts `count` workers over the same files, each with one thread.
pub(super) fn start(place: &Place, tables: &[&str], count: usize) -> Vec<Worker> {
    (0..count).map(|_| Worker::start(place, &[tables, &["--threads", "1"]].concat())).collect()
}

pub(super) fn urls(workers: &[Worker]) -> String {
    workers.iter().map(|worker| worker.url.as_str()).collect::<Vec<_>>().join(",")
}
