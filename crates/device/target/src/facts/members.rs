//! Merged facts of several devices: common values are kept, differing ones are left out and named.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Facts that are kept or left out as a whole.
const WHOLE: [&str; 2] = ["file_system", "atomic_write"];

/// Common facts of the members, and the names of differing ones.
pub(super) fn common<Facts: Serialize + DeserializeOwned + Default>(
    members: impl IntoIterator<Item = Facts>,
) -> (Facts, Vec<String>) {
    let mut differing = Vec::new();
    let values = members.into_iter().filter_map(|facts| serde_json::to_value(facts).ok());
    let merged = values.reduce(|one, other| merge("", one, other, &mut differing));
    let facts = merged.and_then(|merged| serde_json::from_value(merged).ok()).unwrap_or_default();
    differing.sort();
    differing.dedup();
    (facts, differing)
}

fn merge(name: &str, one: Value, other: Value, differing: &mut Vec<String>) -> Value {
    match (one, other) {
        (one, other) if one == other => one,
        (Value::Object(one), Value::Object(mut other)) if !WHOLE.contains(&name) => {
            let merged = one.into_iter().map(|(key, value)| {
                let others = other.remove(&key).unwrap_or(Value::Null);
                let value = merge(&key, value, others, differing);
                (key, value)
            });
            Value::Object(merged.collect())
        }
        (one, _) => {
            differing.push(name.into());
            if one.is_array() { Value::Array(Vec::new()) } else { Value::Null }
        }
    }
}

#[cfg(test)]
mod tests {
    use nandle_profile::{BlockQueue, FileSystem, Identity, SystemFacts};

    use super::*;

    fn member(scheduler: &str, kind: &str) -> SystemFacts {
        let queue = BlockQueue {
            scheduler: Some(scheduler.into()),
            schedulers_available: vec![scheduler.into()],
            rotational: Some(false),
            ..BlockQueue::default()
        };
        let file_system = FileSystem { kind: kind.into(), ..FileSystem::default() };
        SystemFacts { queue: Some(queue), file_system: Some(file_system), ..SystemFacts::default() }
    }

    #[test]
    fn equal_members_have_the_facts_of_one() {
        let (facts, differing) = common([member("none", "xfs"), member("none", "xfs")]);
        assert_eq!((facts, differing), (member("none", "xfs"), Vec::new()));
    }

    #[test]
    fn differing_facts_of_members_are_left_out_and_named() {
        let members = [member("none", "xfs"), member("none", "xfs"), member("kyber", "ext4")];
        let (facts, differing) = common(members);
        assert_eq!(differing, ["file_system", "scheduler", "schedulers_available"]);
        let queue = facts.queue.unwrap();
        assert_eq!((queue.rotational, queue.scheduler), (Some(false), None));
        assert_eq!(facts.file_system, None);
    }

    #[test]
    fn a_member_without_queue_facts_omits_them_for_all() {
        let (facts, differing) = common([member("none", "xfs"), SystemFacts::default()]);
        assert_eq!((facts.queue, differing), (None, vec!["file_system".into(), "queue".into()]));
    }

    #[test]
    fn common_identity_excludes_serial_numbers() {
        let drive = |serial: &str| Identity {
            model: Some("X25-M".into()),
            serial: Some(serial.into()),
            ..Identity::default()
        };
        let (identity, differing) = common([drive("1"), drive("2")]);
        assert_eq!((identity.model.as_deref(), identity.serial), (Some("X25-M"), None));
        assert_eq!(differing, ["serial"]);
    }
}
