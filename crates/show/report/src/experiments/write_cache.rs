use nandle_profile::experiments::{CacheSetting, WriteCacheFindings};

use crate::device::Device;
use crate::figures::{Bar, Bars, Figure, Group};
use crate::text::{self, Quantity};

const SPEED: &str = "Bandwidth";

/// Write bandwidth before and after the cache is full; `None` without a cache.
pub(super) fn speeds(device: &Device) -> Option<Figure> {
    let found = &device.profile.experiments.write_cache.as_ref()?.findings;
    let absorbed = found.absorbed_bytes.as_ref()?;
    let (absorbing, sustained) = (found.absorbing_bytes_per_s?, found.sustained_bytes_per_s?);
    let bar = |label: &str, speed: &nandle_profile::Interval<f64>, kind| Bar {
        label: label.to_owned(),
        value: speed.value,
        text: text::bandwidth(speed),
        kind,
    };
    Some(Figure::Bars(Bars {
        id: "write-cache",
        title: "The write cache",
        finding: format!(
            "It absorbs {} at {}, and continues at {}.{}",
            text::size(absorbed),
            Quantity::bandwidth(absorbing.value),
            Quantity::bandwidth(sustained.value),
            drained(found)
        ),
        note: format!(
            "Random writes of {} at depth {}, without a flush.",
            Quantity::size(found.block_bytes),
            found.queue_depth
        ),
        quantity: SPEED.to_owned(),
        groups: Group::single(vec![bar("absorbing", &absorbing, 0), bar("once it is full", &sustained, 1)]),
    }))
}

fn drained(found: &WriteCacheFindings) -> String {
    let again = found.drain_ns.map_or_else(
        || " The time to drain it is unknown.".to_owned(),
        |drain| format!(" After {} idle it absorbs writes again.", text::time_ns(drain.value)),
    );
    let flush = found
        .flush_of_full_cache_ns
        .map_or_else(String::new, |flush| format!(" Flushing it takes {}.", text::time_ns(flush)));
    again + &flush
}

/// Bandwidth of the four patterns with the cache enabled and disabled.
pub(super) fn settings(device: &Device) -> Option<Figure> {
    let settings = &device.profile.experiments.write_cache.as_ref()?.findings.settings;
    let pairs: Vec<_> =
        settings.iter().filter(|setting| setting.cache_on).filter_map(|on| pair(on, settings)).collect();
    let most = pairs.iter().max_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let finding = format!(
        "The cache helps {} {}s most: {} times as fast with it as without.",
        text::clean(&most.0.pattern),
        most.0.operation,
        text::significant(gain(most), 2)
    );
    Some(Figure::Bars(Bars {
        id: "write-cache-settings",
        title: "With the cache on and off",
        finding,
        note: "Measured only on modelled drives; the settings of real ones are not changed.".to_owned(),
        quantity: SPEED.to_owned(),
        groups: pairs.iter().map(group).collect(),
    }))
}

type Pair<'a> = (&'a CacheSetting, &'a CacheSetting);

fn pair<'a>(on: &'a CacheSetting, settings: &'a [CacheSetting]) -> Option<Pair<'a>> {
    let same = |off: &&CacheSetting| {
        !off.cache_on
            && (&off.pattern, off.operation, off.block_bytes, off.queue_depth)
                == (&on.pattern, on.operation, on.block_bytes, on.queue_depth)
    };
    Some((on, settings.iter().find(same)?))
}

fn gain((on, off): &Pair) -> f64 {
    on.bandwidth_bytes_per_s / off.bandwidth_bytes_per_s
}

fn group((on, off): &Pair) -> Group {
    let bar = |label: &str, setting: &CacheSetting, kind| Bar {
        label: label.to_owned(),
        value: setting.bandwidth_bytes_per_s,
        text: Quantity::bandwidth(setting.bandwidth_bytes_per_s).to_string(),
        kind,
    };
    let size = Quantity::size(on.block_bytes);
    Group {
        name: format!("{} {}s of {size}, depth {}", text::clean(&on.pattern), on.operation, on.queue_depth),
        bars: vec![bar("on", on, 0), bar("off", off, 1)],
    }
}
