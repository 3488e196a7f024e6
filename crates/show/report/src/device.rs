use nandle_profile::{DeviceProfile, MeasuredCell, OperationKind};

use crate::text;

/// What stands between a device's letter and its name; no other label has it.
pub(crate) const AFTER_LETTER: &str = " · ";

/// A profile with the letter that it goes by in this report.
pub(crate) struct Device<'a> {
    pub(crate) profile: &'a DeviceProfile,
    pub(crate) index: usize,
    /// The file that it was read from or written to, where that is known.
    pub(crate) file: Option<&'a str>,
}

impl<'a> Device<'a> {
    #[cfg(test)]
    pub(crate) fn all(profiles: &'a [DeviceProfile]) -> Vec<Self> {
        Self::of_files(profiles, &[])
    }

    /// As many as there are profiles; a file that there is no name for isn't known.
    pub(crate) fn of_files(profiles: &'a [DeviceProfile], files: &'a [String]) -> Vec<Self> {
        let file = |index| files.get(index).map(String::as_str);
        profiles
            .iter()
            .enumerate()
            .map(|(index, profile)| Self { profile, index, file: file(index) })
            .collect()
    }

    /// `A` … `Z`, then `27` and so on.
    pub(crate) fn letter(&self) -> String {
        let letter = u8::try_from(self.index).ok().filter(|index| *index < 26).map(|index| b'A' + index);
        letter.map_or_else(|| (self.index + 1).to_string(), |letter| char::from(letter).to_string())
    }

    /// The model where the device names one, otherwise the kernel's name for it, otherwise the target.
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

    /// The cells of random reading, one block at a time: what curves and derived values are about.
    pub(crate) fn random_reads(&self) -> impl Iterator<Item = &'a MeasuredCell> + use<'a> {
        self.reads("random").filter(|measured| measured.cell.group_blocks == 1)
    }

    /// The reading cells of a pattern, in any group size.
    pub(crate) fn reads(&self, pattern: &'static str) -> impl Iterator<Item = &'a MeasuredCell> + use<'a> {
        self.profile.cells.iter().filter(move |measured| {
            measured.cell.pattern == pattern && measured.cell.operation == OperationKind::Read
        })
    }

    /// The smallest block that was read at random.
    pub(crate) fn smallest_block(&self) -> Option<u64> {
        self.random_reads().map(|measured| measured.cell.block_bytes).min()
    }
}
