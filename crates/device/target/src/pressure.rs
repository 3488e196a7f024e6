//! Load of the machine during a measurement: processor time that the hypervisor gave to other
//! machines, and time that tasks waited for devices and processors (`/proc/pressure`). A crate such
//! as `procfs` would need more files than the few in a recorded system.

use nandle_io::Nanos;

use crate::roots::{Roots, read_text};

/// Counters of the system at one time. Two samples give [`PressureShares`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PressureSample {
    /// Clock ticks of all processors in all states since the start; `None` if unknown, as below.
    pub cpu_ticks: Option<u64>,
    /// Ticks that the hypervisor gave to other machines.
    pub stolen_ticks: Option<u64>,
    /// Time during which some task waited for I/O.
    pub io_waited: Option<Nanos>,
    /// Time during which some task waited for a processor.
    pub cpu_waited: Option<Nanos>,
}

/// Load between two samples, as shares of the time; `None` if unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PressureShares {
    /// Share of processor time that the hypervisor gave to other machines.
    pub stolen_cpu: Option<f64>,
    /// Share of the time in which some task of the machine waited for I/O.
    pub io: Option<f64>,
    /// Share of the time in which some task waited for a processor.
    pub cpu: Option<f64>,
}

impl PressureSample {
    /// Reads the current counters.
    pub fn take() -> Self {
        Self::read(&Roots::default())
    }

    /// Reads the counters of a recorded system.
    pub fn read(roots: &Roots) -> Self {
        let ticks = read_text(&roots.proc.join("stat")).and_then(|text| cpu_ticks(&text));
        let waited = |name: &str| some_total(&read_text(&roots.proc.join("pressure").join(name))?);
        Self {
            cpu_ticks: ticks.map(|(all, _)| all),
            stolen_ticks: ticks.map(|(_, stolen)| stolen),
            io_waited: waited("io"),
            cpu_waited: waited("cpu"),
        }
    }

    /// Load since `earlier`, which was taken `elapsed` before.
    pub fn since(&self, earlier: &Self, elapsed: Nanos) -> PressureShares {
        let waited =
            |now: Option<Nanos>, before: Option<Nanos>| Some(share(now?.since(before?).0, elapsed.0));
        let passed = |now: Option<u64>, before: Option<u64>| now?.checked_sub(before?);
        let ticks = passed(self.cpu_ticks, earlier.cpu_ticks).filter(|ticks| *ticks > 0);
        let stolen = passed(self.stolen_ticks, earlier.stolen_ticks);
        PressureShares {
            stolen_cpu: ticks.zip(stolen).map(|(ticks, stolen)| share(stolen, ticks)),
            io: waited(self.io_waited, earlier.io_waited),
            cpu: waited(self.cpu_waited, earlier.cpu_waited),
        }
    }
}

/// Share of `part` in `whole`, at most 1. Counters and clock are read at slightly different times.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
}

/// All ticks and the stolen ones, from the line `cpu user nice system idle iowait irq softirq steal
/// guest …`. The time of guests is already in `user` and `nice`.
fn cpu_ticks(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|tick| tick.parse().ok()).collect();
    Some((ticks.iter().sum(), *ticks.get(7)?))
}

/// Value of `total=` in the line `some avg10=… total=MICROSECONDS`.
fn some_total(pressure: &str) -> Option<Nanos> {
    let line = pressure.lines().find(|line| line.starts_with("some "))?;
    line.split("total=").nth(1)?.trim().parse().ok().map(Nanos::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_differences_by_time() {
        let at = |ticks: (u64, u64), waited_ms| PressureSample {
            cpu_ticks: Some(ticks.0),
            stolen_ticks: Some(ticks.1),
            io_waited: Some(Nanos::from_millis(waited_ms)),
            cpu_waited: None,
        };
        let shares = at((1200, 15), 350).since(&at((1000, 5), 100), Nanos::from_secs(1));
        assert_eq!(shares, PressureShares { stolen_cpu: Some(0.05), io: Some(0.25), cpu: None });
    }

    #[test]
    fn counters_are_parsed() {
        let stat = "cpu  100 10 50 800 20 0 10 5 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(cpu_ticks(stat), Some((995, 5)));
        let pressure = "some avg10=0.98 avg60=0.27 avg300=0.26 total=1234\nfull avg10=0.98 total=99\n";
        assert_eq!(some_total(pressure), Some(Nanos::from_micros(1234)));
    }

    #[test]
    fn an_old_kernel_reports_no_pressure() {
        assert_eq!(cpu_ticks("cpu  100 10 50 800\n"), None);
        let nothing = PressureSample::read(&Roots::recorded(std::path::Path::new("/nonexistent")));
        assert_eq!(nothing, PressureSample::default());
        assert_eq!(nothing.since(&nothing, Nanos::from_secs(1)), PressureShares::default());
    }

    #[test]
    fn the_running_system_has_counters() {
        let sample = PressureSample::take();
        assert!(sample.cpu_ticks.is_some_and(|ticks| ticks > 0), "{sample:?}");
    }
}
