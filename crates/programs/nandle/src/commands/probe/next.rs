//! The command that measures what the write limit left out.

use nandle_profile::DeviceProfile;
use nandle_session::ProbePlan;
use nandle_terminal::words::{quoted, quoted_os};
use nandle_units::{format_bytes, format_duration};

use super::ProbeArgs;

/// So many times as much may be written the next time.
const GROWTH: u64 = 4;
const GIB: u64 = 1 << 30;

/// In a sentence; `None` where the write limit ended nothing.
pub(super) fn sentence(args: &ProbeArgs, plan: &ProbePlan, profile: &DeviceProfile) -> Option<String> {
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
        command(args, limit)
    ))
}

fn command(args: &ProbeArgs, limit: u64) -> String {
    let larger = limit.saturating_mul(GROWTH).div_ceil(GIB);
    let command = format!(
        "nandle probe {} --budget {} --write-limit {larger}GiB --resume",
        quoted(&args.target.target.to_string()),
        format_duration(args.budget)
    );
    if args.profile_is_named() {
        format!("{command} --profile {}", quoted_os(args.profile().as_os_str()))
    } else {
        command
    }
}
