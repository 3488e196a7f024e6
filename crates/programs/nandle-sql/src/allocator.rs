//! How soon memory that was freed goes back to the system.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nandle_terminal::output;

/// With less than this, what the allocator keeps is much beside it.
const LITTLE_BYTES: u64 = 1 << 30;
/// The allocator's setting, which it reads once, before the program begins.
const SETTING: &str = "MIMALLOC_PURGE_DELAY";
/// Its own is a second, in which a query frees and asks for hundreds of megabytes. With 10 ms a query takes up to a third more processor time, which is
/// why programs with more memory leave it.
const DELAY_MS: &str = "10";
const ITSELF: &str = "/proc/self/exe";

/// Where memory is little, the program begins again with an allocator that gives back soon what was freed. A setting of the user's stays.
pub(crate) fn give_back_soon(memory_bytes: u64) {
    if memory_bytes >= LITTLE_BYTES || env::var_os(SETTING).is_some() {
        return;
    }
    let mut arguments = env::args_os();
    let mut again = Command::new(ITSELF);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // It returns only where it failed.
    let error = again.args(arguments).env(SETTING, DELAY_MS).exec();
    output::note(&format!(
        "The allocator keeps freed memory for a second, so that more than --memory may be in use: beginning again with {SETTING}={DELAY_MS} failed: {error}"
    ));
}
