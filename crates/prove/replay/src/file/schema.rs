use serde_json::Value;

use super::{REPLAY_SCHEMA_VERSION, ReplayFile};

/// Title of the schema.
const SCHEMA_TITLE: &str = "The result of a replay, as nandle writes it";

/// JSON Schema (draft 2020-12) of the file that this version writes.
///
/// # Errors
///
/// The schema can't be serialised, which is a defect of its generator.
pub fn replay_schema() -> Result<Value, serde_json::Error> {
    let generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = serde_json::to_value(generator.into_root_schema_for::<ReplayFile>())?;
    if let Some(entries) = schema.as_object_mut() {
        entries.insert("title".into(), SCHEMA_TITLE.into());
    }
    // The type allows any version number; files of this schema have just one.
    if let Some(version) = schema.pointer_mut("/properties/schema_version").and_then(Value::as_object_mut) {
        version.insert("const".into(), REPLAY_SCHEMA_VERSION.into());
    }
    Ok(schema)
}
