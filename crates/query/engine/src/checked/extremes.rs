//! `min` and `max` of floating-point columns by group. The engine's own (`DataFusion` 55.2) start
//! with the greatest and least finite numbers and compare with `<`. So the maximum of `-inf` alone
//! would be -1.8e308, and NaN would be ignored. Without groups NaN is above all numbers, as it is
//! here.

use std::cmp::Ordering;

use arrow_array::ArrowNativeTypeOp;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type};
use arrow_schema::DataType;
use datafusion::common::ScalarValue;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, GroupsAccumulator, ReversedUDAF,
    SetMonotonicity, Signature, StatisticsArgs,
};
use datafusion_functions_aggregate_common::aggregate::groups_accumulator::prim_op::PrimitiveGroupsAccumulator;

use super::sum::Result;

/// The engine's function, except for groups of floating-point numbers.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Extreme(AggregateUDF, Of);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Of {
    Least,
    Greatest,
}

/// Both functions.
pub(super) fn functions() -> [AggregateUDF; 2] {
    let least = Extreme(min_udaf().as_ref().clone(), Of::Least);
    let greatest = Extreme(max_udaf().as_ref().clone(), Of::Greatest);
    [least, greatest].map(AggregateUDF::from)
}

impl Of {
    fn in_groups<T: ArrowPrimitiveType<Native: ArrowNativeTypeOp> + Send>(
        self,
    ) -> Box<dyn GroupsAccumulator> {
        let (wanted, first) = match self {
            Self::Least => (Ordering::Less, T::Native::MAX_TOTAL_ORDER),
            Self::Greatest => (Ordering::Greater, T::Native::MIN_TOTAL_ORDER),
        };
        let keep = move |extreme: &mut T::Native, other: T::Native| {
            if other.compare(*extreme) == wanted {
                *extreme = other;
            }
        };
        Box::new(PrimitiveGroupsAccumulator::<T, _>::new(&T::DATA_TYPE, keep).with_starting_value(first))
    }
}

impl AggregateUDFImpl for Extreme {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.0.return_type(arguments)
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.0.coerce_types(arguments)
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.0.accumulator(arguments)
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
        Ok(match arguments.return_field.data_type() {
            DataType::Float16 => self.1.in_groups::<Float16Type>(),
            DataType::Float32 => self.1.in_groups::<Float32Type>(),
            DataType::Float64 => self.1.in_groups::<Float64Type>(),
            _ => return self.0.create_groups_accumulator(arguments),
        })
    }

    fn is_descending(&self) -> Option<bool> {
        self.0.inner().is_descending()
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.0.order_sensitivity()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        self.0.inner().reverse_expr()
    }

    fn value_from_stats(&self, statistics: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.0.value_from_stats(statistics)
    }

    fn set_monotonicity(&self, values: &DataType) -> SetMonotonicity {
        self.0.inner().set_monotonicity(values)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.0.documentation()
    }
}
