use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use nandle_io::Nanos;
use nandle_target::TargetSpec;
use nandle_terminal::Failure;
use nandle_terminal::args::positive_duration;

use super::http::Token;
use crate::address::address;
use crate::engine::EngineArgs;

/// Serve a flight dashboard and read-only SQL clients
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nandle serve flights/\n                                dashboard on http://127.0.0.1:8642/\n  nandle serve flights/ --listen 127.0.0.1:9000 --airports airports.csv --pg 127.0.0.1:5433\n  nandle serve flights/ --listen 0.0.0.0:8642 --token-file token\n  psql -h 127.0.0.1 -p 5433 -c 'SELECT count(*) FROM flights'\n  nandle serve days='data/*/*.parquet' --pg 127.0.0.1:0 --json --memory 2GiB --queries 4 --time-limit 30s"
)]
pub(crate) struct ServeArgs {
    /// Address of the dashboard [default without --pg: 127.0.0.1:8642]
    ///
    /// With port 0 the system chooses a port, which is printed.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = |text: &str| address(text, LISTEN.port()))]
    listen: Option<SocketAddr>,
    /// CSV file of airport facts: `airport`, and any of `passengers`, `population`, `name`
    ///
    /// The first line is a header with the column names.
    #[arg(long, value_name = "FILE")]
    pub(super) airports: Option<PathBuf>,
    /// File whose first line is the token that the dashboard requires
    ///
    /// Required if other machines can reach the dashboard. Connections aren't encrypted: use a
    /// proxy with TLS.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Modelled devices to play each dashboard query on (see `nandle models`)
    #[arg(long, value_name = "MODEL[,MODEL…]", value_delimiter = ',', default_value = "model:nvme-tlc,model:wd2003fyys", value_parser = model)]
    pub(super) on: Vec<TargetSpec>,
    /// Address for PostgreSQL clients, which must be of this machine
    ///
    /// With port 0 the system chooses a port, which is printed.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback)]
    pub(super) pg: Option<SocketAddr>,
    /// Concurrent queries; up to 64 more wait [default: twice the processors]
    #[arg(long, value_name = "N")]
    pub(crate) queries: Option<NonZeroUsize>,
    /// Time limit of a query, including its wait
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = positive_duration)]
    pub(crate) time_limit: Nanos,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

impl ServeArgs {
    /// Address and token of the dashboard, if it is enabled.
    pub(super) fn dashboard(&self) -> Result<Option<(SocketAddr, Option<Token>)>, Failure> {
        let usual = self.pg.is_none().then_some(LISTEN);
        let Some(address) = self.listen.or(usual) else {
            return match self
                .airports
                .as_ref()
                .map(|_| "--airports")
                .or(self.token_file.as_ref().map(|_| "--token-file"))
            {
                Some(option) => Err(Failure::usage(format!(
                    "{option} is for the dashboard; say where that is: --listen {LISTEN}"
                ))),
                None => Ok(None),
            };
        };
        let token = self.token_file.as_deref().map(Token::read).transpose()?;
        if !address.ip().is_loopback() && token.is_none() {
            return Err(Failure::usage(format!(
                "{address} can be reached from other machines; ask them for a secret (--token-file FILE), or listen on 127.0.0.1 and let others come \
                 through SSH: ssh -L 8642:127.0.0.1:8642 THIS-MACHINE"
            )));
        }
        Ok(Some((address, token)))
    }
}

/// Port in the example; PostgreSQL's own may be taken.
const PG_PORT: u16 = 5433;
/// Default address of the dashboard.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8642);

/// Parses a modelled device: real ones aren't probed while clients wait.
fn model(text: &str) -> Result<TargetSpec, String> {
    let target = text.parse::<TargetSpec>().map_err(|error| error.to_string())?;
    let is_model = matches!(target, TargetSpec::Model(_));
    is_model.then_some(target).ok_or_else(|| format!("{text} is no model; name one as model:nvme-tlc"))
}

/// Parses a loopback address: connections aren't encrypted and need no password.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = address(text, PG_PORT)?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err(format!(
            "{address} can be reached from other machines, and clients are asked for no password; listen on 127.0.0.1 and let others come \
             through SSH: ssh -L 5433:127.0.0.1:5433 THIS-MACHINE"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_served() {
        for text in ["127.0.0.1:5433", "127.1.2.3:0", "[::1]:5433"] {
            assert_eq!(loopback(text).unwrap().to_string(), text);
        }
        for (text, part) in [
            ("0.0.0.0:5433", "ssh -L"),
            ("[::]:5433", "ssh -L"),
            ("192.168.1.2:5433", "password"),
            ("localhost", "127.0.0.1:0"),
        ] {
            let refusal = loopback(text).unwrap_err();
            assert!(refusal.contains(part), "{refusal}");
        }
    }
}
