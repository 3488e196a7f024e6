use std::fs::File;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::Problem;

/// A device that has stopped answering holds a truncation back like any other write, and the program has to say so and end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Gives a test file's space back when dropped.
///
/// Closing the file isn't enough: a ring holds the files that are registered with it until the kernel has taken it apart, which
/// it does in the background, some time after the ring was closed or its process has ended. Until then the file system of a
/// file without a name is as full as before, and the next test on it may find no room.
#[derive(Debug)]
pub(crate) struct Scratch(Option<File>);

impl Scratch {
    pub(super) fn of(file: &File) -> Result<Self, Problem> {
        let file = file.try_clone().map_err(Problem::system("keeping the test file at hand"))?;
        Ok(Self(Some(file)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Some(file) = self.0.take() else { return };
        let (is_done, done) = mpsc::channel();
        let truncation = move || {
            // Where that fails the space is free when the kernel is done.
            let _ = file.set_len(0);
            let _ = is_done.send(());
        };
        if thread::Builder::new().name("test file's space".into()).spawn(truncation).is_ok() {
            let _ = done.recv_timeout(PATIENCE);
        }
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
