use serde_json::Value;

use crate::{DeviceProfile, PROFILE_SCHEMA_VERSION};

/// Title of the schema.
const SCHEMA_TITLE: &str = "The profile of a storage device, as nandle writes it";

/// JSON Schema (draft 2020-12) of the profiles that this version writes. Readers accept more: older
/// profiles lack some measurements.
///
/// # Errors
/// The schema can't be converted to JSON, which would be a bug in its generator.
pub fn profile_schema() -> Result<Value, serde_json::Error> {
    let generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = serde_json::to_value(generator.into_root_schema_for::<DeviceProfile>())?;
    if let Some(entries) = schema.as_object_mut() {
        entries.insert("title".into(), SCHEMA_TITLE.into());
    }
    // The type allows any version number; files of this schema have exactly one.
    if let Some(version) = schema.pointer_mut("/properties/schema_version").and_then(Value::as_object_mut) {
        version.insert("const".into(), PROFILE_SCHEMA_VERSION.into());
    }
    Ok(schema)
}
