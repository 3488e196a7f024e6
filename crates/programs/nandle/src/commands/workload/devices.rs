//! Targets of a workload and the worlds that combine them.

use std::path::Path;

use nandle_spill::SpillCosts;
use nandle_target::{Intent, ModelContents, OpenOptions, Target, TargetSpec};
use nandle_workloads::{Areas, InputContents, Role, Workload, World, fill, measure_costs};

use super::{RowArgs, failed};
use crate::commands::rows::costs;
use crate::error::CliError;
use crate::target;

/// Requests in flight.
const SLOTS: u32 = 1024;

/// Target of each component; a component without one takes no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Roles {
    pub(crate) input: Option<usize>,
    pub(crate) temporary: usize,
    pub(crate) output: Option<usize>,
}

impl Roles {
    /// Temporary data only.
    pub(crate) fn alone(temporary: usize) -> Self {
        Self { input: None, temporary, output: None }
    }

    fn all(self) -> impl Iterator<Item = (Role, usize)> {
        let [input, output] = [(Role::Input, self.input), (Role::Output, self.output)];
        let others = [input, output].into_iter().filter_map(|(role, target)| Some((role, target?)));
        others.chain([(Role::Temporary, self.temporary)])
    }
}

/// Distinct opened targets.
pub(crate) struct Devices {
    opened: Vec<Opened>,
    pub(crate) areas: Areas,
    pub(crate) is_modelled: bool,
}

struct Opened {
    target: Target,
    /// Model that stores contents, for temporary data; without contents it is faster.
    keeping: Option<Target>,
}

impl Devices {
    /// Opens the targets of a workload. Returns the index of each.
    pub(crate) fn open(
        specs: &[&TargetSpec],
        workload: &Workload,
        args: &RowArgs,
    ) -> Result<(Self, Vec<usize>), CliError> {
        let areas = Areas::of(workload).map_err(failed)?;
        let mut opened: Vec<Opened> = Vec::new();
        let mut numbers = Vec::new();
        for spec in specs {
            let known = opened.iter().position(|opened| opened.target.spec() == *spec);
            let number = known.unwrap_or(opened.len());
            if known.is_none() {
                opened.push(Opened::open(spec, &areas, args)?);
            }
            numbers.push(number);
        }
        let is_modelled = check_clocks(&opened)?;
        let devices = Self { opened, areas, is_modelled };
        let all: Vec<usize> = (0..devices.opened.len()).collect();
        devices.check_room(&all)?;
        Ok((devices, numbers))
    }

    /// Checks that every area fits on every target, before anything runs.
    fn check_room(&self, targets: &[usize]) -> Result<(), CliError> {
        targets.iter().try_for_each(|target| {
            let roles = Roles { input: Some(*target), temporary: *target, output: Some(*target) };
            self.world(roles).map(drop)
        })
    }

    /// Name of a target.
    pub(crate) fn name(&self, target: usize) -> String {
        self.opened.get(target).map(|opened| opened.target.spec().to_string()).unwrap_or_default()
    }

    /// Creates a world with the components on their targets. Modelled drives are new in it.
    pub(crate) fn world(&self, roles: Roles) -> Result<World, CliError> {
        let mut used: Vec<usize> = Vec::new();
        for (_, target) in roles.all() {
            if !used.contains(&target) {
                used.push(target);
            }
        }
        let targets = used.iter().filter_map(|number| {
            let Opened { target, keeping } = self.opened.get(*number)?;
            Some(keeping.as_ref().filter(|_| *number == roles.temporary).unwrap_or(target))
        });
        let targets: Vec<&Target> = targets.collect();
        let (io, devices) = Target::io_of_several(&targets, SLOTS)?;
        let device = |target: usize| {
            let position = used.iter().position(|number| *number == target);
            position.and_then(|position| devices.get(position))
        };
        let Some(temporary) = device(roles.temporary) else {
            return Err(CliError::failed("the temporary data's target gave no device"));
        };
        let (input, output) = (roles.input.and_then(device), roles.output.and_then(device));
        let contents = if self.is_modelled { InputContents::Generated } else { InputContents::OnDevice };
        self.areas.in_world(io, input, temporary, output, contents).map_err(failed)
    }

    /// Writes the input to a real target.
    pub(crate) fn fill(&self, target: usize, workload: &Workload) -> Result<(), CliError> {
        if self.is_modelled {
            return Ok(());
        }
        let roles = Roles { input: Some(target), temporary: target, output: None };
        fill(self.world(roles)?, workload).map_err(failed)
    }

    /// Costs of temporary data on a target, and their origin: a profile or the model itself.
    pub(crate) fn costs(
        &self,
        target: usize,
        profile: Option<&Path>,
    ) -> Result<(SpillCosts, String), CliError> {
        if profile.is_some() {
            return costs(profile);
        }
        let name = self.name(target);
        if !self.is_modelled {
            let sentence = format!(
                "Clusters on {name} follow from assumptions (100 us and 1 GB/s for a read), because no profile of it is named: \
                 `nandle probe` makes one."
            );
            return Ok((SpillCosts::default(), sentence));
        }
        let measured = measure_costs(self.world(Roles::alone(target))?).map_err(failed)?;
        let sentence = format!(
            "Clusters on {name} follow from sequential writes and random reads of it in virtual time, because no profile is named."
        );
        Ok((measured, sentence))
    }

    /// Remarks on the figures.
    pub(crate) fn remarks(&self) -> Vec<String> {
        if self.is_modelled {
            return vec![
                "Times are the modelled drives' own: the processor's time isn't in them, but for 2 us for each request. The input's rows \
                 are made from the seed while its reads take their time."
                    .to_owned(),
            ];
        }
        let mut remarks = vec![
            "Times are elapsed ones: the processor's time is in them, and what else the machine did. Each run was made once."
                .to_owned(),
        ];
        for remark in self.opened.iter().flat_map(|opened| opened.target.remarks()) {
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        remarks
    }
}

impl Opened {
    fn open(spec: &TargetSpec, areas: &Areas, args: &RowArgs) -> Result<Self, CliError> {
        let options = OpenOptions {
            intent: Intent::Write,
            test_file_bytes: areas.end_bytes(),
            overwrite: args.overwrite,
            destroy_data: args.destroy_data,
            ..OpenOptions::default()
        };
        let target = target::open(spec, &options)?;
        let keeping = target.is_modelled().then(|| {
            let options = OpenOptions { model_contents: ModelContents::Kept, ..options };
            target::open(spec, &options)
        });
        Ok(Self { target, keeping: keeping.transpose()? })
    }
}

/// Returns true if all targets are modelled; a mix is an error.
fn check_clocks(opened: &[Opened]) -> Result<bool, CliError> {
    let named = |is_modelled: bool| {
        let target =
            opened.iter().map(|opened| &opened.target).find(|target| target.is_modelled() == is_modelled);
        target.map(|target| target.spec().to_string())
    };
    match (named(true), named(false)) {
        (Some(modelled), Some(real)) => Err(CliError::usage(format!(
            "{modelled} is modelled and lives in virtual time, {real} is real, and a run has one clock: name modelled targets alone, or \
             real ones alone, for input, temporary data and output"
        ))),
        (modelled, _) => Ok(modelled.is_some()),
    }
}
