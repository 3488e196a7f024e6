//! Rows of write figures. A row without any value is left out.

use nandle_profile::{Cheap, Derived, Interval, WritePatternCost};

use super::{Row, plain, ranked};
use crate::device::Device;
use crate::text::{self, Quantity};

pub(super) fn rows(devices: &[Device]) -> Vec<Row> {
    let rows = [costs(devices), places(devices), for_long(devices)].concat();
    rows.into_iter().filter(|row| row.values.iter().any(Option::is_some)).collect()
}

fn of<T>(devices: &[Device], name: &'static str, say: impl Fn(&Derived) -> Option<T>) -> Row
where
    T: Into<String>,
{
    plain(name, devices, |device| say(&device.profile.derived).map(Into::into))
}

fn costs(devices: &[Device]) -> Vec<Row> {
    let cost = |name, ratio: fn(&WritePatternCost) -> Option<nandle_profile::Interval<f64>>| {
        of(devices, name, move |derived| {
            let ratio = ratio(derived.write_pattern_cost.as_ref()?)?;
            Some(format!("× {}", text::factor(&ratio)))
        })
    };
    vec![
        of(devices, "Sequential write", |derived| {
            let cost = derived.write_pattern_cost.as_ref()?;
            let block = Quantity::size(cost.block_bytes);
            Some(format!("{} for {block}", Quantity::time_ns(cost.sequential_ns.value)))
        }),
        cost("Random write / sequential", |cost| Some(cost.random)),
        cost("Focused write / sequential", |cost| cost.focused),
        cost("Partitioned write / sequential", |cost| cost.partitioned),
        cost("Ordered write / sequential", |cost| cost.ordered),
    ]
}

fn places(devices: &[Device]) -> Vec<Row> {
    vec![
        of(devices, "Focused area", |derived| Some(extent(derived.cheap_area_bytes()?, "none", text::size))),
        of(devices, "Streams that stay cheap", |derived| {
            Some(extent(derived.cheap_streams()?, "not even two", text::depth))
        }),
        of(devices, "Large sequential writes", |derived| {
            derived.sequential_write_bandwidth_bytes_per_s_max.as_ref().map(text::bandwidth)
        }),
        of(devices, "Smallest block", |derived| derived.smallest_block_bytes.as_ref().map(text::size)),
    ]
}

/// Extent of cheap writes, in a word or two.
fn extent<T>(found: Cheap<T>, nowhere: &str, say: impl Fn(&Interval<T>) -> String) -> String {
    match found {
        Cheap::UpTo { extent, .. } => say(&extent),
        Cheap::Unclear => "unclear".to_owned(),
        Cheap::Nowhere => nowhere.to_owned(),
    }
}

fn for_long(devices: &[Device]) -> Vec<Row> {
    vec![
        plain("Commit, median", devices, |device| {
            let commit = device.profile.commit()?;
            let (block, method) = (Quantity::size(commit.write_bytes), commit.method);
            let tail =
                commit.p99_ns.map_or_else(String::new, |p99| format!(", 99 % within {}", text::time_ns(p99)));
            Some(format!("{} for {block} by {method}{tail}", Quantity::time_ns(commit.median_ns.value)))
        }),
        ranked(
            "Commits/s, group commit",
            devices,
            |derived| derived.group_commit.map(|gain| gain.together_per_s),
            text::iops,
        ),
        ranked(
            "Long random writing",
            devices,
            |derived| derived.steady_state.as_ref().map(|steady| steady.random_write_bytes_per_s),
            text::bandwidth,
        ),
        of(devices, "Write amplification", |derived| {
            let amplification = derived.steady_state.as_ref()?.write_amplification.as_ref()?;
            Some(format!("× {}", text::significant(amplification.factor, 3)))
        }),
        of(devices, "Writes that don't disturb reads", |derived| {
            let limit = derived.interference?;
            let most = limit.write_rate_per_s.high;
            if limit.write_rate_per_s.value <= 0.0 {
                let rate = text::significant(most, 3);
                return Some(if most > 0.0 {
                    format!("at most {rate}/s")
                } else {
                    "none of the measured ones".to_owned()
                });
            }
            let share = text::significant(100.0 * limit.write_share.value, 2);
            Some(format!("{}/s ({share} % of the peak)", text::iops(&limit.write_rate_per_s)))
        }),
    ]
}
