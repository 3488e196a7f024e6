//! What the kernel's block layer writes: sectors of 512 bytes, and letters for what a request is.

use crate::Operation;

pub(super) const SECTOR_BYTES: u64 = 512;

/// The operation that the letters of a request (`RWBS`) stand for: `WS` a synchronous write, `FF` a flush, `D` a
/// discard; `None` where they say nothing of data (`N`).
///
/// A write with a flush before it (`FW…`) or through the cache (`WF…`) is a write here.
pub(super) fn operation(letters: &str) -> Option<Operation> {
    let letter = |letter: char| letters.contains(letter);
    if letter('D') {
        Some(Operation::Discard)
    } else if letter('W') {
        Some(Operation::Write)
    } else if letter('R') {
        Some(Operation::Read)
    } else {
        // A flush alone; blkparse writes `FN` for it.
        letter('F').then_some(Operation::Sync)
    }
}

/// Whether a word is a device's number, `major,minor`.
pub(super) fn is_device(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    word.split_once(',').is_some_and(|(major, minor)| digits(major) && digits(minor))
}

/// Address and length of `sector + sectors`.
pub(super) fn extent(sector: u64, sectors: u64) -> Result<(u64, u64), String> {
    let bytes = |sectors: u64| sectors.checked_mul(SECTOR_BYTES).ok_or("the address is beyond any device");
    Ok((bytes(sector)?, bytes(sectors)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_for_operations() {
        for (letters, expected) in [
            ("R", Some(Operation::Read)),
            ("RA", Some(Operation::Read)),
            ("WS", Some(Operation::Write)),
            ("FWFS", Some(Operation::Write)),
            ("WSM", Some(Operation::Write)),
            ("FF", Some(Operation::Sync)),
            ("D", Some(Operation::Discard)),
            ("N", None),
        ] {
            assert_eq!(operation(letters), expected, "{letters}");
        }
    }

    #[test]
    fn a_device_is_two_numbers() {
        assert!(is_device("254,0"));
        assert!(!is_device("254") && !is_device("0x2,0,4") && !is_device(",0"));
    }
}
