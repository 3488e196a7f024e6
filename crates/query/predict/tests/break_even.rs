//! Fetches by row number compared with a scan, on two drives that Graefe compared ("The Five-Minute
//! Rule 20 Years Later", Damon 2007). The break-even was about 10 000 rows of 100 million for a
//! disk, and about 500 000 for flash.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

use std::time::SystemTime;

use nandle_io::Nanos;
use nandle_predict::read_costs;
use nandle_reads::Pricing;
use nandle_session::{ProbeOptions, Unobserved, probe};

const ROWS: u64 = 100_000_000;
const ROW_BYTES: u64 = 100;
/// Page size of the paper.
const PAGE_BYTES: u64 = 8 << 10;

fn break_even_rows(model: &str) -> f64 {
    let options = ProbeOptions {
        budget: Nanos::from_secs(60),
        only: vec!["reads".to_owned()],
        ..ProbeOptions::new(SystemTime::UNIX_EPOCH)
    };
    let profile = probe(&format!("model:{model}").parse().unwrap(), &options, &mut Unobserved).unwrap();
    let (costs, _) = read_costs(&profile, None).unwrap();
    Pricing::new(costs).unwrap().break_even_fetches(PAGE_BYTES, ROWS * ROW_BYTES)
}

#[test]
fn flash_breaks_even_at_far_more_rows_than_a_disk() {
    let (disk, flash) = (break_even_rows("wd2003fyys"), break_even_rows("crucial-m4-256"));
    println!("of {ROWS} rows of {ROW_BYTES} bytes: disk {disk:.0}, flash {flash:.0}");
    assert!((5_000.0..30_000.0).contains(&disk), "{disk}");
    assert!((200_000.0..2_000_000.0).contains(&flash), "{flash}");
    assert!(flash >= 20.0 * disk, "{flash} is less than 20 times {disk}");
}
