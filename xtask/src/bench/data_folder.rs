//! Folder of a benchmark's data, either temporary or kept for later runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Outcome, output};

pub(super) struct DataFolder {
    path: PathBuf,
    is_kept: bool,
}

impl DataFolder {
    /// Opens the kept folder, or a temporary one without the remains of an interrupted benchmark.
    pub(super) fn open(kept: Option<&Path>, own: &Path) -> Outcome<Self> {
        if kept.is_none() && own.exists() {
            fs::remove_dir_all(own)?;
        }
        let path = kept.unwrap_or(own);
        fs::create_dir_all(path)?;
        Ok(Self { path: fs::canonicalize(path)?, is_kept: kept.is_some() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Path of an item, made first if missing. A partial item has another name, so that it is never
    /// used.
    pub(super) fn have(&self, name: &str, make: impl FnOnce(&Path) -> Outcome) -> Outcome<PathBuf> {
        let path = self.path.join(name);
        if path.exists() {
            output::say(&format!("{name}: from {}", self.path.display()));
            return Ok(path);
        }
        let unfinished = self.path.join(format!("{name}.unfinished"));
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        output::say(&format!("{name}: made"));
        make(&unfinished)?;
        fs::rename(&unfinished, &path)?;
        Ok(path)
    }

    /// Removes a temporary folder.
    pub(super) fn close(self) -> Outcome {
        if !self.is_kept {
            fs::remove_dir_all(&self.path)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path) -> Outcome {
        fs::create_dir(folder)?;
        Ok(fs::write(folder.join("file"), "text")?)
    }

    #[test]
    fn data_are_made_once_and_wholly() {
        let place = tempfile::tempdir().unwrap();
        let (kept, own) = (place.path().join("kept"), place.path().join("own"));
        let data = DataFolder::open(Some(&kept), &own).unwrap();
        let half = |folder: &Path| write(folder).and_then(|()| Err("ended".into()));
        assert!(data.have("data", half).is_err());
        assert!(data.have("data", write).unwrap().join("file").exists());
        assert!(data.have("data", |_| Err("made again".into())).is_ok());
        data.close().unwrap();
        assert!(kept.join("data/file").exists() && !kept.join("data.unfinished").exists());
    }

    #[test]
    fn ones_own_is_gone_afterwards() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path().join("own");
        write(&own).unwrap();
        let data = DataFolder::open(None, &own).unwrap();
        assert!(!own.join("file").exists(), "what was left is gone");
        data.have("data", write).unwrap();
        data.close().unwrap();
        assert!(!own.exists());
    }
}
