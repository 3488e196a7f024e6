use std::fs;
use std::path::{Path, PathBuf};

/// Locations of sysfs and procfs: of the running system, or of a recorded copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// Path of `/sys`.
    pub sys: PathBuf,
    /// Path of `/proc`.
    pub proc: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { sys: "/sys".into(), proc: "/proc".into() }
    }
}

impl Roots {
    /// Roots of a recorded copy in a directory with `sys` and `proc`.
    pub fn recorded(directory: &Path) -> Self {
        Self { sys: directory.join("sys"), proc: directory.join("proc") }
    }
}

/// Reads a small text file, trimmed; `None` if it is missing, unreadable or empty.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text =
        String::from_utf8_lossy(&bytes).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned();
    (!text.is_empty()).then_some(text)
}

/// Reads a file that contains one number; `None` as for [`read_text`], or if it isn't a number.
pub(crate) fn read_number(path: &Path) -> Option<u64> {
    read_text(path)?.parse().ok()
}

/// Sorted names in a directory; empty if it is missing.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
