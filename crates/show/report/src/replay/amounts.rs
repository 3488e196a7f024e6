use nandle_replay::PolicyOutcome;

use crate::figures::{Bar, Bars, Figure, Group};
use crate::text::{self, Quantity};

/// Bytes that each policy wrote to the device.
pub(super) fn device(policies: &[PolicyOutcome]) -> Option<Figure> {
    let factor = |policy: &PolicyOutcome| Some((policy.write_amplification, policy.device_written_bytes));
    let least = policies.iter().min_by(|a, b| a.write_amplification.total_cmp(&b.write_amplification))?;
    let finding = format!(
        "{} writes least to the device: {} bytes per byte of page writes.",
        least.policy,
        text::significant(least.write_amplification, 3)
    );
    Some(bars(policies, "device-bytes", ("At the device", finding), "Bytes written to the device", factor))
}

/// Bytes that the drive programmed.
pub(super) fn flash(policies: &[PolicyOutcome]) -> Option<Figure> {
    let factor = |policy: &PolicyOutcome| {
        let drive = policy.drive?;
        Some((drive.flash_bytes_by_page_bytes, drive.flash_written_bytes))
    };
    let known = policies.iter().filter_map(|policy| Some((policy, factor(policy)?.0)));
    let (least, times) = known.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let finding = format!(
        "{} wears the flash least: {} bytes programmed per byte of page writes.",
        least.policy,
        text::significant(times, 3)
    );
    Some(bars(policies, "flash-bytes", ("At the flash", finding), "Bytes programmed into flash", factor))
}

/// Bytes of flash that the drive erased.
pub(super) fn erased(policies: &[PolicyOutcome]) -> Option<Figure> {
    let bytes = |policy: &PolicyOutcome| policy.drive.map(|drive| drive.erased_bytes);
    let known = || policies.iter().filter_map(|policy| Some((policy, bytes(policy)?)));
    let (least, fewest) = known().min_by_key(|(_, bytes)| *bytes)?;
    if known().all(|(_, bytes)| bytes == 0) {
        return None;
    }
    let bar = |(kind, policy): (usize, &PolicyOutcome)| {
        let bytes = bytes(policy)?;
        let text = Quantity::capacity(bytes).to_string();
        Some(Bar { label: policy.policy.to_string(), value: bytes as f64, text, kind })
    };
    Some(Figure::Bars(Bars {
        id: "erased-bytes",
        title: "Erased",
        finding: format!("{} has the least flash erased: {}.", least.policy, Quantity::capacity(fewest)),
        note: "Erasures wear out the flash: each block endures a limited number.".to_owned(),
        quantity: "Flash erased".to_owned(),
        groups: Group::single(policies.iter().enumerate().filter_map(bar).collect()),
    }))
}

fn bars(
    policies: &[PolicyOutcome],
    id: &'static str,
    (title, finding): (&'static str, String),
    what: &str,
    factor: impl Fn(&PolicyOutcome) -> Option<(f64, u64)>,
) -> Figure {
    let bar = |(kind, policy): (usize, &PolicyOutcome)| {
        let (value, bytes) = factor(policy)?;
        let text = format!("× {} ({})", text::significant(value, 3), Quantity::capacity(bytes));
        Some(Bar { label: policy.policy.to_string(), value, text, kind })
    };
    Figure::Bars(Bars {
        id,
        title,
        finding,
        note: "Includes the final checkpoint.".to_owned(),
        quantity: format!("{what} per byte of page writes, ×"),
        groups: Group::single(policies.iter().enumerate().filter_map(bar).collect()),
    })
}

/// Page writes that were replaced before they were destaged.
pub(super) fn absorbed(policies: &[PolicyOutcome]) -> Option<Figure> {
    let share = |policy: &PolicyOutcome| policy.pages_absorbed as f64 / policy.writes.max(1) as f64;
    let most = policies.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    if most.pages_absorbed == 0 {
        return None;
    }
    let bar = |(kind, policy): (usize, &PolicyOutcome)| Bar {
        label: policy.policy.to_string(),
        value: share(policy),
        text: format!(
            "{} % ({})",
            text::significant(100.0 * share(policy), 2),
            text::plural(policy.pages_absorbed, "page")
        ),
        kind,
    };
    Some(Figure::Bars(Bars {
        id: "absorbed",
        title: "Absorbed",
        finding: format!(
            "{} absorbs most: {} % of the page writes were never destaged.",
            most.policy,
            text::significant(100.0 * share(most), 2)
        ),
        note: "A page that is rewritten before it is destaged is destaged once.".to_owned(),
        quantity: "Page writes replaced before they were destaged, %".to_owned(),
        groups: Group::single(policies.iter().enumerate().map(bar).collect()),
    }))
}
