use serde_json::Value;

use super::{REPLAY_SCHEMA_VERSION, ReplayFile};

/// What the schema is called.
const SCHEMA_TITLE: &str = "The result of a replay, as nandle writes it";

/// The JSON Schema (draft 2020-12) of the file that this version writes.
///
/// # Errors
/// The schema can't be written as JSON, which would be a fault of its generator.
pub fn replay_schema() -> Result<Value, serde_json::Error> {
    let generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = serde_json::to_value(generator.into_root_schema_for::<ReplayFile>())?;
    if let Some(entries) = schema.as_object_mut() {
        entries.insert("title".into(), SCHEMA_TITLE.into());
    }
    // The types know any number here; a file of this schema has one.
    if let Some(version) = schema.pointer_mut("/properties/schema_version").and_then(Value::as_object_mut) {
        version.insert("const".into(), REPLAY_SCHEMA_VERSION.into());
    }
    Ok(schema)
}
