use std::future::Future;
use std::sync::Arc;

use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::SessionContext;

use super::catalogue::Catalogue;
use super::prepared::{Prepared, Values};
use super::request::Request;
use crate::options::NandleOptions;
use crate::planning::planned;
use crate::threads::Threads;
use crate::{EngineError, Needs, Reads, Rows, Statement, allowed, engine};

/// What sessions are opened from.
pub struct Sessions {
    pub(super) context: SessionContext,
    catalogue: Arc<Catalogue>,
    pub(super) threads: Arc<Threads>,
}

/// A client's settings, over tables, threads and memory that all clients share. Dropping what it has begun ends it.
pub struct Session {
    pub(super) context: SessionContext,
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) threads: Arc<Threads>,
}

impl Sessions {
    pub(crate) fn new(context: SessionContext, threads: Arc<Threads>) -> Result<Self, EngineError> {
        let catalogue = Catalogue::new(&context)?;
        Ok(Self { context, catalogue: Arc::new(catalogue), threads })
    }

    /// Opens a session, with settings as the engine has them.
    pub fn open(&self) -> Session {
        let state = SessionStateBuilder::new_from_existing(self.context.state()).build();
        Session {
            context: SessionContext::new_with_state(state),
            catalogue: Arc::clone(&self.catalogue),
            threads: Arc::clone(&self.threads),
        }
    }
}

impl Session {
    /// Understands statements with semicolons between them.
    ///
    /// # Errors
    /// It isn't SQL; the error says where.
    pub async fn parse(&self, text: &str) -> Result<Vec<Request>, EngineError> {
        let (catalogue, text) = (Arc::clone(&self.catalogue), Arc::<str>::from(text));
        let requests =
            async move { catalogue.parse(&text)?.into_iter().map(|one| Request::of(one, &text)).collect() };
        self.compute(requests).await
    }

    /// Plans a statement, whose parameters (`$1`) may have no values yet.
    ///
    /// # Errors
    /// It names what there isn't, or asks for what clients may not do.
    pub async fn prepare(&self, statement: &Statement) -> Result<Prepared, EngineError> {
        let (context, statement) = (self.context.clone(), statement.clone());
        self.compute(async move {
            let plan = planned(&context, statement).await?;
            allowed::check_of_client(&plan)?;
            Prepared::new(plan)
        })
        .await
    }

    /// Gives parameters their values.
    ///
    /// # Errors
    /// There are too few, or some of types that make no sense there.
    pub async fn bind(&self, prepared: &Prepared, values: Values) -> Result<Prepared, EngineError> {
        let plan = prepared.plan().clone();
        self.compute(async move { Prepared::new(plan.replace_params_with_values(&values)?) }).await
    }

    /// Starts what was prepared and has no parameters without values.
    ///
    /// # Errors
    /// Its reads can't be planned in the memory.
    pub async fn start(&self, prepared: &Prepared) -> Result<Rows, EngineError> {
        self.start_noted(prepared, None).await
    }

    /// As [`start`](Self::start), and notes what the query needs.
    pub(super) async fn start_noted(
        &self,
        prepared: &Prepared,
        needs: Option<Arc<Needs>>,
    ) -> Result<Rows, EngineError> {
        let number = prepared.parameters().len();
        if number > 0 {
            return Err(EngineError::Unbound { number });
        }
        let (context, plan) = (self.context.clone(), prepared.plan().clone());
        let start = Box::pin(async move { engine::start(&context, plan, needs).await }); // it is large
        let started = self.compute(start).await;
        started.map(|(plan, stream)| Rows::new(plan, stream, Arc::clone(&self.threads)))
    }

    /// How scans of this session read now.
    pub fn reads(&self) -> Reads {
        let state = self.context.state();
        let options = state.config_options().extensions.get::<NandleOptions>();
        options.map(|options| options.reads).unwrap_or_default()
    }

    /// Has scans of this session read in another way.
    ///
    /// # Errors
    /// There is no such way; the error names those that there are.
    pub fn set_reads(&self, text: &str) -> Result<(), EngineError> {
        let state = self.context.state_ref();
        let mut state = state.write();
        Ok(state.config_mut().options_mut().set("nandle.reads", text)?)
    }

    /// Plans in threads of the engine's own, whose stacks are deep enough and which no query computes in, whatever runtime the caller is in. A panic
    /// becomes an error.
    async fn compute<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, EngineError>> + Send + 'static,
    ) -> Result<T, EngineError> {
        let task = {
            let _inside = self.threads.enter();
            let threads = self.threads.handle().clone();
            SpawnedTask::spawn_blocking(move || threads.block_on(work))
        };
        match task.join().await {
            Ok(done) => done,
            Err(error) if error.is_panic() => Err(EngineError::panicked(error.into_panic().as_ref())),
            Err(_) => Err(EngineError::Interrupted),
        }
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("reads", &self.reads()).finish_non_exhaustive()
    }
}
