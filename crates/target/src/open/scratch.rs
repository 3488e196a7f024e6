use std::fs::File;

use crate::Problem;

/// Gives a test file's space back when dropped.
///
/// Closing the file isn't enough: a ring holds the files that are registered with it until the kernel has taken it apart, which
/// it does in the background, some time after the ring was closed or its process has ended. Until then the file system of a
/// file without a name is as full as before, and the next test on it may find no room.
#[derive(Debug)]
pub(crate) struct Scratch(File);

impl Scratch {
    pub(super) fn of(file: &File) -> Result<Self, Problem> {
        let file = file.try_clone().map_err(Problem::system("keeping the test file at hand"))?;
        Ok(Self(file))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Where that fails the space is free when the kernel is done.
        let _ = self.0.set_len(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_space_is_free_while_others_have_the_file_open() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let scratch = Scratch::of(&file).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 1 << 20);
        drop(scratch);
        assert_eq!(file.metadata().unwrap().len(), 0);
    }
}
