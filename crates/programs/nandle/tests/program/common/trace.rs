use std::fmt::Write as _;

/// Trace of `writes` writes of 4 KiB scattered over 8 MiB.
pub(crate) fn scattered_writes(writes: u64) -> String {
    let mut text = String::from("time_us,op,address,length\n");
    for number in 0..writes {
        let _ = writeln!(text, "{number},write,{},4096", number * 7919 % 2048 * 4096);
    }
    text
}
