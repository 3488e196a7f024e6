use std::fmt;
use std::path::PathBuf;

use nandle_units::format_bytes;

/// A target could not be opened or used.
#[derive(Debug, thiserror::Error)]
pub struct TargetError {
    /// What the user named.
    pub target: String,
    /// What went wrong, and what to do about it.
    pub problem: Problem,
}

impl fmt::Display for TargetError {
    /// What was named and what is wrong with it. A model's error begins with the model, which isn't named twice.
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
    /// Whether it may be gone in a moment: the kernel closes what a ring had open some time after the ring, also that of a
    /// program that has ended, and until then a device is busy although nothing uses it any more.
    pub fn is_busy(&self) -> bool {
        self.problem.is_busy()
    }

    /// Whether another command line would do, so that the program should leave with the code of wrong usage.
    pub fn is_usage(&self) -> bool {
        self.problem.is_usage()
    }
}

/// Why a target could not be opened or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is nothing of this name.
    #[error("there is no such file, directory or device{}", nearest_advice(nearest.as_ref()))]
    NotFound {
        /// The nearest directory above it that exists.
        nearest: Option<PathBuf>,
    },
    /// A symbolic link to nothing.
    #[error("it is a symbolic link to {to}, which does not exist; name what it should point to", to = to.display())]
    DanglingLink {
        /// Where the link points.
        to: PathBuf,
    },
    /// The system refused.
    #[error("{action}: {}{}", std::io::Error::from(*errno), advice(*errno))]
    System {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        errno: rustix::io::Errno,
    },
    /// A pipe, a terminal, a socket …
    #[error("it is a {kind}; expected a directory, a regular file or a block device")]
    Kind {
        /// What it is.
        kind: &'static str,
    },
    /// What has no system calls of its own can't be asked by blocking ones.
    #[error("blocking system calls are for a single file or block device")]
    NoSystemCalls,
    /// Test files of their own can be made in a directory alone.
    #[error("further test files are made in a directory; name one as the target")]
    NoDirectory,
    /// A test file that is gone with its descriptor can't be made.
    #[error("the file system of {directory} has no files without a name", directory = directory.display())]
    NoUnnamedFiles {
        /// Where one was wanted.
        directory: PathBuf,
    },
    /// There is no such modelled drive, or its file is wrong.
    #[error("{error}{advice}", error = .0, advice = list_advice(.0))]
    Model(Box<nandle_model::library::ModelError>),
    /// A file of faults can't be had.
    #[error("the faults in {path}: {what}", path = path.display())]
    Faults {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what would be right.
        what: String,
    },
    /// Something was asked for that a modelled drive doesn't have.
    #[error("a modelled drive has {lacks}; leave out {option}")]
    NotForModels {
        /// What it lacks.
        lacks: &'static str,
        /// The option that asks for it.
        option: &'static str,
    },
    /// A write cache that can't be switched off.
    #[error("only a modelled drive that has a write cache can be had without it")]
    NoCacheToSwitch,
    /// The host's costs are those of the real host.
    #[error(
        "--request-cpu says what a request to a modelled drive costs; a real one costs what it costs: leave it out"
    )]
    ForModelsAlone,
    /// Modelled and real members in one array.
    #[error(
        "modelled drives live in virtual time and real ones don't: an array's members are all modelled or all real"
    )]
    MixedWorlds,
    /// A modelled target and a real one are to be in one world.
    #[error(
        "modelled drives live in virtual time and real ones don't, and one run has one clock: {other} and this one are to be both modelled \
         or both real"
    )]
    TwoClocks {
        /// The target beside it.
        other: String,
    },
    /// The members don't make an array.
    #[error("making an array of the members: {source}")]
    Array {
        /// Why not.
        source: nandle_io::ArrayError,
    },
    /// Several targets where one is needed.
    #[error(
        "{count} targets are named and nothing joins them; name one, or an array such as raid0:64KiB:T*{count}"
    )]
    NotJoined {
        /// How many there are.
        count: usize,
    },
    /// A write test on a file that isn't a test file.
    #[error(
        "a write test would destroy this file, which nandle did not make; name a directory to test in a file of \
         its own, or give --overwrite if the file's contents may be lost"
    )]
    ForeignFile,
    /// A write test on a raw device.
    #[error(
        "a write test destroys everything on this device; name a directory on it to test in a file, or give \
         --destroy-data if everything on it may be lost"
    )]
    DestroysData,
    /// A write test on a device in use.
    #[error("writing to this device is refused, because {used}; free it first, or name a directory on it")]
    InUse {
        /// By what, as the end of a sentence.
        used: String,
    },
    /// Another process uses the file.
    #[error("writing over this file is refused, because {used}; end that first, or name another file")]
    FileUsed {
        /// By what, as the end of a sentence.
        used: String,
    },
    /// Another process of this program writes to the file.
    #[error(
        "another nandle that is running writes to this file; wait until it has ended, or name another file"
    )]
    FileInUse,
    /// The file system has no room for the test file.
    #[error(
        "a test file of {} needs {} with the reserve that stays free, and the file system has {} available; {}",
        format_bytes(*wanted_bytes),
        format_bytes(*needed_bytes),
        format_bytes(*available_bytes),
        room_advice(*largest_bytes)
    )]
    NoRoom {
        /// The size of the test file.
        wanted_bytes: u64,
        /// The same with the reserve.
        needed_bytes: u64,
        /// What an unprivileged user may still write.
        available_bytes: u64,
        /// The largest test file that would fit.
        largest_bytes: u64,
    },
    /// There is too little to test in.
    #[error(
        "it has {} to test in; expected at least {}: choose a larger one (--file-size for a test file)",
        format_bytes(*got_bytes),
        format_bytes(*needed_bytes)
    )]
    TooSmall {
        /// What there is.
        got_bytes: u64,
        /// What is needed.
        needed_bytes: u64,
    },
    /// A sparse file.
    #[error(
        "it has a hole of {} at offset {offset_bytes}, and reading a hole never reaches the device; copy the file \
         with `cp --sparse=never`, or name a directory to test in a file that nandle writes whole",
        format_bytes(*length_bytes)
    )]
    Hole {
        /// Where the first hole begins.
        offset_bytes: u64,
        /// How long it is.
        length_bytes: u64,
    },
    /// `io_uring` was asked for and can't be had.
    #[error("{source}; leave out --io uring to have blocking system calls in threads instead")]
    NoRing {
        /// Why not.
        source: nandle_io::SetupError,
    },
    /// It was opened, and could not be made a device.
    #[error("making a device of it: {0}")]
    Device(nandle_io::FileError),
}

impl Problem {
    /// Whether the system says that it is open, in a process that can't be seen.
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

    /// For `map_err`: a model can't be had.
    pub(crate) fn model(error: nandle_model::library::ModelError) -> Self {
        Self::Model(Box::new(error))
    }

    /// For `map_err`: the system refused `action`.
    pub(crate) fn system<E: Into<std::io::Error>>(action: &'static str) -> impl Fn(E) -> Self {
        move |error| {
            let error: std::io::Error = error.into();
            let errno = rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO);
            Self::System { action, errno }
        }
    }

    /// The error with its target.
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
        Errno::BUSY => "; something uses it that this process can't see",
        _ => "",
    }
}
