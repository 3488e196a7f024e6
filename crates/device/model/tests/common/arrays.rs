//! Arrays of modelled flash drives, filled once in order.

use nandle_model::array::{Array, ArrayParameters, Drive};
use nandle_model::flash::FlashDrive;
use nandle_model::library;

use super::driver::{Load, run};
use super::patterns::Pattern;

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };

pub(crate) fn build(parameters: &ArrayParameters) -> Array {
    build_filled(parameters, 1.0)
}

/// Array whose drives are filled in order up to `fraction`, from 0.0 to 1.0.
pub(crate) fn build_filled(parameters: &ArrayParameters, fraction: f64) -> Array {
    let drive = |name: &str| {
        let mut drive = FlashDrive::new(&library::flash(name).unwrap()).unwrap();
        drive.fill_sequentially(fraction).unwrap();
        Drive { capacity_bytes: drive.parameters().capacity_bytes, timing: Box::new(drive) }
    };
    Array::new(parameters, parameters.drive_names().map(drive).collect()).unwrap()
}

pub(crate) fn megabytes_per_s(parameters: &ArrayParameters, load: Load) -> f64 {
    let mut array = build(parameters);
    let requests = ((768 << 20) / load.block_bytes).clamp(300, 30_000);
    let area_bytes = array.capacity_bytes().min(16 << 30);
    run(&mut array, Load { requests, area_bytes, host_ns: 5_000, ..load }, 0).megabytes_per_s()
}

pub(crate) fn read(parameters: &ArrayParameters, pattern: Pattern, block_kib: u64, depth: usize) -> f64 {
    megabytes_per_s(parameters, Load { depth, ..Load::read(pattern, block_kib * KIB, 0) })
}
