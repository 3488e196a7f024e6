//! Serialises a policy by its name on the command line.

use nandle_pages::PolicyKind;
use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
pub(crate) fn serialize<S: Serializer>(policy: &PolicyKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(policy.name())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PolicyKind, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}
