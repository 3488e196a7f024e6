//! A task run by several programs in turns, in groups with equal limits, with their times and
//! memory.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::bench::cgroup::{Group, Taken};
use crate::bench::contained;
use crate::bench::results::{Comparison, Failure, Runs};
use crate::{Outcome, output};

pub(super) const ROUNDS: usize = 3;
/// Memory setting of each program.
pub(super) const MEMORY_BYTES: u64 = 256 << 20;
/// Additional memory of the group, for the program's code and the page cache.
const BESIDE_BYTES: u64 = 256 << 20;
/// Program that is compared with all others.
pub(super) const OURS: &str = "nandle";
/// Baseline that does the minimum of reads and writes and computes nothing. Its output isn't
/// checked.
pub(super) const COPYING: &str = "copying";

/// Setting of a task.
pub(super) struct Trial<'a> {
    pub(super) task: &'a str,
    pub(super) programs: &'a [&'static str],
    pub(super) inputs: &'a [&'a Path],
    pub(super) result: &'a Path,
    pub(super) folder: &'a Path,
}

/// Results of a task.
#[derive(Default)]
pub(super) struct Tried {
    pub(super) comparisons: Vec<Comparison>,
    pub(super) failures: Vec<Failure>,
}

impl Tried {
    pub(super) fn add(&mut self, other: Self) {
        self.comparisons.extend(other.comparisons);
        self.failures.extend(other.failures);
    }
}

/// Describes the memory limit for the method, or its absence.
pub(super) fn limit() -> String {
    if Group::make(MEMORY_BYTES + BESIDE_BYTES).is_none() {
        let sentence = "No memory cgroup can be made here: what programs take beside what they were told isn't limited, nor measured.";
        output::say(sentence);
        return sentence.to_owned();
    }
    format!(
        "Every program runs in a memory cgroup of {} MiB, for what it was told to use ({} MiB), itself and the page cache. Peak memory is the group's, \
        page cache included; that without page cache was looked at every 20 ms.",
        (MEMORY_BYTES + BESIDE_BYTES) >> 20,
        MEMORY_BYTES >> 20
    )
}

struct Candidate {
    name: &'static str,
    seconds: Vec<f64>,
    peak_mib: Vec<f64>,
    anonymous_mib: Vec<f64>,
    /// Reason of a failure. A program that failed isn't run again.
    failure: Option<String>,
}

/// A unit, and the figures in it.
type Measure = (&'static str, fn(&Candidate) -> &Vec<f64>);

/// Time and resource usage of a run, or the reason of its failure.
type Ran = Result<(f64, Option<Taken>), String>;

impl Trial<'_> {
    /// Runs all programs that `command` supports in turns, and compares their results by `sum`.
    pub(super) fn run(
        &self,
        command: impl Fn(&str) -> Option<Command>,
        sum: impl Fn(&Path) -> Outcome<String>,
    ) -> Outcome<Tried> {
        let mut candidates: Vec<Candidate> = self.programs.iter().map(|name| Candidate::new(name)).collect();
        let mut expected = None;
        for round in 0..ROUNDS {
            output::say(&format!("{}: round {} of {ROUNDS}", self.task, round + 1));
            let count = candidates.len();
            for turn in 0..count {
                let Some(candidate) = candidates.get_mut((turn + round) % count) else { continue };
                if candidate.failure.is_some() {
                    continue;
                }
                let Some(command) = command(candidate.name) else { continue };
                let ran = self.timed(&command)?;
                let is_result = ran.is_ok() && candidate.name != COPYING;
                candidate.add(ran);
                if is_result {
                    check(sum(self.result)?, candidate.name, &mut expected)?;
                }
            }
        }
        _ = fs::remove_file(self.result);
        self.compared(&candidates)
    }

    /// Runs a command with cold inputs, and syncs its result.
    fn timed(&self, command: &Command) -> Outcome<Ran> {
        _ = fs::remove_file(self.result);
        self.inputs.iter().try_for_each(|input| contained::forget(input))?;
        let group = Group::make(MEMORY_BYTES + BESIDE_BYTES);
        let began = Instant::now();
        let ran = contained::run(command, group.as_ref(), self.folder)?;
        if let Err(why) = ran.said {
            return Ok(Err(why));
        }
        fs::File::open(self.result)?.sync_all()?;
        Ok(Ok((began.elapsed().as_secs_f64(), ran.taken)))
    }

    fn compared(&self, candidates: &[Candidate]) -> Outcome<Tried> {
        let mut tried = Tried::default();
        for failed in candidates {
            let Some(message) = &failed.failure else { continue };
            let (task, name) = (self.task.to_owned(), failed.name.to_owned());
            tried.failures.push(Failure { task, name, message: message.clone() });
        }
        let is_whole = |candidate: &&Candidate| candidate.seconds.len() == ROUNDS;
        let Some(ours) = candidates.iter().filter(is_whole).find(|one| one.name == OURS) else {
            return Ok(tried);
        };
        let others = || candidates.iter().filter(is_whole).filter(|other| other.name != OURS);
        let measures: [Measure; 3] = [
            ("s", |one| &one.seconds),
            ("peak memory, MiB", |one| &one.peak_mib),
            ("peak memory without page cache, MiB", |one| &one.anonymous_mib),
        ];
        for (unit, figures) in measures {
            let all = |one: &Candidate| {
                figures(one).len() == ROUNDS && figures(one).iter().all(|figure| *figure > 0.0)
            };
            for other in others().filter(|other| all(other) && all(ours)) {
                let [theirs, ours] =
                    [other, ours].map(|one| Runs { name: one.name, figures: figures(one).clone() });
                tried.comparisons.push(Comparison::new(self.task, unit, theirs, ours)?);
            }
        }
        Ok(tried)
    }
}

impl Candidate {
    fn new(name: &'static str) -> Self {
        Self { name, seconds: Vec::new(), peak_mib: Vec::new(), anonymous_mib: Vec::new(), failure: None }
    }

    fn add(&mut self, ran: Ran) {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        match ran {
            Err(message) => self.failure = Some(message),
            Ok((seconds, taken)) => {
                self.seconds.push(seconds);
                let peak_bytes = taken.and_then(|taken| taken.peak_bytes);
                self.peak_mib.extend(peak_bytes.map(mib));
                self.anonymous_mib.extend(taken.map(|taken| mib(taken.anonymous_bytes)));
            }
        }
    }
}

/// Checks that all programs have the same result.
fn check(sum: String, name: &str, expected: &mut Option<String>) -> Outcome {
    match expected {
        Some(expected) if *expected != sum => {
            Err(format!("{name} has another result than the one before: {sum} and not {expected}").into())
        }
        _ => {
            *expected = Some(sum);
            Ok(())
        }
    }
}
