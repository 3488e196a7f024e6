//! `nandle models`.

mod age;
mod args;
mod wear;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use nandle_model::library::{Model, ModelFacts, Parameters, names};
use nandle_terminal::args::Common;
use nandle_terminal::output;
use nandle_units::format_bytes;
use serde_json::{Value, json};

pub(crate) use args::ModelsArgs;

use self::args::ModelsCommand;
use crate::error::CliError;

/// Width of a table, for any terminal.
const WIDTH: u16 = 80;

pub(crate) fn run(args: &ModelsArgs, common: Common) -> Result<(), CliError> {
    match args.command.as_ref().unwrap_or(&ModelsCommand::List) {
        ModelsCommand::List => list(common),
        ModelsCommand::Show { name } => show(&load(name)?, common),
        ModelsCommand::Export { name } => export(&load(name)?, common),
        ModelsCommand::Age(args) => age::run(args, common),
    }
}

/// Loads a model by its name or by its target, `model:NAME`.
fn load(name: &str) -> Result<Model, CliError> {
    Ok(Model::load(name.strip_prefix("model:").unwrap_or(name))?)
}

fn list(common: Common) -> Result<(), CliError> {
    let models = names().map(Model::named).collect::<Result<Vec<_>, _>>()?;
    let facts = models.iter().map(Model::facts).collect::<Result<Vec<_>, _>>()?;
    if common.json {
        let models: Vec<Value> =
            models.iter().zip(&facts).map(|(model, facts)| described(model, facts)).collect();
        return Ok(output::json(&json!({ "schema_version": 1, "models": models }))?);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["name", "kind", "capacity", "what it is"]);
    for (model, facts) in models.iter().zip(&facts) {
        table.add_row([
            model.name(),
            model.kind().name(),
            &format_bytes(facts.capacity_bytes),
            model.description(),
        ]);
    }
    if let Some(column) = table.column_mut(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    Ok(output::result(&format!("{table}\n"))?)
}

fn show(model: &Model, common: Common) -> Result<(), CliError> {
    let facts = model.facts()?;
    if common.json {
        let mut described = described(model, &facts);
        if let Some(entries) = described.as_object_mut() {
            entries.insert("schema_version".into(), 1.into());
        }
        return Ok(output::json(&described)?);
    }
    let mut lines = vec![
        format!("{}: {}", model.name(), model.description()),
        format!("kind              {}", model.kind().name()),
        format!("capacity          {}", format_bytes(facts.capacity_bytes)),
    ];
    lines.extend(facts.scaled_from_bytes.map(|bytes| format!("the real drive    {}", format_bytes(bytes))));
    lines.push(format!("logical block     {}", format_bytes(facts.logical_block_bytes)));
    lines.extend(facts.split_bytes.map(|bytes| format!("requests split at {}", format_bytes(bytes))));
    lines.extend(member_names(model).map(|names| format!("drives            {}", names.join(", "))));
    lines.push(format!("{}\n", facts.first_state));
    lines.push(format!("`nandle models export {}` prints every parameter with its source.\n", model.name()));
    Ok(output::result(&lines.join("\n"))?)
}

fn export(model: &Model, common: Common) -> Result<(), CliError> {
    if common.json {
        return Ok(output::json(
            &json!({ "schema_version": 1, "name": model.name(), "toml": model.toml() }),
        )?);
    }
    Ok(output::result(model.toml())?)
}

fn described(model: &Model, facts: &ModelFacts) -> Value {
    json!({
        "name": model.name(), "kind": model.kind(), "description": model.description(),
        "capacity_bytes": facts.capacity_bytes, "scaled_from_bytes": facts.scaled_from_bytes,
        "logical_block_bytes": facts.logical_block_bytes, "split_bytes": facts.split_bytes,
        "rotational": facts.rotational, "first_state": facts.first_state, "drives": member_names(model),
    })
}

fn member_names(model: &Model) -> Option<Vec<&str>> {
    match model.parameters() {
        Parameters::Array { members, .. } => Some(members.iter().map(Model::name).collect()),
        _ => None,
    }
}
