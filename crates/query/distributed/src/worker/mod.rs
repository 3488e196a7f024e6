//! Worker: listens, admits, and computes parts of queries with the tables of its host.

mod caught;
mod door;
mod session;
mod stalls;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use datafusion_distributed::Worker;
use nandle_engine::Host;
use nandle_reads::ReadCosts;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::connection::{Authorities, Connections, ServerKeys};
use crate::wire::{Description, Pass};
use crate::{Secret, WorkerError};
use door::Door;
use session::Sessions;
use stalls::Stalls;

/// Threads for connections; the host's threads compute.
const THREADS: usize = 2;
/// Interval of the checks whether the worker should end.
const ASKED_AFTER: Duration = Duration::from_millis(50);

/// Address and access of a worker.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// Address to listen on; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// Version of the program; requests of other versions are rejected.
    pub version: String,
    /// Required secret; `None` serves everyone who can reach the port.
    pub secret: Option<Secret>,
    /// Keys for TLS; `None` disables it.
    pub keys: Option<ServerKeys>,
    /// Trusted certificate authorities of other workers, as PEM.
    pub authorities: Option<Vec<u8>>,
}

/// A listening worker without tables.
#[derive(Debug)]
pub struct WorkerServer {
    options: WorkerOptions,
    listener: TcpListener,
    address: SocketAddr,
    runtime: Runtime,
}

impl WorkerServer {
    /// Starts to listen.
    ///
    /// # Errors
    /// The address can't be used; threads can't be started.
    pub fn listen(options: WorkerOptions) -> Result<Self, WorkerError> {
        let builder = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("nandle-worker")
            .enable_all()
            .build();
        let runtime = builder.map_err(WorkerError::Threads)?;
        let address = options.listen;
        let failed = |source| WorkerError::Listening { address, source };
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { options, listener, address, runtime })
    }

    /// URL of the worker.
    pub fn url(&self) -> String {
        let scheme = if self.options.keys.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves a host's tables until `is_over` returns true. `costs` are the read costs of the
    /// tables.
    ///
    /// # Errors
    /// The certificate or its key can't be used.
    pub fn serve(self, host: Host, costs: &ReadCosts, is_over: &dyn Fn() -> bool) -> Result<(), WorkerError> {
        let Self { options, listener, runtime, .. } = self;
        let pass = Arc::new(Pass { version: options.version, secret: options.secret });
        let authorities = Authorities(options.authorities);
        let connections =
            Arc::new(Connections::new(runtime.handle().clone(), Arc::clone(&pass), authorities));
        let description = Description {
            threads: host.thread_count(),
            memory_bytes: host.memory_bytes(),
            costs: costs.clone(),
        };
        let (threads, memory) = (host.threads(), host.runtime());
        let (host, stalls) = (Arc::new(host), Arc::new(Stalls::default()));
        let sessions = Sessions::new(Arc::clone(&host), connections);
        let worker = Worker::from_session_builder(sessions).with_runtime_env(Arc::clone(&memory));
        let server = worker.into_worker_server();
        let door = Door::new(server, pass, &description, threads, memory, Arc::clone(&stalls));
        let mut server = Server::builder().http2_adaptive_window(Some(true));
        if let Some(keys) = &options.keys {
            server = server.tls_config(keys.to_config()).map_err(|error| Authorities::failed(&error))?;
        }
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let ended = runtime.block_on(async {
            tokio::select! {
                ended = server.serve_with_incoming(door, incoming) => ended,
                () = stalls.watch(&host) => Ok(()),
                () = over(is_over) => Ok(()),
            }
        });
        // Running computations aren't awaited.
        runtime.shutdown_background();
        ended.map_err(|error| WorkerError::Serving(crate::connection::reason(&error)))
    }
}

async fn over(is_over: &dyn Fn() -> bool) {
    while !is_over() {
        tokio::time::sleep(ASKED_AFTER).await;
    }
}
