//! `array_agg` that accounts for all its memory. The engine's own counts the collected values, but
//! not the list that they are copied into, the batch of that list, or the text buffers that values
//! refer to.

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

use super::held_texts::HeldTexts;
use super::sum::Result;

/// Copies of values at the end: collected, as a list, and in a batch.
const COPIES: usize = 3;

/// Wrapper of the engine's function.
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
        // Ordered or distinct values are kept individually, which is accounted for.
        let is_kept_one_by_one = !arguments.order_bys.is_empty() || arguments.is_distinct;
        let values = self.0.accumulator(arguments)?;
        Ok(if is_kept_one_by_one { values } else { Box::new(Accounted::new(values)) })
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
        Ok(Box::new(Accounted::new(self.0.create_groups_accumulator(arguments)?)))
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

/// Collected values with their copies.
#[derive(Debug)]
struct Accounted<T: ?Sized> {
    values: Box<T>,
    texts: HeldTexts,
}

impl<T: ?Sized> Accounted<T> {
    fn new(values: Box<T>) -> Self {
        Self { values, texts: HeldTexts::default() }
    }

    fn bytes(&self, values_bytes: usize) -> usize {
        // A list and a batch refer to the same texts.
        values_bytes.saturating_mul(COPIES).saturating_add(self.texts.bytes())
    }
}

impl Accumulator for Accounted<dyn Accumulator> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.values.update_batch(&self.texts.hold(values))
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.values.evaluate()
    }

    fn size(&self) -> usize {
        self.bytes(self.values.size())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.values.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.texts.hold_lists(states);
        self.values.merge_batch(states)
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
        // Texts of filtered values aren't kept.
        let Some(filter) = filter else {
            return self.values.update_batch(&self.texts.hold(values), groups, None, count);
        };
        let wanted = values.iter().map(|values| arrow_select::filter::filter(values, filter));
        let wanted = wanted.collect::<std::result::Result<Vec<_>, _>>()?;
        let groups = groups.iter().zip(filter).filter(|(_, is_wanted)| *is_wanted == Some(true));
        let groups: Vec<usize> = groups.map(|(group, _)| *group).collect();
        self.values.update_batch(&self.texts.hold(&wanted), &groups, None, count)
    }

    fn evaluate(&mut self, emitted: EmitTo) -> Result<ArrayRef> {
        let before = self.values.size();
        let lists = self.values.evaluate(emitted);
        self.texts.leave(before, self.values.size());
        lists
    }

    fn state(&mut self, emitted: EmitTo) -> Result<Vec<ArrayRef>> {
        let before = self.values.size();
        let lists = self.values.state(emitted);
        self.texts.leave(before, self.values.size());
        lists
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.texts.hold_lists(values);
        self.values.merge_batch(values, groups, count)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.values.convert_to_state(values, filter)
    }

    fn size(&self) -> usize {
        self.bytes(self.values.size())
    }
}
