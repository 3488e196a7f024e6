//! Suggests a command that measures what the write limit excluded.

use std::ffi::OsString;

use nandle_profile::DeviceProfile;
use nandle_session::ProbePlan;
use nandle_terminal::words::quoted_os;
use nandle_units::format_bytes;

/// Factor by which the write limit is raised.
const GROWTH: u64 = 4;
const GIB: u64 = 1 << 30;

/// Returns `None` if the write limit ended nothing.
pub(super) fn sentence(plan: &ProbePlan, profile: &DeviceProfile) -> Option<String> {
    let ended: Vec<&str> = nandle_probe::experiments::ended_early(&mut profile.experiments.clone())
        .into_iter()
        .filter_map(|(name, reason)| reason.contains("--write-limit").then_some(name))
        .collect();
    let limit = plan.write_limit_bytes()?;
    if ended.is_empty() || limit == 0 {
        return None;
    }
    Some(format!(
        "The write limit ({}) ended {} early. With more to write, which wears the drive, and what is complete kept: {}",
        format_bytes(limit),
        ended.join(", "),
        command(std::env::args_os().skip(1), limit)
    ))
}

/// The command line with a new write limit. It keeps the other options, so that the test file has
/// the same size and the profile the same path.
fn command(arguments: impl Iterator<Item = OsString>, limit: u64) -> String {
    let larger = limit.saturating_mul(GROWTH).div_ceil(GIB);
    let mut words = vec!["nandle".to_owned()];
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument.as_encoded_bytes() {
            b"--write-limit" => drop(arguments.next()),
            b"--resume" => {}
            limit if limit.starts_with(b"--write-limit=") => {}
            _ => words.push(quoted_os(&argument)),
        }
    }
    // Words after `--` aren't options.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(end, format!("--write-limit {larger}GiB --resume"));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_command_has_all_that_was_given_and_a_larger_limit() {
        let told = |given: &str| command(given.split(' ').map(OsString::from), 3 << 30);
        assert_eq!(
            told("probe . --budget 5m --file-size 2GiB --yes --write-limit 3GiB"),
            "nandle probe . --budget 5m --file-size 2GiB --yes --write-limit 12GiB --resume"
        );
        assert_eq!(
            told("probe --write-limit=3GiB --resume -- -x"),
            "nandle probe --write-limit 12GiB --resume -- -x"
        );
    }
}
