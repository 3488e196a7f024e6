use nandle_pages::PolicyKind;
use serde::{Deserialize, Serialize};

/// A policy without figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Which one.
    #[serde(with = "super::policy_name")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub policy: PolicyKind,
    /// Whether its store failed at work. Otherwise it was never begun, because it can't take the work.
    pub failed: bool,
    /// Why.
    pub reason: String,
}

impl LeftOut {
    /// It can't take the work.
    pub fn refused(policy: PolicyKind, reason: &impl ToString) -> Self {
        Self { policy, failed: false, reason: reason.to_string() }
    }

    /// Its store failed.
    pub fn failed(policy: PolicyKind, reason: &impl ToString) -> Self {
        Self { policy, failed: true, reason: reason.to_string() }
    }

    /// A sentence.
    pub fn sentence(&self) -> String {
        // An error of a store names its policy itself.
        let reason = self
            .reason
            .strip_prefix(self.policy.name())
            .map_or(self.reason.as_str(), |rest| rest.trim_start_matches([',', ':', ' ']));
        let what = if self.failed { "failed and has no figures" } else { "is left out" };
        format!("{} {what}: {reason}.", self.policy)
    }
}
