//! Linux: a shell script for the block device's queue (`Documentation/ABI/stable/sysfs-block` of the kernel), for writeback
//! (`Documentation/admin-guide/sysctl/vm.rst`) and for the cost model of the I/O controller
//! (`Documentation/admin-guide/cgroup-v2.rst`, "IO Interface Files"). Nothing that a profile says gets into it unchecked.

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
