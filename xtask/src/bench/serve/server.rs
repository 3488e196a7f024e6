//! `nandle serve` in a memory cgroup.

use std::net::SocketAddr;
use std::path::Path;

use super::client::Client;
use super::{GROUP_BYTES, MEMORY_BYTES};
use crate::Outcome;
use crate::bench::background::Background;
use crate::bench::cgroup::{Group, Taken};
use crate::bench::release::nandle_sql;

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

    /// Ends it, and says what it took.
    pub(super) fn end(self) -> Outcome<Taken> {
        self.program.end()
    }
}
