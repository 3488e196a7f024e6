//! Session of a part of a query: the coordinator's settings with this worker's tables.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::common::DataFusionError;
use datafusion::execution::SessionState;
use datafusion_distributed::{
    DistributedExt as _, WorkerPlanRewriteEvent, WorkerPlanRewriteEventResponse, WorkerPlanRewriteHandler,
    WorkerQueryContext, WorkerSessionBuilder,
};
use nandle_engine::{Host, NandleOptions, with_checked_functions};

use super::caught::caught;
use crate::connection::{Connections, Resolver};
use crate::joins::JoinCodec;

pub(super) struct Sessions {
    host: Arc<Host>,
    connections: Arc<Connections>,
}

impl Sessions {
    pub(super) fn new(host: Arc<Host>, connections: Arc<Connections>) -> Self {
        Self { host, connections }
    }
}

#[async_trait]
impl WorkerSessionBuilder for Sessions {
    async fn build_session_state(
        &self,
        context: WorkerQueryContext,
    ) -> Result<SessionState, DataFusionError> {
        let WorkerQueryContext { builder, headers } = context;
        let builder = with_checked_functions(builder)
            .with_distributed_option_extension_from_headers::<NandleOptions>(&headers)?
            .with_distributed_user_codec(JoinCodec)
            .with_distributed_channel_resolver(Resolver(Arc::clone(&self.connections)))
            .with_distributed_worker_plan_rewrite_handler(OwnScans(Arc::clone(&self.host)));
        Ok(builder.build())
    }
}

/// Replaces scans of a plan by planned reads of this worker's files.
struct OwnScans(Arc<Host>);

impl WorkerPlanRewriteHandler for OwnScans {
    fn rewrite_worker_plan(
        &self,
        event: WorkerPlanRewriteEvent<'_>,
    ) -> Result<WorkerPlanRewriteEventResponse, DataFusionError> {
        let planned = self.0.plan(event.plan, event.session_config.options())?;
        Ok(WorkerPlanRewriteEventResponse::new(caught(planned)?))
    }
}
