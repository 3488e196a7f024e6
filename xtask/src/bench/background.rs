//! A server process in a cgroup, ended by the benchmark.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};

use serde_json::Value;

use super::cgroup::{Group, Taken};
use crate::Outcome;

/// A running server, ended on drop.
pub(super) struct Background {
    process: u32,
    /// `None` after the end.
    watching: Option<JoinHandle<Result<Taken, String>>>,
    /// Facts from the server's first output.
    told: Value,
}

impl Background {
    /// Starts the server, and waits for the JSON object that reports it ready.
    pub(super) fn start(command: &Command, group: Group) -> Outcome<Self> {
        // A killed benchmark runs no destructors.
        let mut bound = Command::new("setpriv");
        bound.args(["--pdeathsig", "TERM"]).arg(command.get_program()).args(command.get_args());
        let mut child = group.inside(&bound).stdout(Stdio::piped()).spawn()?;
        let process = child.id();
        let said = BufReader::new(child.stdout.take().ok_or("a program has no output")?);
        let watching = thread::spawn(move || group.watch(&mut child).map_err(|why| why.to_string()));
        // From here on drop ends the server.
        let mut started = Self { process, watching: Some(watching), told: Value::Null };
        started.told = told(said).map_err(|why| format!("{}: {why}", command.get_program().display()))?;
        Ok(started)
    }

    /// Text field of the facts.
    pub(super) fn told(&self, name: &str) -> Outcome<&str> {
        let text = self.told.get(name).and_then(Value::as_str);
        text.ok_or_else(|| format!("there is no {name} in {}", self.told).into())
    }

    /// Ends the server. Returns its resource usage.
    pub(super) fn end(mut self) -> Outcome<Taken> {
        let watching = self.watching.take().ok_or("the program has ended before")?;
        end(self.process);
        let taken = watching.join().map_err(|_| "the thread that watches has panicked")??;
        if taken.was_killed {
            Err("the system ended the program for want of memory".into())
        } else {
            Ok(taken)
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(watching) = self.watching.take() {
            end(self.process);
            _ = watching.join();
        }
    }
}

/// Parses the first output: a JSON object whose last line is a brace.
fn told(said: BufReader<impl Read>) -> Outcome<Value> {
    let mut object = String::new();
    for line in said.lines() {
        let line = line?;
        object += &line;
        if line == "}" {
            break;
        }
    }
    serde_json::from_str(&object).map_err(|_| "it said nothing of itself, and ended".into())
}

/// Sends the process a signal, and ignores errors, as the process may have ended.
fn end(process: u32) {
    _ = Command::new("kill").arg(process.to_string()).status();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_first_is_an_object() {
        let said = "{\n  \"url\": \"http://127.0.0.1:1\"\n}\nmore".as_bytes();
        assert_eq!(told(BufReader::new(said)).unwrap()["url"], "http://127.0.0.1:1");
        assert!(told(BufReader::new("".as_bytes())).is_err());
    }

    /// Needs permission to create groups.
    #[test]
    fn a_program_is_there_until_it_is_ended() {
        let Some(group) = Group::make(64 << 20) else { return };
        let mut serves = Command::new("sh");
        serves.args(["-c", "printf '{\n\"url\": \"here\"\n}\n'; exec sleep 100"]);
        let started = Background::start(&serves, group).unwrap();
        assert_eq!(started.told("url").unwrap(), "here");
        assert!(started.told("place").is_err());
        assert!(!started.end().unwrap().was_killed);
    }
}
