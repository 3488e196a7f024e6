use nandle_profile::Strides;

use crate::device::Device;
use crate::figures::{Bar, Bars, Figure, Group};
use crate::text;

/// Cost of writes at a constant distance. Bars, because strides may be negative or zero.
pub(super) fn bars(device: &Device) -> Option<Figure> {
    let mut rows: Vec<_> = device.profile.stride_costs().collect();
    rows.sort_by_key(|(stride, _)| *stride);
    let cheap = device.profile.cheap_strides();
    let bar = |(stride, ratio): &(i64, nandle_profile::Interval<f64>)| Bar {
        label: signed(*stride),
        value: ratio.value,
        text: format!("× {}", text::factor(ratio)),
        kind: usize::from(!cheap.clear.contains(stride)),
    };
    let bars: Vec<_> = rows.iter().map(bar).collect();
    if bars.is_empty() {
        return None;
    }
    Some(Figure::Bars(Bars {
        id: "strides",
        title: "Strides of writes",
        finding: if device.profile.derived.write_pattern_cost.is_none() {
            "The cheap strides were not determined.".to_owned()
        } else {
            finding(&cheap)
        },
        note: "+1 is sequential; 0 rewrites the same block, negative strides go backward. Cheap \
            ones have the first colour."
            .to_owned(),
        quantity: "Time of a write divided by a sequential one, ×, by the stride in blocks".to_owned(),
        groups: Group::single(bars),
    }))
}

fn finding(cheap: &Strides) -> String {
    let named = |strides: &[i64]| text::join(&strides.iter().copied().map(signed).collect::<Vec<_>>());
    let clear = match cheap.clear.as_slice() {
        [] => "No stride except to the next block is surely cheap.".to_owned(),
        strides => format!("Cheap strides, apart from the next block: {} blocks.", named(strides)),
    };
    match cheap.unclear.as_slice() {
        [] => clear,
        strides => format!("{clear} Unclear: {}, which may be expensive.", named(strides)),
    }
}

/// Formats a stride with a typographic sign: `+2`, `0`, `−2`.
fn signed(stride: i64) -> String {
    match stride {
        0 => "0".to_owned(),
        1.. => format!("+{stride}"),
        _ => format!("−{}", stride.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use nandle_profile::Interval;

    use super::*;

    #[test]
    fn strides_have_their_sign() {
        assert_eq!([-4, 0, 2].map(signed), ["−4", "0", "+2"]);
    }

    #[test]
    fn possibly_expensive_stride_is_not_listed_as_cheap() {
        let mut profile = crate::made_up::written();
        profile.derived.cheap_strides_blocks = vec![-1, 0];
        let written = profile.experiments.write_patterns.as_mut().unwrap();
        let row = written.findings.patterns.iter_mut().find(|row| row.pattern == "ordered:-1").unwrap();
        row.relative_cost = Some(Interval { value: 3.4, low: 0.0, high: 12.0 });
        assert_eq!(
            finding(&profile.cheap_strides()),
            "Cheap strides, apart from the next block: 0 blocks. Unclear: −1, which may be expensive."
        );
    }
}
