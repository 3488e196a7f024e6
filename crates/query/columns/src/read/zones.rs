use std::sync::Arc;

use arrow_array::timezone::Tz;
use arrow_array::{Array as _, ArrayRef};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};

/// Type used to read and write values as text: UTC for times in a named zone, because this crate
/// has no time zone database. Such a column stores instants; the zone is only for display. A build
/// that includes a database (as with an SQL engine) must produce the same texts, so only the name
/// decides, not whether it could be resolved.
pub(crate) fn text_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Timestamp(unit, Some(zone)) if !is_offset(zone) => {
            DataType::Timestamp(*unit, Some("+00:00".into()))
        }
        other => other.clone(),
    }
}

fn is_offset(zone: &str) -> bool {
    zone.starts_with(['+', '-']) && zone.parse::<Tz>().is_ok()
}

/// Converts values for output as text: times in a named zone (`UTC`, `America/New_York`) become the
/// same instants in UTC.
///
/// # Errors
/// Errors of Arrow's cast.
pub fn for_text(values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let wanted = text_type(values.data_type());
    if wanted == *values.data_type() { Ok(Arc::clone(values)) } else { cast(values, &wanted) }
}

#[cfg(test)]
mod tests {
    use arrow_array::TimestampMicrosecondArray;
    use arrow_array::cast::AsArray;

    use super::*;

    #[test]
    fn moments_stay_what_they_are() {
        for (zone, text) in [
            ("UTC", "2008-01-02T03:04:05Z"),
            ("America/New_York", "2008-01-02T03:04:05Z"),
            ("+05:30", "2008-01-02T08:34:05+05:30"),
        ] {
            let at = TimestampMicrosecondArray::from(vec![1_199_243_045_000_000]).with_timezone(zone);
            let at: ArrayRef = Arc::new(at);
            let written = cast(&for_text(&at).unwrap(), &DataType::Utf8).unwrap();
            assert_eq!(written.as_string::<i32>().value(0), text, "{zone}");
        }
    }
}
