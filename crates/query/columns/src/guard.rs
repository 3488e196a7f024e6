use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{ColumnsError, Place};

/// Runs what decodes a file's bytes. A panic becomes an error that names the file: the decoder isn't ours, and the file may be hostile.
/// What `decode` has changed before it panicked must not be used any more.
pub(crate) fn guarded<T>(
    place: &Place,
    decode: impl FnOnce() -> Result<T, ColumnsError>,
) -> Result<T, ColumnsError> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|panic| {
        Err(ColumnsError::DecoderPanicked { place: place.clone(), what: message(panic.as_ref()) })
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_names_the_place() {
        let place = Place::of_chunk("data/1-0.parquet", 2, "delay");
        let error = guarded::<()>(&place, || panic!("index {} out of range", 7)).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("data/1-0.parquet") && text.contains("row group 2") && text.contains("index 7"),
            "{text}"
        );
    }
}
