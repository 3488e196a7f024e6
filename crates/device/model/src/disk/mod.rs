//! The magnetic disk's timing: a command's way through queue, controller, cache, arm, platter and interface.
//!
//! A request arrives and waits for a command slot (`queue`); the controller spends a command overhead
//! (`parameters`) and looks into the segmented `cache`. A hit goes to the host over the interface. A miss waits
//! for the arm, is chosen by the scheduling policy, and pays seek (`seek`), rotation and transfer (`mechanics`)
//! where the `geometry` puts its sectors; the interface transfers while the head still reads. What follows a read
//! is read ahead until a request needs the arm. A write goes to the cache; its segment then competes for the arm like
//! a read.
//!
//! The parameters are those that extraction tools and data sheets give (Worthington, Ganger, Patt and Wilkes,
//! *On-line extraction of SCSI disk drive parameters*, SIGMETRICS 1995; Ruemmler and Wilkes, *An introduction to
//! disk drive modeling*, IEEE Computer, March 1994). Deliberately left out: thermal recalibration, error recovery,
//! bus arbitration, and the exact phase between zones.

mod activity;
mod cache;
mod device;
mod error;
mod geometry;
mod host_side;
mod mechanics;
mod parameters;
mod queue;
mod seek;
mod units;
mod validation;

pub use device::MagneticDisk;
pub use error::DiskError;
pub use parameters::{
    CacheParameters, DiskParameters, GeometryParameters, HitParameters, InterfaceParameters,
    OverheadParameters, QueueParameters, ReadAhead, SchedulingPolicy, SeekCurve, SeekParameters,
    ZoneParameters,
};
