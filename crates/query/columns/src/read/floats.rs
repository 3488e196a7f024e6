//! Special float values in predicates and keys. Arrow's kernels compare bits, while Parquet's
//! statistics omit NaN and may swap the two zeros. So values are normalised before they are
//! compared.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::DataType;

/// Replaces every NaN by the same one, and -0.0 by 0.0. Other types stay unchanged.
pub(crate) fn with_one_nan(array: &ArrayRef) -> ArrayRef {
    canonical(array, true)
}

/// Replaces NaN by null, and -0.0 by 0.0.
pub(super) fn without_nan(array: &ArrayRef) -> ArrayRef {
    canonical(array, false)
}

fn canonical(array: &ArrayRef, keep_nan: bool) -> ArrayRef {
    match array.data_type() {
        DataType::Float16 => {
            let nan = <<Float16Type as ArrowPrimitiveType>::Native>::NAN;
            Arc::new(canonical_of::<Float16Type>(array, keep_nan.then_some(nan)))
        }
        DataType::Float32 => Arc::new(canonical_of::<Float32Type>(array, keep_nan.then_some(f32::NAN))),
        DataType::Float64 => Arc::new(canonical_of::<Float64Type>(array, keep_nan.then_some(f64::NAN))),
        DataType::Dictionary(_, values) if values.is_floating() => {
            let dictionary = array.as_any_dictionary();
            dictionary.with_values(canonical(dictionary.values(), keep_nan))
        }
        _ => Arc::clone(array),
    }
}

fn canonical_of<T: ArrowPrimitiveType>(array: &ArrayRef, nan: Option<T::Native>) -> PrimitiveArray<T> {
    array.as_primitive::<T>().unary_opt(|value| match value.partial_cmp(&value) {
        None => nan,
        Some(_) if value.is_zero() => Some(T::Native::ZERO),
        Some(_) => Some(value),
    })
}
