use std::net::SocketAddr;
use std::path::PathBuf;

use nandle_distributed::{ServerKeys, WorkerOptions};
use nandle_terminal::Failure;

use crate::address::address;
use crate::engine::EngineArgs;
use crate::workers::{read, secret};

/// Execute parts of other machines' queries
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nandle worker flights/ --profile disk.json --json\n  nandle sql flights/ --workers http://127.0.0.1:8651,http://127.0.0.1:8652 -c 'SELECT count(*) FROM flights'\n  nandle worker flights/ --listen 0.0.0.0:8651 --secret-file secret --tls-cert worker.pem --tls-key worker.key --tls-ca ca.pem\n  nandle sql flights/ --workers https://one:8651,https://two:8651 --secret-file secret --tls-ca ca.pem --retry"
)]
pub(crate) struct WorkerArgs {
    /// Address to listen on
    ///
    /// With port 0 the system chooses a port, which is printed. Addresses that other machines can
    /// reach require a secret and TLS.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0", value_parser = |text: &str| address(text, PORT))]
    listen: SocketAddr,
    /// File with the secret that requests must send: one line of at least 16 characters
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// File with the worker's certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// File with the certificate's private key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// File with the authorities' certificates (PEM) that verify other workers
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_ca: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// Port in the example.
const PORT: u16 = 8651;

impl WorkerArgs {
    /// Options for the library.
    pub(crate) fn options(&self) -> Result<WorkerOptions, Failure> {
        let keys = self.tls_cert.as_deref().zip(self.tls_key.as_deref());
        if !self.listen.ip().is_loopback() && (keys.is_none() || self.secret_file.is_none()) {
            return Err(Failure::usage(format!(
                "{} can be reached from other machines; that needs --secret-file, --tls-cert and --tls-key, or listen on 127.0.0.1",
                self.listen
            )));
        }
        let keys = keys.map(|(certificate, key)| {
            Ok::<_, Failure>(ServerKeys { certificate: read(certificate)?, key: read(key)? })
        });
        Ok(WorkerOptions {
            listen: self.listen,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            secret: self.secret_file.as_deref().map(secret).transpose()?,
            keys: keys.transpose()?,
            authorities: self.tls_ca.as_deref().map(read).transpose()?,
        })
    }
}
