//! Remarks on the device that apply to every product.

use nandle_profile::DeviceProfile;

use crate::Product;
use crate::figures::Figures;
use crate::figures::words::{capitalised, number, time};
use crate::settings::Question;

pub(super) fn collect(profile: &DeviceProfile, question: &Question) -> Vec<String> {
    let figures = Figures::of(profile);
    let newer = (question.version > question.product.latest()).then(|| {
        format!(
            "{} {} is newer than the latest supported version ({}): check names and ranges in its \
            documentation.",
            question.product,
            question.version,
            question.product.latest()
        )
    });
    let cached = (!profile.backend.direct)
        .then(|| "All measurements used the page cache, so the figures include it.".to_owned());
    let partial = profile.partial.iter().map(|reason| format!("The profile is partial: {reason}."));
    let behind = flush_behind_burst(&figures, question.product);
    let warnings = [burst(&figures), behind, volatile(&figures), one_thread(&figures)];
    let others = profile.conditions.disturbed_by_others();
    newer
        .into_iter()
        .chain(others)
        .chain(cached)
        .chain(partial)
        .chain(warnings.into_iter().flatten())
        .collect()
}

/// Warns that loads within the cache don't show the sustained rate.
fn burst(figures: &Figures<'_>) -> Option<String> {
    let burst = figures.burst()?;
    let drained = figures.write_cache().ok()?.drain_ns;
    let rest = drained.map_or_else(
        || "it didn't recover in any measured pause".to_owned(),
        |drain| format!("it recovers in {} of idle time", time(drain.value as f64)),
    );
    Some(format!(
        "{}; {rest}. Loads and benchmarks smaller than that don't show the sustained rate.",
        capitalised(&burst.clause())
    ))
}

/// Least ratio of the two flush times that deserves a warning.
const FLUSH_RATIO: f64 = 10.0;

fn flush_behind_burst(figures: &Figures<'_>, product: Product) -> Option<String> {
    let (flush, commit) = (figures.flush_of_full_cache().ok()?, figures.commit().ok()?);
    (flush.value.low > FLUSH_RATIO * commit.value.high).then(|| {
        format!(
            "A flush after many writes takes {}, a single commit {}: commits during a bulk load \
            or a checkpoint wait that long{}.",
            time(flush.value.value),
            time(commit.value.value),
            product.against_waiting()
        )
    })
}

/// Warns of a volatile write cache, and of flushes too quick to have emptied it.
fn volatile(figures: &Figures<'_>) -> Option<String> {
    let least_ns = figures.medium_write_ns_min();
    let loses = "The kernel reports a volatile write cache: unflushed data is lost in a power \
        failure, so leave fsync on.";
    let too_quick = figures.commit().ok().filter(|commit| commit.value.high < least_ns);
    let doubt = too_quick.map_or_else(String::new, |commit| {
        format!(
            " But a commit takes {}, too fast for the medium: either the cache is protected, or \
            flushes are ignored. Check the data sheet for power-loss protection before you rely \
            on it.",
            time(commit.value.value)
        )
    });
    figures.cache_is_volatile().filter(|volatile| *volatile).map(|_| format!("{loses}{doubt}"))
}

/// Warns that one thread was too slow to saturate the device.
fn one_thread(figures: &Figures<'_>) -> Option<String> {
    let threads = figures.submitting_threads()?;
    (threads.value.low > 1.0).then(|| {
        format!(
            "One thread can't saturate this device: {}. Read depths and rates here are those of \
            one thread; spread reads over {} threads or processes.",
            threads.says,
            number(threads.value.value)
        )
    })
}
