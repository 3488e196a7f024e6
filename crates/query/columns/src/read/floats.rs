//! What the special values of floats mean to predicates and keys. Arrow's kernels compare bits, Parquet's statistics leave NaN out and
//! may give either zero for the other, so that neither can be held against the other as it is.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::DataType;

/// NaN of every sign and payload as one value, and -0.0 as 0.0; what isn't of floats stays as it is.
pub(crate) fn with_one_nan(array: &ArrayRef) -> ArrayRef {
    canonical(array, true)
}

/// The same without NaN, which becomes null.
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
