//! How files are read that people name: no more than their kind can have, and without a byte order mark.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// The longest profile that may be read. The reads of a short probe make 50 KiB of it, and every experiment some more; what is
/// longer is no profile, or made to take time and memory away (parsed it takes up to sixteen times as much).
pub const PROFILE_BYTES_MAX: u64 = 8 << 20;
/// The longest file of a sweep's cells: a million of them.
pub const SWEEP_BYTES_MAX: u64 = 256 << 20;

/// What some editors begin a text of UTF-8 with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file of at most `bytes_max`, without its byte order mark.
///
/// # Errors
/// It can't be read, or is longer.
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
    fn what_is_longer_is_refused_and_not_read() {
        let refused = read_within(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert!(refused.to_string().contains("more than 1 MiB"), "{refused}");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_text() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (bytes, text) in [(&b"\xef\xbb\xbf{}"[..], "{}"), (b"{}", "{}"), (b"", "")] {
            std::fs::write(file.path(), bytes).unwrap();
            assert_eq!(read_within(file.path(), 9).unwrap(), text.as_bytes());
        }
    }
}
