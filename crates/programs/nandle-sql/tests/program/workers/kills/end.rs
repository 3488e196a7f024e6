//! How a program ends, and that it does.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What hasn't ended by then hangs. Losses are known within 5 s where processors are free, and nothing here computes for long.
const HANGS_AFTER: Duration = Duration::from_mins(2);

/// A program that runs, and whose output is read meanwhile.
pub(super) struct Running {
    child: Child,
    rows: JoinHandle<String>,
    said: JoinHandle<String>,
    begun: Instant,
}

/// What it wrote.
#[derive(Debug)]
pub(super) struct End {
    pub(super) is_done: bool,
    pub(super) rows: String,
    pub(super) said: String,
    /// From its beginning.
    pub(super) took: Duration,
}

impl Running {
    pub(super) fn begin(mut command: Command) -> Self {
        let begun = Instant::now();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (rows, said) = (read(child.stdout.take().unwrap()), read(child.stderr.take().unwrap()));
        Self { child, rows, said, begun }
    }

    /// How long it has run.
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
