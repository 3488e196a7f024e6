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

/// Maximum length of a text: its expressions take some hundred times as much memory, and no pool
/// accounts for them.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Factory of sessions.
pub struct Sessions {
    pub(super) context: SessionContext,
    catalogue: Arc<Catalogue>,
    pub(super) threads: Arc<Threads>,
}

/// Session of a client: its settings, over shared tables, threads and memory. Dropping its
/// statements ends them.
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

    /// Opens a session with the engine's settings.
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
    /// Parses statements separated by semicolons. The work continues if the future is dropped: to
    /// limit concurrent work, wait for its end. The same holds for [`prepare`](Self::prepare) and
    /// [`bind`](Self::bind).
    ///
    /// # Errors
    /// A syntax error with its position; or the text exceeds 1 MiB.
    pub fn parse(
        &self,
        text: &str,
    ) -> impl Future<Output = Result<Vec<Request>, EngineError>> + Send + use<> {
        let bytes = text.len();
        let too_long = || EngineError::TooLong { bytes, bytes_max: TEXT_BYTES_MAX };
        // Copied only if it is short enough.
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

    /// Plans a statement. Its parameters (`$1`) may have no values yet.
    ///
    /// # Errors
    /// It refers to unknown names, or isn't allowed for clients.
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

    /// Binds values to parameters.
    ///
    /// # Errors
    /// There are too few values, or some have unsuitable types.
    pub fn bind(
        &self,
        prepared: &Prepared,
        values: Values,
    ) -> impl Future<Output = Result<Prepared, EngineError>> + Send + use<> {
        let (prepared, threads) = (prepared.clone(), Arc::clone(&self.threads));
        async move { threads.plan(async move { prepared.bound(values) }).await }
    }

    /// Starts a prepared statement over the current tables. All parameters must have values.
    ///
    /// # Errors
    /// Its reads can't be planned in the memory, or the columns of its result have changed with its
    /// tables.
    pub async fn start(&self, prepared: &Prepared) -> Result<Rows, EngineError> {
        self.start_noted(prepared, None).await
    }

    /// As [`start`](Self::start), and records the needs of the query.
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

    /// Plan over the current tables, planned again if their columns have changed.
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

    /// Current read mode of the session's scans.
    pub fn reads(&self) -> Reads {
        let state = self.context.state();
        let options = state.config_options().extensions.get::<NandleOptions>();
        options.map(|options| options.reads).unwrap_or_default()
    }

    /// Sets the read mode of the session's scans.
    ///
    /// # Errors
    /// The mode doesn't exist; the error lists all modes.
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
