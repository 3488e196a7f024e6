use std::sync::Arc;

use arrow_array::timezone::Tz;
use arrow_array::{Array as _, ArrayRef};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};

/// The type as which values are written and read as text: that of times in a zone with a name is UTC, because there is no table of zones here.
/// Such a column holds moments all the same, and only names the zone in which it wants them shown. A program that is built together with
/// a table of zones (an SQL engine brings one) must write and read the same texts: what decides is the name, not whether it would be known.
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

/// Values as they can be written as text: times in a zone with a name (`UTC`, `America/New_York`) become the same moments in UTC.
///
/// # Errors
/// Arrow's.
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
