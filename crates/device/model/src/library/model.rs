use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::kind::Tag;
use super::{DeviceState, FirstState, ModelError, ModelKind, limits, toml_of};
use crate::array::ArrayParameters;
use crate::disk::DiskParameters;
use crate::flash::FlashParameters;
use crate::timing::Timing;

/// Modelled drive or array: valid parameters and their source text.
#[derive(Debug, Clone)]
pub struct Model {
    /// Name in the library, or the path of the file.
    pub(super) origin: String,
    text: String,
    pub(super) parameters: Parameters,
    pub(super) first_state: FirstState,
}

/// Parameters of a model, by kind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Parameters {
    /// A flash drive.
    Flash(Box<FlashParameters>),
    /// A magnetic disk.
    Disk(Box<DiskParameters>),
    /// Drives and their controllers.
    Array {
        /// Parameters of the array itself.
        parameters: ArrayParameters,
        /// Drives, in the order of the parameters.
        members: Vec<Model>,
    },
}

/// Facts about a model that need no run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFacts {
    /// Capacity of the model.
    pub capacity_bytes: u64,
    /// Capacity of the real drive, if the model is smaller with the same chips and channels.
    pub scaled_from_bytes: Option<u64>,
    /// Unit of addressing.
    pub logical_block_bytes: u64,
    /// True if a member has rotating platters.
    pub rotational: bool,
    /// Length of the commands into which longer requests are split on their way to the drive.
    pub split_bytes: Option<u64>,
    /// State of a new device, as a sentence.
    pub first_state: String,
}

impl Model {
    /// Loads a drive or an array of the library.
    ///
    /// # Errors
    /// [`ModelError::Unknown`] with the most similar name.
    pub fn named(name: &str) -> Result<Self, ModelError> {
        Self::parse(name, toml_of(name)?.into(), None)
    }

    /// Loads a drive or array from a file. Members of an array are names of the library, or files
    /// (`….toml`) in the same folder.
    ///
    /// # Errors
    /// Fails if the file can't be read or describes no drive. The error names the field, its range
    /// and the nearest valid value.
    pub fn from_path(path: &Path) -> Result<Self, ModelError> {
        let text = limits::read_text(path, limits::TOML_BYTES_MAX);
        let text = text.map_err(|source| ModelError::Read { path: path.into(), source })?;
        Self::parse(&path.display().to_string(), text, path.parent())
    }

    /// Loads a name of the library, or a file whose path ends in `.toml`.
    ///
    /// # Errors
    /// As for [`Model::named`] and [`Model::from_path`].
    pub fn load(name: &str) -> Result<Self, ModelError> {
        if is_file(name) { Self::from_path(Path::new(name)) } else { Self::named(name) }
    }

    pub(super) fn parse(origin: &str, text: String, folder: Option<&Path>) -> Result<Self, ModelError> {
        let tag: Tag = toml::from_str(&text)
            .map_err(|source| ModelError::Syntax { origin: origin.into(), source: Box::new(source) })?;
        let parameters = match tag.kind {
            ModelKind::Flash => {
                let parsed = FlashParameters::from_toml(&text);
                Parameters::Flash(Box::new(parsed.map_err(|source| ModelError::flash(origin, source))?))
            }
            ModelKind::Disk => {
                let parsed = DiskParameters::from_toml(&text);
                Parameters::Disk(Box::new(parsed.map_err(|source| ModelError::disk(origin, source))?))
            }
            ModelKind::Array => {
                let parsed = ArrayParameters::from_toml(&text);
                let parameters = parsed.map_err(|source| ModelError::array(origin, source))?;
                let members = members(origin, &parameters, folder)?;
                Parameters::Array { parameters, members }
            }
        };
        Ok(Self { origin: origin.into(), text, parameters, first_state: FirstState::default() })
    }

    /// Changes the capacity of a flash drive; see [`FlashParameters::with_capacity_bytes`].
    ///
    /// # Errors
    /// Fails if the model is no flash drive, or can't have this capacity.
    pub fn with_capacity_bytes(mut self, capacity_bytes: u64) -> Result<Self, ModelError> {
        let Parameters::Flash(flash) = self.parameters else {
            return Err(ModelError::FixedCapacity { origin: self.origin });
        };
        let resized = flash.with_capacity_bytes(capacity_bytes);
        let resized = resized.map_err(|source| ModelError::flash(&self.origin, source))?;
        self.parameters = Parameters::Flash(Box::new(resized));
        Ok(self)
    }

    /// Sets the first state of every device of this model.
    ///
    /// # Errors
    /// Fails if the state belongs to another model.
    pub fn starting(mut self, first_state: FirstState) -> Result<Self, ModelError> {
        if let FirstState::Aged(state) = &first_state {
            self.check_state(state)?;
        }
        self.first_state = first_state;
        Ok(self)
    }

    /// Sets the first state from a file of [`DeviceState::encode`].
    ///
    /// # Errors
    /// Fails if the file can't be read, holds no state, or holds a state of another model.
    pub fn starting_from_file(self, path: &Path) -> Result<Self, ModelError> {
        let bytes = limits::read(path, limits::STATE_FILE_BYTES_MAX);
        let bytes = bytes.map_err(|source| ModelError::Read { path: path.into(), source })?;
        let state = DeviceState::decode(&bytes, self.state_bytes_max())
            .map_err(|source| ModelError::StateFile { path: path.into(), source: Box::new(source) })?;
        self.starting(FirstState::Aged(Arc::new(state)))
    }

    /// State of an idle device of this model, to be saved.
    ///
    /// # Errors
    /// Fails if no part of the device ages, as with magnetic disks.
    pub fn state_of(&self, device: &mut dyn Timing) -> Result<DeviceState, ModelError> {
        let drives = device.aged_states();
        if drives.iter().all(Option::is_none) {
            return Err(ModelError::Ageless { origin: self.origin.clone() });
        }
        Ok(DeviceState::new(self.name(), drives))
    }

    fn check_state(&self, state: &DeviceState) -> Result<(), ModelError> {
        if state.model() == self.name() && state.drives().len() == self.drives() {
            return Ok(());
        }
        Err(ModelError::OtherState { origin: self.origin.clone(), state_of: state.model().into() })
    }

    /// Limit of the unpacked state of all drives.
    fn state_bytes_max(&self) -> u64 {
        match &self.parameters {
            Parameters::Flash(flash) => limits::state_bytes_max(flash),
            Parameters::Disk(_) => limits::STATE_REST_BYTES,
            Parameters::Array { members, .. } => members.iter().map(Self::state_bytes_max).sum(),
        }
    }

    /// Number of drives.
    fn drives(&self) -> usize {
        match &self.parameters {
            Parameters::Array { members, .. } => members.len(),
            Parameters::Flash(_) | Parameters::Disk(_) => 1,
        }
    }

    /// This drive with its write cache off: every write waits for the medium. `None` for arrays and
    /// for drives without a cache.
    pub fn without_write_cache(&self) -> Option<Self> {
        let parameters = match &self.parameters {
            Parameters::Flash(flash) if flash.write_buffer.acknowledges_early => {
                let mut flash = flash.clone();
                flash.write_buffer.acknowledges_early = false;
                Parameters::Flash(flash)
            }
            Parameters::Disk(disk) if disk.cache.write_back => {
                let mut disk = disk.clone();
                disk.cache.write_back = false;
                Parameters::Disk(disk)
            }
            _ => return None,
        };
        Some(Self { parameters, ..self.clone() })
    }

    /// Parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Name in the library, or the path of the file.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// TOML text, with its comments.
    pub fn toml(&self) -> &str {
        &self.text
    }

    /// Kind of device.
    pub fn kind(&self) -> ModelKind {
        match &self.parameters {
            Parameters::Flash(_) => ModelKind::Flash,
            Parameters::Disk(_) => ModelKind::Disk,
            Parameters::Array { .. } => ModelKind::Array,
        }
    }

    /// Name in the parameters.
    pub fn name(&self) -> &str {
        match &self.parameters {
            Parameters::Flash(flash) => &flash.name,
            Parameters::Disk(disk) => &disk.name,
            Parameters::Array { parameters, .. } => &parameters.name,
        }
    }

    /// Description in one line.
    pub fn description(&self) -> &str {
        match &self.parameters {
            Parameters::Flash(flash) => &flash.description,
            Parameters::Disk(disk) => &disk.description,
            Parameters::Array { parameters, .. } => &parameters.description,
        }
    }
}

fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

fn members(
    origin: &str,
    parameters: &ArrayParameters,
    folder: Option<&Path>,
) -> Result<Vec<Model>, ModelError> {
    let load = |member: &str| {
        let file = folder.filter(|_| is_file(member)).map(|folder| -> PathBuf { folder.join(member) });
        // Nested arrays are refused before their members are loaded, so no array can contain
        // itself.
        let text = match &file {
            Some(path) => limits::read_text(path, limits::TOML_BYTES_MAX)
                .map_err(|source| ModelError::Read { path: path.clone(), source })?,
            None => toml_of(member)?.into(),
        };
        if toml::from_str::<Tag>(&text).is_ok_and(|tag| tag.kind == ModelKind::Array) {
            return Err(ModelError::NestedArray { origin: origin.into(), member: member.into() });
        }
        Model::parse(&file.map_or_else(|| member.into(), |path| path.display().to_string()), text, None)
    };
    parameters.drive_names().map(load).collect()
}
