use super::current::pointer;
use super::{CURRENT, Manifest, PARTIAL};
use crate::{ColumnsError, Files};

/// Commits a snapshot. Its files have been written and synced under their names with `.partial`;
/// `fresh` lists the final names. The caller holds `LOCK`.
pub(crate) fn commit(files: &dyn Files, manifest: &Manifest, fresh: &[String]) -> Result<(), ColumnsError> {
    for path in fresh {
        files.rename(&format!("{path}{PARTIAL}"), path).map_err(ColumnsError::io("renaming to", path))?;
    }
    let mut folders: Vec<&str> =
        fresh.iter().filter_map(|path| path.split_once('/')).map(|(folder, _)| folder).collect();
    folders.dedup();
    for folder in folders {
        files.sync_dir(folder).map_err(ColumnsError::io("syncing the directory", folder))?;
    }
    let name = Manifest::name(manifest.snapshot);
    let bytes = serde_json::to_vec_pretty(manifest).map_err(|error| ColumnsError::Io {
        action: "encoding",
        file: name.clone(),
        source: error.into(),
    })?;
    // Verify that the manifest will be readable.
    Manifest::parse(&name, &bytes)?;
    replace(files, &name, &bytes)?;
    replace(files, CURRENT, pointer(&name, &bytes).as_bytes())
}

/// Durably creates or replaces a small file.
pub(crate) fn replace(files: &dyn Files, path: &str, bytes: &[u8]) -> Result<(), ColumnsError> {
    let partial = format!("{path}{PARTIAL}");
    let mut file = files.create(&partial).map_err(ColumnsError::io("creating", &partial))?;
    file.write_all(bytes).map_err(ColumnsError::io("writing", &partial))?;
    file.sync().map_err(ColumnsError::io("syncing", &partial))?;
    files.rename(&partial, path).map_err(ColumnsError::io("renaming to", path))?;
    files.sync_dir("").map_err(ColumnsError::io("syncing the directory of", path))
}
