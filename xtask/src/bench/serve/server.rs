//! `nandle serve` in a memory cgroup.

use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::client::Client;
use super::{GROUP_BYTES, MEMORY_BYTES};
use crate::Outcome;
use crate::bench::background::Background;
use crate::bench::cgroup::{Group, Taken};
use crate::bench::release::nandle_sql;

/// Upper bound on the time to make the aggregates.
const MAKING_MOST: Duration = Duration::from_mins(10);
const ASKED_AFTER: Duration = Duration::from_millis(100);

/// Aggregates that the server made of the flights.
#[derive(Debug, Serialize)]
pub(super) struct Sums {
    pub(super) making_seconds: f64,
    pub(super) rows: u64,
    pub(super) file_bytes: u64,
}

pub(super) struct Server {
    program: Background,
    address: SocketAddr,
}

impl Server {
    pub(super) fn start(table: &Path, folder: &Path) -> Outcome<Self> {
        let group = Group::make(GROUP_BYTES).ok_or("no cgroup limits memory here")?;
        let mut command = nandle_sql();
        command.arg("serve").arg(table).args(["--listen", "127.0.0.1:0", "--json"]);
        command
            .args(["--memory", &MEMORY_BYTES.to_string()])
            .arg("--profile")
            .arg(folder.join("profile.json"));
        command.arg("--spill-directory").arg(folder);
        let program = Background::start(&command, group)?;
        let place = program.told("dashboard")?;
        let address = place.trim_start_matches("http://").trim_end_matches('/').parse()?;
        Ok(Self { program, address })
    }

    pub(super) fn client(&self) -> Client {
        Client { address: self.address }
    }

    /// Waits until aggregates answer the questions. Returns the time to make them.
    pub(super) fn wait_for_sums(&self) -> Outcome<Sums> {
        let began = Instant::now();
        loop {
            let status: Value = serde_json::from_str(&self.client().get("/api/v1/sums")?)?;
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

    /// Ends the server. Returns its resource usage.
    pub(super) fn end(self) -> Outcome<Taken> {
        self.program.end()
    }
}
