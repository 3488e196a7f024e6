//! Tunes how soon freed memory returns to the system.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nandle_terminal::output;

/// With less memory, what the allocator retains matters.
const LITTLE_BYTES: u64 = 1 << 30;
/// The allocator's setting, read once at process start.
const SETTING: &str = "MIMALLOC_PURGE_DELAY";
/// The default is one second, in which a query frees and reallocates hundreds of megabytes. At 10
/// ms a query takes up to a third more processor time, so programs with more memory keep the
/// default.
const DELAY_MS: &str = "10";
const ITSELF: &str = "/proc/self/exe";

/// If memory is short, restarts the program with an allocator that soon returns freed memory. A
/// user's own setting is kept.
pub(crate) fn give_back_soon(memory_bytes: u64) {
    if memory_bytes >= LITTLE_BYTES || env::var_os(SETTING).is_some() {
        return;
    }
    let mut arguments = env::args_os();
    let mut again = Command::new(ITSELF);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // Returns only on failure.
    let error = again.args(arguments).env(SETTING, DELAY_MS).exec();
    output::note(&format!(
        "The allocator keeps freed memory for a second, so that more than --memory may be in use: beginning again with {SETTING}={DELAY_MS} failed: {error}"
    ));
}
