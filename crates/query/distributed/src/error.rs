use std::net::SocketAddr;

use datafusion::common::DataFusionError;
use nandle_engine::EngineError;

/// What goes wrong between machines. Errors of a worker name it by its URL.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// No connection, or no answer.
    #[error("worker {url} can't be reached: {why}; is `nandle worker` running there?")]
    Unreachable {
        /// Which.
        url: String,
        /// What the system says.
        why: String,
    },
    /// It doesn't take the request.
    #[error("worker {url} refuses: {why}")]
    Refused {
        /// Which.
        url: String,
        /// What it says.
        why: String,
    },
    /// It was there, and is gone or stands still.
    #[error("worker {url} is lost: {why}; the query ended without its result")]
    Lost {
        /// Which.
        url: String,
        /// What was seen.
        why: String,
    },
    /// It says that it can't do its part.
    #[error("worker {url}: {why}")]
    Failed {
        /// Which.
        url: String,
        /// What it says.
        why: String,
        /// The same as an error.
        source: Box<DataFusionError>,
    },
    /// All have been lost.
    #[error("no worker is left; start them again, or query without --workers")]
    NoneLeft,
    /// The rows that are held until the last has come are too many.
    #[error(
        "the memory has no room for more than {held_bytes} bytes of the result, and --retry holds it until its last row; query without --retry, or with \
         more memory: {source}"
    )]
    TooLong {
        /// What was held.
        held_bytes: u64,
        /// Who holds the rest.
        source: Box<EngineError>,
    },
    /// A port can't be listened to.
    #[error("listening on {address}: {source}")]
    Listening {
        /// Where.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// The system has no threads.
    #[error("starting threads for connections: {0}")]
    Threads(std::io::Error),
    /// Certificates or keys that can't be used.
    #[error("TLS: {0}")]
    Tls(String),
    /// The connections ended.
    #[error("serving: {0}")]
    Serving(String),
}

impl WorkerError {
    /// The loss of a worker that made a query fail, if that is what did.
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
