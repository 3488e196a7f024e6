//! Conclusions of the experiments as sentences. An experiment that ran without a conclusion is
//! reported here. Skipped experiments are listed at the end of the page.

use nandle_profile::experiments::InterferenceMap;
use nandle_profile::{Cheap, Derived, DeviceProfile, WritePatternCost};

use crate::sections::statement::Statement;
use crate::text::{self, Quantity};

pub(super) fn statements(profile: &DeviceProfile) -> Vec<Statement> {
    let (derived, found) = (&profile.derived, &profile.experiments);
    let patterns = found.write_patterns.as_ref().map(|_| match &derived.write_pattern_cost {
        None => vec![Statement::missing("Random writes", "Their cost is not known well enough.")],
        Some(cost) => {
            vec![random_writes(cost), focused_area(derived), streams(derived), strides(profile)]
        }
    });
    let lines = [
        found.steady_state.as_ref().map(|_| steady_state(profile)),
        found.flush.as_ref().map(|_| commit(profile)),
        found.flush.as_ref().map(|_| group_commit(derived)),
        found.interference.as_ref().map(|conducted| interference(derived, &conducted.findings)),
        found.smallest_block.as_ref().map(|_| smallest_block(derived)),
    ];
    patterns.into_iter().flatten().chain(lines.into_iter().flatten()).collect()
}

fn statement(term: &'static str, known: Option<(String, String)>, missing: &str) -> Statement {
    known.map_or_else(
        || Statement::missing(term, missing),
        |(value, sentence)| Statement::known(term, value, sentence),
    )
}

fn random_writes(cost: &WritePatternCost) -> Statement {
    let sentence = format!(
        "is the time of a random write of {} divided by a sequential one ({}).",
        Quantity::size(cost.block_bytes),
        Quantity::time_ns(cost.sequential_ns.value)
    );
    Statement::known("Random writes", format!("× {}", text::factor(&cost.random)), sentence)
}

fn focused_area(derived: &Derived) -> Statement {
    const TERM: &str = "Focused area";
    match derived.cheap_area_bytes() {
        Some(Cheap::UpTo { extent, .. }) => Statement::known(
            TERM,
            text::size(&extent),
            "is the largest measured area in which a random write costs at most two sequential \
            ones.",
        ),
        Some(Cheap::Nowhere) => {
            Statement::missing(TERM, "Random writes aren't cheap even in the smallest area.")
        }
        Some(Cheap::Unclear) | None => Statement::missing(
            TERM,
            "The area within which random writes are cheap, if any, is \
                unclear.",
        ),
    }
}

fn streams(derived: &Derived) -> Statement {
    const TERM: &str = "Streams";
    match derived.cheap_streams() {
        Some(Cheap::UpTo { extent, .. }) => Statement::known(
            TERM,
            text::depth(&extent),
            "alternating sequential streams is the largest measured number at which a write costs \
            at most two of a single stream.",
        ),
        Some(Cheap::Nowhere) => Statement::missing(TERM, "Not even two streams stay cheap."),
        Some(Cheap::Unclear) | None => {
            Statement::missing(TERM, "The number of streams that stay cheap, if any, is unclear.")
        }
    }
}

fn strides(profile: &DeviceProfile) -> Statement {
    let strides = profile.cheap_strides();
    let named = |strides: &[i64]| text::join(&strides.iter().map(i64::to_string).collect::<Vec<_>>());
    let unclear = match strides.unclear.as_slice() {
        [] => String::new(),
        unclear => format!(" Unclear: {}.", named(unclear)),
    };
    let cheap = (!strides.clear.is_empty()).then(|| {
        let sentence = format!(
            "blocks are the strides at which a write costs at most four sequential \
                ones.{unclear}"
        );
        (named(&strides.clear), sentence)
    });
    statement("Strides", cheap, &format!("No stride except to the next block is surely cheap.{unclear}"))
}

fn steady_state(profile: &DeviceProfile) -> Statement {
    let steady = profile.derived.steady_state.as_ref().map(|steady| {
        let reached = match profile.long_writing() {
            Some(writing) => format!(" {}", text::writing_duration(&writing, profile)),
            None if steady.reached => String::new(),
            None => " The steady state was not reached.".to_owned(),
        };
        let amplification = steady.write_amplification.as_ref().map_or_else(String::new, |amplification| {
            format!(
                " For each byte of the host’s, {} are written to flash.",
                text::significant(amplification.factor, 3)
            )
        });
        let sentence = format!(
            "is the bandwidth of random writes of {} at the end of the \
            measurement.{amplification}{reached}",
            Quantity::size(steady.block_bytes)
        );
        (text::bandwidth(&steady.random_write_bytes_per_s), sentence)
    });
    statement("Writing for long", steady, "Too few rounds of random writes to judge.")
}

fn commit(profile: &DeviceProfile) -> Statement {
    let commit = profile.commit().map(|commit| {
        let tail = commit.p99_ns.map_or_else(
            || "; too few were timed for a 99th percentile".to_owned(),
            |p99| format!("; 99 % take at most {}", text::time_ns(p99)),
        );
        let place = if commit.in_file { " on a file that is overwritten" } else { "" };
        let sentence = format!(
            "is the median time until {} are durable by “{}”{place}{tail}.",
            Quantity::size(commit.write_bytes),
            commit.method
        );
        (Quantity::time_ns(commit.median_ns.value).to_string(), sentence)
    });
    statement("Commit", commit, "Too few commits were timed.")
}

fn group_commit(derived: &Derived) -> Statement {
    let gain = derived.group_commit.map(|gain| {
        let sentence = format!(
            "with {} writers that share a flush; a single writer reaches {}.",
            text::depth(&gain.writers),
            text::iops(&gain.alone_per_s)
        );
        (format!("{} commits/s", text::iops(&gain.together_per_s)), sentence)
    });
    statement("Group commit", gain, "Too few commits were timed.")
}

fn interference(derived: &Derived, map: &InterferenceMap) -> Statement {
    let limit = derived.interference.map(|limit| {
        if limit.write_rate_per_s.high <= 0.0 {
            let sentence = format!(
                "at any measured rate keep the {1} of reads within twice its value without \
                writes, at {0} reads/s.",
                text::significant(limit.read_rate_per_s, 3),
                text::quantile(limit.quantile)
            );
            return ("No writes".to_owned(), sentence);
        }
        if limit.write_rate_per_s.value <= 0.0 {
            let most = text::significant(limit.write_rate_per_s.high, 3);
            let sentence = format!(
                "if any, keep the {1} of reads within twice its value without writes, at {0} \
                reads/s.",
                text::significant(limit.read_rate_per_s, 3),
                text::quantile(limit.quantile)
            );
            return (format!("At most {most} writes/s,"), sentence);
        }
        let sentence = format!(
            "keep the {1} of reads within twice its value without writes, at {0} reads/s ({2} % \
            of the peak writes).",
            text::significant(limit.read_rate_per_s, 3),
            text::quantile(limit.quantile),
            text::significant(100.0 * limit.write_share.value, 2)
        );
        (format!("{} writes/s", text::iops(&limit.write_rate_per_s)), sentence)
    });
    let missing = if map.has_spread() {
        "The effect of writes on reads was not determined."
    } else {
        "The effect of writes on reads was seen in at most one round, so its spread is unknown."
    };
    statement("Writes beside reads", limit, missing)
}

fn smallest_block(derived: &Derived) -> Statement {
    let smallest = derived.smallest_block_bytes.as_ref().map(|block| {
        (
            text::size(block),
            "is the block size below which smaller requests cost no less, or even more.".into(),
        )
    });
    statement("Smallest block", smallest, "Reads of the smallest sizes were too few.")
}
