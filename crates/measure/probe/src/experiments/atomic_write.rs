//! *Which writes are never torn?*
//!
//! Only many power cuts could answer this by measurement, so the kernel's own statement is
//! recorded. `statx` reports atomic write units for files and block devices that support them
//! (Linux 6.11). The experiment takes no time and writes nothing.

use nandle_io::Nanos;
use nandle_profile::experiments::AtomicWriteFindings;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct AtomicWriteUnits;

impl Experiment for AtomicWriteUnits {
    type Findings = AtomicWriteFindings;

    fn name(&self) -> &'static str {
        "atomic-write"
    }

    fn question(&self) -> &'static str {
        "Which writes are never torn?"
    }

    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String> {
        if circumstances.is_modelled {
            return Err(
                "a modelled drive tears writes at its logical blocks, and has no kernel to report atomic writes"
                    .into(),
            );
        }
        Ok(Cost { time_least: Nanos::ZERO, time_wanted: Nanos::ZERO, write_bytes_max: 0 })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<AtomicWriteFindings>> {
        &mut experiments.atomic_write
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut AtomicWriteFindings) -> Result<(), LoadError> {
        findings.stated = lab.circumstances.atomic_write;
        let logical_bytes = lab.circumstances.shape.logical_block_bytes;
        findings.source = match findings.stated {
            Some(units) => format!(
                "the kernel (statx) reports that writes of {} to {} bytes, aligned to their size, are not torn",
                units.unit_bytes_min, units.unit_bytes_max
            ),
            None => format!(
                "the kernel (statx) reports no atomic writes here: assume that only a logical block of \
                 {logical_bytes} bytes is never torn"
            ),
        };
        Ok(())
    }
}
