use crate::device::Device;
use crate::text;

/// Value of a figure on each device in one phrase: `84 µs on A, 210 µs on B and unknown on C`.
/// `missing` is the word for a device without a value.
///
/// With many devices the phrase has only the least and the greatest.
pub(crate) fn per_device(
    devices: &[Device],
    values: &[Option<f64>],
    missing: &str,
    say: impl Fn(f64) -> String,
) -> String {
    const NAMED_MAX: usize = 6;
    let mut known: Vec<_> = devices.iter().zip(values).filter_map(|(d, v)| v.map(|v| (d, v))).collect();
    let without: Vec<_> =
        devices.iter().zip(values).filter(|(_, v)| v.is_none()).map(|(d, _)| d.letter()).collect();
    let phrase = |(device, value): &(&Device, f64)| format!("{} on {}", say(*value), device.letter());
    if known.is_empty() {
        return format!("{missing} on every device");
    }
    if known.len() > NAMED_MAX {
        known.sort_by(|a, b| a.1.total_cmp(&b.1));
        let end = |end: Option<&(&Device, f64)>| end.map(phrase).unwrap_or_default();
        return format!("between {} and {}", end(known.first()), end(known.last()));
    }
    let mut parts: Vec<_> = known.iter().map(phrase).collect();
    if !without.is_empty() {
        parts.push(format!("{missing} on {}", text::join(&without)));
    }
    text::join(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;

    #[test]
    fn many_devices_are_summarised_by_their_ends() {
        let profiles: Vec<_> = (0..8).map(|_| made_up::partial()).collect();
        let devices = Device::all(&profiles);
        let values: Vec<_> = (0..8).map(|index| Some(f64::from((index + 3) % 8))).collect();
        let words = per_device(&devices, &values, "unknown", |value| format!("{value} s"));
        assert_eq!(words, "between 0 s on F and 7 s on E");
        assert_eq!(
            per_device(&devices, &[None; 8], "none", |value| value.to_string()),
            "none on every device"
        );
    }
}
