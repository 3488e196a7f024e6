//! `nandle serve` in a memory cgroup.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::client::Client;
use super::{GROUP_BYTES, MEMORY_BYTES};
use crate::Outcome;
use crate::bench::cgroup::{Group, Taken};
use crate::command::build_folder;

/// Making sums takes no longer, or something is wrong.
const MAKING_MOST: Duration = Duration::from_mins(10);
const ASKED_AFTER: Duration = Duration::from_millis(100);

/// The sums that the server made of the flights.
#[derive(Debug, Serialize)]
pub(super) struct Sums {
    pub(super) making_seconds: f64,
    pub(super) rows: u64,
    pub(super) file_bytes: u64,
}

pub(super) struct Server {
    process: u32,
    client: Client,
    /// None once it has ended.
    watching: Option<JoinHandle<Result<Taken, String>>>,
}

impl Server {
    pub(super) fn start(table: &Path, folder: &Path) -> Outcome<Self> {
        let group = Group::make(GROUP_BYTES).ok_or("no cgroup limits memory here")?;
        let mut command = Command::new(build_folder().join("release/nandle-sql"));
        command.args(["--no-progress", "serve"]).arg(table).args(["--listen", "127.0.0.1:0", "--json"]);
        command
            .args(["--memory", &MEMORY_BYTES.to_string()])
            .arg("--profile")
            .arg(folder.join("profile.json"));
        command.arg("--spill-directory").arg(folder);
        let mut child = group.inside(&command).stdout(Stdio::piped()).spawn()?;
        let process = child.id();
        let said = BufReader::new(child.stdout.take().ok_or("the server has no output")?);
        let watching = thread::spawn(move || group.watch(&mut child).map_err(|why| why.to_string()));
        let address = address(said);
        let watching = Some(watching);
        match address {
            Ok(address) => Ok(Self { process, client: Client { address }, watching }),
            Err(why) => {
                end(process);
                Err(why)
            }
        }
    }

    pub(super) fn client(&self) -> Client {
        Client { address: self.client.address }
    }

    /// Waits until questions are answered from sums, and says how long making these took.
    pub(super) fn wait_for_sums(&self) -> Outcome<Sums> {
        let began = Instant::now();
        loop {
            let status: Value = serde_json::from_str(&self.client.get("/api/v1/sums")?)?;
            let number = |name: &str| status.get(name).and_then(Value::as_u64).unwrap_or_default();
            match status.get("state").and_then(Value::as_str) {
                Some("ready") => {
                    return Ok(Sums {
                        making_seconds: number("making_ns") as f64 * 1e-9,
                        rows: number("rows"),
                        file_bytes: number("file_bytes"),
                    });
                }
                Some("making") if began.elapsed() < MAKING_MOST => thread::sleep(ASKED_AFTER),
                _ => return Err(format!("there are no sums: {status}").into()),
            }
        }
    }

    /// Ends it, and says what it took.
    pub(super) fn end(mut self) -> Outcome<Taken> {
        let watching = self.watching.take().ok_or("the server has ended before")?;
        end(self.process);
        let taken = watching.join().map_err(|_| "the thread that watches has panicked")??;
        if taken.was_killed {
            Err("the system ended the server for want of memory".into())
        } else {
            Ok(taken)
        }
    }
}

impl Drop for Server {
    /// Whatever failed meanwhile, nothing goes on.
    fn drop(&mut self) {
        if let Some(watching) = self.watching.take() {
            end(self.process);
            _ = watching.join();
        }
    }
}

/// What the server says first is an object; its last line is a brace.
fn address(said: BufReader<impl std::io::Read>) -> Outcome<std::net::SocketAddr> {
    let mut object = String::new();
    for line in said.lines() {
        let line = line?;
        object += &line;
        if line == "}" {
            break;
        }
    }
    let said: Value = serde_json::from_str(&object).map_err(|_| "the server said nothing and ended")?;
    let place = said.get("dashboard").and_then(Value::as_str).ok_or("the server has no dashboard")?;
    Ok(place.trim_start_matches("http://").trim_end_matches('/').parse()?)
}

/// One that has ended already is no matter.
fn end(process: u32) {
    _ = Command::new("kill").arg(process.to_string()).status();
}
