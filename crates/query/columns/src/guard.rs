use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{ColumnsError, Place};

thread_local! {
    /// How many calls of [`catch_panic`] this thread is in.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
}

/// Runs work of a library that isn't ours over data that may be hostile. A panic becomes its message. What `work` has changed before it
/// panicked must not be used any more.
///
/// # Errors
/// It panicked.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    CATCHING.set(CATCHING.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(CATCHING.get() - 1);
    done.map_err(|panic| message(panic.as_ref()))
}

/// Whether a panic of this thread becomes an error now, for a program's panic hook: what the error will say needn't be printed, and no other panic may be
/// silent.
pub fn panic_is_caught() -> bool {
    CATCHING.get() > 0
}

/// Runs what decodes a file's bytes. A panic becomes an error that names the file: the decoder isn't ours, and the file may be hostile.
pub(crate) fn guarded<T>(
    place: &Place,
    decode: impl FnOnce() -> Result<T, ColumnsError>,
) -> Result<T, ColumnsError> {
    let panicked = |what| ColumnsError::DecoderPanicked { place: place.clone(), what };
    catch_panic(decode).map_err(panicked).flatten()
}

/// Runs what encodes a file's bytes. A panic becomes an error that names the file and what was being done to it.
pub(crate) fn guarded_writer<T>(
    file: &str,
    action: impl FnOnce() -> String,
    encode: impl FnOnce() -> Result<T, ColumnsError>,
) -> Result<T, ColumnsError> {
    let panicked = |what| ColumnsError::WriterPanicked { file: file.to_owned(), action: action(), what };
    catch_panic(encode).map_err(panicked).flatten()
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

    #[test]
    fn a_hook_knows_which_panics_become_errors() {
        assert!(!panic_is_caught());
        assert_eq!(catch_panic(panic_is_caught), Ok(true));
        assert_eq!(catch_panic::<()>(|| panic!("{}", panic_is_caught())), Err("true".to_owned()));
        assert!(!panic_is_caught());
    }
}
