use std::sync::Arc;

use crate::{Device, DeviceFile, Io, SetupError, Threads, Uring};

/// World of files: a ring, or threads if the system has no rings. Its [`Backend`](crate::Backend)
/// names it and gives the reason for threads.
pub enum FileWorld {
    /// The ring.
    Uring(Box<Uring>),
    /// Fallback.
    Threads(Box<Threads>),
}

impl FileWorld {
    /// World with `slots` slots.
    ///
    /// # Errors
    /// Fails if the system has rings but refuses this one: a shortage that an administrator can
    /// end.
    pub fn new(slots: u32) -> Result<Self, SetupError> {
        Uring::new(slots)
            .map(|ring| Self::Uring(Box::new(ring)))
            .or_else(|refusal| stand_in(refusal, slots).map(|threads| Self::Threads(Box::new(threads))))
    }

    /// Adds a file or a block device.
    pub fn add(&mut self, file: Arc<DeviceFile>) -> Device {
        match self {
            Self::Uring(ring) => ring.add(file),
            Self::Threads(threads) => threads.add(file),
        }
    }

    /// Converts to a boxed world.
    pub fn into_io(self) -> Box<dyn Io> {
        match self {
            Self::Uring(ring) => ring,
            Self::Threads(threads) => threads,
        }
    }
}

/// Threads instead of a ring, if the system has none at all.
fn stand_in(refusal: SetupError, slots: u32) -> Result<Threads, SetupError> {
    if refusal.is_unavailable() { Ok(Threads::in_place_of(&refusal, slots)) } else { Err(refusal) }
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn threads_stand_in_where_there_are_no_rings_and_say_so() {
        let too_old = SetupError::TooOld { what: "waiting with a time-out" };
        let refusals = [Errno::PERM, Errno::ACCESS, Errno::NOSYS, Errno::OPNOTSUPP, Errno::INVAL]
            .map(|errno| SetupError::Refused { errno });
        for refusal in refusals.into_iter().chain([too_old]) {
            let backend = stand_in(refusal.clone(), 8).unwrap().backend();
            assert_eq!((backend.name, backend.stepped_down), ("threads", vec![refusal.to_string()]));
        }
    }

    #[test]
    fn a_shortage_is_an_error() {
        let no_event = SetupError::NoWakeEvent { errno: Errno::MFILE };
        let shortages = [Errno::NOMEM, Errno::MFILE, Errno::NFILE, Errno::AGAIN]
            .map(|errno| SetupError::Refused { errno });
        for shortage in shortages.into_iter().chain([no_event]) {
            assert_eq!(stand_in(shortage.clone(), 8).err(), Some(shortage));
        }
    }
}
