use nandle_profile::experiments::{MicroBenchmark, PatternCost};

use crate::device::Device;
use crate::figures::{Bar, Bars, Figure, Group};
use crate::text;

/// Cost of writing at a constant distance: bars, because strides are negative and zero too.
pub(super) fn bars(device: &Device) -> Option<Figure> {
    let found = &device.profile.experiments.write_patterns.as_ref()?.findings;
    let stride = |row: &PatternCost| row.pattern.strip_prefix("ordered:")?.parse::<i64>().ok();
    let order = found.patterns.iter().filter(|row| row.micro_benchmark == MicroBenchmark::Order);
    let mut rows: Vec<_> = order.filter_map(|row| Some((stride(row)?, row.relative_cost?))).collect();
    rows.sort_by_key(|(stride, _)| *stride);
    let cheap = &device.profile.derived.cheap_strides_blocks;
    let bar = |(stride, ratio): &(i64, nandle_profile::Interval<f64>)| Bar {
        label: signed(*stride),
        value: ratio.value,
        said: format!("× {}", text::factor(ratio)),
        kind: usize::from(!cheap.contains(stride)),
    };
    let bars: Vec<_> = rows.iter().map(bar).collect();
    if bars.is_empty() {
        return None;
    }
    let named: Vec<_> = cheap.iter().map(|stride| signed(*stride)).collect();
    Some(Figure::Bars(Bars {
        id: "strides",
        title: "Strides",
        finding: if device.profile.derived.write_pattern_cost.is_none() {
            "Which strides are cheap is not concluded.".to_owned()
        } else if named.is_empty() {
            "No stride but one block onward is clearly cheap.".to_owned()
        } else {
            format!("Cheap beside one block onward: strides of {} blocks.", text::join(&named))
        },
        note: "+1 would be sequential; 0 writes the same block again and again, negative strides go backward. Cheap ones \
               have the first colour."
            .to_owned(),
        quantity: "Time of a write by that of a sequential one, ×, by the stride in blocks".to_owned(),
        groups: Group::alone(bars),
    }))
}

/// With the sign that print has: `+2`, `0`, `−2`.
fn signed(stride: i64) -> String {
    match stride {
        0 => "0".to_owned(),
        1.. => format!("+{stride}"),
        _ => format!("−{}", stride.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_have_their_sign() {
        assert_eq!([-4, 0, 2].map(signed), ["−4", "0", "+2"]);
    }
}
