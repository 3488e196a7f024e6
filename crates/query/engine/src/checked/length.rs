//! Limits on functions whose result length is an argument (`repeat('x', 2000000000)`). They fail if
//! a batch of results would be too large: the engine accounts for the memory that operators keep,
//! but not for results of expressions.

use std::sync::Arc;

use arrow_schema::{DataType, FieldRef};
use datafusion::arrow::array::{Array as _, AsArray as _, Int64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::compute::kernels::length::length;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::{DataFusionError, exec_err};
use datafusion::execution::SessionStateDefaults;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

/// Per batch: 8 KiB for each of its usual 8192 rows.
const BATCH_BYTES_MAX: i128 = 64 << 20;
/// Overhead of an element.
const ELEMENT_BYTES: i128 = 8;

/// Formula for the length of a function's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Made {
    /// The first argument, repeated as often as the second states.
    Times,
    /// As many characters or elements as the second argument states.
    Length,
    /// Integers from one argument to another.
    Span,
}

const FUNCTIONS: [(&str, Made); 7] = [
    ("repeat", Made::Times),
    ("array_repeat", Made::Times),
    ("lpad", Made::Length),
    ("rpad", Made::Length),
    ("array_resize", Made::Length),
    ("range", Made::Span),
    ("generate_series", Made::Span),
];

/// The engine's functions with limits.
pub(super) fn functions() -> Vec<Arc<ScalarUDF>> {
    let all = SessionStateDefaults::default_scalar_functions();
    let bounded = |function: &Arc<ScalarUDF>| {
        let (_, made) = FUNCTIONS.iter().find(|(name, _)| *name == function.name())?;
        Some(Arc::new(Bounded { function: Arc::clone(function), made: *made }.into()))
    };
    all.iter().filter_map(bounded).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Bounded {
    function: Arc<ScalarUDF>,
    made: Made,
}

impl ScalarUDFImpl for Bounded {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn aliases(&self) -> &[String] {
        self.function.aliases()
    }

    fn signature(&self) -> &Signature {
        self.function.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType, DataFusionError> {
        self.function.return_type(arguments)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef, DataFusionError> {
        self.function.return_field_from_args(arguments)
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>, DataFusionError> {
        self.function.coerce_types(arguments)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue, DataFusionError> {
        let made_bytes = self.made.bytes(&arguments)?;
        if made_bytes > BATCH_BYTES_MAX {
            return exec_err!(
                "{} would make {made_bytes} bytes of a batch of rows, and {BATCH_BYTES_MAX} at most are made; ask for less at a time",
                self.name()
            );
        }
        self.function.invoke_with_args(arguments)
    }
}

impl Made {
    /// Returns the approximate size of a batch's results.
    fn bytes(self, arguments: &ScalarFunctionArgs) -> Result<i128, DataFusionError> {
        let is_array = |value: &ColumnarValue| matches!(value, ColumnarValue::Array(_));
        let rows = if arguments.args.iter().any(is_array) { arguments.number_rows } else { 1 };
        let numbers = |place: usize| match arguments.args.get(place) {
            Some(value) => numbers(value, rows),
            None => Ok(None),
        };
        let of_row: Box<dyn Fn(usize) -> i128> = match (self, arguments.args.as_slice()) {
            (Self::Times, [one, _]) => {
                let (lengths, times) = (lengths(one, rows)?, numbers(1)?);
                Box::new(move |row| {
                    at(times.as_ref(), row, 0) * (ELEMENT_BYTES + at(lengths.as_ref(), row, 0))
                })
            }
            (Self::Length, [_, _, ..]) => {
                let length = numbers(1)?;
                Box::new(move |row| at(length.as_ref(), row, 0))
            }
            (Self::Span, [_]) => {
                let end = numbers(0)?;
                Box::new(move |row| ELEMENT_BYTES * at(end.as_ref(), row, 0))
            }
            (Self::Span, [_, _, ..]) => {
                let (start, end, step) = (numbers(0)?, numbers(1)?, numbers(2)?);
                Box::new(move |row| {
                    let span = at(end.as_ref(), row, 0) - at(start.as_ref(), row, 0);
                    ELEMENT_BYTES * (span / at(step.as_ref(), row, 1).abs().max(1)).abs()
                })
            }
            _ => Box::new(|_| 0),
        };
        Ok((0..rows).map(|row| of_row(row).max(0)).sum())
    }
}

/// Returns the number of a row, or `otherwise` if it has none.
fn at(numbers: Option<&Int64Array>, row: usize, otherwise: i128) -> i128 {
    let known = numbers.filter(|numbers| row < numbers.len() && numbers.is_valid(row));
    known.map_or(otherwise, |numbers| i128::from(numbers.value(row)))
}

/// Returns integers; `None` for other types, such as days.
fn numbers(value: &ColumnarValue, rows: usize) -> Result<Option<Int64Array>, DataFusionError> {
    let array = value.clone().into_array(rows)?;
    Ok(array.as_primitive_opt::<Int64Type>().cloned())
}

/// Returns the lengths of texts in bytes or of lists in elements; `None` for types of fixed length.
fn lengths(value: &ColumnarValue, rows: usize) -> Result<Option<Int64Array>, DataFusionError> {
    let array = value.clone().into_array(rows)?;
    // Types without a length function have a fixed size.
    let Ok(lengths) = length(array.as_ref()) else { return Ok(None) };
    Ok(cast(&lengths, &DataType::Int64)?.as_primitive_opt::<Int64Type>().cloned())
}
