//! Timing of a magnetic disk: queue, controller, cache, arm, platter and interface.
//!
//! A request arrives and waits for a command slot (`queue`). The controller spends a command
//! overhead (`parameters`) and looks into the segmented `cache`. A hit goes to the host over the
//! interface. A miss waits until the scheduling policy gives it the arm, and takes seek (`seek`),
//! rotation and transfer (`mechanics`) at the position of its sectors (`geometry`). The interface
//! transfers while the head still reads. After a read, the drive reads ahead until a request needs
//! the arm. A write goes to the cache; its segment then competes for the arm like a read.
//!
//! The parameters are those of extraction tools and data sheets (Worthington, Ganger, Patt and
//! Wilkes, *On-line extraction of SCSI disk drive parameters*, SIGMETRICS 1995; Ruemmler and
//! Wilkes, *An introduction to disk drive modeling*, IEEE Computer, March 1994). Deliberately left
//! out: thermal recalibration, error recovery, bus arbitration, and the exact phase between zones.

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
