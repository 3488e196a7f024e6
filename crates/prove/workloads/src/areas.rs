//! Sizes of a workload's areas, and their locations on a device.

use nandle_io::{Device, Io};

use crate::input::RequestLayout;
use crate::{Area, InputContents, Role, Workload, WorkloadError, World};

/// Alignment of areas: a multiple of every block and request length.
pub const AREA_GRAIN_BYTES: u64 = 1 << 20;
/// Temporary space beyond two copies of the rows, for cluster headers and partly filled zones.
const TEMPORARY_SPARE_BYTES: u64 = 64 << 20;

/// Areas of a workload. They have the same location on every device, whether or not they are used
/// there, so that moving one area doesn't move the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Areas {
    /// Bytes of the input, the temporary data and the output, in the order of their location.
    lengths: [u64; 3],
}

impl Areas {
    /// Computes the areas that a workload needs.
    ///
    /// # Errors
    ///
    /// The workload is invalid.
    pub fn of(workload: &Workload) -> Result<Self, WorkloadError> {
        workload.check()?;
        let grains = |bytes: u64| bytes.div_ceil(AREA_GRAIN_BYTES).saturating_mul(AREA_GRAIN_BYTES);
        let tables = workload.operator.tables();
        let input = RequestLayout::most_bytes(workload.row_bytes, workload.rows).saturating_mul(tables);
        let output = RequestLayout::most_bytes(workload.result_row_bytes(), workload.rows);
        let rows_bytes = workload.table_bytes().saturating_mul(tables);
        // Runs that are merged before the last merge exist twice. An eighth more is for headers and
        // partly filled zones.
        let temporary = (rows_bytes.saturating_mul(2)).saturating_add(rows_bytes / 4);
        let temporary = temporary.saturating_add(TEMPORARY_SPARE_BYTES);
        Ok(Self { lengths: [grains(input), grains(temporary), grains(output)] })
    }

    /// End of the last area, in bytes.
    pub fn end_bytes(&self) -> u64 {
        self.lengths.iter().fold(0, |sum: u64, length| sum.saturating_add(*length))
    }

    /// Returns the area of `role` on a device.
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

    /// Creates a world with each part on its own device, or on shared ones.
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
