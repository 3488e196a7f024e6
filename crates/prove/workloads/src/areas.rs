//! How much room the parts of a workload take, and where on a device they lie.

use nandle_io::{Device, Io};

use crate::input::Requests;
use crate::{Area, InputContents, Role, Workload, WorkloadError, World};

/// Areas begin and end at multiples of it: a multiple of every block, and of what a request has.
pub const AREA_GRAIN_BYTES: u64 = 1 << 20;
/// Room for temporary data beyond two copies of the rows: what is written of them is in clusters with a header, and freed in zones.
const TEMPORARY_SPARE_BYTES: u64 = 64 << 20;

/// The areas of a workload. They lie on every device at the same places, whichever of them are used there, so that moving one moves no
/// other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Areas {
    /// Bytes of the input, of the temporary data and of the output, in the order in which they lie.
    lengths: [u64; 3],
}

impl Areas {
    /// What a workload takes.
    ///
    /// # Errors
    /// It makes no sense.
    pub fn of(workload: &Workload) -> Result<Self, WorkloadError> {
        workload.check()?;
        let grains = |bytes: u64| bytes.div_ceil(AREA_GRAIN_BYTES).saturating_mul(AREA_GRAIN_BYTES);
        let tables = workload.operator.tables();
        let input = Requests::most_bytes(workload.row_bytes, workload.rows).saturating_mul(tables);
        let output = Requests::most_bytes(workload.result_row_bytes(), workload.rows);
        let rows_bytes = workload.table_bytes().saturating_mul(tables);
        // Runs that are merged before the last merge are there twice; an eighth for headers and zones in part full.
        let temporary = (rows_bytes.saturating_mul(2)).saturating_add(rows_bytes / 4);
        let temporary = temporary.saturating_add(TEMPORARY_SPARE_BYTES);
        Ok(Self { lengths: [grains(input), grains(temporary), grains(output)] })
    }

    /// Where the last area ends.
    pub fn end_bytes(&self) -> u64 {
        self.lengths.iter().fold(0, |sum: u64, length| sum.saturating_add(*length))
    }

    /// One of them on a device.
    ///
    /// # Errors
    /// The device has no room for all of them.
    pub fn on(&self, role: Role, device: &Device) -> Result<Area, WorkloadError> {
        let (needed_bytes, capacity_bytes) = (self.end_bytes(), device.shape.capacity_bytes);
        if needed_bytes > capacity_bytes {
            return Err(WorkloadError::TooSmall { needed_bytes, capacity_bytes });
        }
        let mut start_bytes = 0;
        for (other, length_bytes) in Role::ALL.into_iter().zip(self.lengths) {
            if other == role {
                return Ok(Area { device: device.id, start_bytes, length_bytes });
            }
            start_bytes += length_bytes;
        }
        unreachable!("{role:?} is one of all roles")
    }

    /// The world with each part on a device of its own, or with others.
    ///
    /// # Errors
    /// A device has no room.
    pub fn in_world(
        &self,
        io: Box<dyn Io>,
        input: Option<&Device>,
        temporary: &Device,
        output: Option<&Device>,
        contents: InputContents,
    ) -> Result<World, WorkloadError> {
        let on = |role, device: Option<&Device>| device.map(|device| self.on(role, device)).transpose();
        let (input, output) = (on(Role::Input, input)?, on(Role::Output, output)?);
        Ok(World { io, input, temporary: self.on(Role::Temporary, temporary)?, output, contents })
    }
}
