use io_uring::IoUring;
use rustix::io::Errno;

use super::anchor::Anchor;

/// Arenas that one ring can register.
pub(super) const ARENAS_MAX: u32 = 16;
/// Files that one ring can register; others are used by their descriptors.
pub(super) const FILES_MAX: u32 = 64;
/// Limit of the kernel on entries (`IORING_MAX_ENTRIES`).
const ENTRIES_MAX: u32 = 32_768;

/// Reason for which no ring could be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The system refuses `io_uring`, as container runtimes and some administrators do, or lacks
    /// resources for it ([`is_unavailable`](SetupError::is_unavailable) distinguishes the two).
    #[error("io_uring is refused here: {}{}", std::io::Error::from(*errno), mend(*errno))]
    Refused {
        /// Error of the system.
        errno: Errno,
    },
    /// No event descriptor is available, by which other threads end a wait.
    #[error("an event descriptor for the ring: {}; raise RLIMIT_NOFILE (ulimit -n)", std::io::Error::from(*errno))]
    NoWakeEvent {
        /// Error of the system.
        errno: Errno,
    },
    /// The kernel's `io_uring` lacks a required feature.
    #[error("this kernel's io_uring lacks {what} (Linux 5.11)")]
    TooOld {
        /// Missing feature.
        what: &'static str,
    },
}

/// Remedy for a shortage.
fn mend(errno: Errno) -> &'static str {
    match errno {
        Errno::NOMEM => "; raise RLIMIT_MEMLOCK (ulimit -l) or free memory",
        Errno::MFILE => "; raise RLIMIT_NOFILE (ulimit -n)",
        _ => "",
    }
}

impl SetupError {
    /// Returns true if rings don't exist here at all, so that another world may replace this one.
    /// Other errors are shortages (memory, descriptors), which need a remedy and must not be
    /// hidden.
    pub fn is_unavailable(&self) -> bool {
        match self {
            // Forbidden, not compiled in, blocked by a system call filter, or none of its flags
            // known.
            Self::Refused { errno } => {
                [Errno::PERM, Errno::ACCESS, Errno::NOSYS, Errno::OPNOTSUPP, Errno::INVAL].contains(errno)
            }
            Self::TooOld { .. } => true,
            Self::NoWakeEvent { .. } => false,
        }
    }
}

/// A ring, the features in use, and the unavailable ones.
pub(super) struct Setup {
    pub(super) ring: IoUring,
    pub(super) features: Vec<String>,
    pub(super) stepped_down: Vec<String>,
    /// `None` if the kernel registers no files.
    pub(super) anchor: Option<Anchor>,
    pub(super) registered_arenas: bool,
}

type Configure = fn(&mut io_uring::Builder);

/// Configurations, best first. `EINVAL` means that the kernel doesn't know one of the flags.
///
/// With `DEFER_TASKRUN` completions appear only when the ring is entered. A ring that can't be
/// entered is then closed, and its [`Anchor`] shows when its requests have ended; such a ring needs
/// an anchor.
const STEPS: [(&str, Configure); 4] = [
    ("SINGLE_ISSUER, DEFER_TASKRUN, NO_SQARRAY", |builder| {
        builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag().setup_no_sqarray();
    }),
    ("SINGLE_ISSUER, DEFER_TASKRUN", |builder| {
        builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag();
    }),
    ("COOP_TASKRUN", |builder| {
        builder.setup_coop_taskrun().setup_taskrun_flag();
    }),
    ("", |_| {}),
];
/// Name of the flag by which completions appear only when the ring is entered.
const DEFERRED: &str = "DEFER_TASKRUN";
/// Configurations without it.
const UNDEFERRED: &[(&str, Configure)] = STEPS.split_at(2).1;

/// Sets up a ring with room for `slots` requests and the world's own.
pub(super) fn set_up(slots: u32) -> Result<Setup, SetupError> {
    // One more entry for the world's wake-up request.
    let entries = (slots.min(ENTRIES_MAX - 1) + 1).next_power_of_two();
    let (mut ring, mut features, mut stepped_down) = build(entries, &STEPS)?;
    let anchor = attach(&ring);
    if anchor.is_err() && features.contains(DEFERRED) {
        stepped_down.push(format!("no {features}: no registered files"));
        let undeferred = build(entries, UNDEFERRED)?;
        (ring, features) = (undeferred.0, undeferred.1);
        stepped_down.extend(undeferred.2);
    }
    // A system call filter may allow the setup and refuse to enter the ring.
    ring.submitter().submit().map_err(|error| refused(&error))?;
    if !ring.params().is_feature_ext_arg() {
        return Err(SetupError::TooOld { what: "waiting with a time-out" });
    }
    let mut features: Vec<String> =
        features.split(", ").filter(|name| !name.is_empty()).map(Into::into).collect();
    let mut take = |name: &str, result: std::io::Result<()>| match result {
        Ok(()) => {
            features.push(name.into());
            true
        }
        Err(error) => {
            stepped_down.push(format!("no {name}: {error}"));
            false
        }
    };
    let (anchor, has_files) = match anchor {
        Ok(anchor) => (Some(anchor), Ok(())),
        Err(error) => (None, Err(error)),
    };
    take("registered files", has_files);
    let registered_arenas = take("registered buffers", ring.submitter().register_buffers_sparse(ARENAS_MAX));
    Ok(Setup { ring, features, stepped_down, anchor, registered_arenas })
}

/// Creates the table of files, whose last place is the anchor's.
fn attach(ring: &IoUring) -> std::io::Result<Anchor> {
    ring.submitter().register_files_sparse(FILES_MAX + 1)?;
    Anchor::attach(ring, FILES_MAX)
}

fn build(
    entries: u32,
    steps: &[(&'static str, Configure)],
) -> Result<(IoUring, &'static str, Vec<String>), SetupError> {
    step_down(steps, |configure| {
        let mut builder = IoUring::builder();
        configure(builder.setup_clamp());
        builder.build(entries).map_err(|error| errno_of(&error))
    })
}

pub(super) fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::NOSYS)
}

fn refused(error: &std::io::Error) -> SetupError {
    SetupError::Refused { errno: errno_of(error) }
}

/// Tries the configurations in order. Returns the first that works, its name, and those that
/// failed.
fn step_down<Ring>(
    steps: &[(&'static str, Configure)],
    mut attempt: impl FnMut(Configure) -> Result<Ring, Errno>,
) -> Result<(Ring, &'static str, Vec<String>), SetupError> {
    let mut stepped_down = Vec::new();
    for &(name, configure) in steps {
        match attempt(configure) {
            Ok(ring) => return Ok((ring, name, stepped_down)),
            Err(Errno::INVAL) => stepped_down.push(format!("no {name}: the kernel doesn't know it")),
            Err(errno) => return Err(SetupError::Refused { errno }),
        }
    }
    Err(SetupError::Refused { errno: Errno::INVAL })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Outcome of a setup for which the kernel gives these answers in order.
    fn with_answers(answers: &[Result<(), Errno>]) -> (usize, Result<(&'static str, usize), SetupError>) {
        let mut attempts = answers.iter();
        let result = step_down(&STEPS, |_| *attempts.next().unwrap());
        (answers.len() - attempts.len(), result.map(|((), name, lost)| (name, lost.len())))
    }

    #[test]
    fn a_new_kernel_gives_everything() {
        assert_eq!(with_answers(&[Ok(())]), (1, Ok((STEPS[0].0, 0))));
    }

    #[test]
    fn older_kernels_give_less_and_that_is_noted() {
        for (steps, (name, _)) in STEPS.iter().enumerate() {
            let mut answers = vec![Err(Errno::INVAL); steps];
            answers.push(Ok(()));
            assert_eq!(with_answers(&answers), (steps + 1, Ok((*name, steps))));
        }
    }

    #[test]
    fn steps_without_an_anchor_show_completions_by_themselves() {
        let deferred = STEPS.iter().filter(|(name, _)| name.contains(DEFERRED)).count();
        assert_eq!(UNDEFERRED.len() + deferred, STEPS.len());
        assert!(UNDEFERRED.iter().all(|(name, _)| !name.contains(DEFERRED)));
    }

    #[test]
    fn a_refusal_is_no_matter_of_age() {
        for errno in [Errno::PERM, Errno::NOSYS, Errno::ACCESS, Errno::NOMEM] {
            let refused = Err(SetupError::Refused { errno });
            assert_eq!(with_answers(&[Err(errno)]), (1, refused.clone()));
            assert_eq!(with_answers(&[Err(Errno::INVAL), Err(errno)]), (2, refused));
        }
        let hopeless = with_answers(&[Err(Errno::INVAL); STEPS.len()]);
        assert_eq!(hopeless, (STEPS.len(), Err(SetupError::Refused { errno: Errno::INVAL })));
    }

    #[test]
    fn errors_say_what_is_the_matter() {
        let refused = SetupError::Refused { errno: Errno::PERM }.to_string();
        assert!(refused.contains("refused") && refused.contains("not permitted"), "{refused}");
        let old = SetupError::TooOld { what: "waiting with a time-out" }.to_string();
        assert!(old.contains("5.11"), "{old}");
    }
}
