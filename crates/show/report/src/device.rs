use nandle_profile::{DeviceProfile, MeasuredCell, OperationKind};

use crate::text;

/// Separator between a device's letter and its name. No other label contains it.
pub(crate) const AFTER_LETTER: &str = " · ";

/// Profile with its letter in this report.
pub(crate) struct Device<'a> {
    pub(crate) profile: &'a DeviceProfile,
    pub(crate) index: usize,
    /// Path of the profile's file, if it is known.
    pub(crate) file: Option<&'a str>,
}

impl<'a> Device<'a> {
    #[cfg(test)]
    pub(crate) fn all(profiles: &'a [DeviceProfile]) -> Vec<Self> {
        Self::of_files(profiles, &[])
    }

    /// Pairs profiles with their files; a profile beyond the list has no file.
    pub(crate) fn of_files(profiles: &'a [DeviceProfile], files: &'a [String]) -> Vec<Self> {
        let file = |index| files.get(index).map(String::as_str);
        profiles
            .iter()
            .enumerate()
            .map(|(index, profile)| Self { profile, index, file: file(index) })
            .collect()
    }

    /// Letter of the device: `A` … `Z`, then `27` and so on.
    pub(crate) fn letter(&self) -> String {
        let letter = u8::try_from(self.index).ok().filter(|index| *index < 26).map(|index| b'A' + index);
        letter.map_or_else(|| (self.index + 1).to_string(), |letter| char::from(letter).to_string())
    }

    /// Model of the device, or else the kernel's name, or else the target.
    pub(crate) fn name(&self) -> String {
        let identity = &self.profile.identity;
        let names = [identity.model.as_deref(), identity.kernel_name.as_deref()];
        let name = names.into_iter().flatten().map(str::trim).find(|name| !name.is_empty());
        text::clean(name.unwrap_or(&self.profile.target))
    }

    /// Letter and short name, for legends and column heads.
    pub(crate) fn label(&self) -> String {
        format!("{}{AFTER_LETTER}{}", self.letter(), text::short(&self.name(), 26))
    }

    /// Cells of random reads of single blocks, the basis of curves and derived values.
    pub(crate) fn random_reads(&self) -> impl Iterator<Item = &'a MeasuredCell> + use<'a> {
        self.reads("random").filter(|measured| measured.cell.group_blocks == 1)
    }

    /// Read cells of a pattern, in all group sizes.
    pub(crate) fn reads(&self, pattern: &'static str) -> impl Iterator<Item = &'a MeasuredCell> + use<'a> {
        self.profile.cells.iter().filter(move |measured| {
            measured.cell.pattern == pattern && measured.cell.operation == OperationKind::Read
        })
    }

    /// Smallest block of the random reads.
    pub(crate) fn smallest_block(&self) -> Option<u64> {
        self.random_reads().map(|measured| measured.cell.block_bytes).min()
    }
}
