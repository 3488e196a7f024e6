use std::net::SocketAddr;

use datafusion::common::DataFusionError;
use nandle_engine::EngineError;

/// Error between machines. Errors of a worker name its URL.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// No connection, or no answer.
    #[error("worker {url} can't be reached: {why}; is `nandle worker` running there?")]
    Unreachable {
        /// URL of the worker.
        url: String,
        /// The cause.
        why: String,
    },
    /// The worker rejects the request.
    #[error("worker {url} refuses: {why}")]
    Refused {
        /// URL of the worker.
        url: String,
        /// Its answer.
        why: String,
    },
    /// The worker was reachable before, and is gone or hangs.
    #[error("worker {url} is lost: {why}; the query ended without its result")]
    Lost {
        /// URL of the worker.
        url: String,
        /// The observation.
        why: String,
    },
    /// The worker failed to do its part.
    #[error("worker {url}: {why}")]
    Failed {
        /// URL of the worker.
        url: String,
        /// Its message.
        why: String,
        /// The underlying error.
        source: Box<DataFusionError>,
    },
    /// All workers were lost.
    #[error("no worker is left; start them again, or query without --workers")]
    NoneLeft,
    /// The held rows exceed the memory.
    #[error(
        "the memory has no room for more than {held_bytes} bytes of the result, and --retry holds it until its last row; query without --retry, or with \
         more memory: {source}"
    )]
    TooLong {
        /// Bytes held.
        held_bytes: u64,
        /// Error of the memory pool, which names the other consumers.
        source: Box<EngineError>,
    },
    /// A port can't be opened.
    #[error("listening on {address}: {source}")]
    Listening {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: std::io::Error,
    },
    /// Threads can't be started.
    #[error("starting threads for connections: {0}")]
    Threads(std::io::Error),
    /// Certificates or keys are unusable.
    #[error("TLS: {0}")]
    Tls(String),
    /// The server ended with an error.
    #[error("serving: {0}")]
    Serving(String),
}

impl WorkerError {
    /// Returns the lost worker if that made a query fail.
    pub fn lost(error: &EngineError) -> Option<(&str, &Self)> {
        let EngineError::Elsewhere(error) = error else { return None };
        match error.downcast_ref::<Self>()? {
            lost @ Self::Lost { url, .. } => Some((url, lost)),
            _ => None,
        }
    }
}

impl From<WorkerError> for EngineError {
    fn from(error: WorkerError) -> Self {
        Self::Elsewhere(Box::new(error))
    }
}

impl From<WorkerError> for DataFusionError {
    fn from(error: WorkerError) -> Self {
        EngineError::from(error).into()
    }
}
