//! Reading of user-named files, with a size limit and without the byte order mark.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// Largest accepted profile. A short probe's reads take 50 KiB, and each experiment a little more.
/// Longer files aren't profiles, or are meant to exhaust time and memory (parsing takes up to
/// sixteen times the size).
pub const PROFILE_BYTES_MAX: u64 = 8 << 20;
/// Largest accepted sweep file: a million cells.
pub const SWEEP_BYTES_MAX: u64 = 256 << 20;

/// UTF-8 byte order mark, which some editors write.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a file of at most `bytes_max` bytes and removes its byte order mark.
///
/// # Errors
/// The file can't be read, or is longer.
pub fn read_within(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let what =
            format!("it has more than {} MiB, which no such file has; name another one", bytes_max >> 20);
        return Err(Error::new(ErrorKind::FileTooLarge, what));
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_files_are_refused() {
        let refused = read_within(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert!(refused.to_string().contains("more than 1 MiB"), "{refused}");
    }

    #[test]
    fn byte_order_marks_are_removed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (bytes, text) in [(&b"\xef\xbb\xbf{}"[..], "{}"), (b"{}", "{}"), (b"", "")] {
            std::fs::write(file.path(), bytes).unwrap();
            assert_eq!(read_within(file.path(), 9).unwrap(), text.as_bytes());
        }
    }
}
