//! Joins that may write their rows to files ([`GraceHashJoin`]), as they travel: as the engine's hash join that they are, between sides without rows; the
//! sides travel as the node's inputs.

use std::sync::Arc;

use datafusion::common::{DataFusionError, internal_datafusion_err, internal_err, not_impl_err};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::PhysicalPlanNode;
use nandle_engine::GraceHashJoin;
use prost::Message as _;

/// Puts them in messages, and takes them out.
#[derive(Debug)]
pub(crate) struct JoinCodec;

impl PhysicalExtensionCodec for JoinCodec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        message: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<(), DataFusionError> {
        let Some(join) = node.downcast_ref::<GraceHashJoin>() else {
            return not_impl_err!("{} isn't sent to workers", node.name());
        };
        let sides = join.children().into_iter().map(|side| Arc::new(EmptyExec::new(side.schema())) as _);
        let plan: Arc<dyn ExecutionPlan> = Arc::new(between(join.join(), sides.collect())?);
        let encoded = converter.execution_plan_to_proto(&plan, self)?.encode(message);
        encoded.map_err(|error| internal_datafusion_err!("a join becomes no message: {error}"))
    }

    fn try_decode(
        &self,
        message: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let node = PhysicalPlanNode::decode(message)
            .map_err(|error| internal_datafusion_err!("a message is no join: {error}"))?;
        let context = PhysicalPlanDecodeContext::new(context, self);
        let plan = converter.proto_to_execution_plan(&node, &context)?;
        let Some(join) = plan.downcast_ref::<HashJoinExec>().filter(|_| inputs.len() == 2) else {
            return internal_err!("{} with {} inputs came as a join", plan.name(), inputs.len());
        };
        Ok(Arc::new(GraceHashJoin::new(&between(join, inputs.to_vec())?)?))
    }
}

/// The same join of two other sides.
fn between(join: &HashJoinExec, sides: Vec<Arc<dyn ExecutionPlan>>) -> Result<HashJoinExec, DataFusionError> {
    join.builder().reset_state().recompute_properties().with_new_children(sides)?.build()
}
