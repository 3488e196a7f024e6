//! `sum` of whole numbers that fails when the result doesn't fit its type, where the engine's own wraps around. All else is the engine's.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{
    Array as _, ArrayRef, ArrowNativeTypeOp as _, ArrowPrimitiveType, BooleanArray, PrimitiveArray,
};
use arrow_schema::{DataType, FieldRef};
use datafusion::common::{DataFusionError, ScalarValue, arrow_datafusion_err, internal_err};
use datafusion::functions_aggregate::sum::Sum;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, Documentation, EmitTo, Expr, GroupsAccumulator, Operator, ReversedUDAF,
    SetMonotonicity, Signature, StatisticsArgs,
};

type Result<T> = std::result::Result<T, DataFusionError>;

/// In the engine's place, under its name.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CheckedSum(Sum);

impl AggregateUDFImpl for CheckedSum {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.0.return_type(arguments)
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match arguments.return_field.data_type() {
            DataType::Int64 if !arguments.is_distinct => Ok(Box::new(Total::<Int64Type>::default())),
            DataType::UInt64 if !arguments.is_distinct => Ok(Box::new(Total::<UInt64Type>::default())),
            _ => self.0.accumulator(arguments),
        }
    }

    fn create_sliding_accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match arguments.return_field.data_type() {
            DataType::Int64 | DataType::UInt64 if !arguments.is_distinct => self.accumulator(arguments),
            _ => self.0.create_sliding_accumulator(arguments),
        }
    }

    fn create_groups_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        match arguments.return_field.data_type() {
            DataType::Int64 => Ok(Box::new(Totals::<Int64Type>::default())),
            DataType::UInt64 => Ok(Box::new(Totals::<UInt64Type>::default())),
            _ => self.0.create_groups_accumulator(arguments),
        }
    }

    fn groups_accumulator_supported(&self, arguments: AccumulatorArgs<'_>) -> bool {
        self.0.groups_accumulator_supported(arguments)
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.0.state_fields(arguments)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        self.0.reverse_expr()
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.0.order_sensitivity()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.0.set_monotonicity(data_type)
    }

    fn simplify_expr_op_literal(
        &self,
        function: &AggregateFunction,
        argument: &Expr,
        operator: Operator,
        literal: &Expr,
        is_left: bool,
    ) -> Result<Option<Expr>> {
        self.0.simplify_expr_op_literal(function, argument, operator, literal, is_left)
    }

    fn value_from_stats(&self, arguments: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.0.value_from_stats(arguments)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.0.documentation()
    }
}

/// A sum of all rows, or of those that a window has. What is passed on the way needs no room in the result's type.
#[derive(Debug)]
struct Total<T> {
    sum: i128,
    count: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> Default for Total<T> {
    fn default() -> Self {
        Self { sum: 0, count: 0, of: PhantomData }
    }
}

impl<T: ArrowPrimitiveType<Native: Into<i128> + TryFrom<i128>>> Total<T> {
    fn value(&self) -> Result<Option<T::Native>> {
        if self.count == 0 {
            return Ok(None);
        }
        let value = T::Native::try_from(self.sum).map_err(|_| overflow(&T::DATA_TYPE))?;
        Ok(Some(value))
    }
}

fn sum_of<T: ArrowPrimitiveType<Native: Into<i128>>>(values: &[ArrayRef]) -> Result<(i128, usize)> {
    let [values] = values else { return internal_err!("a sum is of one column, not of {}", values.len()) };
    let values = values.as_primitive::<T>();
    let sum = if values.null_count() == 0 {
        values.values().iter().map(|value| (*value).into()).sum()
    } else {
        values.iter().flatten().map(Into::into).sum()
    };
    Ok((sum, values.len() - values.null_count()))
}

fn overflow(of: &DataType) -> DataFusionError {
    let text = format!("a sum is larger than {of} holds; `sum(CAST(... AS DECIMAL(38, 0)))` has room for it");
    arrow_datafusion_err!(datafusion::arrow::error::ArrowError::ArithmeticOverflow(text))
}

impl<T> Accumulator for Total<T>
where
    T: ArrowPrimitiveType<Native: Into<i128> + TryFrom<i128>> + std::fmt::Debug,
{
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (sum, count) = sum_of::<T>(values)?;
        self.sum += sum;
        self.count += count;
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (sum, count) = sum_of::<T>(values)?;
        self.sum -= sum;
        self.count -= count;
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::new_primitive::<T>(self.value()?, &T::DATA_TYPE)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// Sums of groups.
#[derive(Debug)]
struct Totals<T: ArrowPrimitiveType> {
    sums: Vec<T::Native>,
    /// Whether a group has had a value.
    has_value: Vec<bool>,
}

impl<T: ArrowPrimitiveType> Default for Totals<T> {
    fn default() -> Self {
        Self { sums: Vec::new(), has_value: Vec::new() }
    }
}

impl<T: ArrowPrimitiveType> Totals<T> {
    fn add(&mut self, group: usize, value: T::Native) -> Result<()> {
        if let (Some(sum), Some(has_value)) = (self.sums.get_mut(group), self.has_value.get_mut(group)) {
            *sum = sum.add_checked(value).map_err(|_| overflow(&T::DATA_TYPE))?;
            *has_value = true;
        }
        Ok(())
    }

    fn take(&mut self, emit: EmitTo) -> ArrayRef {
        let (sums, has_value) = (emit.take_needed(&mut self.sums), emit.take_needed(&mut self.has_value));
        Arc::new(PrimitiveArray::<T>::new(sums.into(), Some(has_value.into())))
    }
}

impl<T: ArrowPrimitiveType + std::fmt::Debug> GroupsAccumulator for Totals<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        group_count: usize,
    ) -> Result<()> {
        let [values] = values else {
            return internal_err!("a sum is of one column, not of {}", values.len());
        };
        self.sums.resize(group_count, T::Native::ZERO);
        self.has_value.resize(group_count, false);
        let values = values.as_primitive::<T>();
        if values.null_count() == 0 && filter.is_none() {
            return groups
                .iter()
                .zip(values.values())
                .try_for_each(|(group, value)| self.add(*group, *value));
        }
        for (row, (group, value)) in groups.iter().zip(values).enumerate() {
            let is_meant = filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if let Some(value) = value.filter(|_| is_meant) {
                self.add(*group, value)?;
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], group_count: usize) -> Result<()> {
        self.update_batch(values, groups, None, group_count)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        Ok(self.take(emit))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.take(emit)])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let [values] = values else {
            return internal_err!("a sum is of one column, not of {}", values.len());
        };
        let Some(filter) = filter else { return Ok(vec![Arc::clone(values)]) };
        let without =
            datafusion::arrow::compute::not(&datafusion::arrow::compute::prep_null_mask_filter(filter))?;
        Ok(vec![datafusion::arrow::compute::nullif(values, &without)?])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<T::Native>() + self.has_value.capacity()
    }
}
