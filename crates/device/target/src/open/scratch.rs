use std::fs::File;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::Problem;

/// Longest wait for a truncation. A stalled device blocks it like any write, and the program must
/// report that and end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Releases a test file's space on drop.
///
/// Closing the file isn't enough. A ring keeps its registered files open until the kernel has
/// destroyed it in the background, some time after the ring was closed or its process ended. Until
/// then an unnamed file still uses its space, and the next test may find too little.
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
            // If this fails, the kernel releases the space later.
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
    fn space_is_freed_while_others_have_the_file_open() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let scratch = Scratch::of(&file).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 1 << 20);
        drop(scratch);
        assert_eq!(file.metadata().unwrap().len(), 0);
    }
}
