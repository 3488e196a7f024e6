//! End of a program, which must come in time.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Timeout after which a program counts as hanging. Losses are detected within 5 s on an idle
/// machine, and nothing here computes for long.
const HANGS_AFTER: Duration = Duration::from_mins(2);

/// A running program whose output is read concurrently.
pub(super) struct Running {
    child: Child,
    rows: JoinHandle<String>,
    said: JoinHandle<String>,
    begun: Instant,
}

/// Output of a program.
#[derive(Debug)]
pub(super) struct End {
    pub(super) is_done: bool,
    pub(super) rows: String,
    pub(super) said: String,
    /// Time since its start.
    pub(super) took: Duration,
}

impl Running {
    pub(super) fn begin(mut command: Command) -> Self {
        let begun = Instant::now();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (rows, said) = (read(child.stdout.take().unwrap()), read(child.stderr.take().unwrap()));
        Self { child, rows, said, begun }
    }

    /// Time since its start.
    pub(super) fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(super) fn end(mut self) -> End {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if self.age() > HANGS_AFTER {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                panic!("it hangs: {}{}", self.rows.join().unwrap(), self.said.join().unwrap());
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let took = self.age();
        End {
            is_done: status.success(),
            rows: self.rows.join().unwrap(),
            said: self.said.join().unwrap(),
            took,
        }
    }
}

fn read(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        from.read_to_string(&mut text).unwrap();
        text
    })
}
