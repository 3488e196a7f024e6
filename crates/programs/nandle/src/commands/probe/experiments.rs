//! Which experiments a probe conducts, and conducting them.

use std::fmt::Write as _;

use nandle_io::Nanos;
use nandle_probe::experiments::{self, ALL, Circumstances, Ground, Plan, Wishes};
use nandle_probe::load::LoadError;
use nandle_profile::{DeviceProfile, Experiments, SkippedExperiment, SystemFacts};
use nandle_target::{TargetKind, facts};
use nandle_units::{format_bytes, format_duration};
use serde_json::json;

use super::assemble;
use super::places::Places;
use super::reads::SLOTS;
use crate::args::{Common, ProbeArgs};
use crate::error::CliError;
use crate::progress::Progress;
use crate::session::Session;
use crate::words::paragraph;

/// The read side's name among the experiments'.
const READS: &str = "reads";
/// From so much on experiments write.
const BUDGET_FOR_WRITES: Nanos = Nanos::from_secs(300);
/// Of a larger budget than the read side needs, so much is for it …
const READS_PART: u64 = 5;
/// … within these bounds.
const READS_TIME_MIN: Nanos = Nanos::from_secs(60);
const READS_TIME_MAX: Nanos = Nanos::from_secs(120);
/// So much of the free space, or of a raw device, may be written when the user says nothing.
const WRITE_LIMIT_PART: u64 = 8;

/// Why no experiment may write, as far as the command line says; `None` when it may.
pub(super) fn unwanted(args: &ProbeArgs) -> Option<String> {
    let names_some = args.only.iter().any(|name| name != READS);
    if args.read_only {
        Some("--read-only was given".into())
    } else if args.budget < BUDGET_FOR_WRITES && !names_some {
        let least = format_duration(BUDGET_FOR_WRITES);
        Some(format!("a budget below {least} is for reading; give a larger --budget, or name it with --only"))
    } else {
        None
    }
}

/// Refuses names that leave nothing to be measured.
pub(super) fn check(args: &ProbeArgs) -> Result<(), CliError> {
    let mut all = all_names();
    all.push(READS.into());
    let wanted = if args.only.is_empty() { &all } else { &args.only };
    if wanted.iter().any(|name| !args.skip.contains(name)) {
        return Ok(());
    }
    let only =
        if args.only.is_empty() { String::new() } else { format!("--only {} and ", args.only.join(",")) };
    Err(CliError::usage(format!(
        "{only}--skip {}: nothing is left to be measured; skip less, or name other experiments with --only",
        args.skip.join(",")
    )))
}

/// What will be done within the budget.
pub(super) struct Selection {
    /// Time for the read side; `None` when it isn't wanted, or is there already.
    pub(super) reads_budget: Option<Nanos>,
    wishes: Wishes,
    circumstances: Circumstances,
    plan: Plan,
}

impl Selection {
    pub(super) fn new(
        args: &ProbeArgs,
        session: &Session,
        system: &SystemFacts,
        refused: Option<String>,
        previous: Option<&DeviceProfile>,
    ) -> Result<Self, CliError> {
        let circumstances = circumstances(session, system)?;
        let reads_done = previous.is_some_and(|previous| previous.conditions.reads_complete);
        let reads_budget = reads_wanted(args).filter(|_| !reads_done);
        let wishes = Wishes {
            budget: args.budget - reads_budget.unwrap_or(Nanos::ZERO),
            write_limit_bytes: args.write_limit.unwrap_or_else(|| write_limit(session, system)),
            read_only: refused,
            only: names_of_experiments(&args.only),
            skip: if is_reads_alone(args) { all_names() } else { names_of_experiments(&args.skip) },
        };
        let mut done = previous.map(|previous| previous.experiments.clone()).unwrap_or_default();
        let plan = plan(&circumstances, &wishes, &mut done)?;
        // With nothing beside it the read side has the whole budget.
        let reads_budget = reads_budget.map(|part| if plan.chosen.is_empty() { args.budget } else { part });
        Ok(Self { reads_budget, wishes, circumstances, plan })
    }

    /// Refuses a probe of which nothing is left, and says why.
    pub(super) fn check(&self, args: &ProbeArgs) -> Result<(), CliError> {
        let reasons: Vec<String> = self
            .plan
            .skipped
            .iter()
            .filter(|skipped| args.only.contains(&skipped.name))
            .map(|SkippedExperiment { name, reason }| format!("{name} ({reason})"))
            .collect();
        let is_left = self.reads_budget.is_some() || self.has_experiments();
        if is_left || args.resume || reasons.is_empty() {
            return Ok(());
        }
        Err(CliError::usage(format!("nothing is left to be measured: {}", reasons.join("; "))))
    }

    /// Whether any experiment is conducted.
    pub(super) fn has_experiments(&self) -> bool {
        !self.plan.chosen.is_empty()
    }

    /// Bytes that will be written at most, beside the test file.
    pub(super) fn write_bytes_max(&self) -> u64 {
        self.plan.write_bytes_max()
    }

    /// What would be run, and what not.
    pub(super) fn describe(&self, common: Common) -> Result<String, CliError> {
        if common.json {
            let text = serde_json::to_string_pretty(&self.json());
            return text
                .map(|text| text + "\n")
                .map_err(|error| CliError::failed(format!("writing JSON: {error}")));
        }
        let mut text = String::new();
        if let Some(time) = self.reads_budget {
            let _ = writeln!(text, "{READS}: {}, writes nothing beside the test file", format_duration(time));
        }
        for chosen in &self.plan.chosen {
            let (name, question) = (chosen.experiment.name(), chosen.experiment.question());
            let time = format_duration(chosen.time);
            let writes = match chosen.write_bytes_max {
                0 => "writes nothing".into(),
                bytes => format!("writes up to {}", format_bytes(bytes)),
            };
            paragraph(&mut text, "", &format!("{name}: {time}, {writes}. {question}"));
        }
        for SkippedExperiment { name, reason } in &self.plan.skipped {
            paragraph(&mut text, "", &format!("{name}: not conducted: {reason}."));
        }
        let time = format_duration(self.plan.time() + self.reads_budget.unwrap_or(Nanos::ZERO));
        let written = format_bytes(self.plan.write_bytes_max());
        paragraph(
            &mut text,
            "",
            &format!("In all: {time} at most, and up to {written} written beside the test file."),
        );
        Ok(text)
    }

    fn json(&self) -> serde_json::Value {
        let chosen = self.plan.chosen.iter().map(|chosen| {
            json!({
                "name": chosen.experiment.name(), "question": chosen.experiment.question(),
                "time_ns": chosen.time.0, "write_bytes_max": chosen.write_bytes_max,
            })
        });
        json!({
            "schema_version": 1, "reads_time_ns": self.reads_budget.map(|time| time.0),
            "chosen": chosen.collect::<Vec<_>>(), "skipped": self.plan.skipped,
        })
    }

    /// Conducts what still fits into the budget, and keeps the profile after each experiment. What ended it early.
    pub(super) fn conduct(
        &self,
        args: &ProbeArgs,
        session: &Session,
        profile: &mut DeviceProfile,
        progress: &mut Progress,
    ) -> Result<Option<LoadError>, CliError> {
        let spent =
            if self.reads_budget.is_some() { Nanos(profile.conditions.elapsed_ns) } else { Nanos::ZERO };
        let wishes = Wishes {
            budget: args.budget - spent,
            write_limit_bytes: self.wishes.write_limit_bytes.min(self.plan.write_bytes_max()),
            ..self.wishes.clone()
        };
        let mut done = std::mem::take(&mut profile.experiments);
        let circumstances =
            Circumstances { area_bytes: profile.conditions.file_bytes, ..self.circumstances.clone() };
        let plan = plan(&circumstances, &wishes, &mut done)?;
        let open = |slots: u32| session.open_io(slots).map_err(|error| error.to_string());
        let without_cache = |slots: u32| session.open_io_without_cache(slots);
        let ground = Ground {
            open: &open,
            beside: (!session.target.is_modelled()).then_some(session),
            open_without_cache: session.target.has_switchable_cache().then_some(&without_cache),
            drive_log: &|| facts::drive_counters(&session.target),
            circumstances,
            patience: session.patience,
            seed: args.target.seed,
            cancel: &session.cancel,
        };
        let place = Places::of(args, profile, true);
        let mut failed = None;
        let mut keep = |experiments: &Experiments| {
            assemble::add_experiments(profile, experiments);
            failed = place.keep(profile).err();
        };
        let ended_by = experiments::conduct(&plan, &ground, &mut done, progress, &mut keep).err();
        assemble::add_experiments(profile, &done);
        failed.map_or(Ok(ended_by), Err)
    }
}

fn plan(circumstances: &Circumstances, wishes: &Wishes, done: &mut Experiments) -> Result<Plan, CliError> {
    experiments::plan(circumstances, wishes, done)
        .map_err(|error| CliError::usage(format!("{error}, {READS}")))
}

fn circumstances(session: &Session, system: &SystemFacts) -> Result<Circumstances, CliError> {
    let (_, device) = session.open_io(1)?;
    let kind = session.target.kind();
    Ok(Circumstances {
        shape: device.shape,
        area_bytes: session.target.area_bytes(),
        slots: SLOTS,
        is_modelled: session.target.is_modelled(),
        is_whole_device: matches!(kind, TargetKind::Model | TargetKind::BlockDevice),
        atomic_write: system.atomic_write,
    })
}

/// Time for the read side, when it is wanted.
fn reads_wanted(args: &ProbeArgs) -> Option<Nanos> {
    let is_named = |names: &[String]| names.iter().any(|name| name == READS);
    if is_named(&args.skip) || !(args.only.is_empty() || is_named(&args.only)) {
        return None;
    }
    let part = Nanos(args.budget.0 / READS_PART).clamp(READS_TIME_MIN, READS_TIME_MAX);
    Some(part.min(args.budget))
}

/// Whether `--only reads` was given.
fn is_reads_alone(args: &ProbeArgs) -> bool {
    !args.only.is_empty() && args.only.iter().all(|name| name == READS)
}

fn names_of_experiments(names: &[String]) -> Vec<String> {
    names.iter().filter(|name| *name != READS).cloned().collect()
}

fn all_names() -> Vec<String> {
    ALL.iter().map(|experiment| experiment.name().to_owned()).collect()
}

/// A small part of what is free. A modelled drive doesn't wear.
fn write_limit(session: &Session, system: &SystemFacts) -> u64 {
    if session.target.is_modelled() {
        return u64::MAX;
    }
    let free = system.file_system.as_ref().and_then(|system| system.available_bytes);
    let room = free.unwrap_or(session.target.area_bytes());
    room / WRITE_LIMIT_PART
}
