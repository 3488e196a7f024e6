use std::sync::Arc;

use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;

use super::catalogue::Catalogue;
use super::prepared::{Prepared, Values};
use super::request::Request;
use crate::options::NandleOptions;
use crate::planning::planned;
use crate::run::Run;
use crate::threads::Threads;
use crate::{EngineError, Needs, Reads, Rows, Statement, allowed};

/// Longer texts aren't understood: a text becomes some hundred times as much of expressions, which no pool accounts for.
const TEXT_BYTES_MAX: usize = 1 << 20;

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
    /// Understands statements with semicolons between them. The work doesn't end with the future: who bounds how much is done at a time must wait
    /// for its end. The same holds for [`prepare`](Self::prepare) and [`bind`](Self::bind).
    ///
    /// # Errors
    /// It isn't SQL, where the error says where; or it is longer than 1 MiB.
    pub fn parse(
        &self,
        text: &str,
    ) -> impl Future<Output = Result<Vec<Request>, EngineError>> + Send + use<> {
        let bytes = text.len();
        let too_long = || EngineError::TooLong { bytes, bytes_max: TEXT_BYTES_MAX };
        // It isn't copied before it is known to be short enough.
        let text = (bytes <= TEXT_BYTES_MAX).then(|| Arc::<str>::from(text)).ok_or_else(too_long);
        let (catalogue, threads) = (Arc::clone(&self.catalogue), Arc::clone(&self.threads));
        async move {
            let text = text?;
            let requests = async move {
                catalogue.parse(&text)?.into_iter().map(|one| Request::of(one, &text)).collect()
            };
            threads.plan(requests).await
        }
    }

    /// Plans a statement, whose parameters (`$1`) may have no values yet.
    ///
    /// # Errors
    /// It names what there isn't, or asks for what clients may not do.
    pub fn prepare(
        &self,
        statement: &Statement,
    ) -> impl Future<Output = Result<Prepared, EngineError>> + Send + use<> {
        let (context, statement, threads) =
            (self.context.clone(), statement.clone(), Arc::clone(&self.threads));
        async move {
            let prepared = async move {
                let plan = planned(&context, statement.clone()).await?;
                allowed::check_of_client(&plan)?;
                Prepared::new(statement, &plan)
            };
            threads.plan(prepared).await
        }
    }

    /// Gives parameters their values.
    ///
    /// # Errors
    /// There are too few, or some of types that make no sense there.
    pub fn bind(
        &self,
        prepared: &Prepared,
        values: Values,
    ) -> impl Future<Output = Result<Prepared, EngineError>> + Send + use<> {
        let (prepared, threads) = (prepared.clone(), Arc::clone(&self.threads));
        async move { threads.plan(async move { prepared.bound(values) }).await }
    }

    /// Starts what was prepared and has no parameters without values, over its tables as they are now.
    ///
    /// # Errors
    /// Its reads can't be planned in the memory, or its tables have other columns by now, so that its rows would have.
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
        let run = Run { context: self.context.clone(), statement: self.plan_now(prepared).await?, needs };
        Rows::start(run, Arc::clone(&self.threads)).await
    }

    /// What was prepared, over its tables as they are now: planned again where their columns have changed.
    async fn plan_now(&self, prepared: &Prepared) -> Result<LogicalPlan, EngineError> {
        let (context, prepared) = (self.context.clone(), prepared.clone());
        let plan = async move {
            if let Some(plan) = prepared.plan_now()? {
                return Ok(plan);
            }
            let plan = planned(&context, prepared.statement().clone()).await?;
            allowed::check_of_client(&plan)?;
            prepared.made_anew(plan)
        };
        self.threads.plan(plan).await
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
