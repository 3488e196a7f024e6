//! A worker: listens, admits, and computes its parts of queries with the tables of its host.

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

/// Threads that speak with others; those of the host compute.
const THREADS: usize = 2;
/// How often it is asked whether the worker is to end.
const ASKED_AFTER: Duration = Duration::from_millis(50);

/// How a worker is reached, and by whom.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// Where it listens; with port 0 the system chooses one.
    pub listen: SocketAddr,
    /// The program's version; only the same is served.
    pub version: String,
    /// What requests must have; without it all that reach the port are served.
    pub secret: Option<Secret>,
    /// With which it encrypts; without them it doesn't.
    pub keys: Option<ServerKeys>,
    /// The authorities by which it believes other workers' certificates, as PEM.
    pub authorities: Option<Vec<u8>>,
}

/// A worker that has a port, and is to be given its tables.
#[derive(Debug)]
pub struct WorkerServer {
    options: WorkerOptions,
    listener: TcpListener,
    address: SocketAddr,
    runtime: Runtime,
}

impl WorkerServer {
    /// Begins to listen.
    ///
    /// # Errors
    /// The port is taken or not this machine's; the system has no threads.
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

    /// Where it listens.
    pub fn url(&self) -> String {
        let scheme = if self.options.keys.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves a host's tables until it `is_over`; `costs` say what reading costs where they lie.
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
        // What is computed for others isn't waited for.
        runtime.shutdown_background();
        ended.map_err(|error| WorkerError::Serving(crate::connection::reason(&error)))
    }
}

async fn over(is_over: &dyn Fn() -> bool) {
    while !is_over() {
        tokio::time::sleep(ASKED_AFTER).await;
    }
}
