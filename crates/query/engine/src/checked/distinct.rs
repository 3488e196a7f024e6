//! `sum(DISTINCT …)` of integers that fails on overflow.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{HashMap, ScalarValue, internal_err};
use datafusion::logical_expr::Accumulator;

use super::sum::{Result, fitting};

/// Distinct values of all rows, or of the rows in a window.
#[derive(Debug)]
pub(super) struct DistinctTotal<T: ArrowPrimitiveType> {
    /// Number of rows of each value.
    rows: HashMap<T::Native, usize>,
    sum: i128,
}

impl<T: ArrowPrimitiveType> Default for DistinctTotal<T> {
    fn default() -> Self {
        Self { rows: HashMap::default(), sum: 0 }
    }
}

impl<T: ArrowPrimitiveType<Native: Into<i128> + Eq + std::hash::Hash>> DistinctTotal<T> {
    fn add(&mut self, values: &ArrayRef) {
        for value in values.as_primitive::<T>().iter().flatten() {
            let rows = self.rows.entry(value).or_default();
            if *rows == 0 {
                self.sum += value.into();
            }
            *rows += 1;
        }
    }

    fn take_out(&mut self, values: &ArrayRef) -> Result<()> {
        for value in values.as_primitive::<T>().iter().flatten() {
            let Some(rows) = self.rows.get_mut(&value) else {
                return internal_err!("a row leaves a window that it isn't in");
            };
            *rows -= 1;
            if *rows == 0 {
                self.rows.remove(&value);
                self.sum -= value.into();
            }
        }
        Ok(())
    }
}

impl<T> Accumulator for DistinctTotal<T>
where
    T: ArrowPrimitiveType<Native: Into<i128> + TryFrom<i128> + Eq + std::hash::Hash> + std::fmt::Debug,
{
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for values in values {
            self.add(values);
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        values.iter().try_for_each(|values| self.take_out(values))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    /// Each list has the distinct values of a part of the rows.
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = states.iter().flat_map(|lists| lists.as_list::<i32>().iter().flatten());
        lists.for_each(|values| self.add(&values));
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = PrimitiveArray::<T>::from_iter_values(self.rows.keys().copied());
        Ok(vec![SingleRowListArrayBuilder::new(Arc::new(values)).build_list_scalar()])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum = (!self.rows.is_empty()).then(|| fitting::<T>(self.sum)).transpose()?;
        ScalarValue::new_primitive::<T>(sum, &T::DATA_TYPE)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.rows.capacity() * size_of::<(T::Native, usize)>()
    }
}
