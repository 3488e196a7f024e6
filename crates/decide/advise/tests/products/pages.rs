//! Request times of a page store from profiles with write patterns of larger blocks.

use nandle_advise::pages::{PageFigures, page_figures};
use nandle_profile::{DeviceProfile, Interval, WritePatternCost};

use crate::made_up::NVME;

const PAGE: u64 = 4 << 10;
/// Time of a sequential write of 32 KiB.
const BLOCK_NS: f64 = 20e3;

/// Profile with writes of `block_bytes` that take three times as long within 8 MiB as in sequence.
fn profile(block_bytes: u64) -> DeviceProfile {
    let mut profile = NVME.profile();
    profile.derived.write_pattern_cost = Some(WritePatternCost {
        block_bytes,
        sequential_ns: Interval::exact(BLOCK_NS),
        random: Interval::exact(10.0),
        focused: Some(Interval::exact(3.0)),
        partitioned: None,
        ordered: None,
    });
    profile.derived.focused_area_bytes = Some(Interval::exact(8 << 20));
    // Random writes anywhere are expensive, so the small area counts.
    let findings = &mut profile.experiments.write_patterns.as_mut().unwrap().findings;
    for row in findings.patterns.iter_mut().filter(|row| row.pattern == "random") {
        row.request_ns = Interval::exact(1e6 + row.block_bytes as f64);
    }
    profile
}

fn figures(profile: &DeviceProfile, page_bytes: u64) -> PageFigures {
    page_figures(profile, page_bytes).unwrap()
}

#[test]
fn pattern_ratio_of_larger_blocks_is_scaled_to_pages() {
    let of_blocks = figures(&profile(32 << 10), PAGE);
    let alone_ns = of_blocks.request.value.value + of_blocks.sequential.value.value;
    let focused = &of_blocks.focused;
    // An eighth of a block's extra time, by bytes.
    assert!((focused.value.value - (alone_ns + 2.0 * BLOCK_NS / 8.0)).abs() < 1.0, "{focused:?}");
    assert!(focused.value.low <= alone_ns && focused.value.high >= alone_ns + 2.0 * BLOCK_NS, "{focused:?}");
    assert!(focused.says.contains("measured with 32KiB"), "{}", focused.says);
    assert_eq!(of_blocks.focused_area_bytes, 8 << 20);
    let page_times = figures(&profile(PAGE), PAGE);
    assert!((page_times.focused.value.value - 3.0 * alone_ns).abs() < 1.0, "{:?}", page_times.focused);
    assert!(!page_times.focused.says.contains("measured with"), "{}", page_times.focused.says);
}

#[test]
fn page_between_two_measured_sizes_has_an_interpolated_time() {
    let profile = profile(32 << 10);
    let [small, large] = [16 << 10, 64 << 10].map(|page_bytes| figures(&profile, page_bytes));
    for (small, large) in small.each().into_iter().zip(large.each()).skip(1).take(4) {
        assert!(small.value.value < large.value.value, "{small:?}, {large:?}");
    }
    // 16 KiB and 128 KiB are measured, each with a fixed time of 10 us.
    let alone_ns = large.request.value.value + large.sequential.value.value;
    assert!((alone_ns - (10e3 + f64::from(64 << 10) / 3.0)).abs() < 1.0, "{alone_ns}");
    assert!(large.random.says.contains("64KiB interpolated between measured sizes"), "{}", large.random.says);
    assert!(!small.random.says.contains("interpolated"), "{}", small.random.says);
    let beyond = page_figures(&profile, 2 << 10).unwrap_err();
    assert!(beyond.needs.contains("sequential writes of one page"), "{beyond:?}");
}
