use std::fmt;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Scalar, StringArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_ord::cmp;
use arrow_schema::{ArrowError, DECIMAL256_MAX_PRECISION, DECIMAL256_MAX_SCALE, DataType, TimeUnit};

use super::file::value_type;
use super::floats::{with_one_nan, without_nan};
use super::zones::text_type;
use crate::ColumnsError;

/// Condition on a column; all conditions of a scan must hold. A null matches only
/// [`is_null`](Predicate::is_null). NaN is a value: it equals NaN and lies in no range. -0.0 equals
/// 0.0.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    column: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    In(Vec<String>),
    Between(Option<String>, Option<String>),
    Null,
    NotNull,
}

impl fmt::Display for Predicate {
    /// Formats as `COLUMN=VALUE,…`, `COLUMN=LOW..HIGH`, `COLUMN is null` or `COLUMN is not null`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.column)?;
        match &self.test {
            Test::In(values) => write!(f, "={}", values.join(",")),
            Test::Between(low, high) => {
                let bound = |bound: &Option<String>| bound.clone().unwrap_or_default();
                write!(f, "={}..{}", bound(low), bound(high))
            }
            Test::Null => f.write_str(" is null"),
            Test::NotNull => f.write_str(" is not null"),
        }
    }
}

impl Predicate {
    /// The column has one of these values, given as text.
    pub fn is_in<T: Into<String>>(column: &str, values: impl IntoIterator<Item = T>) -> Self {
        Self { column: column.to_owned(), test: Test::In(values.into_iter().map(Into::into).collect()) }
    }

    /// The column lies between two values, inclusive; `None` leaves a side open.
    pub fn between(column: &str, low: Option<&str>, high: Option<&str>) -> Self {
        let owned = |bound: Option<&str>| bound.map(ToOwned::to_owned);
        Self { column: column.to_owned(), test: Test::Between(owned(low), owned(high)) }
    }

    /// The column is null.
    pub fn is_null(column: &str) -> Self {
        Self { column: column.to_owned(), test: Test::Null }
    }

    /// The column isn't null.
    pub fn is_not_null(column: &str) -> Self {
        Self { column: column.to_owned(), test: Test::NotNull }
    }

    /// Name of its column.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// Converts its values to a column's type.
    pub(crate) fn bind(&self, data_type: &DataType) -> Result<BoundPredicate, ColumnsError> {
        let data_type = value_type(data_type);
        let value = |text: &String| Ok(Scalar::new(with_one_nan(&self.value(text, data_type)?)));
        // Nothing matches a comparison with null, so a range with a NaN bound is empty.
        let bound = |text: &String| Ok(Scalar::new(without_nan(&self.value(text, data_type)?)));
        let test = match &self.test {
            Test::In(values) => BoundTest::In(values.iter().map(value).collect::<Result<_, _>>()?),
            Test::Between(low, high) => BoundTest::Between(
                low.as_ref().map(bound).transpose()?,
                high.as_ref().map(bound).transpose()?,
            ),
            Test::Null => BoundTest::Null,
            Test::NotNull => BoundTest::NotNull,
        };
        Ok(BoundPredicate { test })
    }

    fn value(&self, text: &str, data_type: &DataType) -> Result<ArrayRef, ColumnsError> {
        let array: ArrayRef = Arc::new(StringArray::from(vec![text]));
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        let cast_to = |array: &ArrayRef, to: &DataType| cast_with_options(array, to, &strict).ok();
        let value = cast_to(&array, &text_type(data_type)).filter(|value| !value.is_null(0));
        let value =
            value.filter(|value| is_exact(&array, value)).and_then(|value| cast_to(&value, data_type));
        value.ok_or_else(|| ColumnsError::Value {
            column: self.column.clone(),
            value: text.to_owned(),
            expected: match data_type {
                DataType::Date32 => format!("{data_type}, such as 2008-04-30"),
                _ => data_type.to_string(),
            },
        })
    }
}

/// Returns true if the cast preserved the text's value: types with fractions round or truncate.
/// Floats are exempt, since decimal text is rarely exact.
fn is_exact(text: &ArrayRef, value: &ArrayRef) -> bool {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    // A value too large for the finest type may fit the next.
    let exact = finer(value.data_type()).into_iter().find_map(|finer| {
        let whole = cast_with_options(text, &finer, &strict).ok()?;
        let kept = cast_with_options(value, &finer, &strict).ok()?;
        Some(whole.to_data() == kept.to_data())
    });
    exact.unwrap_or(true)
}

/// Types of higher precision, the finest first.
fn finer(data_type: &DataType) -> Vec<DataType> {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256, Time32, Time64, Timestamp};
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    match data_type {
        Decimal32(precision, scale)
        | Decimal64(precision, scale)
        | Decimal128(precision, scale)
        | Decimal256(precision, scale) => {
            let room = DECIMAL256_MAX_PRECISION.saturating_sub(*precision).cast_signed();
            let scale = scale.saturating_add(room).min(DECIMAL256_MAX_SCALE);
            vec![Decimal256(DECIMAL256_MAX_PRECISION, scale)]
        }
        Timestamp(Second | Millisecond, zone) => {
            vec![Timestamp(Nanosecond, zone.clone()), Timestamp(Microsecond, zone.clone())]
        }
        Timestamp(Microsecond, zone) => vec![Timestamp(Nanosecond, zone.clone())],
        Time32(_) | Time64(_) => vec![Time64(Nanosecond)],
        _ => Vec::new(),
    }
}

/// A predicate with values of its column's type.
#[derive(Debug)]
pub(crate) struct BoundPredicate {
    test: BoundTest,
}

#[derive(Debug)]
enum BoundTest {
    In(Vec<Scalar<ArrayRef>>),
    Between(Option<Scalar<ArrayRef>>, Option<Scalar<ArrayRef>>),
    Null,
    NotNull,
}

impl BoundPredicate {
    /// Returns true if nulls match it. In that case no value does, otherwise no null.
    pub(crate) const fn accepts_null(&self) -> bool {
        matches!(self.test, BoundTest::Null)
    }

    /// Returns true if `rows` rows with `nulls` nulls may contain a match, whatever their values.
    /// `None` means unknown.
    pub(crate) fn may_match_nulls(&self, nulls: Option<u64>, rows: u64) -> bool {
        let ruled_out = if self.accepts_null() { 0 } else { rows };
        nulls != Some(ruled_out)
    }

    /// Returns for each value whether it matches; never null.
    pub(crate) fn matches(&self, values: &ArrayRef) -> Result<BooleanArray, ColumnsError> {
        self.evaluate(values).map_err(ColumnsError::arrow("comparing with a predicate's values"))
    }

    fn evaluate(&self, values: &ArrayRef) -> Result<BooleanArray, ArrowError> {
        let all = |set: bool| BooleanArray::from(vec![set; values.len()]);
        let present = || known(&BooleanArray::new(all(true).values().clone(), values.logical_nulls()));
        match &self.test {
            BoundTest::NotNull => Ok(present()),
            BoundTest::Null => Ok(BooleanArray::new(!present().values(), None)),
            BoundTest::In(accepted) => {
                let values = with_one_nan(values);
                accepted.iter().try_fold(all(false), |found, value| {
                    Ok(either(&found, &known(&cmp::eq(&values, value)?)))
                })
            }
            BoundTest::Between(low, high) => {
                let numbers = without_nan(values);
                let mut found = present();
                if let Some(low) = low {
                    found = both(&found, &known(&cmp::gt_eq(&numbers, low)?));
                }
                if let Some(high) = high {
                    found = both(&found, &known(&cmp::lt_eq(&numbers, high)?));
                }
                Ok(found)
            }
        }
    }

    /// Returns for each block of rows whether it may contain a match, by its least and greatest
    /// values; null means unknown. A block may contain NaN regardless of these.
    pub(crate) fn may_match(
        &self,
        least: &ArrayRef,
        greatest: &ArrayRef,
    ) -> Result<BooleanArray, ColumnsError> {
        self.evaluate_bounds(least, greatest).map_err(ColumnsError::arrow("comparing with statistics"))
    }

    fn evaluate_bounds(&self, least: &ArrayRef, greatest: &ArrayRef) -> Result<BooleanArray, ArrowError> {
        let (least, greatest) = (without_nan(least), without_nan(greatest));
        let range = |low: Option<&Scalar<ArrayRef>>, high: Option<&Scalar<ArrayRef>>| {
            let mut may = BooleanArray::from(vec![true; least.len()]);
            if let Some(low) = low {
                may = both(&may, &unless_known(&cmp::gt_eq(&greatest, low)?));
            }
            if let Some(high) = high {
                may = both(&may, &unless_known(&cmp::lt_eq(&least, high)?));
            }
            Ok(may)
        };
        match &self.test {
            BoundTest::In(accepted) => {
                accepted.iter().try_fold(BooleanArray::from(vec![false; least.len()]), |may, value| {
                    // NaN becomes null, which can't be excluded.
                    let value = Scalar::new(without_nan(&value.clone().into_inner()));
                    Ok(either(&may, &range(Some(&value), Some(&value))?))
                })
            }
            BoundTest::Between(low, high) => range(low.as_ref(), high.as_ref()),
            BoundTest::Null | BoundTest::NotNull => range(None, None),
        }
    }
}

/// Maps null to false.
fn known(mask: &BooleanArray) -> BooleanArray {
    let values = mask.nulls().map_or_else(|| mask.values().clone(), |valid| mask.values() & valid.inner());
    BooleanArray::new(values, None)
}

/// Maps null to true.
fn unless_known(mask: &BooleanArray) -> BooleanArray {
    let values = mask.nulls().map_or_else(|| mask.values().clone(), |valid| mask.values() | &!valid.inner());
    BooleanArray::new(values, None)
}

fn both(one: &BooleanArray, other: &BooleanArray) -> BooleanArray {
    BooleanArray::new(one.values() & other.values(), None)
}

fn either(one: &BooleanArray, other: &BooleanArray) -> BooleanArray {
    BooleanArray::new(one.values() | other.values(), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Float64Array, Int32Array};

    fn matches(predicate: &Predicate, values: &ArrayRef) -> Vec<bool> {
        let bound = predicate.bind(values.data_type()).unwrap();
        bound.matches(values).unwrap().iter().map(Option::unwrap).collect()
    }

    #[test]
    fn nulls_fulfil_one_predicate_alone() {
        let values: ArrayRef = Arc::new(Int32Array::from(vec![Some(3), None, Some(5), Some(9)]));
        assert_eq!(matches(&Predicate::is_in("a", ["5", "9"]), &values), [false, false, true, true]);
        assert_eq!(
            matches(&Predicate::between("a", Some("4"), Some("5")), &values),
            [false, false, true, false]
        );
        assert_eq!(matches(&Predicate::between("a", None, None), &values), [true, false, true, true]);
        assert_eq!(matches(&Predicate::is_null("a"), &values), [false, true, false, false]);
        assert_eq!(matches(&Predicate::is_not_null("a"), &values), [true, false, true, true]);
    }

    #[test]
    fn numbers_of_nulls_rule_stretches_out() {
        let may = |predicate: &Predicate, nulls| {
            predicate.bind(&DataType::Int32).unwrap().may_match_nulls(nulls, 7)
        };
        let numbers = [None, Some(0), Some(3), Some(7)];
        assert_eq!(numbers.map(|nulls| may(&Predicate::is_null("a"), nulls)), [true, false, true, true]);
        for of_values in [
            Predicate::is_not_null("a"),
            Predicate::is_in("a", ["5"]),
            Predicate::between("a", None, Some("9")),
        ] {
            assert_eq!(numbers.map(|nulls| may(&of_values, nulls)), [true, true, true, false]);
        }
    }

    #[test]
    fn unknown_statistics_may_match() {
        let least: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(10)]));
        let greatest: ArrayRef = Arc::new(Int32Array::from(vec![Some(4), Some(8), None]));
        let may = |predicate: &Predicate| {
            let bound = predicate.bind(&DataType::Int32).unwrap();
            bound.may_match(&least, &greatest).unwrap().iter().map(Option::unwrap).collect::<Vec<_>>()
        };
        assert_eq!(may(&Predicate::is_in("a", ["5"])), [false, true, false]);
        assert_eq!(may(&Predicate::between("a", Some("9"), None)), [false, false, true]);
    }

    #[test]
    fn a_predicate_is_shown_as_it_is_asked_for() {
        assert_eq!(Predicate::is_in("a", ["1", "2"]).to_string(), "a=1,2");
        assert_eq!(Predicate::between("a", None, Some("2")).to_string(), "a=..2");
        assert_eq!(Predicate::is_null("a").to_string(), "a is null");
        assert_eq!(Predicate::is_not_null("a").to_string(), "a is not null");
    }

    #[test]
    fn statistics_that_are_nan_are_unknown() {
        let least: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN, 1.0, 0.0]));
        let greatest: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN, f64::NAN, 0.0]));
        let may = |predicate: &Predicate| {
            let bound = predicate.bind(&DataType::Float64).unwrap();
            bound.may_match(&least, &greatest).unwrap().iter().map(Option::unwrap).collect::<Vec<_>>()
        };
        assert_eq!(may(&Predicate::is_in("a", ["7"])), [true, true, false]);
        assert_eq!(may(&Predicate::between("a", None, Some("0.5"))), [true, false, true]);
        assert_eq!(may(&Predicate::is_in("a", ["-0.0"])), [true, false, true]);
        assert_eq!(may(&Predicate::is_in("a", ["NaN"])), [true, true, true]);
    }

    #[test]
    fn values_that_a_column_can_not_have_are_refused() {
        use DataType::{Date32, Decimal128, Float32, Time32, Timestamp};
        let cents = Decimal128(10, 2);
        let seconds = Timestamp(TimeUnit::Second, None);
        let cases = [
            (&cents, "1.01", true),
            (&cents, "-12345678.90", true),
            (&cents, "1.0100", true),
            (&cents, "1.005", false),
            (&Decimal128(38, 0), "12345678901234567890123456789012345678", true),
            (&Decimal128(38, 0), "0.5", false),
            (&seconds, "2008-01-02T03:04:05", true),
            (&seconds, "2008-01-02T03:04:05.000", true),
            (&seconds, "2008-01-02T03:04:05.5", false),
            (&seconds, "3008-01-02T03:04:05", true),
            (&seconds, "3008-01-02T03:04:05.5", false),
            (&Timestamp(TimeUnit::Millisecond, Some("+00:00".into())), "2008-01-02T03:04:05.123Z", true),
            (&Timestamp(TimeUnit::Microsecond, None), "2008-01-02T03:04:05.1234567", false),
            (&Timestamp(TimeUnit::Microsecond, Some("UTC".into())), "2008-01-02T03:04:05.123456Z", true),
            (
                &Timestamp(TimeUnit::Millisecond, Some("Europe/Rome".into())),
                "2008-01-02T03:04:05+01:00",
                true,
            ),
            (&Timestamp(TimeUnit::Millisecond, Some("UTC".into())), "2008-01-02T03:04:05.1234Z", false),
            (&Time32(TimeUnit::Second), "03:04:05", true),
            (&Time32(TimeUnit::Second), "03:04:05.5", false),
            (&Date32, "2008-01-02", true),
            (&Float32, "0.1", true),
        ];
        for (data_type, text, is_value) in cases {
            let bound = Predicate::is_in("a", [text]).bind(data_type);
            assert_eq!(bound.is_ok(), is_value, "{text} of {data_type}: {bound:?}");
        }
    }

    #[test]
    fn values_of_another_type_are_refused() {
        let error = Predicate::is_in("year", ["x"]).bind(&DataType::Int16).unwrap_err();
        assert_eq!(error.to_string(), "`x` is no value of column `year`, which is Int16");
    }
}
