//! Serialization of this project's operators. Joins that may spill ([`GraceHashJoin`]) are sent as
//! the engine's hash join with empty sides; the real sides are sent as inputs of the node. Sides of
//! outer joins ([`OuterSide`]) are sent as an empty message.

use std::sync::Arc;

use datafusion::common::{DataFusionError, internal_datafusion_err, internal_err, not_impl_err};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::PhysicalPlanNode;
use nandle_engine::{GraceHashJoin, OuterSide};
use prost::Message as _;

/// Encodes and decodes these operators.
#[derive(Debug)]
pub(crate) struct JoinCodec;

impl PhysicalExtensionCodec for JoinCodec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        message: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<(), DataFusionError> {
        if node.is::<OuterSide>() {
            return Ok(());
        }
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
        if let (true, [side]) = (message.is_empty(), inputs) {
            return Ok(Arc::new(OuterSide::new(Arc::clone(side))));
        }
        let node = PhysicalPlanNode::decode(message)
            .map_err(|error| internal_datafusion_err!("a message is no join: {error}"))?;
        let context = PhysicalPlanDecodeContext::new(context, self);
        let plan = converter.proto_to_execution_plan(&node, &context)?;
        let sent = |join: &&HashJoinExec| {
            *join.partition_mode() == PartitionMode::Partitioned
                && !join.null_aware
                && join.fetch().is_none()
                && inputs.len() == 2
        };
        let Some(join) = plan.downcast_ref::<HashJoinExec>().filter(sent) else {
            return internal_err!(
                "{} with {} inputs came as a hash join of two sides that are divided by their keys",
                plan.name(),
                inputs.len()
            );
        };
        Ok(Arc::new(GraceHashJoin::new(&between(join, inputs.to_vec())?)?))
    }
}

/// Returns the join with other sides.
fn between(join: &HashJoinExec, sides: Vec<Arc<dyn ExecutionPlan>>) -> Result<HashJoinExec, DataFusionError> {
    join.builder().reset_state().recompute_properties().with_new_children(sides)?.build()
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field, Schema};
    use datafusion::common::{JoinType, NullEquality};
    use datafusion::physical_expr::expressions::col;
    use datafusion_proto::physical_plan::DefaultPhysicalProtoConverter;

    use super::*;

    fn side(column: &str) -> Arc<dyn ExecutionPlan> {
        let field = Field::new(column, DataType::Int64, true);
        Arc::new(EmptyExec::new(Arc::new(Schema::new(vec![field]))))
    }

    fn join() -> Arc<dyn ExecutionPlan> {
        let (left, right) = (side("a"), side("b"));
        let on = vec![(col("a", &left.schema()).unwrap(), col("b", &right.schema()).unwrap())];
        let (mode, nulls) = (PartitionMode::Partitioned, NullEquality::NullEqualsNothing);
        let join =
            HashJoinExec::try_new(left, right, on, None, &JoinType::Left, None, mode, nulls, false).unwrap();
        Arc::new(GraceHashJoin::new(&join).unwrap())
    }

    #[test]
    fn joins_arrive_as_they_were_and_what_is_no_join_is_refused() {
        let (converter, context) = (DefaultPhysicalProtoConverter {}, TaskContext::default());
        let mut message = Vec::new();
        JoinCodec.try_encode(join(), &mut message, &converter).unwrap();
        let arrived =
            |message: &[u8], inputs: &[_]| JoinCodec.try_decode(message, inputs, &context, &converter);
        let sides = [side("a"), side("b")];
        let same = arrived(&message, &sides).unwrap();
        let (same, sent) = (same.downcast_ref::<GraceHashJoin>().unwrap().join(), join());
        let sent = sent.downcast_ref::<GraceHashJoin>().unwrap().join();
        assert_eq!((same.join_type(), same.partition_mode()), (sent.join_type(), sent.partition_mode()));
        assert_eq!((same.on(), same.schema()), (sent.on(), sent.schema()));
        arrived(&message, &sides[..1]).unwrap_err();
        arrived(&message, &[]).unwrap_err();
        arrived(&message[..message.len() / 2], &sides).unwrap_err();
        let none = converter.execution_plan_to_proto(&sides[0], &JoinCodec).unwrap().encode_to_vec();
        arrived(&none, &sides).unwrap_err();
        JoinCodec.try_encode(side("a"), &mut message, &converter).unwrap_err();
        let mut nothing = Vec::new();
        JoinCodec.try_encode(Arc::new(OuterSide::new(side("a"))), &mut nothing, &converter).unwrap();
        assert!(arrived(&nothing, &sides[..1]).unwrap().is::<OuterSide>());
        arrived(&nothing, &sides).unwrap_err();
    }
}
