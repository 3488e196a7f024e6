//! Log pages of `NVMe` drives, through the kernel's pass-through of administrative commands.
#![allow(unsafe_code, reason = "one system call; the block names its invariant")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

/// `NVME_IOCTL_ADMIN_CMD` of `<linux/nvme_ioctl.h>`: `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const ADMIN_COMMAND: libc::c_ulong = 0xc048_4e41;
/// Get Log Page (`NVMe` base specification, opcode 02h).
const GET_LOG_PAGE: u8 = 0x02;
/// Selects logs of the whole controller, not of a namespace.
const EVERY_NAMESPACE: u32 = 0xffff_ffff;
/// Time limit of the command.
const TIME_LIMIT_MS: u32 = 1000;

/// `struct nvme_admin_cmd` of `<linux/nvme_ioctl.h>`.
#[repr(C)]
#[derive(Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    command_words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    command_words_10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// Reads a log page of the drive of a block device (`/dev/nvme0n1`) into a buffer whose length is a
/// multiple of four bytes.
///
/// # Errors
/// Fails if the drive has no such page, is no `NVMe` drive, or the process lacks the privilege
/// (root).
pub fn nvme_log_page(device: &File, page: u8, into: &mut [u8]) -> io::Result<()> {
    let too_long = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let data_bytes = u32::try_from(into.len()).map_err(too_long)?;
    let words_less_one =
        (data_bytes / 4).checked_sub(1).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace: EVERY_NAMESPACE,
        address: into.as_mut_ptr() as u64,
        data_bytes,
        command_words_10_to_15: [
            u32::from(page) | (words_less_one & 0xffff) << 16,
            words_less_one >> 16,
            0,
            0,
            0,
            0,
        ],
        timeout_ms: TIME_LIMIT_MS,
        ..AdminCommand::default()
    };
    // SAFETY: the structure has the layout of the request number and outlives the call. The kernel
    // writes at most `data_bytes` to `address`, the start of `into`, which is borrowed mutably and
    // has that length.
    let status = unsafe { libc::ioctl(device.as_raw_fd(), ADMIN_COMMAND, &raw mut command) };
    match status {
        0 => Ok(()),
        status if status > 0 => Err(io::Error::other(format!("the drive answered with status {status:#x}"))),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_the_size_that_the_request_number_says() {
        assert_eq!(size_of::<AdminCommand>() as libc::c_ulong, ADMIN_COMMAND >> 16 & 0x3fff);
    }

    #[test]
    fn what_is_no_drive_refuses() {
        let file = tempfile::tempfile().unwrap();
        assert!(nvme_log_page(&file, 2, &mut [0; 512]).is_err());
        assert!(nvme_log_page(&file, 2, &mut []).is_err());
    }
}
