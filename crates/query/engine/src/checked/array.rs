//! `array_agg` with all the memory that it takes: the engine's counts the values that it has collected, and neither the list that these are copied into nor
//! the batch in which that goes on.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_schema::{DataType, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::functions_aggregate::array_agg::array_agg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator, ReversedUDAF,
    Signature,
};

use super::sum::Result;

/// How often values lie in memory at the end: as they were collected, as one list, and in a batch on its way.
const COPIES: usize = 3;

/// The engine's function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct AccountedArrayAgg(AggregateUDF);

impl Default for AccountedArrayAgg {
    fn default() -> Self {
        Self(array_agg_udaf().as_ref().clone())
    }
}

impl AggregateUDFImpl for AccountedArrayAgg {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.0.return_type(arguments)
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.0.state_fields(arguments)
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        // In an order of their own, values are kept one by one, which is counted.
        let is_ordered = !arguments.order_bys.is_empty();
        let values = self.0.accumulator(arguments)?;
        Ok(if is_ordered { values } else { Box::new(Accounted(values)) })
    }

    fn create_sliding_accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.0.create_sliding_accumulator(arguments)
    }

    fn groups_accumulator_supported(&self, arguments: AccumulatorArgs<'_>) -> bool {
        self.0.groups_accumulator_supported(arguments)
    }

    fn create_groups_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Accounted(self.0.create_groups_accumulator(arguments)?)))
    }

    fn with_beneficial_ordering(
        self: Arc<Self>,
        is_ordered: bool,
    ) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let ordered = Arc::clone(self.0.inner()).with_beneficial_ordering(is_ordered)?;
        Ok(ordered.map(|function| Arc::new(Self(AggregateUDF::new_from_shared_impl(function))) as _))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.0.order_sensitivity()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Reversed(Arc::new(Self::default().into()))
    }

    fn supports_null_handling_clause(&self) -> bool {
        true
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.0.documentation()
    }
}

/// What is collected, with its copies.
#[derive(Debug)]
struct Accounted<T: ?Sized>(Box<T>);

impl Accumulator for Accounted<dyn Accumulator> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.update_batch(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.0.evaluate()
    }

    fn size(&self) -> usize {
        self.0.size().saturating_mul(COPIES)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.merge_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.0.supports_retract_batch()
    }
}

impl GroupsAccumulator for Accounted<dyn GroupsAccumulator> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.0.update_batch(values, groups, filter, count)
    }

    fn evaluate(&mut self, emitted: EmitTo) -> Result<ArrayRef> {
        self.0.evaluate(emitted)
    }

    fn state(&mut self, emitted: EmitTo) -> Result<Vec<ArrayRef>> {
        self.0.state(emitted)
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.0.merge_batch(values, groups, count)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.0.convert_to_state(values, filter)
    }

    fn size(&self) -> usize {
        self.0.size().saturating_mul(COPIES)
    }
}
