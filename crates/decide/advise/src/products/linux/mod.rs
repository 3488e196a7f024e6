//! Linux: a shell script with settings for the block device's queue
//! (`Documentation/ABI/stable/sysfs-block` of the kernel), writeback
//! (`Documentation/admin-guide/sysctl/vm.rst`) and the cost model of the I/O controller
//! (`Documentation/admin-guide/cgroup-v2.rst`, "IO Interface Files"). Every string of the profile
//! is checked before it enters the script.

mod cost;
mod queue;
mod script;
mod space;
mod writeback;

pub(in crate::products) use script::{closing, line};

use crate::figures::Figures;
use crate::settings::Collector;

pub(super) fn collect(figures: &Figures<'_>, collector: &mut Collector) {
    collector.part(script::opening(figures));
    queue::collect(figures, collector);
    space::collect(figures, collector);
    writeback::collect(figures, collector);
    cost::collect(figures, collector);
}
