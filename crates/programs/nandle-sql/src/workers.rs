//! `--workers`: workers that execute parts of a command's queries.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nandle_distributed::{Cluster, ClusterOptions, Secret, Url, WorkerError};
use nandle_io::Nanos;
use nandle_terminal::{Failure, output};
use nandle_units::parse_duration;

/// Workers of the queries, and connections to them.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkersArgs {
    /// Workers that execute parts of the queries, by the URLs that `nandle worker` prints
    #[arg(long, value_name = "URL,…", value_delimiter = ',', value_parser = url)]
    workers: Vec<Url>,
    /// Rerun a query on the remaining workers if one is lost; holds rows until the query ends
    #[arg(long, requires = "workers")]
    retry: bool,
    /// Least predicted time of a scan that is divided among workers
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = time, requires = "workers")]
    distribute_above: Nanos,
    /// File with the secret that workers require
    #[arg(long, value_name = "FILE", requires = "workers")]
    secret_file: Option<PathBuf>,
    /// File with the authorities' certificates (PEM) that verify workers with https URLs
    #[arg(long, value_name = "FILE", requires = "workers")]
    tls_ca: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct Workers {
    pub(crate) cluster: Cluster,
    pub(crate) is_retried: bool,
}

impl WorkersArgs {
    /// Connects to the workers; `None` if none is named.
    pub(crate) fn connect(&self) -> Result<Option<Workers>, Failure> {
        if self.workers.is_empty() {
            return Ok(None);
        }
        if let Some(url) =
            self.secret_file.as_ref().and_then(|_| self.workers.iter().find(|url| is_open(url)))
        {
            return Err(Failure::usage(format!(
                "{url}: the secret would go to another machine without being encrypted; start that worker with --tls-cert and --tls-key, and write https"
            )));
        }
        let options = ClusterOptions {
            urls: self.workers.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            secret: self.secret_file.as_deref().map(secret).transpose()?,
            authorities: self.tls_ca.as_deref().map(read).transpose()?,
            distribute_above: Duration::from_nanos(self.distribute_above.0),
            goes_on: self.retry,
        };
        let cluster = Cluster::connect(options).map_err(|error| of_worker(&error))?;
        for absent in cluster.absent() {
            output::note(&format!("{absent}; queries go on without it."));
        }
        Ok(Some(Workers { cluster, is_retried: self.retry }))
    }
}

pub(crate) fn of_worker(error: &WorkerError) -> Failure {
    Failure::failed(error.to_string())
}

/// Reads the secret from a file.
pub(crate) fn secret(path: &Path) -> Result<Secret, Failure> {
    let text = read(path)?;
    let secret = Secret::new(&String::from_utf8_lossy(&text));
    secret.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::failed(format!("reading {}: {error}", path.display())))
}

/// Returns true if requests would leave the machine without TLS.
fn is_open(url: &Url) -> bool {
    let is_own = url.host_str().is_some_and(|host| {
        let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    });
    url.scheme() != "https" && !is_own
}

fn url(text: &str) -> Result<Url, String> {
    let expected = "expected http://HOST:PORT or https://HOST:PORT, as `nandle worker` prints it";
    let url = Url::parse(text).map_err(|error| format!("{error}; {expected}"))?;
    let is_plain = matches!(url.scheme(), "http" | "https") && url.host().is_some() && url.path() == "/";
    if is_plain { Ok(url) } else { Err(expected.to_owned()) }
}

fn time(text: &str) -> Result<Nanos, String> {
    parse_duration(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_urls_and_secrets_stay_on_the_machine() {
        assert_eq!(url("http://127.0.0.1:8080").unwrap().port(), Some(8080));
        for wrong in ["127.0.0.1:8080", "ftp://a:1", "http://a:1/path", "worker"] {
            assert!(url(wrong).unwrap_err().contains("http://HOST:PORT"), "{wrong}");
        }
        for (text, open) in [
            ("http://127.0.0.1:1", false),
            ("http://[::1]:1", false),
            ("http://localhost:1", false),
            ("http://192.168.1.2:1", true),
            ("https://192.168.1.2:1", false),
        ] {
            assert_eq!(is_open(&url(text).unwrap()), open, "{text}");
        }
    }
}
