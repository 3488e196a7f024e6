use serde::{Deserialize, Serialize};

use crate::Conditions;

/// What others than the probe asked of the disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OthersLoad {
    /// The disk's kernel name.
    pub disk: String,
    /// For how long it was watched.
    pub elapsed_ns: u64,
    /// Requests a second that it completed; `null` beside the probe's own, which the kernel doesn't count apart.
    pub requests_per_s: Option<f64>,
    /// Bytes a second that were read from it.
    pub read_bytes_per_s: f64,
    /// Bytes a second that were written to it.
    pub written_bytes_per_s: f64,
}

/// From so many requests a second on others are at work on a disk, and no longer a system that is idle and writes a log now and then …
const REQUESTS_PER_S_MIN: f64 = 20.0;
/// … or from so many bytes on.
const BYTES_PER_S_MIN: f64 = 1e6;

impl OthersLoad {
    /// Whether it is so much that it makes the figures.
    pub fn disturbs(&self) -> bool {
        self.requests_per_s.is_some_and(|rate| rate >= REQUESTS_PER_S_MIN)
            || self.read_bytes_per_s + self.written_bytes_per_s >= BYTES_PER_S_MIN
    }

    /// `120 requests a second, 3.1 MB/s read and 0.4 MB/s written`.
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

    /// What others were seen to do before anything was measured, in a sentence without its full stop; `None` where that is little.
    pub fn seen_before(&self) -> Option<String> {
        self.disturbs().then(|| {
            format!(
                "{} is in use by others ({}): the figures are what it does beside them, and the probe makes them wait",
                self.disk,
                self.amount()
            )
        })
    }
}

impl Conditions {
    /// That the disk wasn't the probe's alone, in sentences; `None` where nothing tells so.
    pub fn disturbed_by_others(&self) -> Option<String> {
        let told = |when: &str, load: Option<&OthersLoad>| {
            let load = load.filter(|load| load.disturbs())?;
            Some((load.disk.clone(), format!("{when} {}", load.amount())))
        };
        let before = told("before the probe", self.others_before.as_ref());
        let meanwhile = told("beside it", self.others_meanwhile.as_ref());
        let disk = before.as_ref().or(meanwhile.as_ref())?.0.clone();
        let amounts: Vec<String> =
            [before, meanwhile].into_iter().flatten().map(|(_, amount)| amount).collect();
        Some(format!(
            "Others used {disk}: {}. The figures are what it does beside that, not what it can do: probe again when it is quiet, or take \
             them for what this database has left.",
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
    fn a_quiet_disk_is_not_told_of() {
        let quiet = Conditions {
            others_before: Some(load(Some(3.0), 40e3)),
            others_meanwhile: Some(load(None, 80e3)),
            ..Conditions::default()
        };
        assert_eq!(quiet.disturbed_by_others(), None);
        assert_eq!(Conditions::default().disturbed_by_others(), None, "a model's");
    }

    #[test]
    fn what_others_did_is_told_with_when() {
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
        assert!(told.contains("; beside it 0.0 MB/s read and 2.6 MB/s written"), "{told}");
    }
}
