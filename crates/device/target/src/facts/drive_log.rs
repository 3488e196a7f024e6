//! Counters of an `NVMe` drive from two of its log pages of 512 bytes:
//!
//! ```text
//! 02h  SMART / Health Information (NVMe base specification)
//!       48  16 bytes  data units written by hosts, little-endian, in thousands of 512 bytes, rounded up
//! C0h  SMART / Health Information Extended (Open Compute Project, Datacenter NVMe SSD specification)
//!        0  16 bytes  bytes written to the media, little-endian
//!      496  16 bytes  AFD514C97C6F4F9CA4F2BFEA2810AFC5h, little-endian; identifies the page,
//!                     because every vendor may use the number C0h
//! ```

use std::fs::File;

use nandle_io::{DriveCounters, nvme_log_page};

use super::device_of;
use crate::Target;
use crate::roots::Roots;
use crate::target::Leaf;

const SMART: u8 = 0x02;
const SMART_EXTENDED: u8 = 0xc0;
const PAGE_BYTES: usize = 512;
const DATA_UNIT_BYTES: u128 = 512_000;
const EXTENDED_ID: u128 = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5;

/// Counters of the drive below a target. `None` if it isn't an `NVMe` drive, doesn't have these
/// pages, or this process lacks the permission (which takes root).
pub fn drive_counters(target: &Target) -> Option<DriveCounters> {
    let file = target.first().and_then(Leaf::file)?;
    let disk = device_of(&Roots::default(), file.file())?.whole_disk().name();
    let drive = disk.starts_with("nvme").then(|| File::open(format!("/dev/{disk}")))?.ok()?;
    let (mut smart, mut extended) = ([0; PAGE_BYTES], [0; PAGE_BYTES]);
    nvme_log_page(&drive, SMART, &mut smart).ok()?;
    nvme_log_page(&drive, SMART_EXTENDED, &mut extended).ok()?;
    counters(&smart, &extended)
}

/// Returns `None` if the second page is another vendor's page of that number.
fn counters(smart: &[u8; PAGE_BYTES], extended: &[u8; PAGE_BYTES]) -> Option<DriveCounters> {
    if number_at(extended, 496)? != EXTENDED_ID {
        return None;
    }
    let bytes = |number: u128| u64::try_from(number).ok();
    Some(DriveCounters {
        host_written_bytes: bytes(number_at(smart, 48)?.checked_mul(DATA_UNIT_BYTES)?)?,
        flash_written_bytes: bytes(number_at(extended, 0)?)?,
        ..DriveCounters::default()
    })
}

/// Little-endian number of 16 bytes.
fn number_at(page: &[u8; PAGE_BYTES], offset: usize) -> Option<u128> {
    let bytes = page.get(offset..offset + 16)?;
    bytes.try_into().ok().map(u128::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages laid out as specified, with other values around the ones that are read.
    fn pages() -> ([u8; PAGE_BYTES], [u8; PAGE_BYTES]) {
        let (mut smart, mut extended) = ([0x5a; PAGE_BYTES], [0x5a; PAGE_BYTES]);
        smart[32..48].copy_from_slice(&999_999_u128.to_le_bytes()); // data units read
        smart[48..64].copy_from_slice(&2_000_000_u128.to_le_bytes());
        extended[..16].copy_from_slice(&2_457_600_000_000_u128.to_le_bytes());
        extended[16..32].copy_from_slice(&77_u128.to_le_bytes()); // bytes read from the media
        // Bytes of the identifier as in nvme-cli's OCP plug-in.
        extended[496..].copy_from_slice(&[
            0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf,
        ]);
        (smart, extended)
    }

    #[test]
    fn the_pages_are_read_as_specified() {
        let (smart, extended) = pages();
        let counters = counters(&smart, &extended).unwrap();
        assert_eq!(counters.host_written_bytes, 1_024_000_000_000);
        assert!((counters.write_amplification().unwrap() - 2.4).abs() < 1e-9);
    }

    #[test]
    fn another_vendors_page_gives_no_counters() {
        let (smart, mut extended) = pages();
        extended[511] ^= 1;
        assert_eq!(counters(&smart, &extended), None);
        assert_eq!(counters(&[0; PAGE_BYTES], &[0; PAGE_BYTES]), None);
    }

    #[test]
    fn absurd_figures_are_ignored() {
        let (mut smart, extended) = pages();
        smart[48..64].copy_from_slice(&u128::MAX.to_le_bytes());
        assert_eq!(counters(&smart, &extended), None);
    }
}
