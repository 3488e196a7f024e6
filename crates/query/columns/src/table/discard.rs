use super::writing::lock;
use crate::directory::{CURRENT, LOCK, Manifest, PROFILE, current_manifest};
use crate::{ColumnsError, Files};

/// `CURRENT` goes first: what is there without it is what a making leaves that was cut off. `LOCK` goes last.
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

/// Takes away what was made before the first commit, in the hands of the one who holds `LOCK`.
pub(super) fn discard_unmade(files: &dyn Files) {
    for name in [PROFILE, LOCK] {
        // What stays is known for a making that was cut off.
        let _ = files.remove(name);
    }
}

fn remove(files: &dyn Files, name: &str) -> Result<(), ColumnsError> {
    files.remove(name).map_err(ColumnsError::io("removing", name))
}
