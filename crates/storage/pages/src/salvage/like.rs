//! Options of a store for a copy of another one.

use crate::label::Label;
use crate::{BLOCK_BYTES, CreateOptions, home_sums};

/// Maximum length of a file.
const LONGEST_BYTES: u64 = i64::MAX as u64;

/// Options of a store like that of `label`, with zones of `zone_bytes` if known.
pub(crate) fn like(label: &Label, zone_bytes: Option<u64>) -> CreateOptions {
    let has_sums = label.sums_bytes > 0;
    // Keeps the alignment of the areas.
    let alignment = 1 << (label.area_offset | label.home_offset).trailing_zeros();
    let usual = CreateOptions::new(label.policy, label.page_length(), label.outer_pages());
    let pages_max =
        if has_sums { Some(home_sums::pages_max(label.sums_chunks) - label.hidden_pages()) } else { None };
    let options = CreateOptions {
        pages_max,
        home_sums: has_sums || !label.policy.can_keep_home_sums(),
        alignment_bytes: zone_bytes
            .unwrap_or_else(|| usual.alignment_bytes.min(alignment).max(BLOCK_BYTES as u64)),
        buffer_bytes: if label.policy.has_staging_area() { label.area_bytes } else { usual.buffer_bytes },
        ..usual
    };
    let as_long = |options: &CreateOptions| {
        crate::policy::areas(options).is_ok_and(|(_, area_bytes)| area_bytes >= label.area_bytes)
    };
    // Keeps the spare space, in percent of the pages.
    let percents = (0..=400).map(|spare_percent| CreateOptions { spare_percent, ..options.clone() });
    let roomy = if label.policy.has_zones() { percents.into_iter().find(as_long) } else { None };
    debug_assert!(label.end_bytes() <= LONGEST_BYTES, "a store fits into a file");
    roomy.unwrap_or(options)
}
