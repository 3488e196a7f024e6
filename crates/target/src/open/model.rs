//! A modelled drive: nobody's data is on it, so nothing has to be checked but its parameters.

use nandle_io::Nanos;
use nandle_io::units::{format_bytes, format_duration};
use nandle_model::library::{Model, ModelFacts};

use crate::spec::ModelName;
use crate::target::{Backing, Leaf, ModelledLeaf, TargetKind};
use crate::{IoChoice, OpenOptions, Problem};

/// Loads a model.
pub(super) fn open(name: &ModelName, options: &OpenOptions) -> Result<Leaf, Problem> {
    refuse_what_it_lacks(options)?;
    let model = match name {
        ModelName::Library(name) => Model::named(name),
        ModelName::File(path) => Model::from_path(path),
    };
    let model = model.map_err(Problem::model)?;
    let facts = model.facts().map_err(Problem::model)?;
    let shape = model.device().map_err(Problem::model)?.shape;
    Ok(Leaf {
        path: model.name().into(),
        kind: TargetKind::Model,
        needs_fill: false,
        remarks: remarks(&model, &facts, options.model_request_cpu()),
        backing: Backing::Model(Box::new(ModelledLeaf { model, facts, shape })),
        kept: None,
        guard: None,
    })
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
        "{name} is a modelled drive: times and budgets are virtual, a request costs the host {} of processor time, and \
         no contents are kept, so reads are not checked.",
        format_duration(request_cpu)
    )];
    remarks.extend(facts.scaled_from_bytes.map(|real_bytes| {
        format!(
            "It stands for a drive of {} and is modelled with {}: the same chips and channels with fewer erase blocks.",
            format_bytes(real_bytes),
            format_bytes(facts.capacity_bytes)
        )
    }));
    remarks.push(format!("Each probe, and each cell of a sweep, has {name} anew. {}", facts.first_state));
    remarks
}
