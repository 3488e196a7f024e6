//! Valid names in a profile. Programs use them in paths and scripts, so only names that the kernel
//! could give are accepted.

use serde_json::Value;

use crate::figures::InvalidFigure;

/// Longest name of a block device (`DISK_NAME_LEN` of the kernel, less the terminating zero).
const KERNEL_NAME_BYTES_MAX: usize = 31;
/// Longest name of a scheduler (`ELV_NAME_MAX` of the kernel, less the terminating zero).
const SCHEDULER_NAME_BYTES_MAX: usize = 15;

/// Returns true if `name` is a valid kernel name of a block device: `sda`, `nvme0n1`, `dm-3`,
/// `cciss!c0d0`.
pub fn is_kernel_name(name: &str) -> bool {
    let letters = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.!:+".contains(&letter);
    let is_folder = matches!(name, "." | "..");
    (1..=KERNEL_NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(letters) && !is_folder
}

/// Returns true if `name` is a valid kernel name of an I/O scheduler: `none`, `mq-deadline`.
fn is_scheduler_name(name: &str) -> bool {
    let letters = |letter: u8| letter.is_ascii_alphanumeric() || b"-_".contains(&letter);
    (1..=SCHEDULER_NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(letters)
}

/// JSON pointer of a name, its validity check, and a description of valid names.
type Place = (&'static str, fn(&str) -> bool, &'static str);

const PLACES: [Place; 3] = [
    ("/identity/kernel_name", is_kernel_name, "names that the kernel gives to block devices"),
    ("/system/queue/scheduler", is_scheduler_name, "names that the kernel gives to schedulers"),
    ("/system/queue/schedulers_available", is_scheduler_name, "names that the kernel gives to schedulers"),
];

/// Returns an error for the first invalid name of a profile.
pub(crate) fn check(profile: &Value) -> Result<(), InvalidFigure> {
    for (place, is_name, allowed) in PLACES {
        let value = profile.pointer(place);
        let names = value
            .into_iter()
            .flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
        let wrong = names.filter_map(Value::as_str).find(|name| !is_name(name));
        if let Some(name) = wrong {
            let field = place.trim_start_matches('/').replace('/', ".");
            return Err(InvalidFigure { field, got: format!("{name:?}"), allowed });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kernel_names_are_recognised() {
        for name in ["sda", "nvme0n1", "dm-3", "md127", "cciss!c0d0", "mmcblk0p1", "md_d0", "loop7"] {
            assert!(is_kernel_name(name), "{name}");
        }
        for name in ["", "vda; touch PWNED #", "../../etc", "..", "sd a", "$(id)", "sda\n", &"x".repeat(32)] {
            assert!(!is_kernel_name(name), "{name}");
        }
    }

    #[test]
    fn an_invalid_name_is_reported_with_its_path() {
        let profile = json!({ "identity": { "kernel_name": "vda; touch PWNED #" } });
        let found = check(&profile).unwrap_err();
        assert_eq!(
            (found.field.as_str(), found.got.as_str()),
            ("identity.kernel_name", "\"vda; touch PWNED #\"")
        );
        let listed = json!({ "system": { "queue": { "schedulers_available": ["none", "a b"] } } });
        assert_eq!(check(&listed).unwrap_err().field, "system.queue.schedulers_available");
        let harmless = json!({
            "identity": { "kernel_name": null },
            "system": { "queue": { "scheduler": "none", "schedulers_available": ["none", "mq-deadline"] } },
        });
        assert_eq!(check(&harmless), Ok(()));
        assert_eq!(check(&json!({})), Ok(()));
    }
}
