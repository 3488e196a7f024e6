use super::writing::lock;
use crate::directory::{CURRENT, LOCK, Manifest, PROFILE, current_manifest};
use crate::{ColumnsError, Files};

/// `CURRENT` is removed first: without it, the rest counts as an interrupted creation. `LOCK` goes
/// last.
pub(super) fn discard_empty(files: &dyn Files) -> Result<bool, ColumnsError> {
    let _lock = lock(files)?;
    let manifest = current_manifest(files)?;
    if manifest.rows() > 0 {
        return Ok(false);
    }
    remove(files, CURRENT)?;
    files.sync_dir("").map_err(ColumnsError::io("syncing the directory of", CURRENT))?;
    remove(files, &Manifest::name(manifest.snapshot))?;
    if manifest.profile.is_some() {
        remove(files, PROFILE)?;
    }
    remove(files, LOCK)?;
    Ok(true)
}

/// Removes everything created before the first commit. The caller holds `LOCK`.
pub(super) fn discard_unmade(files: &dyn Files) {
    for name in [PROFILE, LOCK] {
        // Any file left counts as an interrupted creation.
        let _ = files.remove(name);
    }
}

fn remove(files: &dyn Files, name: &str) -> Result<(), ColumnsError> {
    files.remove(name).map_err(ColumnsError::io("removing", name))
}
