use nandle_replay::{PolicyOutcome, Sample};

use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis};
use crate::text;

pub(super) const TIME: XAxis = XAxis::Seconds("Time of the work, s");

/// Page writes over time.
pub(super) fn progress(policies: &[PolicyOutcome]) -> Option<Figure> {
    let curves = curves(policies.iter().enumerate(), |sample| sample.writes as f64);
    let axes = (TIME, YAxis::Number("Page writes done"));
    let plot = Plot::joined("progress", "Progress", axes, "", View::single(curves));
    let finding = slowest(policies)?;
    let note = "A straight line is a constant rate; where it flattens, the policy or the drive has to \
        catch up."
        .to_owned();
    Plot { finding, note, ..plot }.into_figure()
}

/// Slowest policy by stretch, in which all policies do the same work. The final checkpoint, at the
/// end of the last sample, writes no page and is reported separately.
fn slowest(policies: &[PolicyOutcome]) -> Option<String> {
    let times: Vec<_> = policies.iter().map(|policy| (policy.policy, stretches_ns(policy))).collect();
    let stretches = times.iter().map(|(_, stretches)| stretches.len()).min()?;
    let slowest_in = |stretch: usize| {
        let of_all = times.iter().filter_map(|(name, times)| Some((*name, *times.get(stretch)?)));
        of_all.max_by_key(|(_, time_ns)| *time_ns).map(|(name, _)| name)
    };
    let slowest: Vec<_> = (0..stretches).filter_map(slowest_in).collect();
    let (first, last) = (slowest.first()?, slowest.last()?);
    let sentence = if let [only] = policies {
        let times_ns = stretches_ns(only);
        let times = *times_ns.iter().max()? as f64 / (*times_ns.iter().min()?).max(1) as f64;
        format!("The slowest stretch takes {} times as long as the fastest.", text::significant(times, 3))
    } else if slowest.iter().all(|name| name == first) {
        format!("{first} is the slowest from the first to the last stretch.")
    } else if first == last {
        let count = slowest.iter().filter(|name| *name == first).count();
        format!(
            "{first} is the slowest in the first stretch and in the last, in {count} of {stretches} in all."
        )
    } else {
        format!("{first} is the slowest in the first stretch, {last} in the last.")
    };
    let longest = policies.iter().max_by_key(|policy| policy.checkpoint_ns)?;
    let checkpoint = match longest.checkpoint_ns {
        0 => String::new(),
        time_ns => {
            format!(
                " The final checkpoint takes longest with {}: {}.",
                longest.policy,
                text::time_ns(time_ns)
            )
        }
    };
    Some(sentence + &checkpoint)
}

/// Time of each stretch with page writes.
fn stretches_ns(policy: &PolicyOutcome) -> Vec<u64> {
    let (mut writes, mut elapsed_ns) = (0, 0);
    let mut stretches = Vec::new();
    for sample in &policy.samples {
        if sample.writes > writes {
            stretches.push(sample.elapsed_ns - elapsed_ns);
        }
        (writes, elapsed_ns) = (sample.writes, sample.elapsed_ns);
    }
    stretches
}

/// Pages in the staging areas over time, for the policies that have one.
pub(super) fn occupancy(policies: &[PolicyOutcome]) -> Option<Figure> {
    let staging = policies.iter().enumerate().filter(|(_, policy)| policy.buffer_bytes > 0);
    let fullest = |policy: &PolicyOutcome| policy.samples.iter().map(|sample| sample.staged_pages).max();
    let (most, pages) = staging
        .clone()
        .filter_map(|(_, policy)| Some((policy, fullest(policy)?)))
        .max_by_key(|(_, pages)| *pages)?;
    let curves = curves(staging, |sample| sample.staged_pages as f64);
    let axes = (TIME, YAxis::Number("Pages waiting to be destaged"));
    let plot = Plot::joined("occupancy", "Occupancy", axes, "", View::single(curves));
    let room = most.buffer_bytes / most.page_bytes.max(1);
    let finding = format!(
        "{} keeps most: up to {}; its staging area has room for {}.",
        most.policy,
        text::plural(pages, "page"),
        text::plain(room)
    );
    let note = "At the end of each stretch, in the staging area or in memory.".to_owned();
    Plot { finding, note, ..plot }.into_figure()
}

fn curves<'a>(
    policies: impl Iterator<Item = (usize, &'a PolicyOutcome)>,
    value: impl Fn(&Sample) -> f64,
) -> Vec<Curve> {
    let point = |sample: &Sample| Point::bare(sample.elapsed_ns as f64 / 1e9, value(sample));
    let curve = |(index, policy): (usize, &PolicyOutcome)| {
        Curve::joined(policy.policy.name(), Look::Kind(index), policy.samples.iter().map(point).collect())
    };
    policies.map(curve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;

    /// Policy with the given stretch times and a checkpoint after them.
    fn policy(name: &'static str, stretches_ns: &[u64], checkpoint_ns: u64) -> PolicyOutcome {
        let like = made_up::policies().remove(0);
        let sample = *like.samples.first().unwrap();
        let (mut samples, mut elapsed_ns) = (Vec::new(), 0);
        for (number, time_ns) in (1..).zip(stretches_ns) {
            elapsed_ns += time_ns;
            samples.push(Sample { elapsed_ns, writes: number * 4096, ..sample });
        }
        let writes = samples.last().unwrap().writes;
        samples.push(Sample { elapsed_ns: elapsed_ns + checkpoint_ns, writes, ..sample });
        PolicyOutcome { policy: name.parse().unwrap(), checkpoint_ns, samples, ..like }
    }

    #[test]
    fn slowest_policy_is_chosen_by_stretches_without_the_checkpoint() {
        let found = |one: &[u64], other: &[u64]| {
            slowest(&[policy("direct", one, 0), policy("auto", other, 7_000_000)]).unwrap()
        };
        let text = found(&[5, 5, 5], &[9, 9, 9]);
        assert!(text.starts_with("auto is the slowest from the first to the last stretch."), "{text}");
        assert!(text.contains("checkpoint takes longest with auto: 7.00\u{a0}ms"), "{text}");
        let text = found(&[5, 12, 5], &[9, 9, 9]);
        assert!(
            text.contains("auto is the slowest in the first stretch and in the last, in 2 of 3"),
            "{text}"
        );
        let text = found(&[5, 9, 12], &[9, 5, 9]);
        assert!(text.contains("auto is the slowest in the first stretch, direct in the last."), "{text}");
        let alone = slowest(&[policy("direct", &[4, 4, 10], 0)]).unwrap();
        assert_eq!(alone, "The slowest stretch takes 2.50 times as long as the fastest.");
    }
}
