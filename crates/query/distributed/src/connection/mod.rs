//! Connections to workers, from coordinators and from other workers.

mod channel;
mod tls;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use datafusion::common::DataFusionError;
use datafusion_distributed::grpc::{BoxCloneSyncChannel, create_worker_client};
use datafusion_distributed::{ChannelResolver, WorkerChannel};
use http_body_util::BodyExt as _;
use tokio::runtime::Handle;
use tonic::body::Body;
use tonic::transport::{Channel, Endpoint};
use tower::ServiceExt as _;
use url::Url;

use crate::WorkerError;
use crate::wire::{HUNG, Pass};

pub(crate) use channel::worker_named;
pub(crate) use tls::Authorities;
pub use tls::ServerKeys;

/// Timeouts to connect, and for answers that need no computation. Together they are below 5 s, in
/// which the loss of a worker must be detected.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_millis(3500);
/// Interval of HTTP/2 pings on connections with queries.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum length of an answer about a worker.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Connections to workers, opened on demand and reopened after failures.
#[derive(Debug)]
pub(crate) struct Connections {
    /// Threads of the connections. They run no queries, so they always respond.
    threads: Handle,
    pass: Arc<Pass>,
    authorities: Authorities,
    channels: Mutex<BTreeMap<Url, Channel>>,
}

impl Connections {
    pub(crate) fn new(threads: Handle, pass: Arc<Pass>, authorities: Authorities) -> Self {
        Self { threads, pass, authorities, channels: Mutex::default() }
    }

    pub(crate) const fn threads(&self) -> &Handle {
        &self.threads
    }

    /// Opens a separate connection, which isn't blocked by rows of queries.
    pub(crate) fn separate(&self, url: &Url) -> Result<Channel, WorkerError> {
        let wrong = |why: String| WorkerError::Unreachable { url: shown(url), why };
        let endpoint = Endpoint::from_shared(url.to_string()).map_err(|error| wrong(reason(&error)))?;
        let endpoint = endpoint
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_adaptive_window(true)
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(ANSWER_TIMEOUT);
        let endpoint = self.authorities.apply_to(endpoint, url).map_err(wrong)?;
        let _inside = self.threads.enter();
        Ok(endpoint.connect_lazy())
    }

    /// Connection for rows.
    fn shared(&self, url: &Url) -> Result<Channel, WorkerError> {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = channels.get(url) {
            return Ok(channel.clone());
        }
        let channel = self.separate(url)?;
        Ok(channels.entry(url.clone()).or_insert(channel).clone())
    }

    /// Sends a request that workers answer at once.
    pub(crate) async fn ask(&self, channel: Channel, url: &Url, path: &str) -> Result<Vec<u8>, WorkerError> {
        let unreachable = |why: String| WorkerError::Unreachable { url: shown(url), why };
        let asked = tokio::time::timeout(ANSWER_TIMEOUT, self.answer(channel, path)).await;
        let late = |_| unreachable(format!("no answer in {} s", ANSWER_TIMEOUT.as_secs_f64()));
        let (status, body) = asked.map_err(late)?.map_err(unreachable)?;
        if status.is_success() {
            return Ok(body);
        }
        let why = match String::from_utf8_lossy(&body) {
            text if text.is_empty() => format!("it answers with {status}, as no worker does"),
            text => text.into_owned(),
        };
        let url = shown(url);
        Err(if status == HUNG { WorkerError::Lost { url, why } } else { WorkerError::Refused { url, why } })
    }

    async fn answer(&self, channel: Channel, path: &str) -> Result<(http::StatusCode, Vec<u8>), String> {
        let mut request = http::Request::new(Body::empty());
        *request.uri_mut() = path.parse().map_err(|error| format!("{path}: {error}"))?;
        self.pass.add_to(request.headers_mut());
        let response = channel.oneshot(request).await.map_err(|error| reason(&error))?;
        let status = response.status();
        let body = http_body_util::Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        Ok((status, body.map_err(|error| reason(&*error))?.to_bytes().to_vec()))
    }
}

/// Channel resolver of the distributing library.
#[derive(Debug, Clone)]
pub(crate) struct Resolver(pub(crate) Arc<Connections>);

#[async_trait]
impl ChannelResolver for Resolver {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>, DataFusionError> {
        let channel = self.0.shared(url)?;
        let pass = Arc::clone(&self.0.pass);
        let with_pass = channel.map_request(move |mut request: http::Request<Body>| {
            pass.add_to(request.headers_mut());
            request
        });
        let client = create_worker_client(BoxCloneSyncChannel::new(with_pass));
        Ok(channel::named(url, client))
    }
}

/// Formats a worker's URL as the user wrote it.
pub(crate) fn shown(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

/// Joins an error with its causes; the last is the most specific.
pub(crate) fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
