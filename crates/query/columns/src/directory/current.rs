use std::io::ErrorKind;

use super::{CURRENT, Manifest};
use crate::files::{WHOLE_BYTES_MAX, read_all};
use crate::{ColumnsError, Files, Held, Sharing, Stopped};

/// Retries of a reader, from `CURRENT`, after a writer removed the manifest that it was about to
/// lock. Each retry means that a whole commit happened in between.
const TRIES: u32 = 100;

/// Maximum length of `CURRENT`, with a number of 20 digits.
const POINTER_BYTES_MAX: u64 = 64;

/// Content of `CURRENT`.
pub(super) fn pointer(name: &str, manifest: &[u8]) -> String {
    format!("{name} {:08x}\n", nandle_units::checksum(manifest))
}

/// A locked manifest: it and its files are kept until this is dropped.
#[derive(Debug)]
pub(crate) struct Pinned {
    pub(crate) manifest: Manifest,
    _lock: Box<dyn Held>,
}

/// Reads the current manifest. Unless the caller holds `LOCK`, its files may be removed at any
/// time.
pub(crate) fn current_manifest(files: &dyn Files) -> Result<Manifest, ColumnsError> {
    follow(files, |name, crc32c| match read_all(files, name, WHOLE_BYTES_MAX) {
        Ok(bytes) => checked(name, crc32c, &bytes).map(Attempt::Done),
        Err(error) => Ok(Attempt::Failed(error)),
    })
}

/// Reads and locks the current manifest, for a reader.
pub(crate) fn pin_current(files: &dyn Files) -> Result<Pinned, ColumnsError> {
    follow(files, |name, crc32c| {
        let lock = match files.lock(name, Sharing::Shared) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Ok(Attempt::Overtaken),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Attempt::Failed(error)),
            Err(error) => return Err(ColumnsError::io("locking", name)(error)),
        };
        let bytes = read_all(files, name, WHOLE_BYTES_MAX).map_err(ColumnsError::io("reading", name))?;
        Ok(Attempt::Done(Pinned { manifest: checked(name, crc32c, &bytes)?, _lock: lock }))
    })
}

/// Result of opening the manifest that `CURRENT` names.
enum Attempt<T> {
    Done(T),
    /// A writer is about to remove it, so `CURRENT` already names another.
    Overtaken,
    /// Opening failed, perhaps because it was removed.
    Failed(std::io::Error),
}

/// Opens the manifest that `CURRENT` names; retries if it was replaced in the meantime.
fn follow<T>(
    files: &dyn Files,
    attempt: impl Fn(&str, u32) -> Result<Attempt<T>, ColumnsError>,
) -> Result<T, ColumnsError> {
    for _ in 0..TRIES {
        let (name, crc32c) = read_current(files)?;
        match attempt(&name, crc32c)? {
            Attempt::Done(found) => return Ok(found),
            Attempt::Overtaken => {}
            Attempt::Failed(error) if Stopped::is(&error) => return Err(ColumnsError::Stopped),
            Attempt::Failed(error) => {
                if error.kind() != ErrorKind::NotFound || read_current(files)?.0 == name {
                    return Err(unreadable(&name, &error));
                }
            }
        }
    }
    Err(ColumnsError::Misuse {
        what: format!("`{CURRENT}` changed {TRIES} times while it was being opened"),
        mend: "wait until the loads are done",
    })
}

fn read_current(files: &dyn Files) -> Result<(String, u32), ColumnsError> {
    let refuse = |why: String| ColumnsError::NotATable { file: CURRENT.to_owned(), why };
    let bytes = read_all(files, CURRENT, POINTER_BYTES_MAX).map_err(|error| match error {
        error if Stopped::is(&error) => ColumnsError::Stopped,
        error => refuse(error.to_string()),
    })?;
    let parsed = || {
        let (name, sum) = std::str::from_utf8(&bytes).ok()?.strip_suffix('\n')?.split_once(' ')?;
        Manifest::snapshot_of(name)?;
        let sum = (sum.len() == 8).then(|| u32::from_str_radix(sum, 16).ok())??;
        Some((name.to_owned(), sum))
    };
    parsed().ok_or_else(|| {
        let got = String::from_utf8_lossy(bytes.get(..bytes.len().min(60)).unwrap_or_default()).into_owned();
        refuse(format!("it holds {got:?} and not `manifest-N.json CCCCCCCC`"))
    })
}

fn unreadable(name: &str, error: &std::io::Error) -> ColumnsError {
    ColumnsError::NotATable { file: CURRENT.to_owned(), why: format!("it names `{name}`: {error}") }
}

fn checked(name: &str, crc32c: u32, bytes: &[u8]) -> Result<Manifest, ColumnsError> {
    let got = nandle_units::checksum(bytes);
    if got != crc32c {
        let why = format!("its CRC32C is {got:08x}, and `{CURRENT}` says {crc32c:08x}");
        return Err(ColumnsError::NotATable { file: name.to_owned(), why });
    }
    Manifest::parse(name, bytes)
}
