use std::collections::HashMap;
use std::fmt::Write as _;

use crate::Outcome;

/// Page length of the stores.
const PAGE_BYTES: u64 = 4096;

/// Folds a CSV trace into `within_bytes` by taking each address modulo that length, up to
/// `pages_max` pages.
pub(super) fn fold(csv: &str, within_bytes: u64, pages_max: u64) -> Outcome<String> {
    let mut lines = csv.lines();
    let mut folded = format!("{}\n", lines.next().ok_or("the trace is empty")?);
    let mut pages = 0;
    let mut places: HashMap<u64, u64> = HashMap::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [time, operation, address, length, ..] = fields[..] else {
            return Err(format!("a line of four fields was expected, got {line:?}").into());
        };
        let (mut address, length): (u64, u64) = (address.parse()?, length.parse()?);
        if operation == "write" {
            if pages >= pages_max {
                break;
            }
            pages += length.div_ceil(PAGE_BYTES);
            address = *places.entry(address).or_insert(address % within_bytes.saturating_sub(length).max(1));
            address -= address % PAGE_BYTES;
        }
        let _ = writeln!(folded, "{time},{operation},{address},{length}");
    }
    Ok(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_lie_within_and_the_others_stay() {
        let csv = "time_us,op,address,length\n1,write,1048576,8192\n2,sync,0,0\n3,write,4096,4096\n4,write,8192,4096\n";
        let folded = fold(csv, 1 << 20, 3).unwrap();
        assert_eq!(folded, "time_us,op,address,length\n1,write,8192,8192\n2,sync,0,0\n3,write,4096,4096\n");
        assert!(fold("", 1, 1).is_err());
    }
}
