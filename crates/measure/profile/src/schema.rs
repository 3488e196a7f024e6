use serde_json::Value;

use crate::{DeviceProfile, PROFILE_SCHEMA_VERSION};

/// What the schema is called.
const SCHEMA_TITLE: &str = "The profile of a storage device, as nandle writes it";

/// The JSON Schema (draft 2020-12) of the profile that this version writes. Reading takes more than that: older versions'
/// profiles lack what they didn't measure.
///
/// # Errors
/// The schema can't be written as JSON, which would be a fault of its generator.
pub fn profile_schema() -> Result<Value, serde_json::Error> {
    let generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = serde_json::to_value(generator.into_root_schema_for::<DeviceProfile>())?;
    if let Some(entries) = schema.as_object_mut() {
        entries.insert("title".into(), SCHEMA_TITLE.into());
    }
    // The types know any number here; a file of this schema has one.
    if let Some(version) = schema.pointer_mut("/properties/schema_version").and_then(Value::as_object_mut) {
        version.insert("const".into(), PROFILE_SCHEMA_VERSION.into());
    }
    Ok(schema)
}
