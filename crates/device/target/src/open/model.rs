//! Modelled drive as a target. It has no foreign data, so only its parameters are checked.

use std::path::Path;

use nandle_io::Nanos;
use nandle_model::library::{FirstState, Model, ModelError, ModelFacts, limits};
use nandle_model::media::FaultFile;
use nandle_units::{format_bytes, format_duration};

use super::ModelContents;
use crate::spec::{ModelName, ModelSpec, StateSpec};
use crate::target::{Backing, Leaf, MediaSettings, ModelledLeaf, TargetKind};
use crate::{IoChoice, OpenOptions, Problem};

pub(super) fn open(spec: &ModelSpec, options: &OpenOptions) -> Result<Leaf, Problem> {
    refuse_what_it_lacks(options)?;
    let model = load(spec).map_err(Problem::model)?;
    let faults = spec.faults.as_deref().map(read_faults).transpose()?;
    let facts = model.facts().map_err(Problem::model)?;
    let shape = model.device().map_err(Problem::model)?.shape;
    let mut remarks = remarks(&model, &facts, options.model_request_cpu());
    let media = (options.model_contents == ModelContents::Kept || faults.is_some())
        .then_some(MediaSettings { faults });
    remarks.push(contents_remark(spec, media.is_some()));
    Ok(Leaf {
        path: model.name().into(),
        kind: TargetKind::Model,
        needs_fill: false,
        remarks,
        backing: Backing::Model(Box::new(ModelledLeaf { model, media, facts, shape })),
        kept: None,
        guard: None,
        lock: None,
        _scratch: None,
    })
}

fn load(spec: &ModelSpec) -> Result<Model, ModelError> {
    let model = match &spec.name {
        ModelName::Library(name) => Model::named(name),
        ModelName::File(path) => Model::from_path(path),
    }?;
    let model = match spec.capacity_bytes {
        Some(bytes) => model.with_capacity_bytes(bytes)?,
        None => model,
    };
    match &spec.state {
        StateSpec::Filled(percent) => model.starting(FirstState::Filled { percent: *percent }),
        StateSpec::File(path) => model.starting_from_file(path),
    }
}

fn read_faults(path: &Path) -> Result<FaultFile, Problem> {
    let problem = |what: String| Problem::Faults { path: path.into(), what };
    let text = limits::read_text(path, limits::TOML_BYTES_MAX).map_err(|error| problem(error.to_string()))?;
    FaultFile::from_toml(&text).map_err(|error| problem(error.to_string()))
}

fn refuse_what_it_lacks(options: &OpenOptions) -> Result<(), Problem> {
    if options.io != IoChoice::Auto {
        return Err(Problem::NotForModels { lacks: "a world of its own", option: "--io" });
    }
    if !options.direct {
        return Err(Problem::NotForModels { lacks: "no page cache above it", option: "--buffered" });
    }
    Ok(())
}

fn remarks(model: &Model, facts: &ModelFacts, request_cpu: Nanos) -> Vec<String> {
    let name = model.name();
    let mut remarks = vec![format!(
        "{name} is a model: time is virtual, and a request takes {} of the host's processor.",
        format_duration(request_cpu)
    )];
    remarks.extend(facts.scaled_from_bytes.map(|real_bytes| {
        format!(
            "It stands for {}, modelled with {}: as many chips and channels, fewer erase blocks.",
            format_bytes(real_bytes),
            format_bytes(facts.capacity_bytes)
        )
    }));
    remarks.push(format!(
        "Each probe, and each cell of a sweep, starts with a new {name}. {}",
        facts.first_state
    ));
    remarks
}

fn contents_remark(spec: &ModelSpec, kept: bool) -> String {
    match (&spec.faults, kept) {
        (Some(path), _) => format!(
            "Faults are injected from {}. It stores written data; reads are not checked.",
            path.display()
        ),
        (None, true) => "It stores written data in memory.".into(),
        (None, false) => "It stores no data, so reads are not checked.".into(),
    }
}
