use nandle_profile::Conducted;

use crate::device::Device;
use crate::sections::Missing;
use crate::text;

/// Returns the name of an experiment without a result.
pub(super) fn absent<T>(name: &'static str, conducted: Option<&Conducted<T>>) -> Option<&'static str> {
    conducted.is_none().then_some(name)
}

/// Experiments without a result on a device, with the reasons.
pub(super) fn missing<const N: usize>(device: &Device, absent: [Option<&'static str>; N]) -> Vec<Missing> {
    let why = |name: &str| {
        let skipped = device.profile.experiments.skipped.iter().find(|skipped| skipped.name == name);
        skipped.map_or_else(
            || {
                "not in this profile; a probe with a larger --budget on a writable target measures \
                it."
                .to_owned()
            },
            |skipped| format!("{}.", text::clean(&skipped.reason).trim_end_matches('.')),
        )
    };
    absent.into_iter().flatten().map(|name| Missing { what: name.to_owned(), why: why(name) }).collect()
}
