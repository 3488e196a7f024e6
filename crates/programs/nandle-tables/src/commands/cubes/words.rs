//! Relates a run to the paper's claims, by path: C41, that one SSD beats ten disks, and C42, the
//! increase of time with dimensions. The first target represents the SSD, and the second the array.

use nandle_flights::Fact;
use nandle_terminal::words::seconds;
use nandle_units::format_bytes;

use super::classes::mean;
use super::turning::Turning;
use super::{Cube, PathRuns, Played};

/// Ratio below which times count as equal: the models are no more accurate.
const ALIKE: f64 = 1.05;

/// Findings on a path with their reasons; empty unless it was played on two devices.
pub(super) fn sentences(path: &PathRuns, turning: &[Turning]) -> Vec<String> {
    let [first, second, ..] = path.targets.as_slice() else { return Vec::new() };
    let pair = Pair { path, first, second };
    let mut sentences = vec![pair.faster(), pair.why_faster(turning)];
    sentences.extend(pair.longer());
    sentences
}

/// Two devices on a path.
struct Pair<'a> {
    path: &'a PathRuns,
    first: &'a str,
    second: &'a str,
}

impl Pair<'_> {
    fn on(&self, target: &str, figure: impl Fn(&Played) -> f64) -> f64 {
        self.path.cubes.iter().filter_map(|cube| cube.targets.get(target)).map(figure).sum()
    }

    fn faster(&self) -> String {
        let Self { path, first, second } = self;
        let time = |cube: &Cube, target: &str| cube.targets.get(target).map(|played| played.time_s);
        let is_faster = |cube: &Cube, one: &str, other: &str| {
            time(cube, one).zip(time(cube, other)).is_some_and(|(one, other)| one * ALIKE < other)
        };
        let count = |one, other| path.cubes.iter().filter(|cube| is_faster(cube, one, other)).count();
        let (wins, losses, cubes) = (count(first, second), count(second, first), path.cubes.len());
        let verdict = match (wins, losses) {
            (0, 0) => "is neither met nor missed",
            (wins, _) if wins == cubes => "holds",
            (_, 0) => "holds where they differ",
            (0, _) => "doesn't hold",
            (_, _) => "holds in part",
        };
        let whole_s = |target| self.on(target, |played| played.time_s);
        let ratio = whole_s(second) / whole_s(first);
        format!(
            "C41, that one SSD beats the array, {verdict} on this path: {first} is faster than {second} by more than 5 % in {wins} of {cubes} cubes and slower in {losses}; all cubes take {} on {first} and {} on {second}, {ratio:.2} times as long.",
            seconds(whole_s(first)),
            seconds(whole_s(second))
        )
    }

    fn why_faster(&self, turning: &[Turning]) -> String {
        let cubes: Vec<&Cube> = self.path.cubes.iter().collect();
        match mean(&cubes, |cube| cube.share_of_jumps) {
            Some(share) => self.why_by_jumps(share, turning),
            None => self.why_by_requests(),
        }
    }

    fn why_by_jumps(&self, share: f64, turning: &[Turning]) -> String {
        let Self { path, first, second } = self;
        let is_of_both =
            |turning: &&Turning| Some(turning.page_bytes) == path.page_bytes && turning.is_of(first, second);
        let turns = match turning.iter().find(is_of_both) {
            Some(Turning { turns_at_share: Some(turns), faster_above: Some(above), .. }) => format!(
                "of leaves that jump anywhere in the index {} is faster up to {:.2} % of jumps and {above} above, processor time left out",
                if above == first { second } else { first },
                100.0 * turns
            ),
            Some(_) => "no share of jumps makes the slower device the faster one".to_owned(),
            None => "where it turns was not looked for, because there are too few leaves or devices are not modelled".to_owned(),
        };
        format!(
            "Why: leaves are read one after the other, and {:.2} % of them don't follow the one before; {turns}.",
            100.0 * share
        )
    }

    fn why_by_requests(&self) -> String {
        let Self { first, second, .. } = self;
        let (bytes, requests) = (
            self.on(first, |played| played.read_bytes as f64),
            self.on(first, |played| played.requests as f64),
        );
        let computing = |target: &str| {
            100.0 * self.on(target, |played| played.computing_s) / self.on(target, |played| played.time_s)
        };
        format!(
            "Why: requests are of {} in the mean and several at a time, so that bandwidth counts and not jumps. Computing is {:.0} % of the time on {first} and {:.0} % on {second}; during the rest the query waits for the device.",
            format_bytes(whole(bytes / requests.max(1.0))),
            computing(first),
            computing(second)
        )
    }

    /// Increase of time from cubes without partners to cubes with them.
    fn longer(&self) -> Vec<String> {
        let grown: Vec<Growth> = Fact::ALL.into_iter().filter_map(|fact| self.growth(fact)).collect();
        let mut sentences: Vec<String> = grown.iter().map(|growth| growth.sentence(self)).collect();
        sentences.extend(self.verdict(&grown));
        sentences
    }

    fn growth(&self, fact: Fact) -> Option<Growth> {
        let of = |partners: u32, figure: &dyn Fn(&Cube) -> Option<f64>| {
            let is_one = |cube: &&Cube| cube.query.fact() == fact && cube.partners == partners;
            mean(&self.path.cubes.iter().filter(is_one).collect::<Vec<_>>(), figure)
        };
        let factor = |partners: u32, figure: &dyn Fn(&Cube) -> Option<f64>| {
            Some(of(partners, figure)? / of(0, figure)?)
        };
        let on = |partners, target: &str| {
            factor(partners, &|cube| cube.targets.get(target).map(|played| played.time_s))
        };
        let times = |partners| Some((partners, on(partners, self.first)?, on(partners, self.second)?));
        let times: Vec<_> = [2, 3].into_iter().filter_map(times).collect();
        let (most, ..) = *times.last()?;
        Some(Growth {
            fact,
            bytes: factor(most, &|cube| Some(cube.wanted_bytes as f64))?,
            cpu: factor(most, &|cube| Some(cube.cpu_s))?,
            result_rows: factor(most, &|cube| Some(cube.result_rows as f64))?,
            times,
        })
    }

    /// Verdict on C42, by the cubes with most partners.
    fn verdict(&self, grown: &[Growth]) -> Option<String> {
        let Self { first, second, .. } = self;
        let of = |fact: Fact| grown.iter().find(|growth| growth.fact == fact)?.times.last();
        let (diverted, delay) = (of(Fact::Diverted)?, of(Fact::Delay)?);
        let mut fails = Vec::new();
        if [diverted, delay].iter().any(|times| times.1 <= 1.0 || times.2 <= 1.0) {
            fails.push("a cube with partners doesn't always take longer".to_owned());
        }
        if [diverted, delay].iter().any(|times| times.1 <= times.2) {
            fails.push(format!("{first} doesn't always grow by more than {second}"));
        }
        if delay.1 <= diverted.1 || delay.2 <= diverted.2 {
            fails.push("delay doesn't grow by more than diverted on both".to_owned());
        }
        Some(if fails.is_empty() {
            format!(
                "C42 holds on this path: cubes with partners take longer, {first} grows by more than {second}, and delay by more than diverted."
            )
        } else {
            format!("C42 doesn't hold wholly on this path: {}.", fails.join("; "))
        })
    }
}

/// Growth of cubes with partners relative to those without.
struct Growth {
    fact: Fact,
    bytes: f64,
    cpu: f64,
    result_rows: f64,
    /// Numbers of partners, with the factors of time on both devices.
    times: Vec<(u32, f64, f64)>,
}

impl Growth {
    fn sentence(&self, pair: &Pair<'_>) -> String {
        let Pair { first, second, .. } = pair;
        let times = self.times.iter().map(|(partners, one, other)| {
            let (one, other) = (longer_by(*one), longer_by(*other));
            format!("{one} on {first} and {other} on {second} with {partners} partners")
        });
        format!(
            "C42, time of {} cubes with partners by that without: {}; the paper measured {}. Bytes grow by a factor of {:.2}, processor time {:.2}, result rows {:.0}.",
            format!("{:?}", self.fact).to_lowercase(),
            times.collect::<Vec<_>>().join(", "),
            published(self.fact),
            self.bytes,
            self.cpu,
            self.result_rows
        )
    }
}

/// Small growth in per cent, large as a factor.
fn longer_by(factor: f64) -> String {
    if factor < 2.0 {
        format!("{:+.1} %", 100.0 * (factor - 1.0))
    } else {
        format!("{factor:.1} times as long")
    }
}

/// Published growth on the SSD and on the array.
fn published(fact: Fact) -> &'static str {
    match fact {
        Fact::Diverted => "+22 % and +17.4 %",
        Fact::Cancelled => "+25.6 % and +19.6 %",
        Fact::Delay => "+422.5 % and +399.75 % (5.2 and 5.0 times as long)",
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of lengths")]
fn whole(bytes: f64) -> u64 {
    bytes.round() as u64
}
