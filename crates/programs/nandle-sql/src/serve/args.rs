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

/// Serve tables and Parquet files: a dashboard of flights, and SQL clients.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nandle serve flights/\n                                the dashboard, on http://127.0.0.1:8642/\n  nandle serve flights/ --listen 127.0.0.1:9000 --airports airports.csv --pg 127.0.0.1:5433\n  nandle serve flights/ --listen 0.0.0.0:8642 --token-file token\n  psql -h 127.0.0.1 -p 5433 -c 'SELECT count(*) FROM flights'\n  nandle serve days='data/*/*.parquet' --pg 127.0.0.1:0 --json --memory 2GiB --queries 4 --time-limit 30s"
)]
pub(crate) struct ServeArgs {
    /// Where the dashboard is; with port 0 the system chooses one, which is printed [default without --pg: 127.0.0.1:8642]
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = |text: &str| address(text, LISTEN.port()))]
    listen: Option<SocketAddr>,
    /// What flight records don't say: a CSV with a header of `airport` and any of passengers, population, name
    #[arg(long, value_name = "FILE")]
    pub(super) airports: Option<PathBuf>,
    /// The secret that the dashboard asks for, in a file's first line; needed where other machines reach it. Nothing is encrypted: put a proxy
    /// with TLS before it
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Modelled devices on which each query of the dashboard is played, as `nandle models` lists them
    #[arg(long, value_name = "MODEL[,MODEL…]", value_delimiter = ',', default_value = "model:nvme-tlc,model:wd2003fyys", value_parser = model)]
    pub(super) on: Vec<TargetSpec>,
    /// Where clients of PostgreSQL connect to, on this machine; with port 0 the system chooses one, which is printed
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback)]
    pub(super) pg: Option<SocketAddr>,
    /// Queries that run at once; up to 64 more wait [default: twice the processors]
    #[arg(long, value_name = "N")]
    pub(crate) queries: Option<NonZeroUsize>,
    /// How long each query may take, with the time that it waits
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
