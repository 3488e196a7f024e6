//! Construction of a device in its first state from parameters.

use std::sync::Arc;

use super::model::{Model, ModelFacts, Parameters};
use super::{DeviceState, FirstState, ModelError};
use crate::array::{Array, ArrayParameters, Drive};
use crate::disk::{DiskParameters, MagneticDisk};
use crate::flash::parameters::{Durability, WriteBufferParameters};
use crate::flash::{FlashDrive, FlashParameters};
use crate::media::WriteCache;
use crate::world::ModelledDevice;

/// Logical block of all flash drives, whatever their page size.
const FLASH_LOGICAL_BLOCK_BYTES: u64 = 512;

impl Model {
    /// Makes a device in the state of [`ModelFacts::first_state`]. Takes milliseconds, since a
    /// flash drive's state is computed, not written.
    ///
    /// # Errors
    /// Fails if the parameters contradict each other in a way that only construction detects.
    pub fn device(&self) -> Result<ModelledDevice, ModelError> {
        match &self.parameters {
            Parameters::Flash(parameters) => flash(&self.origin, parameters, &self.first_state),
            Parameters::Disk(parameters) => disk(&self.origin, parameters),
            Parameters::Array { parameters, members } => {
                array(&self.origin, parameters, self.begun(members)?)
            }
        }
    }

    /// Facts about the model that need no run.
    ///
    /// # Errors
    /// As for [`Model::device`].
    pub fn facts(&self) -> Result<ModelFacts, ModelError> {
        let shape = self.device()?.shape;
        Ok(ModelFacts {
            capacity_bytes: shape.capacity_bytes,
            scaled_from_bytes: self.scaled_from_bytes(),
            logical_block_bytes: shape.logical_block_bytes,
            rotational: self.is_rotational(),
            split_bytes: self.split_bytes(),
            first_state: self.first_state(),
        })
    }

    fn scaled_from_bytes(&self) -> Option<u64> {
        match &self.parameters {
            Parameters::Flash(flash) => flash.scaled_from_bytes,
            Parameters::Disk(_) | Parameters::Array { .. } => None,
        }
    }

    fn is_rotational(&self) -> bool {
        match &self.parameters {
            Parameters::Flash(_) => false,
            Parameters::Disk(_) => true,
            Parameters::Array { members, .. } => members.iter().any(Self::is_rotational),
        }
    }

    fn split_bytes(&self) -> Option<u64> {
        match &self.parameters {
            Parameters::Flash(flash) => Some(flash.host.split_bytes),
            Parameters::Disk(_) => None,
            Parameters::Array { members, .. } => members.iter().filter_map(Self::split_bytes).min(),
        }
    }

    fn first_state(&self) -> String {
        match &self.parameters {
            Parameters::Disk(_) => {
                "It begins idle, its heads at the outermost track and its cache empty.".into()
            }
            Parameters::Array { members, .. } if members.iter().all(Self::is_rotational) => {
                members.first().map_or_else(String::new, Self::first_state)
            }
            Parameters::Flash(_) | Parameters::Array { .. } => self.first_state.sentence(),
        }
    }

    /// Members of an array, each in its part of the array's first state.
    fn begun(&self, members: &[Self]) -> Result<Vec<Self>, ModelError> {
        let begun = members.iter().enumerate().map(|(index, member)| {
            let first_state = match &self.first_state {
                FirstState::Filled { .. } => self.first_state.clone(),
                FirstState::Aged(state) => {
                    let drive = state.drives().get(index).cloned().flatten();
                    FirstState::Aged(Arc::new(DeviceState::new(member.name(), vec![drive])))
                }
            };
            member.clone().starting(first_state)
        });
        begun.collect()
    }
}

fn flash(
    origin: &str,
    parameters: &FlashParameters,
    first_state: &FirstState,
) -> Result<ModelledDevice, ModelError> {
    let drive = match first_state {
        FirstState::Filled { percent } => {
            let drive = FlashDrive::new(parameters);
            let mut drive = drive.map_err(|source| ModelError::flash(origin, source))?;
            drive.fill_sequentially(f64::from(*percent) / 100.0)?;
            drive
        }
        FirstState::Aged(state) => {
            let of_drive = state.drives().first().cloned().flatten();
            let other = || ModelError::OtherState { origin: origin.into(), state_of: state.model().into() };
            FlashDrive::with_aged_state(parameters, of_drive.ok_or_else(other)?)?
        }
    };
    let mut device =
        ModelledDevice::new(Box::new(drive), parameters.capacity_bytes, FLASH_LOGICAL_BLOCK_BYTES);
    device.write_cache = flash_cache(&parameters.write_buffer);
    Ok(device)
}

/// Behaviour of the buffer at a power cut. If writes complete on the medium, nothing is lost with
/// any buffer.
fn flash_cache(buffer: &WriteBufferParameters) -> WriteCache {
    match buffer.durability {
        Durability::Protected => WriteCache::Protected,
        _ if !buffer.acknowledges_early => WriteCache::Protected,
        Durability::Volatile => WriteCache::Volatile,
        Durability::Lying => WriteCache::Lying { held_bytes: buffer.bytes },
    }
}

fn disk(origin: &str, parameters: &DiskParameters) -> Result<ModelledDevice, ModelError> {
    let disk = MagneticDisk::new(parameters).map_err(|source| ModelError::disk(origin, source))?;
    let capacity_bytes = disk.capacity_bytes();
    let mut device = ModelledDevice::new(Box::new(disk), capacity_bytes, parameters.sector_bytes);
    device.shape.discards = false;
    if !parameters.cache.write_back {
        device.write_cache = WriteCache::Protected;
    }
    Ok(device)
}

fn array(
    origin: &str,
    parameters: &ArrayParameters,
    members: Vec<Model>,
) -> Result<ModelledDevice, ModelError> {
    let mut drives = Vec::new();
    let (mut logical_block_bytes, mut discards) = (1, true);
    let mut write_cache = WriteCache::Protected;
    for member in members {
        let ModelledDevice { shape, timing, write_cache: of_member } = member.device()?;
        write_cache = write_cache.weaker(of_member);
        logical_block_bytes = shape.logical_block_bytes.max(logical_block_bytes);
        discards &= shape.discards;
        drives.push(Drive { timing, capacity_bytes: shape.capacity_bytes });
    }
    let array = Array::new(parameters, drives).map_err(|source| ModelError::array(origin, source))?;
    let capacity_bytes = array.capacity_bytes() / logical_block_bytes * logical_block_bytes;
    let mut device = ModelledDevice::new(Box::new(array), capacity_bytes, logical_block_bytes);
    device.shape.discards = discards;
    // A battery-backed cache acknowledges flushes itself, for all drives behind it.
    let backed = parameters.controllers.iter().all(|controller| controller.cache.is_some());
    device.write_cache = if backed { WriteCache::Protected } else { write_cache };
    Ok(device)
}
