use std::fmt;
use std::path::PathBuf;

use nandle_units::format_bytes;

/// Error of opening or using a target.
#[derive(Debug, thiserror::Error)]
pub struct TargetError {
    /// Target as named by the user.
    pub target: String,
    /// Problem and remedy.
    pub problem: Problem,
}

impl fmt::Display for TargetError {
    /// Formats the target and the problem. A model's error starts with the model's name, which
    /// isn't repeated.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = self.problem.to_string();
        let model = match &self.problem {
            Problem::Model(error) => error.origin(),
            _ => None,
        };
        let named = self.target.strip_prefix("model:");
        let origin = model.as_ref().filter(|origin| named.is_some_and(|named| named.starts_with(*origin)));
        let without = origin.and_then(|origin| problem.strip_prefix(origin.as_str())?.strip_prefix(": "));
        write!(f, "{}: {}", self.target, without.unwrap_or(&problem))
    }
}

impl TargetError {
    /// Returns true if the problem may resolve itself soon. The kernel closes the files of a ring
    /// some time after the ring or its process has ended. Until then a device is busy although
    /// nothing uses it.
    pub fn is_busy(&self) -> bool {
        self.problem.is_busy()
    }

    /// Returns true if a different command line would work, so the program should exit with the
    /// code for wrong usage.
    pub fn is_usage(&self) -> bool {
        self.problem.is_usage()
    }
}

/// Problem of opening or using a target.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Nothing exists under this name.
    #[error("there is no such file, directory or device{}", nearest_advice(nearest.as_ref()))]
    NotFound {
        /// Nearest existing directory above it.
        nearest: Option<PathBuf>,
    },
    /// Symbolic link to a missing file.
    #[error("it is a symbolic link to {to}, which does not exist; name what it should point to", to = to.display())]
    DanglingLink {
        /// Destination of the link.
        to: PathBuf,
    },
    /// Error of the operating system.
    #[error("{action}: {}{}", std::io::Error::from(*errno), advice(*errno))]
    System {
        /// Attempted action.
        action: &'static str,
        /// Error code.
        errno: rustix::io::Errno,
    },
    /// Unsupported file type, such as a pipe, terminal or socket.
    #[error("it is a {kind}; expected a directory, a regular file or a block device")]
    Kind {
        /// File type.
        kind: &'static str,
    },
    /// Blocking system calls on a target that doesn't support them.
    #[error("blocking system calls are for a single file or block device")]
    NoSystemCalls,
    /// Further test files for a target that isn't a directory.
    #[error("further test files are made in a directory; name one as the target")]
    NoDirectory,
    /// File system without unnamed files, which are removed with their descriptor.
    #[error("the file system of {directory} has no files without a name", directory = directory.display())]
    NoUnnamedFiles {
        /// Directory of the test file.
        directory: PathBuf,
    },
    /// Unknown modelled drive, or an invalid description of one.
    #[error("{error}{advice}", error = .0, advice = list_advice(.0))]
    Model(Box<nandle_model::library::ModelError>),
    /// The file of faults is missing or invalid.
    #[error("the faults in {path}: {what}", path = path.display())]
    Faults {
        /// Path of the file.
        path: PathBuf,
        /// Problem and remedy.
        what: String,
    },
    /// Option that a modelled drive doesn't support.
    #[error("a modelled drive has {lacks}; leave out {option}")]
    NotForModels {
        /// Missing feature.
        lacks: &'static str,
        /// Option that requested it.
        option: &'static str,
    },
    /// Target without a write cache that can be switched off.
    #[error("only a modelled drive that has a write cache can be had without it")]
    NoCacheToSwitch,
    /// Host costs set for a real device.
    #[error("--request-cpu only applies to modelled drives; leave it out")]
    ForModelsAlone,
    /// Array of modelled and real members.
    #[error(
        "modelled drives run in virtual time and real ones don't: an array's members must be all modelled or all real"
    )]
    MixedWorlds,
    /// Modelled and real targets in one world.
    #[error(
        "modelled drives run in virtual time and real ones don't, and one run has one clock: {other} and this \
         one must both be modelled or both be real"
    )]
    TwoClocks {
        /// The other target.
        other: String,
    },
    /// The members can't form an array.
    #[error("making an array of the members: {source}")]
    Array {
        /// Cause.
        source: nandle_io::ArrayError,
    },
    /// Several targets where one is expected.
    #[error(
        "{count} targets are named and nothing joins them; name one, or an array such as raid0:64KiB:T*{count}"
    )]
    NotJoined {
        /// Number of targets.
        count: usize,
    },
    /// Write test on a foreign file.
    #[error(
        "a write test would destroy this file, which nandle did not make; name a directory to test in a file of \
         its own, or give --overwrite if the file's contents may be lost"
    )]
    ForeignFile,
    /// Write test on a raw device.
    #[error(
        "a write test destroys everything on this device; name a directory on it to test in a file, or give \
         --destroy-data if everything on it may be lost"
    )]
    DestroysData,
    /// Write test on a device in use.
    #[error("writing to this device is refused, because {used}; free it first, or name a directory on it")]
    InUse {
        /// Use of the device, as the end of a sentence.
        used: String,
    },
    /// File in use by another process.
    #[error("writing over this file is refused, because {used}; end that first, or name another file")]
    FileUsed {
        /// Use of the file, as the end of a sentence.
        used: String,
    },
    /// File in use by another nandle process.
    #[error(
        "another nandle that is running writes to this file; wait until it has ended, or name another file"
    )]
    FileInUse,
    /// The file system has no space for the test file.
    #[error(
        "a test file of {} needs {} with the reserve that stays free, and the file system has {} available; {}",
        format_bytes(*wanted_bytes),
        format_bytes(*needed_bytes),
        format_bytes(*available_bytes),
        room_advice(*largest_bytes)
    )]
    NoRoom {
        /// Size of the test file.
        wanted_bytes: u64,
        /// Size of the test file plus the reserve.
        needed_bytes: u64,
        /// Space available to an unprivileged user.
        available_bytes: u64,
        /// Largest test file that fits.
        largest_bytes: u64,
    },
    /// Too small for a test.
    #[error(
        "it has {} to test in; expected at least {}: choose a larger one (--file-size for a test file)",
        format_bytes(*got_bytes),
        format_bytes(*needed_bytes)
    )]
    TooSmall {
        /// Size of the area.
        got_bytes: u64,
        /// Smallest size.
        needed_bytes: u64,
    },
    /// Sparse file.
    #[error(
        "it has a hole of {} at offset {offset_bytes}, and reading a hole never reaches the device; copy the file \
         with `cp --sparse=never`, or name a directory to test in a file that nandle writes whole",
        format_bytes(*length_bytes)
    )]
    Hole {
        /// Start of the first hole.
        offset_bytes: u64,
        /// Length of the hole.
        length_bytes: u64,
    },
    /// `io_uring` was requested but is unavailable.
    #[error("{source}; leave out --io uring to have blocking system calls in threads instead")]
    NoRing {
        /// Cause.
        source: nandle_io::SetupError,
    },
    /// The opened file can't be used as a device.
    #[error("making a device of it: {0}")]
    Device(nandle_io::FileError),
}

impl Problem {
    /// Returns true if the system reports it as busy, in a process that isn't visible.
    fn is_busy(&self) -> bool {
        matches!(self, Self::System { errno: rustix::io::Errno::BUSY, .. })
    }

    /// See [`TargetError::is_usage`].
    pub fn is_usage(&self) -> bool {
        match self {
            Self::System { .. } | Self::NoRoom { .. } | Self::NoRing { .. } | Self::Device(_) => false,
            Self::NotFound { .. }
            | Self::DanglingLink { .. }
            | Self::Kind { .. }
            | Self::Model(_)
            | Self::Faults { .. }
            | Self::NotForModels { .. }
            | Self::NoCacheToSwitch
            | Self::ForModelsAlone
            | Self::MixedWorlds
            | Self::TwoClocks { .. }
            | Self::Array { .. }
            | Self::NotJoined { .. }
            | Self::ForeignFile
            | Self::DestroysData
            | Self::InUse { .. }
            | Self::FileInUse
            | Self::FileUsed { .. }
            | Self::TooSmall { .. }
            | Self::Hole { .. }
            | Self::NoSystemCalls
            | Self::NoDirectory
            | Self::NoUnnamedFiles { .. } => true,
        }
    }

    /// Converts a model error, for `map_err`.
    pub(crate) fn model(error: nandle_model::library::ModelError) -> Self {
        Self::Model(Box::new(error))
    }

    /// Creates a converter of system errors of `action`, for `map_err`.
    pub(crate) fn system<E: Into<std::io::Error>>(action: &'static str) -> impl Fn(E) -> Self {
        move |error| {
            let error: std::io::Error = error.into();
            let errno = rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO);
            Self::System { action, errno }
        }
    }

    /// Adds the target to the problem.
    pub(crate) fn on(self, target: &dyn std::fmt::Display) -> TargetError {
        TargetError { target: target.to_string(), problem: self }
    }
}

fn list_advice(error: &nandle_model::library::ModelError) -> &'static str {
    match error {
        nandle_model::library::ModelError::Unknown { .. } => "; `nandle models list` says more of them",
        _ => "",
    }
}

fn nearest_advice(nearest: Option<&PathBuf>) -> String {
    nearest.map_or_else(String::new, |path| {
        format!("; the nearest directory that exists is {}, which can be named too", path.display())
    })
}

fn room_advice(largest_bytes: u64) -> String {
    if largest_bytes == 0 {
        return "free some space, or name a directory on another file system".into();
    }
    format!("give --file-size {} or less, or free some space", format_bytes(largest_bytes))
}

fn advice(errno: rustix::io::Errno) -> &'static str {
    use rustix::io::Errno;
    match errno {
        Errno::ACCESS | Errno::PERM if rustix::process::geteuid().is_root() => {
            "; even root may not here: give the container or the service the device, or name another one"
        }
        Errno::ACCESS | Errno::PERM => "; name another one, or run as a user who may (raw devices: root)",
        Errno::ROFS => "; the file system is mounted read-only, so name a directory on another one",
        Errno::DQUOT => "; the quota is used up, so give a smaller --file-size",
        Errno::FBIG => "; files may not be as large here, so give a smaller --file-size",
        Errno::BUSY => "; it is in use by something that this process can't see",
        _ => "",
    }
}
