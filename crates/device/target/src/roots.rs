use std::fs;
use std::path::{Path, PathBuf};

/// Where sysfs, procfs and the device nodes are found: the running system's, or a recorded copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// Stands for `/sys`.
    pub sys: PathBuf,
    /// Stands for `/proc`.
    pub proc: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { sys: "/sys".into(), proc: "/proc".into() }
    }
}

impl Roots {
    /// A recorded copy in a directory with a `sys` and a `proc` in it.
    pub fn recorded(directory: &Path) -> Self {
        Self { sys: directory.join("sys"), proc: directory.join("proc") }
    }
}

/// A small text file without the white space around it; `None` where it is missing, unreadable or empty.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text =
        String::from_utf8_lossy(&bytes).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned();
    (!text.is_empty()).then_some(text)
}

/// A file that holds one number; `None` as for [`read_text`], and where it is no such number.
pub(crate) fn read_number(path: &Path) -> Option<u64> {
    read_text(path)?.parse().ok()
}

/// The names in a directory, sorted; none where it is missing.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
