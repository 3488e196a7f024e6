use std::net::SocketAddr;
use std::num::NonZeroUsize;

use nandle_io::Nanos;
use nandle_terminal::args::positive_duration;

use crate::engine::EngineArgs;

/// Serve tables and Parquet files to SQL clients, read-only.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nandle serve flights/ carriers.parquet --pg 127.0.0.1:5433\n  psql -h 127.0.0.1 -p 5433 -c 'SELECT count(*) FROM flights'\n  nandle serve days='data/*/*.parquet' --pg 127.0.0.1:0 --json --memory 2GiB --queries 4 --time-limit 30s"
)]
pub(crate) struct ServeArgs {
    /// Where clients of PostgreSQL connect to, on this machine; with port 0 the system chooses one, which is printed
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback)]
    pub(crate) pg: SocketAddr,
    /// Queries that run at once; up to 64 more wait [default: twice the processors]
    #[arg(long, value_name = "N")]
    pub(crate) queries: Option<NonZeroUsize>,
    /// How long each query may take, with the time that it waits
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = positive_duration)]
    pub(crate) time_limit: Nanos,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// Nothing that is sent is encrypted, and clients are asked for no password.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| {
        format!("{text} is no address with a port; write one as 127.0.0.1:5433, [::1]:5433 or 127.0.0.1:0")
    })?;
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
            ("localhost", "127.0.0.1:5433"),
        ] {
            let refusal = loopback(text).unwrap_err();
            assert!(refusal.contains(part), "{refusal}");
        }
    }
}
