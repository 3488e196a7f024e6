//! Notation of the kernel's block layer: sectors of 512 bytes, and letters for the kind of a
//! request.

use super::number;
use super::rwbs::RequestKind;
use crate::Operation;

pub(super) const SECTOR_BYTES: u64 = 512;

/// A request in a tracepoint of the block layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    /// `major,minor`.
    pub(crate) device: &'a str,
    /// Kind of the request (`RWBS`).
    pub(crate) letters: &'a str,
    pub(crate) operation: Operation,
    /// First byte; 0 for a sync.
    pub(crate) address: u64,
    /// Length in bytes; 0 for a sync.
    pub(crate) length_bytes: u64,
}

/// Parses the text behind a tracepoint's name, such as `254,0 WS 8192 () 16 + 16 none,0,0 [dd]`.
/// Returns `None` if the request moves no data.
pub(crate) fn request(text: &str) -> Result<Option<Request<'_>>, String> {
    let mut words = text.split_whitespace();
    let device = words.next().filter(|word| is_device(word)).ok_or("the device (major,minor) is missing")?;
    let letters = words.next().ok_or("the kind of request (rwbs) is missing")?;
    let kind = RequestKind::of(letters);
    let Some(operation) = kind.operation else { return Ok(None) };
    // The command in brackets may contain spaces; the sector precedes the plus sign.
    let (sector, sectors) = text.split_once(" + ").ok_or("`sector + sectors` is missing")?;
    let sectors = number(sectors.split_whitespace().next(), "the number of sectors")?;
    if !has_extent(kind, sectors) {
        let of = |operation| Request { device, letters, operation, address: 0, length_bytes: 0 };
        return Ok(without_extent(kind).map(of));
    }
    let sector = number(sector.split_whitespace().next_back(), "the sector")?;
    let (address, length_bytes) = extent(sector, sectors)?;
    Ok(Some(Request { device, letters, operation, address, length_bytes }))
}

/// Returns true if a request has an extent.
pub(super) fn has_extent(kind: RequestKind, sectors: u64) -> bool {
    sectors > 0 && kind.operation.is_some_and(|operation| operation != Operation::Sync)
}

/// Returns the operation of a request without an extent.
///
/// This is a flush, including those that older kernels call a write (`FWS`), or a reset of all
/// zones. Other requests without sectors move no data.
pub(super) fn without_extent(kind: RequestKind) -> Option<Operation> {
    match kind.operation {
        Some(Operation::ZoneReset | Operation::Sync) => kind.operation,
        _ => (kind.flushes_before || kind.is_durable).then_some(Operation::Sync),
    }
}

/// Returns true if a word is a device number, `major,minor`.
pub(super) fn is_device(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    word.split_once(',').is_some_and(|(major, minor)| digits(major) && digits(minor))
}

/// Converts `sector + sectors` to an address and a length in bytes.
pub(super) fn extent(sector: u64, sectors: u64) -> Result<(u64, u64), String> {
    let bytes = |sectors: u64| sectors.checked_mul(SECTOR_BYTES).ok_or("the address is beyond any device");
    Ok((bytes(sector)?, bytes(sectors)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_two_numbers() {
        assert!(is_device("254,0"));
        assert!(!is_device("254") && !is_device("0x2,0,4") && !is_device(",0"));
    }
}
