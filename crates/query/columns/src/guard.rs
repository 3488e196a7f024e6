use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{ColumnsError, Place};

thread_local! {
    /// Nesting depth of [`catch_panic`] in this thread.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
}

/// Runs third-party code on possibly hostile data and turns a panic into its message. State that
/// `work` changed before it panicked must not be used.
///
/// # Errors
/// The message of the panic.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    CATCHING.set(CATCHING.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(CATCHING.get() - 1);
    done.map_err(|panic| message(panic.as_ref()))
}

/// Returns true if a panic of this thread is caught. For panic hooks: such a panic is reported as
/// an error, any other must be printed.
pub fn panic_is_caught() -> bool {
    CATCHING.get() > 0
}

/// Runs a decoder; turns a panic into an error that names the file. The decoder is third-party code
/// and the file may be hostile.
pub(crate) fn guarded<T>(
    place: &Place,
    decode: impl FnOnce() -> Result<T, ColumnsError>,
) -> Result<T, ColumnsError> {
    let panicked = |what| ColumnsError::DecoderPanicked { place: place.clone(), what };
    catch_panic(decode).map_err(panicked).flatten()
}

/// Runs an encoder; turns a panic into an error that names the file and the operation.
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
