use serde::{Deserialize, Serialize};

use crate::Conditions;

/// Load on the disk by other processes than the probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OthersLoad {
    /// Kernel name of the disk.
    pub disk: String,
    /// Duration of the observation.
    pub elapsed_ns: u64,
    /// Requests per second that the disk completed. `null` during the probe, since the kernel
    /// doesn't separate the probe's requests.
    pub requests_per_s: Option<f64>,
    /// Bytes per second read from the disk.
    pub read_bytes_per_s: f64,
    /// Bytes per second written to the disk.
    pub written_bytes_per_s: f64,
}

/// Rate from which the disk counts as used by others, instead of by an idle system that
/// occasionally writes a log …
const REQUESTS_PER_S_MIN: f64 = 20.0;
/// … or bandwidth from which it does.
const BYTES_PER_S_MIN: f64 = 1e6;

impl OthersLoad {
    /// Returns true if the load is high enough to affect the figures.
    pub fn disturbs(&self) -> bool {
        self.requests_per_s.is_some_and(|rate| rate >= REQUESTS_PER_S_MIN)
            || self.read_bytes_per_s + self.written_bytes_per_s >= BYTES_PER_S_MIN
    }

    /// Formats the load: `120 requests a second, 3.1 MB/s read and 0.4 MB/s written`.
    fn amount(&self) -> String {
        let megabytes = |rate: f64| format!("{:.1} MB/s", rate / 1e6);
        let bytes = format!(
            "{} read and {} written",
            megabytes(self.read_bytes_per_s),
            megabytes(self.written_bytes_per_s)
        );
        self.requests_per_s
            .map_or_else(|| bytes.clone(), |rate| format!("{rate:.0} requests a second, {bytes}"))
    }

    /// Warning about a load before the measurement, without a full stop; `None` if the load is low.
    pub fn seen_before(&self) -> Option<String> {
        self.disturbs().then(|| {
            format!(
                "{} is in use by others ({}): the figures are those of a shared disk, and the probe slows the others down",
                self.disk,
                self.amount()
            )
        })
    }
}

impl Conditions {
    /// Warning that others used the disk, in sentences; `None` if there is no sign of it.
    pub fn disturbed_by_others(&self) -> Option<String> {
        let told = |when: &str, load: Option<&OthersLoad>| {
            let load = load.filter(|load| load.disturbs())?;
            Some((load.disk.clone(), format!("{when} {}", load.amount())))
        };
        let before = told("before the probe", self.others_before.as_ref());
        let meanwhile = told("during it", self.others_meanwhile.as_ref());
        let disk = before.as_ref().or(meanwhile.as_ref())?.0.clone();
        let amounts: Vec<String> =
            [before, meanwhile].into_iter().flatten().map(|(_, amount)| amount).collect();
        Some(format!(
            "Others used {disk}: {}. The figures are those of a shared disk, not of its full performance: probe again when it is idle, or use \
             them as the performance that is left for a database.",
            amounts.join("; ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(requests_per_s: Option<f64>, written: f64) -> OthersLoad {
        OthersLoad {
            disk: "vda".into(),
            elapsed_ns: 1_000_000_000,
            requests_per_s,
            read_bytes_per_s: 0.0,
            written_bytes_per_s: written,
        }
    }

    #[test]
    fn a_quiet_disk_has_no_warning() {
        let quiet = Conditions {
            others_before: Some(load(Some(3.0), 40e3)),
            others_meanwhile: Some(load(None, 80e3)),
            ..Conditions::default()
        };
        assert_eq!(quiet.disturbed_by_others(), None);
        assert_eq!(Conditions::default().disturbed_by_others(), None, "a model's");
    }

    #[test]
    fn the_load_of_others_is_reported_with_its_time() {
        let busy = Conditions {
            others_before: Some(load(Some(320.4), 2.4e6)),
            others_meanwhile: Some(load(None, 2.6e6)),
            ..Conditions::default()
        };
        let told = busy.disturbed_by_others().unwrap();
        assert!(
            told.contains("before the probe 320 requests a second, 0.0 MB/s read and 2.4 MB/s written"),
            "{told}"
        );
        assert!(told.contains("; during it 0.0 MB/s read and 2.6 MB/s written"), "{told}");
    }
}
