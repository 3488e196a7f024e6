use nandle_pages::PolicyKind;
use serde::{Deserialize, Serialize};

/// A policy without figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OmittedPolicy {
    /// Policy.
    #[serde(with = "super::policy_name")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub policy: PolicyKind,
    /// True if the store failed during the work; false if it was refused before.
    pub failed: bool,
    /// Reason.
    pub reason: String,
}

impl OmittedPolicy {
    /// Creates an entry for a policy that can't take the work.
    pub fn refused(policy: PolicyKind, reason: &impl ToString) -> Self {
        Self { policy, failed: false, reason: reason.to_string() }
    }

    /// Creates an entry for a policy whose store failed.
    pub fn failed(policy: PolicyKind, reason: &impl ToString) -> Self {
        Self { policy, failed: true, reason: reason.to_string() }
    }

    /// States the reason in a sentence.
    pub fn sentence(&self) -> String {
        // Errors of stores already name the policy.
        let reason = self
            .reason
            .strip_prefix(self.policy.name())
            .map_or(self.reason.as_str(), |rest| rest.trim_start_matches([',', ':', ' ']));
        let what = if self.failed { "failed and has no figures" } else { "is left out" };
        format!("{} {what}: {reason}.", self.policy)
    }
}
