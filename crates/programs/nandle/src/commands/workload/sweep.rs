//! `--sweep WHAT=FROM..TO`.

use std::str::FromStr;

use nandle_units::{format_bytes_exact, parse_bytes};
use nandle_workloads::{Workload, cluster_sizes};

use crate::error::CliError;

/// Swept parameter and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sweep {
    what: Swept,
    sizes: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Swept {
    Cluster,
    Memory,
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (what, range) = text.split_once('=').ok_or("expected cluster=FROM..TO or memory=FROM..TO")?;
        let what = match what {
            "cluster" => Swept::Cluster,
            "memory" => Swept::Memory,
            other => return Err(format!("{other:?} can't be swept; expected cluster or memory")),
        };
        let (from, to) = range.split_once("..").ok_or("expected two sizes with .. between them")?;
        let (from, to) = (power_of_two(from)?, power_of_two(to)?);
        if from > to {
            return Err("the first size is greater than the second".to_owned());
        }
        Ok(Self { what, sizes: cluster_sizes(from, to) })
    }
}

fn power_of_two(text: &str) -> Result<usize, String> {
    const LEAST: u64 = 512;
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    if !bytes.is_power_of_two() || bytes < LEAST {
        let given = format_bytes_exact(bytes);
        return Err(format!("{given} is no power of two from 512 bytes on"));
    }
    usize::try_from(bytes).map_err(|_| format!("{text} is beyond all memory"))
}

/// A workload for each combination.
pub(super) fn workloads(one: Workload, sweeps: &[Sweep]) -> Result<Vec<Workload>, CliError> {
    let mut all = vec![one];
    for (number, sweep) in sweeps.iter().enumerate() {
        if sweeps.iter().take(number).any(|other| other.what == sweep.what) {
            return Err(CliError::usage("--sweep: each of cluster and memory is swept once"));
        }
        if sweep.what == Swept::Cluster && one.cluster_bytes.is_some() {
            return Err(CliError::usage("--sweep cluster= says what --cluster says; leave one of them out"));
        }
        let each = |workload: Workload| {
            sweep.sizes.iter().map(move |bytes| match sweep.what {
                Swept::Cluster => Workload { cluster_bytes: Some(*bytes), ..workload },
                Swept::Memory => Workload { memory_bytes: *bytes, ..workload },
            })
        };
        all = all.into_iter().flat_map(each).collect();
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use nandle_workloads::Operator;

    use super::*;

    #[test]
    fn a_sweep_is_powers_of_two() {
        let sweep: Sweep = "cluster=2KiB..16KiB".parse().unwrap();
        assert_eq!(sweep.sizes, [2048, 4096, 8192, 16_384]);
        for wrong in [
            "",
            "cluster",
            "cluster=",
            "cluster=4KiB",
            "cluster=8KiB..4KiB",
            "rows=1..2",
            "memory=3MiB..8MiB",
            "cluster=1..2",
        ] {
            assert!(wrong.parse::<Sweep>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sweeps_are_combined() {
        let sweeps: Vec<Sweep> =
            ["memory=2MiB..4MiB", "cluster=4KiB..16KiB"].iter().map(|text| text.parse().unwrap()).collect();
        let one = Workload::of_the_study(Operator::Sort);
        let all = workloads(one, &sweeps).unwrap();
        assert_eq!(all.len(), 6);
        assert_eq!((all[5].memory_bytes, all[5].cluster_bytes), (4 << 20, Some(16 << 10)));
        assert!(workloads(one, &[sweeps[0].clone(), sweeps[0].clone()]).is_err());
        assert!(workloads(Workload { cluster_bytes: Some(4096), ..one }, &sweeps).is_err());
    }
}
