//! `sum` of integers that fails on overflow, where the engine's own wraps around. Other types use
//! the engine's.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Decimal128Type, Int64Type, UInt64Type};
use arrow_array::{Array as _, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use arrow_schema::{DataType, Field, FieldRef};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::{cast, not, nullif, prep_null_mask_filter};
use datafusion::common::{DataFusionError, ScalarValue, arrow_datafusion_err, internal_err};
use datafusion::functions_aggregate::sum::Sum;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, Documentation, EmitTo, Expr, GroupsAccumulator, Operator, ReversedUDAF,
    SetMonotonicity, Signature, StatisticsArgs,
};

use super::distinct::DistinctTotal;

pub(super) type Result<T> = std::result::Result<T, DataFusionError>;

/// Replaces the engine's function under its name.
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
            DataType::Int64 if arguments.is_distinct => Ok(Box::new(DistinctTotal::<Int64Type>::default())),
            DataType::UInt64 if arguments.is_distinct => Ok(Box::new(DistinctTotal::<UInt64Type>::default())),
            DataType::Int64 => Ok(Box::new(Total::<Int64Type>::default())),
            DataType::UInt64 => Ok(Box::new(Total::<UInt64Type>::default())),
            _ => self.0.accumulator(arguments),
        }
    }

    fn create_sliding_accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match arguments.return_field.data_type() {
            DataType::Int64 | DataType::UInt64 => self.accumulator(arguments),
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
        match arguments.return_type() {
            DataType::Int64 | DataType::UInt64 if !arguments.is_distinct => {
                let name = format_state_name(arguments.name, "sum");
                Ok(vec![Arc::new(Field::new(name, STATE, true))])
            }
            _ => self.0.state_fields(arguments),
        }
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

/// Type of partial sums. Only the total has to fit the result's type, however rows are divided.
const STATE: DataType = DataType::Decimal128(38, 0);

/// Sum of all rows, or of the rows in a window.
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
        fitting::<T>(self.sum).map(Some)
    }
}

/// Converts a total to its type.
pub(super) fn fitting<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(sum: i128) -> Result<T::Native> {
    T::Native::try_from(sum).map_err(|_| overflow(&T::DATA_TYPE))
}

fn sum_of<T: ArrowPrimitiveType<Native: Into<i128>>>(values: &[ArrayRef]) -> Result<(i128, usize)> {
    let values = one_column(values)?.as_primitive::<T>();
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
        let (sum, count) = sum_of::<Decimal128Type>(states)?;
        self.sum += sum;
        self.count += count;
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let sum = (self.count > 0).then_some(self.sum);
        Ok(vec![ScalarValue::new_primitive::<Decimal128Type>(sum, &STATE)?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::new_primitive::<T>(self.value()?, &T::DATA_TYPE)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// Sums by group.
#[derive(Debug)]
struct Totals<T> {
    sums: Vec<i128>,
    /// True if the group has had a value.
    has_value: Vec<bool>,
    of: PhantomData<fn() -> T>,
}

impl<T> Default for Totals<T> {
    fn default() -> Self {
        Self { sums: Vec::new(), has_value: Vec::new(), of: PhantomData }
    }
}

impl<T> Totals<T> {
    fn add(&mut self, group: usize, value: i128) -> Result<()> {
        let of_group = self.sums.get_mut(group).zip(self.has_value.get_mut(group));
        let Some((sum, has_value)) = of_group else { return internal_err!("there is no group {group}") };
        *sum += value;
        *has_value = true;
        Ok(())
    }

    fn add_all<V: ArrowPrimitiveType<Native: Into<i128>>>(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        group_count: usize,
    ) -> Result<()> {
        let values = one_column(values)?.as_primitive::<V>();
        self.sums.resize(group_count, 0);
        self.has_value.resize(group_count, false);
        if values.null_count() == 0 && filter.is_none() {
            let mut rows = groups.iter().zip(values.values());
            return rows.try_for_each(|(group, value)| self.add(*group, (*value).into()));
        }
        for (row, (group, value)) in groups.iter().zip(values).enumerate() {
            let is_meant = filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if let Some(value) = value.filter(|_| is_meant) {
                self.add(*group, value.into())?;
            }
        }
        Ok(())
    }

    fn take(&mut self, emit: EmitTo) -> (Vec<i128>, NullBuffer) {
        (emit.take_needed(&mut self.sums), emit.take_needed(&mut self.has_value).into())
    }
}

fn one_column(values: &[ArrayRef]) -> Result<&ArrayRef> {
    match values {
        [values] => Ok(values),
        other => internal_err!("a sum is of one column, not of {}", other.len()),
    }
}

impl<T> GroupsAccumulator for Totals<T>
where
    T: ArrowPrimitiveType<Native: Into<i128> + TryFrom<i128>> + std::fmt::Debug,
{
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        group_count: usize,
    ) -> Result<()> {
        self.add_all::<T>(values, groups, filter, group_count)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], group_count: usize) -> Result<()> {
        self.add_all::<Decimal128Type>(states, groups, None, group_count)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let (sums, has_value) = self.take(emit);
        let sums = sums.into_iter().map(fitting::<T>).collect::<Result<Vec<T::Native>>>()?;
        Ok(Arc::new(PrimitiveArray::<T>::new(sums.into(), Some(has_value))))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let (sums, has_value) = self.take(emit);
        let sums = PrimitiveArray::<Decimal128Type>::new(sums.into(), Some(has_value));
        Ok(vec![Arc::new(sums.with_data_type(STATE))])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let states = cast(one_column(values)?, &STATE)?;
        let Some(filter) = filter else { return Ok(vec![states]) };
        let left_out = match filter.null_count() {
            0 => not(filter)?,
            _ => not(&prep_null_mask_filter(filter))?,
        };
        Ok(vec![nullif(&states, &left_out)?])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<i128>() + self.has_value.capacity()
    }
}
