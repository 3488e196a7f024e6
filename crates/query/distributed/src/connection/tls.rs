//! TLS: a worker's certificate, and the authorities that a coordinator trusts.

use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, ServerTlsConfig};
use url::Url;

use crate::WorkerError;

/// Certificate and key of a worker, as PEM.
#[derive(Clone)]
pub struct ServerKeys {
    /// Certificate chain.
    pub certificate: Vec<u8>,
    /// Private key.
    pub key: Vec<u8>,
}

impl ServerKeys {
    pub(crate) fn to_config(&self) -> ServerTlsConfig {
        ServerTlsConfig::new().identity(Identity::from_pem(&self.certificate, &self.key))
    }
}

impl std::fmt::Debug for ServerKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerKeys")
    }
}

/// Trusted certificate authorities as PEM; `None` disables TLS.
#[derive(Debug, Clone, Default)]
pub(crate) struct Authorities(pub(crate) Option<Vec<u8>>);

impl Authorities {
    /// Configures a connection according to its URL.
    pub(super) fn apply_to(&self, endpoint: Endpoint, url: &Url) -> Result<Endpoint, String> {
        match (url.scheme(), &self.0) {
            ("http", None) => Ok(endpoint),
            ("http", Some(_)) => {
                Err("its URL begins with http, which isn't encrypted, though --tls-ca is given; write https"
                    .to_owned())
            }
            ("https", Some(pem)) => {
                let config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem));
                endpoint.tls_config(config).map_err(|error| super::reason(&error))
            }
            ("https", None) => {
                Err("the authority that its certificate is from must be named: --tls-ca FILE".to_owned())
            }
            (scheme, _) => Err(format!(
                "{scheme} is no way to reach a worker; write http://HOST:PORT or https://HOST:PORT"
            )),
        }
    }

    /// Invalid certificates are detected only on use.
    pub(crate) fn failed(error: &tonic::transport::Error) -> WorkerError {
        WorkerError::Tls(super::reason(error))
    }
}
