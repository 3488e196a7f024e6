//! Request gateway of a worker. It admits requests and answers at once those that need no
//! computation. Others run in separate threads, so that a busy worker still answers liveness
//! checks.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll};

use datafusion::execution::runtime_env::RuntimeEnv;
use futures_util::future::{BoxFuture, FutureExt as _};
use http::{Request, Response, StatusCode};
use tokio::runtime::Handle;
use tonic::Status;
use tonic::body::Body;
use tower::Service;

use super::stalls::Stalls;
use crate::wire::{ALIVE, DESCRIBE, Description, HELD, HUNG, Objection, Pass};

/// The service and its admission.
#[derive(Debug, Clone)]
pub(super) struct Door<S> {
    inner: S,
    pass: Arc<Pass>,
    description: Arc<str>,
    threads: Handle,
    runtime: Arc<RuntimeEnv>,
    stalls: Arc<Stalls>,
}

impl<S> Door<S> {
    pub(super) fn new(
        inner: S,
        pass: Arc<Pass>,
        description: &Description,
        threads: Handle,
        runtime: Arc<RuntimeEnv>,
        stalls: Arc<Stalls>,
    ) -> Self {
        let text = serde_json::to_string(description);
        let text = text.unwrap_or_else(|error| unreachable!("figures and lists become JSON: {error}"));
        Self { inner, pass, description: text.into(), threads, runtime, stalls }
    }

    /// Reports that the worker is alive, or for a query that its reads hang.
    fn alive(&self) -> Response<Body> {
        let Some(waited) = self.stalls.hung() else {
            return Response::new(Body::empty());
        };
        let why = format!("no read of its data has come back for {} s", waited.as_secs());
        let mut response = Response::new(text(&why));
        *response.status_mut() = HUNG;
        response
    }
}

impl<S> Service<Request<Body>> for Door<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_call = !matches!(request.uri().path(), ALIVE | DESCRIBE | HELD);
        if let Some(objection) = self.pass.objection(request.headers()) {
            let refused = if is_call { refused_call(&objection) } else { refused(&objection) };
            return ready(Ok(refused)).boxed();
        }
        match request.uri().path() {
            ALIVE => ready(Ok(self.alive())).boxed(),
            DESCRIBE => ready(Ok(Response::new(text(&self.description)))).boxed(),
            HELD => {
                let held_bytes = self.runtime.memory_pool.reserved();
                ready(Ok(Response::new(text(&held_bytes.to_string())))).boxed()
            }
            _ => {
                let mut inner = self.inner.clone();
                let computed = self.threads.spawn(async move { inner.call(request).await });
                let ended = |_| Ok(Status::internal("the worker panicked or ends").into_http());
                computed.map(move |response| response.unwrap_or_else(ended)).boxed()
            }
        }
    }
}

fn text(text: &str) -> Body {
    Body::new(http_body_util::Full::from(text.to_owned()))
}

fn refused(objection: &Objection) -> Response<Body> {
    let mut response = Response::new(text(&objection.to_string()));
    *response.status_mut() = match objection {
        Objection::Secret => StatusCode::UNAUTHORIZED,
        Objection::Version { .. } => StatusCode::PRECONDITION_FAILED,
    };
    response
}

/// Rejection as a gRPC status.
fn refused_call(objection: &Objection) -> Response<Body> {
    match objection {
        Objection::Secret => Status::unauthenticated(objection.to_string()).into_http(),
        Objection::Version { .. } => Status::failed_precondition(objection.to_string()).into_http(),
    }
}
