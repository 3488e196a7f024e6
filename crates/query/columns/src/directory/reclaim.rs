use std::collections::BTreeSet;
use std::io::ErrorKind;

use super::{DATA, Manifest, PROJECTIONS, is_unfinished};
use crate::files::{WHOLE_BYTES_MAX, read_all};
use crate::{ColumnsError, Files, Sharing};

/// Removes old manifests without readers, and files that no manifest names. The caller holds
/// `LOCK`; `current` is the current manifest.
pub(crate) fn reclaim(files: &dyn Files, current: &Manifest) -> Result<(), ColumnsError> {
    let mut kept: BTreeSet<String> = names(current);
    let list = |folder: &str| match files.list(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(ColumnsError::io("listing", folder)),
    };
    let mut removed = false;
    for name in list("")? {
        let is_old = Manifest::snapshot_of(&name).is_some_and(|snapshot| snapshot != current.snapshot);
        if is_unfinished(&name) {
            remove(files, &name)?;
        } else if is_old {
            match files.lock(&name, Sharing::Alone).map_err(ColumnsError::io("locking", &name))? {
                // Hold the lock until the manifest is removed, so that no reader takes it.
                Some(_lock) => {
                    remove(files, &name)?;
                    removed = true;
                }
                None => kept.extend(names(&read(files, &name)?)),
            }
        }
    }
    if removed {
        // A manifest that reappeared after a power cut would name removed files.
        files.sync_dir("").map_err(ColumnsError::io("syncing the directory", "."))?;
    }
    for folder in [DATA, PROJECTIONS] {
        let paths = list(folder)?.into_iter().map(|name| format!("{folder}/{name}"));
        paths.filter(|path| !kept.contains(path)).try_for_each(|path| remove(files, &path))?;
    }
    Ok(())
}

fn names(manifest: &Manifest) -> BTreeSet<String> {
    manifest.files().flat_map(|file| [file.path.clone(), file.sums.path.clone()]).collect()
}

fn read(files: &dyn Files, name: &str) -> Result<Manifest, ColumnsError> {
    let bytes = read_all(files, name, WHOLE_BYTES_MAX).map_err(ColumnsError::io("reading", name))?;
    Manifest::parse(name, &bytes)
}

fn remove(files: &dyn Files, path: &str) -> Result<(), ColumnsError> {
    files.remove(path).map_err(ColumnsError::io("removing", path))
}
