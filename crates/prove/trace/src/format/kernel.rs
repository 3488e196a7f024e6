//! What the kernel's block layer writes: sectors of 512 bytes, and letters for what a request is.

use super::number;
use crate::Operation;

pub(super) const SECTOR_BYTES: u64 = 512;

/// A request as the block layer's tracepoints tell of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    /// `major,minor`.
    pub(crate) device: &'a str,
    /// What kind of request it is (`RWBS`).
    pub(crate) letters: &'a str,
    pub(crate) operation: Operation,
    /// First byte; 0 of a sync.
    pub(crate) address: u64,
    /// Bytes; 0 of a sync.
    pub(crate) length_bytes: u64,
}

/// The request in what follows a tracepoint's name, such as `254,0 WS 8192 () 16 + 16 none,0,0 [dd]`; `None` where it moves no data.
pub(crate) fn request(text: &str) -> Result<Option<Request<'_>>, String> {
    let mut words = text.split_whitespace();
    let device = words.next().filter(|word| is_device(word)).ok_or("the device (major,minor) is missing")?;
    let letters = words.next().ok_or("what kind of request it is (rwbs) is missing")?;
    let Some(operation) = operation(letters) else { return Ok(None) };
    // The command in brackets may have words of its own; the sector stands before the plus.
    let (sector, sectors) = text.split_once(" + ").ok_or("`sector + sectors` is missing")?;
    let sectors = number(sectors.split_whitespace().next(), "the number of sectors")?;
    if sectors == 0 || operation == Operation::Sync {
        // A flush, also one that older kernels call a write (`FWS`); what else has no sectors moves no data.
        let sync = Request { device, letters, operation: Operation::Sync, address: 0, length_bytes: 0 };
        return Ok(letters.contains('F').then_some(sync));
    }
    let sector = number(sector.split_whitespace().next_back(), "the sector")?;
    let (address, length_bytes) = extent(sector, sectors)?;
    Ok(Some(Request { device, letters, operation, address, length_bytes }))
}

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
